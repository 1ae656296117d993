// SPDX-License-Identifier: GPL-2.0-only
/* Profiles: what is read, what is refused and with which words, what it means. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"
#include "run-case.h"

static struct nt_profile p;
static struct nt_plan plan;
static struct nt_error err;
static struct nt_tree tree;

static int parse(const char *text)
{
	nt_profile_clear(&p);
	return nt_profile_parse(text, strlen(text), &p, &err);
}

static void assert_refused(const char *text, const char *words)
{
	ck_assert_int_eq(parse(text), -1);
	ck_assert_msg(strstr(err.text, words) != NULL, "no '%s' in '%s'", words, err.text);
}

/* A parameter as the kernel describes it. */
static struct nt_param *add(struct nt_object *obj, const char *name, uint32_t type,
			    const char *own, const char *in_force)
{
	struct nt_param *param = nt_object_add_param(obj, name);

	param->described = true;
	param->type = type;
	param->inheritable = obj->class[5] != 'd';
	param->inherit = !strcmp(own, "inherit");
	param->has_range = true;
	param->max = 1 << 30;
	nt_param_set_text(param, own, in_force);
	nt_param_parse(param, in_force, &param->num);
	return param;
}

static void add_object(const char *name, const char *class, const char *mode, const char *bytes)
{
	static const char *const modes[] = { "off", "on", "auto" };
	struct nt_object *obj = nt_tree_add(&tree, name);
	struct nt_param *param;

	obj->class = class;
	param = add(obj, "defer_mode", NVMETUNE_TYPE_ENUM, mode, "auto");
	nt_param_set_choices(param, modes, 3);
	param->has_range = false;
	add(obj, "defer_inline_bytes", NVMETUNE_TYPE_BYTES, bytes, "131072");
	if (strcmp(class, "nvme-queue"))
		add(obj, "defer_lanes", NVMETUNE_TYPE_COUNT,
		    strcmp(class, "nvme-driver") ? "inherit" : "2", "2");
	if (strcmp(class, "nvme-driver"))
		add(obj, "numa_node", NVMETUNE_TYPE_TEXT, "-1", "-1")->read_only = true;
}

static void setup(void)
{
	add_object("nvme", "nvme-driver", "auto", "131072");
	add_object("nvme0", "nvme-controller", "inherit", "inherit");
	add_object("nvme0/q1", "nvme-queue", "inherit", "65536");
	add_object("nvme0/q2", "nvme-queue", "on", "inherit");
	add_object("nvme1", "nvme-controller", "inherit", "4096");
	add_object("nvme1/q1", "nvme-queue", "inherit", "inherit");
	nt_tree_sort(&tree);
}

static void teardown(void)
{
	nt_profile_clear(&p);
	nt_plan_clear(&plan);
	nt_tree_free(&tree);
}

static int expand(const char *text, const char *only, bool skip)
{
	ck_assert_msg(!parse(text), "%s", err.text);
	nt_plan_clear(&plan);
	return nt_profile_expand(&p, &tree, only, skip, &plan, &err);
}

/* What the plan has for a parameter, NULL: nothing. */
static const char *planned(const char *object, const char *name)
{
	size_t i;

	for (i = 0; i < plan.nr; i++)
		if (!strcmp(plan.changes[i].object, object) && !strcmp(plan.changes[i].name, name))
			return plan.changes[i].value;
	return NULL;
}

