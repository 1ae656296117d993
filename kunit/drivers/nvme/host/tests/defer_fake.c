// SPDX-License-Identifier: GPL-2.0-only
/*
 * Made-up requests, clock and struct nvme_defer_ops for the tests of deferred
 * completion. See defer_fake.h.
 */
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/string.h>

#include "defer_fake.h"
#include "defer-compat.h"

u64 fake_time;

static const char * const fake_fault_names[FAKE_NR_FAULTS] = {
	[FAKE_TWICE]	= "completed though not in flight",
	[FAKE_AFTER]	= "looked at after its completion",
	[FAKE_TRAP]	= "links of a completed request were followed",
	[FAKE_ORDER]	= "order within a lane is broken",
	[FAKE_BATCH]	= "a batch is empty, too large or has what cannot be batched",
	[FAKE_BACKLOG]	= "a lane's backlog lacks what is in completion",
	[FAKE_NOIO]	= "completed by a worker that may start I/O",
	[FAKE_TIMEOUT]	= "a held request was not released",
};

/* The ops */

static u64 fake_clock(void)
{
	return READ_ONCE(fake_time) ?: local_clock();
}

static u32 fake_bytes(struct request *rq)
{
	struct fake_rq *r = fake_rq(rq);

	if (r == &r->fake->trap)
		set_bit(FAKE_TRAP, &r->fake->bad);
	else if (!atomic_read(&r->in_flight))
		set_bit(FAKE_AFTER, &r->fake->bad);
	return r->bytes;
}

static enum fake_ctx fake_ctx(void)
{
	if (in_hardirq())
		return FAKE_HARDIRQ;
	return in_serving_softirq() ? FAKE_SOFTIRQ : FAKE_TASK;
}

static int fake_lane(struct fake *f)
{
	struct work_struct *work = current_work();
	int i;

	for (i = 0; i < NVME_DEFER_MAX_LANES; i++)
		if (work == &f->d->lane[i].work)
			return i;
	return -1;
}

/* What can be told of a lane while its worker completes something. */
static void fake_in_lane(struct fake *f, struct fake_rq *r)
{
	u64 *last;

	r->lane = fake_lane(f);
	if (r->lane < 0 && f->one_lane)
		r->lane = 0;
	if (r->lane < 0)
		return;
	last = &f->last_seq[r->lane][r->source];
	if (r->seq < *last)
		set_bit(FAKE_ORDER, &f->bad);
	*last = r->seq + 1;
	if (atomic_long_read(&f->d->lane[r->lane].backlog) < fake_cost(r->bytes))
		set_bit(FAKE_BACKLOG, &f->bad);
	if (!r->noio)
		set_bit(FAKE_NOIO, &f->bad);
}

static void fake_complete_one(struct fake_rq *r)
{
	void (*nest)(struct fake *f) = NULL;
	struct fake *f = r->fake;

	if (r == &f->trap) {
		set_bit(FAKE_TRAP, &f->bad);
		return;
	}
	r->ctx = fake_ctx();
	r->by = current;
	r->noio = current->flags & PF_MEMALLOC_NOIO;
	r->lane = -1;
	if (r->ctx == FAKE_TASK)
		fake_in_lane(f, r);
	else if (r->ctx == FAKE_SOFTIRQ)
		swap(nest, f->nest);
	if (r->hold && r->ctx == FAKE_TASK) {
		complete(&f->held);
		if (!wait_for_completion_timeout(&f->release, FAKE_LONG))
			set_bit(FAKE_TIMEOUT, &f->bad);
	}
	if (fake_time)
		WRITE_ONCE(fake_time, fake_time + (u64)f->ns_per_byte * r->bytes);
	if (nest)
		nest(f);

	r->times++;
	r->rq.rq_next = &f->trap.rq;
	r->rq.ipi_list.next = &f->trap.rq.ipi_list;
	r->order = atomic_inc_return(&f->completed) - 1;
	/* From here on the tag is free. */
	if (atomic_xchg_release(&r->in_flight, 0) != 1)
		set_bit(FAKE_TWICE, &f->bad);
}

