// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verbs of profiles: save, diff, apply, restore, profiles.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profile.h"

/* apply --settle: objects of a controller come within milliseconds of each other. */
#define NT_SETTLE_MS	1000

enum { NT_SAVE_OBJECT, NT_SAVE_FORCE };

const struct nt_opt nt_opts_save[] = {
	{ "object", 'o', "PATTERN", "only these objects and what is below them",
	  NT_COMPLETE_OBJECT },
	{ "force", 'f', NULL, "replace FILE if there is one" },
	{ }
};

enum { NT_DIFF_OBJECT, NT_DIFF_SKIP };

const struct nt_opt nt_opts_diff[] = {
	{ "object", 'o', "PATTERN", "only these objects and what is below them",
	  NT_COMPLETE_OBJECT },
	{ "skip-unknown", 's', NULL, "pass over parameters that this kernel lacks" },
	{ }
};

enum { NT_APPLY_OBJECT, NT_APPLY_SKIP, NT_APPLY_SETTLE };

const struct nt_opt nt_opts_apply[] = {
	{ "object", 'o', "PATTERN", "only these objects and what is below them",
	  NT_COMPLETE_OBJECT },
	{ "skip-unknown", 's', NULL, "pass over parameters that this kernel lacks" },
	{ "settle", 0, NULL, "go on until no more objects come, as at boot" },
	{ }
};

/* What the verbs have in common */

/*
 * The objects that --object names, NULL: all. A path in sysfs is what udev and systemd
 * know an object by.
 */
static int nt_take_pattern(const char *value, const char **pattern)
{
	static const char dir[] = "sys/kernel/nvmetune/";

	*pattern = value;
	if (!value)
		return NT_OK;
	value += *value == '/';
	if (!strncmp(value, dir, strlen(dir)))
		*pattern = value + strlen(dir);
	if (nt_pattern_valid(*pattern))
		return NT_OK;
	return nt_fail(NT_USAGE, "'%s' is no pattern of objects: see OBJECTS in nvmetune(8)",
		       *pattern);
}

static json_object *nt_json_strings(char **strings, size_t nr)
{
	json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < nr; i++)
		json_object_array_add(list, json_object_new_string(strings[i]));
	return list;
}

/* What a message calls it: the file, where there is one. */
static const char *nt_label(const struct nt_profile *p)
{
	return strcmp(p->origin, NT_BUILT_IN) ? p->origin : p->name;
}

void nt_plan_tell(const struct nt_profile *p, const struct nt_plan *plan, json_object *o)
{
	size_t i;

	if (o) {
		json_object_object_add(o, "profile", json_object_new_string(p->name));
		json_object_object_add(o, "origin", json_object_new_string(p->origin));
		json_object_object_add(o, "unmatched",
				       nt_json_strings(plan->unmatched, plan->nr_unmatched));
		json_object_object_add(o, "skipped",
				       nt_json_strings(plan->skipped, plan->nr_skipped));
		return;
	}
	if (nt.quiet)
		return;
	for (i = 0; i < plan->nr_unmatched; i++)
		nt_warn("%s: [%s] matches no object", nt_label(p), plan->unmatched[i]);
	for (i = 0; i < plan->nr_skipped; i++)
		nt_warn("%s: skipped, not in this kernel: %s", nt_label(p),
			plan->skipped[i]);
}

/* Of @tree, what @p says; a message and the exit status, if that is wrong. */
static int nt_make_plan(const struct nt_profile *p, const struct nt_tree *tree,
			const char *only, bool skip_unknown, struct nt_plan *plan)
{
	struct nt_error err;

	if (!nt_profile_expand(p, tree, only, skip_unknown, plan, &err))
		return NT_OK;
	return nt_fail(NT_USAGE, "%s: %s", nt_label(p), err.text);
}

/* save */

static int nt_save_to(const char *path, const char *text, bool force)
{
	if (!force && !access(path, F_OK))
		return nt_fail(NT_USAGE, "%s is there already: --force replaces it", path);
	if (nt_write_atomic(path, text))
		return nt_fail(NT_REFUSED, "cannot write %s: %s", path, strerror(errno));
	nt_say("saved to %s\n", path);
	return NT_OK;
}

static int nt_save_tree(const struct nt_tree *tree, const char *only, const char *path, bool force)
{
	json_object *o;
	char *text;
	int ret = NT_OK;

	text = nt_profile_text(tree, only, "Saved by nvmetune " NT_VERSION ".");
	if (path)
		ret = nt_save_to(path, text, force);
	else if (!nt.json)
		fputs(text, stdout);
	if (!ret && nt.json) {
		o = json_object_new_object();
		json_object_object_add(o, "file", path ? json_object_new_string(path) : NULL);
		json_object_object_add(o, "text", json_object_new_string(text));
		nt_json_print(o);
	}
	free(text);
	return ret;
}

