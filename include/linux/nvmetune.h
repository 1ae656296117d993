/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A control plane for tunable drivers: objects with parameters and statistics,
 * which appear in sysfs, debugfs and over generic netlink.
 *
 * A provider describes what its objects have in tables, registers objects as its
 * devices come, and unregisters them as they go. It knows nothing of the front
 * ends, and they nothing of it.
 *
 * Locking, for providers: a callback may sleep and take locks of the provider's,
 * except any that is held where nvmetune_unregister() is called, as that waits
 * for callbacks of the object to end. No callback runs for an object that was
 * unregistered. All changes, whatever their objects, are serialised; reading is
 * not.
 */
#ifndef _LINUX_NVMETUNE_H
#define _LINUX_NVMETUNE_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <uapi/linux/nvmetune.h>

struct device;
struct nvmetune_object;
struct nvmetune_param;
struct seq_file;

/* Longest path of an object and name of a parameter; see the netlink spec. */
#define NVMETUNE_MAX_PATH	63
#define NVMETUNE_MAX_NAME	31
/* Most settings that are applied together. */
#define NVMETUNE_MAX_SETTINGS	1024

/**
 * struct nvmetune_value - what an object's parameter is set to
 * @inherit: follow the object above, @num is meaningless
 * @num: the value; of an enumeration, an index; of a bool, 0 or 1
 */
struct nvmetune_value {
	bool inherit;
	u64 num;
};

/**
 * struct nvmetune_state - a parameter as it is at this moment
 * @own: what the object is set to
 * @in_force: what holds, its own value or an inherited one
 */
struct nvmetune_state {
	struct nvmetune_value own;
	u64 in_force;
};

/**
 * struct nvmetune_setting - a change of one parameter of one object
 * @obj: the object
 * @param: the parameter, of @obj's class
 * @value: the new value
 * @prepared: what the parameter's prepare has left for commit or abort
 * @before: the state before; the core's
 */
struct nvmetune_setting {
	struct nvmetune_object *obj;
	const struct nvmetune_param *param;
	struct nvmetune_value value;
	void *prepared;
	struct nvmetune_state before;
};

/**
 * struct nvmetune_error - why a change was refused
 * @text: a sentence that says what is wrong, and if it helps, what to do
 * @index: of several settings, which one
 */
struct nvmetune_error {
	const char *text;
	unsigned int index;
};

/**
 * struct nvmetune_param - a parameter, a line of a provider's table
 * @name: up to NVMETUNE_MAX_NAME characters: lower case, digits, _
 * @help: what it does, a phrase
 * @type: how values are read and written
 * @unit: of values; follows from BYTES and PERCENT by itself
 * @applies: when a new value takes effect
 * @inherits: may be "inherit", which is what it starts with; at the top, that
 *	means @def
 * @min: lowest value
 * @max: highest value
 * @def: the value that holds if nothing else was set
 * @names: of an enumeration, the names of the values, NULL at the end
 * @arg: for the provider
 * @get: read the state; not for NVMETUNE_TYPE_TEXT
 * @text: of NVMETUNE_TYPE_TEXT: write it into a buffer of that size; returns the
 *	length, without a line feed
 * @prepare: optional: whether a change is possible, and what may fail of it.
 *	Returns 0, or an error with err->text set. Must change nothing that is seen.
 * @commit: make the change. Cannot fail; does not wait for I/O. NULL: read-only.
 * @abort: undo @prepare, as another setting was refused; needed if @prepare
 *	leaves anything behind
 */
struct nvmetune_param {
	const char *name;
	const char *help;
	enum nvmetune_type type;
	enum nvmetune_unit unit;
	enum nvmetune_applies applies;
	bool inherits;
	u64 min;
	u64 max;
	u64 def;
	const char * const *names;
	unsigned long arg;
	void (*get)(struct nvmetune_object *obj,
		    const struct nvmetune_param *param,
		    struct nvmetune_state *state);
	int (*text)(struct nvmetune_object *obj,
		    const struct nvmetune_param *param, char *buf, size_t size);
	int (*prepare)(struct nvmetune_setting *s, struct nvmetune_error *err);
	void (*commit)(struct nvmetune_setting *s);
	void (*abort)(struct nvmetune_setting *s);
};

/**
 * struct nvmetune_stat - a number that a provider counts or measures
 * @name: lower case, digits, _
 * @help: what it is, a phrase
 * @kind: what a reset of the statistics does to it. Counters are set back by the
 *	core, which remembers what they were; the provider only counts up.
 * @unit: of the number
 */
