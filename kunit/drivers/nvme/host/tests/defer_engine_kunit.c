// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of deferred completion: what one interrupt or softirq does with
 * its requests, what lanes and workers do with theirs, and the accounts.
 */
#include <linux/cpumask.h>

#include "defer_fake.h"

/* Sizes that meet every edge of the accounts. */
static const u32 mixed_bytes[] = {
	SZ_4K, 0, 511, 512, 513, SZ_128K, 1, SZ_16K, SZ_1M + 1, SZ_64K,
};

static void mix(struct fake *f)
{
	unsigned int i;

	for (i = 0; i < f->nr; i++) {
		f->rqs[i].bytes = mixed_bytes[i % ARRAY_SIZE(mixed_bytes)];
		/* Loners at the ends of groups, in pairs, and among others. */
		f->rqs[i].alone = i % 7 == 3 || i % 32 < 2;
	}
}

static u64 cost_of(const struct fake *f, unsigned int first, unsigned int nr)
{
	u64 sum = 0;

	while (nr--)
		sum += fake_cost(f->rqs[first + nr].bytes);
	return sum;
}

/* Every request once, in order */

struct once_param {
	unsigned int lanes;
	u32 chunk_bytes;
	u32 lane_bytes;
	u32 resched_bytes;
	enum fake_batch batch;
};

static const struct once_param once_params[] = {
	{ 1, SZ_4K,   SZ_1M,   SZ_256K, FAKE_BLK_MQ },
	{ 1, SZ_512K, SZ_1M,   0,       FAKE_LIFO },
	{ 2, SZ_512K, SZ_1M,   SZ_256K, FAKE_BLK_MQ },
	{ 3, 1,       0,       1,       FAKE_FIFO },
	{ 4, SZ_64K,  SZ_64K,  SZ_4K,   FAKE_LIFO },
	{ 8, SZ_4K,   SZ_4K,   SZ_64K,  FAKE_FIFO },
	{ 8, SZ_1G,   0,       0,       FAKE_BLK_MQ },
	{ 8, 512,     0,       SZ_1G,   FAKE_LIFO },
};

static void once_desc(const struct once_param *p, char *desc)
{
	static const char * const names[] = { "blk-mq", "fifo", "lifo" };

	snprintf(desc, KUNIT_PARAM_DESC_SIZE,
		 "%u lanes, chunk %u, lane %u, resched %u, %s", p->lanes,
		 p->chunk_bytes, p->lane_bytes, p->resched_bytes,
		 names[p->batch]);
}

KUNIT_ARRAY_PARAM(once, once_params, once_desc);

static void every_request_once(struct kunit *test)
{
	const struct once_param *p = test->param_value;
	struct fake *f = test->priv;
	unsigned int i = 0, burst = 1;
	u64 deferred;

	f->set.lanes = p->lanes;
	f->set.chunk_bytes = p->chunk_bytes;
	f->set.lane_bytes = p->lane_bytes;
	f->set.resched_bytes = p->resched_bytes;
	f->batch = p->batch;
	fake_requests(test, 600, 0);
	mix(f);
	fake_start(test);
	while (i < f->nr) {
		burst = min(burst, f->nr - i);
		if (burst % 3)
			fake_irq(f, i, burst);
		else
			fake_softirq(f, i, burst);
		i += burst;
		burst = burst * 2 % 97;
	}
	fake_check_done(test);
	for (i = 0; i < f->nr; i++)
		KUNIT_EXPECT_EQ_MSG(test, (int)f->rqs[i].ctx, (int)FAKE_TASK,
				    "request %u", i);
	deferred = fake_irq_count(f, NVME_DEFER_DEFERRED) +
		   fake_softirq_count(f, NVME_DEFER_DEFERRED);
	KUNIT_EXPECT_EQ(test, deferred, (u64)f->nr);
}

/* Exact order: one lane, all of it worked off in one run. */
static void order_of_one_lane(struct kunit *test, enum fake_batch batch)
{
	struct fake *f = test->priv;
	unsigned int i;

	f->batch = batch;
	f->set.chunk_bytes = SZ_64K;
	fake_requests(test, 300, 0);
	mix(f);
	fake_start(test);
	fake_hold_lanes(f);
	fake_irq(f, 0, 150);
	fake_softirq(f, 150, 10);
	fake_irq(f, 160, 140);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->completed), 0);
	KUNIT_EXPECT_EQ(test, fake_lane_holds(f, 0, NULL), 300U);
	fake_release_lanes(f);
	fake_check_done(test);
	for (i = 0; i < f->nr; i++)
		KUNIT_EXPECT_EQ_MSG(test, f->rqs[i].order, i, "request %u", i);
}

static void order_blk_mq_batches(struct kunit *test)
{
	order_of_one_lane(test, FAKE_BLK_MQ);
}

