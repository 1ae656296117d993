// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion of NVMe requests outside of interrupt context: the settings, as
 * module parameters that can be written at any time.
 *
 * One table says what there is; each parameter is its row, and one setter
 * serves all. Bad input changes nothing: -EINVAL for what does not parse,
 * -ERANGE for a number out of range.
 */
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/moduleparam.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "defer.h"

/*
 * Where the defaults come from: measured with -O2 and -Os copies in a guest
 * without KVM; Documentation/admin-guide/nvmetune.rst says what that can tell.
 */
struct nvme_defer_settings nvme_defer_settings = {
	.mode		= NVME_DEFER_AUTO,
	.workqueue	= NVME_DEFER_WQ_AUTO,
	.inline_bytes	= SZ_128K,
	.irq_share	= 10,
	.small_bytes	= SZ_16K,
	.lanes		= 2,
	.chunk_bytes	= SZ_512K,
	.lane_bytes	= SZ_1M,
	.backlog_bytes	= SZ_32M,
	.max_age_ms	= 200,
	.resched_bytes	= SZ_256K,
};

const char * const nvme_defer_mode_names[] = {
	[NVME_DEFER_OFF]	= "off",
	[NVME_DEFER_ON]		= "on",
	[NVME_DEFER_AUTO]	= "auto",
	NULL
};

static const char * const nvme_defer_wq_names[] = {
	[NVME_DEFER_WQ_AUTO]	= "auto",
	[NVME_DEFER_WQ_QUEUE]	= "queue",
	[NVME_DEFER_WQ_CTRL]	= "controller",
	NULL
};

struct nvme_defer_param {
	u32 *value;
	const char * const *names;	/* of an enumeration; else a number */
	u32 min;
	u32 max;
	bool bytes;			/* takes K, M and G */
	bool update;			/* workqueues depend on it */
};

/*
 * Decimal, ten digits at the most, so that no suffix makes it wrap: memparse()
 * would take hexadecimal and exabytes, and wrap.
 */
static int nvme_defer_parse_number(const char *val, bool bytes, u64 *result)
{
	size_t digits = strspn(val, "0123456789");
	char number[11];
	int ret;

	if (!digits)
		return -EINVAL;
	if (digits >= sizeof(number))
		return -ERANGE;
	strscpy(number, val, digits + 1);
	ret = kstrtou64(number, 10, result);
	if (ret)
		return ret;

	val += digits;
	if (bytes) {
		switch (*val) {
		case 'G':
		case 'g':
			*result <<= 10;
			fallthrough;
		case 'M':
		case 'm':
			*result <<= 10;
			fallthrough;
		case 'K':
		case 'k':
			*result <<= 10;
			val++;
		}
	}
	return sysfs_streq(val, "") ? 0 : -EINVAL;
}

static int nvme_defer_parse(const struct nvme_defer_param *p, const char *val,
			    u32 *result)
{
	u64 v;
	int i;

	if (p->names) {
		for (i = 0; p->names[i]; i++) {
			if (sysfs_streq(val, p->names[i])) {
				*result = i;
				return 0;
			}
		}
		return -EINVAL;
	}

	i = nvme_defer_parse_number(val, p->bytes, &v);
	if (i)
		return i;
	if (v < p->min || v > p->max)
		return -ERANGE;
	*result = v;
	return 0;
}

static int nvme_defer_param_set(const char *val, const struct kernel_param *kp)
{
	const struct nvme_defer_param *p = kp->arg;
	u32 v;
	int ret;

	ret = nvme_defer_parse(p, val, &v);
	if (ret)
		return ret;
	WRITE_ONCE(*p->value, v);
	if (p->update)
		nvme_defer_update_all();
	return 0;
}

static int nvme_defer_param_get(char *buffer, const struct kernel_param *kp)
{
	const struct nvme_defer_param *p = kp->arg;
	u32 v = READ_ONCE(*p->value);

	if (p->names)
		return sysfs_emit(buffer, "%s\n", p->names[v]);
	return sysfs_emit(buffer, "%u\n", v);
}

static const struct kernel_param_ops nvme_defer_param_ops = {
	.set = nvme_defer_param_set,
	.get = nvme_defer_param_get,
};

#define NVME_DEFER_PARAM(field, desc, ...)				\
	static const struct nvme_defer_param nvme_defer_p_##field = {	\
		.value = &nvme_defer_settings.field, __VA_ARGS__	\
	};								\
	module_param_cb(defer_##field, &nvme_defer_param_ops,		\
			(void *)&nvme_defer_p_##field, 0644);		\
	MODULE_PARM_DESC(defer_##field, desc)

NVME_DEFER_PARAM(mode,
		 "completions to move out of interrupts: off, on (all), auto (reads beyond the budget where DMA bounces, default)",
		 .names = nvme_defer_mode_names, .update = true);
NVME_DEFER_PARAM(workqueue,
		 "workqueues made from now on: one a queue, one a controller, or auto (default: by the number of queues)",
		 .names = nvme_defer_wq_names);
NVME_DEFER_PARAM(inline_bytes,
		 "auto: bytes that an interrupt may copy before it defers",
		 .bytes = true, .max = SZ_1G);
NVME_DEFER_PARAM(irq_share,
		 "auto: per cent of a CPU's time for completing in interrupts",
		 .max = 100);
NVME_DEFER_PARAM(small_bytes,
		 "auto: requests up to this size are not deferred for want of budget, unless very many",
		 .bytes = true, .max = SZ_1G);
NVME_DEFER_PARAM(lanes,
		 "workers a queue at the most", .min = 1, .max = NVME_DEFER_MAX_LANES);
NVME_DEFER_PARAM(chunk_bytes,
		 "most bytes handed to a worker at once",
		 .bytes = true, .min = SZ_4K, .max = SZ_1G);
NVME_DEFER_PARAM(lane_bytes,
		 "a worker with less backlog than this gets the next chunk",
		 .bytes = true, .max = SZ_1G);
NVME_DEFER_PARAM(backlog_bytes,
		 "backlog of a queue beyond which interrupts complete a share again",
		 .bytes = true, .min = SZ_64K, .max = SZ_1G);
NVME_DEFER_PARAM(max_age_ms,
		 "the same for the age in ms of the oldest deferred request",
		 .min = 1, .max = 60000);
NVME_DEFER_PARAM(resched_bytes,
		 "workers let go of the CPU each so many bytes, 0: never",
		 .bytes = true, .max = SZ_1G);

/* The name by which the first posted version of this idea is known. */
static int nvme_defer_force_set(const char *val, const struct kernel_param *kp)
{
	bool on = true;
	int ret;

	if (val) {
		ret = kstrtobool(val, &on);
		if (ret)
			return ret;
	}
	WRITE_ONCE(nvme_defer_settings.mode,
		   on ? NVME_DEFER_ON : NVME_DEFER_AUTO);
	nvme_defer_update_all();
	return 0;
}

static int nvme_defer_force_get(char *buffer, const struct kernel_param *kp)
{
	bool on = READ_ONCE(nvme_defer_settings.mode) == NVME_DEFER_ON;

	return sysfs_emit(buffer, "%c\n", on ? 'Y' : 'N');
}

static const struct kernel_param_ops nvme_defer_force_ops = {
	.flags = KERNEL_PARAM_OPS_FL_NOARG,
	.set = nvme_defer_force_set,
	.get = nvme_defer_force_get,
};
module_param_cb(force_bounce_swiotlb_wq, &nvme_defer_force_ops, NULL, 0644);
MODULE_PARM_DESC(force_bounce_swiotlb_wq,
		 "Y: defer_mode=on, N: defer_mode=auto");