struct nvmetune_stat {
	const char *name;
	const char *help;
	enum nvmetune_stat_kind kind;
	enum nvmetune_unit unit;
};

/* Bucket b counts values of b significant bits: up to 2^b - 1. The last, all above. */
#define NVMETUNE_HIST_BUCKETS	32

/**
 * struct nvmetune_hist - a histogram by powers of two
 * @count: how many values fell into each bucket
 */
struct nvmetune_hist {
	atomic64_t count[NVMETUNE_HIST_BUCKETS];
};

/**
 * nvmetune_hist_bucket() - the bucket of a value
 * @value: the value
 */
static inline unsigned int nvmetune_hist_bucket(u64 value)
{
	return min_t(unsigned int, fls64(value), NVMETUNE_HIST_BUCKETS - 1);
}

/**
 * nvmetune_hist_add() - count values in a histogram
 * @hist: the histogram
 * @value: the value
 * @nr: how often it occurred
 *
 * Context: any.
 */
static inline void nvmetune_hist_add(struct nvmetune_hist *hist, u64 value,
				     u64 nr)
{
	atomic64_add(nr, &hist->count[nvmetune_hist_bucket(value)]);
}

/**
 * struct nvmetune_hist_desc - a histogram of an object
 * @name: lower case, digits, _
 * @help: what it is, a phrase
 * @unit: of the values
 */
struct nvmetune_hist_desc {
	const char *name;
	const char *help;
	enum nvmetune_unit unit;
};

/**
 * struct nvmetune_table - a file of the provider's own making in debugfs
 * @name: of the file
 * @show: write it
 */
struct nvmetune_table {
	const char *name;
	void (*show)(struct seq_file *m, struct nvmetune_object *obj);
};

/**
 * struct nvmetune_params - a table of parameters
 * @param: the parameters
 * @nr: their number
 */
struct nvmetune_params {
	const struct nvmetune_param *param;
	unsigned int nr;
};

/* Tables of a class: classes may share some. */
#define NVMETUNE_MAX_TABLES	4

/**
 * struct nvmetune_class - what objects of one kind have
 * @name: as shown to users
 * @params: parameters, in tables; those that are not needed stay empty
 * @stats: statistics
 * @nr_stats: their number
 * @hists: histograms
 * @nr_hists: their number
 * @tables: more files for debugfs
 * @nr_tables: their number
 * @read_stats: read all statistics, in the order of @stats
 * @reset_stats: optional: let maxima start from 0 again
 * @hist: a histogram's counts, NULL if it is not switched on. Must stay until the
 *	object is unregistered.
 */
struct nvmetune_class {
	const char *name;
	struct nvmetune_params params[NVMETUNE_MAX_TABLES];
	const struct nvmetune_stat *stats;
	unsigned int nr_stats;
	const struct nvmetune_hist_desc *hists;
	unsigned int nr_hists;
	const struct nvmetune_table *tables;
	unsigned int nr_tables;
	void (*read_stats)(struct nvmetune_object *obj, u64 *values);
	void (*reset_stats)(struct nvmetune_object *obj);
	struct nvmetune_hist *(*hist)(struct nvmetune_object *obj,
				      unsigned int index);
};

struct nvmetune_object *nvmetune_register(const struct nvmetune_class *class,
					  struct nvmetune_object *parent,
					  const char *name, struct device *dev,
					  void *data);
void nvmetune_unregister(struct nvmetune_object *obj);
struct nvmetune_object *nvmetune_get(struct nvmetune_object *obj);
void nvmetune_put(struct nvmetune_object *obj);
void *nvmetune_data(const struct nvmetune_object *obj);
const char *nvmetune_path(const struct nvmetune_object *obj);
int nvmetune_apply(struct nvmetune_setting *settings, unsigned int nr,
		   struct nvmetune_error *err);

int nvmetune_parse(const struct nvmetune_param *param, const char *text,
		   struct nvmetune_value *value, struct nvmetune_error *err);
int nvmetune_check(const struct nvmetune_param *param,
		   const struct nvmetune_value *value,
		   struct nvmetune_error *err);
int nvmetune_format(const struct nvmetune_param *param,
		    const struct nvmetune_value *value, char *buf, size_t size);

#endif /* _LINUX_NVMETUNE_H */
