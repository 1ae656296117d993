// SPDX-License-Identifier: GPL-2.0-only
/*
 * The backend for files: /sys/kernel/nvmetune for values, and where it can be read,
 * /sys/kernel/debug/nvmetune, whose params files say in one what the values are and
 * what they may be. Without debugfs there are values only, and no statistics.
 *
 * Over files there is no telling whether a dump was disturbed: an object that goes
 * while it is read is left out. Several changes are made one after the other, and
 * what was done is put back when one is refused.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nvmetune.h"

#define NT_SYSFS	"/sys/kernel/nvmetune"
#define NT_DEBUGFS	"/sys/kernel/debug/nvmetune"

/* In a recorded tree: its values have been set, by this process or one before. */
#define NT_SYSFS_CHANGED	NT_SYSFS "/.changed"

#define NT_NO_NVMETUNE								\
	"no nvmetune in this kernel: there is no %s%s; it needs CONFIG_NVME_DEFER "	\
	"and an NVMe drive, or CONFIG_VFIO_RESCHED"

/* As drivers/nvmetune does it: buckets end at powers of two less one. */
#define NT_MAX_BUCKETS	32

/**
 * struct nt_sysfs - the backend
 * @b: what others see
 * @debugfs: descriptor of the directory in debugfs, -1: cannot be read
 * @changed: something was set. Values come from sysfs from then on, not from the
 *	params files: in a recorded tree these do not follow.
 */
struct nt_sysfs {
	struct nt_backend b;
	int debugfs;
	bool changed;
};

static struct nt_sysfs *nt_sysfs(struct nt_backend *b)
{
	return (struct nt_sysfs *)b;
}

static char *nt_read_at(int dir, const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	char *text;

	if (fd < 0)
		return NULL;
	text = nt_read_fd(fd, 2048);
	close(fd);
	return text;
}

/* What debugfs says */

static bool nt_take_suffix(char *text, const char *suffix)
{
	size_t len = strlen(text), end = strlen(suffix);

	if (len < end || strcmp(text + len - end, suffix))
		return false;
	text[len - end] = '\0';
	return true;
}

/* Cuts the unit off what stands before the help. */
static uint32_t nt_take_unit(char *text)
{
	if (nt_take_suffix(text, " bytes"))
		return NVMETUNE_UNIT_BYTES;
	if (nt_take_suffix(text, " per cent"))
		return NVMETUNE_UNIT_PERCENT;
	if (nt_take_suffix(text, " ms"))
		return NVMETUNE_UNIT_MILLISECONDS;
	if (nt_take_suffix(text, " ns"))
		return NVMETUNE_UNIT_NANOSECONDS;
	if (nt_take_suffix(text, " requests"))
		return NVMETUNE_UNIT_REQUESTS;
	return NVMETUNE_UNIT_NONE;
}

/* "0-100", "off on auto", "0 1", each perhaps with " inherit" behind. */
static void nt_take_range(struct nt_param *param, char *range)
{
	const char *names[64];
	char *dash, *at;
	size_t nr = 0;

	param->inheritable = nt_take_suffix(range, " inherit");
	dash = strchr(range, '-');
	if (dash && !strchr(range, ' ')) {
		*dash = '\0';
		if (nt_parse_number(range, &param->min) &&
		    nt_parse_number(dash + 1, &param->max)) {
			param->described = true;
			param->has_range = true;
			param->type = param->unit == NVMETUNE_UNIT_BYTES ? NVMETUNE_TYPE_BYTES :
				      param->unit == NVMETUNE_UNIT_PERCENT ?
				      NVMETUNE_TYPE_PERCENT : NVMETUNE_TYPE_COUNT;
		}
		return;
	}
	param->described = true;
	if (!strcmp(range, "0 1")) {
		param->type = NVMETUNE_TYPE_BOOL;
		return;
	}
	param->type = NVMETUNE_TYPE_ENUM;
	for (at = strtok(range, " "); at && nr < NT_ARRAY_SIZE(names); at = strtok(NULL, " "))
		names[nr++] = at;
	nt_param_set_choices(param, names, nr);
}

