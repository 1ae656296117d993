// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles as text: reading with inih, what they mean for the objects that there are,
 * and writing.
 *
 * inih ends a section at the first ']', cuts sections at 49 characters and reads the
 * rest of a line that is too long as another line. So this file hands it each line
 * itself, sections by number, and refuses what it would take apart.
 */
#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"

/* Far beyond what is of use; it bounds the work that a wrong file makes. */
#define NT_PROFILE_MAX	(4u << 20)

struct nt_reader {
	const char *at, *end;
	unsigned int line;
	struct nt_profile *p;
	struct nt_error *err;
	/* Index of the first setting of the section that is being read. */
	size_t first;
};

__attribute__((format(printf, 2, 3)))
static void nt_bad_line(struct nt_reader *r, const char *format, ...)
{
	va_list args;
	char *text;

	/* The first error is the one that the others come from. */
	if (r->err->code)
		return;
	va_start(args, format);
	text = nt_vprintf(format, args);
	va_end(args);
	nt_error_set(r->err, EINVAL, "line %u: %s", r->line, text);
	free(text);
}

/* "[pattern]", whose pattern may have brackets of its own; @len without line feed. */
static void nt_read_section(struct nt_reader *r, const char *line, size_t len)
{
	struct nt_profile *p = r->p;
	struct nt_profile_section *s;
	size_t end;

	for (end = 1; end < len; end++)
		if (strchr(";#", line[end]) && isspace((unsigned char)line[end - 1]))
			break;
	while (isspace((unsigned char)line[end - 1]))
		end--;
	p->sections = nt_grow(p->sections, p->nr_sections, sizeof(*s));
	s = &p->sections[p->nr_sections++];
	s->pattern = nt_printf("%.*s", end > 2 ? (int)end - 2 : 0, line + 1);
	s->line = r->line;
	r->first = p->nr_settings;
	if (line[end - 1] != ']')
		nt_bad_line(r, "a section is [PATTERN], as in [nvme0/q*]");
	else if (!nt_pattern_valid(s->pattern) || strpbrk(s->pattern, " \t"))
		nt_bad_line(r, "'%s' is no pattern of objects: see nvmetune-profile(5)",
			    s->pattern);
}

/* No text, and nothing for a message on a terminal. */
static bool nt_has_control(const char *line, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (iscntrl((unsigned char)line[i]) && line[i] != '\t')
			return true;
	return false;
}

/* Like fgets(), for inih. */
static char *nt_read_line(char *buf, int size, void *data)
{
	struct nt_reader *r = data;
	const char *line, *end;
	size_t len;

	if (r->at == r->end)
		return NULL;
	line = r->at;
	end = memchr(line, '\n', r->end - line);
	r->at = end ? end + 1 : r->end;
	end = end ? end : r->end;
	r->line++;
	/* inih takes a line that begins with space as more of the one before. */
	while (line < end && isspace((unsigned char)*line))
		line++;
	while (end > line && isspace((unsigned char)end[-1]))
		end--;
	len = end - line;
	*buf = '\0';
	if (nt_has_control(line, len)) {
		nt_bad_line(r, "it has a control character: this is no text");
	} else if (len && (*line == '#' || *line == ';')) {
		/* A comment, as long as it likes. */
	} else if (len + 2 >= (size_t)size) {
		nt_bad_line(r, "longer than %d characters", size - 3);
	} else if (len && *line == '[') {
		nt_read_section(r, line, len);
		snprintf(buf, size, "[%zu]\n", r->p->nr_sections);
	} else {
		snprintf(buf, size, "%.*s\n", (int)len, line);
	}
	return buf;
}

/* Before the first section: what is said of the profile itself. */
static void nt_read_header(struct nt_reader *r, const char *name, const char *value)
{
	struct nt_profile *p = r->p;

	if (!strcmp(name, "description")) {
		free(p->description);
		p->description = nt_strdup(value);
	} else if (!strcmp(name, "skip_unknown")) {
		if (strcmp(value, "yes") && strcmp(value, "no"))
			nt_bad_line(r, "skip_unknown is yes or no");
		p->skip_unknown = !strcmp(value, "yes");
	} else {
		nt_bad_line(r, "'%s' stands before the first section, where only description and skip_unknown may",
			    name);
	}
}

