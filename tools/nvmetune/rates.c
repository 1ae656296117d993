// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happened between two looks at counters, and what lists and files of /proc say.
 * No I/O here.
 */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "watch.h"

/* Files */

/* The number at *p, past blanks; *p is left behind it. False: there is none. */
static bool nt_next_number(const char **p, uint64_t *num)
{
	char *end;

	*p += strspn(*p, " \t");
	if (!isdigit((unsigned char)**p))
		return false;
	*num = strtoull(*p, &end, 10);
	*p = end;
	return true;
}

static const char *nt_next_line(const char *line)
{
	line = strchr(line, '\n');
	return line ? line + 1 : NULL;
}

/* user nice system idle iowait irq softirq steal guest guest_nice */
#define NT_CPU_FIELDS	8	/* the last two are in the first */
#define NT_CPU_HARDIRQ	5
#define NT_CPU_SOFTIRQ	6

size_t nt_cpus_parse(const char *text, struct nt_cpu **cpus)
{
	struct nt_cpu cpu;
	uint64_t num;
	size_t nr = 0;
	int i;

	*cpus = NULL;
	for (; text; text = nt_next_line(text)) {
		const char *p = text + 3;

		if (strncmp(text, "cpu", 3) || !isdigit((unsigned char)*p))
			continue;
		nt_next_number(&p, &num);
		cpu = (struct nt_cpu){ .cpu = num };
		for (i = 0; i < NT_CPU_FIELDS && nt_next_number(&p, &num); i++) {
			cpu.total += num;
			if (i == NT_CPU_HARDIRQ)
				cpu.hardirq = num;
			else if (i == NT_CPU_SOFTIRQ)
				cpu.softirq = num;
		}
		*cpus = nt_grow(*cpus, nr, sizeof(cpu));
		(*cpus)[nr++] = cpu;
	}
	return nr;
}

size_t nt_irqs_parse(const char *text, struct nt_irq **irqs)
{
	struct nt_irq irq;
	uint64_t num;
	size_t nr = 0;

	*irqs = NULL;
	for (; text; text = nt_next_line(text)) {
		const char *p = text;

		/* Those with names are not drivers'. */
		if (!nt_next_number(&p, &num) || *p++ != ':')
			continue;
		irq = (struct nt_irq){ .irq = num };
		while (nt_next_number(&p, &num))
			irq.count += num;
		*irqs = nt_grow(*irqs, nr, sizeof(irq));
		(*irqs)[nr++] = irq;
	}
	return nr;
}

/* Lists */

static bool nt_range_number(const char **p, unsigned int *num)
{
	unsigned long value;
	char *end;

	if (!isdigit((unsigned char)**p))
		return false;
	value = strtoul(*p, &end, 10);
	*p = end;
	*num = value;
	return value <= INT_MAX;
}

bool nt_range_next(const char **list, unsigned int *first, unsigned int *last)
{
	const char *p = *list;

	p += strspn(p, ", ");
	if (!nt_range_number(&p, first))
		return false;
	*last = *first;
	if (*p == '-') {
		p++;
		if (!nt_range_number(&p, last) || *last < *first)
			return false;
	}
	*list = p;
	return true;
}

bool nt_list_has(const char *list, unsigned int number)
{
	unsigned int first, last;

	while (nt_range_next(&list, &first, &last))
		if (number >= first && number <= last)
			return true;
	return false;
}

size_t nt_list_count(const char *list)
{
	unsigned int first, last;
	size_t nr = 0;

	while (nt_range_next(&list, &first, &last))
		nr += last - first + 1;
	return nr;
}

/* More CPUs than Linux can have. */
#define NT_MAX_CPU	65536

bool nt_list_within(const char *list, const char *other)
{
	unsigned int first, last, i;
	bool any = false;

	while (nt_range_next(&list, &first, &last)) {
		if (last >= NT_MAX_CPU)
			return false;
		for (i = first; i <= last; i++)
			if (!nt_list_has(other, i))
				return false;
		any = true;
	}
	return any;
}

/* Histograms */

void nt_hist_diff(const struct nt_hist *old, const struct nt_hist *now, struct nt_hist *diff)
{
	bool same = old && old->nr_buckets == now->nr_buckets;
	size_t i;

	/* What was reset in between counts from 0, all buckets of it. */
	for (i = 0; same && i < now->nr_buckets; i++)
		if (now->buckets[i].count < old->buckets[i].count)
			same = false;
	*diff = *now;
	diff->buckets = NULL;
	diff->nr_buckets = 0;
	for (i = 0; i < now->nr_buckets; i++)
		nt_hist_add(diff, now->buckets[i].up_to, now->buckets[i].count -
			    (same ? old->buckets[i].count : 0));
}

uint64_t nt_hist_total(const struct nt_hist *hist)
{
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < hist->nr_buckets; i++)
		total += hist->buckets[i].count;
	return total;
}

uint64_t nt_hist_quantile(const struct nt_hist *hist, double share)
{
	uint64_t total = nt_hist_total(hist), sum = 0;
	size_t i;

	for (i = 0; total && i < hist->nr_buckets; i++) {
		sum += hist->buckets[i].count;
		if ((double)sum >= share * (double)total)
			return hist->buckets[i].up_to;
	}
	return UINT64_MAX;
}
