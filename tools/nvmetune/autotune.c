// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verb autotune: tries settings of controllers under load. Whatever ends it, what
 * was set before is set again, or, where it could not (kill -9), restore does that.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "autotune.h"

#define NT_DEFAULT_OUTPUT	"/etc/nvmetune/profiles.d/autotune.conf"

enum {
	NT_OPT_FIO, NT_OPT_GOAL, NT_OPT_NAMES, NT_OPT_OUTPUT, NT_OPT_REPEATS, NT_OPT_SECONDS,
	NT_OPT_WARMUP, NT_OPT_LEAST,
};

const struct nt_opt nt_opts_autotune[] = {
	{ "fio", 'f', "FILE", "make the load with this fio job file; default: the load that runs",
	  NT_COMPLETE_FILE },
	{ "goal", 'g', "GOAL", "balanced (default), throughput, latency or interrupts",
	  NT_COMPLETE_WORDS, "balanced throughput latency interrupts" },
	{ "parameters", 'p', "NAMES", "only these, separated by commas", NT_COMPLETE_NAME },
	{ "output", 'o', "FILE", "the profile; default: " NT_DEFAULT_OUTPUT, NT_COMPLETE_FILE },
	{ "repeats", 'r', "N", "pairs of runs for each value, 5 to 12; default: 6" },
	{ "seconds", 's', "S", "length of a run; default: 3" },
	{ "warmup", 'w', "S", "before each run, not counted; default: 1" },
	{ "min-gain", 0, "PERCENT", "what gains less is not kept; default: 2" },
	{ }
};

/* Options */

static int nt_take_number(const char *text, const char *name, double min, double max,
			  double preset, double *num)
{
	char *end;

	*num = preset;
	if (!text)
		return NT_OK;
	*num = strtod(text, &end);
	if (end != text && !*end && *num >= min && *num <= max)
		return NT_OK;
	return nt_fail(NT_USAGE, "--%s=%s: it takes %g to %g", name, text, min, max);
}

static int nt_take_job(const char *path, struct nt_load *load)
{
	FILE *f = fopen(path, "re");
	char *text;

	text = f ? nt_read_fd(fileno(f), 4096) : NULL;
	if (!text) {
		nt_fail(NT_USAGE, "cannot read the fio job file %s: %s", path, strerror(errno));
	} else {
		load->job = nt_load_job(text, load);
		if (!strstr(load->job, "runtime="))
			nt_fail(NT_USAGE, "%s has no job: see fio(1), JOB FILE FORMAT", path);
	}
	if (f)
		fclose(f);
	if (text && strstr(load->job, "runtime=")) {
		free(text);
		return NT_OK;
	}
	free(text);
	return NT_USAGE;
}

static int nt_take_options(struct nt_tuning *t, const char **values)
{
	double repeats, least;
	size_t i = 0;
	int ret;

	if (values[NT_OPT_GOAL])
		while (nt_goals[i] && strcmp(nt_goals[i], values[NT_OPT_GOAL]))
			i++;
	if (!nt_goals[i])
		return nt_fail(NT_USAGE, "--goal=%s: it takes balanced, throughput, latency or interrupts",
			       values[NT_OPT_GOAL]);
	t->goal = i;
	ret = nt_take_number(values[NT_OPT_REPEATS], "repeats", NT_MIN_REPEATS, NT_MAX_REPEATS, 6,
			     &repeats);
	if (!ret)
		ret = nt_take_number(values[NT_OPT_SECONDS], "seconds", 0.1, 3600, 3,
				     &t->load.seconds);
	if (!ret)
		ret = nt_take_number(values[NT_OPT_WARMUP], "warmup", 0, 3600, 1, &t->load.warmup);
	if (!ret)
		ret = nt_take_number(values[NT_OPT_LEAST], "min-gain", 0, 1000, 2, &least);
	if (!ret && values[NT_OPT_FIO])
		ret = nt_take_job(values[NT_OPT_FIO], &t->load);
	if (ret)
		return ret;
	t->repeats = repeats;
	t->least = least / 100;
		return NT_OK;
}