static void order_fifo_batches(struct kunit *test)
{
	order_of_one_lane(test, FAKE_FIFO);
}

static void order_lifo_batches(struct kunit *test)
{
	order_of_one_lane(test, FAKE_LIFO);
}

/* Inline, too, requests are completed as they came. */
static void order_inline(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int i;

	f->set.mode = NVME_DEFER_AUTO;
	f->set.inline_bytes = SZ_1G;
	fake_time = 1000;
	fake_requests(test, 200, 0);
	mix(f);
	f->batch = FAKE_LIFO;
	fake_start(test);
	fake_irq(f, 0, 200);
	fake_check_done(test);
	for (i = 0; i < f->nr; i++) {
		KUNIT_EXPECT_EQ_MSG(test, f->rqs[i].order, i, "request %u", i);
		KUNIT_EXPECT_EQ(test, (int)f->rqs[i].ctx, (int)FAKE_HARDIRQ);
	}
}

/* Accounts */

static void backlog_while_held(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int i = 0, burst = 1;
	u64 sum = 0;

	f->set.lanes = 3;
	f->set.chunk_bytes = SZ_64K;
	f->set.lane_bytes = SZ_256K;
	fake_requests(test, 300, 0);
	mix(f);
	fake_start(test);
	fake_hold_lanes(f);
	while (i < f->nr) {
		burst = min(burst, f->nr - i);
		fake_irq(f, i, burst);
		sum += cost_of(f, i, burst);
		i += burst;
		burst = burst * 2 % 23;
		KUNIT_EXPECT_EQ_MSG(test, (u64)fake_backlog(f), sum, "%u pushed", i);
	}
	for (i = 0; i < NVME_DEFER_MAX_LANES; i++) {
		struct llist_node *node = f->d->lane[i].list.first;
		struct request *rq;

		for (sum = 0; node; node = node->next) {
			rq = llist_entry(node, struct request, ipi_list);
			for (; rq; rq = rq->rq_next)
				sum += fake_cost(fake_rq(rq)->bytes);
		}
		KUNIT_EXPECT_EQ_MSG(test, (u64)atomic_long_read(&f->d->lane[i].backlog),
				    sum, "lane %u", i);
		/* Nothing was taken yet: the highest is what there is now. */
		KUNIT_EXPECT_EQ_MSG(test,
				    (u64)atomic_long_read(&f->d->lane[i].backlog_max),
				    sum, "lane %u", i);
	}
	fake_release_lanes(f);
	fake_check_done(test);
}

/* The highest is kept when the backlog is gone, and not raised by less. */
static void backlog_max_stays(struct kunit *test)
{
	struct fake *f = test->priv;
	struct nvme_defer_lane *lane = &f->own.lane[0];

	fake_requests(test, 12, SZ_32K);
	fake_start(test);
	fake_hold_lanes(f);
	fake_irq(f, 0, 8);
	fake_release_lanes(f);
	KUNIT_EXPECT_TRUE(test, fake_wait_completed(f, 8));
	KUNIT_EXPECT_TRUE(test, FAKE_WAIT(!fake_backlog(f)));
	fake_hold_lanes(f);
	fake_irq(f, 8, 4);
	fake_release_lanes(f);
	fake_check_done(test);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&lane->backlog_max), SZ_256K);
}

static void backlog_least_cost(struct kunit *test)
{
	static const u32 cost[][2] = {
		{ 0, 512 }, { 1, 512 }, { 511, 512 }, { 512, 512 }, { 513, 513 },
	};
	struct fake *f = test->priv;
	long sum = 0;
	unsigned int i;

	fake_requests(test, ARRAY_SIZE(cost), 0);
	fake_start(test);
	fake_hold_lanes(f);
	for (i = 0; i < f->nr; i++) {
		f->rqs[i].bytes = cost[i][0];
		sum += cost[i][1];
		fake_irq(f, i, 1);
		KUNIT_EXPECT_EQ_MSG(test, fake_backlog(f), sum, "%u bytes", cost[i][0]);
	}
	fake_release_lanes(f);
	fake_check_done(test);
}

/* While a group is in completion it is in the backlog, then no longer. */
static void backlog_by_group(struct kunit *test)
{
	struct fake *f = test->priv;

	f->set.resched_bytes = SZ_32K;
	fake_requests(test, 10, SZ_16K);
	f->rqs[5].hold = true;
	fake_start(test);
	fake_irq(f, 0, 10);
	KUNIT_EXPECT_TRUE(test, fake_wait_held(f));
	/* Groups of two: the third is in hand. */
	KUNIT_EXPECT_EQ(test, fake_backlog(f), 6 * SZ_16K);
	complete(&f->release);
	fake_check_done(test);
}