static int nt_read_setting(void *data, const char *section, const char *name,
			   const char *value)
{
	struct nt_reader *r = data;
	struct nt_profile *p = r->p;
	struct nt_profile_setting *s;
	size_t i;

	if (r->err->code)
		return 0;
	if (!*name || !*value) {
		nt_bad_line(r, "a setting is NAME = VALUE");
		return 0;
	}
	if (!p->nr_sections) {
		nt_read_header(r, name, value);
		return !r->err->code;
	}
	if (strchr(value, '#')) {
		nt_bad_line(r, "a comment behind a value begins with ' ;'");
		return 0;
	}
	for (i = r->first; i < p->nr_settings; i++) {
		if (strcmp(p->settings[i].name, name))
			continue;
		nt_bad_line(r, "%s is in this section twice: see line %u", name,
			    p->settings[i].line);
		return 0;
	}
	p->settings = nt_grow(p->settings, p->nr_settings, sizeof(*s));
	s = &p->settings[p->nr_settings++];
	s->section = p->nr_sections - 1;
	s->name = nt_strdup(name);
	s->value = nt_strdup(value);
	s->line = r->line;
	return 1;
}

int nt_profile_parse(const char *text, size_t len, struct nt_profile *p, struct nt_error *err)
{
	struct nt_reader r = { .at = text, .end = text + len, .p = p, .err = err };
	int line;

	*err = (struct nt_error){ .index = -1 };
	if (len > NT_PROFILE_MAX) {
		nt_error_set(err, EFBIG, "larger than %u MiB", NT_PROFILE_MAX >> 20);
		return -1;
	}
	if (!p->description)
		p->description = nt_strdup("");
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		r.at += 3;
	line = ini_parse_stream(nt_read_line, &r, nt_read_setting, &r);
	if (line && !err->code)
		nt_error_set(err, EINVAL,
			     "line %d: neither a section, a setting (NAME = VALUE) nor a comment",
			     line);
	return err->code ? -1 : 0;
}

void nt_profile_clear(struct nt_profile *p)
{
	size_t i;

	for (i = 0; i < p->nr_sections; i++)
		free(p->sections[i].pattern);
	for (i = 0; i < p->nr_settings; i++) {
		free(p->settings[i].name);
		free(p->settings[i].value);
	}
	free(p->sections);
	free(p->settings);
	free(p->name);
	free(p->origin);
	free(p->text);
	free(p->description);
	*p = (struct nt_profile){ };
}

/* Whether @only (NULL: all) matches @obj or one that it is below of. */
static bool nt_concerns(const char *only, const struct nt_object *obj)
{
	if (!only)
		return true;
	for (; obj; obj = obj->parent)
		if (nt_pattern_match(only, obj->name))
			return true;
	return false;
}

/* What it means */

struct nt_expand {
	const struct nt_profile *p;
	const struct nt_tree *tree;
	const char *only;
	bool skip_unknown;
	struct nt_plan *plan;
	struct nt_error *err;
	/* Of each object, for each of its parameters, the setting that holds. */
	const struct nt_profile_setting ***holds;
};

static bool nt_is_glob(const char *pattern)
{
	return strpbrk(pattern, "*?[") || !strcmp(pattern, "all");
}

/* Indices of the objects that @pattern matches. */
static size_t nt_match(const struct nt_tree *tree, const char *pattern, size_t **found)
{
	size_t i, nr = 0;

	*found = NULL;
	for (i = 0; i < tree->nr; i++) {
		/* Saved profiles have a section for each of thousands of objects. */
		if (nt_is_glob(pattern) ? !nt_pattern_match(pattern, tree->objects[i]->name) :
		    strcmp(pattern, tree->objects[i]->name))
			continue;
		*found = nt_grow(*found, nr, sizeof(**found));
		(*found)[nr++] = i;
	}
	return nr;
}

