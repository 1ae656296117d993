// SPDX-License-Identifier: GPL-2.0-only
/*
 * set and reset: changes of parameters.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nvmetune.h"

const struct nt_opt nt_opts_set[] = {
	{ "reset", 'r', NULL,
	  "if what was set applies when controllers are reset, reset those" },
	{ }
};

const struct nt_opt nt_opts_reset[] = {
	{ }
};

/* Changes that are collected. */
struct nt_list {
	struct nt_change *changes;
	size_t nr;
};

static void nt_list_add(struct nt_list *list, const char *object, const char *name,
			const char *value)
{
	list->changes = nt_grow(list->changes, list->nr, sizeof(*list->changes));
	list->changes[list->nr++] = (struct nt_change){
		nt_strdup(object), nt_strdup(name), nt_strdup(value),
	};
}

static void nt_list_free(struct nt_list *list)
{
	size_t i;

	for (i = 0; i < list->nr; i++) {
		free(list->changes[i].object);
		free(list->changes[i].name);
		free(list->changes[i].value);
	}
	free(list->changes);
}

/*
 * NAME=VALUE for all of @found that have it: "all" names objects of several classes,
 * and who says defer_lanes means those that have lanes.
 */
static int nt_take_setting(struct nt_list *list, struct nt_object **found, size_t nr,
			   const char *arg)
{
	const char *value = strchr(arg, '=') + 1;
	char *name = nt_printf("%.*s", (int)(value - 1 - arg), arg);
	size_t before = list->nr, i;
	int ret = NT_OK;

	for (i = 0; i < nr; i++)
		if (nt_object_param(found[i], name))
			nt_list_add(list, found[i]->name, name, value);
	if (list->nr == before)
		ret = nt_no_param(found[0], name);
	free(name);
	return ret;
}

static int nt_take_settings(struct nt_list *list, const struct nt_tree *tree, int argc,
			    char **args)
{
	struct nt_object **found = NULL;
	int i, ret = NT_OK, given = 0;
	size_t nr = 0;

	for (i = 0; i < argc && !ret; i++) {
		if (strchr(args[i], '=')) {
			if (!found)
				ret = nt_fail(NT_USAGE, "'%s' of which object? set OBJECT NAME=VALUE...",
					      args[i]);
			else
				ret = nt_take_setting(list, found, nr, args[i]);
			given++;
			continue;
		}
		if (found && !given)
			break;
		free(found);
		given = 0;
		ret = nt_select(tree, args[i], &found, &nr);
	}
	if (!ret && !given)
		ret = nt_fail(NT_USAGE, "set what of '%s'? set OBJECT NAME=VALUE...",
			      args[i < argc ? i - 1 : argc - 1]);
	free(found);
	return ret;
}

/* Resetting controllers */

/* The controller that @object is, or belongs to: what comes before the first '/'. */
static char *nt_controller_of(const char *object)
{
	return nt_printf("%.*s", (int)strcspn(object, "/"), object);
}

static int nt_reset_controller(const char *name)
{
	if (nt_sys_write("1", "/sys/class/nvme/%s/reset_controller", name))
		return nt_fail(NT_REFUSED, "%s cannot be reset: %s: what was set applies at its next reset",
			       name, strerror(errno));
	nt_say("%s: reset\n", name);
	return NT_OK;
}

/* Those that changes are for which apply at reset; of the driver's, all. */
static int nt_reset_controllers(const struct nt_tree *tree, const struct nt_list *list)
{
	char **all = nt_sys_list("/sys/class/nvme"), *name;
	bool *wanted;
	size_t i, j, nr;
	int ret = NT_OK;

	for (nr = 0; all && all[nr]; nr++)
		;
	wanted = nt_alloc((nr + 1) * sizeof(*wanted));
	for (i = 0; i < list->nr; i++) {
		const struct nt_change *c = &list->changes[i];
		const struct nt_object *obj = nt_tree_find(tree, c->object);
		const struct nt_param *param = nt_object_param(obj, c->name);

		if (param->applies != NVMETUNE_APPLIES_AT_RESET ||
		    nt_param_same(param, param->text, c->value))
			continue;
		name = nt_controller_of(c->object);
		for (j = 0; j < nr; j++)
			if (!strcmp(name, all[j]) || !strcmp(name, "nvme"))
				wanted[j] = true;
		free(name);
	}
	for (j = 0; j < nr && !ret; j++)
		if (wanted[j])
			ret = nt_reset_controller(all[j]);
	free(wanted);
	nt_strv_free(all);
	return ret;
}

