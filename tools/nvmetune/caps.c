// SPDX-License-Identifier: GPL-2.0-only
/*
 * caps: what this kernel offers, asked of the kernel and not concluded from its version.
 * What cannot be read is unknown, not absent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nvmetune.h"

/* What is in an entry of the choices like "none (voluntary) full". */
static char *nt_chosen(const char *text, char open, char close)
{
	const char *from = strchr(text, open), *to = from ? strchr(from, close) : NULL;

	return to ? nt_printf("%.*s", (int)(to - from - 1), from + 1) : NULL;
}

/* How the kernel lets go of the CPU; to be freed. */
static char *nt_preemption(void)
{
	static const char *const models[][2] = {
		{ "PREEMPT_RT", "full" }, { "PREEMPT_DYNAMIC", NULL }, { "PREEMPT_LAZY", "lazy" },
		{ " PREEMPT ", "full" },
	};
	char *text = nt_sys_read("/sys/kernel/debug/sched/preempt"), *chosen = NULL;
	size_t i;

	if (text) {
		chosen = nt_chosen(text, '(', ')');
		free(text);
		return chosen;
	}
	text = nt_sys_read("/proc/version");
	if (!text)
		return NULL;
	for (i = 0; i < NT_ARRAY_SIZE(models) && !strstr(text, models[i][0]); i++)
		;
	free(text);
	/* Without any of these words it is none or voluntary. */
	if (i == NT_ARRAY_SIZE(models))
		return nt_strdup("none or voluntary");
	return models[i][1] ? nt_strdup(models[i][1]) : NULL;
}

static char *nt_lockdown(void)
{
	char *text = nt_sys_read("/sys/kernel/security/lockdown"), *chosen;

	if (!text)
		return NULL;
	chosen = nt_chosen(text, '[', ']');
	free(text);
	return chosen;
}

/* Whether who asks may set something: CAP_SYS_ADMIN is bit 21. */
static bool nt_may_set(void)
{
	char *status = *nt.root ? NULL : nt_sys_read("/proc/self/status");
	const char *at = status ? strstr(status, "\nCapEff:") : NULL;
	bool may = at && (strtoull(at + strlen("\nCapEff:"), NULL, 16) >> 21 & 1);

	free(status);
	return may;
}

/* The first object of each class, or over sysfs, of each set of parameters. */
static bool nt_is_first(const struct nt_tree *tree, size_t i)
{
	const struct nt_object *obj = tree->objects[i], *other;
	size_t j;

	for (j = i; j--;) {
		other = tree->objects[j];
		if (strcmp(obj->class, other->class))
			continue;
		if (*obj->class || (obj->nr_params == other->nr_params && obj->nr_params &&
				    !strcmp(obj->params[0].name, other->params[0].name)))
			return false;
	}
	return true;
}

static void nt_caps_class(const struct nt_object *obj)
{
	static const char *const headers[] = { "SETTING", "MAY BE", "APPLIES", "WHAT IT DOES" };
	struct nt_table *t = NULL;
	const struct nt_param *param;
	char range[256];
	size_t i;

	printf("\n%s%s%s, such as %s: %zu parameters, %zu statistics, %zu histograms\n",
	       nt_color(NT_BOLD), *obj->class ? obj->class : "objects", nt_color(NT_PLAIN),
	       obj->name, obj->nr_params, obj->nr_stats, obj->nr_hists);
	for (i = 0; i < obj->nr_params; i++) {
		param = &obj->params[i];
		if (param->read_only)
			continue;
		if (!t)
			t = nt_table_new(headers, NT_ARRAY_SIZE(headers));
		nt_table_row(t, (const char *[]){
			param->name, nt_param_range(param, range, sizeof(range)),
			param->described ? nt_applies_name(param->applies) : "", param->help,
		});
	}
	if (!t)
		return;
	nt_table_indent(t, 2);
	nt_table_print(t, stdout);
}

/* cond_resched() does nothing where the kernel preempts anyway. */
static bool nt_inert(const char *preemption)
{
	return preemption && (!strcmp(preemption, "full") || !strcmp(preemption, "lazy"));
}

static void nt_caps_print(const struct nt_tree *tree, const char *preemption,
			  const char *lockdown, bool debugfs)
{
	size_t i;

	printf("backend      %s\n", nt.backend->ops->name);
	printf("all or none  %s\n", nt.backend->ops->subscribe ? "yes, by the kernel" :
	       "by putting back what was done");
	printf("monitor      %s\n", nt.backend->ops->subscribe ? "yes" : "no: needs netlink");
	printf("may set      %s\n", nt_may_set() ? "yes" : *nt.root ? "a recorded tree" :
	       "no: needs CAP_SYS_ADMIN");
	printf("debugfs      %s\n", debugfs ? "can be read" : "cannot be read");
	printf("lockdown     %s\n", lockdown ? lockdown : "unknown");
	printf("preemption   %s%s\n", preemption ? preemption : "unknown",
	       nt_inert(preemption) ? ": resched_bytes is inert, as workers are preempted anyway" : "");
	for (i = 0; i < tree->nr; i++)
		if (nt_is_first(tree, i))
			nt_caps_class(tree->objects[i]);
}

static void nt_json_text(json_object *o, const char *name, const char *text)
{
	json_object_object_add(o, name, text ? json_object_new_string(text) : NULL);
}

static void nt_caps_json(const struct nt_tree *tree, const char *preemption,
			 const char *lockdown, bool debugfs)
{
	json_object *o = json_object_new_object();
	size_t i;

	json_object_object_add(o, "backend", json_object_new_string(nt.backend->ops->name));
	json_object_object_add(o, "atomic", json_object_new_boolean(!!nt.backend->ops->subscribe));
	json_object_object_add(o, "monitor", json_object_new_boolean(!!nt.backend->ops->subscribe));
	json_object_object_add(o, "may_set", json_object_new_boolean(nt_may_set()));
	json_object_object_add(o, "debugfs", json_object_new_boolean(debugfs));
	nt_json_text(o, "lockdown", lockdown);
	nt_json_text(o, "preemption", preemption);
	json_object_object_add(o, "resched_inert", json_object_new_boolean(nt_inert(preemption)));
	nt_json_begin(o, "classes");
	for (i = 0; i < tree->nr; i++)
		if (nt_is_first(tree, i))
			nt_json_item(nt_json_object(tree->objects[i],
						    NT_LOAD_PARAMS | NT_LOAD_STATS));
	nt_json_end();
}

int nt_run_caps(int argc, char **args, const char **values)
{
	char *preemption, *lockdown;
	struct nt_tree tree;
	bool debugfs;
	char **names;
	int ret;

	if (argc)
		return nt_fail(NT_USAGE, "caps takes no argument");
	ret = nt_load(NT_LOAD_PARAMS | NT_LOAD_STATS, &tree);
	if (ret)
		return ret;
	names = nt_sys_list("/sys/kernel/debug/nvmetune");
	debugfs = names;
	nt_strv_free(names);
	preemption = nt_preemption();
	lockdown = nt_lockdown();
	if (nt.json)
		nt_caps_json(&tree, preemption, lockdown, debugfs);
	else
		nt_caps_print(&tree, preemption, lockdown, debugfs);
	free(preemption);
	free(lockdown);
	nt_tree_free(&tree);
	return NT_OK;
}
