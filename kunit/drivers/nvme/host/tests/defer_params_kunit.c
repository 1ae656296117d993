// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of deferred completion: module parameters, set and read as sysfs
 * and the kernel's command line do it.
 */
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

#include "defer_fake.h"
#include "prp-pools.h"
#include "tune.h"

static struct nvme_defer_settings params_saved;
static char *params_buf;

static int params_init(struct kunit *test)
{
	params_saved = nvme_defer_settings;
	params_buf = (char *)__get_free_page(GFP_KERNEL);
	return params_buf ? 0 : -ENOMEM;
}

static void params_exit(struct kunit *test)
{
	free_page((unsigned long)params_buf);
	nvme_defer_settings = params_saved;
	nvme_defer_update_all();
}

static const struct kernel_param *params_find(struct kunit *test, const char *name)
{
	const struct kernel_param *kp;

	for (kp = __start___param; kp < __stop___param; kp++)
		if (strstarts(kp->name, "nvme.") && !strcmp(kp->name + 5, name))
			return kp;
	KUNIT_FAIL(test, "no parameter nvme.%s", name);
	kunit_err(test, "looked for nvme.%s", name);
	return NULL;
}

static int params_set(struct kunit *test, const char *name, const char *value)
{
	const struct kernel_param *kp = params_find(test, name);

	return kp ? kp->ops->set(value, kp) : -ENOENT;
}

static void params_expect(struct kunit *test, const char *name, const char *value)
{
	const struct kernel_param *kp = params_find(test, name);

	if (!kp)
		return;
	KUNIT_EXPECT_GT_MSG(test, kp->ops->get(params_buf, kp), 0, "%s", name);
	KUNIT_EXPECT_STREQ(test, params_buf, value);
}

struct params_case {
	const char *name;
	const char *value;
	int ret;
	const char *reads;	/* afterwards; as before where that failed */
};

static const struct params_case params_cases[] = {
	{ "defer_mode", "on", 0, "on\n" },
	{ "defer_mode", "off\n", 0, "off\n" },
	{ "defer_mode", "auto", 0, "auto\n" },
	{ "defer_mode", "ON", -EINVAL, "auto\n" },
	{ "defer_mode", "", -EINVAL, "auto\n" },
	{ "defer_mode", "1", -EINVAL, "auto\n" },
	{ "defer_mode", "on off", -EINVAL, "auto\n" },
	{ "defer_workqueue", "queue", 0, "queue\n" },
	{ "defer_workqueue", "controller\n", 0, "controller\n" },
	{ "defer_workqueue", "auto", 0, "auto\n" },
	{ "defer_workqueue", "none", -EINVAL, "auto\n" },
	{ "defer_inline_bytes", "0", 0, "0\n" },
	{ "defer_inline_bytes", "128K", 0, "131072\n" },
	{ "defer_inline_bytes", "2m\n", 0, "2097152\n" },
	{ "defer_inline_bytes", "1G", 0, "1073741824\n" },
	{ "defer_inline_bytes", "1073741825", -ERANGE, "1073741824\n" },
	{ "defer_inline_bytes", "2g", -ERANGE, "1073741824\n" },
	{ "defer_inline_bytes", "4294967296", -ERANGE, "1073741824\n" },
	{ "defer_inline_bytes", "9999999999G", -ERANGE, "1073741824\n" },
	{ "defer_inline_bytes", "18446744073709551616", -ERANGE, "1073741824\n" },
	{ "defer_inline_bytes", "-1", -EINVAL, "1073741824\n" },
	{ "defer_inline_bytes", "0x10", -EINVAL, "1073741824\n" },
	{ "defer_inline_bytes", "1E", -EINVAL, "1073741824\n" },
	{ "defer_inline_bytes", "1KK", -EINVAL, "1073741824\n" },
	{ "defer_inline_bytes", "1 K", -EINVAL, "1073741824\n" },
	{ "defer_inline_bytes", "K", -EINVAL, "1073741824\n" },
	{ "defer_inline_bytes", "\n", -EINVAL, "1073741824\n" },
	{ "defer_inline_bytes", "010", 0, "10\n" },
	{ "defer_irq_share", "0", 0, "0\n" },
	{ "defer_irq_share", "100", 0, "100\n" },
	{ "defer_irq_share", "101", -ERANGE, "100\n" },
	{ "defer_irq_share", "1K", -EINVAL, "100\n" },
	{ "defer_irq_share", "5%", -EINVAL, "100\n" },
	{ "defer_small_bytes", "16k", 0, "16384\n" },
	{ "defer_lanes", "1", 0, "1\n" },
	{ "defer_lanes", "8", 0, "8\n" },
	{ "defer_lanes", "9", -ERANGE, "8\n" },
	{ "defer_lanes", "0", -ERANGE, "8\n" },
	{ "defer_lanes", "1K", -EINVAL, "8\n" },
	{ "defer_chunk_bytes", "4K", 0, "4096\n" },
	{ "defer_chunk_bytes", "4095", -ERANGE, "4096\n" },
	{ "defer_lane_bytes", "0", 0, "0\n" },
	{ "defer_backlog_bytes", "64K", 0, "65536\n" },
	{ "defer_backlog_bytes", "65535", -ERANGE, "65536\n" },
	{ "defer_max_age_ms", "1", 0, "1\n" },
	{ "defer_max_age_ms", "60000", 0, "60000\n" },
	{ "defer_max_age_ms", "60001", -ERANGE, "60000\n" },
	{ "defer_max_age_ms", "0", -ERANGE, "60000\n" },
	{ "defer_resched_bytes", "0", 0, "0\n" },
	{ "defer_resched_bytes", "1M", 0, "1048576\n" },
#ifdef CONFIG_NVME_PRP_POOLS
	{ "pool", "private", 0, "private\n" },
	{ "pool", "device\n", 0, "device\n" },
	{ "pool", "node", 0, "node\n" },
	{ "pool", "queue", -EINVAL, "node\n" },
#endif
	{ "force_bounce_swiotlb_wq", "Y", 0, "Y\n" },
	{ "force_bounce_swiotlb_wq", "0", 0, "N\n" },
	{ "force_bounce_swiotlb_wq", "maybe", -EINVAL, "N\n" },
	{ "force_bounce_swiotlb_wq", "1\n", 0, "Y\n" },
};

