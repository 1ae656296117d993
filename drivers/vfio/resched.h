/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of vfio-resched, and its unit tests, share.
 */
#ifndef _VFIO_RESCHED_PRIVATE_H
#define _VFIO_RESCHED_PRIVATE_H

#include <linux/atomic.h>
#include <linux/nvmetune.h>
#include <linux/types.h>
#include <linux/vfio_resched.h>

/**
 * struct vfio_resched_set - settings and statistics of an object
 * @resched_bytes: interval, 0: never
 * @skip: the scan skips pages that are known to be contiguous
 * @unmaps: mappings unmapped
 * @bytes: of these
 * @rescheds: points passed since the interval was over
 * @yields: points at which another task was run
 * @longest: longest stretch between two points in ns
 * @stretches: histogram of all
 * @obj: in the control plane
 */
struct vfio_resched_set {
	u64 resched_bytes;
	bool skip;
	atomic64_t unmaps;
	atomic64_t bytes;
	atomic64_t rescheds;
	atomic64_t yields;
	atomic64_t longest;
	struct nvmetune_hist stretches;
	struct nvmetune_object *obj;
};

extern struct vfio_resched_set vfio_resched_sets[VFIO_RESCHED_NR_OBJECTS];
extern const char * const vfio_resched_names[VFIO_RESCHED_NR_OBJECTS];

size_t vfio_resched_piece(unsigned long pgsizes, dma_addr_t iova, phys_addr_t phys,
			  size_t size, u64 interval);

#endif /* _VFIO_RESCHED_PRIVATE_H */
