// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion of NVMe requests outside of interrupt context: the engine, from the
 * side of interrupts and of the driver.
 *
 * See defer.h for the whole picture. What this file relies on:
 *
 * - A request that blk-mq has marked complete belongs to whoever completes it:
 *   its ipi_list and rq_next are free, no time-out touches it.
 * - Hard interrupt handlers of one queue do not overlap.
 * - Regions with interrupts or softirqs off are RCU read-side sections. What
 *   an interrupt saw armed it may use until it ends; who disarms waits for a
 *   grace period before the workqueue goes away.
 */
#include <linux/interrupt.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "defer-lane.h"

/*
 * In an interrupt, the budget is looked at again after so many bytes: copying
 * them takes 5 to 50 us.
 */
#define NVME_DEFER_LOOK_BYTES	SZ_64K

/* Stands in where there is no engine (admin queue, no memory): never armed. */
struct nvme_defer nvme_defer_none;

static DEFINE_PER_CPU(struct nvme_defer_window, nvme_defer_window);

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

/* Interrupt context */

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
		nvme_defer_push(p->d, p->counts, &p->chunk);
}

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
	nvme_defer_count(p->counts, NVME_DEFER_PRESSURE, 1);
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
	nvme_defer_count(p->counts, NVME_DEFER_INLINE, 1);
	nvme_defer_count(p->counts, NVME_DEFER_INLINE_BYTES, bytes);
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
	nvme_defer_push(d, p.counts, &p.chunk);
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
		nvme_defer_push(d, p.counts, &p.chunk);
	}
	return true;
}

/* Life and death */

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
	for (i = 0; i < NVME_DEFER_MAX_LANES; i++)
		nvme_defer_lane_init(&d->lane[i], d);
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
