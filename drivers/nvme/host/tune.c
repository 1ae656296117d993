// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NVMe PCI driver's part of the control plane: what can be set for the driver,
 * a controller and a queue, and what they are.
 *
 * A line in one of two tables makes a parameter of the driver, of controllers and,
 * if it is in the first, of queues. A queue's value comes before its controller's,
 * and that before the driver's, which is the module parameter:
 *
 *   nvme           the driver's values; there as long as any controller is.
 *                  "inherit" brings the built-in default back
 *   nvme0          a controller's own values, or "inherit"
 *   nvme0/q1       a queue's own values, or "inherit"
 *
 * Values live in the driver's structures; objects only show them. A queue's object
 * comes and goes in the controller's update work, since registering waits for
 * memory, and a reset must not.
 */
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/moduleparam.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "defer.h"

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

static int nvme_tune_prepare_workqueue(struct nvmetune_setting *s,
				       struct nvmetune_error *err);

/* A field of the settings by its place: all are u32. */
#define NVME_TUNE_FIELD(field)						\
	(offsetof(struct nvme_defer_settings, field) / sizeof(u32))
#define NVME_TUNE_MODE		NVME_TUNE_FIELD(mode)
#define NVME_TUNE_NR_FIELDS	(sizeof(struct nvme_defer_settings) / sizeof(u32))

/* Values */

/*
 * Protects the list of controllers, the values of all levels, and the pointers to
 * objects. Nothing sleeps under it: a reset takes it.
 */
static DEFINE_SPINLOCK(nvme_tune_lock);
static LIST_HEAD(nvme_tune_ctrls);

static u32 *nvme_tune_slot(struct nvme_defer_settings *set, unsigned int field)
{
	BUILD_BUG_ON(NVME_TUNE_NR_FIELDS > 32);
	return (u32 *)set + field;
}

/* What holds at a level; NULL: for the driver. */
static u32 nvme_tune_in_force(struct nvme_tune_level *level, unsigned int field)
{
	for (; level; level = level->above)
		if (level->has & BIT(field))
			return READ_ONCE(*nvme_tune_slot(&level->own, field));
	return READ_ONCE(*nvme_tune_slot(&nvme_defer_settings, field));
}

static void nvme_tune_recompute(struct nvme_defer *d)
{
	unsigned int i;

	lockdep_assert_held(&nvme_tune_lock);
	for (i = 0; i < NVME_TUNE_NR_FIELDS; i++)
		WRITE_ONCE(*nvme_tune_slot(&d->in_force, i),
			   nvme_tune_in_force(&d->level, i));
}

static void nvme_tune_recompute_all(void)
{
	struct nvme_defer_ctrl *c;
	unsigned int qid;

	lockdep_assert_held(&nvme_tune_lock);
	list_for_each_entry(c, &nvme_tune_ctrls, entry) {
		for (qid = 0; qid < c->nr_queues; qid++)
			if (c->queue[qid])
				nvme_tune_recompute(c->queue[qid]);
		schedule_work(&c->update);
	}
}

/**
 * nvme_defer_update_all() - nvme_defer_settings has changed
 *
 * Decisions follow at once; workqueues and histograms a little later.
 *
 * Context: task context.
 */
void nvme_defer_update_all(void)
{
	spin_lock(&nvme_tune_lock);
	nvme_tune_recompute_all();
	spin_unlock(&nvme_tune_lock);
}

/**
 * nvme_tune_workqueue() - what a controller's workqueues shall be
 * @c: the controller
 *
 * Return: enum nvme_defer_wq_scope.
 */
u32 nvme_tune_workqueue(struct nvme_defer_ctrl *c)
{
	u32 scope;

	spin_lock(&nvme_tune_lock);
	scope = nvme_tune_in_force(&c->level, NVME_TUNE_FIELD(workqueue));
	spin_unlock(&nvme_tune_lock);
	return scope;
}

/* Parameters. An object's data is its level; the driver's has none. */

