// SPDX-License-Identifier: GPL-2.0-only
/*
 * The part of vfio type1 and iommufd in the control plane: an object each, with the
 * interval at which their loops let go of the CPU, and what it led to.
 *
 * The objects are there whether or not the driver is loaded.
 */
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sizes.h>

#include "resched.h"

/*
 * The largest power of two at which no stretch takes a millisecond on a server:
 * Documentation/admin-guide/nvmetune.rst derives it.
 */
#define VFIO_RESCHED_DEFAULT	SZ_32M

/* The largest power of two that the control plane reads. */
#define VFIO_RESCHED_MAX	BIT_ULL(33)

struct vfio_resched_set vfio_resched_sets[VFIO_RESCHED_NR_OBJECTS] = {
	[VFIO_RESCHED_TYPE1] = {
		.resched_bytes = VFIO_RESCHED_DEFAULT,
		.skip = true,
	},
	[VFIO_RESCHED_IOMMUFD] = {
		.resched_bytes = VFIO_RESCHED_DEFAULT,
	},
};

const char * const vfio_resched_names[VFIO_RESCHED_NR_OBJECTS] = {
	[VFIO_RESCHED_TYPE1]	= "vfio_type1",
	[VFIO_RESCHED_IOMMUFD]	= "iommufd",
};

static void vfio_resched_get_bytes(struct nvmetune_object *obj,
				   const struct nvmetune_param *param,
				   struct nvmetune_state *state)
{
	struct vfio_resched_set *set = nvmetune_data(obj);

	state->own.num = READ_ONCE(set->resched_bytes);
	state->in_force = state->own.num;
}

static void vfio_resched_commit_bytes(struct nvmetune_setting *s)
{
	struct vfio_resched_set *set = nvmetune_data(s->obj);

	WRITE_ONCE(set->resched_bytes,
		   s->value.inherit ? s->param->def : s->value.num);
}

static void vfio_resched_get_skip(struct nvmetune_object *obj,
				  const struct nvmetune_param *param,
				  struct nvmetune_state *state)
{
	struct vfio_resched_set *set = nvmetune_data(obj);

	state->own.num = READ_ONCE(set->skip);
	state->in_force = state->own.num;
}

static void vfio_resched_commit_skip(struct nvmetune_setting *s)
{
	struct vfio_resched_set *set = nvmetune_data(s->obj);

	WRITE_ONCE(set->skip, s->value.inherit ? s->param->def : s->value.num);
}

static void vfio_resched_get_inert(struct nvmetune_object *obj,
				   const struct nvmetune_param *param,
				   struct nvmetune_state *state)
{
	/* That is where cond_resched() does nothing. */
	state->own.num = preempt_model_preemptible();
	state->in_force = state->own.num;
}

static const struct nvmetune_param vfio_resched_params[] = {
	{
		.name = "resched_bytes",
		.help = "let go of the CPU each so many bytes of memory, 0: never",
		.type = NVMETUNE_TYPE_BYTES,
		.max = VFIO_RESCHED_MAX,
		.def = VFIO_RESCHED_DEFAULT,
		.inherits = true,
		.get = vfio_resched_get_bytes,
		.commit = vfio_resched_commit_bytes,
	},
	{
		.name = "inert",
		.help = "the kernel preempts anyway: resched_bytes only cuts work into pieces",
		.type = NVMETUNE_TYPE_BOOL,
		.max = 1,
		.get = vfio_resched_get_inert,
	},
};

static const struct nvmetune_param vfio_resched_type1_params[] = {
	{
		.name = "skip_contiguous",
		.help = "look up only pages that may not follow the one before",
		.type = NVMETUNE_TYPE_BOOL,
		.max = 1,
		.def = 1,
		.inherits = true,
		.get = vfio_resched_get_skip,
		.commit = vfio_resched_commit_skip,
	},
};

#define VFIO_RESCHED_STAT(pname, pkind, punit, phelp)			\
	{								\
		.name = pname, .help = phelp,				\
		.kind = NVMETUNE_STAT_KIND_##pkind,			\
		.unit = NVMETUNE_UNIT_##punit,				\
	}

