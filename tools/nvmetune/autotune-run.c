// SPDX-License-Identifier: GPL-2.0-only
/*
 * The search of autotune: sets values, measures, keeps what is better.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autotune.h"

/* Setting */

static const char *nt_best(const struct nt_search *s, size_t i)
{
	return s->coords[i].values[s->coords[i].best];
}

typedef const char *(*nt_values_fn)(struct nt_tuning *t, size_t ctrl, size_t coord);

/* A value for each coordinate of each controller, in one request. */
static int nt_set_all(struct nt_tuning *t, nt_values_fn value, struct nt_error *err)
{
	size_t nr = t->nr_ctrls * t->search.nr, i;
	struct nt_change *changes = nt_alloc(nr * sizeof(*changes));
	int ret;

	for (i = 0; i < nr; i++)
		changes[i] = (struct nt_change){
			.object = (char *)t->ctrls[i / t->search.nr]->name,
			.name = (char *)t->search.coords[i % t->search.nr].name,
			.value = (char *)value(t, i / t->search.nr, i % t->search.nr),
		};
	ret = nt.backend->ops->set(nt.backend, changes, nr, err);
	free(changes);
	return ret;
}

/* The own value, "inherit" included. */
static const char *nt_value_before(struct nt_tuning *t, size_t ctrl, size_t coord)
{
	return nt_object_param(t->ctrls[ctrl], t->search.coords[coord].name)->text;
}

/* Controllers that differed before are not made equal by what is not better. */
static const char *nt_value_at(struct nt_tuning *t, size_t ctrl, size_t coord, size_t index)
{
	const struct nt_coord *c = &t->search.coords[coord];

	return index == c->start ? nt_value_before(t, ctrl, coord) : c->values[index];
}

static const char *nt_value_best(struct nt_tuning *t, size_t ctrl, size_t coord)
{
	return nt_value_at(t, ctrl, coord, t->search.coords[coord].best);
}

static const char *nt_value_trying(struct nt_tuning *t, size_t ctrl, size_t coord)
{
	const struct nt_search *s = &t->search;

	return nt_value_at(t, ctrl, coord, coord == s->at ? s->trying : s->coords[coord].best);
}

/* Measuring */

const char *nt_trial_value(const struct nt_trial *trial, const char *value, char *buf, size_t size)
{
	if (trial->param)
		return nt_param_show(trial->param, value, buf, size);
	snprintf(buf, size, "%s", value);
	return buf;
}

static void nt_progress(const struct nt_tuning *t, const struct nt_trial *trial, size_t pair)
{
	char old[128], new[128];

	if (nt.quiet || nt.json || !isatty(STDERR_FILENO))
		return;
	nt_trial_value(trial, trial->old, old, sizeof(old));
	nt_trial_value(trial, trial->new, new, sizeof(new));
	fprintf(stderr, "\r\033[K%s %s -> %s: pair %zu of at most %zu", trial->name, old, new,
		pair + 1, t->repeats);
	fflush(stderr);
}

