// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of PRP pools by device, node or queue: which queue uses which pair, over
 * resets, with and without memory for it. The driver is made up, the pools are real,
 * on a device without hardware: what is on its list of pools is what there is.
 *
 * Nodes above nr_node_ids are mapped like NUMA_NO_NODE, so that all of it runs with
 * one node and without CONFIG_NUMA as well: what shares is what has the same node.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/dmapool.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/numa.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "prp-pools.h"

/* Queue 0 is the admin queue's. */
#define NR_QUEUES	6

struct prp_fake {
	struct device *dev;
	struct nvme_prp_pair device;
	struct nvme_prp_ctrl *p;
	u32 choice[NR_QUEUES];
	struct nvme_prp_pair used[NR_QUEUES];
	u32 used_choice[NR_QUEUES];
	unsigned int uses;
	unsigned int creates;
	unsigned int fail_from;		/* this create and all after it */
	unsigned int fail_only;		/* this create alone; 0: none */
	unsigned int shown;
	unsigned int hidden;
};

static struct prp_fake *prp;
static u64 prp_dma_mask = DMA_BIT_MASK(64);

static int prp_create(void *driver, struct nvme_prp_pair *pair, int node)
{
	struct prp_fake *f = driver;

	f->creates++;
	if (f->creates == f->fail_only || f->creates >= f->fail_from)
		return -ENOMEM;
	pair->page = dma_pool_create_node("prp page", f->dev, 4096, 4096, 0, node);
	pair->small = dma_pool_create_node("prp small", f->dev, 256, 256, 0, node);
	return pair->page && pair->small ? 0 : -ENOMEM;
}

static u32 prp_choice(void *driver, unsigned int qid)
{
	struct prp_fake *f = driver;

	return f->choice[qid];
}

static void prp_use(void *driver, unsigned int qid,
		    const struct nvme_prp_pair *pair, enum nvme_prp_choice choice)
{
	struct prp_fake *f = driver;

	f->used[qid] = *pair;
	f->used_choice[qid] = choice;
	f->uses++;
}

static void prp_show(void *driver, struct nvme_prp_group *group)
{
	struct prp_fake *f = driver;

	f->shown++;
}

static void prp_hide(void *driver, struct nvme_prp_group *group)
{
	struct prp_fake *f = driver;

	f->hidden++;
}

static const struct nvme_prp_ops prp_ops = {
	.create	= prp_create,
	.choice	= prp_choice,
	.use	= prp_use,
	.show	= prp_show,
	.hide	= prp_hide,
};

/* Pairs that there are on the device. */
static unsigned int prp_pairs(void)
{
	struct list_head *l;
	unsigned int n = 0;

	list_for_each(l, &prp->dev->dma_pools)
		n++;
	return n / 2;
}

static int prp_init(struct kunit *test)
{
	struct prp_fake *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;
	f->dev = root_device_register("nvme-prp-kunit");
	if (IS_ERR(f->dev))
		return PTR_ERR(f->dev);
	f->dev->dma_mask = &prp_dma_mask;
	f->dev->coherent_dma_mask = DMA_BIT_MASK(64);
	f->fail_from = UINT_MAX;
	prp = f;
	f->device.page = dma_pool_create("device page", f->dev, 4096, 4096, 0);
	f->device.small = dma_pool_create("device small", f->dev, 256, 256, 0);
	if (!f->device.page || !f->device.small)
		return -ENOMEM;
	f->p = nvme_prp_register(f->dev, f, &prp_ops, NR_QUEUES, &f->device);
	return f->p ? 0 : -ENOMEM;
}

