// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of deferred completion: which queues of a controller get which
 * workqueue, and when these go. The controller is as the driver makes it, on a
 * device without hardware. The settings are those of the driver and are put
 * back in the end.
 */
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/string.h>
#include <linux/swiotlb.h>

#include "defer_fake.h"

/* Beyond any real controller's. */
#define CTRL_INSTANCE	9000
/* The most queues that get a workqueue each, and the admin queue. */
#define CTRL_MANY	17

static struct nvme_defer_settings ctrl_saved;
static struct nvme_defer_ctrl *ctrl;
static struct device *ctrl_dev;

static int ctrl_init(struct kunit *test)
{
	ctrl_saved = nvme_defer_settings;
	ctrl = NULL;
	ctrl_dev = root_device_register("nvme-defer-kunit");
	if (IS_ERR(ctrl_dev)) {
		int ret = PTR_ERR(ctrl_dev);

		ctrl_dev = NULL;
		return ret;
	}
#ifdef CONFIG_SWIOTLB
	/* Whatever the kernel's command line says. */
	ctrl_dev->dma_io_tlb_mem = NULL;
#endif
	fake_alloc(test);
	return 0;
}

static void ctrl_mode(enum nvme_defer_mode mode)
{
	WRITE_ONCE(nvme_defer_settings.mode, mode);
	nvme_defer_update_all();
}

static void ctrl_exit(struct kunit *test)
{
	struct fake *f = test->priv;

	/* What a test that failed has left behind holds up all the rest. */
	if (f)
		complete_all(&f->release);
	nvme_defer_unregister(ctrl);
	ctrl = NULL;
	nvme_defer_settings = ctrl_saved;
	nvme_defer_update_all();
	fake_suite_exit(test);
	if (ctrl_dev)
		root_device_unregister(ctrl_dev);
	ctrl_dev = NULL;
}

/* What the driver does in probe and for each queue that it creates. */
static void ctrl_register(struct kunit *test, unsigned int nr_queues, bool threaded)
{
	struct fake *f = test->priv;
	unsigned int qid;

	ctrl = nvme_defer_register(ctrl_dev, CTRL_INSTANCE, nr_queues, threaded,
				   &fake_ops);
	KUNIT_ASSERT_NOT_NULL(test, ctrl);
	for (qid = 1; qid < nr_queues; qid++) {
		struct nvme_defer *d = nvme_defer_queue(ctrl, qid);

		KUNIT_ASSERT_PTR_NE(test, d, &nvme_defer_none);
		nvme_defer_start(d, false);
	}
	f->d = ctrl->queue[1];
}

/* Wait for the work item that any change has scheduled. */
static void ctrl_settle(void)
{
	flush_work(&ctrl->update);
}

static void expect_queue(struct kunit *test, unsigned int qid, bool defers)
{
	struct nvme_defer *d = ctrl->queue[qid];

	ctrl_settle();
	KUNIT_EXPECT_EQ_MSG(test, !!READ_ONCE(d->wq), defers, "queue %u", qid);
	KUNIT_EXPECT_EQ_MSG(test, nvme_defer_armed(d), defers, "queue %u", qid);
}

/* Mode */

static void auto_without_bounce(struct kunit *test)
{
	nvme_defer_settings.mode = NVME_DEFER_AUTO;
	ctrl_register(test, 3, false);
	KUNIT_EXPECT_FALSE(test, ctrl->bounces);
	expect_queue(test, 1, false);
	expect_queue(test, 2, false);
}

static void auto_with_bounce(struct kunit *test)
{
#ifdef CONFIG_SWIOTLB
	struct io_tlb_mem *mem = kunit_kzalloc(test, sizeof(*mem), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mem);
	mem->force_bounce = true;
	ctrl_dev->dma_io_tlb_mem = mem;
	nvme_defer_settings.mode = NVME_DEFER_AUTO;
	ctrl_register(test, 3, false);
	KUNIT_EXPECT_TRUE(test, ctrl->bounces);
	expect_queue(test, 1, true);
	expect_queue(test, 2, true);
	ctrl_mode(NVME_DEFER_OFF);
	expect_queue(test, 1, false);
	expect_queue(test, 2, false);
#else
	kunit_skip(test, "no SWIOTLB");
#endif
}