START_TEST(test_form)
{
	ck_assert_int_eq(parse("\xef\xbb\xbf# first\n; second\ndescription = a = b\n"
			       "skip_unknown = yes\n\n  [nvme[0-9]*/q[1-4]]\t; which\n"
			       "  a = 1\n\tb=2 ; two\r\nc : 3\n[]]x]\nlast = one"), 0);
	ck_assert_str_eq(p.description, "a = b");
	ck_assert(p.skip_unknown);
	ck_assert_uint_eq(p.nr_sections, 2);
	ck_assert_str_eq(p.sections[0].pattern, "nvme[0-9]*/q[1-4]");
	ck_assert_uint_eq(p.sections[0].line, 6);
	ck_assert_str_eq(p.sections[1].pattern, "]]x");
	ck_assert_uint_eq(p.nr_settings, 4);
	ck_assert_str_eq(p.settings[1].name, "b");
	ck_assert_str_eq(p.settings[1].value, "2");
	ck_assert_uint_eq(p.settings[1].line, 8);
	ck_assert_str_eq(p.settings[2].value, "3");
	ck_assert_uint_eq(p.settings[3].section, 1);
	ck_assert_str_eq(p.settings[3].value, "one");
}
END_TEST

/* Far beyond the 49 characters at which inih cuts a section. */
START_TEST(test_long_section)
{
	char text[200] = "[";

	memset(text + 1, 'a', 120);
	strcat(text, "]\nx = 1\n");
	ck_assert_int_eq(parse(text), 0);
	ck_assert_uint_eq(strlen(p.sections[0].pattern), 120);
}
END_TEST

START_TEST(test_empty)
{
	ck_assert_int_eq(parse(""), 0);
	ck_assert_int_eq(parse("\n\n"), 0);
	ck_assert_int_eq(parse("[nvme0]"), 0);
	ck_assert_uint_eq(p.nr_settings, 0);
	ck_assert_str_eq(p.description, "");
}
END_TEST

START_TEST(test_refused)
{
	char text[300];

	assert_refused("[nvme0\na = 1\n", "line 1: a section is [PATTERN]");
	assert_refused("\n[nvme0] x\n", "line 2: a section is [PATTERN]");
	assert_refused("[\n", "line 1: a section is [PATTERN]");
	assert_refused("[]\n", "no pattern");
	assert_refused("[nvme0/]\n", "'nvme0/' is no pattern");
	assert_refused("[nvme0 q1]\n", "no pattern");
	assert_refused("[nvme[0]\n", "no pattern");
	assert_refused("[nvme0]\na\n", "line 2: neither");
	assert_refused("[nvme0]\n= 1\n", "line 2: a setting is NAME = VALUE");
	assert_refused("[nvme0]\na =\n", "line 2: a setting is NAME = VALUE");
	assert_refused("[nvme0]\na = 1\nb = 2\n a = 3\n", "line 4: a is in this section twice: see line 2");
	assert_refused("[nvme0]\na = 1 # one\n", "line 2: a comment behind a value");
	assert_refused("a = 1\n[nvme0]\n", "line 1: 'a' stands before the first section");
	assert_refused("skip_unknown = 1\n", "line 1: skip_unknown is yes or no");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	memcpy(text, "[nvme0]\na = ", 12);
	assert_refused(text, "line 2: longer than 197 characters");
	text[8] = '#';
	ck_assert_int_eq(parse(text), 0);
	ck_assert_int_eq(nt_profile_parse("[a]\nb\0=1", 8, &p, &err), -1);
	ck_assert(strstr(err.text, "line 2: it has a control character") != NULL);
	assert_refused("[nvme0]\n\033[31mred = 1\n", "line 2: it has a control character");
}
END_TEST

/* The first error is told, not what comes of it. */
START_TEST(test_first_error)
{
	assert_refused("[nvme0\na\nb = 1\nb = 1\n", "line 1: ");
}
END_TEST

START_TEST(test_order_wins)
{
	ck_assert_int_eq(expand("[nvme0/q*]\ndefer_inline_bytes = 1K\n"
				"[nvme0/q1]\ndefer_inline_bytes = 2K\n", NULL, false), 0);
	ck_assert_str_eq(planned("nvme0/q1", "defer_inline_bytes"), "2K");
	ck_assert_str_eq(planned("nvme0/q2", "defer_inline_bytes"), "1K");
	ck_assert_uint_eq(plan.nr, 2);
	/* The order of the file and nothing else: a special one above does not win. */
	ck_assert_int_eq(expand("[nvme0/q1]\ndefer_inline_bytes = 2K\n"
				"[nvme0/q*]\ndefer_inline_bytes = 1K\n", NULL, false), 0);
	ck_assert_str_eq(planned("nvme0/q1", "defer_inline_bytes"), "1K");
	/* The same section twice. */
	ck_assert_int_eq(expand("[nvme0]\ndefer_lanes = 3\n[nvme0]\ndefer_lanes = 4\n", NULL,
				false), 0);
	ck_assert_str_eq(planned("nvme0", "defer_lanes"), "4");
}
END_TEST

