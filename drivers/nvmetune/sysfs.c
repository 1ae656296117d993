// SPDX-License-Identifier: GPL-2.0-only
/*
 * A control plane for tunable drivers: /sys/kernel/nvmetune/.
 *
 * A directory an object, a file a parameter. What holds, for parameters that may
 * inherit, is in the directory in_force.
 */
#include <linux/capability.h>
#include <linux/device.h>
#include <linux/slab.h>

#include "internal.h"

static struct nvmetune_attr *to_nvmetune_attr(struct attribute *attr)
{
	return container_of(attr, struct nvmetune_attr, attr);
}

static ssize_t nvmetune_sysfs_show(struct kobject *kobj,
				   struct attribute *attr, char *buf)
{
	const struct nvmetune_attr *a = to_nvmetune_attr(attr);
	int len;

	len = nvmetune_show(a->obj, a->param, a->in_force, buf, PAGE_SIZE - 1);
	if (len < 0)
		return len;
	return len + sysfs_emit_at(buf, len, "\n");
}

static ssize_t nvmetune_sysfs_store(struct kobject *kobj,
				    struct attribute *attr, const char *buf,
				    size_t count)
{
	const struct nvmetune_attr *a = to_nvmetune_attr(attr);
	int ret;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	ret = nvmetune_store(a->obj, a->param, buf);
	return ret ?: count;
}

static const struct sysfs_ops nvmetune_sysfs_ops = {
	.show	= nvmetune_sysfs_show,
	.store	= nvmetune_sysfs_store,
};

static void nvmetune_release(struct kobject *kobj)
{
	struct nvmetune_object *obj = to_nvmetune_object(kobj);

	kfree(obj->listed);
	kfree(obj->attrs);
	kfree(obj->base);
	kfree(obj->path);
	kfree(obj);
}

const struct kobj_type nvmetune_ktype = {
	.release	= nvmetune_release,
	.sysfs_ops	= &nvmetune_sysfs_ops,
};

static void nvmetune_init_attr(struct nvmetune_attr *a,
			       struct nvmetune_object *obj,
			       const struct nvmetune_param *param, bool in_force)
{
	sysfs_attr_init(&a->attr);
	a->attr.name = param->name;
	a->attr.mode = param->commit && !in_force ? 0644 : 0444;
	a->obj = obj;
	a->param = param;
	a->in_force = in_force;
}

static int nvmetune_init_attrs(struct nvmetune_object *obj)
{
	const struct nvmetune_class *class = obj->class;
	unsigned int nr = nvmetune_nr_params(class), i;
	struct attribute **own, **in_force;
	struct nvmetune_attr *a;

	obj->attrs = kcalloc(2 * nr, sizeof(*obj->attrs), GFP_KERNEL);
	/* Two lists, each with a NULL at its end. */
	obj->listed = kcalloc(2 * nr + 2, sizeof(*obj->listed), GFP_KERNEL);
	if (!obj->attrs || !obj->listed)
		return -ENOMEM;
	a = obj->attrs;
	own = obj->listed;
	in_force = obj->listed + nr + 1;
	obj->group.attrs = own;
	obj->in_force.name = "in_force";
	obj->in_force.attrs = in_force;
	for (i = 0; i < nr; i++) {
		nvmetune_init_attr(a, obj, nvmetune_param_at(class, i), false);
		*own++ = &a++->attr;
	}
	for (i = 0; i < nr; i++) {
		if (!nvmetune_param_at(class, i)->inherits)
			continue;
		nvmetune_init_attr(a, obj, nvmetune_param_at(class, i), true);
		*in_force++ = &a++->attr;
	}
	return 0;
}

/**
 * nvmetune_sysfs_add() - add an object's files
 * @obj: the object, whose directory is there
 *
 * Return: 0 or an error, with nothing added.
 */
int nvmetune_sysfs_add(struct nvmetune_object *obj)
{
	int ret;

	ret = nvmetune_init_attrs(obj);
	if (ret)
		return ret;
	ret = sysfs_create_group(&obj->kobj, &obj->group);
	if (ret)
		return ret;
	if (obj->in_force.attrs[0]) {
		ret = sysfs_create_group(&obj->kobj, &obj->in_force);
		if (ret)
			goto remove_group;
	}
	if (!obj->dev)
		return 0;
	ret = sysfs_create_link(&obj->kobj, &obj->dev->kobj, "device");
	if (ret)
		goto remove_in_force;
	ret = sysfs_create_link(&obj->dev->kobj, &obj->kobj, "nvmetune");
	if (ret)
		goto remove_link;
	return 0;

remove_link:
	sysfs_remove_link(&obj->kobj, "device");
remove_in_force:
	if (obj->in_force.attrs[0])
		sysfs_remove_group(&obj->kobj, &obj->in_force);
remove_group:
	sysfs_remove_group(&obj->kobj, &obj->group);
	return ret;
}

/**
 * nvmetune_sysfs_remove() - undo nvmetune_sysfs_add()
 * @obj: the object
 *
 * Waits for readers and writers of the files, which find the object gone.
 */
void nvmetune_sysfs_remove(struct nvmetune_object *obj)
{
	if (obj->dev) {
		sysfs_remove_link(&obj->dev->kobj, "nvmetune");
		sysfs_remove_link(&obj->kobj, "device");
	}
	if (obj->in_force.attrs[0])
		sysfs_remove_group(&obj->kobj, &obj->in_force);
	sysfs_remove_group(&obj->kobj, &obj->group);
}