static void on_and_off(struct kunit *test)
{
	unsigned int i;

	nvme_defer_settings.mode = NVME_DEFER_OFF;
	ctrl_register(test, 3, false);
	for (i = 0; i < 3; i++) {
		expect_queue(test, 1, false);
		expect_queue(test, 2, false);
		ctrl_mode(NVME_DEFER_ON);
		expect_queue(test, 1, true);
		expect_queue(test, 2, true);
		ctrl_mode(i ? NVME_DEFER_OFF : NVME_DEFER_AUTO);
	}
	expect_queue(test, 1, false);
}

/* Queues */

static void no_engine(struct kunit *test)
{
	struct nvme_defer *d;

	nvme_defer_settings.mode = NVME_DEFER_ON;
	ctrl_register(test, 2, false);
	KUNIT_EXPECT_PTR_EQ(test, nvme_defer_queue(NULL, 1), &nvme_defer_none);
	KUNIT_EXPECT_PTR_EQ(test, nvme_defer_queue(ctrl, 0), &nvme_defer_none);
	/* A queue that a reset creates again is the same. */
	d = nvme_defer_queue(ctrl, 1);
	KUNIT_EXPECT_PTR_EQ(test, d, ctrl->queue[1]);
	KUNIT_EXPECT_EQ(test, d->qid, 1U);
	nvme_defer_release(&nvme_defer_none);
	ctrl_settle();
	KUNIT_EXPECT_FALSE(test, nvme_defer_armed(&nvme_defer_none));
}

static void polled_never(struct kunit *test)
{
	nvme_defer_settings.mode = NVME_DEFER_ON;
	ctrl_register(test, 3, false);
	/* A reset makes another kind of queue of it, and back. */
	nvme_defer_stop(ctrl->queue[2]);
	nvme_defer_start(ctrl->queue[2], true);
	expect_queue(test, 2, false);
	expect_queue(test, 1, true);
	nvme_defer_stop(ctrl->queue[2]);
	nvme_defer_start(ctrl->queue[2], false);
	expect_queue(test, 2, true);
}

static void threaded_never(struct kunit *test)
{
	nvme_defer_settings.mode = NVME_DEFER_ON;
	ctrl_register(test, 3, true);
	expect_queue(test, 1, false);
	expect_queue(test, 2, false);
}

/* That an interrupt is handled in a thread shows when there is one. */
static void threaded_found(struct kunit *test)
{
	struct fake *f = test->priv;

	nvme_defer_settings.mode = NVME_DEFER_ON;
	ctrl_register(test, 3, false);
	expect_queue(test, 1, true);
	fake_requests(test, 1, SZ_4K);
	fake_push(f, &f->rqs[0]);
	KUNIT_EXPECT_EQ(test, f->rqs[0].times, 1U);
	expect_queue(test, 1, false);
	expect_queue(test, 2, true);
}

/* A reset takes nothing away, and defers again without waiting for anything. */
static void reset_keeps_workqueue(struct kunit *test)
{
	struct workqueue_struct *wq;
	struct nvme_defer *d;

	nvme_defer_settings.mode = NVME_DEFER_ON;
	ctrl_register(test, 2, false);
	expect_queue(test, 1, true);
	d = ctrl->queue[1];
	wq = d->wq;
	nvme_defer_stop(d);
	ctrl_settle();
	KUNIT_EXPECT_FALSE(test, nvme_defer_armed(d));
	KUNIT_EXPECT_PTR_EQ(test, d->wq, wq);
	nvme_defer_start(d, false);
	KUNIT_EXPECT_TRUE(test, nvme_defer_armed(d));
	KUNIT_EXPECT_PTR_EQ(test, d->wq, wq);
}