static void prp_exit(struct kunit *test)
{
	struct prp_fake *f = prp;

	if (!f)
		return;
	nvme_prp_unregister(f->p);
	KUNIT_EXPECT_EQ(test, f->shown, f->hidden);
	/* The device's pair is all that is left. */
	KUNIT_EXPECT_EQ(test, prp_pairs(), 1U);
	dma_pool_destroy(f->device.page);
	dma_pool_destroy(f->device.small);
	KUNIT_EXPECT_TRUE(test, list_empty(&f->dev->dma_pools));
	root_device_unregister(f->dev);
	prp = NULL;
}

/* What the driver does */

static void prp_all(enum nvme_prp_choice choice)
{
	unsigned int qid;

	for (qid = 1; qid < NR_QUEUES; qid++)
		prp->choice[qid] = choice;
}

/* A namespace is added: queues 1 and 2 are of node 0, the others of node 1. */
static void prp_namespace(unsigned int nr)
{
	unsigned int qid;

	for (qid = 1; qid < nr; qid++)
		nvme_prp_init_queue(prp->p, qid, qid > 2);
}

static void prp_settle(void)
{
	flush_work(&prp->p->update);
}

static void prp_probe(unsigned int nr)
{
	nvme_prp_prepare(prp->p, nr, true);
	prp_settle();
	prp_namespace(nr);
	prp_settle();
}

static void prp_reset(unsigned int nr)
{
	nvme_prp_prepare(prp->p, nr, true);
	nvme_prp_apply(prp->p, nr, true);
	prp_settle();
}

/* What there has to be afterwards */

static bool prp_same(unsigned int a, unsigned int b)
{
	return !memcmp(&prp->used[a], &prp->used[b], sizeof(prp->used[a]));
}

static bool prp_is_device(unsigned int qid)
{
	return !memcmp(&prp->used[qid], &prp->device, sizeof(prp->device));
}

static unsigned int prp_nodes(void)
{
	return nvme_prp_node(0) == nvme_prp_node(1) ? 1 : 2;
}

/* Every queue has a pair of the kind, and shares it with whom it shall. */
static void prp_expect_all(struct kunit *test, unsigned int nr,
			   enum nvme_prp_choice choice)
{
	unsigned int a, b, pairs = 1;
	bool same;

	for (a = 1; a < nr; a++) {
		KUNIT_EXPECT_EQ_MSG(test, prp->used_choice[a], (u32)choice, "queue %u", a);
		KUNIT_EXPECT_EQ_MSG(test, prp_is_device(a), choice == NVME_PRP_DEVICE,
				    "queue %u", a);
		for (b = 1; b < a; b++) {
			same = choice == NVME_PRP_DEVICE ||
			       (choice == NVME_PRP_NODE &&
				nvme_prp_node(a > 2) == nvme_prp_node(b > 2));
			KUNIT_EXPECT_EQ_MSG(test, prp_same(a, b), same,
					    "queues %u, %u", a, b);
		}
	}
	if (choice == NVME_PRP_NODE)
		pairs += nr > 3 ? prp_nodes() : 1;
	if (choice == NVME_PRP_PRIVATE)
		pairs += nr - 1;
	KUNIT_EXPECT_EQ(test, prp_pairs(), pairs);
	KUNIT_EXPECT_EQ(test, prp->shown - prp->hidden, pairs);
}

/* A pair that a queue uses is one of those that there are. */
static void prp_expect_sane(struct kunit *test, unsigned int nr)
{
	const struct nvme_prp_group *g;
	unsigned int qid, users = 0;
	bool found;

	list_for_each_entry(g, &prp->p->groups, entry) {
		KUNIT_EXPECT_NOT_NULL(test, g->pair.page);
		KUNIT_EXPECT_NOT_NULL(test, g->pair.small);
		users += g->users;
	}
	/* and the admin queue */
	KUNIT_EXPECT_EQ(test, users, nr);
	for (qid = 1; qid < nr; qid++) {
		found = false;
		list_for_each_entry(g, &prp->p->groups, entry)
			found |= !memcmp(&g->pair, &prp->used[qid], sizeof(g->pair));
		KUNIT_EXPECT_TRUE_MSG(test, found, "queue %u", qid);
	}
}

