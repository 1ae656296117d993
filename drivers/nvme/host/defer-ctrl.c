// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion of NVMe requests outside of interrupt context: which queues may
 * defer, and their workqueues.
 *
 * A workqueue that memory reclaim may wait for (WQ_MEM_RECLAIM) costs a rescuer
 * thread, so there is none as long as a queue cannot defer: where the mode says
 * no, where it is auto and nothing bounces, for polled queues, for interrupts
 * handled in threads. Workqueues come and go in one work item a controller,
 * nvme_defer_update(), and nowhere else:
 *
 * - The reset path must not allocate them. Making one waits for CPU hotplug on
 *   some kernels, and CPU hotplug waits for requests that wait for the reset.
 * - Whoever changes a setting does not wait for I/O.
 *
 * The per-queue structures outlive the queues: made when a queue first appears,
 * freed when the controller goes. So nothing that the work item looks at goes
 * away under it, and a reset needs no lock that it holds.
 */
#include <linux/device.h>
#include <linux/interrupt.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/swiotlb.h>

#include "defer.h"
#include "tune-pools.h"

/* Above this many queues, NVME_DEFER_WQ_AUTO means one workqueue for all. */
#define NVME_DEFER_WQ_MANY	16

/*
 * HIGHPRI: requests waiting here are done but for the copy. MEM_RECLAIM: swap
 * may wait for them. Not FREEZABLE: suspend waits for them.
 */
#define NVME_DEFER_WQ_FLAGS	(WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM | \
				 WQ_SYSFS)

static bool nvme_defer_mode_may(const struct nvme_defer *d)
{
	switch (READ_ONCE(d->set->mode)) {
	case NVME_DEFER_ON:
		return true;
	case NVME_DEFER_AUTO:
		return d->ctrl->bounces;
	default:
		return false;
	}
}

static bool nvme_defer_queue_may(struct nvme_defer *d)
{
	unsigned long flags;
	bool may;

	if (d->ctrl->threaded || !nvme_defer_mode_may(d))
		return false;
	spin_lock_irqsave(&d->lock, flags);
	may = d->in_use && !d->polled && !d->threaded;
	spin_unlock_irqrestore(&d->lock, flags);
	return may;
}

static bool nvme_defer_ctrl_shares_wq(struct nvme_defer_ctrl *c)
{
	switch (nvme_tune_workqueue(c)) {
	case NVME_DEFER_WQ_QUEUE:
		return false;
	case NVME_DEFER_WQ_CTRL:
		return true;
	default:
		/* Not the admin queue. */
		return c->nr_queues - 1 > NVME_DEFER_WQ_MANY;
	}
}

/*
 * Names are at most 24 characters on some kernels. They are part of the
 * interface: /sys/bus/workqueue/devices/<name>/.
 */
static struct workqueue_struct *nvme_defer_get_wq(struct nvme_defer *d)
{
	struct nvme_defer_ctrl *c = d->ctrl;

	if (!nvme_defer_ctrl_shares_wq(c))
		return alloc_workqueue("nvme%dq%u-defer", NVME_DEFER_WQ_FLAGS,
				       0, c->instance, d->qid);
	if (!c->wq)
		c->wq = alloc_workqueue("nvme%d-defer", NVME_DEFER_WQ_FLAGS, 0,
					c->instance);
	return c->wq;
}

static void nvme_defer_put_wq(struct nvme_defer *d)
{
	struct workqueue_struct *wq = d->wq;

	/* See nvme_defer_disallow(): the grace period is over. */
	nvme_defer_flush(d);
	d->wq = NULL;
	if (wq && wq != d->ctrl->wq)
		destroy_workqueue(wq);
}

static void nvme_defer_get_queue(struct nvme_defer *d)
{
	struct workqueue_struct *wq = nvme_defer_get_wq(d);

	if (!wq || nvme_defer_allow(d, wq)) {
		dev_warn_once(d->ctrl->dev,
			      "no memory for a workqueue: completing in interrupts\n");
		if (wq && wq != d->ctrl->wq)
			destroy_workqueue(wq);
	}
}

/* Take the workqueues of all queues that no longer may defer, or of all. */
static void nvme_defer_put_queues(struct nvme_defer_ctrl *c, bool all)
{
	bool shared = false, any = false;
	struct nvme_defer *d;
	unsigned int qid;

	for (qid = 0; qid < c->nr_queues; qid++) {
		d = c->queue[qid];
		if (!d || !d->wq)
			continue;
		if (all || !nvme_defer_queue_may(d)) {
			nvme_defer_disallow(d);
			any = true;
		} else if (d->wq == c->wq) {
			shared = true;
		}
	}
	if (any) {
		/* Wait for interrupts and softirqs that saw a queue armed. */
		synchronize_rcu();
		for (qid = 0; qid < c->nr_queues; qid++) {
			d = c->queue[qid];
			if (d && d->wq && !d->allowed)
				nvme_defer_put_wq(d);
		}
	}
	if (c->wq && !shared) {
		destroy_workqueue(c->wq);
		c->wq = NULL;
	}
}

