// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests: patterns, names, values, the model, output. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "nvmetune.h"
#include "run-case.h"

/* Patterns */

static const struct {
	const char *pattern;
	const char *name;
	bool match;
} nt_matches[] = {
	{ "all", "nvme0", true },
	{ "all", "nvme0/q1", true },
	{ "nvme0", "nvme0", true },
	{ "nvme0", "nvme0/q1", false },
	{ "nvme0", "nvme01", false },
	{ "nvme*", "nvme", true },
	{ "nvme*", "nvme12", true },
	{ "nvme*", "nvme0/q1", false },
	{ "*", "nvme0/q1", false },
	{ "*/*", "nvme0/q1", true },
	{ "nvme*/q*", "nvme10/q128", true },
	{ "nvme*/q[1-4]", "nvme0/q4", true },
	{ "nvme*/q[1-4]", "nvme0/q5", false },
	{ "nvme*/q[1-4]", "nvme0/q14", false },
	{ "nvme*/q[!1-4]", "nvme0/q5", true },
	{ "nvme*/q[^1-4]", "nvme0/q3", false },
	{ "nvme?", "nvme7", true },
	{ "nvme?", "nvme", false },
	{ "nvme0?q1", "nvme0/q1", false },
	{ "nvme0[!x]q1", "nvme0/q1", false },
	{ "nvme[]0]", "nvme]", true },
	{ "nvme[0-]", "nvme-", true },
	{ "*0*/q*1", "nvme100/q2221", true },
	{ "*a*b*c", "aabbcc", true },
	{ "*a*b*c", "aabbc/", false },
	{ "nvme0/q1*", "nvme0/q1", true },
	{ "nvme0/q1**", "nvme0/q12", true },
	{ "[", "[", false },
	{ "nvme0/", "nvme0/", false },
	{ "", "", false },
};

START_TEST(pattern_match)
{
	ck_assert_msg(nt_pattern_match(nt_matches[_i].pattern, nt_matches[_i].name) ==
		      nt_matches[_i].match, "%s %s %s", nt_matches[_i].pattern,
		      nt_matches[_i].match ? "does not match" : "matches", nt_matches[_i].name);
}
END_TEST

START_TEST(pattern_valid)
{
	char longest[300];

	ck_assert(nt_pattern_valid("nvme*/q[1-4]"));
	ck_assert(!nt_pattern_valid("/nvme0"));
	ck_assert(!nt_pattern_valid("nvme0//q1"));
	ck_assert(!nt_pattern_valid("nvme[0-3"));
	ck_assert(!nt_pattern_valid("nvme[0/3]"));
	memset(longest, 'a', sizeof(longest));
	longest[256] = '\0';
	ck_assert(!nt_pattern_valid(longest));
	longest[255] = '\0';
	ck_assert(nt_pattern_valid(longest));
}
END_TEST

/* Many stars that almost match: must not take for ever. */
START_TEST(pattern_work)
{
	ck_assert(!nt_pattern_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b",
				    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}
END_TEST

/* Names */

START_TEST(name_order)
{
	static const char *const sorted[] = {
		"iommufd", "nvme", "nvme0", "nvme0/q1", "nvme0/q2", "nvme0/q10", "nvme1",
		"nvme1/q1", "nvme2", "nvme10", "nvme10/q1", "vfio_type1",
	};
	size_t i, j;

	for (i = 0; i < NT_ARRAY_SIZE(sorted); i++) {
		for (j = 0; j < NT_ARRAY_SIZE(sorted); j++) {
			int ret = nt_name_cmp(sorted[i], sorted[j]);

			ck_assert_msg(i < j ? ret < 0 : i > j ? ret > 0 : !ret, "%s, %s: %d",
				      sorted[i], sorted[j], ret);
		}
	}
}
END_TEST

START_TEST(tree_finds)
{
	struct nt_tree tree = { };
	char name[32];
	int i;

	nt_tree_add(&tree, "nvme0/q10");
	nt_tree_add(&tree, "nvme0/q2");
	nt_tree_add(&tree, "nvme0");
	ck_assert_str_eq(nt_tree_find(&tree, "nvme0/q10")->name, "nvme0/q10");
	nt_tree_sort(&tree);
	ck_assert_str_eq(tree.objects[0]->name, "nvme0");
	ck_assert_str_eq(tree.objects[1]->name, "nvme0/q2");
	ck_assert_ptr_eq(tree.objects[2]->parent, tree.objects[0]);
	ck_assert_ptr_null(tree.objects[0]->parent);
	ck_assert_ptr_null(nt_tree_find(&tree, "nvme0/q3"));
	for (i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "nvme1/q%d", i);
		nt_tree_add(&tree, name);
	}
	nt_tree_sort(&tree);
	ck_assert_str_eq(nt_tree_find(&tree, "nvme1/q321")->name, "nvme1/q321");
	/* Nothing is above it. */
	ck_assert_ptr_null(nt_tree_find(&tree, "nvme1/q321")->parent);
	nt_tree_free(&tree);
	ck_assert_uint_eq(tree.nr, 0);
}
END_TEST