static void released_goes(struct kunit *test)
{
	nvme_defer_settings.mode = NVME_DEFER_ON;
	ctrl_register(test, 4, false);
	expect_queue(test, 2, true);
	nvme_defer_release(ctrl->queue[2]);
	KUNIT_EXPECT_FALSE(test, nvme_defer_armed(ctrl->queue[2]));
	expect_queue(test, 2, false);
	expect_queue(test, 1, true);
	expect_queue(test, 3, true);
	/* A later reset brings it back. */
	nvme_defer_start(nvme_defer_queue(ctrl, 2), false);
	expect_queue(test, 2, true);
}

/* How many workqueues */

static void expect_shared(struct kunit *test, bool shared)
{
	unsigned int qid;

	ctrl_settle();
	KUNIT_EXPECT_EQ(test, !!ctrl->wq, shared);
	for (qid = 1; qid < ctrl->nr_queues; qid++) {
		struct workqueue_struct *wq = ctrl->queue[qid]->wq;

		KUNIT_EXPECT_NOT_NULL(test, wq);
		KUNIT_EXPECT_EQ_MSG(test, wq == ctrl->wq, shared, "queue %u", qid);
		if (qid > 1)
			KUNIT_EXPECT_EQ_MSG(test, wq == ctrl->queue[qid - 1]->wq,
					    shared, "queue %u", qid);
	}
}

static void workqueue_few_queues(struct kunit *test)
{
	nvme_defer_settings.mode = NVME_DEFER_ON;
	nvme_defer_settings.workqueue = NVME_DEFER_WQ_AUTO;
	ctrl_register(test, CTRL_MANY, false);
	expect_shared(test, false);
}

static void workqueue_many_queues(struct kunit *test)
{
	nvme_defer_settings.mode = NVME_DEFER_ON;
	nvme_defer_settings.workqueue = NVME_DEFER_WQ_AUTO;
	ctrl_register(test, CTRL_MANY + 1, false);
	expect_shared(test, true);
}

static void workqueue_as_set(struct kunit *test)
{
	nvme_defer_settings.mode = NVME_DEFER_ON;
	nvme_defer_settings.workqueue = NVME_DEFER_WQ_CTRL;
	ctrl_register(test, 3, false);
	expect_shared(test, true);
	/* For workqueues made from then on. */
	nvme_defer_settings.workqueue = NVME_DEFER_WQ_QUEUE;
	nvme_defer_update_all();
	expect_shared(test, true);
	ctrl_mode(NVME_DEFER_OFF);
	ctrl_settle();
	KUNIT_EXPECT_NULL(test, ctrl->wq);
	ctrl_mode(NVME_DEFER_ON);
	expect_shared(test, false);
}

/* The shared workqueue is there as long as one queue uses it. */
static void workqueue_last_user(struct kunit *test)
{
	nvme_defer_settings.mode = NVME_DEFER_ON;
	nvme_defer_settings.workqueue = NVME_DEFER_WQ_CTRL;
	ctrl_register(test, 3, false);
	expect_shared(test, true);
	nvme_defer_release(ctrl->queue[1]);
	expect_queue(test, 1, false);
	expect_queue(test, 2, true);
	KUNIT_EXPECT_NOT_NULL(test, ctrl->wq);
	KUNIT_EXPECT_PTR_EQ(test, ctrl->queue[2]->wq, ctrl->wq);
	nvme_defer_release(ctrl->queue[2]);
	expect_queue(test, 2, false);
	KUNIT_EXPECT_NULL(test, ctrl->wq);
}

