// SPDX-License-Identifier: GPL-2.0-only
/*
 * doctor: look at the machine, say what is wrong, why that matters, and what mends it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

enum { NT_DOCTOR_LIST, NT_DOCTOR_SECONDS };

const struct nt_opt nt_opts_doctor[] = {
	[NT_DOCTOR_LIST] = { "list", 'l', NULL, "the rules, without looking" },
	[NT_DOCTOR_SECONDS] = { "seconds", 's', "SECONDS",
				"watch the CPUs for so long; default: 1" },
	{ }
};

static const struct nt_rule *const nt_rules[] = {
	nt_rules_queues, nt_rules_system, nt_rules_log,
};

static const char *const nt_severities[] = {
	[NT_HINT] = "hint", [NT_WARNING] = "warning", [NT_CRITICAL] = "critical",
};

/* Findings */

static void nt_note(struct nt_findings *to, const struct nt_rule *rule, char *object, char *seen,
		    char *mend)
{
	to->list = nt_grow(to->list, to->nr, sizeof(*to->list));
	to->list[to->nr++] = (struct nt_finding){ rule, object, seen, mend };
}

void nt_found(struct nt_doctor *d, const char *object, char *seen, char *mend)
{
	nt_note(&d->found, d->rule, nt_strdup(object), seen, mend);
}

void nt_not_looked(struct nt_doctor *d, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	nt_note(&d->unknown, d->rule, NULL, nt_vprintf(format, args), NULL);
	va_end(args);
}

static void nt_findings_free(struct nt_findings *f)
{
	size_t i;

	for (i = 0; i < f->nr; i++) {
		free(f->list[i].object);
		free(f->list[i].seen);
		free(f->list[i].mend);
	}
	free(f->list);
}

const char *nt_unreadable(void)
{
	if (errno == EACCES || errno == EPERM)
		return "not allowed: run it as root";
	return errno == ENOENT ? "this kernel does not have it, or it is not mounted" :
		strerror(errno);
}

bool nt_need_tree(struct nt_doctor *d)
{
	if (!*d->no_tree)
		return true;
	nt_not_looked(d, "%s", d->no_tree);
	return false;
}

/* Rules */

/* The next rule after @rule, NULL: the first; at the end NULL. */
static const struct nt_rule *nt_next_rule(const struct nt_rule *rule)
{
	size_t i;

	if (!rule)
		return nt_rules[0];
	if (rule[1].id)
		return rule + 1;
	for (i = 0; i + 1 < NT_ARRAY_SIZE(nt_rules); i++) {
		const struct nt_rule *last = nt_rules[i];

		while (last[1].id)
			last++;
		if (last == rule)
			return nt_rules[i + 1];
	}
	return NULL;
}

static bool nt_is_asked(const struct nt_rule *rule, int argc, char **args)
{
	int i;

	for (i = 0; i < argc; i++)
		if (!strcmp(args[i], rule->id))
			return true;
	return !argc;
}

static int nt_check_rules(int argc, char **args)
{
	const struct nt_rule *rule;
	const char *names[64], *near;
	size_t nr = 0;
	int i;

	for (rule = nt_next_rule(NULL); rule; rule = nt_next_rule(rule))
		names[nr++] = rule->id;
	for (i = 0; i < argc; i++) {
		size_t n;

		for (n = 0; n < nr && strcmp(names[n], args[i]); n++)
			;
		if (n < nr)
			continue;
		near = nt_nearest(args[i], names, nr);
		if (near)
			return nt_fail(NT_USAGE, "there is no rule '%s': did you mean %s?",
				       args[i], near);
		return nt_fail(NT_USAGE, "there is no rule '%s': doctor --list lists them",
			       args[i]);
	}
	return NT_OK;
}

/* Listing */

static json_object *nt_json_rule(const struct nt_rule *rule)
{
	json_object *o = json_object_new_object();

	json_object_object_add(o, "id", json_object_new_string(rule->id));
	json_object_object_add(o, "severity",
			       json_object_new_string(nt_severities[rule->severity]));
	json_object_object_add(o, "looks_at", json_object_new_string(rule->what));
	json_object_object_add(o, "why", json_object_new_string(rule->why));
	return o;
}

