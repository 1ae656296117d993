// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of deferred completion: what one interrupt or softirq does with
 * its requests, which it completes itself and which lanes get the rest.
 */
#include "defer_fake.h"

/* Which requests of a burst */

static void burst_by_inline_bytes(struct kunit *test)
{
	struct fake *f = test->priv;

	f->set.mode = NVME_DEFER_AUTO;
	f->set.inline_bytes = SZ_128K;
	fake_time = 1000;
	fake_requests(test, 20, SZ_32K);
	fake_start(test);
	fake_irq(f, 0, 20);
	fake_check_done(test);
	fake_check_ctx(test, 0, 4, FAKE_HARDIRQ);
	fake_check_ctx(test, 4, 16, FAKE_TASK);
}

/* Over the budget by less than one request, whatever the sizes. */
static void burst_overshoot(struct kunit *test)
{
	static const u32 sizes[] = { SZ_4K, SZ_16K, SZ_128K - 512, SZ_256K, SZ_1M };
	struct fake *f = test->priv;
	unsigned int i, nr = 0;
	u64 before = 0, bytes;

	f->set.mode = NVME_DEFER_AUTO;
	f->set.inline_bytes = SZ_128K;
	f->set.small_bytes = 0;
	fake_time = 1000;
	fake_requests(test, ARRAY_SIZE(sizes) * 64, 0);
	for (i = 0; i < f->nr; i++)
		f->rqs[i].bytes = sizes[i / 64];
	fake_start(test);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		fake_irq(f, nr, 64);
		nr += 64;
		bytes = fake_irq_count(f, NVME_DEFER_INLINE_BYTES) - before;
		before += bytes;
		KUNIT_EXPECT_GE_MSG(test, bytes, (u64)SZ_128K, "size %u", sizes[i]);
		KUNIT_EXPECT_LT_MSG(test, bytes, (u64)SZ_128K + sizes[i], "size %u",
				    sizes[i]);
	}
	fake_check_done(test);
}

/*
 * Small ones use up the budget by NVME_DEFER_MIN_BYTES at most; from a byte more
 * than that on, by all they copy.
 */
static void burst_of_small(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int i;

	f->set.mode = NVME_DEFER_AUTO;
	f->set.inline_bytes = SZ_16K;
	fake_time = 1000;
	fake_requests(test, 50, SZ_16K);
	fake_start(test);
	fake_irq(f, 0, 40);
	f->rqs[40].bytes = SZ_16K + 1;
	fake_irq(f, 40, 3);
	f->set.inline_bytes = 512;
	for (i = 43; i < f->nr; i++)
		f->rqs[i].bytes = 256;
	fake_irq(f, 43, 7);
	fake_check_done(test);
	fake_check_ctx(test, 0, 32, FAKE_HARDIRQ);
	fake_check_ctx(test, 32, 8, FAKE_TASK);
	fake_check_ctx(test, 40, 1, FAKE_HARDIRQ);
	fake_check_ctx(test, 41, 2, FAKE_TASK);
	fake_check_ctx(test, 43, 2, FAKE_HARDIRQ);
	fake_check_ctx(test, 45, 5, FAKE_TASK);
}

/* What copies nothing stays, also behind what is deferred. */
static void burst_of_writes(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int i;

	f->set.mode = NVME_DEFER_AUTO;
	f->set.inline_bytes = SZ_64K;
	fake_time = 1000;
	fake_requests(test, 40, SZ_64K);
	for (i = 0; i < f->nr; i += 2)
		f->rqs[i].bytes = 0;
	fake_start(test);
	fake_irq(f, 0, 40);
	fake_check_done(test);
	fake_check_ctx(test, 0, 3, FAKE_HARDIRQ);
	for (i = 3; i < f->nr; i++)
		fake_check_ctx(test, i, 1, i % 2 ? FAKE_TASK : FAKE_HARDIRQ);
}