int nt_run_save(int argc, char **args, const char **values)
{
	const char *path = argc && strcmp(args[0], "-") ? args[0] : NULL, *only;
	struct nt_object **found = NULL;
	struct nt_tree tree;
	size_t nr;
	int ret;

	if (argc > 1)
		return nt_fail(NT_USAGE, "save takes one file: see nvmetune help save");
	ret = nt_take_pattern(values[NT_SAVE_OBJECT], &only);
	if (!ret)
		ret = nt_load(NT_LOAD_PARAMS, &tree);
	if (ret)
		return ret;
	/* For its message. */
	if (only)
		ret = nt_select(&tree, only, &found, &nr);
	if (!ret)
		ret = nt_save_tree(&tree, only, path, values[NT_SAVE_FORCE]);
	free(found);
	nt_tree_free(&tree);
	return ret;
}

/* diff */

static void nt_diff_line(const struct nt_change *c, const struct nt_param *param,
			 json_object *list)
{
	json_object *o;

	if (list) {
		o = json_object_new_object();
		json_object_object_add(o, "object", json_object_new_string(c->object));
		json_object_object_add(o, "name", json_object_new_string(c->name));
		json_object_object_add(o, "expected", json_object_new_string(c->value));
		json_object_object_add(o, "actual", json_object_new_string(param->text));
		json_object_object_add(o, "in_force", json_object_new_string(param->in_force));
		json_object_array_add(list, o);
		return;
	}
	printf("%s %s: expected %s, actual %s", c->object, c->name, c->value, param->text);
	if (param->inherit)
		printf(" (%s)", param->in_force);
	putchar('\n');
}

static int nt_diff_plan(const struct nt_profile *p, const struct nt_plan *plan)
{
	json_object *o = nt.json ? json_object_new_object() : NULL;
	json_object *list = nt.json ? json_object_new_array() : NULL;
	size_t i;

	nt_plan_tell(p, plan, o);
	for (i = 0; i < plan->nr; i++)
		if (!nt_param_same(plan->current[i], plan->changes[i].value,
				   plan->current[i]->text))
			nt_diff_line(&plan->changes[i], plan->current[i], list);
	if (o) {
		json_object_object_add(o, "differences", list);
		nt_json_print(o);
	}
	if (nt_plan_differs(plan))
		return NT_FOUND;
	nt_say("no difference in %zu settings\n", plan->nr);
	return NT_OK;
}

int nt_run_diff(int argc, char **args, const char **values)
{
	const char *only;
	struct nt_profile p;
	struct nt_tree tree;
	struct nt_plan plan;
	int ret;

	if (argc != 1)
		return nt_fail(NT_USAGE, "diff takes one profile: nvmetune profiles lists them");
	ret = nt_take_pattern(values[NT_DIFF_OBJECT], &only);
	if (!ret)
		ret = nt_profile_load(args[0], &p);
	if (ret)
		return ret;
	ret = nt_load(NT_LOAD_PARAMS, &tree);
	if (ret)
		goto clear;
	ret = nt_make_plan(&p, &tree, only, values[NT_DIFF_SKIP], &plan);
	if (!ret) {
		ret = nt_diff_plan(&p, &plan);
		nt_plan_clear(&plan);
	}
	nt_tree_free(&tree);
clear:
	nt_profile_clear(&p);
	return ret;
}

/* apply and restore */

/* Refused, or made and then found to be otherwise: a look at what is set tells. */
static void nt_apply_failed(void)
{
	struct nt_error err = { };
	struct nt_tree now = { };

	if (!nt.backend->ops->load(nt.backend, NT_LOAD_PARAMS, &now, &err))
		nt_state_settle(&now);
	nt_tree_free(&now);
}

/**
 * struct nt_apply - an apply, which may take several rounds
 * @p: the profile
 * @only: the objects, NULL: all
 * @skip_unknown: pass over what the kernel lacks
 * @keep: the state before is to be kept: not yet done
 * @o: with -j, what is printed
 * @nr_objects: how many there were in the last round
 */
struct nt_apply {
	const struct nt_profile *p;
	const char *only;
	bool skip_unknown;
	bool keep;
	json_object *o;
	size_t nr_objects;
};