/* A worker is not bound to a CPU and goes before others. */
static void workqueue_flags(struct kunit *test)
{
	struct fake *f = test->priv;

	nvme_defer_settings.mode = NVME_DEFER_ON;
	ctrl_register(test, 2, false);
	expect_queue(test, 1, true);
	fake_requests(test, 1, SZ_4K);
	f->rqs[0].hold = true;
	fake_irq(f, 0, 1);
	KUNIT_ASSERT_TRUE(test, fake_wait_held(f));
	KUNIT_EXPECT_EQ(test, task_nice(f->rqs[0].by), MIN_NICE);
	KUNIT_EXPECT_EQ(test, strncmp(f->rqs[0].by->comm, "kworker/u", 9), 0);
	complete(&f->release);
	fake_check_done(test);
}

static void flush_work_job(struct fake *f)
{
	flush_work(&f->d->lane[0].work);
}

/*
 * A reset flushes in a workqueue that memory reclaim may wait for. The kernel
 * warns when it really comes to wait for one that reclaim may not wait for.
 */
static void flush_from_reclaim(struct kunit *test)
{
	struct fake *f = test->priv;
	int tainted = test_taint(TAINT_WARN);

	expect_queue(test, 1, true);
	fake_requests(test, 2, SZ_4K);
	f->rqs[0].hold = true;
	fake_irq(f, 0, 1);
	KUNIT_ASSERT_TRUE(test, fake_wait_held(f));
	KUNIT_EXPECT_TRUE(test, fake_job_start(f, flush_work_job));
	KUNIT_EXPECT_TRUE(test, fake_job_waits(f));
	complete(&f->release);
	KUNIT_EXPECT_TRUE(test, fake_job_done(f));
	KUNIT_EXPECT_EQ(test, test_taint(TAINT_WARN), tainted);
	fake_irq(f, 1, 1);
	fake_check_done(test);
}

static void reclaim_flushes_queue(struct kunit *test)
{
	nvme_defer_settings.mode = NVME_DEFER_ON;
	nvme_defer_settings.workqueue = NVME_DEFER_WQ_QUEUE;
	ctrl_register(test, 2, false);
	flush_from_reclaim(test);
}

static void reclaim_flushes_ctrl(struct kunit *test)
{
	nvme_defer_settings.mode = NVME_DEFER_ON;
	nvme_defer_settings.workqueue = NVME_DEFER_WQ_CTRL;
	ctrl_register(test, 2, false);
	flush_from_reclaim(test);
}

/* With something to do */

/* Off waits for what is in the lanes; who sets it does not. */
static void off_while_held(struct kunit *test)
{
	struct fake *f = test->priv;

	nvme_defer_settings.mode = NVME_DEFER_ON;
	nvme_defer_settings.lanes = 2;
	ctrl_register(test, 3, false);
	expect_queue(test, 1, true);
	fake_requests(test, 40, SZ_64K);
	f->rqs[0].hold = true;
	fake_irq(f, 0, 20);
	KUNIT_ASSERT_TRUE(test, fake_wait_held(f));
	fake_irq(f, 20, 10);
	ctrl_mode(NVME_DEFER_OFF);
	KUNIT_EXPECT_TRUE(test, FAKE_WAIT(!nvme_defer_armed(f->d)));
	KUNIT_EXPECT_NOT_NULL(test, READ_ONCE(f->d->wq));
	fake_irq(f, 30, 10);
	fake_check_ctx(test, 39, 1, FAKE_HARDIRQ);
	complete(&f->release);
	expect_queue(test, 1, false);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->completed), 40);
	fake_check_done(test);
}

/* An interrupt on another CPU that takes its time. */
struct late_irq {
	struct irq_work work;
	struct fake *fake;
	struct completion armed;	/* it saw the queue so */
	struct completion go_on;
	bool pushed;
};