static void nvme_tune_get(struct nvmetune_object *obj,
			  const struct nvmetune_param *param,
			  struct nvmetune_state *state)
{
	struct nvme_tune_level *level = nvmetune_data(obj);

	spin_lock(&nvme_tune_lock);
	state->in_force = nvme_tune_in_force(level, param->arg);
	state->own.inherit = level && !(level->has & BIT(param->arg));
	state->own.num = state->in_force;
	spin_unlock(&nvme_tune_lock);
}

static void nvme_tune_put(struct nvme_tune_level *level,
			  const struct nvmetune_param *param,
			  const struct nvmetune_value *value)
{
	unsigned int field = param->arg;

	spin_lock(&nvme_tune_lock);
	if (!level) {
		WRITE_ONCE(*nvme_tune_slot(&nvme_defer_settings, field),
			   value->inherit ? param->def : value->num);
	} else if (value->inherit) {
		level->has &= ~BIT(field);
	} else {
		WRITE_ONCE(*nvme_tune_slot(&level->own, field), value->num);
		level->has |= BIT(field);
	}
	nvme_tune_recompute_all();
	spin_unlock(&nvme_tune_lock);
}

static void nvme_tune_commit(struct nvmetune_setting *s)
{
	nvme_tune_put(nvmetune_data(s->obj), s->param, &s->value);
}

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

#define NVME_TUNE_SETTING(_field, _name, _type, _def, _help, ...)	\
	{								\
		.name = _name, .help = _help,				\
		.type = NVMETUNE_TYPE_##_type, .def = _def,		\
		.inherits = true, .arg = NVME_TUNE_FIELD(_field),	\
		.get = nvme_tune_get, .commit = nvme_tune_commit,	\
		__VA_ARGS__						\
	}

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

static struct nvme_defer_ctrl *nvme_tune_ctrl(struct nvmetune_object *obj)
{
	return container_of(nvmetune_data(obj), struct nvme_defer_ctrl, level);
}

static struct nvme_defer *nvme_tune_queue(struct nvmetune_object *obj)
{
	return container_of(nvmetune_data(obj), struct nvme_defer, level);
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

/* Statistics */

#define NVME_TUNE_STAT(pname, pkind, punit, phelp)			\
	{								\
		.name = pname, .help = phelp,				\
		.kind = NVMETUNE_STAT_KIND_##pkind,			\
		.unit = NVMETUNE_UNIT_##punit,				\
	}

static const struct nvmetune_stat nvme_tune_queue_stats[] = {
	/* In the order of enum nvme_defer_count. */
	NVME_TUNE_STAT("irq_inline", COUNTER, REQUESTS,
		       "completed on the spot"),
	NVME_TUNE_STAT("irq_inline_bytes", COUNTER, BYTES,
		       "of these"),
	NVME_TUNE_STAT("irq_deferred", COUNTER, REQUESTS,
		       "handed to a lane"),
	NVME_TUNE_STAT("irq_deferred_bytes", COUNTER, BYTES,
		       "of these"),
	NVME_TUNE_STAT("irq_pressure", COUNTER, REQUESTS,
		       "of inline: would have been deferred, but the backlog was past its limit"),
	NVME_TUNE_STAT("irq_chunks", COUNTER, NONE,
		       "pushes to a lane"),
	NVME_TUNE_STAT("irq_queue_work", COUNTER, NONE,
		       "of these, those that woke a worker"),
	/* The same of softirqs. */
	NVME_TUNE_STAT("softirq_inline", COUNTER, REQUESTS,
		       "completed on the spot"),
	NVME_TUNE_STAT("softirq_inline_bytes", COUNTER, BYTES,
		       "of these"),
	NVME_TUNE_STAT("softirq_deferred", COUNTER, REQUESTS,
		       "handed to a lane"),
	NVME_TUNE_STAT("softirq_deferred_bytes", COUNTER, BYTES,
		       "of these"),
	NVME_TUNE_STAT("softirq_pressure", COUNTER, REQUESTS,
		       "of inline: would have been deferred, but the backlog was past its limit"),
	NVME_TUNE_STAT("softirq_chunks", COUNTER, NONE,
		       "pushes to a lane"),
	NVME_TUNE_STAT("softirq_queue_work", COUNTER, NONE,
		       "of these, those that woke a worker"),
	NVME_TUNE_STAT("worker_runs", COUNTER, NONE,
		       "times that a worker, or a flush, found something"),
	NVME_TUNE_STAT("worker_requests", COUNTER, REQUESTS,
		       "completed by workers and flushes"),
	NVME_TUNE_STAT("worker_bytes", COUNTER, BYTES, "of these"),
	NVME_TUNE_STAT("worker_rescheds", COUNTER, NONE,
		       "points where a worker let go of its CPU"),
	NVME_TUNE_STAT("worker_max_run_ns", MAXIMUM, NANOSECONDS,
		       "longest run of a worker while times are measured"),
	NVME_TUNE_STAT("backlog_bytes", GAUGE, BYTES,
		       "pushed and not yet completed"),
	NVME_TUNE_STAT("lane_backlog_max_bytes", MAXIMUM, BYTES,
		       "most that a lane has held"),
	NVME_TUNE_STAT("oldest_ns", GAUGE, NANOSECONDS,
		       "age of the oldest deferred request"),
	NVME_TUNE_STAT("flushes", COUNTER, NONE,
		       "stops of the queue that found something deferred"),
	NVME_TUNE_STAT("flush_waits", COUNTER, NONE,
		       "of these, those that had to wait for a worker"),
};

struct nvme_tune_lane_stats {
	u64 runs;
	u64 requests;
	u64 bytes;
	u64 rescheds;
};

static void nvme_tune_read_lane(const struct nvme_defer_lane *lane,
				struct nvme_tune_lane_stats *s)
{
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&lane->sync);
		s->runs = u64_stats_read(&lane->runs);
		s->requests = u64_stats_read(&lane->requests);
		s->bytes = u64_stats_read(&lane->bytes);
		s->rescheds = u64_stats_read(&lane->rescheds);
	} while (u64_stats_fetch_retry(&lane->sync, start));
}