/* Make the plan true. The state before is kept, if there is anything to do. */
static int nt_apply_plan(const struct nt_tree *tree, const struct nt_plan *plan, bool *keep)
{
	size_t changed;
	int ret;

	if (!nt_plan_differs(plan)) {
		nt_say("nothing to change: all %zu settings are so already\n", plan->nr);
		return NT_OK;
	}
	if (!*keep || nt.dry_run)
		return nt_apply_changes(plan->changes, plan->nr, &changed);
	if (nt_state_store(tree))
		return NT_REFUSED;
	ret = nt_apply_changes(plan->changes, plan->nr, &changed);
	if (ret) {
		nt_apply_failed();
	} else {
		nt_state_commit();
		*keep = false;
	}
	return ret;
}

/* Load, plan, do; with -j the result is printed by the caller. */
static int nt_apply_once(struct nt_apply *a)
{
	struct nt_tree tree;
	struct nt_plan plan;
	int ret;

	ret = nt_load(NT_LOAD_PARAMS, &tree);
	if (ret)
		return ret;
	a->nr_objects = tree.nr;
	if (a->keep && !nt.dry_run)
		nt_state_recover(&tree);
	ret = nt_make_plan(a->p, &tree, a->only, a->skip_unknown, &plan);
	if (!ret) {
		nt_plan_tell(a->p, &plan, a->o);
		ret = nt_apply_plan(&tree, &plan, &a->keep);
		nt_plan_clear(&plan);
	}
	nt_tree_free(&tree);
	return ret;
}

static int nt_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int)(t.tv_sec % 1000000) * 1000 + (int)(t.tv_nsec / 1000000);
}

/* All events that have arrived: whether an object has come. */
static bool nt_object_came(void)
{
	struct nt_error err = { };
	struct nt_event ev;
	bool came = false;

	while (nt.backend->ops->next_event(nt.backend, &ev, &err) > 0) {
		came |= ev.kind == NT_EVENT_ADD || ev.kind == NT_EVENT_LOST;
		nt_event_clear(&ev);
	}
	return came;
}

/* Whether an object comes within NT_SETTLE_MS; other events do not make it longer. */
static bool nt_wait_object(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	int end = nt_now_ms() + NT_SETTLE_MS, left;

	while ((left = end - nt_now_ms()) > 0)
		if (poll(&poll_fd, 1, left) > 0 && nt_object_came())
			return true;
	return false;
}

/*
 * At boot a controller's queues come one after the other, later than it. Events, where
 * there are such; else another look, until nothing new is there.
 */
static int nt_apply_settling(struct nt_apply *a)
{
	struct nt_error err;
	size_t before;
	int ret, fd = -1;

	if (nt.backend->ops->subscribe)
		fd = nt.backend->ops->subscribe(nt.backend, &err);
	do {
		before = a->nr_objects;
		ret = nt_apply_once(a);
		if (ret)
			return ret;
		if (fd < 0)
			poll(NULL, 0, NT_SETTLE_MS);
	} while (fd < 0 ? a->nr_objects != before : nt_wait_object(fd));
	return NT_OK;
}

/* Adds what was done to @o, with -j, and prints and frees it, if all went well. */
static void nt_print_done(json_object *o, int ret)
{
	if (o && !ret) {
		json_object_object_add(o, "dry_run", json_object_new_boolean(nt.dry_run));
		json_object_object_add(o, "changes", json_object_get(nt.changes));
		nt_json_print(json_object_get(o));
	}
	json_object_put(o);
	json_object_put(nt.changes);
	nt.changes = NULL;
}

/* Open, and keep others away: the descriptor of the lock, -1: needs none. */
static int nt_begin(int *lock)
{
	int ret = nt_open();

	*lock = -1;
	if (ret || nt.dry_run)
		return ret;
	*lock = nt_state_lock(true);
	return *lock < 0 ? NT_REFUSED : NT_OK;
}

static int nt_apply_profile(struct nt_apply *a, bool settle)
{
	int ret, lock;

	if (nt.json) {
		a->o = json_object_new_object();
		nt.changes = json_object_new_array();
	}
	ret = nt_begin(&lock);
	if (!ret)
		ret = settle && !nt.dry_run ? nt_apply_settling(a) : nt_apply_once(a);
	if (lock >= 0)
		close(lock);
	nt_print_done(a->o, ret);
	return ret;
}

int nt_run_apply(int argc, char **args, const char **values)
{
	struct nt_apply a = { .skip_unknown = values[NT_APPLY_SKIP], .keep = true };
	struct nt_profile p;
	int ret;

	if (argc != 1)
		return nt_fail(NT_USAGE, "apply takes one profile: nvmetune profiles lists them");
	ret = nt_take_pattern(values[NT_APPLY_OBJECT], &a.only);
	if (!ret)
		ret = nt_profile_load(args[0], &p);
	if (ret)
		return ret;
	a.p = &p;
	ret = nt_apply_profile(&a, values[NT_APPLY_SETTLE]);
	nt_profile_clear(&p);
	return ret;
}

