// SPDX-License-Identifier: GPL-2.0-only
/*
 * A control plane for tunable drivers: the registry of objects, and changes of
 * their parameters.
 *
 * Three things are kept apart:
 *
 * - Whether an object can be found: the registry, under nvmetune_registry, which
 *   is never held across a provider's code.
 * - Whether a provider's code may run for it: nvmetune_enter() and
 *   nvmetune_leave(), the only way to get there. Unregistering waits for those
 *   that are inside; who comes later is told that the object is gone.
 * - Whether its memory is there: the kobject's references. An open file or a
 *   running dump holds one, or an id only.
 */
#include <linux/idr.h>
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/xarray.h>

#include "internal.h"

#define CREATE_TRACE_POINTS
#include <trace/events/nvmetune.h>

/* The tree of objects and the ids. */
static DEFINE_MUTEX(nvmetune_registry);
static DEFINE_XARRAY_ALLOC1(nvmetune_objects);
static LIST_HEAD(nvmetune_top);
static u32 nvmetune_next_id;

/* Serialises changes. */
static DEFINE_MUTEX(nvmetune_changes);

/* Raised with each object that comes or goes and each value that changes. */
static atomic_t nvmetune_generations = ATOMIC_INIT(1);

struct kset *nvmetune_kset;

/**
 * nvmetune_generation() - tells whether a dump is of one moment
 *
 * Return: a number other than 0, the same as long as nothing changes.
 */
unsigned int nvmetune_generation(void)
{
	return (unsigned int)atomic_read(&nvmetune_generations) ?: 1;
}

static void nvmetune_changed(void)
{
	atomic_inc(&nvmetune_generations);
}

/* Who may run a provider's code */

static bool nvmetune_hold(struct nvmetune_object *obj)
{
	return refcount_inc_not_zero(&obj->active);
}

/**
 * nvmetune_enter() - begin to run a provider's code for an object
 * @obj: the object; the caller has a reference
 *
 * Context: may sleep afterwards, until nvmetune_leave().
 * Return: false if the object is gone.
 */
bool nvmetune_enter(struct nvmetune_object *obj)
{
	if (!nvmetune_hold(obj))
		return false;
	/* As a trylock: it does not wait. */
	rwsem_acquire_read(&obj->dep_map, 0, 1, _RET_IP_);
	return true;
}

static void nvmetune_drop_active(struct nvmetune_object *obj)
{
	if (refcount_dec_and_test(&obj->active))
		complete(&obj->idle);
}

/**
 * nvmetune_leave() - end what nvmetune_enter() has begun
 * @obj: the object
 */
void nvmetune_leave(struct nvmetune_object *obj)
{
	rwsem_release(&obj->dep_map, _RET_IP_);
	nvmetune_drop_active(obj);
}

static void nvmetune_drain(struct nvmetune_object *obj)
{
	rwsem_acquire(&obj->dep_map, 0, 0, _RET_IP_);
	nvmetune_drop_active(obj);
	wait_for_completion(&obj->idle);
	rwsem_release(&obj->dep_map, _RET_IP_);
}

/* The registry */

static struct list_head *nvmetune_siblings(struct nvmetune_object *parent)
{
	return parent ? &parent->children : &nvmetune_top;
}

static struct nvmetune_object *nvmetune_child(struct nvmetune_object *parent,
					      const char *name, size_t len)
{
	struct nvmetune_object *obj;

	lockdep_assert_held(&nvmetune_registry);
	list_for_each_entry(obj, nvmetune_siblings(parent), sibling) {
		const char *have = kobject_name(&obj->kobj);

		if (!strncmp(have, name, len) && !have[len])
			return obj;
	}
	return NULL;
}

/**
 * nvmetune_find() - find an object
 * @path: as in nvme0/q1
 *
 * Context: may sleep.
 * Return: the object, to be given back with nvmetune_put(), or NULL.
 */
struct nvmetune_object *nvmetune_find(const char *path)
{
	struct nvmetune_object *obj = NULL;
	size_t len;

	mutex_lock(&nvmetune_registry);
	do {
		len = strcspn(path, "/");
		obj = nvmetune_child(obj, path, len);
		path += len;
	} while (obj && *path++);
	if (obj)
		kobject_get(&obj->kobj);
	mutex_unlock(&nvmetune_registry);
	return obj;
}

