/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PRP descriptor pools of the NVMe PCI driver by device, NUMA node or queue.
 *
 * Each command with more than two pages of data takes a descriptor from a pool and
 * gives it back, under the pool's lock. The stock driver has a pair of pools for a
 * device: all CPUs share two locks. Here each queue has a choice of
 *
 *   node       a pair that it shares with the queues of its NUMA node (the default)
 *   device     the pair that all others share, and the admin queue has anyway
 *   private    a pair of its own: no other queue's CPUs ever hold its locks
 *
 * A descriptor has to go back to the pool that it came from. So a queue's pair changes
 * only while all of the controller's requests are known to be done:
 *
 *   nvme_setup_io_queues()	prepare: makes the pairs that the choices ask for
 *   nvme_reset_work()		apply: between nvme_wait_freeze() and nvme_unfreeze(),
 *				queues move to them; nothing is allocated there
 *   afterwards			a work item lets pairs go that nobody uses, and shows
 *				the others in the control plane: both wait for memory
 *   init_hctx			a queue that nothing was ever sent to gets its pair
 *
 * Whatever fails, a queue stays with the pair that it has, and the device's is always
 * there. prp-pools.c knows nothing of the driver: it sees struct nvme_prp_ops.
 * pci-pools.h ties it to pci.c.
 */
#ifndef _NVME_PRP_POOLS_H
#define _NVME_PRP_POOLS_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct device;
struct dma_pool;
struct nvmetune_object;

/**
 * enum nvme_prp_choice - which pools a queue takes its descriptors from
 * @NVME_PRP_NODE: those of its NUMA node
 * @NVME_PRP_DEVICE: those of the device
 * @NVME_PRP_PRIVATE: its own
 *
 * Kernels with pools by node of their own offer the first only.
 */
enum nvme_prp_choice {
	NVME_PRP_NODE,
	NVME_PRP_DEVICE,
	NVME_PRP_PRIVATE,
};

/**
 * struct nvme_prp_pair - two pools
 * @page: descriptors of a page each
 * @small: short ones
 */
struct nvme_prp_pair {
	struct dma_pool *page;
	struct dma_pool *small;
};

/**
 * struct nvme_prp_group - a pair of pools and the queues that share it
 * @entry: in nvme_prp_ctrl.groups
 * @pair: the pools
 * @choice: what it is there for
 * @node: NUMA node that the pools are administered on, NUMA_NO_NODE for the device's
 * @qid: of a private pair, the queue
 * @users: queues that use it; the admin queue is one of the device's
 * @shown: it was handed to nvme_prp_ops.show
 * @obj: in the control plane
 */
struct nvme_prp_group {
	struct list_head entry;
	struct nvme_prp_pair pair;
	enum nvme_prp_choice choice;
	int node;
	unsigned int qid;
	unsigned int users;
	bool shown;
	struct nvmetune_object *obj;
};

/**
 * struct nvme_prp_ops - what is needed of the driver
 * @create: make a pair, administered on a node; 0 or an error, with nothing made
 * @choice: what the operator wants for a queue; enum nvme_prp_choice
 * @use: let a queue use a pair; there is no request of this queue
 * @show: show a group to the operator; may wait for memory
 * @hide: take back what @show did; waits until nobody looks at it
 *
 * @create and @use are called under nvme_prp_ctrl.lock, in the reset path.
 */
struct nvme_prp_ops {
	int (*create)(void *driver, struct nvme_prp_pair *pair, int node);
	u32 (*choice)(void *driver, unsigned int qid);
	void (*use)(void *driver, unsigned int qid, const struct nvme_prp_pair *pair,
		    enum nvme_prp_choice choice);
	void (*show)(void *driver, struct nvme_prp_group *group);
	void (*hide)(void *driver, struct nvme_prp_group *group);
};

/**
 * struct nvme_prp_queue - a queue's part
 * @group: what it uses; NULL: the device's pair, as it has not been used yet
 * @choice: what it shall use, as of the last nvme_prp_prepare()
 * @node: its NUMA node
 */
struct nvme_prp_queue {
	struct nvme_prp_group *group;
	enum nvme_prp_choice choice;
	int node;
};

/**
 * struct nvme_prp_ctrl - a controller's part
 * @dev: the device that does the DMA
 * @driver: for @ops
 * @ops: what is needed of the driver
 * @lock: protects what is below
 * @groups: all groups; the device's comes first and stays
 * @changing: from prepare to apply: groups without users are about to get some
 * @nr_online: queues as of the last prepare, the admin queue included
 * @nr_mapped: the same of the last apply: as many as CPUs were spread over
 * @update: lets groups go and shows them
 * @nr_queues: entries of @queue
 * @queue: by queue identifier
 */
struct nvme_prp_ctrl {
	struct device *dev;
	void *driver;
	const struct nvme_prp_ops *ops;
	struct mutex lock;		/* groups and who uses them */
	struct list_head groups;
	bool changing;
	unsigned int nr_online;
	unsigned int nr_mapped;
	struct work_struct update;
	unsigned int nr_queues;
	struct nvme_prp_queue queue[];
};

int nvme_prp_node(unsigned int node);
struct nvme_prp_ctrl *
nvme_prp_register(struct device *dev, void *driver,
		  const struct nvme_prp_ops *ops, unsigned int nr_queues,
		  const struct nvme_prp_pair *pair);
void nvme_prp_unregister(struct nvme_prp_ctrl *p);
void nvme_prp_prepare(struct nvme_prp_ctrl *p, unsigned int nr, bool keeps_cpus);
void nvme_prp_apply(struct nvme_prp_ctrl *p, unsigned int nr, bool idle);
void nvme_prp_init_queue(struct nvme_prp_ctrl *p, unsigned int qid,
			 unsigned int node);

#endif /* _NVME_PRP_POOLS_H */
