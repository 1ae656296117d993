// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of deferred completion: the decisions, one by one and exactly at
 * their edges. Nothing here is pushed or completed.
 */
#include <linux/resched_tick.h>

#include "defer_fake.h"

#define WINDOW	NVME_DEFER_WINDOW_NS

/* Mode */

static const struct nvme_defer_settings decide_set = {
	.mode		= NVME_DEFER_AUTO,
	.inline_bytes	= SZ_128K,
	.irq_share	= 25,
	.small_bytes	= SZ_16K,
};

static void wants_off_nothing(struct kunit *test)
{
	struct nvme_defer_settings set = decide_set;

	set.mode = NVME_DEFER_OFF;
	KUNIT_EXPECT_FALSE(test, nvme_defer_wants(&set, SZ_1M, U32_MAX, false));
	KUNIT_EXPECT_FALSE(test, nvme_defer_wants(&set, 0, 0, true));
}

static void wants_on_everything(struct kunit *test)
{
	struct nvme_defer_settings set = decide_set;

	set.mode = NVME_DEFER_ON;
	KUNIT_EXPECT_TRUE(test, nvme_defer_wants(&set, 0, 0, true));
	KUNIT_EXPECT_TRUE(test, nvme_defer_wants(&set, SZ_1M, 0, true));
}

static void wants_auto_inline_edge(struct kunit *test)
{
	struct nvme_defer_settings set = decide_set;

	KUNIT_EXPECT_FALSE(test, nvme_defer_wants(&set, SZ_1M, SZ_128K - 1, true));
	KUNIT_EXPECT_TRUE(test, nvme_defer_wants(&set, 1, SZ_128K, true));
	set.inline_bytes = 0;
	KUNIT_EXPECT_TRUE(test, nvme_defer_wants(&set, 1, 0, true));
}

static void wants_auto_small_edge(struct kunit *test)
{
	struct nvme_defer_settings set = decide_set;

	KUNIT_EXPECT_FALSE(test, nvme_defer_wants(&set, SZ_16K, 0, false));
	KUNIT_EXPECT_TRUE(test, nvme_defer_wants(&set, SZ_16K + 1, 0, false));
	KUNIT_EXPECT_FALSE(test, nvme_defer_wants(&set, SZ_16K + 1, 0, true));
	/* Small does not exempt from inline_bytes. */
	KUNIT_EXPECT_TRUE(test, nvme_defer_wants(&set, SZ_16K, SZ_128K, true));
	set.small_bytes = 0;
	KUNIT_EXPECT_TRUE(test, nvme_defer_wants(&set, 1, 0, false));
}

static void wants_auto_reads_only(struct kunit *test)
{
	struct nvme_defer_settings set = decide_set;

	set.inline_bytes = 0;
	set.small_bytes = 0;
	KUNIT_EXPECT_FALSE(test, nvme_defer_wants(&set, 0, U32_MAX, false));
}

/* Share */

static void share_edge(struct kunit *test)
{
	struct nvme_defer_window w = { .last = WINDOW };

	w.debt = WINDOW / 4 - 1;
	KUNIT_EXPECT_TRUE(test, nvme_defer_share_left(&w, WINDOW, 25));
	w.debt = WINDOW / 4;
	KUNIT_EXPECT_FALSE(test, nvme_defer_share_left(&w, WINDOW, 25));
	KUNIT_EXPECT_TRUE(test, nvme_defer_share_left(&w, WINDOW, 26));
	/* Looking costs nothing. */
	KUNIT_EXPECT_EQ(test, w.debt, (u64)WINDOW / 4);
}

static void share_earns_back(struct kunit *test)
{
	struct nvme_defer_window w = { .last = 1000, .debt = 2 * WINDOW };

	nvme_defer_share_left(&w, 1000 + 400, 25);
	KUNIT_EXPECT_EQ(test, w.debt, (u64)2 * WINDOW - 100);
	/* Nothing is earned twice for the same time. */
	nvme_defer_share_left(&w, 1000 + 400, 25);
	KUNIT_EXPECT_EQ(test, w.debt, (u64)2 * WINDOW - 100);
	/* Down to the edge, and one more. */
	nvme_defer_share_left(&w, 1400 + 7 * WINDOW - 400, 25);
	KUNIT_EXPECT_EQ(test, w.debt, (u64)WINDOW / 4);
	KUNIT_EXPECT_FALSE(test, nvme_defer_share_left(&w, 1000 + 7 * WINDOW, 25));
	KUNIT_EXPECT_TRUE(test, nvme_defer_share_left(&w, 1004 + 7 * WINDOW, 25));
	/* Never below nothing. */
	nvme_defer_share_left(&w, 1000 + 20 * WINDOW, 25);
	KUNIT_EXPECT_EQ(test, w.debt, 0ULL);
}

