// SPDX-License-Identifier: GPL-2.0-only
/*
 * stat: counters and histograms, as they are or by intervals, for people and for
 * programs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "watch.h"

enum { NT_STAT_INTERVAL, NT_STAT_COUNT, NT_STAT_FORMAT, NT_STAT_ZERO, NT_STAT_RESET };

const struct nt_opt nt_opts_stat[] = {
	[NT_STAT_INTERVAL] = { "interval", 'i', "SECONDS",
			       "what happens in each interval, until interrupted" },
	[NT_STAT_COUNT] = { "count", 'c', "NUMBER", "so many intervals" },
	[NT_STAT_FORMAT] = { "format", 'f', "FORMAT", "text, json, openmetrics or prometheus",
			     NT_COMPLETE_WORDS, "text json openmetrics prometheus" },
	[NT_STAT_ZERO] = { "zero", 'z', NULL, "what is 0, too" },
	[NT_STAT_RESET] = { "reset", 0, NULL, "let the statistics start from 0 again" },
	{ }
};

enum nt_stat_format { NT_STAT_TEXT, NT_STAT_JSON, NT_STAT_OPENMETRICS, NT_STAT_PROMETHEUS };

/**
 * struct nt_view - what is shown and how
 * @pattern: of objects
 * @names: of statistics and histograms; none: all
 * @nr: their number
 * @zero: what is 0, too
 * @format: how
 * @interval: seconds, 0: no intervals
 * @count: so many, 0: no end
 */
struct nt_view {
	const char *pattern;
	char **names;
	int nr;
	bool zero;
	enum nt_stat_format format;
	double interval;
	unsigned long count;
};

static bool nt_view_has(const struct nt_view *v, const char *name)
{
	int i;

	for (i = 0; i < v->nr; i++)
		if (!strcmp(v->names[i], name))
			return true;
	return !v->nr;
}

/* What it was before; NULL: the object or the statistic was not there. */
static const struct nt_stat *nt_stat_before(const struct nt_object *old,
					    const struct nt_stat *stat)
{
	return old ? nt_object_stat(old, stat->name) : NULL;
}

/* For people */

static void nt_stat_row(struct nt_table *t, const struct nt_stat *stat,
			const struct nt_stat *old, double seconds)
{
	char value[64], rate[64] = "", buf[64];

	nt_format(stat->unit, stat->value, value, sizeof(value));
	if (old && stat->kind == NVMETUNE_STAT_KIND_COUNTER)
		snprintf(rate, sizeof(rate), "%s/s",
			 nt_format_rate(stat->unit, nt_counted(old->value, stat->value) / seconds,
					buf, sizeof(buf)));
	if (seconds)
		nt_table_row(t, (const char *[]){ stat->name, rate, value,
			     nt.verbose ? stat->help : "" });
	else
		nt_table_row(t, (const char *[]){ stat->name, value,
			     nt.verbose ? stat->help : "" });
}

static bool nt_stat_is_shown(const struct nt_view *v, const struct nt_stat *stat,
			     const struct nt_stat *old, double seconds)
{
	if (!nt_view_has(v, stat->name))
		return false;
	if (v->zero || v->nr)
		return true;
	/* In an interval, what did not move is what is 0. */
	if (seconds && old && stat->kind != NVMETUNE_STAT_KIND_GAUGE)
		return old->value != stat->value;
	return stat->value;
}

#define NT_BAR	40

static void nt_hist_line(const struct nt_bucket *b, uint32_t unit, uint64_t most)
{
	int bar = most ? (int)((double)b->count * NT_BAR / most + 0.5) : 0;
	char up_to[64];

	if (b->count && !bar)
		bar = 1;
	printf("    %-6s %9s  %10" PRIu64 "  %.*s\n", b->up_to == UINT64_MAX ? "more" : "up to",
	       b->up_to == UINT64_MAX ? "" : nt_format(unit, b->up_to, up_to, sizeof(up_to)),
	       b->count, bar, "########################################");
}