static void counts_add_up(struct kunit *test)
{
	struct fake *f = test->priv;
	struct nvme_defer_lane *lane = &f->own.lane[0];

	fake_requests(test, 64, SZ_4K);
	f->rqs[7].bytes = 0;
	fake_start(test);
	fake_hold_lanes(f);
	fake_irq(f, 0, 20);
	fake_softirq(f, 20, 3);
	f->set.mode = NVME_DEFER_AUTO;
	fake_softirq(f, 23, 2);
	fake_irq(f, 25, 5);
	fake_release_lanes(f);
	f->nr = 30;
	fake_check_done(test);
	KUNIT_EXPECT_EQ(test, fake_irq_count(f, NVME_DEFER_DEFERRED), 20ULL);
	KUNIT_EXPECT_EQ(test, fake_irq_count(f, NVME_DEFER_DEFERRED_BYTES),
			19ULL * SZ_4K);
	KUNIT_EXPECT_EQ(test, fake_irq_count(f, NVME_DEFER_INLINE), 5ULL);
	KUNIT_EXPECT_EQ(test, fake_irq_count(f, NVME_DEFER_INLINE_BYTES),
			5ULL * SZ_4K);
	KUNIT_EXPECT_EQ(test, fake_irq_count(f, NVME_DEFER_CHUNKS), 1ULL);
	KUNIT_EXPECT_EQ(test, fake_irq_count(f, NVME_DEFER_QUEUE_WORK), 1ULL);
	KUNIT_EXPECT_EQ(test, fake_irq_count(f, NVME_DEFER_PRESSURE), 0ULL);
	KUNIT_EXPECT_EQ(test, fake_softirq_count(f, NVME_DEFER_DEFERRED), 3ULL);
	KUNIT_EXPECT_EQ(test, fake_softirq_count(f, NVME_DEFER_DEFERRED_BYTES),
			3ULL * SZ_4K);
	KUNIT_EXPECT_EQ(test, fake_softirq_count(f, NVME_DEFER_CHUNKS), 3ULL);
	KUNIT_EXPECT_EQ(test, fake_softirq_count(f, NVME_DEFER_QUEUE_WORK), 0ULL);
	KUNIT_EXPECT_EQ(test, fake_softirq_count(f, NVME_DEFER_INLINE), 2ULL);
	KUNIT_EXPECT_EQ(test, fake_softirq_count(f, NVME_DEFER_INLINE_BYTES),
			2ULL * SZ_4K);
	nvme_defer_flush(f->d);
	KUNIT_EXPECT_EQ(test, u64_stats_read(&lane->requests), 23ULL);
	KUNIT_EXPECT_EQ(test, u64_stats_read(&lane->bytes), 22ULL * SZ_4K);
	KUNIT_EXPECT_EQ(test, u64_stats_read(&lane->runs), 1ULL);
}

/* Softirqs of all CPUs are one sum. */
static void counts_of_all_cpus(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int cpu, nr = 0;

	/* Nothing was ever counted: there is nowhere to count. */
	KUNIT_EXPECT_EQ(test, fake_softirq_count(f, NVME_DEFER_DEFERRED), 0ULL);
	fake_requests(test, 2 * num_possible_cpus(), SZ_4K);
	fake_start(test);
	for_each_online_cpu(cpu) {
		set_cpus_allowed_ptr(current, cpumask_of(cpu));
		fake_softirq(f, nr, 2);
		nr += 2;
	}
	f->nr = nr;
	fake_check_done(test);
	KUNIT_EXPECT_EQ(test, fake_softirq_count(f, NVME_DEFER_DEFERRED), (u64)nr);
	KUNIT_EXPECT_EQ(test, fake_irq_count(f, NVME_DEFER_DEFERRED), 0ULL);
}

/* Which requests of a burst */

static void burst_by_inline_bytes(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int i;

	f->set.mode = NVME_DEFER_AUTO;
	f->set.inline_bytes = SZ_128K;
	fake_time = 1000;
	fake_requests(test, 20, SZ_32K);
	fake_start(test);
	fake_irq(f, 0, 20);
	fake_check_done(test);
	for (i = 0; i < f->nr; i++)
		KUNIT_EXPECT_EQ_MSG(test, (int)f->rqs[i].ctx,
				    (int)(i < 4 ? FAKE_HARDIRQ : FAKE_TASK),
				    "request %u", i);
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
	for (i = 0; i < f->nr; i++)
		KUNIT_EXPECT_EQ_MSG(test, (int)f->rqs[i].ctx,
				    (int)(i % 2 && i > 1 ? FAKE_TASK : FAKE_HARDIRQ),
				    "request %u", i);
}

