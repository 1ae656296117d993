// SPDX-License-Identifier: GPL-2.0-only
/*
 * What can be set for the NVMe PCI driver, a controller and a queue, and what they
 * are.
 *
 * A line in one of two tables makes a parameter of the driver, of controllers and,
 * if it is in the first, of queues.
 */
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/moduleparam.h>
#include <linux/sizes.h>
#include <linux/sysfs.h>

#include "prp-pools.h"
#include "tune.h"

/*
 * Where the defaults come from: measured with -O2 and -Os copies in a guest
 * without KVM; Documentation/admin-guide/nvmetune.rst says what that can tell.
 * The same as in the tables below.
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
	.pool		= NVME_PRP_NODE,
};

DEFINE_STATIC_KEY_FALSE(nvme_defer_hists_key);

static const char * const nvme_tune_mode_names[] = {
	[NVME_DEFER_OFF]	= "off",
	[NVME_DEFER_ON]		= "on",
	[NVME_DEFER_AUTO]	= "auto",
	NULL
};

static const char * const nvme_tune_wq_names[] = {
	[NVME_DEFER_WQ_AUTO]	= "auto",
	[NVME_DEFER_WQ_QUEUE]	= "queue",
	[NVME_DEFER_WQ_CTRL]	= "controller",
	NULL
};

/* Settings */

/* Of a controller: those that it has are not made anew under the load. */
static int nvme_tune_prepare_workqueue(struct nvmetune_setting *s,
				       struct nvmetune_error *err)
{
	struct nvme_tune_level *level = nvmetune_data(s->obj);
	struct nvme_defer_ctrl *c;
	unsigned int qid;

	if (!level)
		return 0;
	c = container_of(level, struct nvme_defer_ctrl, level);
	for (qid = 0; qid < c->nr_queues; qid++) {
		/* Pairs with smp_store_release() in nvme_defer_queue(). */
		struct nvme_defer *d = smp_load_acquire(&c->queue[qid]);

		if (d && READ_ONCE(d->wq)) {
			err->text =
				"has workqueues: first set defer_mode=off, of its queues as well";
			return -EBUSY;
		}
	}
	return 0;
}

#ifdef NVME_TUNE_HAS_POOL
/* In the order of enum nvme_prp_choice. */
static const char * const nvme_tune_pool_names[] = {
	"node",
#ifdef CONFIG_NVME_PRP_POOLS
	"device",
	"private",
#endif
	NULL
};

/* What holds for a queue is what it uses, which a reset changes. */
static void nvme_tune_get_pool(struct nvmetune_object *obj,
			       const struct nvmetune_param *param,
			       struct nvmetune_state *state)
{
	struct nvme_tune_level *level = nvmetune_data(obj);

	nvme_tune_get(obj, param, state);
	if (level && level->above)
		state->in_force = READ_ONCE(nvme_tune_queue(obj)->facts.pool);
}
#endif

#define NVME_TUNE_SETTING_GET(_get, _field, _name, _type, _def, _help, ...) \
	{								\
		.name = _name, .help = _help,				\
		.type = NVMETUNE_TYPE_##_type, .def = _def,		\
		.inherits = true, .arg = NVME_TUNE_FIELD(_field),	\
		.get = _get, .commit = nvme_tune_commit,		\
		__VA_ARGS__						\
	}
#define NVME_TUNE_SETTING(...)						\
	NVME_TUNE_SETTING_GET(nvme_tune_get, __VA_ARGS__)