static int nt_expand_one(struct nt_expand *e, const struct nt_profile_setting *s, size_t i)
{
	struct nt_object *obj = e->tree->objects[i];
	struct nt_param *param = nt_object_param(obj, s->name);
	char *why = NULL;

	if (!nt_param_accepts(param, s->value, &why)) {
		nt_error_set(e->err, EINVAL, "line %u: %s=%s for %s: %s", s->line, s->name,
			     s->value, obj->name, why);
		free(why);
		return -1;
	}
	if (!e->holds[i])
		e->holds[i] = nt_alloc(obj->nr_params * sizeof(**e->holds));
	e->holds[i][param - obj->params] = s;
	return 0;
}

static int nt_expand_setting(struct nt_expand *e, const struct nt_profile_setting *s,
			     const size_t *found, size_t nr)
{
	const char *pattern = e->p->sections[s->section].pattern;
	struct nt_plan *plan = e->plan;
	bool known = false;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!nt_object_param(e->tree->objects[found[i]], s->name))
			continue;
		known = true;
		if (nt_expand_one(e, s, found[i]))
			return -1;
	}
	if (known)
		return 0;
	if (!e->skip_unknown) {
		nt_error_set(e->err, ENOENT,
			     "line %u: this kernel has no parameter '%s' for [%s]: see nvmetune show, or pass --skip-unknown",
			     s->line, s->name, pattern);
		return -1;
	}
	plan->skipped = nt_grow(plan->skipped, plan->nr_skipped, sizeof(char *));
	plan->skipped[plan->nr_skipped++] = nt_printf("%s %s", pattern, s->name);
	return 0;
}

static void nt_expand_collect(struct nt_expand *e)
{
	struct nt_plan *plan = e->plan;
	struct nt_object *obj;
	size_t i, j;

	for (i = 0; i < e->tree->nr; i++) {
		obj = e->tree->objects[i];
		if (!e->holds[i] || !nt_concerns(e->only, obj))
			continue;
		for (j = 0; j < obj->nr_params; j++) {
			const struct nt_profile_setting *s = e->holds[i][j];

			if (!s)
				continue;
			plan->changes = nt_grow(plan->changes, plan->nr, sizeof(*plan->changes));
			plan->current = nt_grow(plan->current, plan->nr, sizeof(*plan->current));
			plan->current[plan->nr] = &obj->params[j];
			plan->changes[plan->nr++] = (struct nt_change){
				.object = nt_strdup(obj->name),
				.name = nt_strdup(s->name),
				.value = nt_strdup(s->value),
			};
		}
	}
}

int nt_profile_expand(const struct nt_profile *p, const struct nt_tree *tree, const char *only,
		      bool skip_unknown, struct nt_plan *plan, struct nt_error *err)
{
	struct nt_expand e = {
		.p = p, .tree = tree, .only = only, .plan = plan, .err = err,
		.skip_unknown = skip_unknown || p->skip_unknown,
		.holds = nt_alloc((tree->nr + 1) * sizeof(*e.holds)),
	};
	size_t i, j = 0, nr, *found;
	int ret = 0;

	*plan = (struct nt_plan){ };
	for (i = 0; i < p->nr_sections && !ret; i++) {
		nr = nt_match(tree, p->sections[i].pattern, &found);
		if (!nr) {
			plan->unmatched = nt_grow(plan->unmatched, plan->nr_unmatched,
						  sizeof(char *));
			plan->unmatched[plan->nr_unmatched++] = nt_strdup(p->sections[i].pattern);
		}
		for (; j < p->nr_settings && p->settings[j].section == i && !ret; j++)
			if (nr)
				ret = nt_expand_setting(&e, &p->settings[j], found, nr);
		free(found);
	}
	if (!ret)
		nt_expand_collect(&e);
	for (i = 0; i < tree->nr; i++)
		free(e.holds[i]);
	free(e.holds);
	if (ret)
		nt_plan_clear(plan);
	return ret;
}

void nt_plan_clear(struct nt_plan *plan)
{
	size_t i;

	for (i = 0; i < plan->nr; i++) {
		free(plan->changes[i].object);
		free(plan->changes[i].name);
		free(plan->changes[i].value);
	}
	for (i = 0; i < plan->nr_unmatched; i++)
		free(plan->unmatched[i]);
	for (i = 0; i < plan->nr_skipped; i++)
		free(plan->skipped[i]);
	free(plan->changes);
	free(plan->current);
	free(plan->unmatched);
	free(plan->skipped);
	*plan = (struct nt_plan){ };
}