static void fake_complete(struct request *rq)
{
	fake_complete_one(fake_rq(rq));
}

static void fake_complete_batch(struct io_comp_batch *iob)
{
	struct fake *f = NULL;
	unsigned int nr = 0;
	struct request *rq;

	while ((rq = rq_list_pop(&iob->req_list))) {
		f = fake_rq(rq)->fake;
		if (++nr > NVME_DEFER_GROUP || fake_rq(rq)->alone)
			set_bit(FAKE_BATCH, &f->bad);
		fake_complete_one(fake_rq(rq));
	}
	/* There is nothing to find the culprit by. */
	WARN_ON_ONCE(!nr);
}

/* Adding at the head is all that every kernel has: turn the list twice. */
static void fake_batch_add_tail(struct io_comp_batch *iob, struct request *rq)
{
	struct io_comp_batch turned = { };
	struct request *r;

	while ((r = rq_list_pop(&iob->req_list)))
		nvme_defer_list_add_head(&turned.req_list, r);
	nvme_defer_list_add_head(&turned.req_list, rq);
	while ((r = rq_list_pop(&turned.req_list)))
		nvme_defer_list_add_head(&iob->req_list, r);
}

static bool fake_batch(struct request *rq, struct io_comp_batch *iob)
{
	struct fake_rq *r = fake_rq(rq);

	if (r == &r->fake->trap)
		set_bit(FAKE_TRAP, &r->fake->bad);
	else if (!atomic_read(&r->in_flight))
		set_bit(FAKE_AFTER, &r->fake->bad);
	if (r->alone)
		return false;
	switch (r->fake->batch) {
	case FAKE_FIFO:
		fake_batch_add_tail(iob, rq);
		return true;
	case FAKE_LIFO:
		nvme_defer_list_add_head(&iob->req_list, rq);
		return true;
	default:
		return blk_mq_add_to_batch(rq, iob, false, fake_complete_batch);
	}
}

const struct nvme_defer_ops fake_ops = {
	.batch		= fake_batch,
	.complete_batch	= fake_complete_batch,
	.complete	= fake_complete,
	.bytes		= fake_bytes,
	.clock		= fake_clock,
};

/* Contexts */

static void fake_irq_work(struct irq_work *work)
{
	struct fake *f = container_of(work, struct fake, irq_work);

	f->irq_fn(f, f->irq_arg);
}

/* Call a function in a hard interrupt of this CPU. */
bool fake_in_hardirq(struct fake *f, void (*fn)(struct fake *f, void *arg),
		     void *arg)
{
	bool queued;

	f->irq_fn = fn;
	f->irq_arg = arg;
	queued = irq_work_queue(&f->irq_work);
	irq_work_sync(&f->irq_work);
	return queued;
}

static void fake_tasklet(struct tasklet_struct *t)
{
	struct fake *f = container_of(t, struct fake, tasklet);

	f->softirq_fn(f, f->softirq_arg);
}

/* Call a function in a softirq, most likely of this CPU. */
void fake_in_softirq(struct fake *f, void (*fn)(struct fake *f, void *arg),
		     void *arg)
{
	f->softirq_fn = fn;
	f->softirq_arg = arg;
	local_bh_disable();
	tasklet_schedule(&f->tasklet);
	local_bh_enable();
	tasklet_kill(&f->tasklet);
}

/* What the CQ loop does with a request. */
void fake_push(struct fake *f, struct fake_rq *r)
{
	atomic_inc(&r->in_flight);
	if (nvme_defer_armed(f->d) && nvme_defer_in_handler(f->d))
		nvme_defer_gather(f->d, &r->rq);
	else
		fake_complete(&r->rq);
}

