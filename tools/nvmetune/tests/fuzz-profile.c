// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles: any bytes. What is taken is as it should be, and means something or is
 * refused; what is refused says why in a line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
	if (!ok)
		abort();
}

static void must_say(const struct nt_error *err)
{
	must(err->code && *err->text && !strchr(err->text, '\n'));
}

/* Objects of three kinds, as the kernel has them. */
static const struct nt_tree *objects(void)
{
	static const char *const names[] = { "nvme", "nvme0", "nvme0/q1", "nvme0/q2", "nvme1" };
	static const char *const modes[] = { "off", "on", "auto" };
	static struct nt_tree tree;
	struct nt_param *param;
	size_t i;

	for (i = 0; !tree.sorted && i < NT_ARRAY_SIZE(names); i++) {
		struct nt_object *obj = nt_tree_add(&tree, names[i]);

		param = nt_object_add_param(obj, "defer_mode");
		param->described = true;
		param->type = NVMETUNE_TYPE_ENUM;
		param->inheritable = i > 0;
		param->inherit = i > 0;
		nt_param_set_choices(param, modes, 3);
		nt_param_set_text(param, i ? "inherit" : "auto", "auto");
		param = nt_object_add_param(obj, "resched_bytes");
		param->described = true;
		param->type = NVMETUNE_TYPE_BYTES;
		param->has_range = true;
		param->max = 1 << 30;
		nt_param_set_text(param, "262144", NULL);
		param = nt_object_add_param(obj, "numa_node");
		param->read_only = true;
	}
	if (!tree.sorted)
		nt_tree_sort(&tree);
	return &tree;
}

static void expand(const struct nt_profile *p, bool skip)
{
	const struct nt_tree *tree = objects();
	struct nt_error err = { };
	struct nt_plan plan;

	if (nt_profile_expand(p, tree, NULL, skip, &plan, &err)) {
		must_say(&err);
		return;
	}
	/* At most each parameter once. */
	must(plan.nr <= 2 * tree->nr && nt_plan_differs(&plan) <= plan.nr);
	must(plan.nr_unmatched <= p->nr_sections && plan.nr_skipped <= p->nr_settings);
	must(skip || p->skip_unknown || !plan.nr_skipped);
	nt_plan_clear(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nt_profile p = { };
	struct nt_error err;
	size_t i;

	if (nt_profile_parse((const char *)data, size, &p, &err)) {
		must_say(&err);
	} else {
		for (i = 0; i < p.nr_sections; i++)
			must(nt_pattern_valid(p.sections[i].pattern));
		for (i = 0; i < p.nr_settings; i++)
			must(*p.settings[i].name && *p.settings[i].value &&
			     p.settings[i].section < p.nr_sections &&
			     p.settings[i].line > p.sections[p.settings[i].section].line);
		expand(&p, false);
		expand(&p, true);
	}
	nt_profile_clear(&p);
	return 0;
}
