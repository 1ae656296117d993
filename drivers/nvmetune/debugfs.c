// SPDX-License-Identifier: GPL-2.0-only
/*
 * A control plane for tunable drivers: /sys/kernel/debug/nvmetune/, for people.
 *
 * Below each object's directory: params, stats, histograms, the provider's own
 * tables, all read-only, and a file for each parameter. Under lockdown, files that
 * can be written cannot be opened at all.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "internal.h"

/* Longest text that is shown for one value. */
#define NVMETUNE_TEXT_SIZE	1024

static struct dentry *nvmetune_debugfs;

static const char * const nvmetune_unit_names[] = {
	[NVMETUNE_UNIT_NONE]		= "",
	[NVMETUNE_UNIT_BYTES]		= "bytes",
	[NVMETUNE_UNIT_PERCENT]		= "per cent",
	[NVMETUNE_UNIT_MILLISECONDS]	= "ms",
	[NVMETUNE_UNIT_NANOSECONDS]	= "ns",
	[NVMETUNE_UNIT_REQUESTS]	= "requests",
};

static void nvmetune_show_range(struct seq_file *m,
				const struct nvmetune_param *p)
{
	unsigned int i;

	switch (p->type) {
	case NVMETUNE_TYPE_TEXT:
		return;
	case NVMETUNE_TYPE_BOOL:
		seq_puts(m, "0 1");
		break;
	case NVMETUNE_TYPE_ENUM:
		for (i = 0; p->names[i]; i++)
			seq_printf(m, "%s%s", i ? " " : "", p->names[i]);
		break;
	default:
		seq_printf(m, "%llu-%llu", p->min, p->max);
		break;
	}
	if (p->inherits)
		seq_puts(m, " inherit");
}

static int nvmetune_show_param(struct seq_file *m, struct nvmetune_object *obj,
			       const struct nvmetune_param *p, char *buf)
{
	const char *unit = nvmetune_unit_names[nvmetune_unit(p)];
	int len;

	len = nvmetune_show(obj, p, false, buf, NVMETUNE_TEXT_SIZE);
	if (len < 0)
		return len;
	seq_printf(m, "%-20s %.*s", p->name, len, buf);
	if (p->inherits) {
		len = nvmetune_show(obj, p, true, buf, NVMETUNE_TEXT_SIZE);
		if (len < 0)
			return len;
		seq_printf(m, " (%.*s)", len, buf);
	}
	if (p->commit) {
		seq_puts(m, "  [");
		nvmetune_show_range(m, p);
		seq_puts(m, "]");
	}
	seq_printf(m, "%s%s: %s\n", *unit ? " " : "", unit, p->help);
	return 0;
}