static const char *nt_in_force(const struct nt_object *obj, const char *name)
{
	const struct nt_param *param = nt_object_param(obj, name);

	return param ? param->in_force : "";
}

/* Controllers of what was named: what has a device below /sys/class/nvme. */
static int nt_take_ctrls(struct nt_tuning *t, const struct nt_tree *tree, const char *pattern)
{
	struct nt_object **found;
	size_t nr, i;
	int ret;

	ret = nt_select(tree, pattern, &found, &nr);
	if (ret)
		return ret;
	for (i = 0; i < nr; i++) {
		if (found[i]->parent || !nt_sys_exists("/sys/class/nvme/%s", found[i]->name))
			continue;
		t->ctrls = nt_grow(t->ctrls, t->nr_ctrls, sizeof(*t->ctrls));
		t->ctrls[t->nr_ctrls++] = found[i];
		t->bounces |= !strcmp(nt_in_force(found[i], "bounces"), "1");
	}
	free(found);
	if (t->nr_ctrls)
		return NT_OK;
	return nt_fail(NT_USAGE, "'%s' is no controller: autotune takes one, as nvme0, or a pattern of them",
		       pattern);
}

static bool nt_tunes(const struct nt_tuning *t, const struct nt_object *ctrl)
{
	size_t i;

	for (i = 0; i < t->nr_ctrls; i++)
		if (t->ctrls[i] == ctrl)
			return true;
	return false;
}

/* A queue with a value of its own does not follow its controller: one line says so. */
static void nt_warn_own(const struct nt_tuning *t, const struct nt_tree *tree)
{
	const struct nt_param *param, *first = NULL;
	const struct nt_object *obj, *first_obj = NULL;
	size_t i, j, nr = 0;

	for (i = 0; i < tree->nr; i++) {
		obj = tree->objects[i];
		for (j = 0; nt_tunes(t, obj->parent) && j < t->search.nr; j++) {
			param = nt_object_param(obj, t->search.coords[j].name);
			if (!param || !param->inheritable || param->inherit)
				continue;
			nr++;
			first = first ? first : param;
			first_obj = first_obj ? first_obj : obj;
		}
	}
	if (nr && !nt.quiet)
		nt_warn("%zu values of queues of their own stay as they are, as %s of %s: nvmetune reset lets them inherit",
			nr, first->name, first_obj->name);
}

/* What was found */

/* Median and lowest to highest of one figure of the runs. */
struct nt_figure {
	double median, low, high;
};

static struct nt_figure nt_figure(const struct nt_sample *samples, size_t nr, size_t offset)
{
	double values[NT_MAX_REPEATS] = { };
	struct nt_figure f;
	size_t i;

	for (i = 0; i < nr; i++)
		values[i] = *(const double *)((const char *)&samples[i] + offset);
	f = (struct nt_figure){ nt_median(values, nr), values[0], values[0] };
	for (i = 1; i < nr; i++) {
		f.low = values[i] < f.low ? values[i] : f.low;
		f.high = values[i] > f.high ? values[i] : f.high;
	}
	return f;
}

static const struct {
	const char *name;
	const char *label;
	size_t offset;
	double scale;
} nt_figures[] = {
	{ "iops", "IOPS", offsetof(struct nt_sample, iops), 1 },
	{ "bytes", "MiB/s", offsetof(struct nt_sample, bytes), 1.0 / (1 << 20) },
	{ "latency", "latency, ms", offsetof(struct nt_sample, latency), 1e3 },
	{ "irq", "busiest CPU, interrupts %", offsetof(struct nt_sample, irq), 100 },
};

static char *nt_figure_text(struct nt_figure f, double scale)
{
	return nt_printf("%.4g (%.4g to %.4g)", f.median * scale, f.low * scale, f.high * scale);
}