static void params_each(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(params_cases); i++) {
		const struct params_case *c = &params_cases[i];

		KUNIT_EXPECT_EQ_MSG(test, params_set(test, c->name, c->value),
				    c->ret, "%s=%s", c->name, c->value);
		params_expect(test, c->name, c->reads);
	}
}

/* Each parameter sets its own field and no other. */
static void params_fields(struct kunit *test)
{
	static const struct {
		const char *name;
		size_t offset;
	} fields[] = {
		{ "defer_inline_bytes", offsetof(struct nvme_defer_settings, inline_bytes) },
		{ "defer_small_bytes", offsetof(struct nvme_defer_settings, small_bytes) },
		{ "defer_chunk_bytes", offsetof(struct nvme_defer_settings, chunk_bytes) },
		{ "defer_lane_bytes", offsetof(struct nvme_defer_settings, lane_bytes) },
		{ "defer_backlog_bytes", offsetof(struct nvme_defer_settings, backlog_bytes) },
		{ "defer_resched_bytes", offsetof(struct nvme_defer_settings, resched_bytes) },
	};
	struct nvme_defer_settings want;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		want = nvme_defer_settings;
		*(u32 *)((char *)&want + fields[i].offset) = 77 * SZ_1K;
		KUNIT_EXPECT_EQ(test, params_set(test, fields[i].name, "77K"), 0);
		KUNIT_EXPECT_EQ_MSG(test, memcmp(&want, &nvme_defer_settings,
						 sizeof(want)), 0, "%s", fields[i].name);
	}
}

/* "inherit" brings back what the driver starts with. */
static void params_defaults(struct kunit *test)
{
	static const struct nvme_defer_settings start = {
		.mode = NVME_DEFER_AUTO, .workqueue = NVME_DEFER_WQ_AUTO,
		.inline_bytes = SZ_128K, .irq_share = 10, .small_bytes = SZ_16K,
		.lanes = 2, .chunk_bytes = SZ_512K, .lane_bytes = SZ_1M,
		.backlog_bytes = SZ_32M, .max_age_ms = 200,
		.resched_bytes = SZ_256K, .pool = NVME_PRP_NODE,
	};
	static const char * const names[] = {
		"defer_mode", "defer_workqueue", "defer_inline_bytes",
		"defer_irq_share", "defer_small_bytes", "defer_lanes",
		"defer_chunk_bytes", "defer_lane_bytes", "defer_backlog_bytes",
		"defer_max_age_ms", "defer_resched_bytes", "defer_measure",
#ifdef NVME_TUNE_HAS_POOL
		"pool",
#endif
	};
	unsigned int i;

	memset(&nvme_defer_settings, 1, sizeof(nvme_defer_settings));
#ifndef NVME_TUNE_HAS_POOL
	nvme_defer_settings.pool = start.pool;
#endif
	for (i = 0; i < ARRAY_SIZE(names); i++)
		KUNIT_EXPECT_EQ_MSG(test, params_set(test, names[i], "inherit"),
				    0, "%s", names[i]);
	KUNIT_EXPECT_EQ(test, memcmp(&nvme_defer_settings, &start, sizeof(start)), 0);
}

/* The older name and defer_mode are one setting. */
static void params_older_name(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, params_set(test, "force_bounce_swiotlb_wq", "Y"), 0);
	params_expect(test, "defer_mode", "on\n");
	KUNIT_EXPECT_EQ(test, params_set(test, "force_bounce_swiotlb_wq", "N"), 0);
	params_expect(test, "defer_mode", "auto\n");
	KUNIT_EXPECT_EQ(test, params_set(test, "defer_mode", "on"), 0);
	params_expect(test, "force_bounce_swiotlb_wq", "Y\n");
	KUNIT_EXPECT_EQ(test, params_set(test, "defer_mode", "off"), 0);
	params_expect(test, "force_bounce_swiotlb_wq", "N\n");
	/* On the command line, without a value. */
	KUNIT_EXPECT_EQ(test, params_set(test, "force_bounce_swiotlb_wq", NULL), 0);
	params_expect(test, "defer_mode", "on\n");
}

static struct kunit_case params_test_cases[] = {
	KUNIT_CASE(params_each),
	KUNIT_CASE(params_fields),
	KUNIT_CASE(params_defaults),
	KUNIT_CASE(params_older_name),
	{ }
};

static struct kunit_suite params_suite = {
	.name = "nvme_defer_params",
	.init = params_init,
	.exit = params_exit,
	.test_cases = params_test_cases,
};

kunit_test_suite(params_suite);
