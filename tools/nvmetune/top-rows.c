// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lines of top: what a queue did in an interval. No I/O here.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "watch.h"

const char *const nt_sorts[] = {
	[NT_BY_IRQ] = "irq",
	[NT_BY_DEFERRED] = "deferred",
	[NT_BY_BACKLOG] = "backlog",
	[NT_BY_REQUESTS] = "requests",
	[NT_BY_AGE] = "age",
	[NT_BY_NAME] = "name",
	NULL
};

/* Making */

static const char *nt_text_of(const struct nt_object *obj, const char *name)
{
	const struct nt_param *param = nt_object_param(obj, name);

	return param ? param->in_force : "";
}

/* What was counted in hard and in soft interrupts; NAN: unknown. */
static double nt_both(const struct nt_object *old, const struct nt_object *now, const char *name)
{
	static const char *const where[] = { "irq", "softirq" };
	double sum = NAN;
	char full[64];
	size_t i;

	for (i = 0; i < NT_ARRAY_SIZE(where); i++) {
		const struct nt_stat *a, *b;

		snprintf(full, sizeof(full), "%s_%s", where[i], name);
		a = nt_object_stat(old, full);
		b = nt_object_stat(now, full);
		if (a && b)
			sum = (isnan(sum) ? 0 : sum) + nt_counted(a->value, b->value);
	}
	return sum;
}

static double nt_gauge(const struct nt_object *obj, const char *name)
{
	const struct nt_stat *stat = nt_object_stat(obj, name);

	return stat ? (double)stat->value : NAN;
}

static void nt_row_rates(struct nt_row *row, const struct nt_object *old, double seconds)
{
	bool armed = !strcmp(nt_text_of(row->obj, "armed"), "1");
	double placed = nt_both(old, row->obj, "inline");
	double deferred = nt_both(old, row->obj, "deferred");
	double bytes = nt_both(old, row->obj, "inline_bytes") +
		       nt_both(old, row->obj, "deferred_bytes");

	/* Nothing is counted while a queue may not defer: unknown, not none. */
	if (!armed && !(placed + deferred > 0))
		return;
	row->requests = (placed + deferred) / seconds;
	row->bytes = bytes / seconds;
	if (placed + deferred > 0)
		row->deferred_share = deferred / (placed + deferred);
}

static struct nt_row nt_row_make(const struct nt_look *old, const struct nt_look *now,
				 const struct nt_object *obj)
{
	const struct nt_object *was = nt_tree_find(&old->tree, obj->name);
	const struct nt_param *irq = nt_object_param(obj, "irq");
	struct nt_row row = {
		.obj = obj, .mode = nt_text_of(obj, "defer_mode"), .cpus = nt_text_of(obj, "cpus"),
		.irq_share = NAN, .interrupts = NAN, .requests = NAN, .bytes = NAN,
		.deferred_share = NAN,
	};
	unsigned int which;

	/* Without an interrupt, what its CPUs do in others is not its doing. */
	if (irq && irq->num) {
		row.irq_share = nt_look_irq_share(old, now, row.cpus, &which);
		row.interrupts = nt_look_irq_rate(old, now, irq->num);
	}
	row.backlog = nt_gauge(obj, "backlog_bytes");
	row.oldest = nt_gauge(obj, "oldest_ns");
	if (was && now->at > old->at)
		nt_row_rates(&row, was, now->at - old->at);
	return row;
}

/* Whether @pattern matches the object or one above. */
static bool nt_is_below(const struct nt_object *obj, const char *pattern)
{
	for (; obj; obj = obj->parent)
		if (nt_pattern_match(pattern, obj->name))
			return true;
	return false;
}

size_t nt_rows_make(const struct nt_look *old, const struct nt_look *now, const char *pattern,
		    struct nt_row **rows)
{
	const struct nt_object *obj;
	size_t i, nr = 0;

	*rows = NULL;
	for (i = 0; i < now->tree.nr; i++) {
		obj = now->tree.objects[i];
		if ((!obj->nr_stats && !nt_object_param(obj, "irq")) || !nt_is_below(obj, pattern))
			continue;
		*rows = nt_grow(*rows, nr, sizeof(**rows));
		(*rows)[nr++] = nt_row_make(old, now, obj);
	}
	return nr;
}

/* Sorting: the most first, names from a to z; what is not known last. */

