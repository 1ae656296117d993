// SPDX-License-Identifier: GPL-2.0-only
/*
 * Statistics in the text format of OpenMetrics 1.0, and in the one that Prometheus had
 * before it, which the textfile collector of node_exporter reads.
 *
 * Names are made of the kernel's: nvmetune_, the name, the base unit. Units are base
 * units, as both formats ask for: seconds, bytes, a ratio. Histograms have no sum, as the
 * kernel keeps none; where Prometheus' format has to have one, it is NaN.
 */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "watch.h"

#define NT_PREFIX	"nvmetune_"
#define NT_NAME_SIZE	256

/* Numbers */

/* "1.0", "1e-09", "1.073741823e+09": as Go prints a float, with at least ".0". */
const char *nt_metrics_number(double value, char *buf, size_t size)
{
	int digits, at;

	if (isnan(value) || isinf(value)) {
		snprintf(buf, size, "%s", isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
		return buf;
	}
	for (digits = 0; digits < 17; digits++) {
		snprintf(buf, size, "%.*e", digits, value);
		if (strtod(buf, NULL) == value)
			break;
	}
	at = value == 0 ? 0 : atoi(strchr(buf, 'e') + 1);
	if (at < -4 || at >= 6)
		return buf;
	snprintf(buf, size, "%.*f", digits - at > 1 ? digits - at : 1, value);
	return buf;
}

/* What a number of the kernel's is in base units. */
static double nt_scale_of(uint32_t unit)
{
	switch (unit) {
	case NVMETUNE_UNIT_NANOSECONDS:
		return 1e9;
	case NVMETUNE_UNIT_MILLISECONDS:
		return 1e3;
	case NVMETUNE_UNIT_PERCENT:
		return 1e2;
	default:
		return 1;
	}
}

static void nt_print_value(FILE *f, uint32_t unit, uint64_t value)
{
	double scale = nt_scale_of(unit);
	char buf[40];

	if (scale == 1)
		fprintf(f, "%" PRIu64, value);
	else
		fputs(nt_metrics_number(value / scale, buf, sizeof(buf)), f);
}

/* Names */

static const char *nt_base_unit(uint32_t unit)
{
	switch (unit) {
	case NVMETUNE_UNIT_BYTES:
		return "bytes";
	case NVMETUNE_UNIT_NANOSECONDS:
	case NVMETUNE_UNIT_MILLISECONDS:
		return "seconds";
	case NVMETUNE_UNIT_PERCENT:
		return "ratio";
	case NVMETUNE_UNIT_REQUESTS:
		return "requests";
	default:
		return "";
	}
}

static void nt_cut(char *name, const char *suffix)
{
	size_t len = strlen(name), end = strlen(suffix);

	if (len > end && !strcmp(name + len - end, suffix))
		name[len - end] = '\0';
}

/* Letters, digits and '_'; no digit at first. */
static void nt_clean(char *name)
{
	char *p;

	for (p = name; *p; p++)
		if (!isalnum((unsigned char)*p) || (p == name && isdigit((unsigned char)*p)))
			*p = '_';
}

static void nt_family_name(const char *name, uint32_t unit, char buf[NT_NAME_SIZE])
{
	static const char *const ends[] = {
		"_total", "_bytes", "_ns", "_ms", "_percent", "_requests",
	};
	const char *base = nt_base_unit(unit);
	size_t i;

	snprintf(buf, NT_NAME_SIZE - 16, NT_PREFIX "%s", name);
	/* The unit comes last, as the base unit; and no two families in one name. */
	for (i = 0; i < NT_ARRAY_SIZE(ends); i++)
		if (!i || unit)
			nt_cut(buf, ends[i]);
	if (*base) {
		strcat(buf, "_");
		strcat(buf, base);
	}
	nt_clean(buf);
}

static void nt_print_escaped(FILE *f, const char *text, bool quotes)
{
	const char *special = quotes ? "\n\\\"" : "\n\\";
	size_t len;

	for (;;) {
		len = strcspn(text, special);
		fwrite(text, 1, len, f);
		text += len;
		if (!*text)
			return;
		fputc('\\', f);
		fputc(*text == '\n' ? 'n' : *text, f);
		text++;
	}
}

static void nt_print_label(FILE *f, const char *before, const char *name, const char *value)
{
	fprintf(f, "%s%s=\"", before, name);
	nt_print_escaped(f, value, true);
	fputc('"', f);
}

static void nt_print_labels(FILE *f, const struct nt_object *obj, const char *le)
{
	nt_print_label(f, "{", "object", obj->name);
	if (obj->parent)
		nt_print_label(f, ",", "parent", obj->parent->name);
	if (le)
		nt_print_label(f, ",", "le", le);
	fputs("} ", f);
}

/* @sample: how samples are called, where that is not what the family is called. */
static void nt_print_head(FILE *f, const char *name, const char *sample, const char *type,
			  const char *unit, const char *help, enum nt_metrics format)
{
	if (format == NT_PROMETHEUS)
		name = sample;
	fprintf(f, "# TYPE %s %s\n", name, type);
	if (format == NT_OPENMETRICS && *unit)
		fprintf(f, "# UNIT %s %s\n", name, unit);
	if (*help) {
		fprintf(f, "# HELP %s ", name);
		nt_print_escaped(f, help, format == NT_OPENMETRICS);
		fputc('\n', f);
	}
}

/* Statistics */

static bool nt_same_stat(const struct nt_stat *a, const struct nt_stat *b)
{
	/* Names are kept once. */
	return a->name == b->name && a->unit == b->unit && a->kind == b->kind &&
	       a->described == b->described;
}

static void nt_print_stats(FILE *f, const struct nt_stat *like, struct nt_object *const *objs,
			   size_t nr, enum nt_metrics format)
{
	bool counter = like->described && like->kind == NVMETUNE_STAT_KIND_COUNTER;
	char name[NT_NAME_SIZE], sample[NT_NAME_SIZE + 8];
	const char *type = "gauge";
	size_t i, s;

	nt_family_name(like->name, like->unit, name);
	snprintf(sample, sizeof(sample), "%s%s", name, counter ? "_total" : "");
	if (counter)
		type = "counter";
	else if (!like->described)
		type = format == NT_OPENMETRICS ? "unknown" : "untyped";
	nt_print_head(f, name, sample, type, nt_base_unit(like->unit), like->help, format);
	for (i = 0; i < nr; i++) {
		for (s = 0; s < objs[i]->nr_stats; s++) {
			if (!nt_same_stat(&objs[i]->stats[s], like))
				continue;
			fputs(sample, f);
			nt_print_labels(f, objs[i], NULL);
			nt_print_value(f, like->unit, objs[i]->stats[s].value);
			fputc('\n', f);
		}
	}
}

/* Histograms */

static bool nt_same_hist(const struct nt_hist *a, const struct nt_hist *b)
{
	return a->name == b->name && a->unit == b->unit;
}

static void nt_print_hist(FILE *f, const char *name, const struct nt_object *obj,
			  const struct nt_hist *h, enum nt_metrics format)
{
	uint64_t sum = 0;
	char le[40];
	size_t i;

	for (i = 0; i < h->nr_buckets; i++) {
		if (h->buckets[i].up_to == UINT64_MAX)
			break;
		sum += h->buckets[i].count;
		nt_metrics_number(h->buckets[i].up_to / nt_scale_of(h->unit), le, sizeof(le));
		fprintf(f, "%s_bucket", name);
		nt_print_labels(f, obj, le);
		fprintf(f, "%" PRIu64 "\n", sum);
	}
	sum = nt_hist_total(h);
	fprintf(f, "%s_bucket", name);
	nt_print_labels(f, obj, "+Inf");
	fprintf(f, "%" PRIu64 "\n", sum);
	if (format == NT_OPENMETRICS)
		return;
	fprintf(f, "%s_sum", name);
	nt_print_labels(f, obj, NULL);
	fprintf(f, "NaN\n%s_count", name);
	nt_print_labels(f, obj, NULL);
	fprintf(f, "%" PRIu64 "\n", sum);
}

static void nt_print_hists(FILE *f, const struct nt_hist *like, struct nt_object *const *objs,
			   size_t nr, enum nt_metrics format)
{
	char name[NT_NAME_SIZE];
	size_t i, h;

	nt_family_name(like->name, like->unit, name);
	nt_print_head(f, name, name, "histogram", nt_base_unit(like->unit), like->help, format);
	for (i = 0; i < nr; i++)
		for (h = 0; h < objs[i]->nr_hists; h++)
			if (objs[i]->hists[h].nr_buckets &&
			    nt_same_hist(&objs[i]->hists[h], like))
				nt_print_hist(f, name, objs[i], &objs[i]->hists[h], format);
}

/* Facts, as labels to join others with */

static bool nt_label_taken(const char *name)
{
	return !strcmp(name, "object") || !strcmp(name, "parent") || !strcmp(name, "class");
}

static void nt_print_info(FILE *f, struct nt_object *const *objs, size_t nr,
			  enum nt_metrics format)
{
	const struct nt_param *param;
	char label[NT_NAME_SIZE];
	size_t i, p;

	nt_print_head(f, NT_PREFIX "object", NT_PREFIX "object_info",
		      format == NT_OPENMETRICS ? "info" : "gauge", "", "Facts of the object.",
		      format);
	for (i = 0; i < nr; i++) {
		nt_print_label(f, NT_PREFIX "object_info{", "object", objs[i]->name);
		if (objs[i]->parent)
			nt_print_label(f, ",", "parent", objs[i]->parent->name);
		nt_print_label(f, ",", "class", objs[i]->class);
		for (p = 0; p < objs[i]->nr_params; p++) {
			param = &objs[i]->params[p];
			if (!param->read_only || nt_label_taken(param->name))
				continue;
			snprintf(label, sizeof(label), "%s", param->name);
			nt_clean(label);
			nt_print_label(f, ",", label, param->text);
		}
		fputs("} 1\n", f);
	}
}

/* Families */

/* Each kind of statistic once, in the order in which they are met. */
static size_t nt_collect_stats(struct nt_object *const *objs, size_t nr,
			       const struct nt_stat ***kinds)
{
	size_t i, s, k, found = 0;

	*kinds = NULL;
	for (i = 0; i < nr; i++) {
		for (s = 0; s < objs[i]->nr_stats; s++) {
			const struct nt_stat *stat = &objs[i]->stats[s];

			/* As a rule they are in the same order everywhere. */
			if (s < found && nt_same_stat((*kinds)[s], stat))
				continue;
			for (k = 0; k < found && !nt_same_stat((*kinds)[k], stat); k++)
				;
			if (k < found)
				continue;
			*kinds = nt_grow(*kinds, found, sizeof(**kinds));
			(*kinds)[found++] = stat;
		}
	}
	return found;
}

static size_t nt_collect_hists(struct nt_object *const *objs, size_t nr,
			       const struct nt_hist ***kinds)
{
	size_t i, h, k, found = 0;

	*kinds = NULL;
	for (i = 0; i < nr; i++) {
		for (h = 0; h < objs[i]->nr_hists; h++) {
			const struct nt_hist *hist = &objs[i]->hists[h];

			if (!hist->nr_buckets)
				continue;
			for (k = 0; k < found && !nt_same_hist((*kinds)[k], hist); k++)
				;
			if (k < found)
				continue;
			*kinds = nt_grow(*kinds, found, sizeof(**kinds));
			(*kinds)[found++] = hist;
		}
	}
	return found;
}

void nt_metrics_print(FILE *f, struct nt_object *const *objs, size_t nr,
		      enum nt_metrics format)
{
	const struct nt_stat **stats;
	const struct nt_hist **hists;
	size_t nr_stats, nr_hists, i;

	if (nr)
		nt_print_info(f, objs, nr, format);
	nr_stats = nt_collect_stats(objs, nr, &stats);
	for (i = 0; i < nr_stats; i++)
		nt_print_stats(f, stats[i], objs, nr, format);
	nr_hists = nt_collect_hists(objs, nr, &hists);
	for (i = 0; i < nr_hists; i++)
		nt_print_hists(f, hists[i], objs, nr, format);
	if (format == NT_OPENMETRICS)
		fputs("# EOF\n", f);
	free(stats);
	free(hists);
}