static void nt_take_values(struct nt_param *param, const char *text, const char *in_force)
{
	param->inherit = !strcmp(text, "inherit");
	/* Its own value holds: what a recorded tree has of that may be older. */
	nt_param_set_text(param, text, param->inherit ? in_force : NULL);
	if (!nt_param_parse(param, param->in_force, &param->num))
		param->num = 0;
}

/*
 * A line of params:
 * "name    own (in force)  [range] unit: help", of facts "name    value unit: help".
 */
static void nt_take_param(struct nt_object *obj, char *line)
{
	char *value, *range = NULL, *help, *end, *in_force = NULL;
	struct nt_param *param;

	end = strchr(line, ' ');
	if (!end)
		return;
	*end = '\0';
	value = end + 1 + strspn(end + 1, " ");
	range = strstr(value, "  [");
	end = range ? strchr(range, ']') : NULL;
	/* A value that is empty leaves ": help". */
	help = strstr(end ? end : value - 1, ": ");
	if ((range && !end) || !help)
		return;
	*help = '\0';
	param = nt_object_add_param(obj, line);
	param->help = nt_intern(help + 2);
	if (help < value)
		value = help;
	if (!range) {
		param->read_only = true;
		param->unit = nt_take_unit(value);
	} else {
		*range = '\0';
		param->unit = nt_take_unit(end);
		*end = '\0';
		nt_take_range(param, range + strlen("  ["));
		in_force = strstr(value, " (");
		if (in_force && nt_take_suffix(in_force, ")")) {
			*in_force = '\0';
			in_force += 2;
		}
	}
	nt_take_values(param, value, in_force);
}

static void nt_each_line(struct nt_object *obj, char *text,
			 void (*take)(struct nt_object *obj, char *line))
{
	char *line, *next;

	for (line = text; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		take(obj, line);
	}
}

static void nt_take_stat(struct nt_object *obj, char *line)
{
	char *value = strchr(line, ' ');
	struct nt_stat *stat;
	uint64_t num;

	if (!value || !nt_parse_number(value + 1, &num))
		return;
	*value = '\0';
	stat = nt_object_add_stat(obj, line);
	stat->value = num;
	if (nt_take_suffix(line, "_bytes"))
		stat->unit = NVMETUNE_UNIT_BYTES;
	else if (nt_take_suffix(line, "_ns"))
		stat->unit = NVMETUNE_UNIT_NANOSECONDS;
}

/* "name, unit: help" or "name, unit: off", then a line each bucket that has some. */
static void nt_take_hist(struct nt_object *obj, char *line)
{
	struct nt_hist *hist = obj->nr_hists ? &obj->hists[obj->nr_hists - 1] : NULL;
	unsigned long long up_to, count;
	char *comma, *help;
	size_t i;

	if (*line != ' ') {
		comma = strchr(line, ',');
		help = comma ? strstr(comma, ": ") : NULL;
		if (!help)
			return;
		*comma = '\0';
		*help = '\0';
		hist = nt_object_add_hist(obj, line);
		hist->unit = nt_take_unit(comma + 1);
		if (!strcmp(help + 2, "off"))
			return;
		hist->help = nt_intern(help + 2);
		for (i = 0; i < NT_MAX_BUCKETS - 1; i++)
			nt_hist_add(hist, (1ULL << i) - 1, 0);
		nt_hist_add(hist, UINT64_MAX, 0);
	} else if (hist && hist->nr_buckets &&
		   sscanf(line, " up to %llu: %llu", &up_to, &count) == 2) {
		for (i = 0; i < hist->nr_buckets; i++)
			if (hist->buckets[i].up_to == up_to)
				hist->buckets[i].count = count;
	} else if (hist && hist->nr_buckets && sscanf(line, " more : %llu", &count) == 1) {
		hist->buckets[hist->nr_buckets - 1].count = count;
	}
}

