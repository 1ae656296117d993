// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of deferred completion: when a queue defers, and how it comes to
 * an end with nothing lost.
 */
#include <linux/sched/mm.h>

#include "defer_fake.h"

/* When */

static void armed_by_state(struct kunit *test)
{
	struct fake *f = test->priv;
	struct nvme_defer *d = f->d;

	KUNIT_EXPECT_FALSE(test, nvme_defer_armed(d));
	nvme_defer_start(d, false);
	KUNIT_EXPECT_FALSE(test, nvme_defer_armed(d));
	KUNIT_ASSERT_EQ(test, nvme_defer_allow(d, f->wq), 0);
	KUNIT_EXPECT_TRUE(test, nvme_defer_armed(d));
	nvme_defer_stop(d);
	KUNIT_EXPECT_FALSE(test, nvme_defer_armed(d));
	/* Allowed again does not mean that the queue is there. */
	KUNIT_ASSERT_EQ(test, nvme_defer_allow(d, f->wq), 0);
	KUNIT_EXPECT_FALSE(test, nvme_defer_armed(d));
	nvme_defer_start(d, true);
	KUNIT_EXPECT_FALSE(test, nvme_defer_armed(d));
	nvme_defer_start(d, false);
	KUNIT_EXPECT_TRUE(test, nvme_defer_armed(d));
	nvme_defer_disallow(d);
	KUNIT_EXPECT_FALSE(test, nvme_defer_armed(d));
	nvme_defer_start(d, false);
	KUNIT_EXPECT_FALSE(test, nvme_defer_armed(d));
	KUNIT_ASSERT_EQ(test, nvme_defer_allow(d, f->wq), 0);
	KUNIT_EXPECT_TRUE(test, nvme_defer_armed(d));
}

/* What stands in for the admin queue and where memory was short. */
static void none_is_never_armed(struct kunit *test)
{
	nvme_defer_start(&nvme_defer_none, false);
	KUNIT_EXPECT_FALSE(test, nvme_defer_armed(&nvme_defer_none));
	nvme_defer_stop(&nvme_defer_none);
	KUNIT_EXPECT_FALSE(test, nvme_defer_armed(&nvme_defer_none));
	KUNIT_EXPECT_PTR_EQ(test, nvme_defer_none.gathered, NULL);
}

static void stopped_completes_in_place(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_requests(test, 8, SZ_4K);
	fake_start(test);
	nvme_defer_stop(f->d);
	fake_irq(f, 0, 4);
	fake_softirq(f, 4, 4);
	fake_check_done(test);
	fake_check_ctx(test, 0, 4, FAKE_HARDIRQ);
	fake_check_ctx(test, 4, 4, FAKE_SOFTIRQ);
}

/* Where */

static void handler_in_task(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_requests(test, 1, SZ_4K);
	fake_start(test);
	KUNIT_EXPECT_FALSE(test, nvme_defer_in_handler(f->d));
	KUNIT_EXPECT_PTR_EQ(test, f->d->gathered, NULL);
	KUNIT_EXPECT_TRUE(test, f->d->threaded);
	KUNIT_EXPECT_FALSE(test, nvme_defer_armed(f->d));
	/* That is how its interrupt is handled; a reset does not change it. */
	nvme_defer_stop(f->d);
	nvme_defer_start(f->d, false);
	KUNIT_ASSERT_EQ(test, nvme_defer_allow(f->d, f->wq), 0);
	KUNIT_EXPECT_FALSE(test, nvme_defer_armed(f->d));
}

static void gather_in_hardirq(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_requests(test, 3, SZ_4K);
	fake_start(test);
	fake_irq(f, 0, 3);
	fake_check_done(test);
	KUNIT_EXPECT_EQ(test, fake_irq_count(f, NVME_DEFER_DEFERRED), 3ULL);
	KUNIT_EXPECT_FALSE(test, f->d->threaded);
	KUNIT_EXPECT_PTR_EQ(test, f->d->gathered, NULL);
}