static void nt_print_figures(const struct nt_tuning *t)
{
	static const char *const headers[] = { "", "BEFORE", "AFTER" };
	struct nt_table *table = nt_table_new(headers, NT_ARRAY_SIZE(headers));
	char *before, *after;
	size_t i;

	for (i = 0; i < NT_ARRAY_SIZE(nt_figures); i++) {
		before = nt_figure_text(nt_figure(t->old, t->total.pairs, nt_figures[i].offset),
					nt_figures[i].scale);
		after = nt_figure_text(nt_figure(t->new, t->total.pairs, nt_figures[i].offset),
				       nt_figures[i].scale);
		nt_table_row(table, (const char *[]){ nt_figures[i].label, before, after });
		free(before);
		free(after);
	}
	printf("\nAll that was kept against what was before; medians of %zu runs each, lowest and highest:\n",
	       t->total.pairs);
	nt_table_print(table, stdout);
}

static void nt_print_trial(const struct nt_tuning *t, const struct nt_trial *trial,
			   struct nt_table *table)
{
	char gain[32], noise[32] = "", confidence[32] = "", pairs[32], old[128], new[128];

	snprintf(gain, sizeof(gain), "%+.1f %%", nt_percent(t->goal, trial->ev.gain));
	/* Of few pairs there is no telling. */
	if (trial->verdict != NT_NO_GAIN) {
		snprintf(noise, sizeof(noise), "%.1f %%", nt_percent(t->goal, trial->ev.noise));
		snprintf(confidence, sizeof(confidence), "%.0f %%", trial->ev.confidence * 100);
	}
	snprintf(pairs, sizeof(pairs), "%zu", trial->pairs);
	nt_table_row(table, (const char *[]){
		trial->name, nt_trial_value(trial, trial->old, old, sizeof(old)),
		nt_trial_value(trial, trial->new, new, sizeof(new)), gain, noise, confidence,
		pairs, nt_verdicts[trial->verdict],
	});
}

static void nt_print_report(const struct nt_tuning *t)
{
	static const char *const headers[] = {
		"PARAMETER", "FROM", "TO", "GAIN", "NOISE", "CONFIDENCE", "PAIRS", "",
	};
	struct nt_table *table = nt_table_new(headers, NT_ARRAY_SIZE(headers));
	size_t i;

	for (i = 1; i < 7; i++)
		nt_table_right(table, i);
	for (i = 0; i < t->nr_trials; i++)
		nt_print_trial(t, &t->trials[i], table);
	if (t->total.pairs)
		nt_print_trial(t, &t->total, table);
	printf("\n");
	nt_table_print(table, stdout);
	if (t->total.pairs)
		nt_print_figures(t);
	if (t->kept)
		printf("\nKept: it is better than what was before by more than the noise.\n");
	else if (t->total.pairs)
		printf("\nNot kept: together, the changes are no gain beyond the noise.\n");
	else
		printf("\nNothing was better by more than the noise.\n");
	if (!t->kept)
		printf("What was before is set.\n");
}

static json_object *nt_json_trial(const struct nt_tuning *t, const struct nt_trial *trial)
{
	json_object *o = json_object_new_object();

	json_object_object_add(o, "name", json_object_new_string(trial->name));
	json_object_object_add(o, "from", json_object_new_string(trial->old));
	json_object_object_add(o, "to", json_object_new_string(trial->new));
	json_object_object_add(o, "gain_percent",
			       json_object_new_double(nt_percent(t->goal, trial->ev.gain)));
	json_object_object_add(o, "noise_percent",
			       json_object_new_double(nt_percent(t->goal, trial->ev.noise)));
	json_object_object_add(o, "confidence", json_object_new_double(trial->ev.confidence));
	json_object_object_add(o, "pairs", json_object_new_int64(trial->pairs));
	json_object_object_add(o, "verdict",
			       json_object_new_string(nt_verdicts[trial->verdict]));
	return o;
}

static json_object *nt_json_figures(const struct nt_sample *samples, size_t nr)
{
	json_object *o = json_object_new_object(), *one;
	struct nt_figure f;
	size_t i;

	for (i = 0; i < NT_ARRAY_SIZE(nt_figures); i++) {
		f = nt_figure(samples, nr, nt_figures[i].offset);
		one = json_object_new_object();
		json_object_object_add(one, "median", json_object_new_double(f.median));
		json_object_object_add(one, "low", json_object_new_double(f.low));
		json_object_object_add(one, "high", json_object_new_double(f.high));
		json_object_object_add(o, nt_figures[i].name, one);
	}
	return o;
}