/*
 * A CPU that always has something to complete spends its share of the time in
 * interrupts, and no more than a window's worth beside it.
 */
static void share_long_run(struct kunit *test)
{
	static const u32 shares[] = { 1, 10, 25, 50, 99 };
	const u64 total = 100 * WINDOW, step = 20 * NSEC_PER_USEC;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(shares); i++) {
		struct nvme_defer_window w = { .last = WINDOW };
		u64 start = WINDOW, now = start, spent = 0, fair;

		while (now < start + total) {
			u64 begin = now;

			now += step;
			if (!nvme_defer_share_left(&w, begin, shares[i]))
				continue;
			spent += step;
			nvme_defer_charge(&w, begin, w.charged, now);
		}
		fair = total * shares[i] / 100;
		KUNIT_EXPECT_GE_MSG(test, spent + 2 * step, fair, "%u %%", shares[i]);
		KUNIT_EXPECT_LE_MSG(test, spent,
				    fair + WINDOW * shares[i] / 100 + 2 * step,
				    "%u %%", shares[i]);
	}
}

static void share_none_and_all(struct kunit *test)
{
	struct nvme_defer_window w = { .last = WINDOW };

	KUNIT_EXPECT_FALSE(test, nvme_defer_share_left(&w, WINDOW, 0));
	KUNIT_EXPECT_FALSE(test, nvme_defer_share_left(&w, 100 * WINDOW, 0));
	w.debt = 4 * WINDOW;
	KUNIT_EXPECT_TRUE(test, nvme_defer_share_left(&w, 100 * WINDOW, 100));
	/* Below all, debt counts. */
	KUNIT_EXPECT_FALSE(test, nvme_defer_share_left(&w, 100 * WINDOW, 99));
}

static void share_clock_goes_back(struct kunit *test)
{
	struct nvme_defer_window w = { .last = 10 * WINDOW, .debt = WINDOW };

	KUNIT_EXPECT_FALSE(test, nvme_defer_share_left(&w, 10 * WINDOW - 1000, 25));
	KUNIT_EXPECT_EQ(test, w.debt, (u64)WINDOW);
	/* The time in between is not earned twice. */
	nvme_defer_share_left(&w, 10 * WINDOW + 4, 25);
	KUNIT_EXPECT_EQ(test, w.debt, (u64)WINDOW - 1);
}

/* A CPU that was idle for very long owes nothing, however small its share. */
static void share_idle_clears_debt(struct kunit *test)
{
	u32 share;

	for (share = 1; share <= 100; share++) {
		struct nvme_defer_window w = { .last = 1 };

		nvme_defer_charge(&w, 1, 0, 3600 * NSEC_PER_SEC);
		KUNIT_EXPECT_TRUE_MSG(test,
				      nvme_defer_share_left(&w, 7200 * NSEC_PER_SEC,
							    share), "%u %%", share);
		KUNIT_EXPECT_EQ_MSG(test, w.debt, 0ULL, "%u %%", share);
	}
}

/* Charge */

static void charge_adds_up(struct kunit *test)
{
	struct nvme_defer_window w = { };

	nvme_defer_charge(&w, 1000, w.charged, 1300);
	KUNIT_EXPECT_EQ(test, w.debt, 300ULL);
	KUNIT_EXPECT_EQ(test, w.charged, 300ULL);
	nvme_defer_charge(&w, 1300, w.charged, 1301);
	KUNIT_EXPECT_EQ(test, w.debt, 301ULL);
	KUNIT_EXPECT_EQ(test, w.charged, 301ULL);
}

static void charge_nested_once(struct kunit *test)
{
	struct nvme_defer_window w = { .charged = 5000 };
	u64 outer = w.charged, inner;

	/* Two interrupts, one after the other, in a softirq of 1000 ns. */
	inner = w.charged;
	nvme_defer_charge(&w, 100, inner, 300);
	inner = w.charged;
	nvme_defer_charge(&w, 400, inner, 500);
	nvme_defer_charge(&w, 0, outer, 1000);
	KUNIT_EXPECT_EQ(test, w.debt, 1000ULL);
	KUNIT_EXPECT_EQ(test, w.charged, 6000ULL);
}

static void charge_nested_longer(struct kunit *test)
{
	struct nvme_defer_window w = { };

	/* Clocks differ: the inner stretch comes out longer than the outer. */
	nvme_defer_charge(&w, 100, 0, 400);
	nvme_defer_charge(&w, 150, 0, 350);
	KUNIT_EXPECT_EQ(test, w.debt, 300ULL);
	KUNIT_EXPECT_EQ(test, w.charged, 300ULL);
}

