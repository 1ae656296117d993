// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of deferred completion: every request is completed once and in
 * order, the accounts are right, and workers do as they are told.
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
	fake_check_ctx(test, 0, f->nr, FAKE_TASK);
	deferred = fake_irq_count(f, NVME_DEFER_DEFERRED) +
		   fake_softirq_count(f, NVME_DEFER_DEFERRED);
	KUNIT_EXPECT_EQ(test, deferred, (u64)f->nr);
}

/* Exact order: one lane, all of it worked off in one run. */
static void order_of_one_lane(struct kunit *test, enum fake_batch batch)
{
	struct fake *f = test->priv;

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
	fake_check_order(test);
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

	f->set.mode = NVME_DEFER_AUTO;
	f->set.inline_bytes = SZ_1G;
	fake_time = 1000;
	fake_requests(test, 200, 0);
	mix(f);
	f->batch = FAKE_LIFO;
	fake_start(test);
	fake_irq(f, 0, 200);
	fake_check_done(test);
	fake_check_order(test);
	fake_check_ctx(test, 0, f->nr, FAKE_HARDIRQ);
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
