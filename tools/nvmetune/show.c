// SPDX-License-Identifier: GPL-2.0-only
/*
 * show: parameters with their values, where these come from, and what they may be.
 */
#include <stdlib.h>
#include <string.h>

#include "nvmetune.h"

enum { NT_SHOW_SETTINGS, NT_SHOW_FACTS, NT_SHOW_CHANGED };

const struct nt_opt nt_opts_show[] = {
	[NT_SHOW_SETTINGS] = { "settings", 's', NULL, "only what can be set" },
	[NT_SHOW_FACTS] = { "facts", 'f', NULL, "only what cannot" },
	[NT_SHOW_CHANGED] = { "changed", 'c', NULL,
			      "only what does not inherit, or is not the default" },
	{ }
};

/**
 * struct nt_filter - what of an object is shown
 * @names: parameters, or none: all
 * @nr: their number
 * @values: values of the options
 */
struct nt_filter {
	char **names;
	int nr;
	const char **values;
};

static bool nt_changed(const struct nt_param *param)
{
	if (param->read_only || param->inherit)
		return false;
	/* "inherit" cannot be seen at the top: there it is the default. */
	return !(param->has_default && param->num == param->def);
}

static bool nt_wanted(const struct nt_filter *f, const struct nt_param *param)
{
	int i;

	if ((f->values[NT_SHOW_SETTINGS] && param->read_only) ||
	    (f->values[NT_SHOW_FACTS] && !param->read_only) ||
	    (f->values[NT_SHOW_CHANGED] && !nt_changed(param)))
		return false;
	for (i = 0; i < f->nr; i++)
		if (!strcmp(f->names[i], param->name))
			return true;
	return !f->nr;
}

/* Where the value comes from. */
static const char *nt_from(const struct nt_param *param)
{
	if (param->read_only)
		return "fact";
	if (param->inherit)
		return "inherited";
	return param->has_default && param->num == param->def ? "default" : "set";
}

static void nt_show_row(struct nt_table *t, const struct nt_param *param)
{
	bool own = nt_changed(param);
	char value[1100], range[256];
	char *shown;

	nt_param_show(param, param->in_force, value, sizeof(value));
	/* An empty text is a value: it should not look like none. */
	shown = nt_printf("%s%s%s", own ? nt_color(NT_BOLD) : "", *value ? value : "-",
			  own ? nt_color(NT_PLAIN) : "");
	nt_table_row(t, (const char *[]){
		param->name, shown, nt_from(param),
		param->read_only ? "" : nt_param_range(param, range, sizeof(range)),
		nt.verbose ? param->help : "",
	});
	free(shown);
}

/* Returns whether there was something to show. */
static bool nt_show_object(const struct nt_object *obj, const struct nt_filter *f, bool first)
{
	static const char *const headers[] = { "NAME", "VALUE", "FROM", "MAY BE", "WHAT IT DOES" };
	struct nt_table *t = NULL;
	size_t i;

	for (i = 0; i < obj->nr_params; i++) {
		if (!nt_wanted(f, &obj->params[i]))
			continue;
		if (!t) {
			t = nt_table_new(NULL, NT_ARRAY_SIZE(headers));
			nt_table_row(t, (const char *[]){ headers[0], headers[1], headers[2],
				     headers[3], nt.verbose ? headers[4] : "" });
			nt_table_indent(t, 2);
		}
		nt_show_row(t, &obj->params[i]);
	}
	if (!t)
		return false;
	printf("%s%s%s%s\n", first ? "" : "\n", nt_color(NT_BOLD), obj->name,
	       nt_color(NT_PLAIN));
	nt_table_print(t, stdout);
	return true;
}

/* For scripts: "show -q nvme0/q1 defer_mode" is the value as sysfs has it. */
static void nt_show_values(const struct nt_object *obj, const struct nt_filter *f)
{
	size_t i;

	for (i = 0; i < obj->nr_params; i++)
		if (nt_wanted(f, &obj->params[i]))
			puts(obj->params[i].in_force);
}

static void nt_show_print(struct nt_object **found, size_t nr, const struct nt_filter *f)
{
	bool any = false;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (nt.quiet)
			nt_show_values(found[i], f);
		else
			any |= nt_show_object(found[i], f, !any);
	}
	if (!any)
		nt_say("nothing of that kind\n");
}

static void nt_show_json(struct nt_object **found, size_t nr, const struct nt_filter *f)
{
	json_object *o, *params;
	size_t i, p;

	nt_json_begin(NULL, "objects");
	for (i = 0; i < nr; i++) {
		o = nt_json_object(found[i], 0);
		params = json_object_new_object();
		for (p = 0; p < found[i]->nr_params; p++)
			if (nt_wanted(f, &found[i]->params[p]))
				json_object_object_add(params, found[i]->params[p].name,
						       nt_json_param(&found[i]->params[p]));
		json_object_object_add(o, "params", params);
		nt_json_item(o);
	}
	nt_json_end();
}

static int nt_check_names(struct nt_object **found, size_t nr, const struct nt_filter *f)
{
	size_t j;
	int i;

	for (i = 0; i < f->nr; i++) {
		for (j = 0; j < nr && !nt_object_param(found[j], f->names[i]); j++)
			;
		if (j == nr)
			return nt_no_param(found[0], f->names[i]);
	}
	return NT_OK;
}

int nt_run_show(int argc, char **args, const char **values)
{
	struct nt_filter f = { .values = values };
	struct nt_object **found = NULL;
	struct nt_tree tree;
	size_t nr;
	int ret;

	if (values[NT_SHOW_SETTINGS] && values[NT_SHOW_FACTS])
		return nt_fail(NT_USAGE, "--settings and --facts exclude each other");
	if (argc > 1) {
		f.names = args + 1;
		f.nr = argc - 1;
	}
	ret = nt_load(NT_LOAD_PARAMS, &tree);
	if (ret)
		return ret;
	ret = nt_select(&tree, argc ? args[0] : "all", &found, &nr);
	if (!ret)
		ret = nt_check_names(found, nr, &f);
	if (!ret && nt.json)
		nt_show_json(found, nr, &f);
	else if (!ret)
		nt_show_print(found, nr, &f);
	free(found);
	nt_tree_free(&tree);
	return ret;
}