static int nt_list_rules(int argc, char **args)
{
	static const char *const headers[] = { "RULE", "SEVERITY", "LOOKS AT" };
	const struct nt_rule *rule;
	struct nt_table *t;

	if (nt.json) {
		nt_json_begin(NULL, "rules");
		for (rule = nt_next_rule(NULL); rule; rule = nt_next_rule(rule))
			if (nt_is_asked(rule, argc, args))
				nt_json_item(nt_json_rule(rule));
		nt_json_end();
		return NT_OK;
	}
	t = nt_table_new(headers, NT_ARRAY_SIZE(headers));
	for (rule = nt_next_rule(NULL); rule; rule = nt_next_rule(rule))
		if (nt_is_asked(rule, argc, args))
			nt_table_row(t, (const char *[]){
				rule->id, nt_severities[rule->severity], rule->what });
	nt_table_print(t, stdout);
	return NT_OK;
}

/* Telling */

#define NT_WRAP		72
#define NT_INDENT	9

/* Words of @text, in lines that can be read. */
static void nt_print_wrapped(const char *label, const char *text)
{
	size_t column = 0, len;

	printf("  %-*s", NT_INDENT - 2, label);
	while (*text) {
		len = strcspn(text, " ");
		if (column && column + 1 + len > NT_WRAP) {
			printf("\n%*s", NT_INDENT, "");
			column = 0;
		}
		printf("%s%.*s", column ? " " : "", (int)len, text);
		column += len + !!column;
		text += len;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static void nt_print_finding(const struct nt_finding *f)
{
	static const enum nt_color colors[] = {
		[NT_HINT] = NT_GREEN, [NT_WARNING] = NT_YELLOW, [NT_CRITICAL] = NT_RED,
	};

	printf("%s%s%s: %s%s%s%s%s\n", nt_color(colors[f->rule->severity]),
	       nt_severities[f->rule->severity], nt_color(NT_PLAIN), nt_color(NT_BOLD),
	       f->rule->id, nt_color(NT_PLAIN), *f->object ? ": " : "", f->object);
	nt_print_wrapped("seen:", f->seen);
	nt_print_wrapped("why:", f->rule->why);
	/* A line each command, whole, to be copied. */
	printf("  %-*s%s\n\n", NT_INDENT - 2, "mend:", f->mend);
}

/* What could not be looked at for one reason is one line. */
static void nt_print_unknown(const struct nt_findings *unknown)
{
	size_t i, k;

	for (i = 0; i < unknown->nr; i++) {
		const char *reason = unknown->list[i].seen;

		for (k = 0; k < i && strcmp(unknown->list[k].seen, reason); k++)
			;
		if (k < i)
			continue;
		fputs("could not look:", stdout);
		for (k = i; k < unknown->nr; k++)
			if (!strcmp(unknown->list[k].seen, reason))
				printf("%s %s", k > i ? "," : "", unknown->list[k].rule->id);
		printf(": %s\n", reason);
	}
}

/* Whether it could look at all that it wanted to. */
static bool nt_has_looked(const struct nt_doctor *d, const struct nt_rule *rule)
{
	size_t i;

	for (i = 0; i < d->unknown.nr; i++)
		if (d->unknown.list[i].rule == rule)
			return false;
	return true;
}

static void nt_print_findings(const struct nt_doctor *d, size_t rules)
{
	size_t i, nr[3] = { 0 };
	int severity;

	for (severity = NT_CRITICAL; severity >= NT_HINT; severity--)
		for (i = 0; i < d->found.nr; i++)
			if (d->found.list[i].rule->severity == (enum nt_severity)severity) {
				nt_print_finding(&d->found.list[i]);
				nr[severity]++;
			}
	nt_print_unknown(&d->unknown);
	if (d->found.nr)
		nt_say("%zu rule%s looked: %zu critical, %zu warning, %zu hint\n", rules,
		       rules == 1 ? "" : "s", nr[NT_CRITICAL], nr[NT_WARNING], nr[NT_HINT]);
	else
		nt_say("%zu rule%s looked, and found nothing\n", rules, rules == 1 ? "" : "s");
}

static json_object *nt_json_finding(const struct nt_finding *f)
{
	json_object *o = nt_json_rule(f->rule);

	json_object_object_del(o, "looks_at");
	json_object_object_add(o, "object", json_object_new_string(f->object));
	json_object_object_add(o, "seen", json_object_new_string(f->seen));
	json_object_object_add(o, "mend", json_object_new_string(f->mend));
	return o;
}

static void nt_json_findings(const struct nt_doctor *d, int argc, char **args)
{
	json_object *o = json_object_new_object(), *found = json_object_new_array();
	json_object *unknown = json_object_new_array(), *looked = json_object_new_array(), *u;
	const struct nt_rule *rule;
	size_t i;

	for (i = 0; i < d->found.nr; i++)
		json_object_array_add(found, nt_json_finding(&d->found.list[i]));
	for (i = 0; i < d->unknown.nr; i++) {
		u = json_object_new_object();
		json_object_object_add(u, "id",
				       json_object_new_string(d->unknown.list[i].rule->id));
		json_object_object_add(u, "reason",
				       json_object_new_string(d->unknown.list[i].seen));
		json_object_array_add(unknown, u);
	}
	for (rule = nt_next_rule(NULL); rule; rule = nt_next_rule(rule)) {
		if (nt_is_asked(rule, argc, args) && nt_has_looked(d, rule))
			json_object_array_add(looked, json_object_new_string(rule->id));
	}
	json_object_object_add(o, "findings", found);
	json_object_object_add(o, "could_not_look", unknown);
	json_object_object_add(o, "looked", looked);
	nt_json_print(o);
}

/* Looking */

#define NT_LOOK_ALL	(NT_LOAD_PARAMS | NT_LOAD_STATS | NT_LOAD_SYSTEM)

/* Without nvmetune in the kernel there is still a machine to look at. */
static int nt_doctor_open(struct nt_doctor *d, double seconds)
{
	struct nt_error err = { };

	if (!nt_try_open(&err)) {
		if (err.code != ENOENT)
			return nt_fail_err(&err);
		snprintf(d->no_tree, sizeof(d->no_tree), "%s", err.text);
	}
	/* In a recorded tree, no time passes. */
	if (!*nt.root) {
		nt_look_system(&d->old);
		d->timed = true;
		nt_sleep_until(d->old.at + seconds);
	}
	if (!*d->no_tree)
		return nt_look_take(NT_LOOK_ALL, &d->now);
	nt_look_system(&d->now);
	return NT_OK;
}

static void nt_doctor_free(struct nt_doctor *d)
{
	nt_look_free(&d->old);
	nt_look_free(&d->now);
	nt_log_free(&d->log);
	nt_findings_free(&d->found);
	nt_findings_free(&d->unknown);
}

int nt_run_doctor(int argc, char **args, const char **values)
{
	struct nt_doctor d = { };
	double seconds = 1;
	size_t rules = 0;
	int ret;

	ret = nt_check_rules(argc, args);
	if (!ret && values[NT_DOCTOR_SECONDS])
		ret = nt_take_seconds("seconds", values[NT_DOCTOR_SECONDS], &seconds);
	if (ret)
		return ret;
	if (values[NT_DOCTOR_LIST])
		return nt_list_rules(argc, args);
	ret = nt_doctor_open(&d, seconds);
	if (!ret) {
		for (d.rule = nt_next_rule(NULL); d.rule; d.rule = nt_next_rule(d.rule)) {
			if (!nt_is_asked(d.rule, argc, args))
				continue;
			d.rule->look(&d);
			rules += nt_has_looked(&d, d.rule);
		}
		if (nt.json)
			nt_json_findings(&d, argc, args);
		else
			nt_print_findings(&d, rules);
		ret = d.found.nr ? NT_FOUND : NT_OK;
	}
	nt_doctor_free(&d);
	return ret;
}