static void nvme_tune_read_stats(struct nvmetune_object *obj, u64 *values)
{
	struct nvme_defer *d = nvme_tune_queue(obj);
	u64 now = d->ops->clock(), oldest = 0, longest = 0;
	struct nvme_tune_lane_stats s, sum = { };
	long backlog = 0, highest = 0;
	unsigned int i;

	for (i = 0; i < NVME_DEFER_NR_COUNTS; i++)
		*values++ = nvme_defer_counted(d, i, false);
	for (i = 0; i < NVME_DEFER_NR_COUNTS; i++)
		*values++ = nvme_defer_counted(d, i, true);
	for (i = 0; i < NVME_DEFER_MAX_LANES; i++) {
		const struct nvme_defer_lane *lane = &d->lane[i];

		nvme_tune_read_lane(lane, &s);
		sum.runs += s.runs;
		sum.requests += s.requests;
		sum.bytes += s.bytes;
		sum.rescheds += s.rescheds;
		backlog += atomic_long_read(&lane->backlog);
		highest = max(highest, atomic_long_read(&lane->backlog_max));
		oldest = max(oldest, nvme_defer_age(lane, now));
		longest = max(longest, READ_ONCE(lane->max_run_ns));
	}
	*values++ = sum.runs;
	*values++ = sum.requests;
	*values++ = sum.bytes;
	*values++ = sum.rescheds;
	*values++ = longest;
	*values++ = backlog;
	*values++ = highest;
	*values++ = oldest;
	*values++ = atomic_read(&d->flushes);
	*values++ = atomic_read(&d->flush_waits);
}

/* A worker that runs at this moment may put its own maximum back. */
static void nvme_tune_reset_stats(struct nvmetune_object *obj)
{
	struct nvme_defer *d = nvme_tune_queue(obj);
	unsigned int i;

	for (i = 0; i < NVME_DEFER_MAX_LANES; i++) {
		atomic_long_set(&d->lane[i].backlog_max,
				atomic_long_read(&d->lane[i].backlog));
		WRITE_ONCE(d->lane[i].max_run_ns, 0);
	}
}