static void late_irq_fn(struct irq_work *work)
{
	struct late_irq *late = container_of(work, struct late_irq, work);
	struct fake *f = late->fake;
	struct fake_rq *r = &f->rqs[0];
	u64 end = local_clock() + NSEC_PER_SEC;

	atomic_inc(&r->in_flight);
	if (!nvme_defer_armed(f->d) || !nvme_defer_in_handler(f->d))
		return;
	nvme_defer_gather(f->d, &r->rq);
	complete(&late->armed);
	while (!completion_done(&late->go_on) && local_clock() < end)
		cpu_relax();
	late->pushed = true;
	nvme_defer_irq(f->d);
}

/*
 * The workqueue stays until interrupts are over that saw the queue armed. Where
 * it does not, nothing would show but that it goes too early: hence a limit of
 * time, in which a work item that does not wait has long been done.
 */
static void off_under_interrupt(struct kunit *test)
{
	struct fake *f = test->priv;
	struct late_irq *late = kunit_kzalloc(test, sizeof(*late), GFP_KERNEL);
	unsigned long end;
	unsigned int cpu;

	KUNIT_ASSERT_NOT_NULL(test, late);
	fake_pin();
	cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	if (cpu >= nr_cpu_ids)
		kunit_skip(test, "takes two CPUs");
	nvme_defer_settings.mode = NVME_DEFER_ON;
	ctrl_register(test, 2, false);
	expect_queue(test, 1, true);
	fake_requests(test, 1, SZ_4K);
	init_completion(&late->armed);
	init_completion(&late->go_on);
	late->work = IRQ_WORK_INIT_HARD(late_irq_fn);
	late->fake = f;
	irq_work_queue_on(&late->work, cpu);
	KUNIT_EXPECT_TRUE(test, wait_for_completion_timeout(&late->armed, FAKE_LONG));
	ctrl_mode(NVME_DEFER_OFF);
	KUNIT_EXPECT_TRUE(test, FAKE_WAIT(!nvme_defer_armed(f->d)));
	for (end = jiffies + HZ / 10; time_before(jiffies, end); cond_resched())
		if (!READ_ONCE(f->d->wq))
			break;
	KUNIT_EXPECT_NOT_NULL(test, READ_ONCE(f->d->wq));
	complete(&late->go_on);
	irq_work_sync(&late->work);
	KUNIT_EXPECT_TRUE(test, late->pushed);
	expect_queue(test, 1, false);
	fake_check_done(test);
}

static void unregister_job(struct fake *f)
{
	nvme_defer_unregister(ctrl);
}

/* Whatever is pending is completed before the memory goes. */
static void unregister_pending(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int i;

	nvme_defer_settings.mode = NVME_DEFER_ON;
	nvme_defer_settings.lanes = 8;
	nvme_defer_settings.chunk_bytes = SZ_64K;
	nvme_defer_settings.lane_bytes = SZ_64K;
	ctrl_register(test, 3, false);
	expect_queue(test, 1, true);
	fake_requests(test, 64, SZ_16K);
	f->rqs[0].hold = true;
	fake_irq(f, 0, 32);
	KUNIT_ASSERT_TRUE(test, fake_wait_held(f));
	fake_irq(f, 32, 32);
	KUNIT_EXPECT_TRUE(test, fake_job_start(f, unregister_job));
	KUNIT_EXPECT_TRUE(test, fake_job_waits(f));
	complete(&f->release);
	KUNIT_EXPECT_TRUE(test, fake_job_done(f));
	ctrl = NULL;
	KUNIT_EXPECT_EQ(test, atomic_read(&f->completed), 64);
	for (i = 0; i < f->nr; i++)
		KUNIT_EXPECT_EQ_MSG(test, f->rqs[i].times, 1U, "request %u", i);
	fake_check(test);
}

/* Never started, or no workqueue yet: nothing to wait for. */
static void unregister_unused(struct kunit *test)
{
	nvme_defer_settings.mode = NVME_DEFER_ON;
	ctrl = nvme_defer_register(ctrl_dev, CTRL_INSTANCE, 4, false, &fake_ops);
	KUNIT_ASSERT_NOT_NULL(test, ctrl);
	nvme_defer_queue(ctrl, 2);
	nvme_defer_start(nvme_defer_queue(ctrl, 3), false);
	nvme_defer_unregister(ctrl);
	ctrl = NULL;
	nvme_defer_unregister(NULL);
}