static void charge_clock_goes_back(struct kunit *test)
{
	struct nvme_defer_window w = { .debt = 7, .charged = 9 };

	nvme_defer_charge(&w, 1000, 9, 999);
	KUNIT_EXPECT_EQ(test, w.debt, 7ULL);
	KUNIT_EXPECT_EQ(test, w.charged, 9ULL);
}

static void charge_is_capped(struct kunit *test)
{
	struct nvme_defer_window w = { };

	nvme_defer_charge(&w, 0, 0, 4 * WINDOW - 1);
	KUNIT_EXPECT_EQ(test, w.debt, (u64)4 * WINDOW - 1);
	nvme_defer_charge(&w, 0, w.charged, 3600 * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, w.debt, (u64)4 * WINDOW);
	/* The cap hides nothing from who looks for what was charged. */
	KUNIT_EXPECT_EQ(test, w.charged, 4 * WINDOW - 1 + 3600 * NSEC_PER_SEC);
}

/* Pressure */

static void limit_by_backlog(struct kunit *test)
{
	struct fake *f = test->priv;

	f->set.backlog_bytes = SZ_1M;
	KUNIT_EXPECT_FALSE(test, nvme_defer_over_limit(f->d, WINDOW));
	atomic_long_set(&f->d->lane[0].backlog, SZ_512K);
	/* Also lanes that are not in use any more. */
	atomic_long_set(&f->d->lane[NVME_DEFER_MAX_LANES - 1].backlog, SZ_512K);
	KUNIT_EXPECT_FALSE(test, nvme_defer_over_limit(f->d, WINDOW));
	atomic_long_inc(&f->d->lane[3].backlog);
	KUNIT_EXPECT_TRUE(test, nvme_defer_over_limit(f->d, WINDOW));
}

static void limit_by_age(struct kunit *test)
{
	struct fake *f = test->priv;
	struct nvme_defer_lane *lane = &f->d->lane[NVME_DEFER_MAX_LANES - 1];
	const u64 max = 200 * NSEC_PER_MSEC;

	f->set.max_age_ms = 200;
	atomic_long_set(&lane->backlog, NVME_DEFER_MIN_BYTES);
	WRITE_ONCE(lane->since_running, 5000);
	KUNIT_EXPECT_FALSE(test, nvme_defer_over_limit(f->d, 5000 + max));
	KUNIT_EXPECT_TRUE(test, nvme_defer_over_limit(f->d, 5001 + max));
	WRITE_ONCE(lane->since_running, 0);
	KUNIT_EXPECT_FALSE(test, nvme_defer_over_limit(f->d, 5001 + max));
}

static void age_of_oldest(struct kunit *test)
{
	struct fake *f = test->priv;
	struct nvme_defer_lane *lane = &f->d->lane[0];
	struct llist_node node;

	/* Left over from before: the lane is empty. */
	WRITE_ONCE(lane->since_pending, 1000);
	KUNIT_EXPECT_EQ(test, nvme_defer_age(lane, 3000), 0ULL);
	llist_add(&node, &lane->list);
	KUNIT_EXPECT_EQ(test, nvme_defer_age(lane, 3000), 2000ULL);
	/* What is in completion was there before what is pending. */
	WRITE_ONCE(lane->since_running, 500);
	KUNIT_EXPECT_EQ(test, nvme_defer_age(lane, 3000), 2500ULL);
	/* The clock of another CPU. */
	KUNIT_EXPECT_EQ(test, nvme_defer_age(lane, 400), 0ULL);
	WRITE_ONCE(lane->since_running, 0);
	llist_del_all(&lane->list);
}

static void pressure_bounded(struct kunit *test)
{
	struct nvme_defer_window w = { };
	u64 now = 50 * WINDOW;

	KUNIT_EXPECT_TRUE(test, nvme_defer_pressure_left(&w, now, SZ_32K, SZ_64K));
	KUNIT_EXPECT_TRUE(test, nvme_defer_pressure_left(&w, now, SZ_32K - 1, SZ_64K));
	/* One byte left, so that one more goes through, and then none. */
	KUNIT_EXPECT_TRUE(test, nvme_defer_pressure_left(&w, now, SZ_32K, SZ_64K));
	KUNIT_EXPECT_FALSE(test, nvme_defer_pressure_left(&w, now, 512, SZ_64K));
	KUNIT_EXPECT_FALSE(test, nvme_defer_pressure_left(&w, now + WINDOW - 1, 512,
							  SZ_64K));
	KUNIT_EXPECT_TRUE(test, nvme_defer_pressure_left(&w, now + WINDOW, SZ_64K,
							 SZ_64K));
	/* Used up exactly. */
	KUNIT_EXPECT_FALSE(test, nvme_defer_pressure_left(&w, now + WINDOW, 512,
							  SZ_64K));
}

