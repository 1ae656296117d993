/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * autotune in parts: what may be tried (autotune-space.c), how it is measured
 * (autotune-load.c), what the figures say (autotune-decide.c), what can be said
 * without any (autotune-advise.c), and the verb (autotune.c).
 */
#ifndef NVMETUNE_AUTOTUNE_H
#define NVMETUNE_AUTOTUNE_H

#include "profile.h"

/* Pairs of runs: below 5 no outcome could be told from chance, see nt_weigh(). */
#define NT_MIN_REPEATS	5
#define NT_MAX_REPEATS	12

/**
 * struct nt_sample - a run
 * @iops: requests a second
 * @bytes: bytes a second
 * @latency: seconds; p99 from fio, else the mean of the block layer
 * @irq: share of the busiest CPU's time in hard and soft interrupts, 0 to 1
 */
struct nt_sample {
	double iops;
	double bytes;
	double latency;
	double irq;
};

enum nt_goal { NT_BALANCED, NT_THROUGHPUT, NT_LATENCY, NT_INTERRUPTS };

extern const char *const nt_goals[];

/**
 * struct nt_evidence - what pairs of runs say
 * @gain: median of the pairs' gains; above 0: the new is better
 * @noise: a gain up to this may be chance
 * @confidence: that there is a gain: 1 minus the share of all ways to swap old and new
 *	within pairs that look as good as what was measured
 * @better: there is a gain, beyond noise and at NT_CONFIDENCE
 * @worse: there is a loss, likewise
 */
struct nt_evidence {
	double gain;
	double noise;
	double confidence;
	bool better;
	bool worse;
};

#define NT_CONFIDENCE	0.95

/* NT_NO_GAIN: ended early, so there is nothing to be said of how much. */
enum nt_verdict {
	NT_KEEP, NT_NO_GAIN, NT_IN_NOISE, NT_WORSE, NT_COSTS_RATE, NT_COSTS_LATENCY, NT_COSTS_IRQ,
};

extern const char *const nt_verdicts[];

/* autotune-decide.c: no I/O */

double nt_median(const double *values, size_t nr);
/* Median absolute deviation, scaled as a standard deviation. */
double nt_spread(const double *values, size_t nr);
/* @gains of @nr pairs, up to NT_MAX_REPEATS; what is below @least is no gain. */
void nt_weigh(const double *gains, size_t nr, double least, struct nt_evidence *ev);
/* Whether no outcome of the remaining of @nr pairs would be a gain, after @done. */
bool nt_hopeless(const double *gains, size_t done, size_t nr);
/* The gain of one pair for what the goal is about. */
double nt_gain(enum nt_goal goal, const struct nt_sample *old, const struct nt_sample *new);
/*
 * Whether @new is better for @goal without costing what is not its aim. @least: as a
 * share. @ev: what was found of the goal.
 */
enum nt_verdict nt_judge(enum nt_goal goal, const struct nt_sample *old,
			 const struct nt_sample *new, size_t nr, double least,
			 struct nt_evidence *ev);

/**
 * struct nt_coord - a parameter and what it may be
 * @name: the parameter
 * @values: what to try, ascending where it is a number; what it was is one of them
 * @nr: their number
 * @ordered: a number: from a value that is worse nothing better follows
 * @start: what it was
 * @best: what is best so far
 */
struct nt_coord {
	const char *name;
	char **values;
	size_t nr;
	bool ordered;
	size_t start;
	size_t best;
};

/**
 * struct nt_search - one coordinate after the other
 * @coords: the coordinates
 * @nr: their number
 * @at: which one it is at
 * @trying: index of the value that is being tried
 * @step: of ordered ones, the direction: 1 or -1; 0: not begun
 * @moved: something was kept in this direction
 */
struct nt_search {
	struct nt_coord *coords;
	size_t nr;
	size_t at;
	size_t trying;
	int step;
	bool moved;
};

/* The next to try: coords[at] with the value at @trying. False: done. */
bool nt_search_next(struct nt_search *s);
/* What came of it. */
void nt_search_result(struct nt_search *s, bool keep);
/* Leave the coordinate that it is at. */
void nt_search_skip(struct nt_search *s);