/* The same controller as often as one likes, as hot plug does. */
static void register_again(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int i;

	nvme_defer_settings.mode = NVME_DEFER_ON;
	fake_requests(test, 20, SZ_4K);
	for (i = 0; i < 10; i++) {
		ctrl_register(test, 3, false);
		if (i % 2)
			expect_queue(test, 1, true);
		fake_irq(f, 2 * i, 2);
		nvme_defer_release(ctrl->queue[1]);
		nvme_defer_release(ctrl->queue[2]);
		KUNIT_EXPECT_EQ(test, atomic_read(&f->completed), (int)(2 * i + 2));
		nvme_defer_unregister(ctrl);
		ctrl = NULL;
	}
	fake_check(test);
}

static unsigned int parallel_lacks;	/* an object */
static struct device *parallel_dev;

/* Controllers are probed and removed on several CPUs at once. */
static void parallel_job(struct fake *f)
{
	struct nvme_defer_ctrl *c;
	unsigned int i;

	for (i = 0; i < 300; i++) {
		c = nvme_defer_register(parallel_dev, CTRL_INSTANCE + 1, 2,
					false, &fake_ops);
		if (!c)
			continue;
		if (!c->level.obj)
			parallel_lacks++;
		nvme_defer_unregister(c);
	}
}

static void register_in_parallel(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int i, lacks = 0;

	parallel_lacks = 0;
	parallel_dev = root_device_register("nvme-defer-kunit-2");
	KUNIT_ASSERT_FALSE(test, IS_ERR(parallel_dev));
	KUNIT_EXPECT_TRUE(test, fake_job_start(f, parallel_job));
	for (i = 0; i < 300; i++) {
		ctrl = nvme_defer_register(ctrl_dev, CTRL_INSTANCE, 2, false,
					   &fake_ops);
		if (!ctrl || !ctrl->level.obj)
			lacks++;
		nvme_defer_unregister(ctrl);
		ctrl = NULL;
	}
	KUNIT_EXPECT_TRUE(test, fake_job_done(f));
	KUNIT_EXPECT_EQ(test, lacks + parallel_lacks, 0U);
	root_device_unregister(parallel_dev);
}

static struct kunit_case ctrl_cases[] = {
	KUNIT_CASE(auto_without_bounce),
	KUNIT_CASE(auto_with_bounce),
	KUNIT_CASE(on_and_off),
	KUNIT_CASE(no_engine),
	KUNIT_CASE(polled_never),
	KUNIT_CASE(threaded_never),
	KUNIT_CASE(threaded_found),
	KUNIT_CASE(reset_keeps_workqueue),
	KUNIT_CASE(released_goes),
	KUNIT_CASE(workqueue_few_queues),
	KUNIT_CASE(workqueue_many_queues),
	KUNIT_CASE(workqueue_as_set),
	KUNIT_CASE(workqueue_last_user),
	KUNIT_CASE(workqueue_flags),
	KUNIT_CASE(reclaim_flushes_queue),
	KUNIT_CASE(reclaim_flushes_ctrl),
	KUNIT_CASE(off_while_held),
	KUNIT_CASE(off_under_interrupt),
	KUNIT_CASE(unregister_pending),
	KUNIT_CASE(unregister_unused),
	KUNIT_CASE(register_again),
	KUNIT_CASE(register_in_parallel),
	{ }
};

static struct kunit_suite ctrl_suite = {
	.name = "nvme_defer_ctrl",
	.init = ctrl_init,
	.exit = ctrl_exit,
	.test_cases = ctrl_cases,
};

kunit_test_suite(ctrl_suite);