/* What mq_ops->complete does with one. */
void fake_push_softirq(struct fake *f, struct fake_rq *r)
{
	atomic_inc(&r->in_flight);
	if (nvme_defer_armed(f->d) && nvme_defer_softirq(f->d, &r->rq))
		return;
	fake_complete(&r->rq);
}

struct fake_range {
	unsigned int first;
	unsigned int nr;
};

static void fake_irq_fn(struct fake *f, void *arg)
{
	struct fake_range *range = arg;
	unsigned int i;

	for (i = 0; i < range->nr; i++)
		fake_push(f, &f->rqs[range->first + i]);
	if (f->d->gathered)
		nvme_defer_irq(f->d);
}

/* An interrupt that finds these requests complete. */
void fake_irq(struct fake *f, unsigned int first, unsigned int nr)
{
	struct fake_range range = { .first = first, .nr = nr };

	fake_in_hardirq(f, fake_irq_fn, &range);
}

static void fake_softirq_fn(struct fake *f, void *arg)
{
	struct fake_range *range = arg;
	unsigned int i;

	for (i = 0; i < range->nr; i++)
		fake_push_softirq(f, &f->rqs[range->first + i]);
}

/* A softirq that finds these requests complete. */
void fake_softirq(struct fake *f, unsigned int first, unsigned int nr)
{
	struct fake_range range = { .first = first, .nr = nr };

	fake_in_softirq(f, fake_softirq_fn, &range);
}

/* Holding and waiting */

/*
 * Keep all workers from taking anything. Until fake_release_lanes() a test may
 * expect, but not assert.
 */
void fake_hold_lanes(struct fake *f)
{
	unsigned int i;

	for (i = 0; i < NVME_DEFER_MAX_LANES; i++)
		mutex_lock_nested(&f->d->lane[i].consumer, i);
	f->lanes_held = true;
}

void fake_release_lanes(struct fake *f)
{
	unsigned int i;

	for (i = 0; i < NVME_DEFER_MAX_LANES; i++)
		mutex_unlock(&f->d->lane[i].consumer);
	f->lanes_held = false;
}

bool fake_wait_held(struct fake *f)
{
	return wait_for_completion_timeout(&f->held, FAKE_LONG);
}

bool fake_wait_completed(struct fake *f, unsigned int nr)
{
	return FAKE_WAIT(atomic_read(&f->completed) >= nr);
}

static void fake_job_fn(struct work_struct *work)
{
	struct fake_job *job = container_of(work, struct fake_job, work);

	job->task = current;
	complete(&job->begun);
	job->fn(job->fake);
	complete(&job->done);
}

static bool fake_job_queue(struct fake *f, struct fake_job *job,
			   struct workqueue_struct *wq,
			   void (*fn)(struct fake *f))
{
	INIT_WORK(&job->work, fake_job_fn);
	init_completion(&job->begun);
	init_completion(&job->done);
	job->fn = fn;
	job->fake = f;
	queue_work(wq, &job->work);
	return wait_for_completion_timeout(&job->begun, FAKE_LONG);
}

/* Do something in another task; one thing at a time. */
bool fake_job_start(struct fake *f, void (*fn)(struct fake *f))
{
	return fake_job_queue(f, &f->job, f->job_wq, fn);
}

/* Whether the job comes to wait for something; it has to have been about to. */
bool fake_job_waits(struct fake *f)
{
	return FAKE_WAIT(READ_ONCE(f->job.task->__state) & TASK_UNINTERRUPTIBLE) &&
	       !completion_done(&f->job.done);
}

bool fake_job_done(struct fake *f)
{
	return wait_for_completion_timeout(&f->job.done, FAKE_LONG);
}

static void fake_blocker(struct fake *f)
{
	if (!wait_for_completion_timeout(&f->unblock, FAKE_LONG))
		set_bit(FAKE_TIMEOUT, &f->bad);
}

