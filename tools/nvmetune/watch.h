/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the verbs that watch have in common: two looks at the system and what happened
 * in between. All that computes is apart from what reads, and tested without a kernel.
 */
#ifndef NVMETUNE_WATCH_H
#define NVMETUNE_WATCH_H

#include "nvmetune.h"

/* rates.c: no I/O */

/* What a counter has counted since it was @old; if it went back, it began anew. */
static inline uint64_t nt_counted(uint64_t old, uint64_t now)
{
	return now >= old ? now - old : now;
}

/**
 * struct nt_cpu - how a CPU has spent its time, in ticks since boot
 * @cpu: its number
 * @total: all of it
 * @hardirq: in hard interrupts
 * @softirq: in soft interrupts
 */
struct nt_cpu {
	unsigned int cpu;
	uint64_t total;
	uint64_t hardirq;
	uint64_t softirq;
};

/**
 * struct nt_irq - how often an interrupt has come, on all CPUs
 * @irq: its number
 * @count: how often
 */
struct nt_irq {
	unsigned int irq;
	uint64_t count;
};

/* From /proc/stat and /proc/interrupts; their number. To be freed. */
size_t nt_cpus_parse(const char *text, struct nt_cpu **cpus);
size_t nt_irqs_parse(const char *text, struct nt_irq **irqs);

/* Lists such as "0-3,8": the next range, false: no more, or no list. */
bool nt_range_next(const char **list, unsigned int *first, unsigned int *last);
bool nt_list_has(const char *list, unsigned int number);
/* Whether each of @list, which is not empty, is in @other. */
bool nt_list_within(const char *list, const char *other);
size_t nt_list_count(const char *list);

/* What came between; *diff has buckets of its own, to be freed. @old NULL: all. */
void nt_hist_diff(const struct nt_hist *old, const struct nt_hist *now, struct nt_hist *diff);
uint64_t nt_hist_total(const struct nt_hist *hist);
/* The end of the bucket up to which @share of all is; UINT64_MAX: no end, or no value. */
uint64_t nt_hist_quantile(const struct nt_hist *hist, double share);

/* watch.c */

/**
 * struct nt_look - the system at one moment
 * @tree: objects
 * @at: when, in seconds of the monotonic clock
 * @cpus: times of CPUs
 * @nr_cpus: their number; 0: cannot be read
 * @irqs: interrupts, by number
 * @nr_irqs: their number
 */
struct nt_look {
	struct nt_tree tree;
	double at;
	struct nt_cpu *cpus;
	size_t nr_cpus;
	struct nt_irq *irqs;
	size_t nr_irqs;
};

#define NT_LOAD_SYSTEM	4	/* beside NT_LOAD_*: CPUs and interrupts, too */

int nt_look_take(unsigned int what, struct nt_look *look);
/* Only CPUs and interrupts. */
void nt_look_system(struct nt_look *look);
void nt_look_free(struct nt_look *look);
/*
 * The largest share of time, 0 to 1, that one of the CPUs in @list has spent in
 * interrupts since @old (NULL: since boot); NAN: not known. *which: that CPU.
 */
double nt_look_irq_share(const struct nt_look *old, const struct nt_look *now,
			 const char *list, unsigned int *which);
/* Interrupts a second; NAN: not known. */
double nt_look_irq_rate(const struct nt_look *old, const struct nt_look *now, unsigned int irq);

/* As nt_select(), with all that is below what @pattern matches. */
int nt_select_below(const struct nt_tree *tree, const char *pattern,
		    struct nt_object ***found, size_t *nr);
/* Values of options; NT_OK, or NT_USAGE after a message. */
int nt_take_seconds(const char *option, const char *text, double *seconds);
int nt_take_number(const char *option, const char *text, unsigned long *number);
double nt_clock(void);
/* Sleeps until nt_clock() is @when. */
void nt_sleep_until(double when);
/* Now, in UTC, as in 2026-12-01T12:00:00.123Z. */
const char *nt_timestamp(char buf[32]);
/* The same for people, in local time: 2026-12-01 13:00:00.123. */
const char *nt_local_time(char buf[32]);
/* Why there are no statistics, as they are in none of @tree; NULL: there are. */
const char *nt_no_stats(const struct nt_tree *tree);

/* openmetrics.c */

enum nt_metrics { NT_OPENMETRICS, NT_PROMETHEUS };

/* Statistics of @objs in the text format of OpenMetrics 1.0, or Prometheus'. */
void nt_metrics_print(FILE *f, struct nt_object *const *objs, size_t nr,
		      enum nt_metrics format);
/* The shortest text that reads as @value again, in the spelling that both ask for. */
const char *nt_metrics_number(double value, char *buf, size_t size);

/* top-rows.c: no I/O */

/**
 * struct nt_row - a line of top: a queue in an interval. NAN: not known
 * @obj: the queue
 * @mode: what it does with completions
 * @cpus: CPUs of its interrupt
 * @irq_share: of the busiest of these, time in interrupts, 0 to 1
 * @interrupts: a second
 * @requests: a second, while it may defer
 * @bytes: a second that are copied for these
 * @deferred_share: of the requests, 0 to 1
 * @backlog: bytes waiting
 * @oldest: age of the oldest deferred request, ns
 */
struct nt_row {
	const struct nt_object *obj;
	const char *mode;
	const char *cpus;
	double irq_share;
	double interrupts;
	double requests;
	double bytes;
	double deferred_share;
	double backlog;
	double oldest;
};

enum nt_sort { NT_BY_IRQ, NT_BY_DEFERRED, NT_BY_BACKLOG, NT_BY_REQUESTS, NT_BY_AGE, NT_BY_NAME };

extern const char *const nt_sorts[];

/* Lines of the objects in @now that match; their number. *rows is to be freed. */
size_t nt_rows_make(const struct nt_look *old, const struct nt_look *now, const char *pattern,
		    struct nt_row **rows);
void nt_rows_sort(struct nt_row *rows, size_t nr, enum nt_sort by, bool reverse);
/* The text of column @i; NULL as @row: its heading. */
#define NT_TOP_COLUMNS	10
const char *nt_row_cell(const struct nt_row *row, size_t i, char *buf, size_t size);
/* A line of all cells, the first @wide columns wide, cut at @width (0: not at all). */
char *nt_row_line(const struct nt_row *row, size_t wide, size_t width);

/* term.c: the terminal in full */

int nt_term_open(void);
void nt_term_close(void);
void nt_term_size(unsigned int *rows, unsigned int *columns);

enum nt_key { NT_KEY_NONE = -1, NT_KEY_RESIZE = 256, NT_KEY_UP, NT_KEY_DOWN, NT_KEY_PAGE_UP,
	      NT_KEY_PAGE_DOWN, NT_KEY_HOME, NT_KEY_ESCAPE, NT_KEY_OTHER, NT_KEY_GONE };

/* The next key, or NT_KEY_NONE when nt_clock() is @until. */
int nt_term_key(double until);

/* diff.c: no I/O */

/*
 * Call @take for each change between two states: objects that have come and gone, and
 * own values. @ev belongs to nt_tree_diff().
 */
void nt_tree_diff(const struct nt_tree *old, const struct nt_tree *now,
		  void (*take)(const struct nt_event *ev, void *arg), void *arg);
/* Let @tree follow the event. False: it says what is so already. */
bool nt_tree_follow(struct nt_tree *tree, const struct nt_event *ev);

#endif /* NVMETUNE_WATCH_H */