/* A file of an object's in debugfs; false: cannot be read. */
static bool nt_take_file(struct nt_sysfs *s, struct nt_object *obj, const char *file,
			 void (*take)(struct nt_object *obj, char *line))
{
	char path[256], *text;

	if (s->debugfs < 0)
		return false;
	snprintf(path, sizeof(path), "%s/%s", obj->name, file);
	text = nt_read_at(s->debugfs, path);
	if (!text)
		return false;
	nt_each_line(obj, text, take);
	free(text);
	return true;
}

/* What sysfs says */

/* A value from its file, or both from theirs. */
static void nt_read_value(int dir, struct nt_object *obj, const char *name)
{
	struct nt_param *param = nt_object_param(obj, name);
	char path[300], *text, *in_force;
	struct stat st;

	text = nt_read_at(dir, name);
	if (!text)
		return;
	snprintf(path, sizeof(path), "in_force/%s", name);
	in_force = nt_read_at(dir, path);
	if (!param) {
		param = nt_object_add_param(obj, name);
		param->inheritable = in_force;
		param->read_only = fstatat(dir, name, &st, 0) || !(st.st_mode & 0222);
	}
	nt_take_values(param, text, in_force);
	free(text);
	free(in_force);
}

static bool nt_is_dir(int dir, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return !fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode);
}

static bool nt_is_file(int dir, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_REG;
	return !fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode);
}

static int nt_load_dir(struct nt_sysfs *s, int fd, const char *name, unsigned int what,
		       struct nt_tree *tree);

static void nt_load_object(struct nt_sysfs *s, int above, const char *path, const char *entry,
			   unsigned int what, struct nt_tree *tree)
{
	int fd = openat(above, entry, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *name;

	if (fd < 0)
		return;
	name = nt_printf("%s%s%s", path, *path ? "/" : "", entry);
	nt_tree_add(tree, name);
	nt_load_dir(s, fd, name, what, tree);
	free(name);
}

static int nt_dirent_cmp(const struct dirent **a, const struct dirent **b)
{
	return nt_name_cmp((*a)->d_name, (*b)->d_name);
}

/* Files of the directory are parameters, directories objects. Closes @fd. */
static int nt_load_dir(struct nt_sysfs *s, int fd, const char *name, unsigned int what,
		       struct nt_tree *tree)
{
	struct nt_object *obj = *name ? tree->last : NULL;
	struct dirent **entries;
	bool described = false;
	int i, nr;

	nr = scandirat(fd, ".", &entries, NULL, nt_dirent_cmp);
	if (nr < 0) {
		close(fd);
		return -1;
	}
	if (obj && (what & NT_LOAD_PARAMS))
		described = nt_take_file(s, obj, "params", nt_take_param) && !s->changed;
	if (obj && (what & NT_LOAD_STATS)) {
		nt_take_file(s, obj, "stats", nt_take_stat);
		nt_take_file(s, obj, "histograms", nt_take_hist);
	}
	for (i = 0; i < nr; i++) {
		const char *entry = entries[i]->d_name;

		if (nt_is_dir(fd, entries[i])) {
			if (*entry != '.' && strcmp(entry, "in_force"))
				nt_load_object(s, fd, name, entry, what, tree);
		} else if (obj && !described && (what & NT_LOAD_PARAMS) &&
			   nt_is_file(fd, entries[i])) {
			nt_read_value(fd, obj, entry);
		}
		free(entries[i]);
	}
	free(entries);
	close(fd);
	return 0;
}

static int nt_open_dir(const char *name)
{
	char *path = nt_sys_path("%s", name);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), saved = errno;

	free(path);
	errno = saved;
	return fd;
}