static void nvme_tune_show_lanes(struct seq_file *m,
				 struct nvmetune_object *obj)
{
	struct nvme_defer *d = nvme_tune_queue(obj);
	struct nvme_tune_lane_stats s;
	u64 now = d->ops->clock();
	unsigned int i;

	seq_puts(m, "lane in_use backlog_bytes oldest_ns requests bytes runs rescheds\n");
	for (i = 0; i < NVME_DEFER_MAX_LANES; i++) {
		nvme_tune_read_lane(&d->lane[i], &s);
		seq_printf(m, "%u %d %ld %llu %llu %llu %llu %llu\n", i,
			   i < READ_ONCE(d->set->lanes),
			   atomic_long_read(&d->lane[i].backlog),
			   nvme_defer_age(&d->lane[i], now), s.requests,
			   s.bytes, s.runs, s.rescheds);
	}
}

static const struct nvmetune_hist_desc nvme_tune_hists[] = {
	[NVME_DEFER_HIST_HANDLER] = {
		.name = "handler_ns",
		.help = "interrupt handler, from its first completion to the end",
		.unit = NVMETUNE_UNIT_NANOSECONDS,
	},
	[NVME_DEFER_HIST_DELAY] = {
		.name = "delay_ns",
		.help = "deferred requests, from the push of the oldest of their run to completion",
		.unit = NVMETUNE_UNIT_NANOSECONDS,
	},
};

static struct nvmetune_hist *nvme_tune_hist(struct nvmetune_object *obj,
					    unsigned int index)
{
	struct nvme_defer *d = nvme_tune_queue(obj);
	/* Pairs with smp_store_release() in nvme_tune_measure(). */
	struct nvme_defer_hists *hists = smp_load_acquire(&d->hists);

	return hists ? &hists->hist[index] : NULL;
}

static const struct nvmetune_table nvme_tune_tables[] = {
	{ .name = "lanes", .show = nvme_tune_show_lanes },
};

/* Objects */

static const struct nvmetune_class nvme_tune_driver_class = {
	.name		= "nvme-driver",
	.params		= {
		{ nvme_tune_queue_settings, ARRAY_SIZE(nvme_tune_queue_settings) },
		{ nvme_tune_ctrl_settings, ARRAY_SIZE(nvme_tune_ctrl_settings) },
	},
};

static const struct nvmetune_class nvme_tune_ctrl_class = {
	.name		= "nvme-controller",
	.params		= {
		{ nvme_tune_queue_settings, ARRAY_SIZE(nvme_tune_queue_settings) },
		{ nvme_tune_ctrl_settings, ARRAY_SIZE(nvme_tune_ctrl_settings) },
		{ nvme_tune_ctrl_facts, ARRAY_SIZE(nvme_tune_ctrl_facts) },
	},
};

static const struct nvmetune_class nvme_tune_queue_class = {
	.name		= "nvme-queue",
	.params		= {
		{ nvme_tune_queue_settings, ARRAY_SIZE(nvme_tune_queue_settings) },
		{ nvme_tune_queue_facts, ARRAY_SIZE(nvme_tune_queue_facts) },
	},
	.stats		= nvme_tune_queue_stats,
	.nr_stats	= ARRAY_SIZE(nvme_tune_queue_stats),
	.hists		= nvme_tune_hists,
	.nr_hists	= ARRAY_SIZE(nvme_tune_hists),
	.tables		= nvme_tune_tables,
	.nr_tables	= ARRAY_SIZE(nvme_tune_tables),
	.read_stats	= nvme_tune_read_stats,
	.reset_stats	= nvme_tune_reset_stats,
	.hist		= nvme_tune_hist,
};

/* The driver's object, and how many controllers there are. */
static struct nvmetune_object *nvme_tune_driver;
static unsigned int nvme_tune_users;
static DEFINE_MUTEX(nvme_tune_users_mutex);