/* The share runs out in the middle of a burst; looked at every 64 KiB. */
static void burst_by_share(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int i;

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
	for (i = 0; i < f->nr; i++)
		KUNIT_EXPECT_EQ_MSG(test, (int)f->rqs[i].ctx,
				    (int)(i < 4 || i == 18 ? FAKE_HARDIRQ : FAKE_TASK),
				    "request %u", i);
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
	KUNIT_EXPECT_EQ(test, (int)f->rqs[0].ctx, (int)FAKE_SOFTIRQ);
	KUNIT_EXPECT_EQ(test, (int)f->rqs[1].ctx, (int)FAKE_HARDIRQ);
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
	KUNIT_EXPECT_EQ(test, (int)f->rqs[17].ctx, (int)FAKE_HARDIRQ);
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
	KUNIT_EXPECT_TRUE(test, FAKE_WAIT(!fake_backlog(f)));
	/* The lane is empty: nothing is old any more. */
	fake_time += NSEC_PER_SEC;
	fake_irq(f, 4, 1);
	fake_check_done(test);
	KUNIT_EXPECT_EQ(test, (int)f->rqs[4].ctx, (int)FAKE_TASK);
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

/* Workers */

struct resched_param {
	const char *name;
	u32 resched_bytes;
	u32 bytes;
	u64 rescheds;
};

/* 64 requests each. */
static const struct resched_param resched_params[] = {
	{ "never",		   0,		SZ_64K,	0 },
	{ "each request",	   1,		SZ_4K,	64 },
	{ "exactly four",	   SZ_16K,	SZ_4K,	16 },
	{ "five, the last is lost", SZ_16K + 1,	SZ_4K,	12 },
	{ "request beyond it",	   SZ_16K,	SZ_64K,	64 },
	{ "exactly sixteen",	   SZ_1M,	SZ_64K,	4 },
	{ "two full groups",	   SZ_256K,	SZ_4K,	1 },
	{ "beyond all",		   SZ_1G,	SZ_64K,	0 },
	{ "what copies nothing",   SZ_16K,	0,	2 },
};

static void resched_desc(const struct resched_param *p, char *desc)
{
	strscpy(desc, p->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(resched, resched_params, resched_desc);

static void worker_reschedules(struct kunit *test)
{
	const struct resched_param *p = test->param_value;
	struct fake *f = test->priv;
	struct nvme_defer_lane *lane = &f->own.lane[0];

	f->set.resched_bytes = p->resched_bytes;
	fake_requests(test, 64, p->bytes);
	fake_start(test);
	fake_hold_lanes(f);
	fake_irq(f, 0, 64);
	fake_release_lanes(f);
	fake_check_done(test);
	nvme_defer_flush(f->d);
	KUNIT_EXPECT_EQ(test, u64_stats_read(&lane->runs), 1ULL);
	KUNIT_EXPECT_EQ(test, u64_stats_read(&lane->rescheds), p->rescheds);
}

/* The setting is read at each run. */
static void worker_follows_setting(struct kunit *test)
{
	struct fake *f = test->priv;
	struct nvme_defer_lane *lane = &f->own.lane[0];

	f->set.resched_bytes = 0;
	fake_requests(test, 16, SZ_4K);
	fake_start(test);
	fake_irq(f, 0, 8);
	KUNIT_EXPECT_TRUE(test, FAKE_WAIT(!fake_backlog(f)));
	nvme_defer_flush(f->d);
	KUNIT_EXPECT_EQ(test, u64_stats_read(&lane->rescheds), 0ULL);
	f->set.resched_bytes = SZ_4K;
	fake_irq(f, 8, 8);
	fake_check_done(test);
	nvme_defer_flush(f->d);
	KUNIT_EXPECT_EQ(test, u64_stats_read(&lane->rescheds), 8ULL);
}

static struct kunit_case engine_cases[] = {
	KUNIT_CASE_PARAM(every_request_once, once_gen_params),
	KUNIT_CASE(order_blk_mq_batches),
	KUNIT_CASE(order_fifo_batches),
	KUNIT_CASE(order_lifo_batches),
	KUNIT_CASE(order_inline),
	KUNIT_CASE(backlog_while_held),
	KUNIT_CASE(backlog_max_stays),
	KUNIT_CASE(backlog_least_cost),
	KUNIT_CASE(backlog_by_group),
	KUNIT_CASE(counts_add_up),
	KUNIT_CASE(counts_of_all_cpus),
	KUNIT_CASE(burst_by_inline_bytes),
	KUNIT_CASE(burst_overshoot),
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
	KUNIT_CASE_PARAM(worker_reschedules, resched_gen_params),
	KUNIT_CASE(worker_follows_setting),
	{ }
};

static struct kunit_suite engine_suite = {
	.name = "nvme_defer_engine",
	.init = fake_suite_init,
	.exit = fake_suite_exit,
	.test_cases = engine_cases,
};

kunit_test_suite(engine_suite);
