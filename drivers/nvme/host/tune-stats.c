// SPDX-License-Identifier: GPL-2.0-only
/*
 * Statistics of a queue of the NVMe PCI driver, for the control plane.
 */
#include <linux/seq_file.h>

#include "tune.h"

#define NVME_TUNE_STAT(pname, pkind, punit, phelp)			\
	{								\
		.name = pname, .help = phelp,				\
		.kind = NVMETUNE_STAT_KIND_##pkind,			\
		.unit = NVMETUNE_UNIT_##punit,				\
	}

#define NVME_TUNE_STAT_AT(index, ...)					\
	[NVME_TUNE_##index] = NVME_TUNE_STAT(__VA_ARGS__)

const struct nvmetune_stat nvme_tune_queue_stats[NVME_TUNE_NR_QUEUE_STATS] = {
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
	/* Of workers. */
	NVME_TUNE_STAT_AT(WORKER_RUNS, "worker_runs", COUNTER, NONE,
			  "times that a worker, or a flush, found something"),
	NVME_TUNE_STAT_AT(WORKER_REQUESTS, "worker_requests", COUNTER, REQUESTS,
			  "completed by workers and flushes"),
	NVME_TUNE_STAT_AT(WORKER_BYTES, "worker_bytes", COUNTER, BYTES,
			  "of these"),
	NVME_TUNE_STAT_AT(WORKER_RESCHEDS, "worker_rescheds", COUNTER, NONE,
			  "points where a worker let go of its CPU"),
	NVME_TUNE_STAT_AT(WORKER_MAX_RUN, "worker_max_run_ns", MAXIMUM, NANOSECONDS,
			  "longest run of a worker while times are measured"),
	NVME_TUNE_STAT_AT(BACKLOG, "backlog_bytes", GAUGE, BYTES,
			  "pushed and not yet completed"),
	NVME_TUNE_STAT_AT(LANE_BACKLOG_MAX, "lane_backlog_max_bytes", MAXIMUM, BYTES,
			  "most that a lane has held"),
	NVME_TUNE_STAT_AT(OLDEST, "oldest_ns", GAUGE, NANOSECONDS,
			  "age of the oldest deferred request"),
	NVME_TUNE_STAT_AT(FLUSHES, "flushes", COUNTER, NONE,
			  "stops of the queue that found something deferred"),
	NVME_TUNE_STAT_AT(FLUSH_WAITS, "flush_waits", COUNTER, NONE,
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

/**
 * nvme_tune_read_stats() - a class's read_stats, of queues
 * @obj: the queue's object
 * @values: out: in the order of nvme_tune_queue_stats
 *
 * Context: any.
 */
void nvme_tune_read_stats(struct nvmetune_object *obj, u64 *values)
{
	struct nvme_defer *d = nvme_tune_queue(obj);
	u64 now = d->ops->clock(), oldest = 0, longest = 0;
	struct nvme_tune_lane_stats s, sum = { };
	long backlog = 0, highest = 0;
	unsigned int i;

	for (i = 0; i < NVME_DEFER_NR_COUNTS; i++)
		values[i] = nvme_defer_counted(d, i, false);
	for (i = 0; i < NVME_DEFER_NR_COUNTS; i++)
		values[NVME_DEFER_NR_COUNTS + i] = nvme_defer_counted(d, i, true);
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
	values[NVME_TUNE_WORKER_RUNS] = sum.runs;
	values[NVME_TUNE_WORKER_REQUESTS] = sum.requests;
	values[NVME_TUNE_WORKER_BYTES] = sum.bytes;
	values[NVME_TUNE_WORKER_RESCHEDS] = sum.rescheds;
	values[NVME_TUNE_WORKER_MAX_RUN] = longest;
	values[NVME_TUNE_BACKLOG] = backlog;
	values[NVME_TUNE_LANE_BACKLOG_MAX] = highest;
	values[NVME_TUNE_OLDEST] = oldest;
	values[NVME_TUNE_FLUSHES] = atomic_read(&d->flushes);
	values[NVME_TUNE_FLUSH_WAITS] = atomic_read(&d->flush_waits);
}

/**
 * nvme_tune_reset_stats() - a class's reset_stats, of queues
 * @obj: the queue's object
 *
 * A worker that runs at this moment may put its own maximum back.
 *
 * Context: any.
 */
void nvme_tune_reset_stats(struct nvmetune_object *obj)
{
	struct nvme_defer *d = nvme_tune_queue(obj);
	unsigned int i;

	for (i = 0; i < NVME_DEFER_MAX_LANES; i++) {
		atomic_long_set(&d->lane[i].backlog_max,
				atomic_long_read(&d->lane[i].backlog));
		WRITE_ONCE(d->lane[i].max_run_ns, 0);
	}
}

/**
 * nvme_tune_show_lanes() - the table of a queue's lanes
 * @m: where to
 * @obj: the queue's object
 */
void nvme_tune_show_lanes(struct seq_file *m, struct nvmetune_object *obj)
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

const struct nvmetune_hist_desc nvme_tune_queue_hists[NVME_DEFER_NR_HISTS] = {
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

/**
 * nvme_tune_hist() - a class's hist, of queues
 * @obj: the queue's object
 * @index: enum nvme_defer_hist
 *
 * Return: the histogram, or NULL as long as nothing was measured.
 */
struct nvmetune_hist *nvme_tune_hist(struct nvmetune_object *obj,
				     unsigned int index)
{
	struct nvme_defer *d = nvme_tune_queue(obj);
	/* Pairs with smp_store_release() in nvme_tune_measure(). */
	struct nvme_defer_hists *hists = smp_load_acquire(&d->hists);

	return hists ? &hists->hist[index] : NULL;
}