int nt_run_set(int argc, char **args, const char **values)
{
	struct nt_list list = { };
	struct nt_tree tree;
	size_t changed;
	int ret;

	if (!argc)
		return nt_fail(NT_USAGE, "set what? set OBJECT NAME=VALUE...");
	ret = nt_load(NT_LOAD_PARAMS, &tree);
	if (ret)
		return ret;
	ret = nt_take_settings(&list, &tree, argc, args);
	if (!ret)
		ret = nt_apply_changes(list.changes, list.nr, &changed);
	if (!ret && values[0] && changed)
		ret = nt_reset_controllers(&tree, &list);
	nt_list_free(&list);
	nt_tree_free(&tree);
	return ret;
}

/* What a parameter is put back to; NULL: it cannot be. */
static const char *nt_untouched(const struct nt_param *param, char *buf, size_t size)
{
	if (param->read_only)
		return NULL;
	if (param->inheritable)
		return "inherit";
	if (!param->has_default)
		return NULL;
	if (param->type == NVMETUNE_TYPE_ENUM && param->def < param->nr_choices)
		return param->choices[param->def];
	snprintf(buf, size, "%llu", (unsigned long long)param->def);
	return buf;
}

static int nt_reset_one(struct nt_list *list, const struct nt_object *obj,
			const struct nt_param *param, bool named)
{
	char buf[32];
	const char *value = nt_untouched(param, buf, sizeof(buf));

	if (value)
		nt_list_add(list, obj->name, param->name, value);
	else if (named)
		return nt_fail(NT_USAGE, "%s: %s %s", obj->name, param->name,
			       param->read_only ? "is a fact, which cannot be set" :
			       "has no default that is known here");
	return NT_OK;
}

static int nt_reset_object(struct nt_list *list, const struct nt_object *obj, int argc,
			   char **names)
{
	const struct nt_param *param;
	size_t p;
	int i, ret = NT_OK;

	if (!argc)
		for (p = 0; p < obj->nr_params && !ret; p++)
			ret = nt_reset_one(list, obj, &obj->params[p], false);
	for (i = 0; i < argc && !ret; i++) {
		param = nt_object_param(obj, names[i]);
		if (param)
			ret = nt_reset_one(list, obj, param, true);
	}
	return ret;
}

/* A name that no object has is a slip. */
static int nt_check_names(struct nt_object **found, size_t nr, int argc, char **names)
{
	size_t j;
	int i;

	for (i = 0; i < argc; i++) {
		for (j = 0; j < nr && !nt_object_param(found[j], names[i]); j++)
			;
		if (j == nr)
			return nt_no_param(found[0], names[i]);
	}
	return NT_OK;
}

int nt_run_reset(int argc, char **args, const char **values)
{
	struct nt_object **found = NULL;
	struct nt_list list = { };
	struct nt_tree tree;
	size_t nr, changed, i;
	int ret;

	if (!argc)
		return nt_fail(NT_USAGE, "reset what? reset OBJECT [NAME]..., or all");
	ret = nt_load(NT_LOAD_PARAMS, &tree);
	if (ret)
		return ret;
	ret = nt_select(&tree, args[0], &found, &nr);
	if (!ret)
		ret = nt_check_names(found, nr, argc - 1, args + 1);
	for (i = 0; i < nr && !ret; i++)
		ret = nt_reset_object(&list, found[i], argc - 1, args + 1);
	if (!ret)
		ret = nt_apply_changes(list.changes, list.nr, &changed);
	nt_list_free(&list);
	free(found);
	nt_tree_free(&tree);
	return ret;
}
