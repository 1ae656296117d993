// SPDX-License-Identifier: GPL-2.0-only
/*
 * PRP descriptor pools by device, NUMA node or queue; see prp-pools.h.
 */
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/dmapool.h>
#include <linux/nodemask.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "prp-pools.h"

/**
 * nvme_prp_node() - a NUMA node that there is
 * @node: a node, or NUMA_NO_NODE, also where that went through an unsigned type, as
 *	blk_mq_hw_ctx.numa_node is
 *
 * The node may have no memory: the allocator then takes the next one that has.
 *
 * Return: @node, or the first online node where it is none.
 */
int nvme_prp_node(unsigned int node)
{
	return node < nr_node_ids ? node : first_online_node;
}

static struct nvme_prp_group *nvme_prp_device(struct nvme_prp_ctrl *p)
{
	return list_first_entry(&p->groups, struct nvme_prp_group, entry);
}

static struct nvme_prp_group *nvme_prp_find(struct nvme_prp_ctrl *p,
					    enum nvme_prp_choice choice,
					    int node, unsigned int qid)
{
	struct nvme_prp_group *g;

	list_for_each_entry(g, &p->groups, entry) {
		if (g->choice != choice)
			continue;
		if (choice == NVME_PRP_NODE && g->node != node)
			continue;
		if (choice == NVME_PRP_PRIVATE && g->qid != qid)
			continue;
		return g;
	}
	return NULL;
}

/* There is a group for that afterwards, unless there was no memory. */
static bool nvme_prp_make(struct nvme_prp_ctrl *p, enum nvme_prp_choice choice,
			  int node, unsigned int qid)
{
	struct nvme_prp_group *g;

	lockdep_assert_held(&p->lock);
	if (nvme_prp_find(p, choice, node, qid))
		return true;
	g = kzalloc_node(sizeof(*g), GFP_KERNEL, node);
	if (!g)
		return false;
	g->choice = choice;
	g->node = node;
	g->qid = qid;
	if (p->ops->create(p->driver, &g->pair, node)) {
		kfree(g);
		return false;
	}
	list_add_tail(&g->entry, &p->groups);
	return true;
}

static void nvme_prp_free(struct nvme_prp_ctrl *p, struct nvme_prp_group *g)
{
	if (g->shown)
		p->ops->hide(p->driver, g);
	/* The device's pair is the caller's. */
	if (g->choice != NVME_PRP_DEVICE) {
		dma_pool_destroy(g->pair.page);
		dma_pool_destroy(g->pair.small);
	}
	kfree(g);
}

/*
 * The nodes that queues may be of, as blk-mq maps them: those of all possible CPUs, or
 * the device's where a queue has no CPU.
 */
static bool nvme_prp_make_nodes(struct nvme_prp_ctrl *p)
{
	bool made = nvme_prp_make(p, NVME_PRP_NODE,
				  nvme_prp_node(dev_to_node(p->dev)), 0);
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		made &= nvme_prp_make(p, NVME_PRP_NODE,
				      nvme_prp_node(cpu_to_node(cpu)), 0);
	return made;
}

static bool nvme_prp_prepare_queue(struct nvme_prp_ctrl *p, unsigned int qid,
				   bool same_cpus)
{
	struct nvme_prp_queue *q = &p->queue[qid];

	q->choice = p->ops->choice(p->driver, qid);
	switch (q->choice) {
	case NVME_PRP_PRIVATE:
		return nvme_prp_make(p, NVME_PRP_PRIVATE, q->node, qid);
	case NVME_PRP_NODE:
		if (same_cpus && q->group)
			return nvme_prp_make(p, NVME_PRP_NODE, q->node, 0);
		/* Where CPUs are spread anew, its node may change. */
		return nvme_prp_make_nodes(p);
	case NVME_PRP_DEVICE:
		break;
	}
	return true;
}

/**
 * nvme_prp_prepare() - make the pools that the queues are to use
 * @p: the controller; may be NULL
 * @nr: queues that there are now, the admin queue included
 * @keeps_cpus: as long as @nr is what it was, CPUs stay with their queues
 *
 * Takes what the operator wants from here on. Queues without memory for that keep
 * what they have.
 *
 * Context: task context, may sleep. In the reset path: nothing here waits for I/O,
 *	but as elsewhere there, allocations may fail.
 */
