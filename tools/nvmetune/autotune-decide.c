// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the figures of autotune say. Runs come in pairs, old and new after each other,
 * so that a drift is in both. Nothing is assumed of how figures are spread: if
 * old and new were the same, each pair could as well be the other way round.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autotune.h"

/* A share of interrupts that may be added for the sake of something else. */
#define NT_IRQ_LEAST	0.05

const char *const nt_goals[] = { "balanced", "throughput", "latency", "interrupts", NULL };

const char *const nt_verdicts[] = {
	[NT_KEEP] = "better",
	[NT_NO_GAIN] = "no clear gain",
	[NT_IN_NOISE] = "within noise",
	[NT_WORSE] = "worse",
	[NT_COSTS_RATE] = "costs throughput",
	[NT_COSTS_LATENCY] = "costs latency",
	[NT_COSTS_IRQ] = "costs interrupt time",
};

static int nt_double_cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double nt_median(const double *values, size_t nr)
{
	double *sorted, median;

	if (!nr)
		return 0;
	sorted = nt_alloc(nr * sizeof(*sorted));
	memcpy(sorted, values, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), nt_double_cmp);
	median = (sorted[nr / 2] + sorted[(nr - 1) / 2]) / 2;
	free(sorted);
	return median;
}

double nt_spread(const double *values, size_t nr)
{
	double median = nt_median(values, nr), *away = nt_alloc((nr + 1) * sizeof(*away)), spread;
	size_t i;

	for (i = 0; i < nr; i++)
		away[i] = fabs(values[i] - median);
	/* As of a normal distribution. */
	spread = 1.4826 * nt_median(away, nr);
	free(away);
	return spread;
}

/* The share of all ways to swap within pairs whose sum is @sign * sum or more. */
static double nt_by_chance(const double *gains, size_t nr, int sign)
{
	unsigned long ways = 1ul << nr, way, as_good = 0;
	double sum = 0, other;
	size_t i;

	for (i = 0; i < nr; i++)
		sum += sign * gains[i];
	for (way = 0; way < ways; way++) {
		other = 0;
		for (i = 0; i < nr; i++)
			other += way >> i & 1 ? -gains[i] : gains[i];
		/* Sums that are equal but for rounding count. */
		as_good += other >= sum - 1e-12;
	}
	return (double)as_good / ways;
}

void nt_weigh(const double *gains, size_t nr, double least, struct nt_evidence *ev)
{
	double loss;

	*ev = (struct nt_evidence){ .noise = least };
	if (!nr)
		return;
	ev->gain = nt_median(gains, nr);
	ev->noise = fmax(least, 2 * nt_spread(gains, nr) / sqrt(nr));
	ev->confidence = 1 - nt_by_chance(gains, nr, 1);
	loss = 1 - nt_by_chance(gains, nr, -1);
	ev->better = ev->gain > ev->noise && ev->confidence >= NT_CONFIDENCE;
	ev->worse = ev->gain < -ev->noise && loss >= NT_CONFIDENCE;
}

/* Each pair that lost doubles the ways that look as good as what was measured. */
bool nt_hopeless(const double *gains, size_t done, size_t nr)
{
	size_t i, lost = 0;

	for (i = 0; i < done; i++)
		lost += gains[i] <= 0;
	return ldexp(1, (int)lost - (int)nr) > 1 - NT_CONFIDENCE;
}

static double nt_log_ratio(double a, double b)
{
	return a > 0 && b > 0 ? log(a / b) : 0;
}

double nt_gain(enum nt_goal goal, const struct nt_sample *old, const struct nt_sample *new)
{
	switch (goal) {
	case NT_THROUGHPUT:
		return nt_log_ratio(new->iops, old->iops);
	case NT_LATENCY:
		return nt_log_ratio(old->latency, new->latency);
	case NT_INTERRUPTS:
		return old->irq - new->irq;
	default:
		return nt_log_ratio(new->iops, old->iops) +
		       nt_log_ratio(old->latency, new->latency);
	}
}

static double nt_least(enum nt_goal goal, double least)
{
	return goal == NT_INTERRUPTS ? fmax(least, NT_IRQ_LEAST) : least;
}

static void nt_weigh_goal(enum nt_goal goal, const struct nt_sample *old,
			  const struct nt_sample *new, size_t nr, double least,
			  struct nt_evidence *ev)
{
	double gains[NT_MAX_REPEATS];
	size_t i;

	for (i = 0; i < nr; i++)
		gains[i] = nt_gain(goal, &old[i], &new[i]);
	nt_weigh(gains, nr, nt_least(goal, least), ev);
}

enum nt_verdict nt_judge(enum nt_goal goal, const struct nt_sample *old,
			 const struct nt_sample *new, size_t nr, double least,
			 struct nt_evidence *ev)
{
	static const struct {
		enum nt_goal goal;
		enum nt_verdict verdict;
	} costs[] = {
		{ NT_THROUGHPUT, NT_COSTS_RATE },
		{ NT_LATENCY, NT_COSTS_LATENCY },
		{ NT_INTERRUPTS, NT_COSTS_IRQ },
	};
	struct nt_evidence other;
	size_t i;

	nt_weigh_goal(goal, old, new, nr, least, ev);
	if (!ev->better)
		return ev->worse ? NT_WORSE : NT_IN_NOISE;
	for (i = 0; i < NT_ARRAY_SIZE(costs); i++) {
		nt_weigh_goal(costs[i].goal, old, new, nr, least, &other);
		if (other.worse)
			return costs[i].verdict;
	}
	return NT_KEEP;
}

/* The search */

void nt_search_skip(struct nt_search *s)
{
	s->at++;
	s->step = 0;
	s->moved = false;
}

static bool nt_next_unordered(struct nt_search *s, const struct nt_coord *c)
{
	size_t next = s->step ? s->trying + 1 : 0;

	if (next == c->start)
		next++;
	if (next >= c->nr)
		return false;
	s->step = 1;
	s->trying = next;
	return true;
}

static bool nt_next_ordered(struct nt_search *s, const struct nt_coord *c)
{
	if (!s->step)
		s->step = 1;
	if (s->step > 0 && c->best + 1 < c->nr) {
		s->trying = c->best + 1;
		return true;
	}
	/* Up did not help or is at its end: down, unless up has helped. */
	if (s->step > 0) {
		if (s->moved)
			return false;
		s->step = -1;
	}
	if (!c->best)
		return false;
	s->trying = c->best - 1;
	return true;
}

bool nt_search_next(struct nt_search *s)
{
	const struct nt_coord *c;

	while (s->at < s->nr) {
		c = &s->coords[s->at];
		if (c->ordered ? nt_next_ordered(s, c) : nt_next_unordered(s, c))
			return true;
		nt_search_skip(s);
	}
	return false;
}

void nt_search_result(struct nt_search *s, bool keep)
{
	struct nt_coord *c = &s->coords[s->at];

	if (keep) {
		c->best = s->trying;
		s->moved = true;
	} else if (c->ordered && (s->moved || s->step < 0)) {
		nt_search_skip(s);
	} else if (c->ordered) {
		s->step = -1;
	}
}
