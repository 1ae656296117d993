/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What mm/dmapool.c gets beside its own functions. Included by it alone, where its
 * structures are defined.
 */
#ifndef _MM_DMAPOOL_NODE_H
#define _MM_DMAPOOL_NODE_H

#include <linux/dmapool.h>
#include <linux/export.h>
#include <linux/numa.h>
#include <linux/spinlock.h>

#ifdef CONFIG_NVME_PRP_POOLS_BENCH
#include <linux/percpu.h>

static DEFINE_PER_CPU(struct dma_pool_lock_counts, pool_lock_counts);

/* The file's own spin_lock_irqsave(), with a count. */
static unsigned long pool_lock_irqsave(spinlock_t *lock)
{
	unsigned long flags;

	if (!spin_trylock_irqsave(lock, flags)) {
		spin_lock_irqsave(lock, flags);
		this_cpu_inc(pool_lock_counts.contended);
	}
	this_cpu_inc(pool_lock_counts.acquired);
	return flags;
}

#undef spin_lock_irqsave
#define spin_lock_irqsave(lock, flags)	((flags) = pool_lock_irqsave(lock))

/**
 * dma_pool_get_lock_counts - how often locks of DMA pools were taken
 * @counts: filled in, for all pools
 */
void dma_pool_get_lock_counts(struct dma_pool_lock_counts *counts)
{
	unsigned int cpu;

	*counts = (struct dma_pool_lock_counts){ };
	for_each_possible_cpu(cpu) {
		counts->acquired += per_cpu(pool_lock_counts.acquired, cpu);
		counts->contended += per_cpu(pool_lock_counts.contended, cpu);
	}
}
#endif

/* What dma_pool_create() was, with a node. */
static struct dma_pool *pool_new(const char *name, struct device *dev,
				 size_t size, size_t align, size_t boundary,
				 int node);

/* How many blocks, active blocks and pages there are; under the pool's lock. */
static void pool_count(struct dma_pool *pool, struct dma_pool_stats *stats);

/**
 * dma_pool_create_node - Creates a DMA pool for users on one NUMA node
 * @name: name of pool, for diagnostics
 * @dev: device that will be doing the DMA
 * @size: size of the blocks in this pool.
 * @align: alignment requirement for blocks; must be a power of two
 * @boundary: returned blocks won't cross this power of two boundary
 * @node: where to put what the pool is administered with, or NUMA_NO_NODE
 * Context: not in_interrupt()
 *
 * As dma_pool_create(), but for @node. The blocks themselves are where
 * dma_alloc_coherent() puts memory of @dev: usually on the device's node,
 * whatever @node is.
 *
 * Return: a dma allocation pool with the requested characteristics, or
 * %NULL if one can't be created.
 */
struct dma_pool *dma_pool_create_node(const char *name, struct device *dev,
				      size_t size, size_t align,
				      size_t boundary, int node)
{
	return pool_new(name, dev, size, align, boundary, node);
}
EXPORT_SYMBOL(dma_pool_create_node);

/**
 * dma_pool_get_stats - how much of a DMA pool is in use
 * @pool: the pool
 * @stats: filled in, with numbers of one moment
 * Context: any. Before 6.3, it takes the longer the more pages the pool has.
 */
void dma_pool_get_stats(struct dma_pool *pool, struct dma_pool_stats *stats)
{
	unsigned long flags;

	stats->block_size = pool->size;
	spin_lock_irqsave(&pool->lock, flags);
	pool_count(pool, stats);
	spin_unlock_irqrestore(&pool->lock, flags);
	stats->bytes = stats->pages * pool->allocation;
}
EXPORT_SYMBOL(dma_pool_get_stats);

#endif /* _MM_DMAPOOL_NODE_H */
