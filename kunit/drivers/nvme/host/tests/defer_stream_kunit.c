// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of deferred completion: settings and queue change while
 * interrupts and softirqs of several CPUs push without a pause. Tags are reused
 * at once, as a driver does, so anything that is done to a request after its
 * completion hits the next.
 */
#include <linux/cpumask.h>

#include "defer_fake.h"

#define STREAM_TAGS	64

/**
 * struct stream - one context that pushes
 * @fake: where to
 * @source: number of this stream; 0: hard interrupts, which come one at a time
 * @tags: its requests
 * @next: the tag to be used next
 * @seq: requests pushed
 * @seed: of its sizes
 * @tasklet: its softirq
 * @task: raises interrupts or softirqs
 */
struct stream {
	struct fake *fake;
	unsigned int source;
	struct fake_rq *tags;
	unsigned int next;
	u64 seq;
	u32 seed;
	struct tasklet_struct tasklet;
	struct task_struct *task;
};

static const u32 stream_bytes[] = {
	SZ_4K, SZ_4K, SZ_16K, 0, SZ_64K, 1, SZ_4K, 513, SZ_4K, SZ_128K,
};

static struct stream streams[FAKE_SOURCES];

/* A free tag with something new in it, if there is one. */
static struct fake_rq *stream_get(struct stream *s)
{
	struct fake_rq *r = &s->tags[s->next];

	if (atomic_read_acquire(&r->in_flight))
		return NULL;
	s->next = (s->next + 1) % STREAM_TAGS;
	s->seed = s->seed * 1103515245 + 12345;
	r->bytes = stream_bytes[(s->seed >> 16) % ARRAY_SIZE(stream_bytes)];
	r->alone = !((s->seed >> 24) % 5);
	r->source = s->source;
	r->seq = s->seq;
	WRITE_ONCE(s->seq, s->seq + 1);
	return r;
}

static void stream_irq(struct fake *f, void *arg)
{
	struct stream *s = arg;
	unsigned int nr = 1 + (s->seed >> 12) % 16;
	struct fake_rq *r;

	while (nr-- && (r = stream_get(s)))
		fake_push(f, r);
	if (f->d->gathered)
		nvme_defer_irq(f->d);
}

static void stream_tasklet(struct tasklet_struct *t)
{
	struct stream *s = container_of(t, struct stream, tasklet);
	unsigned int nr = 1 + (s->seed >> 12) % 4;
	struct fake_rq *r;

	while (nr-- && (r = stream_get(s)))
		fake_push_softirq(s->fake, r);
}

static int stream_thread(void *arg)
{
	struct stream *s = arg;
	u64 before;

	while (!kthread_should_stop()) {
		before = s->seq;
		if (!s->source) {
			fake_in_hardirq(s->fake, stream_irq, s);
		} else {
			local_bh_disable();
			tasklet_schedule(&s->tasklet);
			local_bh_enable();
			tasklet_kill(&s->tasklet);
		}
		/* All tags are in flight: leave the CPU to who completes them. */
		if (s->seq == before)
			usleep_range(20, 50);
		cond_resched();
	}
	return 0;
}

static int stream_start(struct kunit *test, unsigned int nr)
{
	struct fake *f = test->priv;
	unsigned int i, cpu = cpumask_first(cpu_online_mask);

	fake_requests(test, nr * STREAM_TAGS, 0);
	memset(streams, 0, sizeof(streams));
	for (i = 0; i < nr; i++) {
		struct stream *s = &streams[i];
		struct task_struct *task;

		s->fake = f;
		s->source = i;
		s->seed = i + 1;
		s->tags = &f->rqs[i * STREAM_TAGS];
		tasklet_setup(&s->tasklet, stream_tasklet);
		task = kthread_create(stream_thread, s, "nvme-defer-kunit-%u", i);
		if (IS_ERR(task))
			return PTR_ERR(task);
		kthread_bind(task, cpu);
		cpu = cpumask_next(cpu, cpu_online_mask);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpu_online_mask);
		s->task = task;
		wake_up_process(task);
	}
	return 0;
}

static u64 stream_pushed(void)
{
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < FAKE_SOURCES; i++)
		sum += READ_ONCE(streams[i].seq);
	return sum;
}

