// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion of NVMe requests outside of interrupt context: the lanes, from the
 * push in an interrupt to the worker and the flush. See defer.h for the whole
 * picture.
 *
 * A request that was pushed has no net, so whatever is pushed must be completed:
 * every push that finds a lane empty queues the lane's work, and every flush takes
 * what is left.
 */
#include <linux/llist.h>
#include <linux/resched_tick.h>
#include <linux/sched/mm.h>
#include <linux/sizes.h>

#include "defer-lane.h"
#include "defer-compat.h"

#define CREATE_TRACE_POINTS
#include <trace/events/nvme_defer.h>

/* The worker's groups where resched_bytes does not bound them. */
#define NVME_DEFER_WORK_BYTES	SZ_256K

static void nvme_defer_complete_batch(struct nvme_defer *d,
				      struct io_comp_batch *iob,
				      struct request **first)
{
	if (!*first)
		return;
	nvme_defer_batch_in_order(iob, *first);
	d->ops->complete_batch(iob);
	*iob = (struct io_comp_batch){ };
	*first = NULL;
}

/**
 * nvme_defer_complete_group() - complete a group, and empty it
 * @d: the queue
 * @g: the group, in the order of completion
 *
 * Those that can be batched are, and the batch is closed before one that cannot,
 * so that completion keeps the order of the group.
 *
 * Context: any that completes requests.
 */
void nvme_defer_complete_group(struct nvme_defer *d,
			       struct nvme_defer_group *g)
{
	const struct nvme_defer_ops *ops = d->ops;
	struct io_comp_batch iob = { };
	struct request *first = NULL;
	unsigned int i;

	for (i = 0; i < g->nr; i++) {
		if (ops->batch(g->rq[i], &iob)) {
			if (!first)
				first = g->rq[i];
			continue;
		}
		nvme_defer_complete_batch(d, &iob, &first);
		ops->complete(g->rq[i]);
	}
	nvme_defer_complete_batch(d, &iob, &first);

	g->nr = 0;
	g->bytes = 0;
}

/* Lanes */

/**
 * nvme_defer_age() - age of the oldest request of a lane
 * @lane: the lane
 * @now: clock
 *
 * An upper bound: the time since the oldest of what is being completed now was
 * pushed, even when that very request is done already.
 *
 * Context: any. Not exact while others push: good for limits and statistics.
 * Return: age in ns, 0 for an empty lane.
 */
u64 nvme_defer_age(const struct nvme_defer_lane *lane, u64 now)
{
	u64 since = READ_ONCE(lane->since_running);

	if (!since && !llist_empty(&lane->list))
		since = READ_ONCE(lane->since_pending);
	return since && now > since ? now - since : 0;
}

/**
 * nvme_defer_over_limit() - whether too much is waiting in the lanes
 * @d: the queue
 * @now: clock
 *
 * Deferred requests hold bounce slots, and nothing but a worker that gets to
 * run completes them.
 *
 * Return: true past backlog_bytes or max_age_ms.
 */
bool nvme_defer_over_limit(struct nvme_defer *d, u64 now)
{
	u64 max_age = (u64)READ_ONCE(d->set->max_age_ms) * NSEC_PER_MSEC;
	unsigned long backlog, sum = 0;
	unsigned int i;

	for (i = 0; i < NVME_DEFER_MAX_LANES; i++) {
		backlog = atomic_long_read(&d->lane[i].backlog);
		if (!backlog)
			continue;
		sum += backlog;
		if (nvme_defer_age(&d->lane[i], now) > max_age)
			return true;
	}
	return sum > READ_ONCE(d->set->backlog_bytes);
}

/*
 * The first lane with little to do, so that light load stays on one worker;
 * else the one with the least. Lanes that are no longer in use are not looked
 * at and run dry.
 */
