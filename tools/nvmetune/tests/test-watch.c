// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests: what is computed of two looks; metrics; what differs between states. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "watch.h"
#include "run-case.h"

static struct nt_look old, now;

static void clear(void)
{
	nt_look_free(&old);
	nt_look_free(&now);
}

/* /proc/stat, /proc/interrupts */

static const char stat_a[] =
	"cpu  100 0 100 800 0 0 0 0 0 0\n"
	"cpu0 50 0 50 400 0 20 10 0 900 900\n"
	"cpu2 50 0 50 400 0 0 0 0 0 0\n"
	"intr 5 cpu0\n"
	"ctxt 7";
static const char stat_b[] =
	"cpu0 60 0 60 420 0 70 40 0 1900 900\n"
	"cpu2 150 0 50 400 0 0 0 0 0 0";

START_TEST(cpus)
{
	struct nt_cpu *cpu;

	ck_assert_uint_eq(nt_cpus_parse(stat_a, &cpu), 2);
	ck_assert_uint_eq(cpu[0].cpu, 0);
	/* guest time, the last two, is in user time already */
	ck_assert_uint_eq(cpu[0].total, 530);
	ck_assert_uint_eq(cpu[0].hardirq, 20);
	ck_assert_uint_eq(cpu[0].softirq, 10);
	ck_assert_uint_eq(cpu[1].cpu, 2);
	free(cpu);
	ck_assert_uint_eq(nt_cpus_parse("", &cpu), 0);
	ck_assert_ptr_null(cpu);
	ck_assert_uint_eq(nt_cpus_parse("cpu3", &cpu), 1);
	ck_assert_uint_eq(cpu[0].total, 0);
	free(cpu);
}
END_TEST

START_TEST(irq_share)
{
	unsigned int which = 99;

	old.nr_cpus = nt_cpus_parse(stat_a, &old.cpus);
	now.nr_cpus = nt_cpus_parse(stat_b, &now.cpus);
	/* of 120 ticks, 50 hard and 30 soft */
	ck_assert_double_eq_tol(nt_look_irq_share(&old, &now, "0-3", &which), 80.0 / 120, 1e-9);
	ck_assert_uint_eq(which, 0);
	ck_assert_double_eq(nt_look_irq_share(&old, &now, "2", &which), 0);
	ck_assert_uint_eq(which, 2);
	ck_assert_double_eq_tol(nt_look_irq_share(NULL, &now, "0", &which), 110.0 / 650, 1e-9);
	ck_assert(isnan(nt_look_irq_share(&old, &now, "1,3", &which)));
	ck_assert(isnan(nt_look_irq_share(&old, &now, "", &which)));
	/* no time has passed */
	ck_assert(isnan(nt_look_irq_share(&now, &now, "0", &which)));
	/* a CPU that has come in between */
	old.nr_cpus = 1;
	ck_assert(isnan(nt_look_irq_share(&old, &now, "2", &which)));
}
END_TEST

START_TEST(irqs)
{
	static const char a[] = "      CPU0   CPU1\n  1:   0   9   IO-APIC   1-edge   i8042\n"
		" 31: 700 30 PCI-MSIX-0000:00:05.0 1-edge nvme0q1\nNMI: 4 4 Non-maskable";
	static const char b[] = " 31: 900 30 PCI\n";

	old.nr_irqs = nt_irqs_parse(a, &old.irqs);
	now.nr_irqs = nt_irqs_parse(b, &now.irqs);
	ck_assert_uint_eq(old.nr_irqs, 2);
	ck_assert_uint_eq(old.irqs[0].irq, 1);
	ck_assert_uint_eq(old.irqs[0].count, 9);
	ck_assert_uint_eq(old.irqs[1].count, 730);
	old.at = 10;
	now.at = 12;
	ck_assert_double_eq(nt_look_irq_rate(&old, &now, 31), 100);
	ck_assert(isnan(nt_look_irq_rate(&old, &now, 1)));
	ck_assert(isnan(nt_look_irq_rate(&now, &old, 31)));
}
END_TEST