static int nt_restore(void)
{
	struct nt_profile p;
	struct nt_tree tree;
	struct nt_plan plan;
	bool keep = false;
	int ret;

	ret = nt_load(NT_LOAD_PARAMS, &tree);
	if (ret)
		return ret;
	if (!nt.dry_run)
		nt_state_recover(&tree);
	ret = nt_state_load(&p);
	if (ret)
		goto free;
	/* Of what has gone since then, nothing is to be brought back. */
	ret = nt_make_plan(&p, &tree, NULL, true, &plan);
	if (!ret) {
		ret = nt_apply_plan(&tree, &plan, &keep);
		if (!ret && !nt.dry_run)
			ret = nt_state_remove();
		nt_plan_clear(&plan);
	}
	nt_profile_clear(&p);
free:
	nt_tree_free(&tree);
	return ret;
}

int nt_run_restore(int argc, char **args, const char **values)
{
	json_object *o;
	int ret, lock;

	if (argc)
		return nt_fail(NT_USAGE, "restore takes no argument: there is one state to go back to");
	o = nt.json ? json_object_new_object() : NULL;
	if (nt.json)
		nt.changes = json_object_new_array();
	ret = nt_begin(&lock);
	if (!ret)
		ret = nt_restore();
	if (lock >= 0)
		close(lock);
	nt_print_done(o, ret);
	return ret;
}

/* profiles */

static json_object *nt_json_settings(const struct nt_profile *p, size_t section)
{
	json_object *o = json_object_new_object();
	size_t i;

	for (i = 0; i < p->nr_settings; i++)
		if (p->settings[i].section == section)
			json_object_object_add(o, p->settings[i].name,
					       json_object_new_string(p->settings[i].value));
	return o;
}

static json_object *nt_json_profile(const struct nt_profile *p, bool all)
{
	json_object *o = json_object_new_object(), *list, *section;
	size_t i;

	json_object_object_add(o, "name", json_object_new_string(p->name));
	json_object_object_add(o, "origin", json_object_new_string(p->origin));
	json_object_object_add(o, "description", json_object_new_string(p->description));
	json_object_object_add(o, "skip_unknown", json_object_new_boolean(p->skip_unknown));
	if (!all)
		return o;
	list = json_object_new_array();
	for (i = 0; i < p->nr_sections; i++) {
		section = json_object_new_object();
		json_object_object_add(section, "objects",
				       json_object_new_string(p->sections[i].pattern));
		json_object_object_add(section, "settings", nt_json_settings(p, i));
		json_object_array_add(list, section);
	}
	json_object_object_add(o, "sections", list);
	return o;
}

static int nt_show_profile(const char *name)
{
	struct nt_profile p;
	json_object *o;
	int ret;

	ret = nt_profile_load(name, &p);
	if (ret)
		return ret;
	if (nt.json) {
		o = json_object_new_object();
		json_object_object_add(o, "profile", nt_json_profile(&p, true));
		nt_json_print(o);
	} else {
		/* Files lose the last line feed when they are read. */
		printf("%s%s", p.text, *p.text && p.text[strlen(p.text) - 1] == '\n' ? "" : "\n");
	}
	nt_profile_clear(&p);
	return NT_OK;
}

static void nt_list_profile(const struct nt_profile *p, struct nt_table *t)
{
	if (nt.json)
		nt_json_item(nt_json_profile(p, false));
	else if (nt.quiet)
		puts(p->name);
	else
		nt_table_row(t, (const char *[]){ p->name, p->origin, p->description });
}

static int nt_list_profiles(void)
{
	static const char *const headers[] = { "PROFILE", "FROM", "FOR" };
	struct nt_table *t = NULL;
	char **names = nt_profile_names();
	struct nt_profile p;
	int ret = NT_OK;
	size_t i;

	if (nt.json)
		nt_json_begin(NULL, "profiles");
	else if (!nt.quiet)
		t = nt_table_new(headers, NT_ARRAY_SIZE(headers));
	for (i = 0; names[i]; i++) {
		/* One that is wrong is said, and the others are listed. */
		if (nt_profile_load(names[i], &p)) {
			ret = NT_USAGE;
			continue;
		}
		nt_list_profile(&p, t);
		nt_profile_clear(&p);
	}
	nt_strv_free(names);
	if (nt.json)
		nt_json_end();
	else if (t)
		nt_table_print(t, stdout);
	return ret;
}

int nt_run_profiles(int argc, char **args, const char **values)
{
	if (argc > 1)
		return nt_fail(NT_USAGE, "profiles takes one profile, or none to list them");
	return argc ? nt_show_profile(args[0]) : nt_list_profiles();
}
