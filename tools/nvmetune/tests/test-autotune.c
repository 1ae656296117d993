// SPDX-License-Identifier: GPL-2.0-only
/*
 * What autotune decides, on made-up figures: it has to find what there is, and nothing
 * where there is nothing.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autotune.h"
#include "run-case.h"

/* The same figures at each run of the tests. */
static uint64_t seed;

static double uniform(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(seed >> 11) / (double)(1ull << 53);
}

static double normal(void)
{
	double sum = 0;
	int i;

	for (i = 0; i < 12; i++)
		sum += uniform();
	return sum - 6;
}

START_TEST(test_median)
{
	ck_assert_double_eq(nt_median((double[]){ 3, 1, 2 }, 3), 2);
	ck_assert_double_eq(nt_median((double[]){ 4, 1, 2, 3 }, 4), 2.5);
	ck_assert_double_eq(nt_median(NULL, 0), 0);
	ck_assert_double_eq_tol(nt_spread((double[]){ 1, 2, 3, 4, 100 }, 5), 1.4826, 1e-9);
	ck_assert_double_eq(nt_spread((double[]){ 7 }, 1), 0);
}
END_TEST

START_TEST(test_weigh)
{
	static const double better[] = { .10, .11, .09, .10, .12, .10 };
	static const double one_lost[] = { .10, .11, .09, .10, .12, -0.01 };
	static const double two_lost[] = { .10, .11, -0.09, .10, .12, -0.10 };
	static const double small[] = { .010, .011, .009, .010, .012, .010 };
	double worse[6];
	struct nt_evidence ev;
	size_t i;

	nt_weigh(better, 6, .02, &ev);
	ck_assert(ev.better && !ev.worse);
	ck_assert_double_eq_tol(ev.confidence, 1 - 1.0 / 64, 1e-9);
	ck_assert_double_eq_tol(ev.gain, .10, 1e-9);
	nt_weigh(one_lost, 6, .02, &ev);
	ck_assert(ev.better);
	ck_assert_double_eq_tol(ev.confidence, 1 - 2.0 / 64, 1e-9);
	nt_weigh(two_lost, 6, .02, &ev);
	ck_assert(!ev.better && !ev.worse);
	/* Certain, and not worth it. */
	nt_weigh(small, 6, .02, &ev);
	ck_assert(!ev.better);
	nt_weigh(small, 6, 0, &ev);
	ck_assert(ev.better);
	for (i = 0; i < 6; i++)
		worse[i] = -better[i];
	nt_weigh(worse, 6, .02, &ev);
	ck_assert(ev.worse && !ev.better);
	/* Too few to tell anything, however clear. */
	nt_weigh(better, 4, .02, &ev);
	ck_assert(!ev.better);
	nt_weigh(better, 5, .02, &ev);
	ck_assert(ev.better);
	nt_weigh(NULL, 0, .02, &ev);
	ck_assert(!ev.better && !ev.worse);
}
END_TEST

/* All pairs on one side, but so far apart that the median is not to be trusted. */
START_TEST(test_noise)
{
	static const double wild[] = { .01, .50, .02, .90, .03, 1.50 };
	struct nt_evidence ev;

	nt_weigh(wild, 6, .02, &ev);
	ck_assert_double_ge(ev.confidence, .95);
	ck_assert_double_gt(ev.noise, ev.gain * .5);
	ck_assert_msg(ev.better == (ev.gain > ev.noise), "gain %g, noise %g", ev.gain, ev.noise);
}
END_TEST

/* Never says so of pairs that could still be a gain; always where they could not. */
START_TEST(test_hopeless)
{
	double gains[6];
	unsigned int signs;
	struct nt_evidence ev;
	size_t done, i;

	for (signs = 0; signs < 64; signs++) {
		for (i = 0; i < 6; i++)
			gains[i] = signs >> i & 1 ? -0.001 : .5;
		nt_weigh(gains, 6, 0, &ev);
		for (done = 0; done <= 6; done++)
			if (nt_hopeless(gains, done, 6))
				ck_assert_msg(ev.confidence < NT_CONFIDENCE, "%u at %zu", signs,
					      done);
		if (__builtin_popcount(signs) > 1)
			ck_assert(nt_hopeless(gains, 6, 6));
	}
}
END_TEST

static struct nt_sample sample(double iops, double latency, double irq)
{
	return (struct nt_sample){ .iops = iops, .bytes = iops * 4096, .latency = latency,
				   .irq = irq };
}

