/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the core of the control plane and its front ends.
 */
#ifndef _NVMETUNE_INTERNAL_H
#define _NVMETUNE_INTERNAL_H

#include <linux/completion.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/nvmetune.h>
#include <linux/refcount.h>
#include <linux/sysfs.h>

struct dentry;

/**
 * struct nvmetune_attr - a parameter of an object as a file
 * @attr: in sysfs
 * @obj: the object
 * @param: the parameter
 * @in_force: show what holds, not what is set
 */
struct nvmetune_attr {
	struct attribute attr;
	struct nvmetune_object *obj;
	const struct nvmetune_param *param;
	bool in_force;
};

/**
 * struct nvmetune_object - an object
 * @kobj: name, place in sysfs, references to the memory
 * @id: unique, never used again
 * @class: what it has
 * @parent: the object above or NULL; registered for longer than this one
 * @dev: a device to link with or NULL
 * @data: the provider's
 * @path: in the tree, as in nvme0/q1
 * @children: objects below
 * @sibling: in the parent's children, or the list of all at the top
 * @active: callbacks that run, and one until it is unregistered
 * @idle: the last of these has ended
 * @dep_map: says to lockdep that unregistering waits for callbacks
 * @base: what counters and histograms were when they were last reset
 * @base_lock: for @base
 * @dir: in debugfs
 * @attrs: files in sysfs and debugfs: all parameters, then those that inherit
 * @group: of the parameters, in sysfs
 * @in_force: of what holds, in sysfs
 * @listed: attributes of @group and @in_force
 */
struct nvmetune_object {
	struct kobject kobj;
	u32 id;
	const struct nvmetune_class *class;
	struct nvmetune_object *parent;
	struct device *dev;
	void *data;
	char *path;
	struct list_head children;
	struct list_head sibling;

	refcount_t active;
	struct completion idle;
	struct lockdep_map dep_map;

	u64 *base;
	struct mutex base_lock;		/* base */

	struct dentry *dir;
	struct nvmetune_attr *attrs;
	struct attribute_group group;
	struct attribute_group in_force;
	struct attribute **listed;
};

static inline struct nvmetune_object *to_nvmetune_object(struct kobject *kobj)
{
	return container_of(kobj, struct nvmetune_object, kobj);
}

/* core.c */
extern struct kset *nvmetune_kset;

unsigned int nvmetune_generation(void);
struct nvmetune_object *nvmetune_find(const char *path);
struct nvmetune_object *nvmetune_find_next(unsigned long *id);
unsigned int nvmetune_nr_params(const struct nvmetune_class *class);
const struct nvmetune_param *nvmetune_param_at(const struct nvmetune_class *class,
					       unsigned int index);
const struct nvmetune_param *nvmetune_find_param(const struct nvmetune_object *obj,
						 const char *name);
bool nvmetune_enter(struct nvmetune_object *obj);
void nvmetune_leave(struct nvmetune_object *obj);
int nvmetune_show(struct nvmetune_object *obj,
		  const struct nvmetune_param *param, bool in_force, char *buf,
		  size_t size);
int nvmetune_store(struct nvmetune_object *obj,
		   const struct nvmetune_param *param, const char *text);

/* value.c */
enum nvmetune_unit nvmetune_unit(const struct nvmetune_param *param);

/**
 * struct nvmetune_hist_counts - a histogram at one moment
 * @on: it is switched on
 * @count: since the last reset of statistics
 */
struct nvmetune_hist_counts {
	bool on;
	u64 count[NVMETUNE_HIST_BUCKETS];
};

void nvmetune_read_stats(struct nvmetune_object *obj, u64 *values);
void nvmetune_read_hist(struct nvmetune_object *obj, unsigned int index,
			struct nvmetune_hist_counts *counts);
int nvmetune_reset_stats(struct nvmetune_object *obj);

/* sysfs.c */
int nvmetune_sysfs_add(struct nvmetune_object *obj);
void nvmetune_sysfs_remove(struct nvmetune_object *obj);
extern const struct kobj_type nvmetune_ktype;

/* debugfs.c */
#ifdef CONFIG_DEBUG_FS
void nvmetune_debugfs_init(void);
void nvmetune_debugfs_exit(void);
void nvmetune_debugfs_add(struct nvmetune_object *obj);
void nvmetune_debugfs_remove(struct nvmetune_object *obj);
#else
static inline void nvmetune_debugfs_init(void) { }
static inline void nvmetune_debugfs_exit(void) { }
static inline void nvmetune_debugfs_add(struct nvmetune_object *obj) { }
static inline void nvmetune_debugfs_remove(struct nvmetune_object *obj) { }
#endif

/* netlink.c */
#ifdef CONFIG_NVMETUNE_NETLINK
int nvmetune_netlink_init(void);
void nvmetune_netlink_exit(void);
void nvmetune_netlink_object(struct nvmetune_object *obj, bool added);
void nvmetune_netlink_change(const struct nvmetune_setting *s,
			     const struct nvmetune_state *after);
#else
static inline int nvmetune_netlink_init(void)
{
	return 0;
}

static inline void nvmetune_netlink_exit(void) { }
static inline void nvmetune_netlink_object(struct nvmetune_object *obj,
					   bool added) { }
static inline void nvmetune_netlink_change(const struct nvmetune_setting *s,
					   const struct nvmetune_state *after) { }
#endif

#endif /* _NVMETUNE_INTERNAL_H */
