// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the control plane: values as text, and their ranges.
 */
#include <kunit/test.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "internal.h"

static const char * const value_names[] = { "off", "on", "auto", NULL };

static const struct nvmetune_param value_bool = {
	.name = "bool", .type = NVMETUNE_TYPE_BOOL,
};

static const struct nvmetune_param value_enum = {
	.name = "enum", .type = NVMETUNE_TYPE_ENUM, .names = value_names,
	.inherits = true,
};

static const struct nvmetune_param value_bytes = {
	.name = "bytes", .type = NVMETUNE_TYPE_BYTES, .min = SZ_4K,
	.max = SZ_1G, .inherits = true,
};

static const struct nvmetune_param value_huge = {
	.name = "huge", .type = NVMETUNE_TYPE_BYTES, .max = U64_MAX,
};

static const struct nvmetune_param value_count = {
	.name = "count", .type = NVMETUNE_TYPE_COUNT, .min = 1, .max = 8,
};

static const struct nvmetune_param value_percent = {
	.name = "percent", .type = NVMETUNE_TYPE_PERCENT, .max = 100,
};

static const struct nvmetune_param value_text = {
	.name = "text", .type = NVMETUNE_TYPE_TEXT,
};

#define INHERIT	U64_MAX

static const struct value_case {
	const struct nvmetune_param *param;
	const char *text;
	int ret;
	u64 num;		/* INHERIT: it is "inherit" */
	const char *shown;	/* NULL: as text */
} value_cases[] = {
	{ &value_bool, "0", 0, 0 },
	{ &value_bool, "1\n", 0, 1, "1" },
	{ &value_bool, "on", 0, 1, "1" },
	{ &value_bool, "N", 0, 0, "0" },
	{ &value_bool, "2", -EINVAL },
	{ &value_bool, "", -EINVAL },
	{ &value_bool, "inherit", -EINVAL },
	{ &value_enum, "off", 0, 0 },
	{ &value_enum, "on\n", 0, 1, "on" },
	{ &value_enum, "auto", 0, 2 },
	{ &value_enum, "inherit", 0, INHERIT },
	{ &value_enum, "inherit\n", 0, INHERIT, "inherit" },
	{ &value_enum, "Off", -EINVAL },
	{ &value_enum, "of", -EINVAL },
	{ &value_enum, "0", -EINVAL },
	{ &value_enum, "on off", -EINVAL },
	{ &value_enum, "", -EINVAL },
	{ &value_bytes, "4096", 0, SZ_4K },
	{ &value_bytes, "4K", 0, SZ_4K, "4096" },
	{ &value_bytes, "1m", 0, SZ_1M, "1048576" },
	{ &value_bytes, "1G\n", 0, SZ_1G, "1073741824" },
	{ &value_bytes, "inherit", 0, INHERIT },
	{ &value_bytes, "4095", -ERANGE },
	{ &value_bytes, "0", -ERANGE },
	{ &value_bytes, "1073741825", -ERANGE },
	{ &value_bytes, "2G", -ERANGE },
	{ &value_bytes, "99999999999", -ERANGE },
	{ &value_bytes, "-1", -EINVAL },
	{ &value_bytes, "0x1000", -EINVAL },
	{ &value_bytes, "4KB", -EINVAL },
	{ &value_bytes, "4T", -EINVAL },
	{ &value_bytes, "K", -EINVAL },
	{ &value_bytes, " 4K", -EINVAL },
	{ &value_huge, "9999999999G", 0, 9999999999ULL << 30,
	  "10737418238926258176" },
	{ &value_count, "1", 0, 1 },
	{ &value_count, "8", 0, 8 },
	{ &value_count, "0", -ERANGE },
	{ &value_count, "9", -ERANGE },
	{ &value_count, "1K", -EINVAL },
	{ &value_count, "inherit", -EINVAL },
	{ &value_percent, "0", 0, 0 },
	{ &value_percent, "100", 0, 100 },
	{ &value_percent, "101", -ERANGE },
	{ &value_percent, "5%", -EINVAL },
	{ &value_text, "x", -EINVAL },
	{ &value_text, "inherit", -EINVAL },
};

