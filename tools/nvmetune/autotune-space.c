// SPDX-License-Identifier: GPL-2.0-only
/*
 * What autotune tries. Ranges, types and choices come from the kernel; which parameters
 * are for trade-offs, and not for safety, has to be known.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "autotune.h"

/* In which modes a parameter does anything. */
#define NT_WITH_AUTO	1
#define NT_WITH_ON	2
#define NT_ALWAYS	4

/*
 * In the order in which they are tried: what has the largest effect first. Limits of
 * backlog and age are for safety, and a load that stays below them says nothing of them.
 */
static const struct {
	const char *name;
	unsigned int when;
} nt_tunables[] = {
	{ "defer_mode", NT_ALWAYS },
	{ "defer_irq_share", NT_WITH_AUTO },
	{ "defer_inline_bytes", NT_WITH_AUTO },
	{ "defer_lanes", NT_WITH_AUTO | NT_WITH_ON },
	{ "defer_chunk_bytes", NT_WITH_AUTO | NT_WITH_ON },
	{ "defer_lane_bytes", NT_WITH_AUTO | NT_WITH_ON },
	{ "resched_bytes", NT_WITH_AUTO | NT_WITH_ON },
	{ "defer_small_bytes", NT_WITH_AUTO },
};

bool nt_space_matters(const char *name, const char *mode, bool bounces)
{
	size_t i;

	for (i = 0; i < NT_ARRAY_SIZE(nt_tunables); i++) {
		if (strcmp(nt_tunables[i].name, name))
			continue;
		if (nt_tunables[i].when & NT_ALWAYS)
			return true;
		if (!strcmp(mode, "auto"))
			return bounces && nt_tunables[i].when & NT_WITH_AUTO;
		return !strcmp(mode, "on") && nt_tunables[i].when & NT_WITH_ON;
	}
	return false;
}

static int nt_u64_cmp(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void nt_coord_add(struct nt_coord *c, char *value)
{
	c->values = nt_grow(c->values, c->nr, sizeof(*c->values));
	c->values[c->nr++] = value;
}

static void nt_coord_choices(struct nt_coord *c, const struct nt_param *param)
{
	size_t i;

	for (i = 0; i < param->nr_choices; i++) {
		if (!strcmp(param->choices[i], param->in_force))
			c->start = i;
		nt_coord_add(c, nt_strdup(param->choices[i]));
	}
}

/* Numbers around what it is: by the factor 4 for sizes, 2 for what is small. */
static void nt_coord_numbers(struct nt_coord *c, const struct nt_param *param)
{
	uint64_t factor = param->type == NVMETUNE_TYPE_BYTES ? 4 : 2;
	uint64_t now = param->num, values[5], num;
	uint64_t max = param->has_range ? param->max : UINT64_MAX;
	uint64_t min = param->has_range ? param->min : 0;
	size_t nr = 0, i;

	values[nr++] = now;
	for (num = now, i = 0; i < 2 && num / factor >= min && num / factor; i++)
		values[nr++] = num /= factor;
	for (num = now, i = 0; i < 2 && num && num <= max / factor; i++)
		values[nr++] = num *= factor;
	qsort(values, nr, sizeof(*values), nt_u64_cmp);
	for (i = 0; i < nr; i++) {
		if (values[i] == now)
			c->start = i;
		nt_coord_add(c, nt_printf("%" PRIu64, values[i]));
	}
	c->ordered = true;
}

static void nt_space_add(struct nt_search *s, const struct nt_param *param)
{
	struct nt_coord *c;

	s->coords = nt_grow(s->coords, s->nr, sizeof(*s->coords));
	c = &s->coords[s->nr++];
	*c = (struct nt_coord){ .name = param->name };
	if (param->type == NVMETUNE_TYPE_ENUM)
		nt_coord_choices(c, param);
	else
		nt_coord_numbers(c, param);
	c->best = c->start;
}

/* Whether the comma-separated @names has @name. */
static bool nt_named(const char *names, const char *name)
{
	size_t len = strlen(name), n;

	for (; names; names = strchr(names, ',') ? strchr(names, ',') + 1 : NULL) {
		n = strcspn(names, ",");
		if (n == len && !strncmp(names, name, n))
			return true;
	}
	return false;
}

/* Each of @names has to be one that can be tuned, and be there. */
static int nt_check_names(const struct nt_object *obj, const char *names, struct nt_error *err)
{
	char *copy = nt_strdup(names), *save = NULL, *name;
	bool known;
	size_t i;

	err->code = 0;
	for (name = strtok_r(copy, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		known = false;
		for (i = 0; i < NT_ARRAY_SIZE(nt_tunables); i++)
			known |= !strcmp(nt_tunables[i].name, name);
		if (known && nt_object_param(obj, name))
			continue;
		nt_error_set(err, EINVAL, "'%s' is not for autotune: see autotune in nvmetune(8)",
			     name);
		break;
	}
	free(copy);
	return err->code ? -1 : 0;
}

int nt_space_make(const struct nt_object *obj, const char *names, struct nt_search *s,
		  struct nt_error *err)
{
	struct nt_param *param;
	size_t i;

	*s = (struct nt_search){ };
	if (names && nt_check_names(obj, names, err))
		return -1;
	for (i = 0; i < NT_ARRAY_SIZE(nt_tunables); i++) {
		param = nt_object_param(obj, nt_tunables[i].name);
		if (!param || !param->described || param->read_only)
			continue;
		if (!names || nt_named(names, param->name))
			nt_space_add(s, param);
	}
	if (s->nr)
		return 0;
	nt_error_set(err, EOPNOTSUPP,
		     "%s has nothing that can be tuned, or the kernel does not describe it: it takes CONFIG_NVMETUNE_NETLINK",
		     obj->name);
	return -1;
}

void nt_space_clear(struct nt_search *s)
{
	size_t i, j;

	for (i = 0; i < s->nr; i++) {
		for (j = 0; j < s->coords[i].nr; j++)
			free(s->coords[i].values[j]);
		free(s->coords[i].values);
	}
	free(s->coords);
	*s = (struct nt_search){ };
}