START_TEST(interned)
{
	char copy[] = "defer_mode";

	ck_assert_ptr_eq(nt_intern(copy), nt_intern("defer_mode"));
	ck_assert_ptr_ne(nt_intern("a"), nt_intern("b"));
}
END_TEST

/* Values */

static const char *const nt_modes[] = { "off", "on", "auto" };

static struct nt_param nt_bytes = {
	.name = "bytes", .help = "", .described = true, .type = NVMETUNE_TYPE_BYTES,
	.unit = NVMETUNE_UNIT_BYTES, .inheritable = true, .has_range = true, .min = 4096,
	.max = 1 << 30,
};

static struct nt_param nt_percent = {
	.name = "percent", .help = "", .described = true, .type = NVMETUNE_TYPE_PERCENT,
	.unit = NVMETUNE_UNIT_PERCENT, .has_range = true, .max = 100,
};

static struct nt_param nt_age = {
	.name = "age", .help = "", .described = true, .type = NVMETUNE_TYPE_COUNT,
	.unit = NVMETUNE_UNIT_MILLISECONDS, .has_range = true, .min = 1, .max = 60000,
};

static struct nt_param nt_mode = {
	.name = "mode", .help = "", .described = true, .type = NVMETUNE_TYPE_ENUM,
	.inheritable = true, .choices = (const char **)nt_modes, .nr_choices = 3,
};

static struct nt_param nt_flag = {
	.name = "flag", .help = "", .described = true, .type = NVMETUNE_TYPE_BOOL,
};

static struct nt_param nt_plain = { .name = "plain", .help = "" };
static struct nt_param nt_fact = { .name = "fact", .help = "", .read_only = true };

static const struct {
	const struct nt_param *param;
	const char *text;
	const char *why;	/* NULL: is taken */
} nt_accepts[] = {
	{ &nt_bytes, "4096", NULL },
	{ &nt_bytes, "4K", NULL },
	{ &nt_bytes, "64k", NULL },
	{ &nt_bytes, "1G", NULL },
	{ &nt_bytes, "inherit", NULL },
	{ &nt_bytes, "1025M", "out of range: it takes 4 KiB to 1 GiB" },
	{ &nt_bytes, "4095", "out of range: it takes 4 KiB to 1 GiB" },
	{ &nt_bytes, "4KB", "with or without K, M or G, or inherit" },
	{ &nt_bytes, "4 K", "it takes 4 KiB to 1 GiB, as a number" },
	{ &nt_bytes, "-1", "it takes" },
	{ &nt_bytes, "0x1000", "it takes" },
	{ &nt_bytes, "", "no value" },
	{ &nt_bytes, "64K\n", "more than a line" },
	{ &nt_bytes, "99999999999999999999999", "it takes" },
	{ &nt_bytes, "18446744073709551615G", "it takes" },
	{ &nt_percent, "0", NULL },
	{ &nt_percent, "100", NULL },
	{ &nt_percent, "101", "out of range: it takes 0 to 100 %" },
	{ &nt_percent, "10%", "it takes 0 to 100 %" },
	{ &nt_percent, "1K", "it takes 0 to 100 %" },
	{ &nt_percent, "inherit", "cannot inherit" },
	{ &nt_age, "200", NULL },
	{ &nt_age, "0", "out of range: it takes 1 ms to 60 s" },
	{ &nt_mode, "auto", NULL },
	{ &nt_mode, "inherit", NULL },
	{ &nt_mode, "Auto", "it takes off, on, auto, or inherit" },
	{ &nt_mode, "2", "it takes off, on, auto, or inherit" },
	{ &nt_flag, "1", NULL },
	{ &nt_flag, "yes", NULL },
	{ &nt_flag, "Off", NULL },
	{ &nt_flag, "2", "it takes 0, 1" },
	{ &nt_plain, "what", NULL },
	{ &nt_plain, "1234567890123456789012345678901234567890123456789012345678901234",
	  "too long" },
	{ &nt_fact, "1", "a fact" },
};