static const struct nvmetune_stat vfio_resched_stats[] = {
	VFIO_RESCHED_STAT("unmaps", COUNTER, NONE,
			  "mappings unmapped"),
	VFIO_RESCHED_STAT("bytes", COUNTER, BYTES,
			  "of these"),
	VFIO_RESCHED_STAT("reschedules", COUNTER, NONE,
			  "times that resched_bytes were done"),
	VFIO_RESCHED_STAT("yields", COUNTER, NONE,
			  "times that another task was run"),
	VFIO_RESCHED_STAT("longest_stretch_ns", MAXIMUM, NANOSECONDS,
			  "longest time without letting go of the CPU"),
};

static void vfio_resched_read_stats(struct nvmetune_object *obj, u64 *values)
{
	struct vfio_resched_set *set = nvmetune_data(obj);

	*values++ = atomic64_read(&set->unmaps);
	*values++ = atomic64_read(&set->bytes);
	*values++ = atomic64_read(&set->rescheds);
	*values++ = atomic64_read(&set->yields);
	*values++ = atomic64_read(&set->longest);
}

static void vfio_resched_reset_stats(struct nvmetune_object *obj)
{
	struct vfio_resched_set *set = nvmetune_data(obj);

	atomic64_set(&set->longest, 0);
}

static const struct nvmetune_hist_desc vfio_resched_hists[] = {
	{
		.name = "stretch_ns",
		.help = "times without letting go of the CPU",
		.unit = NVMETUNE_UNIT_NANOSECONDS,
	},
};

static struct nvmetune_hist *vfio_resched_hist(struct nvmetune_object *obj,
					       unsigned int index)
{
	struct vfio_resched_set *set = nvmetune_data(obj);

	return &set->stretches;
}

static const struct nvmetune_class vfio_resched_type1_class = {
	.name		= "vfio-type1",
	.params		= {
		{ vfio_resched_params, ARRAY_SIZE(vfio_resched_params) },
		{ vfio_resched_type1_params, ARRAY_SIZE(vfio_resched_type1_params) },
	},
	.stats		= vfio_resched_stats,
	.nr_stats	= ARRAY_SIZE(vfio_resched_stats),
	.hists		= vfio_resched_hists,
	.nr_hists	= ARRAY_SIZE(vfio_resched_hists),
	.read_stats	= vfio_resched_read_stats,
	.reset_stats	= vfio_resched_reset_stats,
	.hist		= vfio_resched_hist,
};

static const struct nvmetune_class vfio_resched_iommufd_class = {
	.name		= "iommufd",
	.params		= {
		{ vfio_resched_params, ARRAY_SIZE(vfio_resched_params) },
	},
	.stats		= vfio_resched_stats,
	.nr_stats	= ARRAY_SIZE(vfio_resched_stats),
	.hists		= vfio_resched_hists,
	.nr_hists	= ARRAY_SIZE(vfio_resched_hists),
	.read_stats	= vfio_resched_read_stats,
	.reset_stats	= vfio_resched_reset_stats,
	.hist		= vfio_resched_hist,
};

static const struct nvmetune_class * const vfio_resched_classes[] = {
	[VFIO_RESCHED_TYPE1]	= &vfio_resched_type1_class,
	[VFIO_RESCHED_IOMMUFD]	= &vfio_resched_iommufd_class,
};

/* Those that this kernel has. */
static bool vfio_resched_present(enum vfio_resched_object object)
{
	return object == VFIO_RESCHED_TYPE1 ? IS_ENABLED(CONFIG_VFIO_IOMMU_TYPE1) :
					      IS_ENABLED(CONFIG_IOMMUFD);
}

static void vfio_resched_tune_exit(void)
{
	unsigned int i;

	for (i = 0; i < VFIO_RESCHED_NR_OBJECTS; i++)
		nvmetune_unregister(vfio_resched_sets[i].obj);
}

/* Without memory for an object, the loops let go of the CPU all the same. */
static int __init vfio_resched_tune_init(void)
{
	struct nvmetune_object *obj;
	unsigned int i;

	for (i = 0; i < VFIO_RESCHED_NR_OBJECTS; i++) {
		if (!vfio_resched_present(i))
			continue;
		obj = nvmetune_register(vfio_resched_classes[i], NULL,
					vfio_resched_names[i], NULL,
					&vfio_resched_sets[i]);
		vfio_resched_sets[i].obj = IS_ERR(obj) ? NULL : obj;
	}
	return 0;
}

module_init(vfio_resched_tune_init);
module_exit(vfio_resched_tune_exit);

MODULE_DESCRIPTION("vfio and iommufd: let go of the CPU in long loops");
MODULE_LICENSE("GPL");