START_TEST(lists)
{
	ck_assert(nt_list_has("0-3,8", 0) && nt_list_has("0-3,8", 3) && nt_list_has("0-3,8", 8));
	ck_assert(!nt_list_has("0-3,8", 4) && !nt_list_has("", 0) && !nt_list_has("x", 0));
	ck_assert(!nt_list_has("3-1", 2) && !nt_list_has("-1", 1));
	ck_assert(!nt_list_has("99999999999", 4294967295u));
	ck_assert_uint_eq(nt_list_count("0-3,8"), 5);
	ck_assert_uint_eq(nt_list_count(""), 0);
	ck_assert(nt_list_within("1,2", "0-3") && nt_list_within("0-3", "2-3,0-1"));
	ck_assert(!nt_list_within("1-4", "0-3") && !nt_list_within("", "0-3"));
	ck_assert(!nt_list_within("1", "") && !nt_list_within("0-2000000000", "0-2000000000"));
}
END_TEST

/* Counters and histograms */

START_TEST(counters)
{
	ck_assert_uint_eq(nt_counted(5, 9), 4);
	ck_assert_uint_eq(nt_counted(5, 5), 0);
	/* reset in between */
	ck_assert_uint_eq(nt_counted(9, 5), 5);
	ck_assert_uint_eq(nt_counted(0, UINT64_MAX), UINT64_MAX);
}
END_TEST

START_TEST(histograms)
{
	struct nt_hist a = { .name = "x" }, b = { .name = "x" }, diff;

	nt_hist_add(&a, 1, 10);
	nt_hist_add(&a, 3, 0);
	nt_hist_add(&a, UINT64_MAX, 5);
	nt_hist_add(&b, 1, 10);
	nt_hist_add(&b, 3, 97);
	nt_hist_add(&b, UINT64_MAX, 8);
	nt_hist_diff(&a, &b, &diff);
	ck_assert_uint_eq(nt_hist_total(&diff), 100);
	ck_assert_uint_eq(nt_hist_quantile(&diff, 0.5), 3);
	ck_assert_uint_eq(nt_hist_quantile(&diff, 0.97), 3);
	ck_assert_uint_eq(nt_hist_quantile(&diff, 0.99), UINT64_MAX);
	free(diff.buckets);
	/* A reset in between: all buckets count from 0. */
	nt_hist_diff(&b, &a, &diff);
	ck_assert_uint_eq(nt_hist_total(&diff), 15);
	free(diff.buckets);
	nt_hist_diff(NULL, &a, &diff);
	ck_assert_uint_eq(nt_hist_total(&diff), 15);
	free(diff.buckets);
	/* Switched on in between. */
	nt_hist_diff(&(struct nt_hist){ }, &a, &diff);
	ck_assert_uint_eq(nt_hist_total(&diff), 15);
	free(diff.buckets);
	ck_assert_uint_eq(nt_hist_quantile(&(struct nt_hist){ }, 0.5), UINT64_MAX);
	free(a.buckets);
	free(b.buckets);
}
END_TEST

/* Numbers of metrics: what Go and with it Prometheus writes. */

static const struct {
	double value;
	const char *text;
} numbers[] = {
	{ 0, "0.0" }, { 1, "1.0" }, { 1e-9, "1e-09" }, { 3e-9, "3e-09" },
	{ 1023 / 1e9, "1.023e-06" }, { 0.0001, "0.0001" }, { 0.00012345, "0.00012345" },
	{ 0.5, "0.5" }, { 1.073741823, "1.073741823" }, { 123456, "123456.0" },
	{ 1e6, "1e+06" }, { 1073741823, "1.073741823e+09" }, { 0.1, "0.1" },
	{ 100000, "100000.0" }, { 16383 / 1e9, "1.6383e-05" }, { INFINITY, "+Inf" },
	{ -INFINITY, "-Inf" }, { NAN, "NaN" },
};

START_TEST(metric_numbers)
{
	char buf[40];

	ck_assert_str_eq(nt_metrics_number(numbers[_i].value, buf, sizeof(buf)),
			 numbers[_i].text);
}
END_TEST

/* A tree as netlink gives it. */

static void add_stat(struct nt_object *obj, const char *name, uint32_t kind, uint32_t unit,
		     uint64_t value)
{
	struct nt_stat *stat = nt_object_add_stat(obj, name);

	stat->described = true;
	stat->help = nt_intern("what \"it\" is \\ and\nwas");
	stat->kind = kind;
	stat->unit = unit;
	stat->value = value;
}

static void add_fact(struct nt_object *obj, const char *name, const char *text)
{
	struct nt_param *param = nt_object_add_param(obj, name);

	param->read_only = true;
	nt_param_set_text(param, text, NULL);
	nt_parse_number(text, &param->num);
}

static struct nt_object *add_queue(struct nt_tree *tree, const char *name, uint64_t value)
{
	struct nt_object *obj = nt_tree_add(tree, name);
	struct nt_hist *hist;
	int i;

