// SPDX-License-Identifier: GPL-2.0-only
/*
 * Between verbs and backends: opening, loading, choosing objects, and changes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nvmetune.h"

/* Objects and backend */

int nt_fail_err(const struct nt_error *err)
{
	return nt_fail(err->code == ENOENT && err->index < 0 ? NT_NONE : NT_REFUSED, "%s",
		       err->text);
}

static struct nt_backend *nt_open_any(struct nt_error *err)
{
	struct nt_backend *b;

	/* A recorded tree is files; no socket reaches it. */
	if (*nt.root || (nt.backend_name && !strcmp(nt.backend_name, "sysfs")))
		return nt_sysfs_open(err);
	b = nt_netlink_open(err);
	if (b || nt.backend_name || err->code != ENOENT)
		return b;
	return nt_sysfs_open(err);
}

bool nt_try_open(struct nt_error *err)
{
	if (!nt.backend)
		nt.backend = nt_open_any(err);
	return nt.backend;
}

int nt_open(void)
{
	struct nt_error err = { };

	if (nt.backend)
		return NT_OK;
	if (*nt.root && nt.backend_name && strcmp(nt.backend_name, "sysfs"))
		return nt_fail(NT_USAGE, "--root reads files: it goes with --backend=sysfs only");
	return nt_try_open(&err) ? NT_OK : nt_fail_err(&err);
}

int nt_load(unsigned int what, struct nt_tree *tree)
{
	struct nt_error err = { };
	int ret;

	*tree = (struct nt_tree){ };
	ret = nt_open();
	if (ret)
		return ret;
	if (!nt.backend->ops->load(nt.backend, what, tree, &err))
		return NT_OK;
	nt_tree_free(tree);
	return nt_fail_err(&err);
}

/* What there is, for a message that should be a line. */
static char *nt_some_objects(const struct nt_tree *tree)
{
	char *text = nt_strdup(""), *longer;
	size_t i, nr = 0;

	for (i = 0; i < tree->nr && nr < 6; i++) {
		if (tree->objects[i]->parent)
			continue;
		longer = nt_printf("%s%s%s", text, nr++ ? ", " : "", tree->objects[i]->name);
		free(text);
		text = longer;
	}
	if (i == tree->nr)
		return text;
	longer = nt_printf("%s, ...", text);
	free(text);
	return longer;
}

int nt_select(const struct nt_tree *tree, const char *pattern, struct nt_object ***found,
	      size_t *nr)
{
	char *there;
	size_t i;

	*found = NULL;
	*nr = 0;
	if (!nt_pattern_valid(pattern))
		return nt_fail(NT_USAGE,
			       "'%s' is no pattern of objects: see OBJECTS in nvmetune(8)",
			       pattern);
	for (i = 0; i < tree->nr; i++) {
		if (!nt_pattern_match(pattern, tree->objects[i]->name))
			continue;
		*found = nt_grow(*found, *nr, sizeof(**found));
		(*found)[(*nr)++] = tree->objects[i];
	}
	if (*nr)
		return NT_OK;
	if (!tree->nr)
		return nt_fail(NT_USAGE,
			       "no object '%s': there is none at all: is a drive bound to nvme?",
			       pattern);
	there = nt_some_objects(tree);
	nt_fail(NT_USAGE, "no object '%s': there is %s; nvmetune list shows all", pattern, there);
	free(there);
	return NT_USAGE;
}

/* Changes */

/* The kernel's limit for one request (NVMETUNE_MAX_SETTINGS). */
#define NT_MAX_SETTINGS	1024

/**
 * struct nt_step - a change that is going to be made
 * @change: what was asked for
 * @order: its place among what was asked for: of two for the same, the later holds
 * @obj: its object
 * @param: its parameter, as it was before
 * @now: and as it is after; NULL: nothing was changed
 */
struct nt_step {
	const struct nt_change *change;
	size_t order;
	const struct nt_object *obj;
	const struct nt_param *param;
	const struct nt_param *now;
};

/* The name that is nearest to @name, if one is near enough to be meant; else NULL. */
const char *nt_nearest(const char *name, const char *const *names, size_t nr)
{
	size_t len = strlen(name), best = len / 3 + 2, i, j, k, above, left, d[64];
	const char *found = NULL;

	for (i = 0; i < nr; i++) {
		size_t cols = strlen(names[i]);

		if (cols >= NT_ARRAY_SIZE(d))
			continue;
		for (k = 0; k <= cols; k++)
			d[k] = k;
		/* Edit distance, a row at a time. */
		for (j = 1; j <= len; j++) {
			above = d[0];
			d[0] = j;
			for (k = 1; k <= cols; k++) {
				left = above + (name[j - 1] != names[i][k - 1]);
				above = d[k];
				if (above + 1 < left)
					left = above + 1;
				if (d[k - 1] + 1 < left)
					left = d[k - 1] + 1;
				d[k] = left;
			}
		}
		if (d[cols] < best) {
			best = d[cols];
			found = names[i];
		}
	}
	return found;
}

