/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ties prp-pools.c to pci.c. Included by pci.c alone, once, where the driver's
 * structures are defined, as they are private to it.
 *
 * Teardown: nvme_release_prp_pools() comes after the namespaces and all queues are
 * gone, in nvme_remove() and in the error path of nvme_probe(), and before the
 * controller's object goes (nvme_pci_defer_unregister()). A reset that fails half-way
 * leaves prepared pairs behind, which go there or with the next reset that works.
 */
#ifndef _NVME_PCI_POOLS_H
#define _NVME_PCI_POOLS_H

#include "tune-pools.h"

/* Makes a pair: the driver's, with its sizes and quirks. */
static int nvme_setup_prp_pools(struct nvme_dev *dev, struct nvme_prp_pair *pair,
				int node);

/* Where a request's descriptors come from and go to: the same all its life. */
static inline const struct nvme_prp_pair *nvme_pci_pools_of(struct request *req)
{
	struct nvme_queue *nvmeq = req->mq_hctx->driver_data;

	return &nvmeq->prp;
}

#ifdef CONFIG_NVME_PRP_POOLS

static int nvme_pci_pools_create(void *driver, struct nvme_prp_pair *pair,
				 int node)
{
	return nvme_setup_prp_pools(driver, pair, node);
}

static u32 nvme_pci_pools_choice(void *driver, unsigned int qid)
{
	struct nvme_dev *dev = driver;

	return nvme_tune_pool(dev->queues[qid].defer);
}

static void nvme_pci_pools_use(void *driver, unsigned int qid,
			       const struct nvme_prp_pair *pair,
			       enum nvme_prp_choice choice)
{
	struct nvme_dev *dev = driver;

	dev->queues[qid].prp = *pair;
	nvme_tune_set_pool(dev->queues[qid].defer, choice);
}

static void nvme_pci_pools_show(void *driver, struct nvme_prp_group *group)
{
	struct nvme_dev *dev = driver;

	nvme_tune_add_pool(dev->defer, group);
}

static void nvme_pci_pools_hide(void *driver, struct nvme_prp_group *group)
{
	struct nvme_dev *dev = driver;

	nvme_tune_remove_pool(dev->defer, group);
}

static const struct nvme_prp_ops nvme_pci_pools_ops = {
	.create	= nvme_pci_pools_create,
	.choice	= nvme_pci_pools_choice,
	.use	= nvme_pci_pools_use,
	.show	= nvme_pci_pools_show,
	.hide	= nvme_pci_pools_hide,
};

static void nvme_pci_pools_register(struct nvme_dev *dev)
{
	dev->prp = nvme_prp_register(dev->dev, dev, &nvme_pci_pools_ops,
				     dev->nr_allocated_queues, &dev->prp_device);
	if (!dev->prp)
		dev_warn(dev->dev, "no memory for PRP pools by node: all queues share the device's\n");
}

static void nvme_pci_pools_unregister(struct nvme_dev *dev)
{
	nvme_prp_unregister(dev->prp);
	dev->prp = NULL;
	nvme_tune_remove_pools(dev->defer);
}

/*
 * nvme_setup_io_queues(), when it is known how many there are. With several maps,
 * blk-mq spreads CPUs anew in each reset: the kinds of queues may have changed.
 */
static void nvme_pci_pools_prepare(struct nvme_dev *dev)
{
	nvme_prp_prepare(dev->prp, dev->online_queues, dev->tagset.nr_maps == 1);
}

/*
 * nvme_reset_work(), before nvme_unfreeze(): the namespaces are frozen and drained.
 * That is not all that may send requests: one that is just being scanned is not in the
 * controller's list yet, but may already ask the drive for its zones, and before 6.5
 * it may join the list here. All queues are in the tag set, though. Where one of them
 * is not drained, nothing changes: its request may be one that the drive has lost, and
 * to wait for that here, under tag_list_lock, would hold up all that take this lock.
 *
 * How many queues there are is what blk-mq says: where it has no memory to go from more
 * to fewer, it keeps the old ones and their contexts, and tells nobody.
 */
static void nvme_pci_pools_apply(struct nvme_dev *dev)
{
	struct blk_mq_tag_set *set = &dev->tagset;
	struct request_queue *q;
	bool idle = true;

	if (!dev->prp || !dev->ctrl.tagset)
		return;
	mutex_lock(&set->tag_list_lock);
	list_for_each_entry(q, &set->tag_list, tag_set_list) {
		blk_freeze_queue_start(q);
		idle &= percpu_ref_is_zero(&q->q_usage_counter);
	}
	nvme_prp_apply(dev->prp, set->nr_hw_queues + 1, idle);
	list_for_each_entry(q, &set->tag_list, tag_set_list)
		blk_mq_unfreeze_queue(q);
	mutex_unlock(&set->tag_list_lock);
}

static void nvme_pci_pools_init_queue(struct nvme_dev *dev, unsigned int qid,
				      unsigned int node)
{
	nvme_prp_init_queue(dev->prp, qid, node);
}

#else /* !CONFIG_NVME_PRP_POOLS */

static inline void nvme_pci_pools_register(struct nvme_dev *dev) { }
static inline void nvme_pci_pools_unregister(struct nvme_dev *dev) { }
static inline void nvme_pci_pools_prepare(struct nvme_dev *dev) { }
static inline void nvme_pci_pools_apply(struct nvme_dev *dev) { }
static inline void nvme_pci_pools_init_queue(struct nvme_dev *dev,
					     unsigned int qid,
					     unsigned int node) { }

#endif /* CONFIG_NVME_PRP_POOLS */

/* nvme_probe(), before the first queue: all start with the device's pair. */
static int nvme_pci_pools_setup(struct nvme_dev *dev)
{
	unsigned int qid;
	int ret;

	ret = nvme_setup_prp_pools(dev, &dev->prp_device, NUMA_NO_NODE);
	if (ret)
		return ret;
	for (qid = 0; qid < dev->nr_allocated_queues; qid++)
		dev->queues[qid].prp = dev->prp_device;
	nvme_pci_pools_register(dev);
	return 0;
}

/* nvme_release_prp_pools() */
static void nvme_pci_pools_release(struct nvme_dev *dev)
{
	nvme_pci_pools_unregister(dev);
	dma_pool_destroy(dev->prp_device.page);
	dma_pool_destroy(dev->prp_device.small);
}

/* What init_hctx has to do, the admin queue's as well. */
static int nvme_pci_init_hctx_common(struct blk_mq_hw_ctx *hctx,
				     struct nvme_dev *dev, unsigned int qid)
{
	nvme_pci_pools_init_queue(dev, qid, hctx->numa_node);
	hctx->driver_data = &dev->queues[qid];
	return 0;
}

#endif /* _NVME_PCI_POOLS_H */