/* The share runs out in the middle of a burst; looked at every 64 KiB. */
static void burst_by_share(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_pin();
	f->set.mode = NVME_DEFER_AUTO;
	f->set.inline_bytes = SZ_1G;
	f->set.irq_share = 1;
	f->ns_per_byte = 1;
	fake_time = NSEC_PER_SEC;
	fake_requests(test, 20, SZ_32K);
	f->rqs[18].bytes = SZ_16K;
	fake_start(test);
	fake_irq(f, 0, 20);
	fake_check_done(test);
	/* 1 % of 10 ms is spent within the second 64 KiB. */
	fake_check_ctx(test, 0, 4, FAKE_HARDIRQ);
	fake_check_ctx(test, 4, 14, FAKE_TASK);
	fake_check_ctx(test, 18, 1, FAKE_HARDIRQ);
	fake_check_ctx(test, 19, 1, FAKE_TASK);
}

/* Time spent is charged once, to this CPU, and earned back. */
static void burst_is_charged(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_pin();
	f->set.mode = NVME_DEFER_AUTO;
	f->set.inline_bytes = SZ_1G;
	f->ns_per_byte = 1;
	fake_time = NSEC_PER_SEC;
	fake_requests(test, 11, SZ_16K);
	fake_start(test);
	fake_irq(f, 0, 8);
	KUNIT_EXPECT_EQ(test, fake_window(f)->charged, 8ULL * SZ_16K);
	/* A quarter of that time is earned meanwhile. */
	KUNIT_EXPECT_EQ(test, fake_window(f)->debt, 6ULL * SZ_16K);
	fake_softirq(f, 8, 3);
	KUNIT_EXPECT_EQ(test, fake_window(f)->charged, 11ULL * SZ_16K);
	fake_check_done(test);
}

static void nested_irq_fn(struct fake *f, void *unused)
{
	fake_push(f, &f->rqs[1]);
	fake_push(f, &f->rqs[2]);
	nvme_defer_irq(f->d);
}

/* Within a completion in softirq; irq_work_sync() might sleep. */
static void nest_irq(struct fake *f)
{
	unsigned long end = jiffies + FAKE_LONG;

	f->irq_fn = nested_irq_fn;
	irq_work_queue(&f->irq_work);
	while (irq_work_is_busy(&f->irq_work)) {
		if (time_after(jiffies, end)) {
			set_bit(FAKE_TIMEOUT, &f->bad);
			break;
		}
		cpu_relax();
	}
}

/* An interrupt while a softirq completes: the time of both is charged once. */
static void nested_irq_charged_once(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_pin();
	f->set.mode = NVME_DEFER_AUTO;
	f->set.inline_bytes = SZ_1G;
	f->ns_per_byte = 1;
	fake_time = NSEC_PER_SEC;
	fake_requests(test, 3, SZ_16K);
	f->nest = nest_irq;
	fake_start(test);
	fake_softirq(f, 0, 1);
	fake_check_ctx(test, 0, 1, FAKE_SOFTIRQ);
	fake_check_ctx(test, 1, 1, FAKE_HARDIRQ);
	KUNIT_EXPECT_EQ(test, f->rqs[0].order, 2U);
	KUNIT_EXPECT_EQ(test, fake_window(f)->charged, 3ULL * SZ_16K);
	fake_check_done(test);
}

/* Chunks and lanes */

static void chunks_are_cut(struct kunit *test)
{
	struct fake *f = test->priv;

	f->set.chunk_bytes = SZ_64K;
	fake_requests(test, 16, SZ_16K);
	fake_start(test);
	fake_hold_lanes(f);
	/* Four fill a chunk, the rest is one more. */
	fake_irq(f, 0, 4);
	KUNIT_EXPECT_EQ(test, fake_irq_count(f, NVME_DEFER_CHUNKS), 1ULL);
	fake_irq(f, 4, 5);
	KUNIT_EXPECT_EQ(test, fake_irq_count(f, NVME_DEFER_CHUNKS), 3ULL);
	/* One byte less than a chunk: the next request still belongs to it. */
	f->rqs[12].bytes = SZ_16K - 1;
	fake_irq(f, 9, 5);
	KUNIT_EXPECT_EQ(test, fake_irq_count(f, NVME_DEFER_CHUNKS), 4ULL);
	/* A softirq pushes one by one. */
	fake_softirq(f, 14, 2);
	KUNIT_EXPECT_EQ(test, fake_softirq_count(f, NVME_DEFER_CHUNKS), 2ULL);
	/* The worker was woken by the first, and is not awake yet. */
	KUNIT_EXPECT_EQ(test, fake_irq_count(f, NVME_DEFER_QUEUE_WORK), 1ULL);
	KUNIT_EXPECT_EQ(test, fake_softirq_count(f, NVME_DEFER_QUEUE_WORK), 0ULL);
	fake_release_lanes(f);
	fake_check_done(test);
}