START_TEST(param_accepts)
{
	const char *want = nt_accepts[_i].why;
	char *why = NULL;
	bool ok;

	ok = nt_param_accepts(nt_accepts[_i].param, nt_accepts[_i].text, &why);
	ck_assert_msg(ok == !want, "%s=%s: %s", nt_accepts[_i].param->name, nt_accepts[_i].text,
		      ok ? "is taken" : why);
	if (want)
		ck_assert_msg(strstr(why, want) != NULL, "'%s' is not in '%s'", want, why);
	free(why);
}
END_TEST

START_TEST(param_same)
{
	ck_assert(nt_param_same(&nt_bytes, "64K", "65536"));
	ck_assert(nt_param_same(&nt_bytes, "inherit", "inherit"));
	ck_assert(!nt_param_same(&nt_bytes, "inherit", "65536"));
	ck_assert(!nt_param_same(&nt_bytes, "64K", "64M"));
	ck_assert(nt_param_same(&nt_flag, "on", "1"));
	ck_assert(!nt_param_same(&nt_flag, "on", "0"));
	ck_assert(!nt_param_same(&nt_mode, "on", "off"));
	ck_assert(nt_param_same(&nt_plain, "1K", "1024"));
	ck_assert(!nt_param_same(&nt_plain, "a", "b"));
}
END_TEST

static const struct {
	uint32_t unit;
	uint64_t num;
	const char *text;
} nt_formats[] = {
	{ NVMETUNE_UNIT_BYTES, 0, "0 B" },
	{ NVMETUNE_UNIT_BYTES, 512, "512 B" },
	{ NVMETUNE_UNIT_BYTES, 131072, "128 KiB" },
	{ NVMETUNE_UNIT_BYTES, 1536, "1.50 KiB" },
	{ NVMETUNE_UNIT_BYTES, 1 << 30, "1 GiB" },
	{ NVMETUNE_UNIT_BYTES, 1048575, "1.00 MiB" },
	{ NVMETUNE_UNIT_BYTES, UINT64_MAX, "16 EiB" },
	{ NVMETUNE_UNIT_NANOSECONDS, 999, "999 ns" },
	{ NVMETUNE_UNIT_NANOSECONDS, 1500, "1.50 us" },
	{ NVMETUNE_UNIT_NANOSECONDS, 12345678, "12.3 ms" },
	{ NVMETUNE_UNIT_NANOSECONDS, 123000000000, "123 s" },
	{ NVMETUNE_UNIT_NANOSECONDS, UINT64_MAX, "18446744074 s" },
	{ NVMETUNE_UNIT_MILLISECONDS, 200, "200 ms" },
	{ NVMETUNE_UNIT_MILLISECONDS, 60000, "60 s" },
	{ NVMETUNE_UNIT_PERCENT, 12, "12 %" },
	{ NVMETUNE_UNIT_REQUESTS, 99999, "99999" },
	{ NVMETUNE_UNIT_REQUESTS, 1234567, "1.23 M" },
	{ NVMETUNE_UNIT_NONE, 1234567, "1234567" },
	{ 77, 1234567, "1234567" },
};

START_TEST(formats)
{
	char buf[64];

	ck_assert_str_eq(nt_format(nt_formats[_i].unit, nt_formats[_i].num, buf, sizeof(buf)),
			 nt_formats[_i].text);
}
END_TEST

START_TEST(format_rates)
{
	char buf[64];

	ck_assert_str_eq(nt_format_rate(NVMETUNE_UNIT_BYTES, 1.5 * (1 << 20), buf, sizeof(buf)),
			 "1.50 MiB");
	ck_assert_str_eq(nt_format_rate(NVMETUNE_UNIT_REQUESTS, 12345.6, buf, sizeof(buf)),
			 "12.3 k");
	ck_assert_str_eq(nt_format_rate(NVMETUNE_UNIT_NONE, 0.25, buf, sizeof(buf)), "0.25");
	ck_assert_str_eq(nt_format_rate(NVMETUNE_UNIT_PERCENT, 7.25, buf, sizeof(buf)), "7.25 %");
}
END_TEST