static void nt_json_report(const struct nt_tuning *t, const char *path)
{
	json_object *o = json_object_new_object(), *trials = json_object_new_array();
	size_t i;

	for (i = 0; i < t->nr_trials; i++)
		json_object_array_add(trials, nt_json_trial(t, &t->trials[i]));
	json_object_object_add(o, "goal", json_object_new_string(nt_goals[t->goal]));
	json_object_object_add(o, "kept", json_object_new_boolean(t->kept));
	json_object_object_add(o, "profile", path ? json_object_new_string(path) : NULL);
	json_object_object_add(o, "trials", trials);
	if (t->total.pairs) {
		json_object_object_add(o, "total", nt_json_trial(t, &t->total));
		json_object_object_add(o, "before", nt_json_figures(t->old, t->total.pairs));
		json_object_object_add(o, "after", nt_json_figures(t->new, t->total.pairs));
	}
	nt_json_print(o);
}

static int nt_write_profile(const struct nt_tuning *t, const char *path)
{
	char *text = NULL;
	const struct nt_coord *c;
	size_t size, i, j;
	FILE *f = open_memstream(&text, &size);
	int ret;

	if (!f)
		exit(nt_fail(NT_REFUSED, "out of memory"));
	fprintf(f, "# Found by nvmetune autotune: %+.1f %%, noise %.1f %%, confidence %.0f %%.\n"
		"description = found by autotune, goal: %s\n",
		nt_percent(t->goal, t->total.ev.gain), nt_percent(t->goal, t->total.ev.noise),
		t->total.ev.confidence * 100, nt_goals[t->goal]);
	for (i = 0; i < t->nr_ctrls; i++) {
		fprintf(f, "\n[%s]\n", t->ctrls[i]->name);
		for (j = 0; j < t->search.nr; j++) {
			c = &t->search.coords[j];
			if (c->best != c->start)
				fprintf(f, "%s = %s\n", c->name, c->values[c->best]);
		}
	}
	fclose(f);
	ret = nt_make_parents(path) || nt_write_atomic(path, text);
	free(text);
	return !ret ? NT_OK :
		nt_fail(NT_REFUSED, "cannot write %s: %s: the changes are in force, and nvmetune save saves them",
			path, strerror(errno));
}

static int nt_report(const struct nt_tuning *t, const char *output)
{
	char *path = output ? nt_strdup(output) : nt_sys_path(NT_DEFAULT_OUTPUT);
	int ret = t->kept ? nt_write_profile(t, path) : NT_OK;

	if (nt.json)
		nt_json_report(t, t->kept && !ret ? path : NULL);
	else
		nt_print_report(t);
	if (t->kept && !ret)
		nt_say("Profile: %s. nvmetune restore goes back to what was before.\n", path);
	free(path);
	return ret;
}

/* -n: proposals */

static void nt_print_advice(const struct nt_tuning *t, const struct nt_advice *a, size_t nr,
			    json_object *list)
{
	json_object *o;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!list) {
			printf("%s %s: %s -> %s\n    %s\n", a[i].object, a[i].name, a[i].now,
			       a[i].proposed, a[i].reason);
			continue;
		}
		o = json_object_new_object();
		json_object_object_add(o, "object", json_object_new_string(a[i].object));
		json_object_object_add(o, "name", json_object_new_string(a[i].name));
		json_object_object_add(o, "now", json_object_new_string(a[i].now));
		json_object_object_add(o, "proposed", json_object_new_string(a[i].proposed));
		json_object_object_add(o, "reason", json_object_new_string(a[i].reason));
		json_object_array_add(list, o);
	}
}

static int nt_propose_all(const struct nt_tuning *t, const struct nt_tree *tree)
{
	json_object *o, *list = nt.json ? json_object_new_array() : NULL;
	struct nt_advice *advice;
	size_t i, nr, all = 0;

	for (i = 0; i < t->nr_ctrls; i++) {
		nr = nt_advise(tree, t->ctrls[i], &advice);
		nt_print_advice(t, advice, nr, list);
		nt_advice_free(advice, nr);
		all += nr;
	}
	if (nt.json) {
		o = json_object_new_object();
		json_object_object_add(o, "dry_run", json_object_new_boolean(true));
		json_object_object_add(o, "proposals", list);
		nt_json_print(o);
	}
	if (!all)
		nt_say("nothing to propose from facts and statistics: without -n, autotune measures\n");
	return NT_OK;
}

