// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks at the system, and what the verbs that watch have in common.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "watch.h"

double nt_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

void nt_sleep_until(double when)
{
	struct timespec ts = { .tv_sec = when };

	ts.tv_nsec = (when - ts.tv_sec) * 1e9;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/* Now, with milliseconds. @split: gmtime_r or localtime_r. */
static const char *nt_format_now(char buf[32], struct tm *(*split)(const time_t *, struct tm *),
				 const char *format, const char *zone)
{
	struct timespec ts;
	struct tm tm;
	size_t len;

	clock_gettime(CLOCK_REALTIME, &ts);
	split(&ts.tv_sec, &tm);
	len = strftime(buf, 32, format, &tm);
	snprintf(buf + len, 32 - len, ".%03ld%s", ts.tv_nsec / 1000000, zone);
	return buf;
}

const char *nt_timestamp(char buf[32])
{
	return nt_format_now(buf, gmtime_r, "%Y-%m-%dT%H:%M:%S", "Z");
}

const char *nt_local_time(char buf[32])
{
	return nt_format_now(buf, localtime_r, "%F %T", "");
}

/* Looks */

void nt_look_system(struct nt_look *look)
{
	char *text;

	look->at = nt_clock();
	text = nt_sys_read("/proc/stat");
	if (text)
		look->nr_cpus = nt_cpus_parse(text, &look->cpus);
	free(text);
	text = nt_sys_read("/proc/interrupts");
	if (text)
		look->nr_irqs = nt_irqs_parse(text, &look->irqs);
	free(text);
}

int nt_look_take(unsigned int what, struct nt_look *look)
{
	int ret;

	*look = (struct nt_look){ };
	ret = nt_load(what & (NT_LOAD_PARAMS | NT_LOAD_STATS), &look->tree);
	look->at = nt_clock();
	if (!ret && (what & NT_LOAD_SYSTEM))
		nt_look_system(look);
	return ret;
}

void nt_look_free(struct nt_look *look)
{
	nt_tree_free(&look->tree);
	free(look->cpus);
	free(look->irqs);
	*look = (struct nt_look){ };
}

static const struct nt_cpu *nt_look_cpu(const struct nt_look *look, unsigned int cpu)
{
	size_t i;

	for (i = 0; i < look->nr_cpus; i++)
		if (look->cpus[i].cpu == cpu)
			return &look->cpus[i];
	return NULL;
}

double nt_look_irq_share(const struct nt_look *old, const struct nt_look *now,
			 const char *list, unsigned int *which)
{
	double share, most = NAN;
	size_t i;

	for (i = 0; i < now->nr_cpus; i++) {
		static const struct nt_cpu boot;
		const struct nt_cpu *b = &now->cpus[i], *a = &boot;

		if (!nt_list_has(list, b->cpu))
			continue;
		if (old)
			a = nt_look_cpu(old, b->cpu);
		if (!a || b->total <= a->total)
			continue;
		share = (double)(nt_counted(a->hardirq, b->hardirq) +
				 nt_counted(a->softirq, b->softirq)) / (b->total - a->total);
		if (isnan(most) || share > most) {
			most = share;
			*which = b->cpu;
		}
	}
	return most;
}

static int nt_irq_cmp(const void *a, const void *b)
{
	const struct nt_irq *x = a, *y = b;

	return x->irq < y->irq ? -1 : x->irq > y->irq;
}

static const struct nt_irq *nt_look_irq(const struct nt_look *look, unsigned int irq)
{
	struct nt_irq key = { .irq = irq };

	/* The kernel lists them in order. */
	return look->nr_irqs ? bsearch(&key, look->irqs, look->nr_irqs, sizeof(key),
				       nt_irq_cmp) : NULL;
}

double nt_look_irq_rate(const struct nt_look *old, const struct nt_look *now, unsigned int irq)
{
	const struct nt_irq *a = nt_look_irq(old, irq), *b = nt_look_irq(now, irq);

	if (!a || !b || now->at <= old->at)
		return NAN;
	return nt_counted(a->count, b->count) / (now->at - old->at);
}

/* Objects and options */

int nt_select_below(const struct nt_tree *tree, const char *pattern,
		    struct nt_object ***found, size_t *nr)
{
	const struct nt_object *obj;
	size_t i;
	int ret;

	ret = nt_select(tree, pattern, found, nr);
	if (ret)
		return ret;
	free(*found);
	*found = NULL;
	*nr = 0;
	for (i = 0; i < tree->nr; i++) {
		for (obj = tree->objects[i]; obj; obj = obj->parent)
			if (nt_pattern_match(pattern, obj->name))
				break;
		if (!obj)
			continue;
		*found = nt_grow(*found, *nr, sizeof(**found));
		(*found)[(*nr)++] = tree->objects[i];
	}
	return NT_OK;
}

int nt_take_seconds(const char *option, const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	if (end == text || *end || !(*seconds >= 0.05) || *seconds > 86400)
		return nt_fail(NT_USAGE, "--%s=%s: it takes seconds, 0.05 to 86400", option, text);
	return NT_OK;
}

int nt_take_number(const char *option, const char *text, unsigned long *number)
{
	char *end;

	*number = strtoul(text, &end, 10);
	if (end == text || *end || *text == '-' || !*number || *number > 1000000000)
		return nt_fail(NT_USAGE, "--%s=%s: it takes a number from 1 on", option, text);
	return NT_OK;
}

const char *nt_no_stats(const struct nt_tree *tree)
{
	size_t i;

	for (i = 0; i < tree->nr; i++)
		if (tree->objects[i]->nr_stats || tree->objects[i]->nr_hists)
			return NULL;
	if (nt_sys_exists("/sys/kernel/debug/nvmetune") || nt.backend->ops->subscribe)
		return "no object has statistics: no controller has I/O queues";
	return "statistics cannot be read: they are in debugfs, which root can read";
}