/*
 * A softirq has read the clock before the interrupt that is nested in it: that
 * must not begin another period.
 */
static void pressure_clock_goes_back(struct kunit *test)
{
	struct nvme_defer_window w = { };
	u64 now = 50 * WINDOW;

	KUNIT_EXPECT_TRUE(test, nvme_defer_pressure_left(&w, now, SZ_64K, SZ_64K));
	KUNIT_EXPECT_FALSE(test, nvme_defer_pressure_left(&w, now - 1000, 512,
							  SZ_64K));
	KUNIT_EXPECT_FALSE(test, nvme_defer_pressure_left(&w, now, 512, SZ_64K));
}

/* Tick */

static void tick_at_interval(struct kunit *test)
{
	struct resched_tick tick;

	resched_tick_init(&tick, 4096);
	KUNIT_EXPECT_FALSE(test, resched_tick(&tick, 4095));
	KUNIT_EXPECT_TRUE(test, resched_tick(&tick, 1));
	KUNIT_EXPECT_FALSE(test, resched_tick(&tick, 4095));
	KUNIT_EXPECT_FALSE(test, resched_tick(&tick, 0));
	KUNIT_EXPECT_TRUE(test, resched_tick(&tick, 1));
	KUNIT_EXPECT_EQ(test, tick.rescheds, 2ULL);
}

static void tick_large_step(struct kunit *test)
{
	struct resched_tick tick;

	resched_tick_init(&tick, 4096);
	KUNIT_EXPECT_TRUE(test, resched_tick(&tick, 3 * 4096 + 4095));
	KUNIT_EXPECT_EQ(test, tick.rescheds, 1ULL);
	/* Nothing of it is left for the next interval. */
	KUNIT_EXPECT_FALSE(test, resched_tick(&tick, 4095));
	/* More than 32 bits. */
	KUNIT_EXPECT_TRUE(test, resched_tick(&tick, 1ULL << 40));
}

static void tick_off(struct kunit *test)
{
	struct resched_tick tick;
	unsigned int i;

	resched_tick_init(&tick, 0);
	for (i = 0; i < 100; i++)
		KUNIT_EXPECT_FALSE(test, resched_tick(&tick, 1ULL << 40));
	KUNIT_EXPECT_EQ(test, tick.rescheds, 0ULL);
}

static void tick_starts_anew(struct kunit *test)
{
	struct resched_tick tick;

	resched_tick_init(&tick, 4096);
	resched_tick(&tick, 8192);
	resched_tick(&tick, 4095);
	resched_tick_init(&tick, 4096);
	KUNIT_EXPECT_EQ(test, tick.rescheds, 0ULL);
	KUNIT_EXPECT_FALSE(test, resched_tick(&tick, 4095));
}

static struct kunit_case decide_cases[] = {
	KUNIT_CASE(wants_off_nothing),
	KUNIT_CASE(wants_on_everything),
	KUNIT_CASE(wants_auto_inline_edge),
	KUNIT_CASE(wants_auto_small_edge),
	KUNIT_CASE(wants_auto_reads_only),
	KUNIT_CASE(share_edge),
	KUNIT_CASE(share_earns_back),
	KUNIT_CASE(share_long_run),
	KUNIT_CASE(share_none_and_all),
	KUNIT_CASE(share_clock_goes_back),
	KUNIT_CASE(share_idle_clears_debt),
	KUNIT_CASE(charge_adds_up),
	KUNIT_CASE(charge_nested_once),
	KUNIT_CASE(charge_nested_longer),
	KUNIT_CASE(charge_clock_goes_back),
	KUNIT_CASE(charge_is_capped),
	KUNIT_CASE(limit_by_backlog),
	KUNIT_CASE(limit_by_age),
	KUNIT_CASE(age_of_oldest),
	KUNIT_CASE(pressure_bounded),
	KUNIT_CASE(pressure_clock_goes_back),
	{ }
};

static struct kunit_suite decide_suite = {
	.name = "nvme_defer_decide",
	.init = fake_suite_init,
	.exit = fake_suite_exit,
	.test_cases = decide_cases,
};

static struct kunit_case tick_cases[] = {
	KUNIT_CASE(tick_at_interval),
	KUNIT_CASE(tick_large_step),
	KUNIT_CASE(tick_off),
	KUNIT_CASE(tick_starts_anew),
	{ }
};

static struct kunit_suite tick_suite = {
	.name = "resched_tick",
	.test_cases = tick_cases,
};

kunit_test_suites(&decide_suite, &tick_suite);
