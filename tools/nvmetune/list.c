// SPDX-License-Identifier: GPL-2.0-only
/*
 * list: the objects as a tree, with what tells one from the other.
 */
#include <stdlib.h>
#include <string.h>

#include "nvmetune.h"

static const char *nt_value(const struct nt_object *obj, const char *name)
{
	const struct nt_param *param = nt_object_param(obj, name);

	return param ? param->in_force : "";
}

static bool nt_is(const struct nt_object *obj, const char *name)
{
	return !strcmp(nt_value(obj, name), "1");
}

/* In a word, what becomes of completions there; "" where there are none. */
static const char *nt_state(const struct nt_object *obj)
{
	if (!nt_object_param(obj, "armed"))
		return nt_is(obj, "threaded") ? "threaded" : nt_is(obj, "bounces") ? "bounces" : "";
	if (!nt_is(obj, "running"))
		return "stopped";
	if (nt_is(obj, "polled"))
		return "polled";
	if (nt_is(obj, "threaded"))
		return "threaded";
	return nt_is(obj, "armed") ? "may defer" : "in interrupt";
}

static char *nt_trimmed(char *text)
{
	size_t len = text ? strlen(text) : 0;

	while (len && text[len - 1] == ' ')
		text[--len] = '\0';
	return text;
}

/* Model and address of a controller; NULL for what is none. */
static char *nt_model(const struct nt_object *obj)
{
	return strchr(obj->name, '/') ? NULL :
		nt_trimmed(nt_sys_read("/sys/class/nvme/%s/model", obj->name));
}

static char *nt_address(const struct nt_object *obj)
{
	return strchr(obj->name, '/') ? NULL :
		nt_trimmed(nt_sys_read("/sys/class/nvme/%s/address", obj->name));
}

static void nt_list_row(struct nt_table *t, const struct nt_object *obj)
{
	const struct nt_object *above;
	char *model, *address, *device, *name;
	int depth = 0;

	for (above = obj->parent; above; above = above->parent)
		depth++;
	model = nt_model(obj);
	address = nt_address(obj);
	device = nt_printf("%s%s%s", model ? model : "", model && address ? ", " : "",
			   address ? address : "");
	name = nt_printf("%*s%s", 2 * depth, "", obj->name);
	nt_table_row(t, (const char *[]){
		name, nt_value(obj, "defer_mode"), nt_state(obj), nt_value(obj, "irq"),
		nt_value(obj, "cpus"), nt_value(obj, "numa_node"), nt_value(obj, "depth"), device,
	});
	free(name);
	free(device);
	free(address);
	free(model);
}

static void nt_list_print(struct nt_object **found, size_t nr)
{
	static const char *const headers[] = {
		"OBJECT", "MODE", "STATE", "IRQ", "CPUS", "NODE", "DEPTH", "DEVICE",
	};
	struct nt_table *t = nt_table_new(headers, NT_ARRAY_SIZE(headers));
	size_t i;

	nt_table_right(t, 3);
	nt_table_right(t, 5);
	nt_table_right(t, 6);
	for (i = 0; i < nr; i++)
		nt_list_row(t, found[i]);
	nt_table_print(t, stdout);
}

static void nt_json_add_text(json_object *o, const char *name, const char *text)
{
	if (text && *text)
		json_object_object_add(o, name, json_object_new_string(text));
}

static json_object *nt_json_facts(const struct nt_object *obj)
{
	json_object *facts = json_object_new_object();
	size_t i;

	for (i = 0; i < obj->nr_params; i++)
		if (obj->params[i].read_only)
			json_object_object_add(facts, obj->params[i].name,
					       json_object_new_string(obj->params[i].text));
	return facts;
}

static void nt_list_json(struct nt_object **found, size_t nr)
{
	char *model, *address;
	json_object *o;
	size_t i;

	nt_json_begin(NULL, "objects");
	for (i = 0; i < nr; i++) {
		o = nt_json_object(found[i], 0);
		model = nt_model(found[i]);
		address = nt_address(found[i]);
		nt_json_add_text(o, "model", model);
		nt_json_add_text(o, "address", address);
		nt_json_add_text(o, "mode", nt_value(found[i], "defer_mode"));
		nt_json_add_text(o, "state", nt_state(found[i]));
		json_object_object_add(o, "facts", nt_json_facts(found[i]));
		nt_json_item(o);
		free(model);
		free(address);
	}
	nt_json_end();
}

static bool nt_has(struct nt_object *const *found, size_t nr, const struct nt_object *obj)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (found[i] == obj)
			return true;
	return false;
}

/* All that the patterns match, each once, in the order of the tree. */
static int nt_select_all(const struct nt_tree *tree, int argc, char **args,
			 struct nt_object ***found, size_t *nr)
{
	struct nt_object **some;
	size_t nr_some, j;
	int i, ret = NT_OK;

	*found = NULL;
	*nr = 0;
	for (i = 0; i < argc && !ret; i++) {
		ret = nt_select(tree, args[i], &some, &nr_some);
		for (j = 0; j < nr_some; j++) {
			if (i && nt_has(*found, *nr, some[j]))
				continue;
			*found = nt_grow(*found, *nr, sizeof(**found));
			(*found)[(*nr)++] = some[j];
		}
		free(some);
	}
	return ret;
}

int nt_run_list(int argc, char **args, const char **values)
{
	static char *all[] = { "all" };
	struct nt_object **found = NULL;
	struct nt_tree tree;
	size_t nr = 0;
	int ret;

	ret = nt_load(NT_LOAD_PARAMS, &tree);
	if (ret)
		return ret;
	/* No drive is no fault of who asks for all that there is. */
	if (argc || tree.nr)
		ret = nt_select_all(&tree, argc ? argc : 1, argc ? args : all, &found, &nr);
	if (!ret && nt.json)
		nt_list_json(found, nr);
	else if (!ret && !tree.nr)
		nt_say("no objects: no NVMe drive is bound to the nvme driver\n");
	else if (!ret)
		nt_list_print(found, nr);
	free(found);
	nt_tree_free(&tree);
	return ret;
}