/* Nodes */

static void prp_node_mapping(struct kunit *test)
{
	struct nvme_prp_group *g;
	unsigned int node;

	for (node = 0; node < nr_node_ids; node++)
		KUNIT_EXPECT_EQ(test, nvme_prp_node(node), (int)node);
	/* As it comes out of blk_mq_hw_ctx.numa_node. */
	KUNIT_EXPECT_EQ(test, nvme_prp_node((unsigned int)NUMA_NO_NODE),
			(int)first_online_node);
	KUNIT_EXPECT_EQ(test, nvme_prp_node(nr_node_ids), (int)first_online_node);
	KUNIT_EXPECT_EQ(test, nvme_prp_node(INT_MAX), (int)first_online_node);
	KUNIT_EXPECT_EQ(test, nvme_prp_node(UINT_MAX), (int)first_online_node);
	KUNIT_EXPECT_TRUE(test, node_online(nvme_prp_node(UINT_MAX)));

	/* A queue and a device of no node get one all the same. */
	KUNIT_ASSERT_EQ(test, dev_to_node(prp->dev), NUMA_NO_NODE);
	nvme_prp_prepare(prp->p, 2, true);
	nvme_prp_init_queue(prp->p, 1, (unsigned int)NUMA_NO_NODE);
	g = prp->p->queue[1].group;
	KUNIT_ASSERT_NOT_NULL(test, g);
	KUNIT_EXPECT_EQ(test, g->choice, NVME_PRP_NODE);
	KUNIT_EXPECT_EQ(test, g->node, (int)first_online_node);
	prp_expect_sane(test, 2);
}

/* Where a node has no memory, or is not there, the pool is elsewhere. */
static void prp_each_node(struct kunit *test)
{
	struct dma_pool *pool;
	dma_addr_t dma;
	void *block;
	int node, at;

	for_each_node(node) {
		pool = dma_pool_create_node("node", prp->dev, 256, 256, 0, node);
		KUNIT_EXPECT_NOT_NULL_MSG(test, pool, "node %d", node);
		if (!pool)
			continue;
		at = page_to_nid(virt_to_page(pool));
		if (node_state(node, N_MEMORY))
			KUNIT_EXPECT_EQ(test, at, node);
		else
			KUNIT_EXPECT_TRUE(test, node_state(at, N_MEMORY));
		block = dma_pool_alloc(pool, GFP_KERNEL, &dma);
		KUNIT_EXPECT_NOT_NULL_MSG(test, block, "node %d", node);
		if (block)
			dma_pool_free(pool, block, dma);
		dma_pool_destroy(pool);
	}
}

/* Life cycle */

/* The pairs of nodes without a queue go once all queues have theirs. */
static void prp_start(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, prp_pairs(), 1U);
	prp_probe(5);
	prp_expect_all(test, 5, NVME_PRP_NODE);
	prp_expect_sane(test, 5);
}

/* Each choice, each other one, over resets. */
static void prp_choices(struct kunit *test)
{
	static const enum nvme_prp_choice order[] = {
		NVME_PRP_DEVICE, NVME_PRP_PRIVATE, NVME_PRP_NODE,
		NVME_PRP_PRIVATE, NVME_PRP_DEVICE, NVME_PRP_NODE,
		NVME_PRP_NODE, NVME_PRP_DEVICE, NVME_PRP_DEVICE,
	};
	unsigned int i;

	prp_probe(5);
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		prp_all(order[i]);
		prp_reset(5);
		prp_expect_all(test, 5, order[i]);
		prp_expect_sane(test, 5);
	}
	/* Of one queue alone. */
	prp->choice[3] = NVME_PRP_PRIVATE;
	prp_reset(5);
	KUNIT_EXPECT_FALSE(test, prp_is_device(3));
	KUNIT_EXPECT_TRUE(test, prp_is_device(1));
	KUNIT_EXPECT_TRUE(test, prp_is_device(4));
	KUNIT_EXPECT_EQ(test, prp_pairs(), 2U);
}