/* What each queue may have a value of its own for. */
static const struct nvmetune_param nvme_tune_queue_settings[] = {
	NVME_TUNE_SETTING(mode, "defer_mode", ENUM, NVME_DEFER_AUTO,
			  "completions to move out of interrupts: off, on (all), auto (reads beyond the budget where DMA bounces)",
			  .names = nvme_tune_mode_names),
	NVME_TUNE_SETTING(inline_bytes, "defer_inline_bytes", BYTES, SZ_128K,
			  "auto: bytes that an interrupt may copy before it defers",
			  .max = SZ_1G),
	NVME_TUNE_SETTING(irq_share, "defer_irq_share", PERCENT, 10,
			  "auto: share of a CPU's time for completing in interrupts",
			  .max = 100),
	NVME_TUNE_SETTING(small_bytes, "defer_small_bytes", BYTES, SZ_16K,
			  "auto: requests up to this size are not deferred for want of budget, unless very many",
			  .max = SZ_1G),
	NVME_TUNE_SETTING(resched_bytes, "resched_bytes", BYTES, SZ_256K,
			  "workers let go of the CPU each so many bytes, 0: never",
			  .max = SZ_1G),
	NVME_TUNE_SETTING(measure, "measure", BOOL, 0,
			  "measure the time of handlers and the delay of completions"),
#ifdef NVME_TUNE_HAS_POOL
	NVME_TUNE_SETTING_GET(nvme_tune_get_pool, pool, "pool", ENUM,
			      NVME_PRP_NODE,
			      "PRP pools: shared by the queues of a NUMA node, by all of the device, or private",
			      .names = nvme_tune_pool_names,
			      .applies = NVMETUNE_APPLIES_AT_RESET),
#endif
};

/* What only holds for all queues of a controller. */
static const struct nvmetune_param nvme_tune_ctrl_settings[] = {
	NVME_TUNE_SETTING(lanes, "defer_lanes", COUNT, 2,
			  "workers a queue at the most",
			  .min = 1, .max = NVME_DEFER_MAX_LANES),
	NVME_TUNE_SETTING(chunk_bytes, "defer_chunk_bytes", BYTES, SZ_512K,
			  "most that is handed to a worker at once",
			  .min = SZ_4K, .max = SZ_1G),
	NVME_TUNE_SETTING(lane_bytes, "defer_lane_bytes", BYTES, SZ_1M,
			  "a worker with less backlog than this gets the next chunk",
			  .max = SZ_1G),
	NVME_TUNE_SETTING(backlog_bytes, "defer_backlog_bytes", BYTES, SZ_32M,
			  "backlog of a queue beyond which interrupts complete a share again",
			  .min = SZ_64K, .max = SZ_1G),
	NVME_TUNE_SETTING(max_age_ms, "defer_max_age_ms", COUNT, 200,
			  "the same for the age of the oldest deferred request",
			  .unit = NVMETUNE_UNIT_MILLISECONDS,
			  .min = 1, .max = 60000),
	NVME_TUNE_SETTING(workqueue, "workqueue", ENUM, NVME_DEFER_WQ_AUTO,
			  "workqueues: one a queue, one a controller, or auto (by the number of queues)",
			  .names = nvme_tune_wq_names,
			  .prepare = nvme_tune_prepare_workqueue),
};

/* Facts */

static void nvme_tune_fact(struct nvmetune_state *state, u64 value)
{
	*state = (struct nvmetune_state){
		.own.num = value,
		.in_force = value,
	};
}

#define NVME_TUNE_CTRL_FACT(name, expression)				\
static void nvme_tune_ctrl_##name(struct nvmetune_object *obj,		\
				  const struct nvmetune_param *param,	\
				  struct nvmetune_state *state)		\
{									\
	struct nvme_defer_ctrl *o = nvme_tune_ctrl(obj);		\
									\
	nvme_tune_fact(state, expression);				\
}

#define NVME_TUNE_QUEUE_FACT(name, expression)				\
static void nvme_tune_queue_##name(struct nvmetune_object *obj,		\
				   const struct nvmetune_param *param,	\
				   struct nvmetune_state *state)	\
{									\
	struct nvme_defer *o = nvme_tune_queue(obj);			\
									\
	nvme_tune_fact(state, expression);				\
}

NVME_TUNE_CTRL_FACT(bounces, o->bounces)
NVME_TUNE_CTRL_FACT(threaded, o->threaded)
NVME_TUNE_QUEUE_FACT(qid, o->qid)
NVME_TUNE_QUEUE_FACT(irq, READ_ONCE(o->facts.irq))
NVME_TUNE_QUEUE_FACT(depth, READ_ONCE(o->facts.depth))
NVME_TUNE_QUEUE_FACT(bounces, o->ctrl->bounces)
NVME_TUNE_QUEUE_FACT(running, READ_ONCE(o->running))
NVME_TUNE_QUEUE_FACT(polled, READ_ONCE(o->polled))
NVME_TUNE_QUEUE_FACT(threaded, READ_ONCE(o->threaded) || o->ctrl->threaded)
NVME_TUNE_QUEUE_FACT(armed, nvme_defer_armed(o))

