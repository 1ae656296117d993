/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the interrupt side of the engine (defer.c) and the lanes (defer-lane.c)
 * share. Private to these two; see defer.h for the whole picture.
 */
#ifndef _NVME_DEFER_LANE_H
#define _NVME_DEFER_LANE_H

#include <linux/minmax.h>

#include "defer.h"

/* Requests to be completed together, in this order. */
struct nvme_defer_group {
	struct request *rq[NVME_DEFER_GROUP];
	unsigned int nr;
	u32 bytes;
};

/* Requests to be pushed together, chained by rq_next. */
struct nvme_defer_chunk {
	struct request *head;
	struct request *last;
	unsigned int nr;
	u32 bytes;
	unsigned long cost;
};

/*
 * One instruction where counters have 64 bits; else the sequence count must not be
 * seen in the middle of a change by an interrupt that counts, too.
 */
static inline void nvme_defer_count(struct nvme_defer_counts *counts,
				    enum nvme_defer_count what, u32 nr)
{
	unsigned long flags;

	flags = u64_stats_update_begin_irqsave(&counts->sync);
	u64_stats_add(&counts->v[what], nr);
	u64_stats_update_end_irqrestore(&counts->sync, flags);
}

/* What a request counts in the backlog: a small one is work, too. */
static inline u32 nvme_defer_cost(u32 bytes)
{
	return max_t(u32, bytes, NVME_DEFER_MIN_BYTES);
}

/* True once the group is to be completed. */
static inline bool nvme_defer_group_add(struct nvme_defer_group *g,
					struct request *rq, u32 bytes,
					u32 limit)
{
	g->rq[g->nr++] = rq;
	g->bytes += bytes;
	return g->nr == NVME_DEFER_GROUP || g->bytes >= limit;
}

void nvme_defer_complete_group(struct nvme_defer *d,
			       struct nvme_defer_group *g);
void nvme_defer_push(struct nvme_defer *d, struct nvme_defer_counts *counts,
		     struct nvme_defer_chunk *c);
void nvme_defer_lane_init(struct nvme_defer_lane *lane, struct nvme_defer *d);

#endif /* _NVME_DEFER_LANE_H */