static void value_desc(const struct value_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s %.*s", c->param->name,
		 (int)strcspn(c->text, "\n"), c->text);
}

KUNIT_ARRAY_PARAM(value, value_cases, value_desc);

static void value_parses(struct kunit *test)
{
	const struct value_case *c = test->param_value;
	struct nvmetune_error err = { };
	struct nvmetune_value v;
	char shown[32];

	KUNIT_ASSERT_EQ(test, nvmetune_parse(c->param, c->text, &v, &err),
			c->ret);
	if (c->ret) {
		KUNIT_EXPECT_NOT_NULL(test, err.text);
		return;
	}
	KUNIT_EXPECT_EQ(test, v.inherit, c->num == INHERIT);
	if (!v.inherit)
		KUNIT_EXPECT_EQ(test, v.num, c->num);
	nvmetune_format(c->param, &v, shown, sizeof(shown));
	KUNIT_EXPECT_STREQ(test, shown, c->shown ?: c->text);
}

/* Numbers that did not come as text are checked as well. */
static void value_checks(struct kunit *test)
{
	static const struct {
		const struct nvmetune_param *param;
		struct nvmetune_value v;
		int ret;
	} cases[] = {
		{ &value_bool, { .num = 1 }, 0 },
		{ &value_bool, { .num = 2 }, -ERANGE },
		{ &value_bool, { .inherit = true }, -EINVAL },
		{ &value_enum, { .num = 2 }, 0 },
		{ &value_enum, { .num = 3 }, -ERANGE },
		{ &value_enum, { .num = U64_MAX }, -ERANGE },
		{ &value_enum, { .inherit = true, .num = 99 }, 0 },
		{ &value_bytes, { .num = SZ_4K - 1 }, -ERANGE },
		{ &value_bytes, { .num = SZ_1G }, 0 },
		{ &value_percent, { .num = 101 }, -ERANGE },
		{ &value_text, { .num = 0 }, -EINVAL },
	};
	struct nvmetune_error err;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    nvmetune_check(cases[i].param, &cases[i].v, &err),
				    cases[i].ret, "case %u", i);
}

static void hist_buckets(struct kunit *test)
{
	static const struct {
		u64 value;
		unsigned int bucket;
	} cases[] = {
		{ 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, 2 }, { 4, 3 }, { 7, 3 },
		{ 1023, 10 }, { 1024, 11 },
		{ (1ULL << 30) - 1, 30 }, { 1ULL << 30, 31 },
		{ (1ULL << 31) - 1, 31 }, { 1ULL << 31, 31 }, { U64_MAX, 31 },
	};
	struct nvmetune_hist *hist;
	unsigned int i, b;
	u64 sum = 0;

	hist = kunit_kzalloc(test, sizeof(*hist), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, hist);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_EQ_MSG(test, nvmetune_hist_bucket(cases[i].value),
				    cases[i].bucket, "%llu", cases[i].value);
		nvmetune_hist_add(hist, cases[i].value, i + 1);
	}
	for (b = 0; b < NVMETUNE_HIST_BUCKETS; b++)
		sum += atomic64_read(&hist->count[b]);
	KUNIT_EXPECT_EQ(test, sum, (u64)ARRAY_SIZE(cases) * (ARRAY_SIZE(cases) + 1) / 2);
	KUNIT_EXPECT_EQ(test, atomic64_read(&hist->count[2]), 3 + 4);
	KUNIT_EXPECT_EQ(test, atomic64_read(&hist->count[31]), 10 + 11 + 12 + 13);
}

static struct kunit_case value_test_cases[] = {
	KUNIT_CASE_PARAM(value_parses, value_gen_params),
	KUNIT_CASE(value_checks),
	KUNIT_CASE(hist_buckets),
	{ }
};

static struct kunit_suite value_suite = {
	.name = "nvmetune_value",
	.test_cases = value_test_cases,
};

kunit_test_suite(value_suite);