/* A reset that changes nothing makes and moves nothing. */
static void prp_idle_reset(struct kunit *test)
{
	unsigned int uses, creates;

	prp_probe(5);
	prp_reset(5);
	uses = prp->uses;
	creates = prp->creates;
	prp_reset(5);
	KUNIT_EXPECT_EQ(test, prp->uses, uses);
	KUNIT_EXPECT_EQ(test, prp->creates, creates);
}

/* Without a reset, and with one that fails, all stays as it is. */
static void prp_not_applied(struct kunit *test)
{
	struct nvme_prp_pair before[NR_QUEUES];

	prp_probe(5);
	memcpy(before, prp->used, sizeof(before));
	prp_all(NVME_PRP_PRIVATE);
	prp_settle();
	KUNIT_EXPECT_EQ(test, memcmp(before, prp->used, sizeof(before)), 0);

	/* It fails half-way: the pairs wait for the next one. */
	nvme_prp_prepare(prp->p, 5, true);
	schedule_work(&prp->p->update);
	prp_settle();
	KUNIT_EXPECT_EQ(test, memcmp(before, prp->used, sizeof(before)), 0);
	KUNIT_EXPECT_EQ(test, prp_pairs(), 1U + prp_nodes() + 4);
	prp_expect_sane(test, 5);

	prp_reset(5);
	prp_expect_all(test, 5, NVME_PRP_PRIVATE);
}

/* Requests are under way somewhere: nothing moves, and the next reset does it. */
static void prp_busy(struct kunit *test)
{
	struct nvme_prp_pair before[NR_QUEUES];

	prp_probe(5);
	memcpy(before, prp->used, sizeof(before));
	prp_all(NVME_PRP_PRIVATE);
	nvme_prp_prepare(prp->p, 3, true);
	nvme_prp_apply(prp->p, 3, false);
	prp_settle();
	KUNIT_EXPECT_EQ(test, memcmp(before, prp->used, sizeof(before)), 0);
	prp_expect_sane(test, 5);
	prp_reset(5);
	prp_expect_all(test, 5, NVME_PRP_PRIVATE);
}

/* A namespace that is added later must not move queues that are in use. */
static void prp_second_namespace(struct kunit *test)
{
	unsigned int uses;

	prp_probe(5);
	prp_all(NVME_PRP_PRIVATE);
	uses = prp->uses;
	prp_namespace(5);
	/* Also while a reset has the new pairs ready. */
	nvme_prp_prepare(prp->p, 5, true);
	prp_namespace(5);
	KUNIT_EXPECT_EQ(test, prp->uses, uses);
	prp_settle();
	nvme_prp_apply(prp->p, 5, true);
	prp_settle();
	prp_expect_all(test, 5, NVME_PRP_PRIVATE);
}

/* What was asked for last, when pairs were made, counts: no other is there. */
static void prp_choice_meanwhile(struct kunit *test)
{
	nvme_prp_prepare(prp->p, 5, true);
	prp_all(NVME_PRP_PRIVATE);
	prp_namespace(5);
	prp_settle();
	prp_expect_all(test, 5, NVME_PRP_NODE);
}

