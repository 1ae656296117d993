// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion of NVMe requests outside of interrupt context: the engine.
 *
 * See defer.h for the whole picture. What this file relies on:
 *
 * - A request that blk-mq has marked complete belongs to whoever completes it:
 *   its ipi_list and rq_next are free, no time-out touches it. It also has no
 *   net any more, so whatever is pushed must be completed: every push that
 *   finds a lane empty queues the lane's work, and every flush takes what is
 *   left.
 * - Hard interrupt handlers of one queue do not overlap.
 * - Regions with interrupts or softirqs off are RCU read-side sections. What
 *   an interrupt saw armed it may use until it ends; who disarms waits for a
 *   grace period before the workqueue goes away.
 */
#include <linux/interrupt.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/resched_tick.h>
#include <linux/sched/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "defer.h"
#include "defer-compat.h"

#define CREATE_TRACE_POINTS
#include <trace/events/nvme_defer.h>

/*
 * In an interrupt, the budget is looked at again after so many bytes: copying
 * them takes 5 to 50 us.
 */
#define NVME_DEFER_LOOK_BYTES	SZ_64K
/* Highest debt of a CPU. */
#define NVME_DEFER_MAX_DEBT_NS	(4 * NVME_DEFER_WINDOW_NS)
/* The worker's groups where resched_bytes does not bound them. */
#define NVME_DEFER_WORK_BYTES	SZ_256K

/* Stands in where there is no engine (admin queue, no memory): never armed. */
struct nvme_defer nvme_defer_none;

static DEFINE_PER_CPU(struct nvme_defer_window, nvme_defer_window);

/* Requests to be completed together, in this order. */
struct nvme_defer_group {
	struct request *rq[NVME_DEFER_GROUP];
	unsigned int nr;
	u32 bytes;
};

/* Requests to be pushed together, chained by rq_next. */
struct nvme_defer_chunk {
	struct request *head;
	struct request *last;
	unsigned int nr;
	u32 bytes;
	unsigned long cost;
};

/*
 * The work of one interrupt or softirq call. The clock is read, and what depends
 * on it looked at, when first needed: a softirq call has one request only, and
 * most modes and requests need none of it.
 */
struct nvme_defer_pass {
	struct nvme_defer *d;
	struct nvme_defer_counts *counts;
	struct nvme_defer_window *w;
	u64 start;
	u64 charged;
	u32 used;
	bool timed;
	bool share_left;
	bool over_limit;
	bool over_limit_known;
	struct nvme_defer_group group;
	struct nvme_defer_chunk chunk;
};

/*
 * One instruction where counters have 64 bits; else the sequence count must not be
 * seen in the middle of a change by an interrupt that counts, too.
 */
static void nvme_defer_count(struct nvme_defer_pass *p,
			     enum nvme_defer_count what, u32 nr)
{
	unsigned long flags;

	flags = u64_stats_update_begin_irqsave(&p->counts->sync);
	u64_stats_add(&p->counts->v[what], nr);
	u64_stats_update_end_irqrestore(&p->counts->sync, flags);
}

static u32 nvme_defer_cost(u32 bytes)
{
	return max_t(u32, bytes, NVME_DEFER_MIN_BYTES);
}

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

/*
 * Complete a group. Those that can be batched are, and the batch is closed
 * before one that cannot, so that completion keeps the order of the group.
 */