static void nvme_tune_set_obj(struct nvmetune_object **p,
			      struct nvmetune_object *obj)
{
	spin_lock(&nvme_tune_lock);
	*p = IS_ERR(obj) ? NULL : obj;
	spin_unlock(&nvme_tune_lock);
}

static struct nvmetune_object *nvme_tune_take_obj(struct nvmetune_object **p)
{
	struct nvmetune_object *obj;

	spin_lock(&nvme_tune_lock);
	obj = *p;
	*p = NULL;
	spin_unlock(&nvme_tune_lock);
	return obj;
}

static struct nvmetune_object *nvme_tune_get_obj(struct nvmetune_object **p)
{
	struct nvmetune_object *obj;

	spin_lock(&nvme_tune_lock);
	obj = *p ? nvmetune_get(*p) : NULL;
	spin_unlock(&nvme_tune_lock);
	return obj;
}

/**
 * nvme_tune_add_ctrl() - a controller comes
 * @c: the controller, without queues
 *
 * Without memory for its object, it works and cannot be tuned.
 *
 * Context: task context, may sleep.
 */
void nvme_tune_add_ctrl(struct nvme_defer_ctrl *c)
{
	char name[16];

	mutex_lock(&nvme_tune_users_mutex);
	if (!nvme_tune_users++)
		nvme_tune_set_obj(&nvme_tune_driver,
				  nvmetune_register(&nvme_tune_driver_class,
						    NULL, "nvme", NULL, NULL));
	mutex_unlock(&nvme_tune_users_mutex);

	snprintf(name, sizeof(name), "nvme%d", c->instance);
	nvme_tune_set_obj(&c->level.obj,
			  nvmetune_register(&nvme_tune_ctrl_class, NULL, name,
					    c->dev, &c->level));
	spin_lock(&nvme_tune_lock);
	list_add_tail(&c->entry, &nvme_tune_ctrls);
	spin_unlock(&nvme_tune_lock);
}

/**
 * nvme_tune_remove_ctrl() - a controller goes
 * @c: the controller
 *
 * Nothing schedules its update work afterwards.
 *
 * Context: task context, may sleep. The caller holds no lock that the setting of
 *	a parameter takes.
 */
void nvme_tune_remove_ctrl(struct nvme_defer_ctrl *c)
{
	unsigned int qid;

	/* No setter schedules the work from here on, so that it can end. */
	spin_lock(&nvme_tune_lock);
	list_del(&c->entry);
	spin_unlock(&nvme_tune_lock);
	cancel_work_sync(&c->update);
	for (qid = 0; qid < c->nr_queues; qid++)
		if (c->queue[qid])
			nvme_tune_remove_queue(c->queue[qid]);
	nvmetune_unregister(nvme_tune_take_obj(&c->level.obj));

	mutex_lock(&nvme_tune_users_mutex);
	if (!--nvme_tune_users)
		nvmetune_unregister(nvme_tune_take_obj(&nvme_tune_driver));
	mutex_unlock(&nvme_tune_users_mutex);
}

/**
 * nvme_tune_add_queue() - a queue appears for the first time
 * @d: the queue
 *
 * Context: task context, no allocation: in the reset path.
 */
void nvme_tune_add_queue(struct nvme_defer *d)
{
	spin_lock(&nvme_tune_lock);
	d->level.above = &d->ctrl->level;
	nvme_tune_recompute(d);
	spin_unlock(&nvme_tune_lock);
}

/* Switch measuring on or off; the histograms stay once they are made. */
static void nvme_tune_measure(struct nvme_defer *d, bool on)
{
	struct nvme_defer_hists *hists;

	if (on == d->measured)
		return;
	if (on && !d->hists) {
		hists = kzalloc_node(sizeof(*hists), GFP_KERNEL,
				     dev_to_node(d->ctrl->dev));
		if (!hists)
			return;
		/* Pairs with smp_load_acquire() in nvme_defer_measured(). */
		smp_store_release(&d->hists, hists);
	}
	/* Nothing is left of the last time that it was on. */
	WRITE_ONCE(d->gathered_since, 0);
	if (on)
		static_branch_inc(&nvme_defer_hists_key);
	else
		static_branch_dec(&nvme_defer_hists_key);
	d->measured = on;
}