static void softirq_in_task(struct kunit *test)
{
	struct fake *f = test->priv;
	bool taken;

	fake_requests(test, 1, SZ_4K);
	fake_start(test);
	KUNIT_EXPECT_FALSE(test, nvme_defer_softirq(f->d, &f->rqs[0].rq));
	/* Not in interrupt context, though in_interrupt() says so. */
	local_bh_disable();
	taken = nvme_defer_softirq(f->d, &f->rqs[0].rq);
	local_bh_enable();
	KUNIT_EXPECT_FALSE(test, taken);
	local_irq_disable();
	taken = nvme_defer_softirq(f->d, &f->rqs[0].rq);
	local_irq_enable();
	KUNIT_EXPECT_FALSE(test, taken);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->completed), 0);
	KUNIT_EXPECT_EQ(test, fake_softirq_count(f, NVME_DEFER_INLINE), 0ULL);
	/* A queue with interrupts may well be cancelled in a task. */
	KUNIT_EXPECT_TRUE(test, nvme_defer_armed(f->d));
}

static void softirq_in_softirq(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_requests(test, 3, SZ_4K);
	fake_start(test);
	fake_softirq(f, 0, 3);
	fake_check_done(test);
	KUNIT_EXPECT_EQ(test, fake_softirq_count(f, NVME_DEFER_DEFERRED), 3ULL);
	fake_check_ctx(test, 0, 1, FAKE_TASK);
}

static void softirq_from_hardirq_fn(struct fake *f, void *unused)
{
	fake_push_softirq(f, &f->rqs[0]);
}

/* mq_ops->complete may be called in the interrupt as well. */
static void softirq_in_hardirq(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_requests(test, 1, SZ_4K);
	fake_start(test);
	fake_in_hardirq(f, softirq_from_hardirq_fn, NULL);
	fake_check_done(test);
	KUNIT_EXPECT_EQ(test, fake_softirq_count(f, NVME_DEFER_DEFERRED), 1ULL);
}

static void disarmed_meanwhile_fn(struct fake *f, void *unused)
{
	fake_push(f, &f->rqs[0]);
	WRITE_ONCE(f->d->armed, false);
	fake_push(f, &f->rqs[1]);
	nvme_defer_irq(f->d);
}

/* What was gathered is completed though the queue is no longer armed. */
static void disarmed_between(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_requests(test, 2, SZ_4K);
	fake_start(test);
	fake_in_hardirq(f, disarmed_meanwhile_fn, NULL);
	fake_check_done(test);
	fake_check_ctx(test, 1, 1, FAKE_HARDIRQ);
}

/* Flush */

static void flush_job(struct fake *f)
{
	nvme_defer_flush(f->d);
}

static void flush_nothing(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_start(test);
	nvme_defer_flush(f->d);
	nvme_defer_stop(f->d);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->d->flushes), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->d->flush_waits), 0);
}

/* No worker gets to run: all lanes are worked off by who flushes. */
static void flush_in_place(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int i;

	f->set.lanes = NVME_DEFER_MAX_LANES;
	f->set.chunk_bytes = SZ_4K;
	f->set.lane_bytes = 0;
	fake_requests(test, 4 * NVME_DEFER_MAX_LANES, SZ_4K);
	fake_block_wq(test);
	fake_start(test);
	fake_irq(f, 0, f->nr);
	KUNIT_EXPECT_EQ(test, fake_backlog(f), (long)f->nr * SZ_4K);
	for (i = 0; i < NVME_DEFER_MAX_LANES; i++)
		KUNIT_EXPECT_EQ(test, fake_lane_holds(f, i, NULL), 4U);
	/* Fewer lanes for new work; those that are left are flushed all the same. */
	f->set.lanes = 1;
	nvme_defer_flush(f->d);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->completed), (int)f->nr);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->d->flush_waits), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->d->flushes), NVME_DEFER_MAX_LANES);
	fake_check_done(test);
	for (i = 0; i < f->nr; i++) {
		KUNIT_EXPECT_PTR_EQ(test, f->rqs[i].by, current);
		KUNIT_EXPECT_TRUE(test, f->rqs[i].noio);
	}
	KUNIT_EXPECT_FALSE(test, current->flags & PF_MEMALLOC_NOIO);
	fake_unblock_wq(f);
}