START_TEST(shows)
{
	char buf[64];

	ck_assert_str_eq(nt_param_show(&nt_bytes, "131072", buf, sizeof(buf)), "128 KiB");
	ck_assert_str_eq(nt_param_show(&nt_bytes, "inherit", buf, sizeof(buf)), "inherit");
	ck_assert_str_eq(nt_param_show(&nt_mode, "auto", buf, sizeof(buf)), "auto");
	ck_assert_str_eq(nt_param_show(&nt_plain, "131072", buf, sizeof(buf)), "131072");
	ck_assert_str_eq(nt_param_range(&nt_bytes, buf, sizeof(buf)), "4 KiB to 1 GiB");
	ck_assert_str_eq(nt_param_range(&nt_percent, buf, sizeof(buf)), "0 to 100 %");
	ck_assert_str_eq(nt_param_range(&nt_flag, buf, sizeof(buf)), "0, 1");
	ck_assert_str_eq(nt_param_range(&nt_mode, buf, sizeof(buf)), "off, on, auto");
	ck_assert_str_eq(nt_param_range(&nt_plain, buf, sizeof(buf)), "");
	/* Choices that do not fit are cut. */
	ck_assert_str_eq(nt_param_range(&nt_mode, buf, 8), "off, on");
	ck_assert_str_eq(nt_unit_name(99), "unknown");
	ck_assert_str_eq(nt_type_name(NVMETUNE_TYPE_TEXT), "text");
	ck_assert_str_eq(nt_kind_name(NVMETUNE_STAT_KIND_MAXIMUM), "maximum");
	ck_assert_str_eq(nt_applies_name(NVMETUNE_APPLIES_AT_RESET), "at-reset");
}
END_TEST

START_TEST(nearest)
{
	static const char *const names[] = { "defer_mode", "defer_lanes", "measure" };

	ck_assert_str_eq(nt_nearest("defer_mod", names, 3), "defer_mode");
	ck_assert_str_eq(nt_nearest("mesure", names, 3), "measure");
	ck_assert_str_eq(nt_nearest("defer_lane", names, 3), "defer_lanes");
	ck_assert_ptr_null(nt_nearest("irq", names, 3));
	ck_assert_ptr_null(nt_nearest("", names, 0));
}
END_TEST

/* Output */

START_TEST(table)
{
	static const char *const headers[] = { "NAME", "N", "X" };
	struct nt_table *t = nt_table_new(headers, 3);
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	nt_table_right(t, 1);
	nt_table_indent(t, 1);
	nt_table_row(t, (const char *[]){ "\033[1ma\033[0m", "123", "" });
	nt_table_row(t, (const char *[]){ "gr\xc3\xb6\xc3\x9f" "er", "4", NULL });
	nt_table_row(t, (const char *[]){ "", "", "x" });
	nt_table_row(t, (const char *[]){ "", "", "" });
	nt_table_print(t, f);
	fclose(f);
	ck_assert_str_eq(text,
			 " NAME      N  X\n"
			 " \033[1ma\033[0m       123\n"
			 " gr\xc3\xb6\xc3\x9f" "er    4\n"
			 "              x\n"
			 "\n");
	free(text);
}
END_TEST

START_TEST(json_values)
{
	struct nt_tree tree = { };
	struct nt_object *obj = nt_tree_add(&tree, "nvme0");
	struct nt_param *param = nt_object_add_param(obj, "big");
	struct nt_hist *hist = nt_object_add_hist(obj, "h");
	json_object *o, *p, *value, *buckets;

	param->described = true;
	param->type = NVMETUNE_TYPE_COUNT;
	nt_param_set_text(param, "18446744073709551615", NULL);
	nt_hist_add(hist, 1, 2);
	nt_hist_add(hist, UINT64_MAX, 3);
	nt_object_add_stat(obj, "s")->value = 1ULL << 63;
	o = nt_json_object(obj, NT_LOAD_PARAMS | NT_LOAD_STATS);
	p = json_object_object_get(json_object_object_get(o, "params"), "big");
	value = json_object_object_get(p, "value");
	buckets = json_object_object_get(json_object_object_get(o, "histograms"), "h");
	buckets = json_object_object_get(buckets, "buckets");
	ck_assert_str_eq(json_object_to_json_string(value), "18446744073709551615");
	ck_assert_str_eq(json_object_to_json_string_ext(buckets, JSON_C_TO_STRING_PLAIN),
			 "[{\"up_to\":1,\"count\":2},{\"count\":3}]");
	json_object_put(o);
	nt_tree_free(&tree);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("core");

	tcase_add_loop_test(tc, pattern_match, 0, NT_ARRAY_SIZE(nt_matches));
	tcase_add_test(tc, pattern_valid);
	tcase_add_test(tc, pattern_work);
	tcase_add_test(tc, name_order);
	tcase_add_test(tc, tree_finds);
	tcase_add_test(tc, interned);
	tcase_add_loop_test(tc, param_accepts, 0, NT_ARRAY_SIZE(nt_accepts));
	tcase_add_test(tc, param_same);
	tcase_add_loop_test(tc, formats, 0, NT_ARRAY_SIZE(nt_formats));
	tcase_add_test(tc, format_rates);
	tcase_add_test(tc, shows);
	tcase_add_test(tc, nearest);
	tcase_add_test(tc, table);
	tcase_add_test(tc, json_values);
	return run_case("core", tc);
}