/* Have a workqueue that does not get to run anything. */
void fake_block_wq(struct kunit *test)
{
	struct fake *f = test->priv;

	destroy_workqueue(f->wq);
	f->wq = alloc_ordered_workqueue("nvme-defer-kunit", WQ_MEM_RECLAIM);
	KUNIT_ASSERT_NOT_NULL(test, f->wq);
	init_completion(&f->unblock);
	f->wq_blocked = true;
	KUNIT_ASSERT_TRUE(test, fake_job_queue(f, &f->blocker, f->wq, fake_blocker));
}

void fake_unblock_wq(struct fake *f)
{
	complete(&f->unblock);
	f->wq_blocked = false;
}

/* Stay on this CPU, whose budget the test looks at. */
void fake_pin(void)
{
	set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
}

/* Looking */

u32 fake_cost(u32 bytes)
{
	return bytes < 512 ? 512 : bytes;
}

long fake_backlog(const struct fake *f)
{
	long sum = 0;
	unsigned int i;

	for (i = 0; i < NVME_DEFER_MAX_LANES; i++)
		sum += atomic_long_read(&f->d->lane[i].backlog);
	return sum;
}

u64 fake_irq_count(const struct fake *f, enum nvme_defer_count what)
{
	return nvme_defer_counted(f->d, what, false);
}

u64 fake_softirq_count(const struct fake *f, enum nvme_defer_count what)
{
	return nvme_defer_counted(f->d, what, true);
}

/* Requests in a lane whose worker is held, and the number of the oldest. */
unsigned int fake_lane_holds(const struct fake *f, unsigned int lane,
			     unsigned int *first)
{
	struct llist_node *node = READ_ONCE(f->d->lane[lane].list.first);
	unsigned int nr = 0;
	struct request *rq;

	for (; node; node = node->next) {
		rq = llist_entry(node, struct request, ipi_list);
		if (first)
			*first = fake_rq(rq) - f->rqs;
		for (; rq; rq = rq->rq_next)
			nr++;
	}
	return nr;
}

struct nvme_defer_window *fake_window(const struct fake *f)
{
	return per_cpu_ptr(f->window, raw_smp_processor_id());
}

/* Beginning and end */

/* Everything deferred, and never too much of it. */
static const struct nvme_defer_settings fake_defaults = {
	.mode		= NVME_DEFER_ON,
	.inline_bytes	= SZ_128K,
	.irq_share	= 25,
	.small_bytes	= SZ_16K,
	.lanes		= 1,
	.chunk_bytes	= SZ_512K,
	.lane_bytes	= SZ_1M,
	.backlog_bytes	= SZ_1G,
	.max_age_ms	= 60000,
	.resched_bytes	= SZ_256K,
};