static enum nt_verdict judge(enum nt_goal goal, struct nt_sample a, struct nt_sample b)
{
	struct nt_sample old[6], new[6];
	struct nt_evidence ev;
	size_t i;

	for (i = 0; i < 6; i++) {
		double drift = 1 + .1 * i, jitter = 1 + .002 * (i % 3);

		old[i] = sample(a.iops * drift, a.latency / drift, a.irq);
		new[i] = sample(b.iops * drift * jitter, b.latency / drift * jitter, b.irq);
	}
	return nt_judge(goal, old, new, 6, .02, &ev);
}

START_TEST(test_judge)
{
	struct nt_sample base = sample(1000, .01, .3);

	ck_assert_int_eq(judge(NT_BALANCED, base, base), NT_IN_NOISE);
	/* A drift of half the load over the runs is in both. */
	ck_assert_int_eq(judge(NT_THROUGHPUT, base, sample(1100, .01, .3)), NT_KEEP);
	ck_assert_int_eq(judge(NT_THROUGHPUT, base, sample(900, .01, .3)), NT_WORSE);
	ck_assert_int_eq(judge(NT_THROUGHPUT, base, sample(1100, .02, .3)), NT_COSTS_LATENCY);
	ck_assert_int_eq(judge(NT_LATENCY, base, sample(1000, .008, .3)), NT_KEEP);
	ck_assert_int_eq(judge(NT_LATENCY, base, sample(800, .008, .3)), NT_COSTS_RATE);
	ck_assert_int_eq(judge(NT_BALANCED, base, sample(1100, .008, .3)), NT_KEEP);
	/* One gained and the other lost is no gain, whichever is more. */
	ck_assert_int_eq(judge(NT_BALANCED, base, sample(2000, .012, .3)), NT_COSTS_LATENCY);
	/* What deferral is for is not given up for some throughput. */
	ck_assert_int_eq(judge(NT_BALANCED, base, sample(1100, .009, .6)), NT_COSTS_IRQ);
	ck_assert_int_eq(judge(NT_BALANCED, base, sample(1100, .009, .33)), NT_KEEP);
	ck_assert_int_eq(judge(NT_INTERRUPTS, base, sample(1000, .01, .1)), NT_KEEP);
	ck_assert_int_eq(judge(NT_INTERRUPTS, base, sample(1000, .01, .27)), NT_IN_NOISE);
	ck_assert_int_eq(judge(NT_INTERRUPTS, base, sample(700, .01, .1)), NT_COSTS_RATE);
}
END_TEST

/* Of comparisons of the same with the same, few are called a gain. */
START_TEST(test_false_gains)
{
	struct nt_sample old[6], new[6];
	struct nt_evidence ev;
	int kept = 0, i, j;

	seed = 1;
	for (i = 0; i < 2000; i++) {
		for (j = 0; j < 6; j++) {
			old[j] = sample(1000 * exp(.1 * normal()), .01 * exp(.1 * normal()), .3);
			new[j] = sample(1000 * exp(.1 * normal()), .01 * exp(.1 * normal()), .3);
		}
		kept += nt_judge(NT_BALANCED, old, new, 6, .02, &ev) == NT_KEEP;
	}
	/* 3 of 64 outcomes by construction; all that is kept is compared once more. */
	ck_assert_int_lt(kept, 2000 * 5 / 100);
}
END_TEST

/* A gain of twice the noise of a run is found nearly always. */
START_TEST(test_true_gains)
{
	struct nt_sample old[6], new[6];
	struct nt_evidence ev;
	int kept = 0, i, j;

	seed = 2;
	for (i = 0; i < 1000; i++) {
		for (j = 0; j < 6; j++) {
			old[j] = sample(1000 * exp(.05 * normal()), .01, .3);
			new[j] = sample(1200 * exp(.05 * normal()), .01, .3);
		}
		kept += nt_judge(NT_THROUGHPUT, old, new, 6, .02, &ev) == NT_KEEP;
	}
	ck_assert_int_gt(kept, 850);
}
END_TEST

/* The search */

static struct nt_tree tree;
static struct nt_object *ctrl, *queue;

