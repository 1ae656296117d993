/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the files of the NVMe PCI driver's part of the control plane.
 */
#ifndef _NVME_TUNE_H
#define _NVME_TUNE_H

#include "defer.h"

struct seq_file;

/* A field of the settings by its place: all are u32. */
#define NVME_TUNE_FIELD(field)						\
	(offsetof(struct nvme_defer_settings, field) / sizeof(u32))
#define NVME_TUNE_NR_FIELDS	(sizeof(struct nvme_defer_settings) / sizeof(u32))

/* Pools are of our making, or, by node only, the kernel's own. */
#if defined(CONFIG_NVME_PRP_POOLS) || defined(CONFIG_NVME_NODE_POOLS)
#define NVME_TUNE_HAS_POOL
#endif

/* The objects' data: the driver's has none, the others' is their level. */
static inline struct nvme_defer_ctrl *nvme_tune_ctrl(struct nvmetune_object *obj)
{
	return container_of(nvmetune_data(obj), struct nvme_defer_ctrl, level);
}

static inline struct nvme_defer *nvme_tune_queue(struct nvmetune_object *obj)
{
	return container_of(nvmetune_data(obj), struct nvme_defer, level);
}

/* tune.c: values and objects */
u32 nvme_tune_in_force(struct nvme_tune_level *level, unsigned int field);
void nvme_tune_get(struct nvmetune_object *obj,
		   const struct nvmetune_param *param,
		   struct nvmetune_state *state);
void nvme_tune_commit(struct nvmetune_setting *s);
int nvme_tune_set_driver(const struct nvmetune_param *param,
			 const struct nvmetune_value *value);
void nvme_tune_inherit_all(const struct nvmetune_param *param);

/* tune-params.c: settings, facts and module parameters */
extern const struct nvmetune_class nvme_tune_driver_class;
extern const struct nvmetune_class nvme_tune_ctrl_class;
extern const struct nvmetune_class nvme_tune_queue_class;

/* tune-stats.c: a queue's statistics; before these, enum nvme_defer_count twice */
enum nvme_tune_queue_stat {
	NVME_TUNE_WORKER_RUNS = 2 * NVME_DEFER_NR_COUNTS,
	NVME_TUNE_WORKER_REQUESTS,
	NVME_TUNE_WORKER_BYTES,
	NVME_TUNE_WORKER_RESCHEDS,
	NVME_TUNE_WORKER_MAX_RUN,
	NVME_TUNE_BACKLOG,
	NVME_TUNE_LANE_BACKLOG_MAX,
	NVME_TUNE_OLDEST,
	NVME_TUNE_FLUSHES,
	NVME_TUNE_FLUSH_WAITS,
	NVME_TUNE_NR_QUEUE_STATS,
};

extern const struct nvmetune_stat nvme_tune_queue_stats[NVME_TUNE_NR_QUEUE_STATS];
extern const struct nvmetune_hist_desc nvme_tune_queue_hists[NVME_DEFER_NR_HISTS];

void nvme_tune_read_stats(struct nvmetune_object *obj, u64 *values);
void nvme_tune_reset_stats(struct nvmetune_object *obj);
void nvme_tune_show_lanes(struct seq_file *m, struct nvmetune_object *obj);
struct nvmetune_hist *nvme_tune_hist(struct nvmetune_object *obj,
				     unsigned int index);

#endif /* _NVME_TUNE_H */