static void expect_lane(struct kunit *test, unsigned int lane, unsigned int nr)
{
	KUNIT_EXPECT_EQ_MSG(test, fake_lane_holds(test->priv, lane, NULL), nr,
			    "lane %u", lane);
}

/* The first lane below lane_bytes; from there on the least loaded. */
static void lane_first_then_least(struct kunit *test)
{
	struct fake *f = test->priv;

	f->set.lanes = 3;
	f->set.chunk_bytes = SZ_64K;
	f->set.lane_bytes = SZ_128K;
	fake_requests(test, 20, SZ_64K);
	fake_start(test);
	fake_hold_lanes(f);
	fake_irq(f, 0, 2);
	expect_lane(test, 0, 2);
	expect_lane(test, 1, 0);
	fake_irq(f, 2, 2);
	expect_lane(test, 0, 2);
	expect_lane(test, 1, 2);
	/* One byte below the limit is below it. */
	f->rqs[5].bytes = SZ_64K - 1;
	fake_irq(f, 4, 2);
	expect_lane(test, 2, 2);
	fake_irq(f, 6, 1);
	expect_lane(test, 2, 3);
	/* All are full: the first of the two least loaded, then the other. */
	fake_irq(f, 7, 1);
	expect_lane(test, 0, 3);
	fake_irq(f, 8, 1);
	expect_lane(test, 1, 3);
	/* Lane 2 has a byte less than the others. */
	fake_irq(f, 9, 1);
	expect_lane(test, 2, 4);
	/* One worker a lane was woken. */
	KUNIT_EXPECT_EQ(test, fake_irq_count(f, NVME_DEFER_QUEUE_WORK), 3ULL);
	KUNIT_EXPECT_EQ(test, fake_irq_count(f, NVME_DEFER_CHUNKS), 10ULL);
	expect_lane(test, 3, 0);
	fake_release_lanes(f);
	f->nr = 10;
	fake_check_done(test);
}

/* Each chunk of one interrupt looks for its lane. */
static void lane_by_chunk(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int i, first;

	f->set.lanes = NVME_DEFER_MAX_LANES;
	f->set.chunk_bytes = SZ_64K;
	f->set.lane_bytes = SZ_64K;
	fake_requests(test, 32, SZ_16K);
	fake_start(test);
	fake_hold_lanes(f);
	fake_irq(f, 0, 32);
	for (i = 0; i < NVME_DEFER_MAX_LANES; i++) {
		KUNIT_EXPECT_EQ_MSG(test, fake_lane_holds(f, i, &first), 4U,
				    "lane %u", i);
		KUNIT_EXPECT_EQ_MSG(test, first, 4 * i, "lane %u", i);
	}
	KUNIT_EXPECT_EQ(test, fake_irq_count(f, NVME_DEFER_QUEUE_WORK),
			(u64)NVME_DEFER_MAX_LANES);
	fake_release_lanes(f);
	fake_check_done(test);
}

/* Light load stays on one worker. */
static void lane_light_load(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int i;

	f->set.lanes = NVME_DEFER_MAX_LANES;
	fake_requests(test, 50, SZ_64K);
	fake_start(test);
	for (i = 0; i < f->nr; i++) {
		fake_irq(f, i, 1);
		KUNIT_EXPECT_TRUE(test, FAKE_WAIT(!fake_backlog(f)));
	}
	fake_check_done(test);
	for (i = 0; i < f->nr; i++)
		KUNIT_EXPECT_EQ_MSG(test, f->rqs[i].lane, 0, "request %u", i);
}

/* Pressure */