static void stream_end(void)
{
	unsigned int i;

	for (i = 0; i < FAKE_SOURCES; i++) {
		if (streams[i].task)
			kthread_stop(streams[i].task);
		streams[i].task = NULL;
	}
}

static void stream_exit(struct kunit *test)
{
	stream_end();
	fake_suite_exit(test);
}

/* Until that many more are completed. */
static bool stream_goes_on(struct fake *f, unsigned int nr)
{
	unsigned int from = atomic_read(&f->completed);

	return FAKE_WAIT(atomic_read(&f->completed) - from >= nr);
}

static u64 worker_requests(struct fake *f)
{
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < NVME_DEFER_MAX_LANES; i++)
		sum += u64_stats_read(&f->d->lane[i].requests);
	return sum;
}

static u64 deferred(struct fake *f)
{
	return fake_irq_count(f, NVME_DEFER_DEFERRED) +
	       fake_softirq_count(f, NVME_DEFER_DEFERRED);
}

static void expect_empty(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int i;

	for (i = 0; i < NVME_DEFER_MAX_LANES; i++) {
		KUNIT_EXPECT_EQ_MSG(test, atomic_long_read(&f->d->lane[i].backlog),
				    0L, "lane %u", i);
		KUNIT_EXPECT_TRUE_MSG(test, llist_empty(&f->d->lane[i].list),
				      "lane %u", i);
	}
	KUNIT_EXPECT_EQ(test, worker_requests(f), deferred(f));
}

static void stream_check(struct kunit *test)
{
	struct fake *f = test->priv;

	stream_end();
	KUNIT_EXPECT_TRUE(test, fake_wait_completed(f, stream_pushed()));
	KUNIT_EXPECT_EQ(test, (u64)atomic_read(&f->completed), stream_pushed());
	KUNIT_EXPECT_TRUE(test, FAKE_WAIT(!fake_backlog(f)));
	nvme_defer_flush(f->d);
	expect_empty(test);
	KUNIT_EXPECT_GT(test, deferred(f), 0ULL);
	fake_check(test);
}

/* Lanes, chunks and all that is looked at for each request, changed at will. */
static void settings_under_pushes(struct kunit *test)
{
	static const u32 lanes[] = { 8, 1, 8, 3, 2, 1 };
	static const u32 chunk[] = { SZ_4K, SZ_512K, SZ_16K, SZ_64K, SZ_1G };
	static const u32 resched[] = { 0, SZ_4K, SZ_64K, SZ_1M };
	struct fake *f = test->priv;
	unsigned int i;

	f->set.lane_bytes = SZ_4K;
	f->set.lanes = 8;
	fake_start(test);
	KUNIT_ASSERT_EQ(test, stream_start(test, FAKE_SOURCES), 0);
	for (i = 0; i < 120; i++) {
		WRITE_ONCE(f->set.lanes, lanes[i % ARRAY_SIZE(lanes)]);
		WRITE_ONCE(f->set.chunk_bytes, chunk[i % ARRAY_SIZE(chunk)]);
		WRITE_ONCE(f->set.resched_bytes, resched[i % ARRAY_SIZE(resched)]);
		WRITE_ONCE(f->set.lane_bytes, i % 7 ? SZ_4K : SZ_1M);
		WRITE_ONCE(f->set.backlog_bytes, i % 11 ? SZ_1G : SZ_64K);
		KUNIT_ASSERT_TRUE(test, stream_goes_on(f, 100));
	}
	stream_check(test);
	/* The last lane was in use, too. */
	KUNIT_EXPECT_GT(test, u64_stats_read(&f->d->lane[7].requests), 0ULL);
}

/* All modes, with a budget that runs out now and then. */
static void modes_under_pushes(struct kunit *test)
{
	static const u32 mode[] = {
		NVME_DEFER_ON, NVME_DEFER_AUTO, NVME_DEFER_OFF, NVME_DEFER_AUTO,
	};
	struct fake *f = test->priv;
	unsigned int i;

	f->set.inline_bytes = SZ_64K;
	f->set.irq_share = 5;
	f->set.small_bytes = SZ_4K;
	fake_start(test);
	KUNIT_ASSERT_EQ(test, stream_start(test, FAKE_SOURCES), 0);
	for (i = 0; i < 60; i++) {
		WRITE_ONCE(f->set.mode, mode[i % ARRAY_SIZE(mode)]);
		KUNIT_ASSERT_TRUE(test, stream_goes_on(f, 100));
	}
	stream_check(test);
	KUNIT_EXPECT_GT(test, fake_irq_count(f, NVME_DEFER_INLINE), 0ULL);
	KUNIT_EXPECT_EQ(test, deferred(f) + fake_irq_count(f, NVME_DEFER_INLINE) +
			fake_softirq_count(f, NVME_DEFER_INLINE), stream_pushed());
}