size_t nt_plan_differs(const struct nt_plan *plan)
{
	size_t i, nr = 0;

	for (i = 0; i < plan->nr; i++)
		nr += !nt_param_same(plan->current[i], plan->changes[i].value,
				     plan->current[i]->text);
	return nr;
}

/* Writing */

/* A name as a pattern of all of its kind: each number is [0-9]* in it. */
static char *nt_kind_of(const char *name)
{
	char *pattern = nt_strdup(""), *longer;
	size_t digits, other;

	while (*name) {
		other = strcspn(name, "0123456789");
		digits = strspn(name + other, "0123456789");
		longer = nt_printf("%s%.*s%s", pattern, (int)other, name, digits ? "[0-9]*" : "");
		free(pattern);
		pattern = longer;
		name += other + digits;
	}
	return pattern;
}

static bool nt_may_inherit(const struct nt_object *obj)
{
	size_t i;

	for (i = 0; i < obj->nr_params; i++)
		if (!obj->params[i].read_only && obj->params[i].inherit)
			return true;
	return false;
}

/* Settings of @obj, those that it inherits or the others, in a section @pattern. */
static void nt_write_section(FILE *f, const struct nt_object *obj, const char *pattern,
			     bool inherited)
{
	const struct nt_param *param;
	bool begun = false;

	for (param = obj->params; param < obj->params + obj->nr_params; param++) {
		if (param->read_only || param->inherit != inherited)
			continue;
		if (!begun)
			fprintf(f, "\n[%s]\n", pattern);
		begun = true;
		fprintf(f, "%s = %s\n", param->name, param->text);
	}
}

/*
 * One section for all objects of a kind, with each setting that an object of it could
 * inherit; what has a value of its own comes later, and wins. The same for objects that
 * are not there yet.
 */
static void nt_write_kind(FILE *f, const struct nt_tree *tree, size_t first, bool *done)
{
	char *kind = nt_kind_of(tree->objects[first]->name);
	const struct nt_object *obj = tree->objects[first];
	size_t i, j;

	fprintf(f, "\n[%s]\n", kind);
	for (j = 0; j < obj->nr_params; j++)
		if (!obj->params[j].read_only && obj->params[j].inheritable)
			fprintf(f, "%s = inherit\n", obj->params[j].name);
	for (i = first; i < tree->nr; i++)
		if (nt_pattern_match(kind, tree->objects[i]->name))
			done[i] = true;
	free(kind);
}

/* Whether a section for the kind would be for objects of this class and no other. */
static bool nt_kind_is_class(const struct nt_tree *tree, const struct nt_object *obj)
{
	char *kind = nt_kind_of(obj->name);
	bool same = true;
	size_t i;

	for (i = 0; i < tree->nr && same; i++)
		if (nt_pattern_match(kind, tree->objects[i]->name))
			same = !strcmp(tree->objects[i]->class, obj->class);
	free(kind);
	return same;
}

char *nt_profile_text(const struct nt_tree *tree, const char *only, const char *title)
{
	bool *done = nt_alloc(tree->nr + 1);
	const struct nt_object *obj;
	char *text = NULL;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		exit(nt_fail(NT_REFUSED, "out of memory"));
	fprintf(f, "# %s\n", title);
	fprintf(f, "# \"inherit\": no value of its own; apply takes away one that there is by then.\n"
		   "# A section further down wins over one above.\n");
	for (i = 0; i < tree->nr; i++) {
		obj = tree->objects[i];
		if (done[i] || !nt_may_inherit(obj) || !nt_concerns(only, obj))
			continue;
		if (only || !nt_kind_is_class(tree, obj))
			nt_write_section(f, obj, obj->name, true);
		else
			nt_write_kind(f, tree, i, done);
	}
	for (i = 0; i < tree->nr; i++) {
		obj = tree->objects[i];
		if (nt_concerns(only, obj))
			nt_write_section(f, obj, obj->name, false);
	}
	fclose(f);
	free(done);
	return text;
}