/**
 * nvme_tune_update_queue() - bring a queue's object in line with its state
 * @d: the queue
 *
 * Context: the controller's update work.
 */
void nvme_tune_update_queue(struct nvme_defer *d)
{
	bool in_use = READ_ONCE(d->in_use);
	struct nvmetune_object *above = d->ctrl->level.obj;
	char name[16];

	nvme_tune_measure(d, in_use && READ_ONCE(d->set->measure));
	if (!in_use) {
		nvmetune_unregister(nvme_tune_take_obj(&d->level.obj));
	} else if (above && !d->level.obj) {
		snprintf(name, sizeof(name), "q%u", d->qid);
		nvme_tune_set_obj(&d->level.obj,
				  nvmetune_register(&nvme_tune_queue_class,
						    above, name, NULL,
						    &d->level));
	}
}

/**
 * nvme_tune_remove_queue() - a queue's structure is about to go
 * @d: the queue
 *
 * Context: task context, may sleep; the update work does not run any more.
 */
void nvme_tune_remove_queue(struct nvme_defer *d)
{
	nvmetune_unregister(nvme_tune_take_obj(&d->level.obj));
	nvme_tune_measure(d, false);
}

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

static int nvme_tune_set_driver(const struct nvmetune_param *param,
				const struct nvmetune_value *value)
{
	struct nvmetune_setting s = { .param = param, .value = *value };
	struct nvmetune_error err;
	int ret;

	s.obj = nvme_tune_get_obj(&nvme_tune_driver);
	if (s.obj) {
		ret = nvmetune_apply(&s, 1, &err);
		nvmetune_put(s.obj);
		if (ret != -ENODEV)
			return ret;
	}
	/* There is no controller, or the last one has just gone. */
	nvme_tune_put(NULL, param, value);
	return 0;
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

/*
 * The name by which the first posted version of this idea is known. It is for all
 * queues, so it takes away modes of their own.
 */
static struct nvme_tune_level *nvme_tune_find_mode(void)
{
	struct nvme_defer_ctrl *c;
	unsigned int qid;

	lockdep_assert_held(&nvme_tune_lock);
	list_for_each_entry(c, &nvme_tune_ctrls, entry) {
		if (c->level.has & BIT(NVME_TUNE_MODE))
			return &c->level;
		for (qid = 0; qid < c->nr_queues; qid++)
			if (c->queue[qid] &&
			    c->queue[qid]->level.has & BIT(NVME_TUNE_MODE))
				return &c->queue[qid]->level;
	}
	return NULL;
}

static void nvme_tune_inherit_mode(void)
{
	struct nvmetune_setting s;
	struct nvme_tune_level *level;
	struct nvmetune_error err;

	for (;;) {
		s = (struct nvmetune_setting){
			.param = nvme_tune_param(NVME_TUNE_MODE),
			.value.inherit = true,
		};
		spin_lock(&nvme_tune_lock);
		level = nvme_tune_find_mode();
		if (level && level->obj) {
			s.obj = nvmetune_get(level->obj);
		} else if (level) {
			/* Not there at the moment: nobody to be told. */
			level->has &= ~BIT(NVME_TUNE_MODE);
			nvme_tune_recompute_all();
		}
		spin_unlock(&nvme_tune_lock);
		if (!level)
			return;
		if (!s.obj)
			continue;
		/* It may go in the meantime, and is not found again then. */
		nvmetune_apply(&s, 1, &err);
		nvmetune_put(s.obj);
	}
}

static int nvme_tune_force_set(const char *val, const struct kernel_param *kp)
{
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
	ret = nvme_tune_set_driver(nvme_tune_param(NVME_TUNE_MODE), &value);
	if (!ret)
		nvme_tune_inherit_mode();
	return ret;
}

static int nvme_tune_force_get(char *buffer, const struct kernel_param *kp)
{
	bool on = nvme_tune_in_force(NULL, NVME_TUNE_MODE) == NVME_DEFER_ON;

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