static struct nt_param *add(struct nt_object *obj, const char *name, uint32_t type,
			    const char *value, uint64_t min, uint64_t max)
{
	struct nt_param *param = nt_object_add_param(obj, name);

	param->described = true;
	param->type = type;
	param->inheritable = true;
	param->has_range = type != NVMETUNE_TYPE_ENUM;
	param->min = min;
	param->max = max;
	nt_param_set_text(param, "inherit", value);
	param->inherit = true;
	nt_param_parse(param, value, &param->num);
	return param;
}

static void fact(struct nt_object *obj, const char *name, const char *value)
{
	struct nt_param *param = nt_object_add_param(obj, name);

	param->read_only = true;
	nt_param_set_text(param, value, NULL);
}

static void count(struct nt_object *obj, const char *name, uint64_t value)
{
	nt_object_add_stat(obj, name)->value = value;
}

static void setup(void)
{
	static const char *const modes[] = { "off", "on", "auto" };

	ctrl = nt_tree_add(&tree, "nvme0");
	queue = nt_tree_add(&tree, "nvme0/q1");
	nt_tree_sort(&tree);
	nt_param_set_choices(add(ctrl, "defer_mode", NVMETUNE_TYPE_ENUM, "auto", 0, 0), modes, 3);
	add(ctrl, "defer_inline_bytes", NVMETUNE_TYPE_BYTES, "131072", 0, 1 << 30);
	add(ctrl, "defer_irq_share", NVMETUNE_TYPE_PERCENT, "10", 0, 100);
	add(ctrl, "defer_lanes", NVMETUNE_TYPE_COUNT, "2", 1, 8);
	add(ctrl, "resched_bytes", NVMETUNE_TYPE_BYTES, "262144", 0, 1 << 30);
	add(ctrl, "defer_backlog_bytes", NVMETUNE_TYPE_BYTES, "33554432", 65536, 1 << 30);
	fact(ctrl, "bounces", "1");
	fact(ctrl, "threaded", "0");
}

static void teardown(void)
{
	nt_tree_free(&tree);
}

/* Run the search with what a value is worth; how often something was tried. */
static int search(struct nt_search *s, double (*worth)(const char *name, const char *value))
{
	const struct nt_coord *c;
	int tried = 0;

	while (nt_search_next(s)) {
		c = &s->coords[s->at];
		ck_assert_uint_ne(s->trying, c->best);
		ck_assert_uint_lt(s->trying, c->nr);
		ck_assert_int_lt(++tried, 100);
		nt_search_result(s, worth(c->name, c->values[s->trying]) >
				    worth(c->name, c->values[c->best]));
	}
	return tried;
}

static const char *best(const struct nt_search *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		if (!strcmp(s->coords[i].name, name))
			return s->coords[i].values[s->coords[i].best];
	return "";
}

static double worth_nothing(const char *name, const char *value)
{
	return 0;
}

static double worth_more(const char *name, const char *value)
{
	return strcmp(name, "defer_mode") ? atof(value) : !strcmp(value, "on");
}

static double worth_less(const char *name, const char *value)
{
	return -worth_more(name, value);
}

static double worth_lanes(const char *name, const char *value)
{
	return strcmp(name, "defer_lanes") ? 0 : -fabs(atof(value) - 4);
}

START_TEST(test_search)
{
	struct nt_search s;
	struct nt_error err;

	/* Nothing is better: each neighbour once, and all is as it was. */
	ck_assert_int_eq(nt_space_make(ctrl, NULL, &s, &err), 0);
	ck_assert_uint_eq(s.nr, 5);
	ck_assert_int_eq(search(&s, worth_nothing), 2 + 4 * 2);
	ck_assert_str_eq(best(&s, "defer_mode"), "auto");
	ck_assert_str_eq(best(&s, "defer_lanes"), "2");
	nt_space_clear(&s);

	ck_assert_int_eq(nt_space_make(ctrl, NULL, &s, &err), 0);
	search(&s, worth_more);
	ck_assert_str_eq(best(&s, "defer_mode"), "on");
	ck_assert_str_eq(best(&s, "defer_lanes"), "8");
	ck_assert_str_eq(best(&s, "defer_irq_share"), "40");
	ck_assert_str_eq(best(&s, "defer_inline_bytes"), "2097152");
	nt_space_clear(&s);

	ck_assert_int_eq(nt_space_make(ctrl, NULL, &s, &err), 0);
	search(&s, worth_less);
	ck_assert_str_eq(best(&s, "defer_lanes"), "1");
	ck_assert_str_eq(best(&s, "defer_irq_share"), "2");
	ck_assert_str_eq(best(&s, "defer_inline_bytes"), "8192");
	nt_space_clear(&s);

	ck_assert_int_eq(nt_space_make(ctrl, "defer_lanes", &s, &err), 0);
	ck_assert_uint_eq(s.nr, 1);
	/* 4 is better, 8 is not: no look at 1. */
	ck_assert_int_eq(search(&s, worth_lanes), 2);
	ck_assert_str_eq(best(&s, "defer_lanes"), "4");
	nt_space_clear(&s);
}
END_TEST

