/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel has, as read at one moment: objects with parameters, statistics
 * and histograms. Filled in by a backend, read by verbs and printers. Nothing here
 * knows a parameter by name: types, ranges and units come from the kernel.
 */
#ifndef NVMETUNE_MODEL_H
#define NVMETUNE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/nvmetune.h>

/**
 * struct nt_param - a parameter of an object
 * @name: as in sysfs
 * @help: what it does; "" if the backend cannot tell
 * @described: type, unit, range and default are known (sysfs alone has none)
 * @type: enum nvmetune_type
 * @unit: enum nvmetune_unit
 * @applies: enum nvmetune_applies
 * @read_only: a fact
 * @inheritable: "inherit" is a value
 * @has_range: @min and @max mean something
 * @min: lowest value
 * @max: highest value
 * @has_default: @def means something
 * @def: what holds if nothing else was set
 * @choices: of an enumeration, the names of values from 0 on
 * @nr_choices: their number
 * @inherit: the object has no value of its own
 * @text: its own value as sysfs shows it ("inherit" included), never NULL
 * @in_force: the value that holds, as text of the same form; of facts, @text again
 * @num: the value that holds, as a number; 0 for text, an index for enumerations
 */
struct nt_param {
	const char *name;
	const char *help;
	bool described;
	uint32_t type;
	uint32_t unit;
	uint32_t applies;
	bool read_only;
	bool inheritable;
	bool has_range;
	uint64_t min;
	uint64_t max;
	bool has_default;
	uint64_t def;
	const char **choices;
	size_t nr_choices;
	bool inherit;
	char *text;
	char *in_force;
	uint64_t num;
};

/**
 * struct nt_stat - a statistic of an object
 * @name: as in debugfs
 * @help: what it is; "" if the backend cannot tell
 * @described: kind and unit come from the kernel; else guessed, kind as a counter
 * @kind: enum nvmetune_stat_kind
 * @unit: enum nvmetune_unit
 * @value: its value
 */
struct nt_stat {
	const char *name;
	const char *help;
	bool described;
	uint32_t kind;
	uint32_t unit;
	uint64_t value;
};

/**
 * struct nt_bucket - a bucket of a histogram
 * @up_to: highest value that is counted here; UINT64_MAX: no end
 * @count: how many
 */
struct nt_bucket {
	uint64_t up_to;
	uint64_t count;
};

/**
 * struct nt_hist - a histogram of an object
 * @name: as in debugfs
 * @help: what it is
 * @unit: enum nvmetune_unit, of the values
 * @buckets: in ascending order; none if it is not switched on
 * @nr_buckets: their number
 */
struct nt_hist {
	const char *name;
	const char *help;
	uint32_t unit;
	struct nt_bucket *buckets;
	size_t nr_buckets;
};

/**
 * struct nt_object - an object
 * @name: its path, as in nvme0/q1
 * @class: objects of one class have the same parameters; "" if unknown
 * @parent: the object above, NULL at the top
 * @params: parameters, in the kernel's order
 * @nr_params: their number
 * @stats: statistics
 * @nr_stats: their number
 * @hists: histograms
 * @nr_hists: their number
 */
struct nt_object {
	const char *name;
	const char *class;
	struct nt_object *parent;
	struct nt_param *params;
	size_t nr_params;
	struct nt_stat *stats;
	size_t nr_stats;
	struct nt_hist *hists;
	size_t nr_hists;
};

/**
 * struct nt_tree - all objects, sorted: parents first, q2 before q10
 * @objects: the objects
 * @nr: their number
 * @sorted: nt_tree_sort() has been called since the last was added
 * @last: found last
 */
struct nt_tree {
	struct nt_object **objects;
	size_t nr;
	bool sorted;
	struct nt_object *last;
};

/*
 * Names, helps and the names of choices are kept once and never freed: thousands of
 * objects have the same. An array of choices is the parameter's own.
 */
const char *nt_intern(const char *s);

/* All of these exit with a message where memory runs out: none returns NULL for it. */
void nt_tree_free(struct nt_tree *tree);
void nt_param_clear(struct nt_param *param);
/* Own copies of texts; @in_force NULL: the same as @text. */
void nt_param_set_text(struct nt_param *param, const char *text, const char *in_force);
void nt_param_set_choices(struct nt_param *param, const char *const *names, size_t nr);
struct nt_object *nt_tree_add(struct nt_tree *tree, const char *name);
void nt_tree_sort(struct nt_tree *tree);
struct nt_object *nt_tree_find(const struct nt_tree *tree, const char *name);
struct nt_param *nt_object_add_param(struct nt_object *obj, const char *name);
struct nt_param *nt_object_param(const struct nt_object *obj, const char *name);
struct nt_stat *nt_object_add_stat(struct nt_object *obj, const char *name);
struct nt_stat *nt_object_stat(const struct nt_object *obj, const char *name);
struct nt_hist *nt_object_add_hist(struct nt_object *obj, const char *name);
void nt_hist_add(struct nt_hist *hist, uint64_t up_to, uint64_t count);
struct nt_hist *nt_object_hist(const struct nt_object *obj, const char *name);

/* Order of names: numbers in them count as numbers. */
int nt_name_cmp(const char *a, const char *b);

/*
 * Patterns of objects: "all", or glob(7) components that do not match '/', as in
 * nvme0, nvme0/q*, nvme[0-3]/q[1-4].
 */
bool nt_pattern_valid(const char *pattern);
bool nt_pattern_match(const char *pattern, const char *name);

/* Values, as people write them */

/* "64K" and the like; false if @text is no number that fits. */
bool nt_parse_number(const char *text, uint64_t *num);
/*
 * Whether @text may be written to @param, before the kernel is asked. On false, *why
 * (to be freed) says what is wrong and what would be right.
 */
bool nt_param_accepts(const struct nt_param *param, const char *text, char **why);
/* The number that @text stands for; false: for none, as "inherit" and texts. */
bool nt_param_parse(const struct nt_param *param, const char *text, uint64_t *num);
/* Same value, differently written ("64K", "65536")? */
bool nt_param_same(const struct nt_param *param, const char *a, const char *b);
/* A number of @unit for people: "128 KiB", "1.5 ms", "12 %". @buf is returned. */
const char *nt_format(uint32_t unit, uint64_t num, char *buf, size_t size);
/* The same with a fraction, for rates. */
const char *nt_format_rate(uint32_t unit, double num, char *buf, size_t size);
/* The value of a parameter for people: @text is own or in_force. */
const char *nt_param_show(const struct nt_param *param, const char *text, char *buf, size_t size);
/* Range or choices for people: "4 KiB to 1 GiB", "off, on, auto". */
const char *nt_param_range(const struct nt_param *param, char *buf, size_t size);
const char *nt_unit_name(uint32_t unit);
const char *nt_type_name(uint32_t type);
const char *nt_applies_name(uint32_t applies);
const char *nt_kind_name(uint32_t kind);

#endif /* NVMETUNE_MODEL_H */