	obj->class = nt_intern("nvme-queue");
	nt_param_set_text(nt_object_add_param(obj, "defer_mode"), "inherit", "auto");
	add_fact(obj, "irq", "31");
	add_fact(obj, "cpus", "0");
	add_fact(obj, "armed", "1");
	add_fact(obj, "odd-name", "a\"b\\c\nd");
	add_fact(obj, "class", "not the class");
	add_stat(obj, "irq_inline", NVMETUNE_STAT_KIND_COUNTER, NVMETUNE_UNIT_REQUESTS, value);
	add_stat(obj, "irq_inline_bytes", NVMETUNE_STAT_KIND_COUNTER, NVMETUNE_UNIT_BYTES,
		 value * 4096);
	add_stat(obj, "irq_deferred", NVMETUNE_STAT_KIND_COUNTER, NVMETUNE_UNIT_REQUESTS,
		 3 * value);
	add_stat(obj, "irq_deferred_bytes", NVMETUNE_STAT_KIND_COUNTER, NVMETUNE_UNIT_BYTES, 0);
	add_stat(obj, "irq_chunks", NVMETUNE_STAT_KIND_COUNTER, NVMETUNE_UNIT_NONE, UINT64_MAX);
	add_stat(obj, "backlog_bytes", NVMETUNE_STAT_KIND_GAUGE, NVMETUNE_UNIT_BYTES, value);
	add_stat(obj, "oldest_ns", NVMETUNE_STAT_KIND_GAUGE, NVMETUNE_UNIT_NANOSECONDS, value);
	add_stat(obj, "worker_max_run_ns", NVMETUNE_STAT_KIND_MAXIMUM, NVMETUNE_UNIT_NANOSECONDS,
		 1500000000);
	add_stat(obj, "share", NVMETUNE_STAT_KIND_GAUGE, NVMETUNE_UNIT_PERCENT, 25);
	add_stat(obj, "9lives-ms", NVMETUNE_STAT_KIND_GAUGE, NVMETUNE_UNIT_MILLISECONDS, 1);
	add_stat(obj, "odd_total", NVMETUNE_STAT_KIND_COUNTER, NVMETUNE_UNIT_NONE, 7);
	nt_object_add_stat(obj, "undescribed")->value = 8;
	hist = nt_object_add_hist(obj, "delay_ns");
	hist->unit = NVMETUNE_UNIT_NANOSECONDS;
	hist->help = nt_intern("how long");
	for (i = 0; i < 31; i++)
		nt_hist_add(hist, (1ULL << i) - 1, i);
	nt_hist_add(hist, UINT64_MAX, 2);
	hist = nt_object_add_hist(obj, "sizes");
	hist->unit = NVMETUNE_UNIT_BYTES;
	for (i = 10; i < 31; i++)
		nt_hist_add(hist, (1ULL << i) - 1, 1);
	nt_object_add_hist(obj, "off_ns")->unit = NVMETUNE_UNIT_NANOSECONDS;
	return obj;
}

static void make_tree(struct nt_tree *tree, uint64_t value)
{
	nt_tree_add(tree, "nvme0");
	add_queue(tree, "nvme0/q1", value);
	add_queue(tree, "nvme0/q10", 2 * value);
	add_queue(tree, "nvme0/q2", 0);
	nt_tree_sort(tree);
}

/* Metrics */

static char *metrics(enum nt_metrics format)
{
	size_t len;
	char *text;
	FILE *f;

	if (!now.tree.nr)
		make_tree(&now.tree, 1000);
	f = open_memstream(&text, &len);
	nt_metrics_print(f, now.tree.objects + 1, 3, format);
	fclose(f);
	return text;
}

static void assert_has(const char *text, const char *line)
{
	ck_assert_msg(strstr(text, line) != NULL, "no '%s' in:\n%s", line, text);
}

/* By Prometheus' own parser, which is strict. */
static void assert_accepted(const char *format, const char *text)
{
	char path[] = "/tmp/nvmetune-metrics-XXXXXX", command[128];
	FILE *f = fdopen(mkstemp(path), "w");
	int status;

	fputs(text, f);
	fclose(f);
	snprintf(command, sizeof(command), "tests/check-metrics %s %s >&2", format, path);
	status = system(command);
	unlink(path);
	ck_assert_msg(!status, "%s is refused:\n%s", format, text);
}

