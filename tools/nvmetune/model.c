// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel has: objects with parameters, statistics and histograms, and the
 * memory that all of the tool uses.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "nvmetune.h"

/* Memory */

static void *nt_checked(void *p)
{
	if (p)
		return p;
	fputs("nvmetune: out of memory\n", stderr);
	exit(NT_REFUSED);
}

void *nt_alloc(size_t size)
{
	return nt_checked(calloc(1, size));
}

void *nt_realloc(void *p, size_t size)
{
	return nt_checked(realloc(p, size));
}

char *nt_strdup(const char *s)
{
	return nt_checked(strdup(s));
}

char *nt_vprintf(const char *format, va_list args)
{
	char *s;

	return nt_checked(vasprintf(&s, format, args) < 0 ? NULL : s);
}

char *nt_printf(const char *format, ...)
{
	va_list args;
	char *s;

	va_start(args, format);
	s = nt_vprintf(format, args);
	va_end(args);
	return s;
}

void nt_strv_free(char **strv)
{
	size_t i;

	for (i = 0; strv && strv[i]; i++)
		free(strv[i]);
	free(strv);
}

/* Room for one more in an array of @nr: it grows at powers of two. */
void *nt_grow(void *array, size_t nr, size_t size)
{
	if (nr & (nr - 1))
		return array;
	return nt_realloc(array, (nr ? 2 * nr : 1) * size);
}

struct nt_interned {
	struct nt_interned *next;
	char text[];
};

/* A fixed number of chains: there are some hundreds of names. */
static struct nt_interned *nt_interned[4096];

