// SPDX-License-Identifier: GPL-2.0-only
/*
 * PRP pools in the control plane: a queue's choice, and an object for each pair.
 *
 *   nvme0/pools          how many there are
 *   nvme0/pools/device   the pair of the device
 *   nvme0/pools/node0    of NUMA node 0
 *   nvme0/pools/q1       of queue 1 alone
 */
#include <linux/dmapool.h>

#include "tune.h"
#include "tune-pools.h"

/**
 * nvme_tune_pool() - what the operator wants for a queue
 * @d: the queue
 *
 * Return: enum nvme_prp_choice.
 */
u32 nvme_tune_pool(const struct nvme_defer *d)
{
	return READ_ONCE((d->set ?: &nvme_defer_settings)->pool);
}

/**
 * nvme_tune_set_pool() - a queue has got other pools
 * @d: the queue
 * @choice: whose they are
 *
 * Context: task context, no allocation: in the reset path.
 */
void nvme_tune_set_pool(struct nvme_defer *d, enum nvme_prp_choice choice)
{
	if (d != &nvme_defer_none)
		WRITE_ONCE(d->facts.pool, choice);
}

/* Facts */

static struct nvme_prp_group *nvme_tune_group(struct nvmetune_object *obj)
{
	return nvmetune_data(obj);
}

static void nvme_tune_pool_fact(struct nvmetune_state *state, u64 value)
{
	*state = (struct nvmetune_state){
		.own.num = value,
		.in_force = value,
	};
}

static size_t nvme_tune_block_size(struct dma_pool *pool)
{
	struct dma_pool_stats stats;

	dma_pool_get_stats(pool, &stats);
	return stats.block_size;
}

#define NVME_TUNE_POOL_FACT(name, expression)				\
static void nvme_tune_pool_##name(struct nvmetune_object *obj,		\
				  const struct nvmetune_param *param,	\
				  struct nvmetune_state *state)		\
{									\
	struct nvme_prp_group *g = nvme_tune_group(obj);		\
									\
	nvme_tune_pool_fact(state, expression);				\
}

NVME_TUNE_POOL_FACT(users, READ_ONCE(g->users))
NVME_TUNE_POOL_FACT(small, nvme_tune_block_size(g->pair.small))
NVME_TUNE_POOL_FACT(page, nvme_tune_block_size(g->pair.page))

static int nvme_tune_pool_node(struct nvmetune_object *obj,
			       const struct nvmetune_param *param, char *buf,
			       size_t size)
{
	return scnprintf(buf, size, "%d", nvme_tune_group(obj)->node);
}

static const struct nvmetune_param nvme_tune_pool_facts[] = {
	{
		.name = "numa_node",
		.help = "NUMA node that its structures are on, -1: none",
		.type = NVMETUNE_TYPE_TEXT, .text = nvme_tune_pool_node,
	},
	{
		.name = "users",
		.help = "queues that use it, the admin queue included",
		.type = NVMETUNE_TYPE_COUNT, .max = U32_MAX,
		.get = nvme_tune_pool_users,
	},
	{
		.name = "small_block_bytes",
		.help = "size of a small descriptor",
		.type = NVMETUNE_TYPE_BYTES, .max = U32_MAX,
		.get = nvme_tune_pool_small,
	},
	{
		.name = "page_block_bytes",
		.help = "size of a large descriptor",
		.type = NVMETUNE_TYPE_BYTES, .max = U32_MAX,
		.get = nvme_tune_pool_page,
	},
};

static void nvme_tune_pools_pairs(struct nvmetune_object *obj,
				  const struct nvmetune_param *param,
				  struct nvmetune_state *state)
{
	struct nvme_defer_ctrl *c = nvmetune_data(obj);

	nvme_tune_pool_fact(state, READ_ONCE(c->nr_pools));
}

static const struct nvmetune_param nvme_tune_pools_facts[] = {
	{
		.name = "pairs",
		.help = "pairs of PRP pools that queues use",
		.type = NVMETUNE_TYPE_COUNT, .max = U32_MAX,
		.get = nvme_tune_pools_pairs,
	},
};

/* Statistics: the same four of each pool */

enum nvme_tune_pool_stat {
	NVME_TUNE_POOL_BLOCKS,
	NVME_TUNE_POOL_ACTIVE,
	NVME_TUNE_POOL_PAGES,
	NVME_TUNE_POOL_BYTES,
	NVME_TUNE_NR_POOL_STATS,
};

#define NVME_TUNE_POOL_STAT(pname, punit, phelp)			\
	{								\
		.name = pname, .help = phelp,				\
		.kind = NVMETUNE_STAT_KIND_GAUGE,			\
		.unit = NVMETUNE_UNIT_##punit,				\
	}