/* The node may be none: as text, where that is -1. */
static int nvme_tune_ctrl_node(struct nvmetune_object *obj,
			       const struct nvmetune_param *param, char *buf,
			       size_t size)
{
	return scnprintf(buf, size, "%d",
			 dev_to_node(nvme_tune_ctrl(obj)->dev));
}

static int nvme_tune_queue_node(struct nvmetune_object *obj,
				const struct nvmetune_param *param, char *buf,
				size_t size)
{
	struct nvme_defer *d = nvme_tune_queue(obj);
	unsigned int cpu;
	unsigned long flags;

	spin_lock_irqsave(&d->lock, flags);
	cpu = cpumask_first(&d->facts.cpus);
	spin_unlock_irqrestore(&d->lock, flags);
	return scnprintf(buf, size, "%d",
			 cpu < nr_cpu_ids ? cpu_to_node(cpu) : NUMA_NO_NODE);
}

static int nvme_tune_queue_cpus(struct nvmetune_object *obj,
				const struct nvmetune_param *param, char *buf,
				size_t size)
{
	struct nvme_defer *d = nvme_tune_queue(obj);
	unsigned long flags;
	int len;

	spin_lock_irqsave(&d->lock, flags);
	len = scnprintf(buf, size, "%*pbl", cpumask_pr_args(&d->facts.cpus));
	spin_unlock_irqrestore(&d->lock, flags);
	return len;
}

/* Named by what they belong to: see nvme_defer_get_wq(). */
static int nvme_tune_queue_wq(struct nvmetune_object *obj,
			      const struct nvmetune_param *param, char *buf,
			      size_t size)
{
	struct nvme_defer *d = nvme_tune_queue(obj);
	struct workqueue_struct *wq = READ_ONCE(d->wq);

	if (!wq)
		return scnprintf(buf, size, "none");
	if (wq == READ_ONCE(d->ctrl->wq))
		return scnprintf(buf, size, "nvme%d-defer", d->ctrl->instance);
	return scnprintf(buf, size, "nvme%dq%u-defer", d->ctrl->instance,
			 d->qid);
}

#define NVME_TUNE_NUMBER(pname, ptype, getter, phelp)			\
	{								\
		.name = pname, .help = phelp,				\
		.type = NVMETUNE_TYPE_##ptype, .max = U32_MAX,		\
		.get = getter,						\
	}
#define NVME_TUNE_TEXT(pname, writer, phelp)				\
	{								\
		.name = pname, .help = phelp,				\
		.type = NVMETUNE_TYPE_TEXT, .text = writer,		\
	}

static const struct nvmetune_param nvme_tune_ctrl_facts[] = {
	NVME_TUNE_NUMBER("bounces", BOOL, nvme_tune_ctrl_bounces,
			 "all DMA goes through bounce buffers"),
	NVME_TUNE_NUMBER("threaded", BOOL, nvme_tune_ctrl_threaded,
			 "the driver asked for interrupts handled in threads"),
	NVME_TUNE_TEXT("numa_node", nvme_tune_ctrl_node,
		       "NUMA node of the device, -1: none"),
};