/* Queues have no lanes: they are passed over, as something has. */
START_TEST(test_all)
{
	ck_assert_int_eq(expand("[all]\ndefer_lanes = 4\n", NULL, false), 0);
	ck_assert_uint_eq(plan.nr, 3);
	ck_assert_ptr_null(planned("nvme0/q1", "defer_lanes"));
	/* The pattern nvme* has the driver in it. */
	ck_assert_int_eq(expand("[nvme*]\ndefer_lanes = 4\n", NULL, false), 0);
	ck_assert_uint_eq(plan.nr, 3);
	ck_assert_int_eq(expand("[nvme[0-9]*]\ndefer_lanes = 4\n", NULL, false), 0);
	ck_assert_uint_eq(plan.nr, 2);
}
END_TEST

START_TEST(test_only)
{
	ck_assert_int_eq(expand("[all]\ndefer_mode = on\n", "nvme0", false), 0);
	ck_assert_uint_eq(plan.nr, 3);
	ck_assert_ptr_nonnull(planned("nvme0/q2", "defer_mode"));
	ck_assert_int_eq(expand("[all]\ndefer_mode = on\n", "nvme0/q2", false), 0);
	ck_assert_uint_eq(plan.nr, 1);
	ck_assert_int_eq(expand("[all]\ndefer_mode = on\n", "nvme", false), 0);
	ck_assert_uint_eq(plan.nr, 1);
}
END_TEST

START_TEST(test_unknown)
{
	static const char text[] = "[nvme0]\ndefer_lanes = 4\nlains = 4\n[nvme9]\nx = 1\n";

	ck_assert_int_eq(expand(text, NULL, false), -1);
	ck_assert(strstr(err.text, "line 3: this kernel has no parameter 'lains' for [nvme0]"));
	ck_assert_uint_eq(plan.nr, 0);
	ck_assert_int_eq(expand(text, NULL, true), 0);
	ck_assert_uint_eq(plan.nr, 1);
	ck_assert_uint_eq(plan.nr_skipped, 1);
	ck_assert_str_eq(plan.skipped[0], "nvme0 lains");
	ck_assert_uint_eq(plan.nr_unmatched, 1);
	ck_assert_str_eq(plan.unmatched[0], "nvme9");
	ck_assert_int_eq(expand("skip_unknown = yes\n[nvme0]\nlains = 4\n", NULL, false), 0);
	ck_assert_uint_eq(plan.nr_skipped, 1);
}
END_TEST

START_TEST(test_values)
{
	ck_assert_int_eq(expand("[nvme0]\ndefer_mode = sometimes\n", NULL, false), -1);
	ck_assert(strstr(err.text, "line 2: defer_mode=sometimes for nvme0: "));
	ck_assert_int_eq(expand("[nvme0]\nnuma_node = 1\n", NULL, false), -1);
	ck_assert(strstr(err.text, "a fact"));
	/* Skipping what is unknown does not skip what is wrong. */
	ck_assert_int_eq(expand("[nvme0]\ndefer_lanes = 4K\n", NULL, true), -1);
	ck_assert_int_eq(expand("[nvme0/q1]\ndefer_inline_bytes = 64K\n", NULL, false), 0);
	ck_assert_uint_eq(nt_plan_differs(&plan), 0);
	/* Its own value, be it what it inherits: not the same state. */
	ck_assert_int_eq(expand("[nvme0]\ndefer_inline_bytes = 128K\n", NULL, false), 0);
	ck_assert_uint_eq(nt_plan_differs(&plan), 1);
}
END_TEST

