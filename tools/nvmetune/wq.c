// SPDX-License-Identifier: GPL-2.0-only
/*
 * wq: the workqueues of queues: where their workers may run and with what priority. The
 * kernel keeps them in /sys/bus/workqueue/devices, by the name that is a fact of a queue.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "watch.h"

#define NT_WQ_DIR	"/sys/bus/workqueue/devices"

const struct nt_opt nt_opts_wq[] = {
	{ }
};

static const char *const nt_wq_names[] = {
	"cpumask", "nice", "affinity_scope", "affinity_strict", "max_active",
};

/**
 * struct nt_wq - a workqueue
 * @name: its directory
 * @queues: whose it is, separated by spaces
 */
struct nt_wq {
	const char *name;
	char *queues;
};

/* Masks: "f", "00000000,0000000f", as lists of CPUs "0-3" */

static int nt_hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
		c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool nt_mask_has(const char *mask, unsigned int cpu)
{
	const char *p;

	for (p = mask + strlen(mask); p > mask; p--) {
		if (nt_hex(p[-1]) < 0)
			continue;
		if (cpu < 4)
			return nt_hex(p[-1]) >> cpu & 1;
		cpu -= 4;
	}
	return false;
}

/* To be freed. */
static char *nt_mask_list(const char *mask)
{
	unsigned int cpu, first, nr = 4 * strlen(mask);
	char *list = nt_strdup(""), *longer;

	for (cpu = 0; cpu < nr; cpu++) {
		if (!nt_mask_has(mask, cpu))
			continue;
		for (first = cpu; nt_mask_has(mask, cpu + 1); cpu++)
			;
		longer = first == cpu ? nt_printf("%s%s%u", list, *list ? "," : "", first) :
			nt_printf("%s%s%u-%u", list, *list ? "," : "", first, cpu);
		free(list);
		list = longer;
	}
	return list;
}

/* The mask that @list stands for, to be freed; NULL: it is none. */
static char *nt_list_mask(const char *list)
{
	unsigned int first, last, highest = 0, digit;
	const char *p = list;
	size_t len = 0;
	char *mask;

	while (nt_range_next(&p, &first, &last))
		highest = last > highest ? last : highest;
	if (*p || p == list || highest > 65535)
		return NULL;
	mask = nt_alloc(highest / 4 + highest / 32 + 3);
	for (digit = highest / 4 + 1; digit--;) {
		unsigned int bit, value = 0;

		for (bit = 0; bit < 4; bit++)
			if (nt_list_has(list, 4 * digit + bit))
				value |= 1 << bit;
		mask[len++] = "0123456789abcdef"[value];
		/* Groups of eight, as the kernel writes them. */
		if (digit && !(digit % 8))
			mask[len++] = ',';
	}
	return mask;
}

static bool nt_mask_same(const char *a, const char *b)
{
	char *x = nt_mask_list(a), *y = nt_mask_list(b);
	bool same = !strcmp(x, y);

	free(x);
	free(y);
	return same;
}

/* Workqueues */

/* Those of the objects, each once. */
static size_t nt_wqs_find(struct nt_object **found, size_t nr, struct nt_wq **wqs)
{
	const struct nt_param *param;
	size_t i, w, nr_wqs = 0;
	char *longer;

	*wqs = NULL;
	for (i = 0; i < nr; i++) {
		param = nt_object_param(found[i], "wq_name");
		if (!param || !*param->text || !strcmp(param->text, "none") ||
		    strchr(param->text, '/'))
			continue;
		for (w = 0; w < nr_wqs && strcmp((*wqs)[w].name, param->text); w++)
			;
		if (w < nr_wqs) {
			longer = nt_printf("%s %s", (*wqs)[w].queues, found[i]->name);
			free((*wqs)[w].queues);
			(*wqs)[w].queues = longer;
			continue;
		}
		*wqs = nt_grow(*wqs, nr_wqs, sizeof(**wqs));
		(*wqs)[nr_wqs++] = (struct nt_wq){ param->text, nt_strdup(found[i]->name) };
	}
	return nr_wqs;
}

