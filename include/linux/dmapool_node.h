/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DMA pools on a NUMA node of choice, and what they hold. Kernels since 6.16 have
 * the first in <linux/dmapool.h> already, which includes this file where not.
 */
#ifndef _LINUX_DMAPOOL_NODE_H
#define _LINUX_DMAPOOL_NODE_H

#include <linux/types.h>

struct device;
struct dma_pool;

/**
 * struct dma_pool_stats - what a DMA pool holds
 * @block_size: bytes of a block, with what alignment adds
 * @blocks: blocks that there are
 * @active: of these, blocks that are allocated
 * @pages: chunks of coherent memory that the blocks are cut from
 * @bytes: bytes of these chunks
 */
struct dma_pool_stats {
	size_t block_size;
	size_t blocks;
	size_t active;
	size_t pages;
	size_t bytes;
};

#ifdef CONFIG_HAS_DMA
struct dma_pool *dma_pool_create_node(const char *name, struct device *dev,
				      size_t size, size_t align,
				      size_t boundary, int node);
void dma_pool_get_stats(struct dma_pool *pool, struct dma_pool_stats *stats);
#else
static inline struct dma_pool *dma_pool_create_node(const char *name,
						    struct device *dev,
						    size_t size, size_t align,
						    size_t boundary, int node)
{
	return NULL;
}

static inline void dma_pool_get_stats(struct dma_pool *pool,
				      struct dma_pool_stats *stats)
{
}
#endif

#ifdef CONFIG_NVME_PRP_POOLS_BENCH
/**
 * struct dma_pool_lock_counts - the locks of all DMA pools, since boot
 * @acquired: times that one was taken
 * @contended: of these, times that it was held by somebody else
 */
struct dma_pool_lock_counts {
	u64 acquired;
	u64 contended;
};

void dma_pool_get_lock_counts(struct dma_pool_lock_counts *counts);
#endif

#endif /* _LINUX_DMAPOOL_NODE_H */