/**
 * nvmetune_find_next() - go through all objects
 * @id: in: the lowest id; out: the id of what was found
 *
 * Return: the object, to be given back with nvmetune_put(), or NULL.
 */
struct nvmetune_object *nvmetune_find_next(unsigned long *id)
{
	struct nvmetune_object *obj;

	mutex_lock(&nvmetune_registry);
	obj = xa_find(&nvmetune_objects, id, ULONG_MAX, XA_PRESENT);
	if (obj)
		kobject_get(&obj->kobj);
	mutex_unlock(&nvmetune_registry);
	return obj;
}

/**
 * nvmetune_put() - give back a reference
 * @obj: the object or NULL
 */
void nvmetune_put(struct nvmetune_object *obj)
{
	if (obj)
		kobject_put(&obj->kobj);
}
EXPORT_SYMBOL_GPL(nvmetune_put);

/**
 * nvmetune_get() - take a reference
 * @obj: the object, which the caller knows to be registered still
 *
 * Return: @obj.
 */
struct nvmetune_object *nvmetune_get(struct nvmetune_object *obj)
{
	kobject_get(&obj->kobj);
	return obj;
}
EXPORT_SYMBOL_GPL(nvmetune_get);

/**
 * nvmetune_nr_params() - how many parameters objects of a class have
 * @class: the class
 */
unsigned int nvmetune_nr_params(const struct nvmetune_class *class)
{
	unsigned int nr = 0, i;

	for (i = 0; i < NVMETUNE_MAX_TABLES; i++)
		nr += class->params[i].nr;
	return nr;
}

/**
 * nvmetune_param_at() - a parameter by its place
 * @class: the class
 * @index: below nvmetune_nr_params()
 */
const struct nvmetune_param *nvmetune_param_at(const struct nvmetune_class *class,
					       unsigned int index)
{
	const struct nvmetune_params *table = class->params;

	while (index >= table->nr)
		index -= table++->nr;
	return &table->param[index];
}

/**
 * nvmetune_find_param() - find a parameter of an object
 * @obj: the object
 * @name: of the parameter
 *
 * Return: the parameter or NULL.
 */
const struct nvmetune_param *nvmetune_find_param(const struct nvmetune_object *obj,
						 const char *name)
{
	const struct nvmetune_param *param;
	unsigned int i;

	for (i = 0; i < nvmetune_nr_params(obj->class); i++) {
		param = nvmetune_param_at(obj->class, i);
		if (!strcmp(param->name, name))
			return param;
	}
	return NULL;
}

/**
 * nvmetune_data() - what the provider registered an object with
 * @obj: the object
 */
void *nvmetune_data(const struct nvmetune_object *obj)
{
	return obj->data;
}
EXPORT_SYMBOL_GPL(nvmetune_data);

/**
 * nvmetune_path() - an object's name in the tree
 * @obj: the object
 */
const char *nvmetune_path(const struct nvmetune_object *obj)
{
	return obj->path;
}
EXPORT_SYMBOL_GPL(nvmetune_path);

static size_t nvmetune_base_size(const struct nvmetune_class *class)
{
	return class->nr_stats + class->nr_hists * NVMETUNE_HIST_BUCKETS;
}

static struct nvmetune_object *
nvmetune_alloc(const struct nvmetune_class *class,
	       struct nvmetune_object *parent, const char *name)
{
	static struct lock_class_key key;
	struct nvmetune_object *obj;

	obj = kzalloc(sizeof(*obj), GFP_KERNEL);
	if (!obj)
		return NULL;
	kobject_init(&obj->kobj, &nvmetune_ktype);
	obj->class = class;
	obj->parent = parent;
	INIT_LIST_HEAD(&obj->children);
	INIT_LIST_HEAD(&obj->sibling);
	refcount_set(&obj->active, 1);
	init_completion(&obj->idle);
	mutex_init(&obj->base_lock);
	lockdep_init_map(&obj->dep_map, "nvmetune_active", &key, 0);
	if (parent)
		obj->path = kasprintf(GFP_KERNEL, "%s/%s", parent->path, name);
	else
		obj->path = kstrdup(name, GFP_KERNEL);
	obj->base = kcalloc(nvmetune_base_size(class), sizeof(*obj->base),
			    GFP_KERNEL);
	if (!obj->path || !obj->base) {
		nvmetune_put(obj);
		return NULL;
	}
	return obj;
}