START_TEST(test_space)
{
	struct nt_search s;
	struct nt_error err;
	struct nt_param *lanes = nt_object_param(ctrl, "defer_lanes");

	/* Limits are for safety. */
	ck_assert_int_eq(nt_space_make(ctrl, "defer_lanes,defer_backlog_bytes", &s, &err), -1);
	ck_assert_int_eq(err.code, EINVAL);
	ck_assert(strstr(err.text, "'defer_backlog_bytes'") != NULL);
	ck_assert_int_eq(nt_space_make(ctrl, "nix", &s, &err), -1);
	/* At the ends of the range, and 0, which no factor leaves. */
	nt_param_set_text(lanes, "8", NULL);
	lanes->num = 8;
	ck_assert_int_eq(nt_space_make(ctrl, "defer_lanes", &s, &err), 0);
	ck_assert_uint_eq(s.coords[0].nr, 3);
	ck_assert_uint_eq(s.coords[0].start, 2);
	search(&s, worth_less);
	ck_assert_str_eq(best(&s, "defer_lanes"), "2");
	nt_space_clear(&s);
	lanes->num = 0;
	ck_assert_int_eq(nt_space_make(ctrl, "defer_lanes", &s, &err), 0);
	ck_assert_int_eq(search(&s, worth_less), 0);
	nt_space_clear(&s);
	/* Without a description there are no ranges to stay in. */
	ck_assert_int_eq(nt_space_make(queue, NULL, &s, &err), -1);
	ck_assert_int_eq(err.code, EOPNOTSUPP);
}
END_TEST

START_TEST(test_matters)
{
	ck_assert(nt_space_matters("defer_mode", "off", false));
	ck_assert(nt_space_matters("defer_irq_share", "auto", true));
	ck_assert(!nt_space_matters("defer_irq_share", "auto", false));
	ck_assert(!nt_space_matters("defer_irq_share", "on", true));
	ck_assert(nt_space_matters("defer_lanes", "on", false));
	ck_assert(!nt_space_matters("defer_lanes", "off", true));
	ck_assert(!nt_space_matters("defer_max_age_ms", "on", true));
}
END_TEST

/* Advice */

static const struct nt_advice *advised(const struct nt_advice *a, size_t nr, const char *name)
{
	while (nr--)
		if (!strcmp(a[nr].name, name))
			return &a[nr];
	return NULL;
}

START_TEST(test_advise)
{
	struct nt_advice *a;
	size_t nr;

	/* Nothing is known that would speak against what is set. */
	ck_assert_uint_eq(nt_advise(&tree, ctrl, &a), 0);
	nt_advice_free(a, 0);

	nt_param_set_text(nt_object_param(ctrl, "defer_mode"), "off", NULL);
	count(queue, "irq_inline", 1000);
	count(queue, "irq_deferred", 10000);
	count(queue, "irq_pressure", 400);
	count(queue, "irq_queue_work", 9000);
	count(queue, "worker_max_run_ns", 250000000);
	nr = nt_advise(&tree, ctrl, &a);
	ck_assert_uint_eq(nr, 4);
	ck_assert_str_eq(advised(a, nr, "defer_mode")->proposed, "auto");
	ck_assert_str_eq(advised(a, nr, "defer_lanes")->proposed, "4");
	ck_assert_str_eq(advised(a, nr, "defer_inline_bytes")->proposed, "262144");
	ck_assert_str_eq(advised(a, nr, "resched_bytes")->proposed, "131072");
	ck_assert(strstr(advised(a, nr, "resched_bytes")->reason, "250 ms") != NULL);
	nt_advice_free(a, nr);

	/* More than the kernel takes is not proposed. */
	nt_object_param(ctrl, "defer_lanes")->num = 8;
	nr = nt_advise(&tree, ctrl, &a);
	ck_assert_ptr_null(advised(a, nr, "defer_lanes"));
	nt_advice_free(a, nr);

	/* In threads nothing is deferred, whatever has been counted before. */
	nt_param_set_text(nt_object_param(ctrl, "threaded"), "1", NULL);
	ck_assert_uint_eq(nt_advise(&tree, ctrl, &a), 0);
	nt_advice_free(a, 0);
}
END_TEST