static struct nvme_defer_lane *nvme_defer_pick(struct nvme_defer *d)
{
	unsigned int lanes = READ_ONCE(d->set->lanes);
	unsigned long limit = READ_ONCE(d->set->lane_bytes);
	struct nvme_defer_lane *least = &d->lane[0];
	unsigned long backlog, lowest = ULONG_MAX;
	unsigned int i;

	for (i = 0; i < lanes; i++) {
		backlog = atomic_long_read(&d->lane[i].backlog);
		if (backlog < limit)
			return &d->lane[i];
		if (backlog < lowest) {
			lowest = backlog;
			least = &d->lane[i];
		}
	}
	return least;
}

static void nvme_defer_raise_max(atomic_long_t *max, long value)
{
	long old = atomic_long_read(max);

	while (value > old && !atomic_long_try_cmpxchg(max, &old, value))
		;
}

/* For tracepoints. */
static int nvme_defer_instance(const struct nvme_defer *d)
{
	return d->ctrl ? d->ctrl->instance : -1;
}

/**
 * nvme_defer_push() - hand a chunk to a lane, and empty it
 * @d: the queue
 * @counts: of the context that pushes
 * @c: the chunk; an empty one is left alone
 *
 * Cannot fail. The backlog is raised first, so that it never drops below zero
 * when the worker is quick.
 *
 * Context: any; takes no lock and no memory.
 */
void nvme_defer_push(struct nvme_defer *d, struct nvme_defer_counts *counts,
		     struct nvme_defer_chunk *c)
{
	struct nvme_defer_lane *lane;
	long backlog;

	if (!c->head)
		return;

	lane = nvme_defer_pick(d);
	backlog = atomic_long_add_return(c->cost, &lane->backlog);
	nvme_defer_raise_max(&lane->backlog_max, backlog);
	trace_nvme_defer_push(nvme_defer_instance(d), d->qid,
			      lane - d->lane, c->nr, c->bytes, backlog);
	/*
	 * Before the chunk is there to be seen. Of several pushes to an empty
	 * lane the last may win; they are microseconds apart.
	 */
	if (llist_empty(&lane->list))
		WRITE_ONCE(lane->since_pending, d->ops->clock());

	nvme_defer_count(counts, NVME_DEFER_DEFERRED, c->nr);
	nvme_defer_count(counts, NVME_DEFER_DEFERRED_BYTES, c->bytes);
	nvme_defer_count(counts, NVME_DEFER_CHUNKS, 1);
	if (llist_add(&c->head->ipi_list, &lane->list)) {
		nvme_defer_count(counts, NVME_DEFER_QUEUE_WORK, 1);
		queue_work(d->wq, &lane->work);
	}
	*c = (struct nvme_defer_chunk){ };
}

/* The worker */

/*
 * How long requests have waited, as the age of the oldest of their run: there is
 * no room in a request for a time of its own.
 */
static void nvme_defer_measure_delay(struct nvme_defer_lane *lane,
				     unsigned int nr)
{
	struct nvme_defer *d = lane->defer;
	struct nvme_defer_hists *h = nvme_defer_measured(d);

	if (h)
		nvmetune_hist_add(&h->hist[NVME_DEFER_HIST_DELAY],
				  nvme_defer_age(lane, d->ops->clock()), nr);
}

/*
 * Close a group and let go of the CPU. The cost was summed up before completing:
 * afterwards the requests are somebody else's.
 */
static void nvme_defer_work_group(struct nvme_defer_lane *lane,
				  struct nvme_defer_group *g,
				  unsigned long *cost, struct resched_tick *tick)
{
	struct nvme_defer *d = lane->defer;
	unsigned int nr = g->nr;
	u32 bytes = g->bytes;
	long backlog;

	if (!nr)
		return;
	nvme_defer_complete_group(d, g);
	nvme_defer_measure_delay(lane, nr);
	backlog = atomic_long_sub_return(*cost, &lane->backlog);
	trace_nvme_defer_complete(nvme_defer_instance(d), d->qid,
				  lane - d->lane, nr, bytes, backlog);

	u64_stats_update_begin(&lane->sync);
	u64_stats_add(&lane->requests, nr);
	u64_stats_add(&lane->bytes, bytes);
	u64_stats_update_end(&lane->sync);
	resched_tick(tick, *cost);
	*cost = 0;
}