/* Who flushes and may not start I/O itself still may not afterwards. */
static void flush_keeps_noio(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int noio;

	fake_requests(test, 2, SZ_4K);
	fake_block_wq(test);
	fake_start(test);
	fake_irq(f, 0, 2);
	noio = memalloc_noio_save();
	nvme_defer_flush(f->d);
	KUNIT_EXPECT_TRUE(test, current->flags & PF_MEMALLOC_NOIO);
	memalloc_noio_restore(noio);
	fake_check_done(test);
	fake_unblock_wq(f);
}

/* The worker's requests are waited for, and not overtaken. */
static void flush_waits(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_requests(test, 8, SZ_64K);
	f->rqs[1].hold = true;
	fake_start(test);
	fake_irq(f, 0, 3);
	KUNIT_EXPECT_TRUE(test, fake_wait_held(f));
	fake_irq(f, 3, 5);
	KUNIT_EXPECT_TRUE(test, fake_job_start(f, flush_job));
	KUNIT_EXPECT_TRUE(test, fake_job_waits(f));
	KUNIT_EXPECT_EQ(test, atomic_read(&f->completed), 1);
	complete(&f->release);
	KUNIT_EXPECT_TRUE(test, fake_job_done(f));
	/* Not a moment later. */
	KUNIT_EXPECT_EQ(test, atomic_read(&f->completed), 8);
	KUNIT_EXPECT_EQ(test, fake_backlog(f), 0L);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->d->flush_waits), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->d->flushes), 1);
	fake_check_done(test);
	fake_check_order(test);
}

/* The same for any lane. */
static void flush_waits_all_lanes(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int i;

	f->set.lanes = NVME_DEFER_MAX_LANES;
	f->set.chunk_bytes = SZ_64K;
	f->set.lane_bytes = 1;
	fake_requests(test, 2 * NVME_DEFER_MAX_LANES, SZ_64K);
	for (i = 0; i < NVME_DEFER_MAX_LANES; i++)
		f->rqs[i].hold = true;
	fake_start(test);
	fake_irq(f, 0, NVME_DEFER_MAX_LANES);
	for (i = 0; i < NVME_DEFER_MAX_LANES; i++)
		KUNIT_EXPECT_TRUE(test, fake_wait_held(f));
	fake_irq(f, NVME_DEFER_MAX_LANES, NVME_DEFER_MAX_LANES);
	KUNIT_EXPECT_TRUE(test, fake_job_start(f, flush_job));
	for (i = 0; i < NVME_DEFER_MAX_LANES; i++) {
		KUNIT_EXPECT_TRUE(test, fake_job_waits(f));
		complete(&f->release);
	}
	KUNIT_EXPECT_TRUE(test, fake_job_done(f));
	KUNIT_EXPECT_EQ(test, atomic_read(&f->completed), (int)f->nr);
	fake_check_done(test);
}

static void stop_job(struct fake *f)
{
	nvme_defer_stop(f->d);
}

/* A stop is a flush, and nothing is deferred behind its back. */
static void stop_waits(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_requests(test, 6, SZ_64K);
	f->rqs[0].hold = true;
	fake_start(test);
	fake_irq(f, 0, 2);
	KUNIT_EXPECT_TRUE(test, fake_wait_held(f));
	fake_irq(f, 2, 2);
	KUNIT_EXPECT_TRUE(test, fake_job_start(f, stop_job));
	KUNIT_EXPECT_TRUE(test, fake_job_waits(f));
	KUNIT_EXPECT_FALSE(test, nvme_defer_armed(f->d));
	fake_irq(f, 4, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->completed), 2);
	complete(&f->release);
	KUNIT_EXPECT_TRUE(test, fake_job_done(f));
	KUNIT_EXPECT_EQ(test, atomic_read(&f->completed), 6);
	fake_check_done(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->d->flush_waits), 1);
}

static void late_fn(struct fake *f, void *unused)
{
	unsigned int i;

	for (i = 0; i < f->nr; i++) {
		atomic_inc(&f->rqs[i].in_flight);
		/* Where it is not taken, it is never completed. */
		nvme_defer_softirq(f->d, &f->rqs[i].rq);
	}
}

/*
 * A softirq has seen the queue armed and pushes when the stop is over. A worker
 * completes that, as the workqueue is still there.
 */