START_TEST(openmetrics)
{
	char *text = metrics(NT_OPENMETRICS);

	assert_has(text, "# TYPE nvmetune_irq_inline_requests counter\n"
		   "# UNIT nvmetune_irq_inline_requests requests\n"
		   "# HELP nvmetune_irq_inline_requests what \\\"it\\\" is \\\\ and\\nwas\n"
		   "nvmetune_irq_inline_requests_total{object=\"nvme0/q1\",parent=\"nvme0\"} 1000\n");
	assert_has(text, "\nnvmetune_irq_inline_bytes_total{object=\"nvme0/q10\",parent=\"nvme0\"} 8192000\n");
	assert_has(text, "\nnvmetune_irq_chunks_total{object=\"nvme0/q2\",parent=\"nvme0\"} 18446744073709551615\n");
	assert_has(text, "\n# TYPE nvmetune_worker_max_run_seconds gauge\n");
	assert_has(text, "\nnvmetune_worker_max_run_seconds{object=\"nvme0/q1\",parent=\"nvme0\"} 1.5\n");
	assert_has(text, "\nnvmetune_share_ratio{object=\"nvme0/q1\",parent=\"nvme0\"} 0.25\n");
	assert_has(text, "\nnvmetune_odd_total{object=\"nvme0/q1\",parent=\"nvme0\"} 7\n");
	assert_has(text, "\n# TYPE nvmetune_undescribed unknown\n");
	assert_has(text, "class=\"nvme-queue\",irq=\"31\",cpus=\"0\",armed=\"1\",odd_name=\"a\\\"b\\\\c\\nd\"} 1\n");
	assert_has(text, "nvmetune_delay_seconds_bucket{object=\"nvme0/q1\",parent=\"nvme0\",le=\"1e-09\"} 1\n");
	/* cumulative: 0 + 1 + ... + 30, and 2 above */
	assert_has(text, "le=\"1.073741823\"} 465\n");
	assert_has(text, "le=\"+Inf\"} 467\n");
	ck_assert_ptr_null(strstr(text, "off_seconds"));
	ck_assert_ptr_null(strstr(text, "_sum"));
	ck_assert_str_eq(text + strlen(text) - strlen("\n# EOF\n"), "\n# EOF\n");
	assert_accepted("openmetrics", text);
	free(text);
}
END_TEST

START_TEST(prometheus)
{
	char *text = metrics(NT_PROMETHEUS);

	assert_has(text, "# TYPE nvmetune_irq_inline_requests_total counter\n"
		   "# HELP nvmetune_irq_inline_requests_total what \"it\" is \\\\ and\\nwas\n"
		   "nvmetune_irq_inline_requests_total{object=\"nvme0/q1\",parent=\"nvme0\"} 1000\n");
	assert_has(text, "\n# TYPE nvmetune_undescribed untyped\n");
	assert_has(text, "\nnvmetune_delay_seconds_count{object=\"nvme0/q1\",parent=\"nvme0\"} 467\n");
	/* There is none, and 0 would be a lie. */
	assert_has(text, "\nnvmetune_delay_seconds_sum{object=\"nvme0/q1\",parent=\"nvme0\"} NaN\n");
	ck_assert_ptr_null(strstr(text, "# UNIT"));
	ck_assert_ptr_null(strstr(text, "# EOF"));
	assert_accepted("prometheus", text);
	free(text);
}
END_TEST

START_TEST(no_metrics)
{
	size_t len;
	char *text;
	FILE *f = open_memstream(&text, &len);

	nt_metrics_print(f, NULL, 0, NT_OPENMETRICS);
	fclose(f);
	ck_assert_str_eq(text, "# EOF\n");
	free(text);
}
END_TEST

/* Rows of top */

static size_t make_rows(struct nt_row **rows, const char *pattern)
{
	make_tree(&old.tree, 1000);
	make_tree(&now.tree, 3000);
	old.nr_cpus = nt_cpus_parse(stat_a, &old.cpus);
	now.nr_cpus = nt_cpus_parse(stat_b, &now.cpus);
	old.at = 10;
	now.at = 12;
	return nt_rows_make(&old, &now, pattern, rows);
}