static int nt_cmp(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return a > b ? -1 : a < b;
}

static int nt_row_cmp(const struct nt_row *a, const struct nt_row *b, enum nt_sort by)
{
	switch (by) {
	case NT_BY_IRQ:
		return nt_cmp(a->irq_share, b->irq_share);
	case NT_BY_DEFERRED:
		return nt_cmp(a->deferred_share, b->deferred_share);
	case NT_BY_BACKLOG:
		return nt_cmp(a->backlog, b->backlog);
	case NT_BY_REQUESTS:
		return nt_cmp(a->requests, b->requests);
	case NT_BY_AGE:
		return nt_cmp(a->oldest, b->oldest);
	default:
		return nt_name_cmp(a->obj->name, b->obj->name);
	}
}

struct nt_order {
	enum nt_sort by;
	bool reverse;
};

static int nt_row_order(const void *a, const void *b, void *arg)
{
	const struct nt_row *x = a, *y = b;
	const struct nt_order *o = arg;
	int ret = nt_row_cmp(x, y, o->by);

	if (ret)
		return o->reverse ? -ret : ret;
	return nt_name_cmp(x->obj->name, y->obj->name);
}

void nt_rows_sort(struct nt_row *rows, size_t nr, enum nt_sort by, bool reverse)
{
	struct nt_order order = { by, reverse };

	if (nr)
		qsort_r(rows, nr, sizeof(*rows), nt_row_order, &order);
}

/* Printing */

static const char *nt_row_number(uint32_t unit, double num, const char *behind, char *buf,
				 size_t size)
{
	char text[40];

	if (isnan(num))
		return "-";
	snprintf(buf, size, "%s%s", nt_format_rate(unit, num, text, sizeof(text)), behind);
	return buf;
}

static const char *nt_row_percent(double share, char *buf, size_t size)
{
	if (isnan(share))
		return "-";
	snprintf(buf, size, "%.1f", 100 * share);
	return buf;
}

static const struct nt_top_column {
	const char *heading;
	int width;	/* negative: to the left */
} nt_top_columns[NT_TOP_COLUMNS] = {
	{ "OBJECT", -10 }, { "MODE", -4 }, { "IRQ%", 5 }, { "DEFER%", 6 }, { "BACKLOG", 9 },
	{ "OLDEST", 8 }, { "REQ/s", 6 }, { "COPIED/s", 9 }, { "INTR/s", 6 }, { "CPUS", -4 },
};

const char *nt_row_cell(const struct nt_row *row, size_t i, char *buf, size_t size)
{
	if (!row)
		return nt_top_columns[i].heading;
	switch (i) {
	case 0:
		return row->obj->name;
	case 1:
		return *row->mode ? row->mode : "-";
	case 2:
		return nt_row_percent(row->irq_share, buf, size);
	case 3:
		return nt_row_percent(row->deferred_share, buf, size);
	case 4:
		return nt_row_number(NVMETUNE_UNIT_BYTES, row->backlog, "", buf, size);
	case 5:
		return nt_row_number(NVMETUNE_UNIT_NANOSECONDS, row->oldest, "", buf, size);
	case 6:
		return nt_row_number(NVMETUNE_UNIT_REQUESTS,
				     row->requests < 1000 ? round(row->requests) : row->requests,
				     "", buf, size);
	case 7:
		return nt_row_number(NVMETUNE_UNIT_BYTES, row->bytes, "", buf, size);
	case 8:
		return nt_row_number(NVMETUNE_UNIT_REQUESTS, row->interrupts < 1000 ?
				     round(row->interrupts) : row->interrupts, "", buf, size);
	default:
		return *row->cpus ? row->cpus : "-";
	}
}

char *nt_row_line(const struct nt_row *row, size_t wide, size_t width)
{
	char *line = nt_strdup(""), *longer, buf[64];
	size_t i, len;
	int columns;

	for (i = 0; i < NT_TOP_COLUMNS; i++) {
		columns = i ? nt_top_columns[i].width : -(int)wide;
		longer = nt_printf("%s%s%*s", line, i ? "  " : "", columns,
				   nt_row_cell(row, i, buf, sizeof(buf)));
		free(line);
		line = longer;
	}
	len = strlen(line);
	if (width && len > width)
		len = width;
	while (len && line[len - 1] == ' ')
		len--;
	line[len] = '\0';
	return line;
}