/*
 * Bring the workqueues of a controller in line with the mode and with the state
 * of its queues. The only place that makes or destroys them while the
 * controller lives; a work item does not run twice at once.
 */
static void nvme_defer_update(struct work_struct *work)
{
	struct nvme_defer_ctrl *c =
		container_of(work, struct nvme_defer_ctrl, update);
	struct nvme_defer *d;
	unsigned int qid;

	nvme_defer_put_queues(c, false);
	for (qid = 0; qid < c->nr_queues; qid++) {
		/* Pairs with smp_store_release() in nvme_defer_queue(). */
		d = smp_load_acquire(&c->queue[qid]);
		if (!d)
			continue;
		if (!d->wq && nvme_defer_queue_may(d))
			nvme_defer_get_queue(d);
		nvme_tune_update_queue(d);
	}
}

/**
 * nvme_defer_update_queue() - a queue's state has changed
 * @d: the queue
 *
 * Context: any.
 */
void nvme_defer_update_queue(struct nvme_defer *d)
{
	if (d->ctrl)
		schedule_work(&d->ctrl->update);
}

/**
 * nvme_defer_queue() - get a queue's part of the engine
 * @c: the controller, NULL if it has no engine
 * @qid: queue identifier
 *
 * Makes it when the queue appears for the first time. The admin queue has
 * none: its interrupt is not freed where the I/O queues' are.
 *
 * Context: task context, may sleep. Called in the reset path: no I/O.
 * Return: never NULL; nvme_defer_none if there is no engine for this queue.
 */
struct nvme_defer *nvme_defer_queue(struct nvme_defer_ctrl *c, unsigned int qid)
{
	struct nvme_defer *d;

	if (!c || !qid || WARN_ON_ONCE(qid >= c->nr_queues))
		return &nvme_defer_none;
	if (c->queue[qid])
		return c->queue[qid];

	d = kzalloc_node(sizeof(*d), GFP_NOIO, dev_to_node(c->dev));
	if (!d)
		return &nvme_defer_none;
	nvme_defer_init(d, &d->in_force, c->ops, NULL);
	d->ctrl = c;
	d->qid = qid;
	/* Until it gets other ones, with the first namespace. */
	nvme_tune_set_pool(d, NVME_PRP_DEVICE);
	nvme_tune_add_queue(d);
	/* Pairs with smp_load_acquire() in nvme_defer_update(). */
	smp_store_release(&c->queue[qid], d);
	return d;
}

/**
 * nvme_defer_release() - a queue is being freed
 * @d: the queue
 *
 * All of its requests are done by now, or the caller is about to see to it. Its
 * workqueue goes a little later.
 *
 * Context: task context, may sleep.
 */
void nvme_defer_release(struct nvme_defer *d)
{
	unsigned long flags;

	if (d == &nvme_defer_none)
		return;
	nvme_defer_stop(d);
	spin_lock_irqsave(&d->lock, flags);
	d->in_use = false;
	spin_unlock_irqrestore(&d->lock, flags);
	nvme_defer_update_queue(d);
}

/**
 * nvme_defer_register() - set up a controller's part of the engine
 * @dev: the device that does the DMA
 * @instance: N of nvmeN
 * @nr_queues: most queues that it will ever have, the admin queue included
 * @threaded: all its interrupts are handled in threads
 * @ops: how to complete
 *
 * Context: task context, may sleep.
 * Return: the controller, NULL when out of memory: nothing is deferred then.
 */
struct nvme_defer_ctrl *
nvme_defer_register(struct device *dev, int instance, unsigned int nr_queues,
		    bool threaded, const struct nvme_defer_ops *ops)
{
	struct nvme_defer_ctrl *c;

	c = kzalloc_node(struct_size(c, queue, nr_queues), GFP_KERNEL,
			 dev_to_node(dev));
	if (!c)
		return NULL;
	c->dev = dev;
	c->instance = instance;
	c->nr_queues = nr_queues;
	c->threaded = threaded;
	c->ops = ops;
	c->bounces = is_swiotlb_force_bounce(dev);
	INIT_WORK(&c->update, nvme_defer_update);
	nvme_tune_add_ctrl(c);
	return c;
}

/**
 * nvme_defer_unregister() - undo nvme_defer_register()
 * @c: the controller; may be NULL
 *
 * All queues were released: no interrupt is left, and the tag sets are empty or
 * about to be torn down, which waits for the last softirq.
 *
 * Context: task context, may sleep.
 */
void nvme_defer_unregister(struct nvme_defer_ctrl *c)
{
	unsigned int qid;

	if (!c)
		return;
	nvme_tune_remove_ctrl(c);
	nvme_defer_put_queues(c, true);
	for (qid = 0; qid < c->nr_queues; qid++) {
		if (!c->queue[qid])
			continue;
		nvme_defer_exit(c->queue[qid]);
		kfree(c->queue[qid]);
	}
	kfree(c);
}