START_TEST(rows_of_all)
{
	struct nt_row *rows;
	char *line;

	ck_assert_uint_eq(make_rows(&rows, "all"), 3);
	ck_assert_str_eq(rows[0].obj->name, "nvme0/q1");
	ck_assert_double_eq(rows[0].requests, 4 * 1000);
	ck_assert_double_eq(rows[0].bytes, 4096 * 1000);
	ck_assert_double_eq(rows[0].deferred_share, 0.75);
	ck_assert_double_eq_tol(rows[0].irq_share, 80.0 / 120, 1e-9);
	ck_assert(isnan(rows[0].interrupts));
	ck_assert_double_eq(rows[0].backlog, 3000);
	/* nothing was completed there: a share of nothing is not known */
	ck_assert_double_eq(rows[1].requests, 0);
	ck_assert(isnan(rows[1].deferred_share));
	line = nt_row_line(&rows[0], 8, 0);
	ck_assert_str_eq(line, "nvme0/q1  auto   66.7    75.0   2.93 KiB      3 us     4 k   3.91 MiB       -  0");
	free(line);
	line = nt_row_line(NULL, 8, 20);
	ck_assert_str_eq(line, "OBJECT    MODE   IRQ");
	free(line);
	nt_rows_sort(rows, 3, NT_BY_REQUESTS, false);
	ck_assert_str_eq(rows[0].obj->name, "nvme0/q10");
	ck_assert_str_eq(rows[2].obj->name, "nvme0/q2");
	nt_rows_sort(rows, 3, NT_BY_REQUESTS, true);
	ck_assert_str_eq(rows[0].obj->name, "nvme0/q2");
	/* q1 before q2 before q10, where all else is equal */
	nt_rows_sort(rows, 3, NT_BY_IRQ, false);
	ck_assert_str_eq(rows[1].obj->name, "nvme0/q2");
	nt_rows_sort(rows, 3, NT_BY_DEFERRED, false);
	ck_assert_str_eq(rows[2].obj->name, "nvme0/q2");
	nt_rows_sort(rows, 3, NT_BY_BACKLOG, false);
	ck_assert_str_eq(rows[0].obj->name, "nvme0/q10");
	nt_rows_sort(rows, 3, NT_BY_AGE, false);
	ck_assert_str_eq(rows[0].obj->name, "nvme0/q10");
	nt_rows_sort(rows, 3, NT_BY_NAME, true);
	ck_assert_str_eq(rows[0].obj->name, "nvme0/q10");
	free(rows);
}
END_TEST

START_TEST(rows_of_some)
{
	struct nt_row *rows;

	ck_assert_uint_eq(make_rows(&rows, "nvme0/q2"), 1);
	free(rows);
	ck_assert_uint_eq(nt_rows_make(&old, &now, "nvme0", &rows), 3);
	free(rows);
	ck_assert_uint_eq(nt_rows_make(&old, &now, "nvme1", &rows), 0);
	nt_rows_sort(rows, 0, NT_BY_IRQ, false);
	/* One that has come in between, and one that may not defer. */
	nt_tree_free(&old.tree);
	nt_param_set_text(nt_object_param(now.tree.objects[1], "armed"), "0", NULL);
	ck_assert_uint_eq(nt_rows_make(&old, &now, "all", &rows), 3);
	ck_assert(isnan(rows[0].requests) && isnan(rows[1].requests));
	free(rows);
}
END_TEST

/* States and events */

static char *told;

static void tell(const struct nt_event *ev, void *arg)
{
	static const char *const kinds[] = { "change", "add", "del", "lost" };
	char *more;

	more = ev->kind == NT_EVENT_PARAM ?
		nt_printf("%schange %s %s %s %s;", told, ev->object, ev->param.name, ev->old,
			  ev->param.text) :
		nt_printf("%s%s %s;", told, kinds[ev->kind], ev->object);
	free(told);
	told = more;
	if (arg)
		nt_tree_follow(arg, ev);
}

static void set_mode(struct nt_tree *tree, const char *name, const char *text)
{
	nt_param_set_text(nt_object_param(nt_tree_find(tree, name), "defer_mode"), text, NULL);
}

START_TEST(differences)
{
	struct nt_tree copy = { };

	told = nt_strdup("");
	make_tree(&old.tree, 1);
	make_tree(&now.tree, 2);
	nt_tree_diff(&old.tree, &now.tree, tell, NULL);
	/* Statistics are no state. */
	ck_assert_str_eq(told, "");
	set_mode(&now.tree, "nvme0/q2", "off");
	nt_param_set_text(nt_object_param(nt_tree_find(&now.tree, "nvme0/q1"), "armed"), "0", NULL);
	nt_tree_add(&now.tree, "nvme1");
	nt_tree_add(&now.tree, "nvme1/q1");
	nt_tree_add(&old.tree, "nvme7");
	nt_tree_add(&old.tree, "nvme7/q1");
	nt_tree_sort(&now.tree);
	nt_tree_sort(&old.tree);
	nt_tree_diff(&old.tree, &now.tree, tell, NULL);
	/* Facts are nobody's doing, so they are not told. */
	ck_assert_str_eq(told, "del nvme7/q1;del nvme7;change nvme0/q2 defer_mode inherit off;"
			 "add nvme1;add nvme1/q1;");
	nt_tree_diff(&now.tree, &copy, tell, NULL);
	free(told);
}
END_TEST