const char *nt_intern(const char *s)
{
	struct nt_interned **at, *new;
	uint32_t hash = 2166136261u;
	const char *c;

	if (!*s)
		return "";
	for (c = s; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	for (at = &nt_interned[hash % 4096]; *at; at = &(*at)->next)
		if (!strcmp((*at)->text, s))
			return (*at)->text;
	new = nt_alloc(sizeof(*new) + strlen(s) + 1);
	strcpy(new->text, s);
	*at = new;
	return new->text;
}

/* Objects */

int nt_name_cmp(const char *a, const char *b)
{
	size_t digits_a, digits_b;
	int ret;

	while (*a && *b) {
		if (!isdigit((unsigned char)*a) || !isdigit((unsigned char)*b)) {
			if (*a != *b)
				/* What is below an object comes before its siblings. */
				return *a == '/' ? -1 : *b == '/' ? 1 :
					(unsigned char)*a - (unsigned char)*b;
			a++;
			b++;
			continue;
		}
		a += strspn(a, "0");
		b += strspn(b, "0");
		digits_a = strspn(a, "0123456789");
		digits_b = strspn(b, "0123456789");
		if (digits_a != digits_b)
			return digits_a < digits_b ? -1 : 1;
		ret = strncmp(a, b, digits_a);
		if (ret)
			return ret;
		a += digits_a;
		b += digits_b;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

struct nt_object *nt_tree_add(struct nt_tree *tree, const char *name)
{
	struct nt_object *obj = nt_alloc(sizeof(*obj));

	obj->name = nt_strdup(name);
	obj->class = "";
	tree->objects = nt_grow(tree->objects, tree->nr, sizeof(obj));
	tree->objects[tree->nr++] = obj;
	tree->sorted = false;
	tree->last = obj;
	return obj;
}

/* "007" and "7" are different names that compare equal. */
static int nt_object_cmp(const struct nt_object *a, const struct nt_object *b)
{
	int ret = nt_name_cmp(a->name, b->name);

	return ret ? ret : strcmp(a->name, b->name);
}

static int nt_object_cmp_sort(const void *a, const void *b)
{
	return nt_object_cmp(*(struct nt_object *const *)a, *(struct nt_object *const *)b);
}

static struct nt_object *nt_tree_parent(const struct nt_tree *tree, const char *name)
{
	const char *end = strrchr(name, '/');
	struct nt_object *parent;
	char *above;

	if (!end)
		return NULL;
	above = nt_printf("%.*s", (int)(end - name), name);
	parent = nt_tree_find(tree, above);
	free(above);
	return parent;
}

void nt_tree_sort(struct nt_tree *tree)
{
	struct nt_object *above = NULL;
	const char *end;
	size_t i, len;

	if (tree->nr)
		qsort(tree->objects, tree->nr, sizeof(*tree->objects), nt_object_cmp_sort);
	tree->sorted = true;
	for (i = 0; i < tree->nr; i++) {
		struct nt_object *obj = tree->objects[i];

		/* The one before has the same parent, or is it, as a rule. */
		end = strrchr(obj->name, '/');
		len = end ? end - obj->name : 0;
		if (!end || !above || strncmp(above->name, obj->name, len) ||
		    above->name[len])
			above = nt_tree_parent(tree, obj->name);
		obj->parent = end ? above : NULL;
	}
}

struct nt_object *nt_tree_find(const struct nt_tree *tree, const char *name)
{
	struct nt_object key = { .name = name }, **found, *keys = &key;
	size_t i;

	if (tree->last && !strcmp(tree->last->name, name))
		return tree->last;
	if (tree->sorted && tree->nr) {
		found = bsearch(&keys, tree->objects, tree->nr, sizeof(*tree->objects),
				nt_object_cmp_sort);
		/* What was found last is no part of what the tree holds. */
		if (found)
			((struct nt_tree *)tree)->last = *found;
		return found ? *found : NULL;
	}
	for (i = 0; i < tree->nr; i++)
		if (!strcmp(tree->objects[i]->name, name))
			return tree->objects[i];
	return NULL;
}

/* Parameters */

struct nt_param *nt_object_add_param(struct nt_object *obj, const char *name)
{
	struct nt_param *param;

	obj->params = nt_grow(obj->params, obj->nr_params, sizeof(*param));
	param = &obj->params[obj->nr_params++];
	*param = (struct nt_param){ .name = nt_intern(name), .help = "" };
	nt_param_set_text(param, "", NULL);
	return param;
}

void nt_param_set_text(struct nt_param *param, const char *text, const char *in_force)
{
	char *new_text = nt_strdup(text);
	char *new_in_force = nt_strdup(in_force ? in_force : text);

	free(param->text);
	free(param->in_force);
	param->text = new_text;
	param->in_force = new_in_force;
}

void nt_param_set_choices(struct nt_param *param, const char *const *names, size_t nr)
{
	size_t i;

	free(param->choices);
	param->choices = nr ? nt_alloc(nr * sizeof(*names)) : NULL;
	param->nr_choices = nr;
	for (i = 0; i < nr; i++)
		param->choices[i] = nt_intern(names[i]);
}

void nt_param_clear(struct nt_param *param)
{
	free(param->choices);
	free(param->text);
	free(param->in_force);
	*param = (struct nt_param){ };
}

struct nt_param *nt_object_param(const struct nt_object *obj, const char *name)
{
	size_t i;

	for (i = 0; i < obj->nr_params; i++)
		if (!strcmp(obj->params[i].name, name))
			return &obj->params[i];
	return NULL;
}

/* Statistics */

struct nt_stat *nt_object_add_stat(struct nt_object *obj, const char *name)
{
	struct nt_stat *stat;

	obj->stats = nt_grow(obj->stats, obj->nr_stats, sizeof(*stat));
	stat = &obj->stats[obj->nr_stats++];
	*stat = (struct nt_stat){ .name = nt_intern(name), .help = "" };
	return stat;
}

struct nt_stat *nt_object_stat(const struct nt_object *obj, const char *name)
{
	size_t i;

	for (i = 0; i < obj->nr_stats; i++)
		if (!strcmp(obj->stats[i].name, name))
			return &obj->stats[i];
	return NULL;
}

struct nt_hist *nt_object_add_hist(struct nt_object *obj, const char *name)
{
	struct nt_hist *hist;

	obj->hists = nt_grow(obj->hists, obj->nr_hists, sizeof(*hist));
	hist = &obj->hists[obj->nr_hists++];
	*hist = (struct nt_hist){ .name = nt_intern(name), .help = "" };
	return hist;
}

void nt_hist_add(struct nt_hist *hist, uint64_t up_to, uint64_t count)
{
	hist->buckets = nt_grow(hist->buckets, hist->nr_buckets, sizeof(*hist->buckets));
	hist->buckets[hist->nr_buckets++] = (struct nt_bucket){ up_to, count };
}

struct nt_hist *nt_object_hist(const struct nt_object *obj, const char *name)
{
	size_t i;

	for (i = 0; i < obj->nr_hists; i++)
		if (!strcmp(obj->hists[i].name, name))
			return &obj->hists[i];
	return NULL;
}

static void nt_object_free(struct nt_object *obj)
{
	size_t i;

	for (i = 0; i < obj->nr_params; i++)
		nt_param_clear(&obj->params[i]);
	for (i = 0; i < obj->nr_hists; i++)
		free(obj->hists[i].buckets);
	free(obj->params);
	free(obj->stats);
	free(obj->hists);
	free((char *)obj->name);
	free(obj);
}

void nt_tree_free(struct nt_tree *tree)
{
	size_t i;

	for (i = 0; i < tree->nr; i++)
		nt_object_free(tree->objects[i]);
	free(tree->objects);
	*tree = (struct nt_tree){ };
}

/* Errors and events */

void nt_error_set(struct nt_error *err, int code, const char *format, ...)
{
	va_list args;

	err->code = code;
	err->index = -1;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
}

void nt_event_clear(struct nt_event *ev)
{
	free(ev->object);
	free(ev->class);
	free(ev->old);
	nt_param_clear(&ev->param);
	*ev = (struct nt_event){ };
}