/* Resets: what was pushed is completed, and the queue defers again. */
static void resets_under_pushes(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int i;
	u64 before;

	f->set.lanes = 2;
	f->set.lane_bytes = SZ_16K;
	fake_start(test);
	KUNIT_ASSERT_EQ(test, stream_start(test, FAKE_SOURCES), 0);
	for (i = 0; i < 50; i++) {
		KUNIT_ASSERT_TRUE(test, stream_goes_on(f, 50));
		nvme_defer_stop(f->d);
		KUNIT_ASSERT_TRUE(test, stream_goes_on(f, 10));
		before = deferred(f);
		nvme_defer_start(f->d, false);
		KUNIT_ASSERT_TRUE(test, FAKE_WAIT(deferred(f) > before));
	}
	stream_check(test);
}

/*
 * The workqueue goes and comes, as when the mode is changed. When it has gone
 * nothing is in the lanes, and nothing gets there.
 */
static void teardown_under_pushes(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int i;
	u64 before;

	f->set.lanes = 4;
	f->set.lane_bytes = SZ_16K;
	fake_start(test);
	KUNIT_ASSERT_EQ(test, stream_start(test, FAKE_SOURCES), 0);
	for (i = 0; i < 30; i++) {
		KUNIT_ASSERT_TRUE(test, stream_goes_on(f, 50));
		if (i % 3 == 0)
			nvme_defer_stop(f->d);
		nvme_defer_disallow(f->d);
		synchronize_rcu();
		nvme_defer_flush(f->d);
		expect_empty(test);
		before = deferred(f);
		f->d->wq = NULL;
		destroy_workqueue(f->wq);
		KUNIT_ASSERT_TRUE(test, stream_goes_on(f, 50));
		KUNIT_EXPECT_EQ(test, deferred(f), before);
		expect_empty(test);
		f->wq = alloc_workqueue("nvme-defer-kunit", FAKE_WQ_FLAGS, 0);
		KUNIT_ASSERT_NOT_NULL(test, f->wq);
		KUNIT_ASSERT_EQ(test, nvme_defer_allow(f->d, f->wq), 0);
		if (i % 3 == 0)
			nvme_defer_start(f->d, false);
		KUNIT_ASSERT_TRUE(test, FAKE_WAIT(deferred(f) > before));
	}
	stream_check(test);
}

/*
 * A consumer that is there at once: takes a chunk the moment it is pushed, so
 * that a backlog which comes late shows.
 */
static void flush_under_pushes(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned long end = jiffies + FAKE_LONG;

	f->one_lane = true;
	f->set.chunk_bytes = SZ_4K;
	fake_start(test);
	KUNIT_ASSERT_EQ(test, stream_start(test, 2), 0);
	while (atomic_read(&f->completed) < 20000 && time_before(jiffies, end)) {
		nvme_defer_flush(f->d);
		cond_resched();
	}
	KUNIT_EXPECT_GE(test, atomic_read(&f->completed), 20000);
	stream_check(test);
	/* Some of all that was left to who flushes. */
	KUNIT_EXPECT_GT(test, atomic_read(&f->d->flushes), 0);
}

static struct kunit_case stream_cases[] = {
	KUNIT_CASE(settings_under_pushes),
	KUNIT_CASE(modes_under_pushes),
	KUNIT_CASE(resets_under_pushes),
	KUNIT_CASE(teardown_under_pushes),
	KUNIT_CASE(flush_under_pushes),
	{ }
};

static struct kunit_suite stream_suite = {
	.name = "nvme_defer_stream",
	.init = fake_suite_init,
	.exit = stream_exit,
	.test_cases = stream_cases,
};

kunit_test_suite(stream_suite);