void nvme_prp_prepare(struct nvme_prp_ctrl *p, unsigned int nr, bool keeps_cpus)
{
	unsigned int noio, qid, missing = 0;
	bool same_cpus;

	if (!p)
		return;
	noio = memalloc_noio_save();
	mutex_lock(&p->lock);
	nr = min(nr, p->nr_queues);
	/* The first time there are no requests yet, and nothing to apply. */
	p->changing = p->nr_online;
	p->nr_online = nr;
	same_cpus = keeps_cpus && nr == p->nr_mapped;
	for (qid = 1; qid < nr; qid++)
		missing += !nvme_prp_prepare_queue(p, qid, same_cpus);
	mutex_unlock(&p->lock);
	memalloc_noio_restore(noio);
	if (missing)
		dev_warn(p->dev, "no memory for the PRP pools of %u queues: they keep what they have\n",
			 missing);
}

static void nvme_prp_use(struct nvme_prp_ctrl *p, unsigned int qid,
			 struct nvme_prp_group *g)
{
	struct nvme_prp_queue *q = &p->queue[qid];

	if (q->group)
		WRITE_ONCE(q->group->users, q->group->users - 1);
	q->group = g;
	WRITE_ONCE(g->users, g->users + 1);
	p->ops->use(p->driver, qid, &g->pair, g->choice);
}

/* Nothing is sent to this queue any more, until nvme_prp_init_queue(). */
static void nvme_prp_unuse(struct nvme_prp_ctrl *p, unsigned int qid)
{
	struct nvme_prp_group *device = nvme_prp_device(p);
	struct nvme_prp_queue *q = &p->queue[qid];

	if (!q->group)
		return;
	p->ops->use(p->driver, qid, &device->pair, NVME_PRP_DEVICE);
	WRITE_ONCE(q->group->users, q->group->users - 1);
	q->group = NULL;
}

/**
 * nvme_prp_apply() - let queues use the pools that were prepared for them
 * @p: the controller; may be NULL
 * @nr: queues that requests may be sent to from here on, the admin queue included: as
 *	many as blk-mq has, which may be more than were prepared for if it had no memory
 *	to take the others away
 * @idle: no request of any I/O queue is under way, nor will be before this returns
 *
 * Without @idle, all stays as it is until the next reset.
 *
 * Context: task context, no allocation: queues are frozen.
 */
void nvme_prp_apply(struct nvme_prp_ctrl *p, unsigned int nr, bool idle)
{
	struct nvme_prp_group *g;
	struct nvme_prp_queue *q;
	unsigned int qid;

	if (!p)
		return;
	mutex_lock(&p->lock);
	nr = min(nr, p->nr_queues);
	for (qid = 1; idle && qid < nr; qid++) {
		q = &p->queue[qid];
		g = nvme_prp_find(p, q->choice, q->node, qid);
		if (q->group && g && g != q->group)
			nvme_prp_use(p, qid, g);
	}
	for (; idle && qid < p->nr_queues; qid++)
		nvme_prp_unuse(p, qid);
	p->nr_mapped = nr;
	p->changing = false;
	schedule_work(&p->update);
	mutex_unlock(&p->lock);
	if (!idle)
		dev_warn(p->dev, "requests under way: PRP pools stay as they are until the next reset\n");
}

/**
 * nvme_prp_init_queue() - a hardware context of a queue is set up
 * @p: the controller; may be NULL
 * @qid: queue identifier
 * @node: blk_mq_hw_ctx.numa_node
 *
 * Each namespace has a context for the same queue: with the first one, the queue gets
 * its pools; with another, it may have requests under way, and keeps them.
 *
 * Context: task context, no allocation: queues may be frozen.
 */
void nvme_prp_init_queue(struct nvme_prp_ctrl *p, unsigned int qid,
			 unsigned int node)
{
	struct nvme_prp_group *g;
	struct nvme_prp_queue *q;

	if (!p || !qid || qid >= p->nr_queues)
		return;
	mutex_lock(&p->lock);
	q = &p->queue[qid];
	q->node = nvme_prp_node(node);
	if (!q->group) {
		g = nvme_prp_find(p, q->choice, q->node, qid);
		nvme_prp_use(p, qid, g ?: nvme_prp_device(p));
		schedule_work(&p->update);
	}
	mutex_unlock(&p->lock);
}