static void nt_wqs_free(struct nt_wq *wqs, size_t nr)
{
	size_t w;

	for (w = 0; w < nr; w++)
		free(wqs[w].queues);
	free(wqs);
}

static void nt_wq_print(const struct nt_wq *wqs, size_t nr)
{
	static const char *const headers[] = {
		"WORKQUEUE", "CPUS", "NICE", "SCOPE", "STRICT", "OF",
	};
	struct nt_table *t = nt_table_new(headers, NT_ARRAY_SIZE(headers));
	size_t w, i;

	nt_table_right(t, 2);
	for (w = 0; w < nr; w++) {
		char *values[4], *cpus;

		for (i = 0; i < NT_ARRAY_SIZE(values); i++)
			values[i] = nt_sys_read(NT_WQ_DIR "/%s/%s", wqs[w].name, nt_wq_names[i]);
		cpus = values[0] ? nt_mask_list(values[0]) : NULL;
		nt_table_row(t, (const char *[]){
			wqs[w].name, cpus ? cpus : "?", values[1] ? values[1] : "?",
			values[2] ? values[2] : "-", values[3] ? values[3] : "-", wqs[w].queues,
		});
		free(cpus);
		for (i = 0; i < NT_ARRAY_SIZE(values); i++)
			free(values[i]);
	}
	nt_table_print(t, stdout);
}

static void nt_wq_json(const struct nt_wq *wqs, size_t nr)
{
	json_object *o, *queues;
	size_t w, i;

	nt_json_begin(NULL, "workqueues");
	for (w = 0; w < nr; w++) {
		char *rest = wqs[w].queues, *one;

		o = json_object_new_object();
		json_object_object_add(o, "name", json_object_new_string(wqs[w].name));
		queues = json_object_new_array();
		while ((one = strsep(&rest, " ")))
			json_object_array_add(queues, json_object_new_string(one));
		json_object_object_add(o, "queues", queues);
		for (i = 0; i < NT_ARRAY_SIZE(nt_wq_names); i++) {
			char *value = nt_sys_read(NT_WQ_DIR "/%s/%s", wqs[w].name, nt_wq_names[i]);

			if (!value)
				continue;
			json_object_object_add(o, nt_wq_names[i], json_object_new_string(value));
			if (!i) {
				char *cpus = nt_mask_list(value);

				json_object_object_add(o, "cpus", json_object_new_string(cpus));
				free(cpus);
			}
			free(value);
		}
		nt_json_item(o);
	}
	nt_json_end();
}

/* Changing */

/**
 * struct nt_wq_step - a file and what is to be in it
 * @wq: the workqueue
 * @name: the file
 * @old: what was in it
 * @new: what shall be
 */
struct nt_wq_step {
	const char *wq;
	const char *name;
	char *old;
	char *new;
};

struct nt_wq_plan {
	struct nt_wq_step *steps;
	size_t nr;
};

/* "default (cache)" is "default". */
static bool nt_wq_same(const char *name, const char *is, const char *wanted)
{
	if (!strcmp(name, "cpumask"))
		return nt_mask_same(is, wanted);
	return strlen(wanted) == strcspn(is, " ") && !strncmp(is, wanted, strlen(wanted));
}

static int nt_wq_add(struct nt_wq_plan *plan, const struct nt_wq *wq, const char *name,
		     const char *value)
{
	char *old = nt_sys_read(NT_WQ_DIR "/%s/%s", wq->name, name);

	if (!old)
		return nt_fail(NT_REFUSED, errno == ENOENT ?
			       "%s has no %s in this kernel" : "%s: %s cannot be read", wq->name,
			       name);
	if (nt_wq_same(name, old, value)) {
		free(old);
		return NT_OK;
	}
	plan->steps = nt_grow(plan->steps, plan->nr, sizeof(*plan->steps));
	plan->steps[plan->nr++] = (struct nt_wq_step){
		wq->name, name, old, nt_strdup(value),
	};
	return NT_OK;
}

