// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion of NVMe requests outside of interrupt context: what happened, in
 * /sys/kernel/debug/nvmetune/nvmeN/qM/stats. Lines of "name value"; names are
 * only added, never changed. Read-only, so that it opens under lockdown too.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "defer.h"

static struct dentry *nvme_defer_debugfs;
static unsigned int nvme_defer_debugfs_users;

static const char * const nvme_defer_count_names[] = {
	[NVME_DEFER_INLINE]		= "inline",
	[NVME_DEFER_INLINE_BYTES]	= "inline_bytes",
	[NVME_DEFER_DEFERRED]		= "deferred",
	[NVME_DEFER_DEFERRED_BYTES]	= "deferred_bytes",
	[NVME_DEFER_PRESSURE]		= "pressure",
	[NVME_DEFER_CHUNKS]		= "chunks",
	[NVME_DEFER_QUEUE_WORK]		= "queue_work",
};

struct nvme_defer_lane_stats {
	u64 runs;
	u64 requests;
	u64 bytes;
	u64 rescheds;
};

static void nvme_defer_read_lane(const struct nvme_defer_lane *lane,
				 struct nvme_defer_lane_stats *s)
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

static void nvme_defer_show_lanes(struct seq_file *m, struct nvme_defer *d)
{
	struct nvme_defer_lane_stats s, sum = { };
	u64 now = d->ops->clock(), oldest = 0, longest = 0;
	long backlog = 0, highest = 0;
	unsigned int i;

	for (i = 0; i < NVME_DEFER_MAX_LANES; i++) {
		const struct nvme_defer_lane *lane = &d->lane[i];

		nvme_defer_read_lane(lane, &s);
		sum.runs += s.runs;
		sum.requests += s.requests;
		sum.bytes += s.bytes;
		sum.rescheds += s.rescheds;
		backlog += atomic_long_read(&lane->backlog);
		highest = max(highest, atomic_long_read(&lane->backlog_max));
		oldest = max(oldest, nvme_defer_age(lane, now));
		longest = max(longest, READ_ONCE(lane->max_run_ns));
	}
	seq_printf(m, "worker_runs %llu\n", sum.runs);
	seq_printf(m, "worker_requests %llu\n", sum.requests);
	seq_printf(m, "worker_bytes %llu\n", sum.bytes);
	seq_printf(m, "worker_rescheds %llu\n", sum.rescheds);
	seq_printf(m, "worker_max_run_ns %llu\n", longest);
	seq_printf(m, "backlog_bytes %ld\n", backlog);
	seq_printf(m, "lane_backlog_max_bytes %ld\n", highest);
	seq_printf(m, "oldest_ns %llu\n", oldest);
	for (i = 0; i < NVME_DEFER_MAX_LANES; i++) {
		nvme_defer_read_lane(&d->lane[i], &s);
		seq_printf(m, "lane%u_requests %llu\n", i, s.requests);
	}
}

static int nvme_defer_stats_show(struct seq_file *m, void *unused)
{
	struct nvme_defer *d = m->private;
	unsigned long flags;
	bool running, polled, threaded, workqueue;
	unsigned int i;

	spin_lock_irqsave(&d->lock, flags);
	running = d->running;
	polled = d->polled;
	threaded = d->threaded || d->ctrl->threaded;
	workqueue = d->wq;
	spin_unlock_irqrestore(&d->lock, flags);

	seq_printf(m, "mode %s\n",
		   nvme_defer_mode_names[READ_ONCE(d->set->mode)]);
	seq_printf(m, "bounces %d\n", d->ctrl->bounces);
	seq_printf(m, "running %d\n", running);
	seq_printf(m, "polled %d\n", polled);
	seq_printf(m, "threaded %d\n", threaded);
	seq_printf(m, "workqueue %d\n", workqueue);
	seq_printf(m, "armed %d\n", nvme_defer_armed(d));
	for (i = 0; i < NVME_DEFER_NR_COUNTS; i++)
		seq_printf(m, "irq_%s %llu\n", nvme_defer_count_names[i],
			   nvme_defer_counted(d, i, false));
	for (i = 0; i < NVME_DEFER_NR_COUNTS; i++)
		seq_printf(m, "softirq_%s %llu\n", nvme_defer_count_names[i],
			   nvme_defer_counted(d, i, true));
	nvme_defer_show_lanes(m, d);
	seq_printf(m, "flushes %d\n", atomic_read(&d->flushes));
	seq_printf(m, "flush_waits %d\n", atomic_read(&d->flush_waits));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(nvme_defer_stats);

/**
 * nvme_defer_debugfs_ctrl() - make a controller's directory
 * @c: the controller
 *
 * Context: task context; calls of this file's functions for a controller that
 *	comes or goes are serialised by the caller.
 */
void nvme_defer_debugfs_ctrl(struct nvme_defer_ctrl *c)
{
	char name[16];

	if (!nvme_defer_debugfs_users++)
		nvme_defer_debugfs = debugfs_create_dir("nvmetune", NULL);
	snprintf(name, sizeof(name), "nvme%d", c->instance);
	c->dir = debugfs_create_dir(name, nvme_defer_debugfs);
}

/**
 * nvme_defer_debugfs_queue() - make a queue's directory, once
 * @d: the queue
 *
 * Context: the controller's update work.
 */
void nvme_defer_debugfs_queue(struct nvme_defer *d)
{
	char name[16];

	if (d->dir)
		return;
	snprintf(name, sizeof(name), "q%u", d->qid);
	d->dir = debugfs_create_dir(name, d->ctrl->dir);
	debugfs_create_file("stats", 0444, d->dir, d, &nvme_defer_stats_fops);
}

/**
 * nvme_defer_debugfs_remove() - remove a controller's directory
 * @c: the controller
 *
 * Waits for readers: nothing reads the queues any more when it returns.
 *
 * Context: task context; serialised like nvme_defer_debugfs_ctrl().
 */
void nvme_defer_debugfs_remove(struct nvme_defer_ctrl *c)
{
	debugfs_remove_recursive(c->dir);
	if (!--nvme_defer_debugfs_users)
		debugfs_remove_recursive(nvme_defer_debugfs);
}