START_TEST(test_advise_no_bounce)
{
	struct nt_advice *a;
	size_t nr;

	nt_param_set_text(nt_object_param(ctrl, "bounces"), "0", NULL);
	nt_param_set_text(nt_object_param(ctrl, "defer_mode"), "on", NULL);
	nr = nt_advise(&tree, ctrl, &a);
	ck_assert_uint_eq(nr, 1);
	ck_assert_str_eq(a[0].proposed, "auto");
	nt_advice_free(a, nr);
}
END_TEST

/* fio */

START_TEST(test_job)
{
	struct nt_load load = { .seconds = 2.5, .warmup = .5 };
	char *job = nt_load_job("; mine\n[global]\nruntime=100\n[a]\nrw=read\n [b]\nrw=write",
				&load);

	ck_assert_str_eq(job,
			 "; mine\n[global]\nruntime=100\n"
			 "time_based=1\nramp_time=500ms\nruntime=2500ms\n"
			 "[a]\nrw=read\ntime_based=1\nramp_time=500ms\nruntime=2500ms\n"
			 " [b]\nrw=write\ntime_based=1\nramp_time=500ms\nruntime=2500ms\n");
	free(job);
	job = nt_load_job("", &load);
	ck_assert_ptr_null(strstr(job, "runtime"));
	free(job);
}
END_TEST

START_TEST(test_fio)
{
	static const char good[] =
		"fio: a note\n{\n \"jobs\": [\n"
		" { \"error\": 0,\n  \"read\": { \"total_ios\": 10, \"iops\": 100.5, \"bw_bytes\": 4096,\n"
		"   \"clat_ns\": { \"percentile\": { \"99.000000\": 2000000 } } },\n"
		"  \"write\": { \"total_ios\": 5, \"iops\": 50, \"bw_bytes\": 1000,\n"
		"   \"clat_ns\": { \"percentile\": { \"99.000000\": 5000000 } } } },\n"
		" { \"error\": 0, \"read\": { \"total_ios\": 0, \"iops\": 7 } } ] }\n";
	struct nt_sample s = { .irq = .5 };
	struct nt_error err;

	ck_assert_int_eq(nt_load_parse_fio(good, &s, &err), 0);
	ck_assert_double_eq_tol(s.iops, 150.5, 1e-9);
	ck_assert_double_eq_tol(s.bytes, 5096, 1e-9);
	ck_assert_double_eq_tol(s.latency, .005, 1e-12);
	ck_assert_double_eq(s.irq, .5);
	ck_assert_int_eq(nt_load_parse_fio("fio: no such file\nmore", &s, &err), -1);
	ck_assert(strstr(err.text, "fio: no such file") != NULL);
	ck_assert_ptr_null(strchr(err.text, '\n'));
	ck_assert_int_eq(nt_load_parse_fio("{\n\"jobs\": [{\"error\": 5}]}", &s, &err), -1);
	ck_assert_int_eq(err.code, 5);
	ck_assert_int_eq(nt_load_parse_fio("{\n\"jobs\": []}", &s, &err), -1);
	ck_assert_int_eq(nt_load_parse_fio("{\n\"jobs\": 1}", &s, &err), -1);
	ck_assert_int_eq(nt_load_parse_fio("{\n", &s, &err), -1);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("autotune");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_median);
	tcase_add_test(tcase, test_weigh);
	tcase_add_test(tcase, test_noise);
	tcase_add_test(tcase, test_hopeless);
	tcase_add_test(tcase, test_judge);
	tcase_add_test(tcase, test_false_gains);
	tcase_add_test(tcase, test_true_gains);
	tcase_add_test(tcase, test_search);
	tcase_add_test(tcase, test_space);
	tcase_add_test(tcase, test_matters);
	tcase_add_test(tcase, test_advise);
	tcase_add_test(tcase, test_advise_no_bounce);
	tcase_add_test(tcase, test_job);
	tcase_add_test(tcase, test_fio);
	return run_case("autotune", tcase);
}