/* Queues come and go with resets. */
static void prp_queue_count(struct kunit *test)
{
	enum nvme_prp_choice choice;

	for (choice = NVME_PRP_NODE; choice <= NVME_PRP_PRIVATE; choice++) {
		prp_all(choice);
		if (choice == NVME_PRP_NODE)
			prp_probe(3);
		else
			prp_reset(3);
		prp_expect_all(test, 3, choice);

		/* blk-mq sets up the contexts of new queues before apply. */
		nvme_prp_prepare(prp->p, 5, true);
		prp_namespace(5);
		nvme_prp_apply(prp->p, 5, true);
		prp_settle();
		prp_expect_all(test, 5, choice);
		prp_expect_sane(test, 5);

		nvme_prp_prepare(prp->p, 2, true);
		prp_namespace(2);
		nvme_prp_apply(prp->p, 2, true);
		prp_settle();
		prp_expect_all(test, 2, choice);
		prp_expect_sane(test, 2);
		KUNIT_EXPECT_TRUE(test, prp_is_device(2));
		KUNIT_EXPECT_TRUE(test, prp_is_device(4));

		/* No namespace yet: queues get theirs with the first one. */
		prp_reset(3);
		KUNIT_EXPECT_TRUE(test, prp_is_device(2));
		prp_namespace(3);
		prp_settle();
		prp_expect_all(test, 3, choice);
	}
	/* More than there can be. */
	nvme_prp_prepare(prp->p, NR_QUEUES + 3, true);
	nvme_prp_apply(prp->p, NR_QUEUES + 3, true);
	nvme_prp_init_queue(prp->p, NR_QUEUES, 0);
	prp_settle();
	prp_expect_sane(test, 3);
}

/* CPUs are spread anew, and queue 1 is of another node then. */
static void prp_queue_moves(struct kunit *test)
{
	int from = nvme_prp_node(0), to = nvme_prp_node(1);
	unsigned int users = from == to ? 4 : 3;

	prp_probe(5);
	nvme_prp_prepare(prp->p, 5, true);
	nvme_prp_init_queue(prp->p, 1, 1);
	nvme_prp_apply(prp->p, 5, true);
	prp_settle();
	KUNIT_EXPECT_EQ(test, prp->p->queue[1].group->node, to);
	KUNIT_EXPECT_EQ(test, prp->p->queue[1].group->users, users);
	KUNIT_EXPECT_TRUE(test, prp_same(1, 3));
	KUNIT_EXPECT_EQ(test, prp_same(1, 2), from == to);
}

/* Nobody uses the pair of that node before, and it is there all the same. */
static void prp_queue_moves_alone(struct kunit *test)
{
	prp_probe(3);
	prp_reset(3);
	KUNIT_EXPECT_EQ(test, prp_pairs(), 2U);
	nvme_prp_prepare(prp->p, 2, true);
	schedule_work(&prp->p->update);
	prp_settle();
	nvme_prp_init_queue(prp->p, 1, 1);
	nvme_prp_apply(prp->p, 2, true);
	prp_settle();
	KUNIT_EXPECT_EQ(test, prp->p->queue[1].group->node, nvme_prp_node(1));
	KUNIT_EXPECT_EQ(test, prp_pairs(), 2U);
}

/* With queues of several kinds, CPUs are spread anew though there are as many as before. */
static void prp_queue_moves_each_time(struct kunit *test)
{
	prp_probe(3);
	prp_reset(3);
	KUNIT_EXPECT_EQ(test, prp_pairs(), 2U);
	nvme_prp_prepare(prp->p, 3, false);
	nvme_prp_init_queue(prp->p, 2, 1);
	nvme_prp_apply(prp->p, 3, true);
	prp_settle();
	KUNIT_EXPECT_EQ(test, prp->p->queue[2].group->node, nvme_prp_node(1));
	KUNIT_EXPECT_EQ(test, prp->p->queue[1].group->node, nvme_prp_node(0));
	KUNIT_EXPECT_EQ(test, prp_pairs(), 1U + prp_nodes());
}

/*
 * Fewer queues were to be used, and blk-mq had no memory for that: requests still go to
 * all of them, and a namespace that is added must not move one that is in use.
 */