static void nt_wq_plan_free(struct nt_wq_plan *plan)
{
	size_t i;

	for (i = 0; i < plan->nr; i++) {
		free(plan->steps[i].old);
		free(plan->steps[i].new);
	}
	free(plan->steps);
}

/* What can be told to be wrong before the kernel is asked; *value is to be freed. */
static int nt_wq_check(const char *arg, const char **name, char **value)
{
	const char *equals = strchr(arg, '=');
	size_t len = equals ? (size_t)(equals - arg) : strlen(arg), i;
	char *end;
	long nice;

	for (i = 0; i < NT_ARRAY_SIZE(nt_wq_names); i++)
		if (strlen(nt_wq_names[i]) == len && !strncmp(arg, nt_wq_names[i], len))
			break;
	if (!equals || (i == NT_ARRAY_SIZE(nt_wq_names) && (len != 4 || strncmp(arg, "cpus", 4))))
		return nt_fail(NT_USAGE, "'%s': wq takes cpus=LIST, cpumask=MASK, nice=NUMBER, affinity_scope=SCOPE, affinity_strict=0|1, max_active=NUMBER",
			       arg);
	*name = i < NT_ARRAY_SIZE(nt_wq_names) ? nt_wq_names[i] : "cpumask";
	if (i == NT_ARRAY_SIZE(nt_wq_names)) {
		*value = nt_list_mask(equals + 1);
		if (!*value)
			return nt_fail(NT_USAGE, "%s: no list of CPUs, as 0-3,8", arg);
		return NT_OK;
	}
	if (!i && (!equals[1] || strspn(equals + 1, "0123456789abcdefABCDEF,") !=
		   strlen(equals + 1)))
		return nt_fail(NT_USAGE, "%s: no mask of CPUs, as ff; cpus= takes a list", arg);
	nice = strtol(equals + 1, &end, 10);
	if (i == 1 && (!equals[1] || *end || nice < -20 || nice > 19))
		return nt_fail(NT_USAGE, "%s: it takes -20 to 19", arg);
	*value = nt_strdup(equals + 1);
	return NT_OK;
}

static int nt_wq_plan(const struct nt_wq *wqs, size_t nr, int argc, char **args,
		      struct nt_wq_plan *plan)
{
	const char *name = NULL;
	char *value;
	int i, ret = NT_OK;
	size_t w;

	for (i = 0; i < argc && !ret; i++) {
		value = NULL;
		ret = nt_wq_check(args[i], &name, &value);
		for (w = 0; w < nr && !ret; w++)
			ret = nt_wq_add(plan, &wqs[w], name, value);
		free(value);
	}
	return ret;
}

/* "default (cache)" cannot be written as it reads. */
static int nt_wq_write(const struct nt_wq_step *s, const char *value)
{
	char *word = nt_printf("%.*s", (int)strcspn(value, " "), value);
	int ret = nt_sys_write(word, NT_WQ_DIR "/%s/%s", s->wq, s->name), saved = errno;

	free(word);
	errno = saved;
	return ret;
}

static void nt_wq_put_back(const struct nt_wq_plan *plan, size_t nr)
{
	while (nr--)
		if (nt_wq_write(&plan->steps[nr], plan->steps[nr].old))
			nt_warn("%s: %s cannot be put back to %s: %s", plan->steps[nr].wq,
				plan->steps[nr].name, plan->steps[nr].old, strerror(errno));
}