/*
 * Complete all that a lane holds at this moment, oldest first. end_io may
 * allocate, and reclaim through this very disk would wait for the requests that
 * are queued behind: hence noio.
 */
static bool nvme_defer_drain(struct nvme_defer_lane *lane)
{
	struct nvme_defer *d = lane->defer;
	struct nvme_defer_group g = { .nr = 0 };
	struct llist_node *node;
	struct resched_tick tick;
	struct request *rq, *next;
	unsigned long cost = 0;
	unsigned int noio;
	u32 bytes, limit;
	u64 start;

	lockdep_assert_held(&lane->consumer);
	if (llist_empty(&lane->list))
		return false;

	resched_tick_init(&tick, READ_ONCE(d->set->resched_bytes));
	limit = tick.interval ?: NVME_DEFER_WORK_BYTES;
	noio = memalloc_noio_save();
	start = nvme_defer_measured(d) ? d->ops->clock() : 0;
	WRITE_ONCE(lane->since_running, READ_ONCE(lane->since_pending));
	node = llist_reverse_order(llist_del_all(&lane->list));
	while (node) {
		rq = llist_entry(node, struct request, ipi_list);
		/* Read ahead: a completed request's tag is reused at once. */
		node = node->next;
		for (; rq; rq = next) {
			next = rq->rq_next;
			bytes = d->ops->bytes(rq);
			cost += nvme_defer_cost(bytes);
			if (nvme_defer_group_add(&g, rq, bytes, limit))
				nvme_defer_work_group(lane, &g, &cost, &tick);
		}
	}
	nvme_defer_work_group(lane, &g, &cost, &tick);
	WRITE_ONCE(lane->since_running, 0);
	memalloc_noio_restore(noio);

	u64_stats_update_begin(&lane->sync);
	u64_stats_inc(&lane->runs);
	u64_stats_add(&lane->rescheds, tick.rescheds);
	u64_stats_update_end(&lane->sync);
	if (start)
		lane->max_run_ns = max(lane->max_run_ns, d->ops->clock() - start);
	return true;
}

static void nvme_defer_work(struct work_struct *work)
{
	struct nvme_defer_lane *lane =
		container_of(work, struct nvme_defer_lane, work);

	mutex_lock(&lane->consumer);
	nvme_defer_drain(lane);
	mutex_unlock(&lane->consumer);
}

/**
 * nvme_defer_flush() - complete all that was pushed before
 * @d: the queue
 *
 * Completes in the caller what no worker has begun with, rather than wait for
 * a worker that may not get to run; waits for what a worker has in hand.
 *
 * Context: task context, may sleep. Safe against pushes, but does not wait for
 *	those that come in the meantime; what they push is worked off as ever.
 */
void nvme_defer_flush(struct nvme_defer *d)
{
	bool waited, found;
	unsigned int i;

	for (i = 0; i < NVME_DEFER_MAX_LANES; i++) {
		struct nvme_defer_lane *lane = &d->lane[i];

		waited = mutex_is_locked(&lane->consumer);
		cancel_work_sync(&lane->work);
		mutex_lock(&lane->consumer);
		found = nvme_defer_drain(lane);
		mutex_unlock(&lane->consumer);
		if (waited)
			atomic_inc(&d->flush_waits);
		if (waited || found)
			atomic_inc(&d->flushes);
	}
}

/**
 * nvme_defer_lane_init() - make a lane ready
 * @lane: zeroed memory
 * @d: its queue
 */
void nvme_defer_lane_init(struct nvme_defer_lane *lane, struct nvme_defer *d)
{
	lane->defer = d;
	init_llist_head(&lane->list);
	INIT_WORK(&lane->work, nvme_defer_work);
	mutex_init(&lane->consumer);
	u64_stats_init(&lane->sync);
}