static void nvme_defer_complete_group(struct nvme_defer *d,
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

static bool nvme_defer_group_add(struct nvme_defer_group *g, struct request *rq,
				 u32 bytes, u32 limit)
{
	g->rq[g->nr++] = rq;
	g->bytes += bytes;
	return g->nr == NVME_DEFER_GROUP || g->bytes >= limit;
}

/* The budget of interrupt time */

/**
 * nvme_defer_share_left() - whether a CPU may complete more in interrupts
 * @w: the CPU's window
 * @now: clock
 * @share: per cent of its time that it may spend so
 *
 * A token bucket: time spent is debt, debt is earned back at @share per cent of
 * the time that goes by, and there is something left while the debt is below
 * @share per cent of NVME_DEFER_WINDOW_NS. Over any longer time the share is
 * kept exactly; an idle CPU may take one window's worth at once.
 *
 * Context: any; @w belongs to this CPU.
 * Return: true while something is left.
 */
bool nvme_defer_share_left(struct nvme_defer_window *w, u64 now, u32 share)
{
	unsigned long flags;
	u64 earned;
	bool left;

	local_irq_save(flags);
	/* The clocks of two CPUs may differ a little after a migration. */
	if (now > w->last) {
		/* So long that even one per cent of it pays the highest debt. */
		earned = min_t(u64, now - w->last,
			       100 * NVME_DEFER_MAX_DEBT_NS) * share / 100;
		w->debt -= min(w->debt, earned);
		w->last = now;
	}
	left = w->debt * 100 < (u64)share * NVME_DEFER_WINDOW_NS;
	local_irq_restore(flags);
	return left || share >= 100;
}

/**
 * nvme_defer_charge() - charge time spent completing
 * @w: the CPU's window
 * @start: clock when it began
 * @charged: nvme_defer_window.charged when it began
 * @now: clock
 *
 * What interrupts nested in this stretch have charged themselves is left out.
 * The debt is capped: a hypervisor that took the CPU away for long must not
 * stop inline completion for seconds.
 *
 * Context: any; @w belongs to this CPU.
 */
void nvme_defer_charge(struct nvme_defer_window *w, u64 start, u64 charged,
		       u64 now)
{
	unsigned long flags;
	u64 spent, nested;

	local_irq_save(flags);
	spent = now > start ? now - start : 0;
	nested = w->charged - charged;
	spent -= min(spent, nested);
	w->charged += spent;
	w->debt = min_t(u64, w->debt + spent, NVME_DEFER_MAX_DEBT_NS);
	local_irq_restore(flags);
}

/**
 * nvme_defer_pressure_left() - take some of the lanes' work back
 * @w: the CPU's window
 * @now: clock
 * @bytes: bytes to complete in interrupt context although they would be deferred
 * @limit: bytes allowed in each NVME_DEFER_WINDOW_NS
 *
 * Context: any; @w belongs to this CPU.
 * Return: true if the caller shall complete them.
 */
bool nvme_defer_pressure_left(struct nvme_defer_window *w, u64 now, u32 bytes,
			      u32 limit)
{
	unsigned long flags;
	bool left;

	local_irq_save(flags);
	/* A softirq read its clock before the interrupt nested in it did. */
	if (now > w->pressure_since &&
	    now - w->pressure_since >= NVME_DEFER_WINDOW_NS) {
		w->pressure_since = now;
		w->pressure_used = 0;
	}
	left = w->pressure_used < limit;
	if (left)
		w->pressure_used += bytes;
	local_irq_restore(flags);
	return left;
}

/**
 * nvme_defer_wants() - whether the mode asks to defer a request
 * @set: the settings
 * @bytes: what completing it copies, 0 if it copies nothing
 * @used: bytes completed on the spot in this interrupt so far
 * @share_left: the CPU has some of its share of time left
 *
 * The budget is looked at before a request, so an interrupt exceeds
 * inline_bytes by less than one request.
 *
 * Return: true to defer.
 */
bool nvme_defer_wants(const struct nvme_defer_settings *set, u32 bytes,
		      u32 used, bool share_left)
{
	switch (READ_ONCE(set->mode)) {
	case NVME_DEFER_ON:
		return true;
	case NVME_DEFER_AUTO:
		if (!bytes)
			return false;
		if (used >= READ_ONCE(set->inline_bytes))
			return true;
		return !share_left && bytes > READ_ONCE(set->small_bytes);
	default:
		return false;
	}
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

/*
 * Push the chunk. Cannot fail. The backlog is raised first, so that it never
 * drops below zero when the worker is quick.
 */
static void nvme_defer_push(struct nvme_defer_pass *p)
{
	struct nvme_defer_chunk *c = &p->chunk;
	struct nvme_defer_lane *lane;
	long backlog;

	if (!c->head)
		return;

	lane = nvme_defer_pick(p->d);
	backlog = atomic_long_add_return(c->cost, &lane->backlog);
	nvme_defer_raise_max(&lane->backlog_max, backlog);
	trace_nvme_defer_push(nvme_defer_instance(p->d), p->d->qid,
			      lane - p->d->lane, c->nr, c->bytes, backlog);
	/*
	 * Before the chunk is there to be seen. Of several pushes to an empty
	 * lane the last may win; they are microseconds apart.
	 */
	if (llist_empty(&lane->list))
		WRITE_ONCE(lane->since_pending, p->d->ops->clock());

	nvme_defer_count(p, NVME_DEFER_DEFERRED, c->nr);
	nvme_defer_count(p, NVME_DEFER_DEFERRED_BYTES, c->bytes);
	nvme_defer_count(p, NVME_DEFER_CHUNKS, 1);
	if (llist_add(&c->head->ipi_list, &lane->list)) {
		nvme_defer_count(p, NVME_DEFER_QUEUE_WORK, 1);
		queue_work(p->d->wq, &lane->work);
	}
	*c = (struct nvme_defer_chunk){ };
}

static void nvme_defer_chunk_add(struct nvme_defer_pass *p, struct request *rq,
				 u32 bytes)
{
	struct nvme_defer_chunk *c = &p->chunk;

	rq->rq_next = NULL;
	if (c->head)
		c->last->rq_next = rq;
	else
		c->head = rq;
	c->last = rq;
	c->nr++;
	c->bytes += bytes;
	c->cost += nvme_defer_cost(bytes);
	if (c->cost >= READ_ONCE(p->d->set->chunk_bytes))
		nvme_defer_push(p);
}

/* Interrupt context */

static void nvme_defer_begin(struct nvme_defer_pass *p, struct nvme_defer *d,
			     struct nvme_defer_counts *counts)
{
	p->d = d;
	p->counts = counts;
	p->used = 0;
	p->timed = false;
	p->over_limit_known = false;
	p->group.nr = 0;
	p->group.bytes = 0;
	p->chunk = (struct nvme_defer_chunk){ };
}

/* Start of the time that is charged. */
static void nvme_defer_time(struct nvme_defer_pass *p)
{
	if (p->timed)
		return;
	p->timed = true;
	p->w = this_cpu_ptr(p->d->window);
	p->charged = READ_ONCE(p->w->charged);
	p->start = p->d->ops->clock();
	p->share_left = nvme_defer_share_left(p->w, p->start,
					      READ_ONCE(p->d->set->irq_share));
}

/* Looks at all lanes: once, and only where something is to be deferred. */
static bool nvme_defer_pass_over_limit(struct nvme_defer_pass *p)
{
	if (!p->over_limit_known) {
		p->over_limit = nvme_defer_over_limit(p->d, p->d->ops->clock());
		p->over_limit_known = true;
	}
	return p->over_limit;
}

/* Whether to complete a request on the spot. */
static bool nvme_defer_inline(struct nvme_defer_pass *p, u32 bytes)
{
	const struct nvme_defer_settings *set = p->d->set;

	if (READ_ONCE(set->mode) != NVME_DEFER_ON)
		nvme_defer_time(p);
	if (!nvme_defer_wants(set, bytes, p->used, p->timed && p->share_left)) {
		nvme_defer_time(p);
		return true;
	}
	if (!nvme_defer_pass_over_limit(p))
		return false;
	nvme_defer_time(p);
	if (!nvme_defer_pressure_left(p->w, p->start, nvme_defer_cost(bytes),
				      READ_ONCE(set->chunk_bytes)))
		return false;
	nvme_defer_count(p, NVME_DEFER_PRESSURE, 1);
	return true;
}

/*
 * A small request costs more than its copy, in the interrupt as in the worker:
 * deferring it gains nothing, so it hardly uses up inline_bytes. It does a
 * little, as an interrupt has to end.
 */
static void nvme_defer_count_inline(struct nvme_defer_pass *p, u32 bytes)
{
	if (bytes <= READ_ONCE(p->d->set->small_bytes))
		p->used += min_t(u32, bytes, NVME_DEFER_MIN_BYTES);
	else
		p->used += bytes;
	nvme_defer_count(p, NVME_DEFER_INLINE, 1);
	nvme_defer_count(p, NVME_DEFER_INLINE_BYTES, bytes);
}

static void nvme_defer_charge_pass(struct nvme_defer_pass *p)
{
	u64 now = p->d->ops->clock();

	nvme_defer_charge(p->w, p->start, p->charged, now);
	p->start = now;
	p->charged = READ_ONCE(p->w->charged);
	p->share_left = nvme_defer_share_left(p->w, now,
					      READ_ONCE(p->d->set->irq_share));
}

static void nvme_defer_complete_inline(struct nvme_defer_pass *p)
{
	if (!p->group.nr)
		return;
	nvme_defer_complete_group(p->d, &p->group);
	nvme_defer_charge_pass(p);
}

static void nvme_defer_rearm(struct nvme_defer *d)
{
	lockdep_assert_held(&d->lock);
	/* Pairs with smp_rmb() in the users: @wq is there when armed is seen. */
	smp_store_release(&d->armed, d->allowed && d->wq && d->running &&
			  !d->polled && !d->threaded);
}

/**
 * nvme_defer_in_handler() - whether this is a handler in hard interrupt context
 * @d: the queue, armed
 *
 * An interrupt handled in a thread (use_threaded_interrupts, threadirqs,
 * PREEMPT_RT) does not hold up its CPU: completing in place is right. Only the
 * driver's own parameter is known beforehand, the others are found out here,
 * and the queue is disarmed.
 *
 * Context: the queue's interrupt handler.
 * Return: false in a thread.
 */
bool nvme_defer_in_handler(struct nvme_defer *d)
{
	unsigned long flags;

	if (likely(in_hardirq()))
		return true;

	spin_lock_irqsave(&d->lock, flags);
	d->threaded = true;
	nvme_defer_rearm(d);
	spin_unlock_irqrestore(&d->lock, flags);
	nvme_defer_update_queue(d);
	return false;
}

/**
 * nvme_defer_gather() - keep a completed request for after the CQ loop
 * @d: the queue; was armed in this interrupt
 * @rq: a request that the CQ loop would complete now
 *
 * Completing inside the loop lets it run without bound, as the device posts
 * more in the meantime. Nothing gathered frees its tag, so the loop ends after
 * one queue's worth.
 *
 * Context: hard interrupt, nvme_defer_in_handler() said so. Must be followed by
 *	nvme_defer_irq() in the same interrupt.
 */
void nvme_defer_gather(struct nvme_defer *d, struct request *rq)
{
	/* Pairs with smp_store_release() in nvme_defer_rearm(). */
	smp_rmb();
	rq->rq_next = NULL;
	if (d->gathered) {
		d->gathered_last->rq_next = rq;
	} else {
		d->gathered = rq;
		if (nvme_defer_measured(d))
			d->gathered_since = d->ops->clock();
	}
	d->gathered_last = rq;
}

/*
 * The time that the handler has taken since its first completion. Measuring may
 * have been switched on since.
 */
static void nvme_defer_measure_handler(struct nvme_defer *d)
{
	struct nvme_defer_hists *h = nvme_defer_measured(d);
	u64 now;

	if (!static_branch_unlikely(&nvme_defer_hists_key))
		return;
	if (h && d->gathered_since) {
		now = d->ops->clock();
		nvmetune_hist_add(&h->hist[NVME_DEFER_HIST_HANDLER],
				  now - min(now, d->gathered_since), 1);
	}
	d->gathered_since = 0;
}

/**
 * nvme_defer_irq() - complete or defer what the CQ loop has gathered
 * @d: the queue
 *
 * Context: hard interrupt, after the CQ loop; @d need not be armed any more.
 */
void nvme_defer_irq(struct nvme_defer *d)
{
	struct request *rq = d->gathered, *next;
	struct nvme_defer_pass p;
	u32 bytes;

	d->gathered = NULL;
	nvme_defer_begin(&p, d, &d->irq_counts);
	for (; rq; rq = next) {
		next = rq->rq_next;
		bytes = d->ops->bytes(rq);
		if (!nvme_defer_inline(&p, bytes)) {
			nvme_defer_chunk_add(&p, rq, bytes);
			continue;
		}
		nvme_defer_count_inline(&p, bytes);
		if (nvme_defer_group_add(&p.group, rq, bytes,
					 NVME_DEFER_LOOK_BYTES))
			nvme_defer_complete_inline(&p);
	}
	nvme_defer_push(&p);
	nvme_defer_complete_inline(&p);
	nvme_defer_measure_handler(d);
}

/**
 * nvme_defer_softirq() - complete or defer one request
 * @d: the queue, armed
 * @rq: the request
 *
 * For mq_ops->complete: completions that blk-mq sent to the CPU which submitted
 * the request, and all of a device with one hardware queue. They come one by
 * one, so inline_bytes says nothing here; irq_share does.
 *
 * Context: any. Defers in interrupt context only. That is not in_interrupt(),
 *	which is also true where bottom halves are merely off.
 * Return: false if the caller shall complete the request as if there were no
 *	engine.
 */
bool nvme_defer_softirq(struct nvme_defer *d, struct request *rq)
{
	struct nvme_defer_pass p;
	u32 bytes;

	if (!in_hardirq() && !in_serving_softirq())
		return false;
	/* Pairs with smp_store_release() in nvme_defer_rearm(). */
	smp_rmb();

	nvme_defer_begin(&p, d, this_cpu_ptr(d->softirq_counts));
	bytes = d->ops->bytes(rq);
	if (nvme_defer_inline(&p, bytes)) {
		nvme_defer_count_inline(&p, bytes);
		d->ops->complete(rq);
		nvme_defer_charge_pass(&p);
	} else {
		nvme_defer_chunk_add(&p, rq, bytes);
		nvme_defer_push(&p);
	}
	return true;
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

/* Life and death */

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
 * nvme_defer_start() - a queue was set up
 * @d: the queue
 * @polled: it has no interrupt
 *
 * Context: task context; allocates nothing, as a reset waits for nothing that
 *	might wait for the reset. A queue that has no workqueue yet gets one from
 *	a work item, and completes in place until then.
 */
void nvme_defer_start(struct nvme_defer *d, bool polled)
{
	unsigned long flags;

	if (d == &nvme_defer_none)
		return;
	spin_lock_irqsave(&d->lock, flags);
	d->in_use = true;
	d->running = true;
	d->polled = polled;
	nvme_defer_rearm(d);
	spin_unlock_irqrestore(&d->lock, flags);
	nvme_defer_update_queue(d);
}

/**
 * nvme_defer_stop() - a queue is suspended
 * @d: the queue
 *
 * From here on everything completes in place. The caller has freed the
 * interrupt; a softirq on another CPU that has just seen the queue armed may
 * still push. That is completed by the worker, and waited for by
 * blk_mq_tagset_wait_completed_request() when the driver cancels, by freeze
 * when it does not; and stopped for again when the queue is freed.
 *
 * Context: task context, may sleep.
 */
void nvme_defer_stop(struct nvme_defer *d)
{
	unsigned long flags;

	if (d == &nvme_defer_none)
		return;
	spin_lock_irqsave(&d->lock, flags);
	d->running = false;
	nvme_defer_rearm(d);
	spin_unlock_irqrestore(&d->lock, flags);
	nvme_defer_flush(d);
}

/**
 * nvme_defer_allow() - let a queue defer
 * @d: the queue
 * @wq: where to work off its lanes; stays valid until nvme_defer_disallow()
 *	and a grace period after it
 *
 * Context: task context, may sleep and allocate: never in the reset path.
 * Return: 0, or -ENOMEM if the queue goes on completing in place.
 */
int nvme_defer_allow(struct nvme_defer *d, struct workqueue_struct *wq)
{
	unsigned long flags;

	if (!d->softirq_counts) {
		struct nvme_defer_counts __percpu *counts =
			alloc_percpu(struct nvme_defer_counts);
		int cpu;

		if (!counts)
			return -ENOMEM;
		for_each_possible_cpu(cpu)
			u64_stats_init(&per_cpu_ptr(counts, cpu)->sync);
		/* Pairs with smp_load_acquire() in nvme_defer_counted(). */
		smp_store_release(&d->softirq_counts, counts);
	}
	spin_lock_irqsave(&d->lock, flags);
	d->wq = wq;
	d->allowed = true;
	nvme_defer_rearm(d);
	spin_unlock_irqrestore(&d->lock, flags);
	return 0;
}

/**
 * nvme_defer_disallow() - no longer let a queue defer
 * @d: the queue
 *
 * Interrupts that run at this moment may still push: the caller waits for a
 * grace period, then flushes, before it destroys the workqueue.
 */
void nvme_defer_disallow(struct nvme_defer *d)
{
	unsigned long flags;

	spin_lock_irqsave(&d->lock, flags);
	d->allowed = false;
	nvme_defer_rearm(d);
	spin_unlock_irqrestore(&d->lock, flags);
}

/**
 * nvme_defer_counted() - sum up a counter
 * @d: the queue
 * @what: which
 * @softirq: of softirq context, else of hard interrupt context
 */
u64 nvme_defer_counted(const struct nvme_defer *d, enum nvme_defer_count what,
		       bool softirq)
{
	struct nvme_defer_counts __percpu *counts;
	const struct nvme_defer_counts *c = &d->irq_counts;
	unsigned int start;
	u64 sum = 0, v;
	int cpu;

	if (!softirq) {
		do {
			start = u64_stats_fetch_begin(&c->sync);
			sum = u64_stats_read(&c->v[what]);
		} while (u64_stats_fetch_retry(&c->sync, start));
		return sum;
	}
	/* Pairs with smp_store_release() in nvme_defer_allow(). */
	counts = smp_load_acquire(&d->softirq_counts);
	if (!counts)
		return 0;
	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(counts, cpu);
		do {
			start = u64_stats_fetch_begin(&c->sync);
			v = u64_stats_read(&c->v[what]);
		} while (u64_stats_fetch_retry(&c->sync, start));
		sum += v;
	}
	return sum;
}

/**
 * nvme_defer_init() - make a queue's part of the engine ready
 * @d: zeroed memory
 * @set: settings, read as long as @d lives
 * @ops: how to complete
 * @window: budget of each CPU; NULL for the one that all queues share
 */
void nvme_defer_init(struct nvme_defer *d, const struct nvme_defer_settings *set,
		     const struct nvme_defer_ops *ops,
		     struct nvme_defer_window __percpu *window)
{
	unsigned int i;

	d->set = set;
	d->ops = ops;
	d->window = window ?: &nvme_defer_window;
	spin_lock_init(&d->lock);
	u64_stats_init(&d->irq_counts.sync);
	for (i = 0; i < NVME_DEFER_MAX_LANES; i++) {
		struct nvme_defer_lane *lane = &d->lane[i];

		lane->defer = d;
		init_llist_head(&lane->list);
		INIT_WORK(&lane->work, nvme_defer_work);
		mutex_init(&lane->consumer);
		u64_stats_init(&lane->sync);
	}
}

/**
 * nvme_defer_exit() - undo nvme_defer_init() and nvme_defer_allow()
 * @d: the queue; disallowed, a grace period ago, and flushed
 */
void nvme_defer_exit(struct nvme_defer *d)
{
	free_percpu(d->softirq_counts);
	d->softirq_counts = NULL;
	kfree(d->hists);
	d->hists = NULL;
}