static void pressure_by_backlog(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_pin();
	fake_time = NSEC_PER_SEC;
	f->set.chunk_bytes = SZ_64K;
	f->set.backlog_bytes = SZ_256K;
	fake_requests(test, 80, SZ_16K);
	fake_start(test);
	fake_hold_lanes(f);
	fake_irq(f, 0, 16);
	/* At the limit, not beyond it. */
	fake_irq(f, 16, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->completed), 0);
	/* A chunk's worth is taken back, those that came first. */
	fake_irq(f, 17, 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->completed), 4);
	KUNIT_EXPECT_EQ(test, fake_irq_count(f, NVME_DEFER_PRESSURE), 4ULL);
	fake_check_ctx(test, 17, 1, FAKE_HARDIRQ);
	KUNIT_EXPECT_EQ(test, f->rqs[20].times, 1U);
	KUNIT_EXPECT_EQ(test, f->rqs[21].times, 0U);
	/* No more in the same period, be it in interrupts or softirqs. */
	fake_irq(f, 37, 10);
	fake_softirq(f, 47, 10);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->completed), 4);
	fake_time += NVME_DEFER_WINDOW_NS;
	fake_softirq(f, 57, 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->completed), 7);
	KUNIT_EXPECT_EQ(test, fake_softirq_count(f, NVME_DEFER_PRESSURE), 3ULL);
	KUNIT_EXPECT_EQ(test, fake_softirq_count(f, NVME_DEFER_INLINE), 3ULL);
	fake_irq(f, 60, 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->completed), 8);
	fake_release_lanes(f);
	fake_check_done(test);
}

static void pressure_by_age(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_pin();
	fake_time = NSEC_PER_SEC;
	f->set.chunk_bytes = SZ_16K;
	f->set.max_age_ms = 50;
	fake_requests(test, 5, SZ_16K);
	fake_start(test);
	fake_hold_lanes(f);
	fake_irq(f, 0, 1);
	fake_time += 50 * NSEC_PER_MSEC;
	/* Does not make the oldest any younger. */
	fake_irq(f, 1, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->completed), 0);
	fake_time += 1;
	fake_irq(f, 2, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->completed), 1);
	KUNIT_EXPECT_EQ(test, f->rqs[2].times, 1U);
	fake_release_lanes(f);
	nvme_defer_flush(f->d);
	/* The lane is empty: nothing is old any more. */
	fake_time += NSEC_PER_SEC;
	fake_irq(f, 4, 1);
	fake_check_done(test);
	fake_check_ctx(test, 4, 1, FAKE_TASK);
	KUNIT_EXPECT_EQ(test, fake_irq_count(f, NVME_DEFER_PRESSURE), 1ULL);
}

/* The requests that a worker has in hand have an age, too. */
static void age_in_completion(struct kunit *test)
{
	struct fake *f = test->priv;
	struct nvme_defer_lane *lane = &f->own.lane[0];

	fake_time = NSEC_PER_SEC;
	fake_requests(test, 2, SZ_16K);
	f->rqs[0].hold = true;
	fake_start(test);
	fake_irq(f, 0, 1);
	KUNIT_EXPECT_TRUE(test, fake_wait_held(f));
	fake_time += 1000;
	KUNIT_EXPECT_EQ(test, nvme_defer_age(lane, fake_time), 1000ULL);
	fake_irq(f, 1, 1);
	fake_time += 1000;
	KUNIT_EXPECT_EQ(test, nvme_defer_age(lane, fake_time), 2000ULL);
	complete(&f->release);
	fake_check_done(test);
	KUNIT_EXPECT_TRUE(test, FAKE_WAIT(!nvme_defer_age(lane, fake_time)));
}

static struct kunit_case burst_cases[] = {
	KUNIT_CASE(burst_by_inline_bytes),
	KUNIT_CASE(burst_overshoot),
	KUNIT_CASE(burst_of_small),
	KUNIT_CASE(burst_of_writes),
	KUNIT_CASE(burst_by_share),
	KUNIT_CASE(burst_is_charged),
	KUNIT_CASE(nested_irq_charged_once),
	KUNIT_CASE(chunks_are_cut),
	KUNIT_CASE(lane_first_then_least),
	KUNIT_CASE(lane_by_chunk),
	KUNIT_CASE(lane_light_load),
	KUNIT_CASE(pressure_by_backlog),
	KUNIT_CASE(pressure_by_age),
	KUNIT_CASE(age_in_completion),
	{ }
};

static struct kunit_suite burst_suite = {
	.name = "nvme_defer_burst",
	.init = fake_suite_init,
	.exit = fake_suite_exit,
	.test_cases = burst_cases,
};

kunit_test_suite(burst_suite);