static void push_after_stop(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_requests(test, 3, SZ_4K);
	fake_start(test);
	nvme_defer_stop(f->d);
	fake_in_softirq(f, late_fn, NULL);
	fake_check_done(test);
	fake_check_ctx(test, 2, 1, FAKE_TASK);
}

/* The same, and no worker gets to run: the next stop completes it. */
static void push_after_stop_blocked(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_requests(test, 3, SZ_4K);
	fake_block_wq(test);
	fake_start(test);
	nvme_defer_stop(f->d);
	fake_in_softirq(f, late_fn, NULL);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->completed), 0);
	nvme_defer_stop(f->d);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->completed), 3);
	fake_check_done(test);
	fake_unblock_wq(f);
}

/* Workers that are busy */

static void push_while_worker_runs(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int i;

	f->set.chunk_bytes = SZ_16K;
	fake_requests(test, 200, SZ_4K);
	f->rqs[0].hold = true;
	fake_start(test);
	fake_irq(f, 0, 1);
	KUNIT_EXPECT_TRUE(test, fake_wait_held(f));
	/* The lane is empty, so its worker is to run once more. */
	for (i = 1; i < f->nr; i++)
		fake_irq(f, i, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->completed), 0);
	KUNIT_EXPECT_EQ(test, fake_backlog(f), 200L * SZ_4K);
	KUNIT_EXPECT_EQ(test, fake_irq_count(f, NVME_DEFER_QUEUE_WORK), 2ULL);
	complete(&f->release);
	fake_check_done(test);
	fake_check_order(test);
}

/* With fewer lanes in use, the others run dry and get nothing new. */
static void lanes_shrink(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int i;

	f->set.lanes = NVME_DEFER_MAX_LANES;
	f->set.chunk_bytes = SZ_4K;
	f->set.lane_bytes = 0;
	fake_requests(test, 2 * NVME_DEFER_MAX_LANES + 20, SZ_4K);
	fake_start(test);
	fake_hold_lanes(f);
	fake_irq(f, 0, 2 * NVME_DEFER_MAX_LANES);
	f->set.lanes = 1;
	fake_irq(f, 2 * NVME_DEFER_MAX_LANES, 10);
	KUNIT_EXPECT_EQ(test, fake_lane_holds(f, 0, NULL), 12U);
	for (i = 1; i < NVME_DEFER_MAX_LANES; i++)
		KUNIT_EXPECT_EQ_MSG(test, fake_lane_holds(f, i, NULL), 2U, "lane %u", i);
	f->set.lanes = 2;
	fake_irq(f, 2 * NVME_DEFER_MAX_LANES + 10, 10);
	KUNIT_EXPECT_EQ(test, fake_lane_holds(f, 0, NULL), 12U);
	KUNIT_EXPECT_EQ(test, fake_lane_holds(f, 1, NULL), 12U);
	fake_release_lanes(f);
	fake_check_done(test);
}

static struct kunit_case life_cases[] = {
	KUNIT_CASE(armed_by_state),
	KUNIT_CASE(none_is_never_armed),
	KUNIT_CASE(stopped_completes_in_place),
	KUNIT_CASE(handler_in_task),
	KUNIT_CASE(gather_in_hardirq),
	KUNIT_CASE(softirq_in_task),
	KUNIT_CASE(softirq_in_softirq),
	KUNIT_CASE(softirq_in_hardirq),
	KUNIT_CASE(disarmed_between),
	KUNIT_CASE(flush_nothing),
	KUNIT_CASE(flush_in_place),
	KUNIT_CASE(flush_keeps_noio),
	KUNIT_CASE(flush_waits),
	KUNIT_CASE(flush_waits_all_lanes),
	KUNIT_CASE(stop_waits),
	KUNIT_CASE(push_after_stop),
	KUNIT_CASE(push_after_stop_blocked),
	KUNIT_CASE(push_while_worker_runs),
	KUNIT_CASE(lanes_shrink),
	{ }
};

static struct kunit_suite life_suite = {
	.name = "nvme_defer_life",
	.init = fake_suite_init,
	.exit = fake_suite_exit,
	.test_cases = life_cases,
};

kunit_test_suite(life_suite);