static int nvmetune_params_show(struct seq_file *m, void *unused)
{
	struct nvmetune_object *obj = m->private;
	unsigned int i;
	int ret = 0;
	char *buf;

	buf = kmalloc(NVMETUNE_TEXT_SIZE, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	for (i = 0; i < nvmetune_nr_params(obj->class) && !ret; i++)
		ret = nvmetune_show_param(m, obj,
					  nvmetune_param_at(obj->class, i), buf);
	kfree(buf);
	return ret;
}
DEFINE_SHOW_ATTRIBUTE(nvmetune_params);

static int nvmetune_stats_show(struct seq_file *m, void *unused)
{
	struct nvmetune_object *obj = m->private;
	const struct nvmetune_class *class = obj->class;
	unsigned int i;
	u64 *values;

	values = kcalloc(class->nr_stats, sizeof(*values), GFP_KERNEL);
	if (!values)
		return -ENOMEM;
	if (!nvmetune_enter(obj)) {
		kfree(values);
		return -ENODEV;
	}
	nvmetune_read_stats(obj, values);
	nvmetune_leave(obj);
	for (i = 0; i < class->nr_stats; i++)
		seq_printf(m, "%s %llu\n", class->stats[i].name, values[i]);
	kfree(values);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(nvmetune_stats);

static void nvmetune_show_hist(struct seq_file *m,
			       const struct nvmetune_hist_desc *desc,
			       const struct nvmetune_hist_counts *counts)
{
	unsigned int b;

	seq_printf(m, "%s, %s: %s\n", desc->name,
		   nvmetune_unit_names[desc->unit],
		   counts->on ? desc->help : "off");
	for (b = 0; counts->on && b < NVMETUNE_HIST_BUCKETS; b++) {
		if (!counts->count[b])
			continue;
		if (b < NVMETUNE_HIST_BUCKETS - 1)
			seq_printf(m, "  up to %12llu: %llu\n",
				   (1ULL << b) - 1, counts->count[b]);
		else
			seq_printf(m, "  more               : %llu\n",
				   counts->count[b]);
	}
}

static int nvmetune_histograms_show(struct seq_file *m, void *unused)
{
	struct nvmetune_object *obj = m->private;
	struct nvmetune_hist_counts *counts;
	unsigned int i;

	counts = kmalloc(sizeof(*counts), GFP_KERNEL);
	if (!counts)
		return -ENOMEM;
	if (!nvmetune_enter(obj)) {
		kfree(counts);
		return -ENODEV;
	}
	for (i = 0; i < obj->class->nr_hists; i++) {
		nvmetune_read_hist(obj, i, counts);
		nvmetune_show_hist(m, &obj->class->hists[i], counts);
	}
	nvmetune_leave(obj);
	kfree(counts);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(nvmetune_histograms);

/* A provider's table: which one tells the file's name. */
static int nvmetune_table_show(struct seq_file *m, void *unused)
{
	struct nvmetune_object *obj = m->private;
	const char *name = m->file->f_path.dentry->d_name.name;
	unsigned int i;

	if (!nvmetune_enter(obj))
		return -ENODEV;
	for (i = 0; i < obj->class->nr_tables; i++)
		if (!strcmp(obj->class->tables[i].name, name))
			obj->class->tables[i].show(m, obj);
	nvmetune_leave(obj);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(nvmetune_table);

static int nvmetune_knob_show(struct seq_file *m, void *unused)
{
	const struct nvmetune_attr *a = m->private;
	char *buf;
	int len;

	buf = kmalloc(NVMETUNE_TEXT_SIZE, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	len = nvmetune_show(a->obj, a->param, false, buf, NVMETUNE_TEXT_SIZE);
	if (len >= 0)
		seq_printf(m, "%.*s\n", len, buf);
	kfree(buf);
	return min(len, 0);
}

static ssize_t nvmetune_knob_write(struct file *file, const char __user *data,
				   size_t count, loff_t *pos)
{
	const struct nvmetune_attr *a = file_inode(file)->i_private;
	char text[NVMETUNE_MAX_PATH + 1];
	int ret;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, data, count))
		return -EFAULT;
	text[count] = '\0';
	ret = nvmetune_store(a->obj, a->param, text);
	return ret ?: count;
}

static int nvmetune_knob_open(struct inode *inode, struct file *file)
{
	return single_open(file, nvmetune_knob_show, inode->i_private);
}

static const struct file_operations nvmetune_knob_fops = {
	.owner		= THIS_MODULE,
	.open		= nvmetune_knob_open,
	.read		= seq_read,
	.write		= nvmetune_knob_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

/**
 * nvmetune_debugfs_add() - make an object's directory
 * @obj: the object
 *
 * Without debugfs, or where that fails, there is none, and nothing else is wrong.
 */
void nvmetune_debugfs_add(struct nvmetune_object *obj)
{
	const struct nvmetune_class *class = obj->class;
	struct dentry *dir;
	unsigned int i;

	dir = debugfs_create_dir(kobject_name(&obj->kobj),
				 obj->parent ? obj->parent->dir : nvmetune_debugfs);
	obj->dir = dir;
	/* The attributes begin with all parameters. */
	for (i = 0; i < nvmetune_nr_params(class); i++)
		debugfs_create_file(obj->attrs[i].attr.name,
				    obj->attrs[i].attr.mode, dir,
				    &obj->attrs[i], &nvmetune_knob_fops);
	debugfs_create_file("params", 0444, dir, obj, &nvmetune_params_fops);
	if (class->nr_stats)
		debugfs_create_file("stats", 0444, dir, obj,
				    &nvmetune_stats_fops);
	if (class->nr_hists)
		debugfs_create_file("histograms", 0444, dir, obj,
				    &nvmetune_histograms_fops);
	for (i = 0; i < class->nr_tables; i++)
		debugfs_create_file(class->tables[i].name, 0444, dir, obj,
				    &nvmetune_table_fops);
}

/**
 * nvmetune_debugfs_remove() - remove an object's directory
 * @obj: the object
 *
 * Waits for readers and writers of the files, which find the object gone.
 */
void nvmetune_debugfs_remove(struct nvmetune_object *obj)
{
	debugfs_remove_recursive(obj->dir);
}

void nvmetune_debugfs_init(void)
{
	nvmetune_debugfs = debugfs_create_dir("nvmetune", NULL);
}

void nvmetune_debugfs_exit(void)
{
	debugfs_remove_recursive(nvmetune_debugfs);
}