/* The plan of @text makes the tree what it was saved from. */
static void apply_plan(void)
{
	struct nt_param *param;
	size_t i;

	for (i = 0; i < plan.nr; i++) {
		param = nt_object_param(nt_tree_find(&tree, plan.changes[i].object),
					plan.changes[i].name);
		nt_param_set_text(param, plan.changes[i].value, param->in_force);
		param->inherit = !strcmp(param->text, "inherit");
	}
}

START_TEST(test_save)
{
	char *text = nt_profile_text(&tree, NULL, "title"), *other;

	ck_assert(strstr(text, "\n[nvme[0-9]*/q[0-9]*]\n"));
	ck_assert_ptr_null(strstr(text, "numa_node"));
	ck_assert_int_eq(expand(text, NULL, false), 0);
	ck_assert_uint_eq(nt_plan_differs(&plan), 0);
	/* Each setting of each object is in it: 3 + 2 * 3 + 3 * 2. */
	ck_assert_uint_eq(plan.nr, 15);
	ck_assert_int_eq(expand("[nvme]\ndefer_mode = off\n[nvme0]\ndefer_lanes = 7\n"
				"[nvme0/q*]\ndefer_mode = off\ndefer_inline_bytes = 0\n"
				"[nvme1]\ndefer_inline_bytes = inherit\n", NULL, false), 0);
	apply_plan();
	ck_assert_int_eq(expand(text, NULL, false), 0);
	ck_assert_uint_eq(nt_plan_differs(&plan), 7);
	apply_plan();
	other = nt_profile_text(&tree, NULL, "title");
	ck_assert_str_eq(text, other);
	free(other);
	free(text);
}
END_TEST

START_TEST(test_save_only)
{
	char *text = nt_profile_text(&tree, "nvme0", "title");

	ck_assert_int_eq(expand(text, NULL, false), 0);
	ck_assert_uint_eq(plan.nr, 3 + 2 + 2);
	ck_assert_uint_eq(nt_plan_differs(&plan), 0);
	ck_assert_ptr_null(planned("nvme1", "defer_mode"));
	ck_assert_str_eq(planned("nvme0/q1", "defer_mode"), "inherit");
	free(text);
}
END_TEST

/* Objects of another class among those of a kind: no section for the kind. */
START_TEST(test_save_mixed)
{
	struct nt_object *obj = nt_tree_add(&tree, "nvme2");
	char *text;

	obj->class = "other";
	nt_tree_sort(&tree);
	text = nt_profile_text(&tree, NULL, "title");
	ck_assert_ptr_null(strstr(text, "[nvme[0-9]*]"));
	ck_assert_int_eq(expand(text, NULL, false), 0);
	ck_assert_uint_eq(nt_plan_differs(&plan), 0);
	free(text);
}
END_TEST

START_TEST(test_builtin)
{
	const struct nt_builtin *b;

	for (b = nt_builtins; b->name; b++) {
		ck_assert_msg(!parse(b->text), "%s: %s", b->name, err.text);
		ck_assert_msg(*p.description, "%s has no description", b->name);
		ck_assert(p.skip_unknown);
		ck_assert_uint_gt(p.nr_settings, 0);
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("profile");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_form);
	tcase_add_test(tcase, test_long_section);
	tcase_add_test(tcase, test_empty);
	tcase_add_test(tcase, test_refused);
	tcase_add_test(tcase, test_first_error);
	tcase_add_test(tcase, test_order_wins);
	tcase_add_test(tcase, test_all);
	tcase_add_test(tcase, test_only);
	tcase_add_test(tcase, test_unknown);
	tcase_add_test(tcase, test_values);
	tcase_add_test(tcase, test_save);
	tcase_add_test(tcase, test_save_only);
	tcase_add_test(tcase, test_save_mixed);
	tcase_add_test(tcase, test_builtin);
	return run_case("profile", tcase);
}