struct fake *fake_alloc(struct kunit *test)
{
	struct fake *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	f->set = fake_defaults;
	f->trap.fake = f;
	f->trap.alone = true;
	atomic_set(&f->trap.in_flight, 1);
	init_completion(&f->held);
	init_completion(&f->release);
	f->job_wq = alloc_workqueue("nvme-defer-kunit-job",
				    WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	KUNIT_ASSERT_NOT_NULL(test, f->job_wq);
	f->irq_work = IRQ_WORK_INIT_HARD(fake_irq_work);
	tasklet_setup(&f->tasklet, fake_tasklet);
	fake_time = 0;
	return f;
}

/* A queue without a controller, not set up yet. */
int fake_suite_init(struct kunit *test)
{
	struct fake *f = fake_alloc(test);

	f->window = alloc_percpu(struct nvme_defer_window);
	f->wq = alloc_workqueue("nvme-defer-kunit", FAKE_WQ_FLAGS, 0);
	KUNIT_ASSERT_TRUE(test, f->window && f->wq);
	f->d = &f->own;
	nvme_defer_init(f->d, &f->set, &fake_ops, f->window);
	return 0;
}

/* Requests of one size; tests change them as they like before pushing. */
void fake_requests(struct kunit *test, unsigned int nr, u32 bytes)
{
	struct fake *f = test->priv;
	unsigned int i;

	f->rqs = kunit_kcalloc(test, nr, sizeof(*f->rqs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->rqs);
	f->nr = nr;
	for (i = 0; i < nr; i++) {
		f->rqs[i].fake = f;
		f->rqs[i].bytes = bytes;
		f->rqs[i].seq = i;
		f->rqs[i].lane = -1;
	}
}

/* Set the queue up, so that it defers. */
void fake_start(struct kunit *test)
{
	struct fake *f = test->priv;

	KUNIT_ASSERT_EQ(test, nvme_defer_allow(f->d, f->wq), 0);
	nvme_defer_start(f->d, false);
	KUNIT_ASSERT_TRUE(test, nvme_defer_armed(f->d));
}

/* As a controller does it before the workqueue goes. */
void fake_shut(struct fake *f)
{
	nvme_defer_stop(f->d);
	nvme_defer_disallow(f->d);
	synchronize_rcu();
	nvme_defer_flush(f->d);
}

void fake_suite_exit(struct kunit *test)
{
	struct fake *f = test->priv;

	if (!f)
		return;
	fake_time = 0;
	complete_all(&f->release);
	if (f->lanes_held)
		fake_release_lanes(f);
	if (f->wq_blocked)
		fake_unblock_wq(f);
	if (f->job_wq)
		destroy_workqueue(f->job_wq);
	if (f->d == &f->own) {
		fake_shut(f);
		nvme_defer_exit(f->d);
	}
	if (f->wq)
		destroy_workqueue(f->wq);
	free_percpu(f->window);
}

/* Expect that none of the faults has been seen. */
void fake_check(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int i;

	for (i = 0; i < FAKE_NR_FAULTS; i++)
		KUNIT_EXPECT_FALSE_MSG(test, test_bit(i, &f->bad), "%s",
				       fake_fault_names[i]);
}

/* Expect that all requests were completed once and nothing is left of them. */
void fake_check_done(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int i;

	KUNIT_EXPECT_TRUE(test, fake_wait_completed(f, f->nr));
	/* A worker is done with a group a little later than the group is. */
	KUNIT_EXPECT_TRUE(test, FAKE_WAIT(!fake_backlog(f)));
	for (i = 0; i < f->nr && f->rqs[i].times == 1; i++)
		;
	if (i < f->nr)
		KUNIT_FAIL(test, "request %u was completed %u times", i,
			   f->rqs[i].times);
	for (i = 0; i < NVME_DEFER_MAX_LANES; i++) {
		KUNIT_EXPECT_EQ_MSG(test, atomic_long_read(&f->d->lane[i].backlog),
				    0, "lane %u", i);
		KUNIT_EXPECT_TRUE(test, llist_empty(&f->d->lane[i].list));
	}
	fake_check(test);
}

/* Expect that all were completed as they were pushed; tell of the first. */
void fake_check_order(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int i;

	for (i = 0; i < f->nr && f->rqs[i].order == i; i++)
		;
	if (i < f->nr)
		KUNIT_FAIL(test, "request %u was completed in place %u", i,
			   f->rqs[i].order);
}

/* Expect that some were completed where they should; tell of the first. */
void fake_check_ctx(struct kunit *test, unsigned int first, unsigned int nr,
		    enum fake_ctx ctx)
{
	static const char * const names[] = { "a task", "softirq", "hard interrupt" };
	struct fake *f = test->priv;
	unsigned int i;

	for (i = first; i < first + nr && f->rqs[i].ctx == ctx; i++)
		;
	if (i < first + nr)
		KUNIT_FAIL(test, "request %u was completed in %s, not %s", i,
			   names[f->rqs[i].ctx], names[ctx]);
}
