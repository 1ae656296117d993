/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PRP pools in the control plane: between pci-pools.h and tune-pools.c.
 */
#ifndef _NVME_TUNE_POOLS_H
#define _NVME_TUNE_POOLS_H

#include "defer.h"
#include "prp-pools.h"

#ifdef CONFIG_NVME_TUNE_POOLS
u32 nvme_tune_pool(const struct nvme_defer *d);
void nvme_tune_set_pool(struct nvme_defer *d, enum nvme_prp_choice choice);
void nvme_tune_add_pool(struct nvme_defer_ctrl *c, struct nvme_prp_group *g);
void nvme_tune_remove_pool(struct nvme_defer_ctrl *c, struct nvme_prp_group *g);
void nvme_tune_remove_pools(struct nvme_defer_ctrl *c);
#else
static inline u32 nvme_tune_pool(const struct nvme_defer *d)
{
	return NVME_PRP_NODE;
}

static inline void nvme_tune_set_pool(struct nvme_defer *d,
				      enum nvme_prp_choice choice) { }
static inline void nvme_tune_add_pool(struct nvme_defer_ctrl *c,
				      struct nvme_prp_group *g) { }
static inline void nvme_tune_remove_pool(struct nvme_defer_ctrl *c,
					 struct nvme_prp_group *g) { }
static inline void nvme_tune_remove_pools(struct nvme_defer_ctrl *c) { }
#endif

#endif /* _NVME_TUNE_POOLS_H */