static void nt_hist_share(const struct nt_hist *h, double share)
{
	uint64_t up_to = nt_hist_quantile(h, share);
	char buf[64];

	if (up_to == UINT64_MAX)
		printf(", %g %% above the last limit", 100 * share);
	else
		printf(", %g %% up to %s", 100 * share,
		       nt_format(h->unit, up_to, buf, sizeof(buf)));
}

static bool nt_hist_print(const struct nt_hist *h, bool zero)
{
	uint64_t total = nt_hist_total(h), most = 0;
	size_t i, first, last;

	if (!total) {
		if (zero)
			printf("  %s: %s\n", h->name, h->nr_buckets ? "nothing counted" :
			       "off: set measure=1 to count");
		return zero;
	}
	for (i = 0; i < h->nr_buckets; i++)
		if (h->buckets[i].count > most)
			most = h->buckets[i].count;
	for (first = 0; !h->buckets[first].count; first++)
		;
	for (last = h->nr_buckets - 1; !h->buckets[last].count; last--)
		;
	printf("  %s%s%s: %" PRIu64 " values", nt_color(NT_BOLD), h->name, nt_color(NT_PLAIN),
	       total);
	nt_hist_share(h, 0.5);
	nt_hist_share(h, 0.99);
	putchar('\n');
	if (nt.verbose && *h->help)
		printf("    %s\n", h->help);
	for (i = first; i <= last; i++)
		nt_hist_line(&h->buckets[i], h->unit, most);
	return true;
}

static bool nt_stat_title(const struct nt_object *obj, bool any, bool first)
{
	if (!any)
		printf("%s%s%s%s\n", first ? "" : "\n", nt_color(NT_BOLD), obj->name,
		       nt_color(NT_PLAIN));
	return true;
}

/* Returns whether there was something to print. */
static bool nt_stat_object(const struct nt_view *v, const struct nt_object *obj,
			   const struct nt_object *old, double seconds, bool first)
{
	static const char *const totals[] = { "NAME", "VALUE", "" };
	static const char *const rates[] = { "NAME", "RATE", "TOTAL OR NOW", "" };
	struct nt_table *t = NULL;
	bool any = false;
	size_t i;

	for (i = 0; i < obj->nr_stats; i++) {
		const struct nt_stat *stat = &obj->stats[i], *was = nt_stat_before(old, stat);

		if (!nt_stat_is_shown(v, stat, was, seconds))
			continue;
		if (!t) {
			t = nt_table_new(seconds ? rates : totals, seconds ? 4 : 3);
			nt_table_indent(t, 2);
			nt_table_right(t, 1);
			if (seconds)
				nt_table_right(t, 2);
		}
		nt_stat_row(t, stat, was, seconds);
	}
	if (t) {
		any = nt_stat_title(obj, any, first);
		nt_table_print(t, stdout);
	}
	for (i = 0; i < obj->nr_hists; i++) {
		const struct nt_hist *was = old ? nt_object_hist(old, obj->hists[i].name) : NULL;
		struct nt_hist diff;

		if (!nt_view_has(v, obj->hists[i].name))
			continue;
		nt_hist_diff(seconds ? was : NULL, &obj->hists[i], &diff);
		if (nt_hist_total(&diff) || v->zero || v->nr) {
			any = nt_stat_title(obj, any, first);
			nt_hist_print(&diff, true);
		}
		free(diff.buckets);
	}
	return any;
}

static void nt_stat_print(const struct nt_view *v, struct nt_object **found, size_t nr,
			  const struct nt_look *old, double seconds)
{
	const struct nt_object *was;
	bool any = false;
	char time[32];
	size_t i;

	if (seconds)
		printf("%s%s, %.2f s%s\n", nt_color(NT_DIM), nt_timestamp(time), seconds,
		       nt_color(NT_PLAIN));
	for (i = 0; i < nr; i++) {
		was = old ? nt_tree_find(&old->tree, found[i]->name) : NULL;
		any |= nt_stat_object(v, found[i], was, seconds, !any);
	}
	if (!any)
		nt_say("%s\n", seconds ? "nothing happened" :
		       "all statistics are 0: --zero shows them");
	if (seconds)
		putchar('\n');
	fflush(stdout);
}