static const struct nvmetune_stat nvme_tune_pool_stats[] = {
	/* In the order of enum nvme_tune_pool_stat. */
	NVME_TUNE_POOL_STAT("small_blocks", NONE,
			    "small descriptors that there are"),
	NVME_TUNE_POOL_STAT("small_active", NONE,
			    "of these, descriptors in use"),
	NVME_TUNE_POOL_STAT("small_pages", NONE,
			    "pages that they are cut from"),
	NVME_TUNE_POOL_STAT("small_bytes", BYTES,
			    "memory of these pages"),
	/* The same of the other pool. */
	NVME_TUNE_POOL_STAT("page_blocks", NONE,
			    "large descriptors that there are"),
	NVME_TUNE_POOL_STAT("page_active", NONE,
			    "of these, descriptors in use"),
	NVME_TUNE_POOL_STAT("page_pages", NONE,
			    "pages that they are cut from"),
	NVME_TUNE_POOL_STAT("page_bytes", BYTES,
			    "memory of these pages"),
};

static void nvme_tune_read_one(struct dma_pool *pool, u64 *values)
{
	struct dma_pool_stats stats;

	dma_pool_get_stats(pool, &stats);
	values[NVME_TUNE_POOL_BLOCKS] = stats.blocks;
	values[NVME_TUNE_POOL_ACTIVE] = stats.active;
	values[NVME_TUNE_POOL_PAGES] = stats.pages;
	values[NVME_TUNE_POOL_BYTES] = stats.bytes;
}

static void nvme_tune_read_pool(struct nvmetune_object *obj, u64 *values)
{
	struct nvme_prp_group *g = nvme_tune_group(obj);

	nvme_tune_read_one(g->pair.small, values);
	nvme_tune_read_one(g->pair.page, values + NVME_TUNE_NR_POOL_STATS);
}

/* Objects */

static const struct nvmetune_class nvme_tune_pools_class = {
	.name		= "nvme-pools",
	.params		= {
		{ nvme_tune_pools_facts, ARRAY_SIZE(nvme_tune_pools_facts) },
	},
};

static const struct nvmetune_class nvme_tune_pool_class = {
	.name		= "nvme-pool",
	.params		= {
		{ nvme_tune_pool_facts, ARRAY_SIZE(nvme_tune_pool_facts) },
	},
	.stats		= nvme_tune_pool_stats,
	.nr_stats	= ARRAY_SIZE(nvme_tune_pool_stats),
	.read_stats	= nvme_tune_read_pool,
};

static void nvme_tune_pool_name(const struct nvme_prp_group *g, char *name,
				size_t size)
{
	switch (g->choice) {
	case NVME_PRP_NODE:
		snprintf(name, size, "node%d", g->node);
		break;
	case NVME_PRP_DEVICE:
		snprintf(name, size, "device");
		break;
	case NVME_PRP_PRIVATE:
		snprintf(name, size, "q%u", g->qid);
		break;
	}
}

/**
 * nvme_tune_add_pool() - show a pair of pools
 * @c: the controller; may be NULL
 * @g: the pair and who uses it
 *
 * Without memory for its object, it works and cannot be seen.
 *
 * Context: task context, may sleep and wait for I/O: not in the reset path. Not at
 *	once with itself or nvme_tune_remove_pool() of this controller.
 */
void nvme_tune_add_pool(struct nvme_defer_ctrl *c, struct nvme_prp_group *g)
{
	char name[16];

	if (!c || !c->level.obj)
		return;
	if (IS_ERR_OR_NULL(c->pools))
		c->pools = nvmetune_register(&nvme_tune_pools_class,
					     c->level.obj, "pools", NULL, c);
	if (IS_ERR(c->pools))
		return;
	nvme_tune_pool_name(g, name, sizeof(name));
	g->obj = nvmetune_register(&nvme_tune_pool_class, c->pools, name, NULL, g);
	if (!IS_ERR(g->obj))
		WRITE_ONCE(c->nr_pools, c->nr_pools + 1);
}

/**
 * nvme_tune_remove_pool() - undo nvme_tune_add_pool()
 * @c: the controller; may be NULL
 * @g: the pair
 *
 * Context: as nvme_tune_add_pool().
 */
void nvme_tune_remove_pool(struct nvme_defer_ctrl *c, struct nvme_prp_group *g)
{
	if (IS_ERR_OR_NULL(g->obj))
		return;
	nvmetune_unregister(g->obj);
	WRITE_ONCE(c->nr_pools, c->nr_pools - 1);
}

/**
 * nvme_tune_remove_pools() - the last pair of a controller has gone
 * @c: the controller; may be NULL
 *
 * Context: as nvme_tune_add_pool().
 */
void nvme_tune_remove_pools(struct nvme_defer_ctrl *c)
{
	if (!c)
		return;
	nvmetune_unregister(c->pools);
	c->pools = NULL;
}