/* autotune-space.c: no I/O */

/*
 * Coordinates of @obj, those that @names (comma-separated, NULL: all) names. 0, or -1
 * with @err set.
 */
int nt_space_make(const struct nt_object *obj, const char *names, struct nt_search *s,
		  struct nt_error *err);
void nt_space_clear(struct nt_search *s);
/* Whether @name does anything in mode @mode on a device that bounces, or does not. */
bool nt_space_matters(const char *name, const char *mode, bool bounces);

/* autotune-advise.c: no I/O */

struct nt_advice {
	const char *object;
	const char *name;
	char *now;
	char *proposed;
	char *reason;
};

/* Proposals for @ctrl and its queues by facts and statistics alone. Their number. */
size_t nt_advise(const struct nt_tree *tree, const struct nt_object *ctrl,
		 struct nt_advice **advice);
void nt_advice_free(struct nt_advice *advice, size_t nr);

/* autotune-load.c */

/**
 * struct nt_load - how to measure
 * @disks: names in /sys/block; NULL at the end
 * @job: a fio job file's text, prepared; NULL: the load that runs already
 * @seconds: of a run
 * @warmup: seconds before a run that do not count
 * @stop_fd: readable when it has to stop, as a signalfd
 */
struct nt_load {
	char **disks;
	char *job;
	double seconds;
	double warmup;
	int stop_fd;
};

/* The disks of controllers, to be freed by nt_strv_free(). */
char **nt_load_disks(struct nt_object **ctrls, size_t nr);
/*
 * The text of a job file, so that each of its jobs runs for as long as @load says.
 * Options in it that would do otherwise are overridden.
 */
char *nt_load_job(const char *text, const struct nt_load *load);
/* 0, 1: has to stop, or -1 with @err set. */
int nt_load_measure(const struct nt_load *load, struct nt_sample *sample,
		    struct nt_error *err);
/* What fio has printed with --output-format=json; @irq of @sample is not touched. */
int nt_load_parse_fio(const char *text, struct nt_sample *sample, struct nt_error *err);

/* autotune-run.c */

/**
 * struct nt_trial - a value that was tried
 * @name: the parameter
 * @param: its description; NULL: it is about all of them
 * @old: what it was compared with
 * @new: the value
 * @ev: what was found
 * @verdict: what follows
 * @pairs: pairs of runs; fewer than asked for where more could not have changed it
 */
struct nt_trial {
	const char *name;
	const struct nt_param *param;
	char *old;
	char *new;
	struct nt_evidence ev;
	enum nt_verdict verdict;
	size_t pairs;
};

/**
 * struct nt_tuning - an autotune
 * @ctrls: the controllers, which get the same values
 * @nr_ctrls: their number
 * @search: what is tried, and where it stands
 * @load: how it is measured
 * @goal: what is better
 * @repeats: pairs of runs
 * @least: gains below this are none, a share
 * @bounces: all DMA of one of the controllers bounces
 * @trials: what was tried so far
 * @nr_trials: their number
 * @old: runs of the last comparison
 * @new: likewise
 * @total: all that was kept against what was before
 * @kept: something is better and in force; else what was before is
 */
struct nt_tuning {
	struct nt_object **ctrls;
	size_t nr_ctrls;
	struct nt_search search;
	struct nt_load load;
	enum nt_goal goal;
	size_t repeats;
	double least;
	bool bounces;
	struct nt_trial *trials;
	size_t nr_trials;
	struct nt_sample old[NT_MAX_REPEATS];
	struct nt_sample new[NT_MAX_REPEATS];
	struct nt_trial total;
	bool kept;
};

/* 0: ended as it should; 1: had to stop; -1 with @err set: nt_tune_put_back() then. */
int nt_tune(struct nt_tuning *t, struct nt_error *err);
int nt_tune_put_back(struct nt_tuning *t, struct nt_error *err);
/* A value of a trial for people. */
const char *nt_trial_value(const struct nt_trial *trial, const char *value, char *buf, size_t size);
/* A gain for people: per cent, or points of interrupt share. */
double nt_percent(enum nt_goal goal, double gain);

#endif /* NVMETUNE_AUTOTUNE_H */