/* For programs */

static void nt_json_drop(const struct nt_view *v, json_object *o, const char *member)
{
	json_object *of, *kept = json_object_new_object();
	struct json_object_iterator it, end;
	const char *name;

	json_object_object_get_ex(o, member, &of);
	it = json_object_iter_begin(of);
	end = json_object_iter_end(of);
	for (; !json_object_iter_equal(&it, &end); json_object_iter_next(&it)) {
		name = json_object_iter_peek_name(&it);
		if (nt_view_has(v, name))
			json_object_object_add(kept, name,
					       json_object_get(json_object_iter_peek_value(&it)));
	}
	json_object_object_add(o, member, kept);
}

static void nt_json_interval(json_object *o, const struct nt_object *obj,
			     const struct nt_object *old, double seconds)
{
	json_object *stats, *s;
	size_t i;

	json_object_object_get_ex(o, "stats", &stats);
	for (i = 0; i < obj->nr_stats; i++) {
		const struct nt_stat *stat = &obj->stats[i], *was = nt_stat_before(old, stat);
		uint64_t delta;

		if (!was || stat->kind != NVMETUNE_STAT_KIND_COUNTER)
			continue;
		delta = nt_counted(was->value, stat->value);
		json_object_object_get_ex(stats, stat->name, &s);
		json_object_object_add(s, "delta", nt_json_u64(delta));
		json_object_object_add(s, "rate", json_object_new_double(delta / seconds));
	}
}

/* Histograms of the interval in place of those since the beginning, and back. */
static struct nt_hist *nt_swap_hists(struct nt_object *obj, const struct nt_object *old)
{
	struct nt_hist *whole = obj->hists;
	size_t i;

	obj->hists = nt_alloc((obj->nr_hists + 1) * sizeof(*whole));
	for (i = 0; i < obj->nr_hists; i++)
		nt_hist_diff(old ? nt_object_hist(old, whole[i].name) : NULL, &whole[i],
			     &obj->hists[i]);
	return whole;
}

static void nt_put_hists(struct nt_object *obj, struct nt_hist *whole)
{
	size_t i;

	for (i = 0; i < obj->nr_hists; i++)
		free(obj->hists[i].buckets);
	free(obj->hists);
	obj->hists = whole;
}

static json_object *nt_stat_json_object(const struct nt_view *v, struct nt_object *obj,
					const struct nt_object *old, double seconds)
{
	struct nt_hist *whole = NULL;
	json_object *o;

	if (seconds)
		whole = nt_swap_hists(obj, old);
	o = nt_json_object(obj, NT_LOAD_STATS);
	if (seconds) {
		nt_put_hists(obj, whole);
		nt_json_interval(o, obj, old, seconds);
	}
	if (v->nr) {
		nt_json_drop(v, o, "stats");
		nt_json_drop(v, o, "histograms");
	}
	return o;
}

/* With intervals, a line each. */
static void nt_stat_json(const struct nt_view *v, struct nt_object **found, size_t nr,
			 const struct nt_look *old, double seconds)
{
	const struct nt_object *was;
	json_object *o, *list;
	char time[32];
	size_t i;

	if (!old) {
		nt_json_begin(NULL, "objects");
		for (i = 0; i < nr; i++)
			nt_json_item(nt_stat_json_object(v, found[i], NULL, 0));
		nt_json_end();
		return;
	}
	o = json_object_new_object();
	list = json_object_new_array();
	json_object_object_add(o, "time", json_object_new_string(nt_timestamp(time)));
	json_object_object_add(o, "seconds", json_object_new_double(seconds));
	for (i = 0; i < nr; i++) {
		was = nt_tree_find(&old->tree, found[i]->name);
		json_object_array_add(list, nt_stat_json_object(v, found[i], was, seconds));
	}
	json_object_object_add(o, "objects", list);
	nt_json_line(o);
}

