// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages, tables for people, JSON for programs.
 */
#include <stdlib.h>
#include <string.h>

#include "nvmetune.h"

/* Bumped when what is there changes its meaning or goes, not when something is added. */
#define NT_SCHEMA	1

/* Messages */

static void nt_message(const char *format, va_list args)
{
	fflush(stdout);
	fputs("nvmetune: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

int nt_fail(enum nt_exit status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	nt_message(format, args);
	va_end(args);
	return status;
}

void nt_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	nt_message(format, args);
	va_end(args);
}

void nt_say(const char *format, ...)
{
	va_list args;

	if (nt.quiet || nt.json)
		return;
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
}

const char *nt_color(enum nt_color c)
{
	static const char *const codes[] = {
		[NT_PLAIN] = "\033[0m",
		[NT_BOLD] = "\033[1m",
		[NT_RED] = "\033[31m",
		[NT_YELLOW] = "\033[33m",
		[NT_GREEN] = "\033[32m",
		[NT_DIM] = "\033[2m",
	};

	return nt.color ? codes[c] : "";
}

/* Tables */

struct nt_table {
	size_t columns, rows;
	unsigned int indent;
	bool *right;
	char **cells;
};

struct nt_table *nt_table_new(const char *const *headers, size_t nr)
{
	struct nt_table *t = nt_alloc(sizeof(*t));

	t->columns = nr;
	t->right = nt_alloc(nr * sizeof(*t->right));
	if (headers)
		nt_table_row(t, headers);
	return t;
}

void nt_table_right(struct nt_table *t, size_t i)
{
	t->right[i] = true;
}

void nt_table_indent(struct nt_table *t, unsigned int indent)
{
	t->indent = indent;
}

void nt_table_row(struct nt_table *t, const char *const *cells)
{
	size_t i;

	for (i = 0; i < t->columns; i++) {
		t->cells = nt_grow(t->cells, t->rows * t->columns + i, sizeof(*t->cells));
		t->cells[t->rows * t->columns + i] = nt_strdup(cells[i] ? cells[i] : "");
	}
	t->rows++;
}

/* Columns on the screen: escape sequences take none, characters of UTF-8 one. */
static int nt_width(const char *s)
{
	int width = 0;

	for (; *s; s++) {
		if (*s == '\033')
			s += strcspn(s, "m");
		else if ((*s & 0xc0) != 0x80)
			width++;
		if (!*s)
			break;
	}
	return width;
}

static void nt_table_line(const struct nt_table *t, char **cells, const int *widths, FILE *f)
{
	size_t i, last = t->columns;
	int pad;

	/* Nothing behind the last cell that has something. */
	while (last && !*cells[last - 1])
		last--;
	if (last)
		fprintf(f, "%*s", t->indent, "");
	for (i = 0; i < last; i++) {
		pad = widths[i] - nt_width(cells[i]);
		if (t->right[i])
			fprintf(f, "%*s%s", pad, "", cells[i]);
		else
			fprintf(f, "%s%*s", cells[i], i + 1 < last ? pad : 0, "");
		if (i + 1 < last)
			fputs("  ", f);
	}
	fputc('\n', f);
}

void nt_table_print(struct nt_table *t, FILE *f)
{
	int *widths = nt_alloc(t->columns * sizeof(*widths)), width;
	size_t row, i;

	for (row = 0; row < t->rows; row++) {
		for (i = 0; i < t->columns; i++) {
			width = nt_width(t->cells[row * t->columns + i]);
			if (width > widths[i])
				widths[i] = width;
		}
	}
	for (row = 0; row < t->rows; row++)
		nt_table_line(t, t->cells + row * t->columns, widths, f);
	for (i = 0; i < t->rows * t->columns; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t->right);
	free(widths);
	free(t);
}

/* JSON */

json_object *nt_json_u64(uint64_t value)
{
	return json_object_new_uint64(value);
}

/* A new object that begins as each does, with the members of @obj, which is freed. */
static json_object *nt_json_wrap(json_object *obj)
{
	json_object *all = json_object_new_object();
	struct json_object_iterator it, end;

	json_object_object_add(all, "schema", json_object_new_int(NT_SCHEMA));
	json_object_object_add(all, "verb", json_object_new_string(nt.cmd ? nt.cmd->name : ""));
	if (obj) {
		it = json_object_iter_begin(obj);
		end = json_object_iter_end(obj);
		for (; !json_object_iter_equal(&it, &end); json_object_iter_next(&it))
			json_object_object_add(all, json_object_iter_peek_name(&it),
					       json_object_get(json_object_iter_peek_value(&it)));
		json_object_put(obj);
	}
	return all;
}

void nt_json_print(json_object *obj)
{
	obj = nt_json_wrap(obj);
	puts(json_object_to_json_string_ext(obj, JSON_C_TO_STRING_PRETTY |
					    JSON_C_TO_STRING_SPACED |
					    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(obj);
}

#define NT_JSON_LINE	(JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE)

void nt_json_line(json_object *obj)
{
	obj = nt_json_wrap(obj);
	puts(json_object_to_json_string_ext(obj, NT_JSON_LINE));
	json_object_put(obj);
	/* Who reads a pipe wants it now. */
	fflush(stdout);
}

static size_t nt_json_items;

void nt_json_begin(json_object *obj, const char *array)
{
	const char *text;

	obj = nt_json_wrap(obj);
	text = json_object_to_json_string_ext(obj, NT_JSON_LINE);
	/* All but the brace that ends it, and the space before. */
	printf("%.*s, \"%s\": [", (int)strlen(text) - 2, text, array);
	json_object_put(obj);
	nt_json_items = 0;
}

void nt_json_item(json_object *obj)
{
	printf("%s\n  %s", nt_json_items++ ? "," : "",
	       json_object_to_json_string_ext(obj, NT_JSON_LINE));
	json_object_put(obj);
}

void nt_json_end(void)
{
	printf("%s] }\n", nt_json_items ? "\n" : "");
}

/*
 * Names that live as long as the program, and are not in the object yet: thousands of
 * objects are made of such, and json-c would copy and look up each.
 */
static void nt_json_add(json_object *o, const char *name, json_object *value)
{
	json_object_object_add_ex(o, name, value, JSON_C_OBJECT_ADD_KEY_IS_NEW |
				  JSON_C_OBJECT_ADD_CONSTANT_KEY);
}

/* A value of a parameter: what a program would have it as. */
static json_object *nt_json_value(const struct nt_param *param, const char *text)
{
	uint64_t num;

	if (!param->described || param->type == NVMETUNE_TYPE_ENUM ||
	    param->type == NVMETUNE_TYPE_TEXT || !nt_param_parse(param, text, &num))
		return json_object_new_string(text);
	if (param->type == NVMETUNE_TYPE_BOOL)
		return json_object_new_boolean(num);
	return nt_json_u64(num);
}

static void nt_json_range(json_object *o, const struct nt_param *param)
{
	json_object *choices;
	size_t i;

	if (param->has_range) {
		nt_json_add(o, "min", nt_json_u64(param->min));
		nt_json_add(o, "max", nt_json_u64(param->max));
	}
	if (param->nr_choices) {
		choices = json_object_new_array_ext(param->nr_choices);
		for (i = 0; i < param->nr_choices; i++)
			json_object_array_add(choices, json_object_new_string(param->choices[i]));
		nt_json_add(o, "choices", choices);
	}
	if (!param->has_default)
		return;
	if (param->type == NVMETUNE_TYPE_ENUM && param->def < param->nr_choices)
		nt_json_add(o, "default", json_object_new_string(param->choices[param->def]));
	else if (param->type == NVMETUNE_TYPE_BOOL)
		nt_json_add(o, "default", json_object_new_boolean(param->def));
	else
		nt_json_add(o, "default", nt_json_u64(param->def));
}

json_object *nt_json_param(const struct nt_param *param)
{
	json_object *o = json_object_new_object();

	nt_json_add(o, "value", nt_json_value(param, param->in_force));
	nt_json_add(o, "own", nt_json_value(param, param->text));
	nt_json_add(o, "inherited", json_object_new_boolean(param->inherit));
	nt_json_add(o, "read_only", json_object_new_boolean(param->read_only));
	nt_json_add(o, "inheritable", json_object_new_boolean(param->inheritable));
	if (*param->help)
		nt_json_add(o, "help", json_object_new_string(param->help));
	if (!param->described)
		return o;
	nt_json_add(o, "type", json_object_new_string(nt_type_name(param->type)));
	nt_json_add(o, "unit", json_object_new_string(nt_unit_name(param->unit)));
	nt_json_add(o, "applies", json_object_new_string(nt_applies_name(param->applies)));
	nt_json_range(o, param);
	return o;
}

static json_object *nt_json_stats(const struct nt_object *obj)
{
	json_object *all = json_object_new_object(), *o;
	const struct nt_stat *s;
	size_t i;

	for (i = 0; i < obj->nr_stats; i++) {
		s = &obj->stats[i];
		o = json_object_new_object();
		nt_json_add(o, "value", nt_json_u64(s->value));
		nt_json_add(o, "kind", json_object_new_string(nt_kind_name(s->kind)));
		nt_json_add(o, "unit", json_object_new_string(nt_unit_name(s->unit)));
		nt_json_add(o, "help", json_object_new_string(s->help));
		nt_json_add(all, s->name, o);
	}
	return all;
}

static json_object *nt_json_hists(const struct nt_object *obj)
{
	json_object *all = json_object_new_object(), *o, *buckets, *bucket;
	const struct nt_hist *h;
	size_t i, n;

	for (n = 0; n < obj->nr_hists; n++) {
		h = &obj->hists[n];
		o = json_object_new_object();
		nt_json_add(o, "unit", json_object_new_string(nt_unit_name(h->unit)));
		nt_json_add(o, "help", json_object_new_string(h->help));
		nt_json_add(o, "on", json_object_new_boolean(h->nr_buckets > 0));
		buckets = json_object_new_array();
		for (i = 0; i < h->nr_buckets; i++) {
			bucket = json_object_new_object();
			if (h->buckets[i].up_to != UINT64_MAX)
				nt_json_add(bucket, "up_to",
					    nt_json_u64(h->buckets[i].up_to));
			nt_json_add(bucket, "count", nt_json_u64(h->buckets[i].count));
			json_object_array_add(buckets, bucket);
		}
		nt_json_add(o, "buckets", buckets);
		nt_json_add(all, h->name, o);
	}
	return all;
}

json_object *nt_json_object(const struct nt_object *obj, unsigned int what)
{
	json_object *o = json_object_new_object(), *params;
	size_t i;

	nt_json_add(o, "name", json_object_new_string(obj->name));
	nt_json_add(o, "class", json_object_new_string(obj->class));
	if (obj->parent)
		nt_json_add(o, "parent", json_object_new_string(obj->parent->name));
	if (what & NT_LOAD_PARAMS) {
		params = json_object_new_object();
		for (i = 0; i < obj->nr_params; i++)
			nt_json_add(params, obj->params[i].name,
				    nt_json_param(&obj->params[i]));
		nt_json_add(o, "params", params);
	}
	if (what & NT_LOAD_STATS) {
		nt_json_add(o, "stats", nt_json_stats(obj));
		nt_json_add(o, "histograms", nt_json_hists(obj));
	}
	return o;
}