int nt_no_param(const struct nt_object *obj, const char *name)
{
	const char **names = nt_alloc((obj->nr_params + 1) * sizeof(*names)), *near;
	size_t i;

	for (i = 0; i < obj->nr_params; i++)
		names[i] = obj->params[i].name;
	near = nt_nearest(name, names, obj->nr_params);
	if (near)
		nt_fail(NT_USAGE, "%s has no parameter '%s': is %s meant?", obj->name, name, near);
	else
		nt_fail(NT_USAGE, "%s has no parameter '%s': nvmetune show %s lists them",
			obj->name, name, obj->name);
	free(names);
	return NT_USAGE;
}

static int nt_check_change(const struct nt_tree *tree, const struct nt_change *c,
			   struct nt_step *step)
{
	char *why = NULL;

	step->change = c;
	step->obj = nt_tree_find(tree, c->object);
	if (!step->obj)
		return nt_fail(NT_USAGE, "no object '%s': nvmetune list shows all", c->object);
	step->param = nt_object_param(step->obj, c->name);
	if (!step->param)
		return nt_no_param(step->obj, c->name);
	if (nt_param_accepts(step->param, c->value, &why))
		return NT_OK;
	nt_fail(NT_USAGE, "%s: %s=%s: %s", c->object, c->name, c->value, why);
	free(why);
	return NT_USAGE;
}

static int nt_step_cmp_param(const void *a, const void *b)
{
	const struct nt_step *x = a, *y = b;

	if (x->param != y->param)
		return (uintptr_t)x->param < (uintptr_t)y->param ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static int nt_step_cmp_order(const void *a, const void *b)
{
	const struct nt_step *x = a, *y = b;

	return x->order < y->order ? -1 : x->order > y->order;
}

/* What there is to do, in the order in which it was asked for. */
static int nt_plan(const struct nt_tree *tree, const struct nt_change *changes, size_t nr,
		   struct nt_step *steps, size_t *nr_steps)
{
	size_t i, left = 0;
	int ret;

	for (i = 0; i < nr; i++) {
		steps[i].order = i;
		ret = nt_check_change(tree, &changes[i], &steps[i]);
		if (ret)
			return ret;
	}
	if (nr)
		qsort(steps, nr, sizeof(*steps), nt_step_cmp_param);
	for (i = 0; i < nr; i++) {
		if (i + 1 < nr && steps[i + 1].param == steps[i].param)
			continue;
		if (!nt_param_same(steps[i].param, steps[i].param->text, steps[i].change->value))
			steps[left++] = steps[i];
	}
	if (left)
		qsort(steps, left, sizeof(*steps), nt_step_cmp_order);
	*nr_steps = left;
	return NT_OK;
}

static const char *nt_inherited(const char *word, const struct nt_param *param, char *buf,
				size_t size)
{
	char in_force[128];

	nt_param_show(param, param->in_force, in_force, sizeof(in_force));
	snprintf(buf, size, "%s (%s)", word, in_force);
	return buf;
}

static void nt_print_step(const struct nt_step *s)
{
	const char *value = s->change->value, *old, *new;
	bool inherit = !strcmp(value, "inherit");
	char buf_old[256], buf_new[256];

	if (s->param->inherit)
		old = nt_inherited("inherit", s->param, buf_old, sizeof(buf_old));
	else
		old = nt_param_show(s->param, s->param->text, buf_old, sizeof(buf_old));
	/* At the top, to inherit is to have the default again. */
	if (inherit && s->now)
		new = nt_inherited(s->now->inherit ? "inherit" : "default", s->now, buf_new,
				   sizeof(buf_new));
	else
		new = nt_param_show(s->param, value, buf_new, sizeof(buf_new));
	nt_say("%s%s %s: %s -> %s%s\n", nt.dry_run ? "would set " : "", s->obj->name,
	       s->param->name, old, new,
	       s->param->applies == NVMETUNE_APPLIES_AT_RESET ?
	       " (applies when the controller is reset)" : "");
}

static void nt_print_steps(const struct nt_step *steps, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		nt_print_step(&steps[i]);
	if (!nr)
		nt_say("nothing to change: all is so already\n");
}

static json_object *nt_json_steps(const struct nt_step *steps, size_t nr, json_object *list)
{
	json_object *o;
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct nt_step *s = &steps[i];

		o = json_object_new_object();
		json_object_object_add(o, "object", json_object_new_string(s->obj->name));
		json_object_object_add(o, "name", json_object_new_string(s->param->name));
		json_object_object_add(o, "old", json_object_new_string(s->param->text));
		json_object_object_add(o, "new", json_object_new_string(s->change->value));
		json_object_object_add(o, "applies",
				       json_object_new_string(nt_applies_name(s->param->applies)));
		json_object_array_add(list, o);
	}
	return list;
}