static void prp_queues_stay(struct kunit *test)
{
	unsigned int uses;

	prp_all(NVME_PRP_PRIVATE);
	prp_probe(5);
	nvme_prp_prepare(prp->p, 3, true);
	nvme_prp_apply(prp->p, 5, true);
	prp_settle();
	prp_expect_all(test, 5, NVME_PRP_PRIVATE);
	prp_reset(5);
	uses = prp->uses;
	prp_namespace(5);
	KUNIT_EXPECT_EQ(test, prp->uses, uses);
	prp_expect_all(test, 5, NVME_PRP_PRIVATE);
	prp_expect_sane(test, 5);
}

/* The admin queue stays where it is. */
static void prp_admin_queue(struct kunit *test)
{
	prp->choice[0] = NVME_PRP_PRIVATE;
	nvme_prp_prepare(prp->p, 5, true);
	nvme_prp_init_queue(prp->p, 0, 0);
	nvme_prp_apply(prp->p, 5, true);
	prp_namespace(5);
	KUNIT_EXPECT_NULL(test, prp->used[0].page);
	prp_expect_sane(test, 5);
}

/* Without memory */

/* From some allocation on, none works: queues keep the device's pair. */
static void prp_no_memory_at_first(struct kunit *test)
{
	enum nvme_prp_choice choice;
	unsigned int n, qid;

	for (choice = NVME_PRP_NODE; choice <= NVME_PRP_PRIVATE; choice++) {
		for (n = 1; n <= NR_QUEUES; n++) {
			nvme_prp_prepare(prp->p, 1, true);
			nvme_prp_apply(prp->p, 1, true);
			prp_settle();
			KUNIT_ASSERT_EQ(test, prp_pairs(), 1U);

			prp_all(choice);
			prp->creates = 0;
			prp->fail_from = n;
			prp_probe(5);
			prp_expect_sane(test, 5);
			for (qid = 1; qid < 5; qid++)
				KUNIT_EXPECT_EQ(test, prp_is_device(qid),
						prp->used_choice[qid] == NVME_PRP_DEVICE);
			if (n == 1)
				KUNIT_EXPECT_EQ(test, prp_pairs(), 1U);

			/* There is some again. */
			prp->fail_from = UINT_MAX;
			prp_reset(5);
			prp_expect_all(test, 5, choice);
		}
	}
}

/* One allocation fails in a reset: its queue keeps what it has, the others move. */
static void prp_no_memory_in_reset(struct kunit *test)
{
	struct nvme_prp_pair before[NR_QUEUES];
	unsigned int n, qid;

	prp_probe(5);
	prp_reset(5);
	for (n = 1; n < 5; n++) {
		memcpy(before, prp->used, sizeof(before));
		prp_all(NVME_PRP_PRIVATE);
		prp->creates = 0;
		prp->fail_only = n;
		prp_reset(5);
		prp_expect_sane(test, 5);
		for (qid = 1; qid < 5; qid++) {
			KUNIT_EXPECT_EQ_MSG(test, !memcmp(&before[qid], &prp->used[qid],
							  sizeof(before[qid])),
					    qid == n, "create %u, queue %u", n, qid);
			KUNIT_EXPECT_EQ(test, prp->used_choice[qid],
					(u32)(qid == n ? NVME_PRP_NODE : NVME_PRP_PRIVATE));
		}
		prp->fail_only = 0;
		prp_reset(5);
		prp_expect_all(test, 5, NVME_PRP_PRIVATE);
		prp_all(NVME_PRP_NODE);
		prp_reset(5);
		prp_expect_all(test, 5, NVME_PRP_NODE);
	}
}

/* Nothing was set up, for want of memory: all calls are harmless. */
static void prp_none(struct kunit *test)
{
	unsigned int uses = prp->uses;

	nvme_prp_prepare(NULL, 5, true);
	nvme_prp_init_queue(NULL, 1, 0);
	nvme_prp_apply(NULL, 5, true);
	nvme_prp_unregister(NULL);
	KUNIT_EXPECT_EQ(test, prp->uses, uses);
}