START_TEST(following)
{
	told = nt_strdup("");
	make_tree(&old.tree, 1);
	make_tree(&now.tree, 1);
	set_mode(&now.tree, "nvme0/q1", "on");
	nt_tree_add(&now.tree, "nvme0/q3");
	nt_tree_add(&old.tree, "nvme3");
	nt_tree_add(&old.tree, "nvme4");
	nt_tree_sort(&now.tree);
	nt_tree_sort(&old.tree);
	/* A state that follows what differs is the other. */
	nt_tree_diff(&old.tree, &now.tree, tell, &old.tree);
	free(told);
	told = nt_strdup("");
	nt_tree_diff(&old.tree, &now.tree, tell, NULL);
	ck_assert_str_eq(told, "");
	free(told);
}
END_TEST

START_TEST(following_what_is_so)
{
	struct nt_event ev = { .kind = NT_EVENT_PARAM, .object = "nvme0/q1" };

	make_tree(&now.tree, 1);
	ev.param.name = "defer_mode";
	ev.param.text = "off";
	ck_assert(nt_tree_follow(&now.tree, &ev));
	ck_assert(!nt_tree_follow(&now.tree, &ev));
	/* Of what is not known, all is news. */
	ev.param.name = "nosuch";
	ck_assert(nt_tree_follow(&now.tree, &ev));
	ev.object = "nvme9";
	ck_assert(nt_tree_follow(&now.tree, &ev));
	ev.kind = NT_EVENT_ADD;
	ck_assert(nt_tree_follow(&now.tree, &ev));
	ck_assert(!nt_tree_follow(&now.tree, &ev));
	ev.kind = NT_EVENT_DEL;
	ck_assert(nt_tree_follow(&now.tree, &ev));
	ck_assert(!nt_tree_follow(&now.tree, &ev));
	ev.kind = NT_EVENT_LOST;
	ck_assert(nt_tree_follow(&now.tree, &ev));
	ck_assert_uint_eq(now.tree.nr, 4);
}
END_TEST

START_TEST(seconds_and_numbers)
{
	unsigned long number;
	double seconds;

	ck_assert_int_eq(nt_take_seconds("interval", "0.5", &seconds), NT_OK);
	ck_assert_double_eq(seconds, 0.5);
	ck_assert_int_eq(nt_take_seconds("interval", "", &seconds), NT_USAGE);
	ck_assert_int_eq(nt_take_seconds("interval", "nan", &seconds), NT_USAGE);
	ck_assert_int_eq(nt_take_seconds("interval", "1s", &seconds), NT_USAGE);
	ck_assert_int_eq(nt_take_seconds("interval", "1e9", &seconds), NT_USAGE);
	ck_assert_int_eq(nt_take_number("count", "3", &number), NT_OK);
	ck_assert_uint_eq(number, 3);
	ck_assert_int_eq(nt_take_number("count", "-3", &number), NT_USAGE);
	ck_assert_int_eq(nt_take_number("count", "0", &number), NT_USAGE);
	ck_assert_int_eq(nt_take_number("count", "3x", &number), NT_USAGE);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("watch");

	tcase_add_checked_fixture(t, NULL, clear);
	tcase_add_test(t, cpus);
	tcase_add_test(t, irq_share);
	tcase_add_test(t, irqs);
	tcase_add_test(t, lists);
	tcase_add_test(t, counters);
	tcase_add_test(t, histograms);
	tcase_add_loop_test(t, metric_numbers, 0, NT_ARRAY_SIZE(numbers));
	tcase_add_test(t, openmetrics);
	tcase_add_test(t, prometheus);
	tcase_add_test(t, no_metrics);
	tcase_add_test(t, rows_of_all);
	tcase_add_test(t, rows_of_some);
	tcase_add_test(t, differences);
	tcase_add_test(t, following);
	tcase_add_test(t, following_what_is_so);
	tcase_add_test(t, seconds_and_numbers);
	return run_case("watch", t);
}