/* Looking */

static int nt_check_stat_names(const struct nt_view *v, struct nt_object **found, size_t nr)
{
	const char *names[256];
	size_t nr_names = 0, i, s;
	int n;

	for (n = 0; n < v->nr; n++) {
		for (i = 0; i < nr; i++)
			if (nt_object_stat(found[i], v->names[n]) ||
			    nt_object_hist(found[i], v->names[n]))
				break;
		if (i == nr)
			break;
	}
	if (n == v->nr)
		return NT_OK;
	for (i = 0; i < nr && !nr_names; i++)
		for (s = 0; s < found[i]->nr_stats && s < NT_ARRAY_SIZE(names); s++)
			names[nr_names++] = found[i]->stats[s].name;
	if (!nt_nearest(v->names[n], names, nr_names))
		return nt_fail(NT_USAGE, "no statistic is called '%s': stat --zero shows all",
			       v->names[n]);
	return nt_fail(NT_USAGE, "no statistic is called '%s': did you mean %s?", v->names[n],
		       nt_nearest(v->names[n], names, nr_names));
}

/* The objects that are meant and have statistics. NT_OK: there are some. */
static int nt_stat_select(const struct nt_view *v, const struct nt_look *look,
			  struct nt_object ***found, size_t *nr)
{
	const char *why = nt_no_stats(&look->tree);
	size_t i, left = 0;
	int ret;

	ret = nt_select_below(&look->tree, v->pattern, found, nr);
	if (ret)
		return ret;
	if (why)
		return nt_fail(NT_REFUSED, "%s", why);
	for (i = 0; i < *nr; i++)
		if ((*found)[i]->nr_stats || (*found)[i]->nr_hists)
			(*found)[left++] = (*found)[i];
	*nr = left;
	if (!left)
		return nt_fail(NT_USAGE, "%s has no statistics: queues have them", v->pattern);
	return nt_check_stat_names(v, *found, left);
}

static int nt_stat_show(const struct nt_view *v, const struct nt_look *look,
			const struct nt_look *old)
{
	double seconds = old ? look->at - old->at : 0;
	struct nt_object **found = NULL;
	size_t nr = 0;
	int ret;

	ret = nt_stat_select(v, look, &found, &nr);
	if (!ret && v->format == NT_STAT_JSON)
		nt_stat_json(v, found, nr, old, seconds);
	else if (!ret && v->format == NT_STAT_TEXT)
		nt_stat_print(v, found, nr, old, seconds);
	else if (!ret)
		nt_metrics_print(stdout, found, nr, v->format == NT_STAT_OPENMETRICS ?
				 NT_OPENMETRICS : NT_PROMETHEUS);
	free(found);
	return ret;
}

static int nt_stat_intervals(const struct nt_view *v)
{
	struct nt_look old, now = { };
	struct nt_object **found = NULL;
	unsigned long i;
	size_t nr;
	int ret;

	ret = nt_look_take(NT_LOAD_STATS, &old);
	if (ret)
		return ret;
	/* Say what is wrong now, not after an interval. */
	ret = nt_stat_select(v, &old, &found, &nr);
	free(found);
	for (i = 0; !ret && (!v->count || i < v->count); i++) {
		nt_sleep_until(old.at + v->interval);
		ret = nt_look_take(NT_LOAD_STATS, &now);
		if (!ret)
			ret = nt_stat_show(v, &now, &old);
		nt_look_free(&old);
		old = now;
		now = (struct nt_look){ };
		/* Nobody reads any more, or the disk is full. */
		if (ferror(stdout))
			break;
	}
	nt_look_free(&old);
	return ret;
}