static const struct nvmetune_param nvme_tune_queue_facts[] = {
	NVME_TUNE_NUMBER("qid", COUNT, nvme_tune_queue_qid,
			 "queue identifier"),
	NVME_TUNE_TEXT("cpus", nvme_tune_queue_cpus,
		       "CPUs that the interrupt is spread over"),
	NVME_TUNE_NUMBER("irq", COUNT, nvme_tune_queue_irq,
			 "interrupt number, 0: none"),
	NVME_TUNE_TEXT("numa_node", nvme_tune_queue_node,
		       "NUMA node of the first of these CPUs, -1: none"),
	NVME_TUNE_NUMBER("depth", COUNT, nvme_tune_queue_depth,
			 "entries of the submission queue"),
	NVME_TUNE_NUMBER("bounces", BOOL, nvme_tune_queue_bounces,
			 "all DMA goes through bounce buffers"),
	NVME_TUNE_NUMBER("running", BOOL, nvme_tune_queue_running,
			 "the queue is set up"),
	NVME_TUNE_NUMBER("polled", BOOL, nvme_tune_queue_polled,
			 "it has no interrupt"),
	NVME_TUNE_NUMBER("threaded", BOOL, nvme_tune_queue_threaded,
			 "its interrupt is handled in a thread"),
	NVME_TUNE_NUMBER("armed", BOOL, nvme_tune_queue_armed,
			 "completions may be deferred at this moment"),
	NVME_TUNE_TEXT("wq_name", nvme_tune_queue_wq,
		       "its workqueue, below /sys/bus/workqueue/devices, or none"),
};

/**
 * nvme_tune_set_facts() - a queue is about to be started
 * @d: the queue
 * @irq: interrupt number, 0: none
 * @depth: entries of the submission queue
 * @cpus: CPUs that the interrupt is spread over; may be NULL
 *
 * Context: task context, no allocation: in the reset path.
 */
void nvme_tune_set_facts(struct nvme_defer *d, unsigned int irq,
			 unsigned int depth, const struct cpumask *cpus)
{
	unsigned long flags;

	if (d == &nvme_defer_none)
		return;
	spin_lock_irqsave(&d->lock, flags);
	d->facts.irq = irq;
	d->facts.depth = depth;
	if (cpus)
		cpumask_copy(&d->facts.cpus, cpus);
	else
		cpumask_clear(&d->facts.cpus);
	spin_unlock_irqrestore(&d->lock, flags);
}

/* Classes */

static const struct nvmetune_table nvme_tune_queue_tables[] = {
	{ .name = "lanes", .show = nvme_tune_show_lanes },
};

const struct nvmetune_class nvme_tune_driver_class = {
	.name		= "nvme-driver",
	.params		= {
		{ nvme_tune_queue_settings, ARRAY_SIZE(nvme_tune_queue_settings) },
		{ nvme_tune_ctrl_settings, ARRAY_SIZE(nvme_tune_ctrl_settings) },
	},
};

const struct nvmetune_class nvme_tune_ctrl_class = {
	.name		= "nvme-controller",
	.params		= {
		{ nvme_tune_queue_settings, ARRAY_SIZE(nvme_tune_queue_settings) },
		{ nvme_tune_ctrl_settings, ARRAY_SIZE(nvme_tune_ctrl_settings) },
		{ nvme_tune_ctrl_facts, ARRAY_SIZE(nvme_tune_ctrl_facts) },
	},
};

const struct nvmetune_class nvme_tune_queue_class = {
	.name		= "nvme-queue",
	.params		= {
		{ nvme_tune_queue_settings, ARRAY_SIZE(nvme_tune_queue_settings) },
		{ nvme_tune_queue_facts, ARRAY_SIZE(nvme_tune_queue_facts) },
	},
	.stats		= nvme_tune_queue_stats,
	.nr_stats	= ARRAY_SIZE(nvme_tune_queue_stats),
	.hists		= nvme_tune_queue_hists,
	.nr_hists	= ARRAY_SIZE(nvme_tune_queue_hists),
	.tables		= nvme_tune_queue_tables,
	.nr_tables	= ARRAY_SIZE(nvme_tune_queue_tables),
	.read_stats	= nvme_tune_read_stats,
	.reset_stats	= nvme_tune_reset_stats,
	.hist		= nvme_tune_hist,
};

/* Module parameters: the driver's values. */

/* The parameter of a field. */
static const struct nvmetune_param *nvme_tune_param(unsigned int field)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(nvme_tune_queue_settings); i++)
		if (nvme_tune_queue_settings[i].arg == field)
			return &nvme_tune_queue_settings[i];
	for (i = 0; i < ARRAY_SIZE(nvme_tune_ctrl_settings); i++)
		if (nvme_tune_ctrl_settings[i].arg == field)
			return &nvme_tune_ctrl_settings[i];
	return NULL;
}