static int nt_sysfs_load(struct nt_backend *b, unsigned int what, struct nt_tree *tree,
			 struct nt_error *err)
{
	int fd = nt_open_dir(NT_SYSFS);

	if (fd < 0 || nt_load_dir(nt_sysfs(b), fd, "", what, tree)) {
		nt_error_set(err, EIO, "cannot read %s%s: %s", nt.root, NT_SYSFS,
			     strerror(errno));
		return -1;
	}
	nt_tree_sort(tree);
	return 0;
}

/* Changing */

static const char *nt_why(int code)
{
	switch (code) {
	case EACCES:
	case EPERM:
		return "not allowed: run it as root";
	case EROFS:
		return "it is mounted read-only";
	case ENOENT:
	case ENODEV:
		return "there is no such parameter, or the object has gone";
	case EINVAL:
		return "not a value of it";
	case ERANGE:
		return "out of range";
	case EBUSY:
		return "busy: it cannot be changed as things are";
	default:
		return strerror(code);
	}
}

static void nt_mark_changed(struct nt_sysfs *s)
{
	char *path = nt_sys_path(NT_SYSFS_CHANGED);
	int fd = *nt.root ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644) : -1;

	s->changed = true;
	if (fd >= 0)
		close(fd);
	free(path);
}

static int nt_sysfs_set(struct nt_backend *b, const struct nt_change *changes, size_t nr,
			struct nt_error *err)
{
	char **before = nt_alloc((nr + 1) * sizeof(*before));
	const struct nt_change *c;
	size_t i;
	int ret = 0;

	nt_mark_changed(nt_sysfs(b));
	for (i = 0; i < nr; i++) {
		c = &changes[i];
		before[i] = nt_sys_read("%s/%s/%s", NT_SYSFS, c->object, c->name);
		ret = before[i] ? nt_sys_write(c->value, "%s/%s/%s", NT_SYSFS, c->object,
					       c->name) : -1;
		if (ret)
			break;
	}
	if (ret) {
		nt_error_set(err, errno, "%s: %s=%s: the kernel refuses: %s", c->object, c->name,
			     c->value, nt_why(errno));
		err->index = i;
		free(before[i]);
		before[i] = NULL;
		while (i--)
			if (nt_sys_write(before[i], "%s/%s/%s", NT_SYSFS, changes[i].object,
					 changes[i].name))
				nt_warn("%s: %s cannot be put back to %s: %s", changes[i].object,
					changes[i].name, before[i], strerror(errno));
	}
	nt_strv_free(before);
	return ret;
}

/* Opening and closing */

static void nt_sysfs_close(struct nt_backend *b)
{
	struct nt_sysfs *s = nt_sysfs(b);

	if (s->debugfs >= 0)
		close(s->debugfs);
	free(s);
}

static const struct nt_backend_ops nt_sysfs_ops = {
	.name	= "sysfs",
	.load	= nt_sysfs_load,
	.set	= nt_sysfs_set,
	.close	= nt_sysfs_close,
};

struct nt_backend *nt_sysfs_open(struct nt_error *err)
{
	struct nt_sysfs *s;
	int fd = nt_open_dir(NT_SYSFS);

	if (fd < 0 && errno != ENOENT && errno != ENOTDIR) {
		nt_error_set(err, errno, "%s%s cannot be read: %s", nt.root, NT_SYSFS,
			     strerror(errno));
		return NULL;
	}
	if (fd < 0) {
		nt_error_set(err, ENOENT, NT_NO_NVMETUNE, nt.root, NT_SYSFS);
		return NULL;
	}
	close(fd);
	s = nt_alloc(sizeof(*s));
	s->b.ops = &nt_sysfs_ops;
	s->debugfs = nt_open_dir(NT_DEBUGFS);
	s->changed = *nt.root && nt_sys_exists(NT_SYSFS_CHANGED);
	return &s->b;
}