/* A queue uses the group, or is about to: as soon as it has its first request. */
static bool nvme_prp_wanted(struct nvme_prp_ctrl *p, struct nvme_prp_group *g)
{
	const struct nvme_prp_queue *q;
	unsigned int qid;

	if (g->users || p->changing)
		return true;
	for (qid = 1; qid < p->nr_online; qid++) {
		q = &p->queue[qid];
		if (q->choice != g->choice)
			continue;
		if (g->choice == NVME_PRP_PRIVATE ? g->qid == qid :
		    !q->group || g->node == q->node)
			return true;
	}
	return false;
}

/* The next group to free: out of the list, nobody finds it any more. */
static struct nvme_prp_group *nvme_prp_take_unused(struct nvme_prp_ctrl *p)
{
	struct nvme_prp_group *g, *found = NULL;

	mutex_lock(&p->lock);
	list_for_each_entry(g, &p->groups, entry) {
		if (nvme_prp_wanted(p, g))
			continue;
		list_del(&g->entry);
		found = g;
		break;
	}
	mutex_unlock(&p->lock);
	return found;
}

/* The next group to show. It stays: only the work that asks frees any. */
static struct nvme_prp_group *nvme_prp_next_shown(struct nvme_prp_ctrl *p)
{
	struct nvme_prp_group *g, *found = NULL;

	mutex_lock(&p->lock);
	list_for_each_entry(g, &p->groups, entry) {
		if (!g->users || g->shown)
			continue;
		g->shown = true;
		found = g;
		break;
	}
	mutex_unlock(&p->lock);
	return found;
}

/*
 * After queues have moved. A reset does not wait for this: hiding waits for who looks,
 * showing for memory.
 */
static void nvme_prp_update(struct work_struct *work)
{
	struct nvme_prp_ctrl *p =
		container_of(work, struct nvme_prp_ctrl, update);
	struct nvme_prp_group *g;

	while ((g = nvme_prp_take_unused(p)))
		nvme_prp_free(p, g);
	while ((g = nvme_prp_next_shown(p)))
		p->ops->show(p->driver, g);
}

/**
 * nvme_prp_register() - set up a controller's part
 * @dev: the device that does the DMA
 * @driver: for @ops
 * @ops: what is needed of the driver
 * @nr_queues: most queues that it will ever have, the admin queue included
 * @pair: the device's pair, which the caller owns
 *
 * Context: task context, may sleep.
 * Return: the controller, NULL when out of memory: all queues use @pair then.
 */
struct nvme_prp_ctrl *
nvme_prp_register(struct device *dev, void *driver,
		  const struct nvme_prp_ops *ops, unsigned int nr_queues,
		  const struct nvme_prp_pair *pair)
{
	int node = dev_to_node(dev);
	struct nvme_prp_group *device;
	struct nvme_prp_ctrl *p;
	unsigned int qid;

	p = kzalloc_node(struct_size(p, queue, nr_queues), GFP_KERNEL, node);
	device = kzalloc_node(sizeof(*device), GFP_KERNEL, node);
	if (!p || !device) {
		kfree(device);
		kfree(p);
		return NULL;
	}
	p->dev = dev;
	p->driver = driver;
	p->ops = ops;
	p->nr_queues = nr_queues;
	mutex_init(&p->lock);
	INIT_LIST_HEAD(&p->groups);
	INIT_WORK(&p->update, nvme_prp_update);
	for (qid = 0; qid < nr_queues; qid++)
		p->queue[qid].node = nvme_prp_node(node);

	device->pair = *pair;
	device->choice = NVME_PRP_DEVICE;
	/* Other than @node, which says where the controller is. */
	device->node = NUMA_NO_NODE;
	device->users = 1;
	list_add(&device->entry, &p->groups);
	return p;
}

/**
 * nvme_prp_unregister() - undo nvme_prp_register()
 * @p: the controller; may be NULL
 *
 * No I/O queue is left, nor does any come.
 *
 * Context: task context, may sleep. The caller holds no lock that ops->hide takes.
 */
void nvme_prp_unregister(struct nvme_prp_ctrl *p)
{
	struct nvme_prp_group *g, *tmp;

	if (!p)
		return;
	cancel_work_sync(&p->update);
	list_for_each_entry_safe(g, tmp, &p->groups, entry)
		nvme_prp_free(p, g);
	kfree(p);
}
