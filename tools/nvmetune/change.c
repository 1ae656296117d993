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

int nt_open(void)
{
	struct nt_error err = { };

	if (nt.backend)
		return NT_OK;
	if (*nt.root && nt.backend_name && strcmp(nt.backend_name, "sysfs"))
		return nt_fail(NT_USAGE, "--root reads files: it goes with --backend=sysfs only");
	nt.backend = nt_open_any(&err);
	return nt.backend ? NT_OK : nt_fail_err(&err);
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
			       "'%s' is no pattern of objects: see OBJECTS in nvmetune(8)", pattern);
	for (i = 0; i < tree->nr; i++) {
		if (!nt_pattern_match(pattern, tree->objects[i]->name))
			continue;
		*found = nt_grow(*found, *nr, sizeof(**found));
		(*found)[(*nr)++] = tree->objects[i];
	}
	if (*nr)
		return NT_OK;
	if (!tree->nr)
		return nt_fail(NT_USAGE, "no object '%s': there is none at all: is an NVMe drive bound to the nvme driver?",
			       pattern);
	there = nt_some_objects(tree);
	nt_fail(NT_USAGE, "no object '%s': there is %s; nvmetune list shows all", pattern, there);
	free(there);
	return NT_USAGE;
}

int nt_apply_changes(const struct nt_change *changes, size_t nr, size_t *changed)
{
	return nt_fail(NT_USAGE, "not yet");
}