/* The verb */

/* Signals that end it are read like a file, at the one place where it waits. */
static int nt_stop_fd(sigset_t *old)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, old);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int nt_ended(struct nt_tuning *t, int ret, const struct nt_error *err)
{
	struct nt_error back = { };

	if (nt_tune_put_back(t, &back))
		return nt_fail(NT_REFUSED, "cannot set again what was before: %s: nvmetune restore tries again",
			       back.text);
	nt_state_undo();
	if (ret > 0)
		return nt_fail(NT_REFUSED, "interrupted: what was before is set again");
	return nt_fail(NT_REFUSED, "%s; what was before is set", err->text);
}

static int nt_tune_kept(struct nt_tuning *t, const struct nt_tree *tree, const char *output)
{
	struct nt_error err = { };
	int ret;

	nt_state_recover(tree);
	if (nt_state_store(tree))
		return NT_REFUSED;
	ret = nt_tune(t, &err);
	if (ret)
		return nt_ended(t, ret, &err);
	if (t->kept)
		nt_state_commit();
	else
		nt_state_undo();
	return nt_report(t, output);
}

static int nt_tune_locked(struct nt_tuning *t, const struct nt_tree *tree, const char *output)
{
	struct signalfd_siginfo info;
	sigset_t old;
	int ret;

	t->load.stop_fd = nt_stop_fd(&old);
	ret = nt_tune_kept(t, tree, output);
	/* A signal that is still waiting has done what it was for. */
	while (read(t->load.stop_fd, &info, sizeof(info)) > 0)
		;
	close(t->load.stop_fd);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return ret;
}

static int nt_tune_ctrls(struct nt_tuning *t, const struct nt_tree *tree, const char **values)
{
	struct nt_error err;
	int lock, ret;

	if (nt_space_make(t->ctrls[0], values[NT_OPT_NAMES], &t->search, &err))
		return nt_fail(err.code == EINVAL ? NT_USAGE : NT_REFUSED, "%s", err.text);
	t->load.disks = nt_load_disks(t->ctrls, t->nr_ctrls);
	if (!*t->load.disks && !t->load.job)
		return nt_fail(NT_REFUSED, "%s has no disk whose load could be measured: name a fio job file with --fio",
			       t->ctrls[0]->name);
	nt_warn_own(t, tree);
	lock = nt_state_lock(false);
	if (lock < 0)
		return NT_REFUSED;
	ret = nt_tune_locked(t, tree, values[NT_OPT_OUTPUT]);
	close(lock);
	return ret;
}

static void nt_tuning_clear(struct nt_tuning *t)
{
	size_t i;

	for (i = 0; i < t->nr_trials; i++) {
		free(t->trials[i].old);
		free(t->trials[i].new);
	}
	free(t->trials);
	free(t->ctrls);
	nt_space_clear(&t->search);
	nt_strv_free(t->load.disks);
	free(t->load.job);
}

int nt_run_autotune(int argc, char **args, const char **values)
{
	struct nt_tuning t = { };
	struct nt_tree tree;
	int ret;

	if (argc > 1)
		return nt_fail(NT_USAGE, "autotune takes one object: see nvmetune help autotune");
	ret = nt_take_options(&t, values);
	if (!ret)
		ret = nt_load(NT_LOAD_PARAMS | (nt.dry_run ? NT_LOAD_STATS : 0), &tree);
	if (ret)
		goto clear;
	ret = nt_take_ctrls(&t, &tree, argc ? args[0] : "all");
	if (!ret)
		ret = nt.dry_run ? nt_propose_all(&t, &tree) : nt_tune_ctrls(&t, &tree, values);
	nt_tree_free(&tree);
clear:
	nt_tuning_clear(&t);
	return ret;
}