static int nt_wq_apply(const struct nt_wq_plan *plan)
{
	size_t i;
	int ret;

	for (i = 0; i < plan->nr; i++) {
		const struct nt_wq_step *s = &plan->steps[i];
		char *now;

		if (nt_wq_write(s, s->new)) {
			ret = nt_fail(NT_REFUSED, "%s: %s=%s: the kernel refuses: %s%s", s->wq,
				      s->name, s->new, strerror(errno),
				      errno == EACCES || errno == EPERM ? ": run it as root" : "");
			nt_wq_put_back(plan, i);
			return ret;
		}
		now = nt_sys_read(NT_WQ_DIR "/%s/%s", s->wq, s->name);
		if (!now || !nt_wq_same(s->name, now, s->new)) {
			ret = nt_fail(NT_REFUSED, "%s: %s was set to %s but is %s: nothing was changed",
				      s->wq, s->name, s->new, now ? now : "gone");
			free(now);
			nt_wq_put_back(plan, i + 1);
			return ret;
		}
		free(now);
	}
	return NT_OK;
}

static void nt_wq_tell(const struct nt_wq_plan *plan)
{
	json_object *o, *list = json_object_new_array();
	size_t i;

	for (i = 0; i < plan->nr; i++) {
		const struct nt_wq_step *s = &plan->steps[i];

		nt_say("%s%s %s: %s -> %s\n", nt.dry_run ? "would set " : "", s->wq, s->name,
		       s->old, s->new);
		o = json_object_new_object();
		json_object_object_add(o, "workqueue", json_object_new_string(s->wq));
		json_object_object_add(o, "name", json_object_new_string(s->name));
		json_object_object_add(o, "old", json_object_new_string(s->old));
		json_object_object_add(o, "new", json_object_new_string(s->new));
		json_object_array_add(list, o);
	}
	if (!plan->nr)
		nt_say("nothing to change: all is so already\n");
	if (!nt.json) {
		json_object_put(list);
		return;
	}
	o = json_object_new_object();
	json_object_object_add(o, "dry_run", json_object_new_boolean(nt.dry_run));
	json_object_object_add(o, "changes", list);
	nt_json_print(o);
}

static int nt_wq_set(const struct nt_wq *wqs, size_t nr, int argc, char **args)
{
	struct nt_wq_plan plan = { };
	int ret;

	ret = nt_wq_plan(wqs, nr, argc, args, &plan);
	if (!ret && !nt.dry_run)
		ret = nt_wq_apply(&plan);
	if (!ret)
		nt_wq_tell(&plan);
	nt_wq_plan_free(&plan);
	return ret;
}

int nt_run_wq(int argc, char **args, const char **values)
{
	bool named = argc && !strchr(args[0], '=');
	struct nt_object **found = NULL;
	struct nt_wq *wqs = NULL;
	size_t nr, nr_wqs = 0;
	struct nt_tree tree;
	int ret;

	if (argc && !named)
		return nt_fail(NT_USAGE, "'%s' of which object? wq OBJECT NAME=VALUE...", args[0]);
	if (nt.dry_run && argc < 2)
		return nt_fail(NT_USAGE, "wq changes nothing without NAME=VALUE: it takes no -n");
	ret = nt_load(NT_LOAD_PARAMS, &tree);
	if (ret)
		return ret;
	ret = nt_select_below(&tree, named ? args[0] : "all", &found, &nr);
	if (!ret)
		nr_wqs = nt_wqs_find(found, nr, &wqs);
	if (!ret && argc > 1 && !nr_wqs)
		ret = nt_fail(NT_REFUSED, "%s has no workqueue: queues have one while they may defer",
			      args[0]);
	else if (!ret && argc > 1)
		ret = nt_wq_set(wqs, nr_wqs, argc - 1, args + 1);
	else if (!ret && nt.json)
		nt_wq_json(wqs, nr_wqs);
	else if (!ret && !nr_wqs)
		nt_say("no workqueues: queues have one while they may defer\n");
	else if (!ret)
		nt_wq_print(wqs, nr_wqs);
	nt_wqs_free(wqs, nr_wqs);
	free(found);
	nt_tree_free(&tree);
	return ret;
}