static int nvme_tune_module_set(const char *val, const struct kernel_param *kp)
{
	const struct nvmetune_param *param =
		nvme_tune_param((unsigned long)kp->arg);
	struct nvmetune_value value;
	struct nvmetune_error err;
	int ret;

	ret = nvmetune_parse(param, val, &value, &err);
	return ret ?: nvme_tune_set_driver(param, &value);
}

static int nvme_tune_module_get(char *buffer, const struct kernel_param *kp)
{
	const struct nvmetune_param *param =
		nvme_tune_param((unsigned long)kp->arg);
	struct nvmetune_value value = {
		.num = nvme_tune_in_force(NULL, param->arg),
	};
	char text[NVMETUNE_MAX_NAME + 1];

	nvmetune_format(param, &value, text, sizeof(text));
	return sysfs_emit(buffer, "%s\n", text);
}

static const struct kernel_param_ops nvme_tune_module_ops = {
	.set = nvme_tune_module_set,
	.get = nvme_tune_module_get,
};

#define NVME_TUNE_MODULE_PARAM(field, name)				\
	module_param_cb(defer_##field, &nvme_tune_module_ops,		\
			(void *)NVME_TUNE_FIELD(field), 0644);		\
	MODULE_PARM_DESC(defer_##field,					\
			 name ", for all that have no value of their own")

NVME_TUNE_MODULE_PARAM(mode, "defer_mode");
NVME_TUNE_MODULE_PARAM(inline_bytes, "defer_inline_bytes");
NVME_TUNE_MODULE_PARAM(irq_share, "defer_irq_share");
NVME_TUNE_MODULE_PARAM(small_bytes, "defer_small_bytes");
NVME_TUNE_MODULE_PARAM(lanes, "defer_lanes");
NVME_TUNE_MODULE_PARAM(chunk_bytes, "defer_chunk_bytes");
NVME_TUNE_MODULE_PARAM(lane_bytes, "defer_lane_bytes");
NVME_TUNE_MODULE_PARAM(backlog_bytes, "defer_backlog_bytes");
NVME_TUNE_MODULE_PARAM(max_age_ms, "defer_max_age_ms");
NVME_TUNE_MODULE_PARAM(resched_bytes, "resched_bytes");
NVME_TUNE_MODULE_PARAM(workqueue, "workqueue");
NVME_TUNE_MODULE_PARAM(measure, "measure");

#ifdef NVME_TUNE_HAS_POOL
module_param_cb(pool, &nvme_tune_module_ops, (void *)NVME_TUNE_FIELD(pool), 0644);
MODULE_PARM_DESC(pool, "pool, for all that have no value of their own; from the next reset on");
#endif

/*
 * The name by which the first posted version of this idea is known. It is for all
 * queues, so it takes away modes of their own.
 */
static int nvme_tune_force_set(const char *val, const struct kernel_param *kp)
{
	const struct nvmetune_param *param =
		nvme_tune_param(NVME_TUNE_FIELD(mode));
	struct nvmetune_value value;
	bool on = true;
	int ret;

	if (val) {
		ret = kstrtobool(val, &on);
		if (ret)
			return ret;
	}
	value = (struct nvmetune_value){
		.num = on ? NVME_DEFER_ON : NVME_DEFER_AUTO,
	};
	ret = nvme_tune_set_driver(param, &value);
	if (!ret)
		nvme_tune_inherit_all(param);
	return ret;
}

static int nvme_tune_force_get(char *buffer, const struct kernel_param *kp)
{
	bool on = nvme_tune_in_force(NULL, NVME_TUNE_FIELD(mode)) == NVME_DEFER_ON;

	return sysfs_emit(buffer, "%c\n", on ? 'Y' : 'N');
}

static const struct kernel_param_ops nvme_tune_force_ops = {
	.flags = KERNEL_PARAM_OPS_FL_NOARG,
	.set = nvme_tune_force_set,
	.get = nvme_tune_force_get,
};

module_param_cb(force_bounce_swiotlb_wq, &nvme_tune_force_ops, NULL, 0644);
MODULE_PARM_DESC(force_bounce_swiotlb_wq,
		 "Y: defer_mode=on, N: defer_mode=auto, for all controllers and queues");