static int nvmetune_insert(struct nvmetune_object *obj)
{
	int ret;

	mutex_lock(&nvmetune_registry);
	ret = xa_alloc_cyclic(&nvmetune_objects, &obj->id, obj, xa_limit_32b,
			      &nvmetune_next_id, GFP_KERNEL);
	if (ret >= 0) {
		list_add_tail(&obj->sibling, nvmetune_siblings(obj->parent));
		nvmetune_changed();
	}
	mutex_unlock(&nvmetune_registry);
	return ret < 0 ? ret : 0;
}

/**
 * nvmetune_register() - make an object known
 * @class: what it has; must stay
 * @parent: the object above, NULL at the top
 * @name: unique below @parent
 * @dev: optional: device to link with, in sysfs
 * @data: for the provider's callbacks, which may run at once
 *
 * Context: may sleep, and may do I/O to get memory: not where I/O waits for the
 *	caller.
 * Return: the object or an error pointer: -ENOMEM, -EEXIST, -ENAMETOOLONG.
 */
struct nvmetune_object *nvmetune_register(const struct nvmetune_class *class,
					  struct nvmetune_object *parent,
					  const char *name, struct device *dev,
					  void *data)
{
	struct nvmetune_object *obj;
	int ret;

	obj = nvmetune_alloc(class, parent, name);
	if (!obj)
		return ERR_PTR(-ENOMEM);
	obj->dev = dev;
	obj->data = data;
	ret = -ENAMETOOLONG;
	if (strlen(obj->path) > NVMETUNE_MAX_PATH)
		goto put;
	obj->kobj.kset = nvmetune_kset;
	ret = kobject_add(&obj->kobj, parent ? &parent->kobj : NULL, "%s", name);
	if (ret)
		goto put;
	ret = nvmetune_sysfs_add(obj);
	if (ret)
		goto del;
	ret = nvmetune_insert(obj);
	if (ret)
		goto remove;
	nvmetune_debugfs_add(obj);
	nvmetune_netlink_object(obj, true);
	kobject_uevent(&obj->kobj, KOBJ_ADD);
	return obj;

remove:
	nvmetune_drain(obj);
	nvmetune_sysfs_remove(obj);
del:
	kobject_del(&obj->kobj);
put:
	nvmetune_put(obj);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(nvmetune_register);

/**
 * nvmetune_unregister() - an object goes
 * @obj: the object; NULL and error pointers are fine. Those below it went before.
 *
 * When it returns, no callback of the object runs, nor ever will.
 *
 * Context: may sleep. The caller must hold no lock that a callback takes.
 */
void nvmetune_unregister(struct nvmetune_object *obj)
{
	if (IS_ERR_OR_NULL(obj))
		return;
	WARN_ON(!list_empty(&obj->children));
	mutex_lock(&nvmetune_registry);
	xa_erase(&nvmetune_objects, obj->id);
	list_del_init(&obj->sibling);
	nvmetune_changed();
	mutex_unlock(&nvmetune_registry);

	nvmetune_drain(obj);
	nvmetune_debugfs_remove(obj);
	nvmetune_sysfs_remove(obj);
	nvmetune_netlink_object(obj, false);
	kobject_del(&obj->kobj);
	nvmetune_put(obj);
}
EXPORT_SYMBOL_GPL(nvmetune_unregister);

/* Changes */

static int nvmetune_check_setting(struct nvmetune_setting *s, unsigned int i,
				  struct nvmetune_error *err)
{
	unsigned int j;

	if (!s[i].param->commit) {
		err->text = "read-only";
		return -EPERM;
	}
	for (j = 0; j < i; j++) {
		if (s[j].obj == s[i].obj && s[j].param == s[i].param) {
			err->text = "set twice in one request";
			return -EINVAL;
		}
	}
	return nvmetune_check(s[i].param, &s[i].value, err);
}

static int nvmetune_prepare(struct nvmetune_setting *s, unsigned int nr,
			    struct nvmetune_error *err)
{
	unsigned int i;
	int ret;

	for (i = 0; i < nr; i++) {
		err->index = i;
		ret = nvmetune_check_setting(s, i, err);
		if (ret)
			return ret;
	}
	for (i = 0; i < nr; i++) {
		err->index = i;
		s[i].prepared = NULL;
		s[i].param->get(s[i].obj, s[i].param, &s[i].before);
		if (!s[i].param->prepare)
			continue;
		ret = s[i].param->prepare(&s[i], err);
		if (ret)
			goto abort;
	}
	return 0;

abort:
	while (i--)
		if (s[i].param->abort)
			s[i].param->abort(&s[i]);
	return ret;
}

static void nvmetune_trace(const struct nvmetune_setting *s,
			   const struct nvmetune_state *now)
{
	struct nvmetune_value in_force = { .num = now->in_force };
	char old_text[NVMETUNE_MAX_NAME + 1];
	char new_text[NVMETUNE_MAX_NAME + 1];
	char in_force_text[NVMETUNE_MAX_NAME + 1];

	if (!trace_nvmetune_param_enabled())
		return;
	nvmetune_format(s->param, &s->before.own, old_text, sizeof(old_text));
	nvmetune_format(s->param, &now->own, new_text, sizeof(new_text));
	nvmetune_format(s->param, &in_force, in_force_text,
			sizeof(in_force_text));
	trace_nvmetune_param(s->obj->path, s->param->name, old_text, new_text,
			     in_force_text);
}

static void nvmetune_tell(struct nvmetune_setting *s)
{
	const struct nvmetune_value *old = &s->before.own;
	struct nvmetune_state now;

	s->param->get(s->obj, s->param, &now);
	if (old->inherit == now.own.inherit &&
	    (old->inherit || old->num == now.own.num))
		return;
	nvmetune_changed();
	nvmetune_trace(s, &now);
	nvmetune_netlink_change(s, &now);
}

/**
 * nvmetune_apply() - change parameters, all or none
 * @settings: what to change, of any objects; the caller has references
 * @nr: number of settings, up to NVMETUNE_MAX_SETTINGS
 * @err: out: in case of an error, which setting and why
 *
 * Context: may sleep; takes locks of the providers'.
 * Return: 0, or what was wrong: -ENODEV object gone, -EPERM read-only, -EINVAL,
 *	-ERANGE, -E2BIG too many at once, or what a provider says, of which -EBUSY
 *	means that it cannot be changed now.
 */
int nvmetune_apply(struct nvmetune_setting *settings, unsigned int nr,
		   struct nvmetune_error *err)
{
	unsigned int inside, i;
	int ret = 0;

	*err = (struct nvmetune_error){ };
	if (!nr)
		return 0;
	if (nr > NVMETUNE_MAX_SETTINGS) {
		err->text = "too many settings in one request";
		return -E2BIG;
	}
	mutex_lock(&nvmetune_changes);
	for (inside = 0; inside < nr; inside++) {
		if (nvmetune_hold(settings[inside].obj))
			continue;
		err->index = inside;
		err->text = "the object has gone";
		ret = -ENODEV;
		goto leave;
	}
	/* One for all, as nvmetune_enter(): lockdep takes 48 locks a task. */
	rwsem_acquire_read(&settings[0].obj->dep_map, 0, 1, _RET_IP_);
	ret = nvmetune_prepare(settings, nr, err);
	if (ret)
		goto release;
	for (i = 0; i < nr; i++)
		settings[i].param->commit(&settings[i]);
	for (i = 0; i < nr; i++)
		nvmetune_tell(&settings[i]);
release:
	rwsem_release(&settings[0].obj->dep_map, _RET_IP_);
leave:
	while (inside--)
		nvmetune_drop_active(settings[inside].obj);
	mutex_unlock(&nvmetune_changes);
	return ret;
}
EXPORT_SYMBOL_GPL(nvmetune_apply);

/**
 * nvmetune_show() - a value as text
 * @obj: the object
 * @param: its parameter
 * @in_force: what holds, instead of what is set
 * @buf: where to write, without a line feed
 * @size: of @buf
 *
 * Return: length, or -ENODEV if the object is gone.
 */
int nvmetune_show(struct nvmetune_object *obj,
		  const struct nvmetune_param *param, bool in_force, char *buf,
		  size_t size)
{
	struct nvmetune_state state;
	int len;

	if (!nvmetune_enter(obj))
		return -ENODEV;
	if (param->type == NVMETUNE_TYPE_TEXT) {
		len = param->text(obj, param, buf, size);
	} else {
		param->get(obj, param, &state);
		if (in_force)
			state.own = (struct nvmetune_value){ .num = state.in_force };
		len = nvmetune_format(param, &state.own, buf, size);
	}
	nvmetune_leave(obj);
	return len;
}

/**
 * nvmetune_store() - set a value from text
 * @obj: the object
 * @param: its parameter
 * @text: the value
 *
 * Return: 0 or as nvmetune_apply().
 */
int nvmetune_store(struct nvmetune_object *obj,
		   const struct nvmetune_param *param, const char *text)
{
	struct nvmetune_setting s = { .obj = obj, .param = param };
	struct nvmetune_error err;
	int ret;

	if (!param->commit)
		return -EPERM;
	ret = nvmetune_parse(param, text, &s.value, &err);
	if (ret)
		return ret;
	return nvmetune_apply(&s, 1, &err);
}

/* Statistics */

/**
 * nvmetune_read_stats() - an object's statistics since the last reset of them
 * @obj: the object; the caller is inside
 * @values: out: one for each
 */
void nvmetune_read_stats(struct nvmetune_object *obj, u64 *values)
{
	const struct nvmetune_class *class = obj->class;
	unsigned int i;

	mutex_lock(&obj->base_lock);
	class->read_stats(obj, values);
	for (i = 0; i < class->nr_stats; i++)
		if (class->stats[i].kind == NVMETUNE_STAT_KIND_COUNTER)
			values[i] -= obj->base[i];
	mutex_unlock(&obj->base_lock);
}

static u64 *nvmetune_hist_base(struct nvmetune_object *obj, unsigned int index)
{
	return obj->base + obj->class->nr_stats + index * NVMETUNE_HIST_BUCKETS;
}

/**
 * nvmetune_read_hist() - a histogram since the last reset of statistics
 * @obj: the object; the caller is inside
 * @index: which
 * @counts: out
 */
void nvmetune_read_hist(struct nvmetune_object *obj, unsigned int index,
			struct nvmetune_hist_counts *counts)
{
	struct nvmetune_hist *hist = obj->class->hist(obj, index);
	u64 *base = nvmetune_hist_base(obj, index);
	unsigned int b;

	counts->on = hist;
	if (!hist)
		return;
	mutex_lock(&obj->base_lock);
	for (b = 0; b < NVMETUNE_HIST_BUCKETS; b++)
		counts->count[b] = atomic64_read(&hist->count[b]) - base[b];
	mutex_unlock(&obj->base_lock);
}

/**
 * nvmetune_reset_stats() - let an object's statistics start from 0 again
 * @obj: the object
 *
 * Return: 0, or -ENODEV if the object is gone.
 */
int nvmetune_reset_stats(struct nvmetune_object *obj)
{
	const struct nvmetune_class *class = obj->class;
	struct nvmetune_hist *hist;
	unsigned int i, b;

	if (!nvmetune_enter(obj))
		return -ENODEV;
	mutex_lock(&obj->base_lock);
	if (class->nr_stats)
		class->read_stats(obj, obj->base);
	for (i = 0; i < class->nr_hists; i++) {
		hist = class->hist(obj, i);
		for (b = 0; hist && b < NVMETUNE_HIST_BUCKETS; b++)
			nvmetune_hist_base(obj, i)[b] =
				atomic64_read(&hist->count[b]);
	}
	if (class->reset_stats)
		class->reset_stats(obj);
	mutex_unlock(&obj->base_lock);
	nvmetune_leave(obj);
	return 0;
}

static int __init nvmetune_init(void)
{
	int ret;

	nvmetune_kset = kset_create_and_add("nvmetune", NULL, kernel_kobj);
	if (!nvmetune_kset)
		return -ENOMEM;
	nvmetune_debugfs_init();
	ret = nvmetune_netlink_init();
	if (ret) {
		nvmetune_debugfs_exit();
		kset_unregister(nvmetune_kset);
	}
	return ret;
}

/* Before any provider that is built in, wherever it is linked. */
subsys_initcall(nvmetune_init);

static void __exit nvmetune_exit(void)
{
	nvmetune_netlink_exit();
	nvmetune_debugfs_exit();
	kset_unregister(nvmetune_kset);
}
module_exit(nvmetune_exit);

MODULE_DESCRIPTION("Control plane for tunable storage drivers");
MODULE_LICENSE("GPL");