static int nt_stat_reset(const struct nt_view *v, const struct nt_look *look)
{
	json_object *o, *list = json_object_new_array();
	struct nt_object **found = NULL;
	struct nt_error err = { };
	size_t nr = 0, i;
	int ret;

	ret = nt_stat_select(v, look, &found, &nr);
	if (!ret && !nt.backend->ops->reset_stats)
		ret = nt_fail(NT_REFUSED, "statistics are reset over netlink, which is not there");
	for (i = 0; i < nr && !ret; i++) {
		if (!nt.dry_run && nt.backend->ops->reset_stats(nt.backend, found[i]->name, &err))
			ret = nt_fail_err(&err);
		else
			nt_say("%s%s: statistics start from 0\n", nt.dry_run ? "would reset " : "",
			       found[i]->name);
		json_object_array_add(list, json_object_new_string(found[i]->name));
	}
	free(found);
	if (ret || !nt.json) {
		json_object_put(list);
		return ret;
	}
	o = json_object_new_object();
	json_object_object_add(o, "dry_run", json_object_new_boolean(nt.dry_run));
	json_object_object_add(o, "reset", list);
	nt_json_print(o);
	return ret;
}

/* Options */

static int nt_take_format(const char *text, struct nt_view *v)
{
	static const char *const names[] = { "text", "json", "openmetrics", "prometheus" };
	size_t i;

	v->format = nt.json ? NT_STAT_JSON : NT_STAT_TEXT;
	if (!text)
		return NT_OK;
	for (i = 0; i < NT_ARRAY_SIZE(names); i++) {
		if (strcmp(text, names[i]))
			continue;
		if (nt.json && i != NT_STAT_JSON)
			return nt_fail(NT_USAGE, "--json and --format=%s exclude each other", text);
		v->format = i;
		nt.json = i == NT_STAT_JSON;
		return NT_OK;
	}
	return nt_fail(NT_USAGE, "--format=%s: it is text, json, openmetrics or prometheus", text);
}

static int nt_take_view(int argc, char **args, const char **values, struct nt_view *v)
{
	int ret;

	v->pattern = argc ? args[0] : "all";
	v->names = args + 1;
	v->nr = argc > 1 ? argc - 1 : 0;
	v->zero = values[NT_STAT_ZERO];
	ret = nt_take_format(values[NT_STAT_FORMAT], v);
	if (!ret && values[NT_STAT_INTERVAL])
		ret = nt_take_seconds("interval", values[NT_STAT_INTERVAL], &v->interval);
	if (!ret && values[NT_STAT_COUNT])
		ret = nt_take_number("count", values[NT_STAT_COUNT], &v->count);
	if (ret)
		return ret;
	if (v->count && !v->interval)
		v->interval = 1;
	if (v->format >= NT_STAT_OPENMETRICS && (v->interval || v->nr))
		return nt_fail(NT_USAGE, "--format=%s is all there is, once: who collects it makes rates",
			       values[NT_STAT_FORMAT]);
	if (values[NT_STAT_RESET] && (v->interval || v->nr || v->format >= NT_STAT_OPENMETRICS))
		return nt_fail(NT_USAGE, "--reset takes objects, and no names or intervals: all of an object's start from 0");
	if (nt.dry_run && !values[NT_STAT_RESET])
		return nt_fail(NT_USAGE, "stat changes nothing without --reset: it takes no -n");
	return NT_OK;
}

int nt_run_stat(int argc, char **args, const char **values)
{
	struct nt_view v = { };
	struct nt_look look;
	int ret;

	ret = nt_take_view(argc, args, values, &v);
	if (ret)
		return ret;
	if (v.interval)
		return nt_stat_intervals(&v);
	ret = nt_look_take(NT_LOAD_STATS | (v.format >= NT_STAT_OPENMETRICS ? NT_LOAD_PARAMS : 0),
			   &look);
	if (ret)
		return ret;
	ret = values[NT_STAT_RESET] ? nt_stat_reset(&v, &look) : nt_stat_show(&v, &look, NULL);
	nt_look_free(&look);
	return ret;
}