/* Removed in the middle of a reset; prp_exit() looks for what is left. */
static void prp_removed(struct kunit *test)
{
	prp_probe(5);
	prp_all(NVME_PRP_PRIVATE);
	nvme_prp_prepare(prp->p, 5, true);
	schedule_work(&prp->p->update);
	KUNIT_EXPECT_EQ(test, prp_pairs(), 1U + prp_nodes() + 4);
}

/* Numbers */

static void prp_stats(struct kunit *test)
{
	struct dma_pool *pool = prp->device.small;
	const size_t each = PAGE_SIZE / 256;
	struct dma_pool_stats s;
	dma_addr_t dma[20];
	void *block[20];
	size_t i;

	memset(&s, 0xff, sizeof(s));
	dma_pool_get_stats(pool, &s);
	KUNIT_EXPECT_EQ(test, s.block_size, (size_t)256);
	KUNIT_EXPECT_EQ(test, s.blocks, (size_t)0);
	KUNIT_EXPECT_EQ(test, s.active, (size_t)0);
	KUNIT_EXPECT_EQ(test, s.pages, (size_t)0);
	KUNIT_EXPECT_EQ(test, s.bytes, (size_t)0);

	for (i = 0; i < ARRAY_SIZE(block); i++) {
		block[i] = dma_pool_alloc(pool, GFP_KERNEL, &dma[i]);
		KUNIT_ASSERT_NOT_NULL(test, block[i]);
		dma_pool_get_stats(pool, &s);
		KUNIT_EXPECT_EQ(test, s.active, i + 1);
		/* Until 6.3, the last block of each page is never used. */
		KUNIT_EXPECT_GE(test, s.pages, DIV_ROUND_UP(i + 1, each));
		KUNIT_EXPECT_LE(test, s.pages, DIV_ROUND_UP(i + 1, each - 1));
		KUNIT_EXPECT_EQ(test, s.blocks, s.pages * each);
		KUNIT_EXPECT_EQ(test, s.bytes, s.pages * PAGE_SIZE);
	}
	while (i--) {
		dma_pool_free(pool, block[i], dma[i]);
		dma_pool_get_stats(pool, &s);
		KUNIT_EXPECT_EQ(test, s.active, i);
	}
	KUNIT_EXPECT_EQ(test, s.pages, DIV_ROUND_UP(ARRAY_SIZE(block), each));

	/* The other pool is another one. */
	dma_pool_get_stats(prp->device.page, &s);
	KUNIT_EXPECT_EQ(test, s.block_size, (size_t)4096);
	KUNIT_EXPECT_EQ(test, s.pages, (size_t)0);
}

static struct kunit_case prp_test_cases[] = {
	KUNIT_CASE(prp_node_mapping),
	KUNIT_CASE(prp_each_node),
	KUNIT_CASE(prp_start),
	KUNIT_CASE(prp_choices),
	KUNIT_CASE(prp_idle_reset),
	KUNIT_CASE(prp_not_applied),
	KUNIT_CASE(prp_busy),
	KUNIT_CASE(prp_second_namespace),
	KUNIT_CASE(prp_choice_meanwhile),
	KUNIT_CASE(prp_queue_count),
	KUNIT_CASE(prp_queue_moves),
	KUNIT_CASE(prp_queue_moves_alone),
	KUNIT_CASE(prp_queue_moves_each_time),
	KUNIT_CASE(prp_queues_stay),
	KUNIT_CASE(prp_admin_queue),
	KUNIT_CASE(prp_no_memory_at_first),
	KUNIT_CASE(prp_no_memory_in_reset),
	KUNIT_CASE(prp_none),
	KUNIT_CASE(prp_removed),
	KUNIT_CASE(prp_stats),
	{ }
};

static struct kunit_suite prp_suite = {
	.name = "nvme_prp_pools",
	.init = prp_init,
	.exit = prp_exit,
	.test_cases = prp_test_cases,
};

kunit_test_suite(prp_suite);