static void nt_tell_steps(const struct nt_step *steps, size_t nr)
{
	json_object *o;

	if (!nt.json) {
		nt_print_steps(steps, nr);
	} else if (nt.changes) {
		nt_json_steps(steps, nr, nt.changes);
	} else {
		o = json_object_new_object();
		json_object_object_add(o, "dry_run", json_object_new_boolean(nt.dry_run));
		json_object_object_add(o, "changes",
				       nt_json_steps(steps, nr, json_object_new_array()));
		nt_json_print(o);
	}
}

/* What was there before, for what an earlier request has changed. */
static void nt_put_back(const struct nt_step *steps, size_t nr)
{
	struct nt_change *old = nt_alloc((nr + 1) * sizeof(*old));
	struct nt_error err = { };
	size_t i, part;

	for (i = 0; i < nr; i++)
		old[i] = (struct nt_change){ steps[i].change->object, steps[i].change->name,
					     steps[i].param->text };
	for (i = 0; i < nr; i += part) {
		part = nr - i < NT_MAX_SETTINGS ? nr - i : NT_MAX_SETTINGS;
		if (nt.backend->ops->set(nt.backend, old + i, part, &err))
			nt_warn("cannot put back what was set before that: %s", err.text);
	}
	free(old);
}

/* One request, or as few as the kernel allows; then none is left half done either. */
static int nt_make_changes(const struct nt_step *steps, size_t nr)
{
	struct nt_change *changes = nt_alloc((nr + 1) * sizeof(*changes));
	struct nt_error err = { .index = -1 };
	int ret = NT_OK;
	size_t i, part;

	for (i = 0; i < nr; i++)
		changes[i] = *steps[i].change;
	for (i = 0; i < nr; i += part) {
		part = nr - i < NT_MAX_SETTINGS ? nr - i : NT_MAX_SETTINGS;
		if (nt.backend->ops->set(nt.backend, changes + i, part, &err)) {
			nt_put_back(steps, i);
			ret = nt_fail(NT_REFUSED, "%s%s", err.text,
				      nr > 1 ? "; nothing was changed" : "");
			break;
		}
	}
	free(changes);
	return ret;
}

/*
 * A write that did not fail may not have done what was wanted, all the same. Leaves out
 * what was so already: at the top, only the kernel can tell that for "inherit".
 */
static int nt_read_back(struct nt_step *steps, size_t *nr, struct nt_tree *now)
{
	const struct nt_object *obj;
	size_t i, left = 0;
	int ret;

	ret = nt_load(NT_LOAD_PARAMS, now);
	if (ret)
		return ret;
	for (i = 0; i < *nr; i++) {
		const struct nt_change *c = steps[i].change;
		bool default_again;

		obj = nt_tree_find(now, c->object);
		steps[i].now = obj ? nt_object_param(obj, c->name) : NULL;
		if (!steps[i].now) {
			ret = nt_fail(NT_REFUSED, "%s: %s=%s: the object has gone meanwhile",
				      c->object, c->name, c->value);
			continue;
		}
		default_again = !strcmp(c->value, "inherit") && !steps[i].now->inherit &&
				!steps[i].param->inherit;
		if (!default_again && !nt_param_same(steps[i].now, steps[i].now->text, c->value))
			ret = nt_fail(NT_REFUSED, "%s: %s was set to %s but is %s: somebody else changes it, too",
				      c->object, c->name, c->value, steps[i].now->text);
		if (!default_again || strcmp(steps[i].now->text, steps[i].param->text))
			steps[left++] = steps[i];
	}
	*nr = left;
	return ret;
}

int nt_apply_changes(const struct nt_change *changes, size_t nr, size_t *changed)
{
	struct nt_step *steps = nt_alloc((nr + 1) * sizeof(*steps));
	struct nt_tree tree = { }, now = { };
	size_t nr_steps = 0;
	int ret;

	*changed = 0;
	ret = nt_load(NT_LOAD_PARAMS, &tree);
	if (!ret)
		ret = nt_plan(&tree, changes, nr, steps, &nr_steps);
	if (!ret && nr_steps && !nt.dry_run) {
		ret = nt_make_changes(steps, nr_steps);
		if (!ret)
			ret = nt_read_back(steps, &nr_steps, &now);
	}
	if (!ret) {
		nt_tell_steps(steps, nr_steps);
		*changed = nt.dry_run ? 0 : nr_steps;
	}
	nt_tree_free(&now);
	nt_tree_free(&tree);
	free(steps);
	return ret;
}