static void nt_progress_end(void)
{
	if (!nt.quiet && !nt.json && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

static int nt_run_with(struct nt_tuning *t, nt_values_fn values, struct nt_sample *sample,
		       struct nt_error *err)
{
	return nt_set_all(t, values, err) ? -1 : nt_load_measure(&t->load, sample, err);
}

/*
 * Pairs of runs, in turn old first and new first: what an order does to the second is
 * not for one side alone. Ends early when it can be no gain any more. 0, 1: has to
 * stop, -1: error.
 */
static int nt_compare(struct nt_tuning *t, nt_values_fn old, nt_values_fn new,
		      struct nt_trial *trial, bool all_pairs, struct nt_error *err)
{
	double gains[NT_MAX_REPEATS];
	bool early = false;
	size_t i;
	int ret;

	for (i = 0; i < t->repeats && !early; i++) {
		nt_progress(t, trial, i);
		ret = i & 1 ? nt_run_with(t, new, &t->new[i], err) :
			      nt_run_with(t, old, &t->old[i], err);
		if (!ret)
			ret = i & 1 ? nt_run_with(t, old, &t->old[i], err) :
				      nt_run_with(t, new, &t->new[i], err);
		if (ret)
			return ret;
		gains[i] = nt_gain(t->goal, &t->old[i], &t->new[i]);
		early = !all_pairs && i + 1 < t->repeats && nt_hopeless(gains, i + 1, t->repeats);
	}
	trial->pairs = i;
	trial->verdict = nt_judge(t->goal, t->old, t->new, i, t->least, &trial->ev);
	if (early)
		trial->verdict = NT_NO_GAIN;
	return 0;
}

static void nt_say_trial(const struct nt_tuning *t, const struct nt_trial *trial)
{
	char old[128], new[128];

	nt_progress_end();
	nt_trial_value(trial, trial->old, old, sizeof(old));
	nt_trial_value(trial, trial->new, new, sizeof(new));
	nt_say("%s %s -> %s: %+.1f %% (%zu %s): %s\n", trial->name, old, new,
	       nt_percent(t->goal, trial->ev.gain), trial->pairs,
	       trial->pairs == 1 ? "pair" : "pairs", nt_verdicts[trial->verdict]);
	fflush(stdout);
}

double nt_percent(enum nt_goal goal, double gain)
{
	return 100 * (goal == NT_INTERRUPTS ? gain : expm1(gain));
}

/* The mode that holds with what is best so far. */
static const char *nt_mode(const struct nt_tuning *t)
{
	size_t i;

	for (i = 0; i < t->search.nr; i++)
		if (!strcmp(t->search.coords[i].name, "defer_mode"))
			return nt_best(&t->search, i);
	return nt_object_param(t->ctrls[0], "defer_mode") ?
		nt_object_param(t->ctrls[0], "defer_mode")->in_force : "";
}

static struct nt_trial *nt_new_trial(struct nt_tuning *t)
{
	const struct nt_coord *c = &t->search.coords[t->search.at];
	struct nt_trial *trial;

	t->trials = nt_grow(t->trials, t->nr_trials, sizeof(*t->trials));
	trial = &t->trials[t->nr_trials++];
	*trial = (struct nt_trial){
		.name = c->name,
		.param = nt_object_param(t->ctrls[0], c->name),
		.old = nt_strdup(c->values[c->best]),
		.new = nt_strdup(c->values[t->search.trying]),
	};
	return trial;
}

static int nt_search_all(struct nt_tuning *t, struct nt_error *err)
{
	struct nt_trial *trial;
	const char *name;
	int ret;

	while (nt_search_next(&t->search)) {
		name = t->search.coords[t->search.at].name;
		if (!nt_space_matters(name, nt_mode(t), t->bounces)) {
			nt_search_skip(&t->search);
			continue;
		}
		trial = nt_new_trial(t);
		ret = nt_compare(t, nt_value_best, nt_value_trying, trial, false, err);
		if (ret)
			return ret;
		nt_say_trial(t, trial);
		nt_search_result(&t->search, trial->verdict == NT_KEEP);
		t->kept |= trial->verdict == NT_KEEP;
	}
	return 0;
}

/*
 * All that was kept against what was before: many comparisons find something by chance,
 * one more finds that out.
 */
static int nt_confirm(struct nt_tuning *t, struct nt_error *err)
{
	int ret;

	t->total = (struct nt_trial){ .name = "all changes", .old = "before", .new = "after" };
	ret = nt_compare(t, nt_value_before, nt_value_best, &t->total, true, err);
	if (ret)
		return ret;
	nt_progress_end();
	t->kept = t->total.verdict == NT_KEEP;
	return nt_set_all(t, t->kept ? nt_value_best : nt_value_before, err);
}

int nt_tune(struct nt_tuning *t, struct nt_error *err)
{
	int ret = nt_search_all(t, err);

	if (!ret && t->kept)
		return nt_confirm(t, err);
	return ret ? ret : nt_set_all(t, nt_value_before, err);
}

int nt_tune_put_back(struct nt_tuning *t, struct nt_error *err)
{
	nt_progress_end();
	t->kept = false;
	return nt_set_all(t, nt_value_before, err);
}
