// SPDX-License-Identifier: GPL-2.0-only
/*
 * top: queues by what they do, live. Where stdout is no terminal, or with --batch, the
 * same as lines; with --json an object for each interval.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "watch.h"

enum { NT_TOP_INTERVAL, NT_TOP_COUNT, NT_TOP_SORT, NT_TOP_REVERSE, NT_TOP_BATCH };

const struct nt_opt nt_opts_top[] = {
	[NT_TOP_INTERVAL] = { "interval", 'i', "SECONDS", "look so often; default: 1" },
	[NT_TOP_COUNT] = { "count", 'c', "NUMBER", "end after so many intervals" },
	[NT_TOP_SORT] = { "sort", 's', "BY", "irq, deferred, backlog, requests, age or name",
			  NT_COMPLETE_WORDS, "irq deferred backlog requests age name" },
	[NT_TOP_REVERSE] = { "reverse", 'r', NULL, "the least first" },
	[NT_TOP_BATCH] = { "batch", 'b', NULL, "lines, as where stdout is no terminal" },
	{ }
};

/**
 * struct nt_top - a run of it
 * @pattern: what is shown of all
 * @interval: seconds
 * @left: intervals until it ends; 0: no end
 * @by: order of lines
 * @reverse: the other way around
 * @offset: lines above that are not shown
 * @input: what is being typed as a new pattern
 * @typing: something is
 * @help: the keys are shown
 * @paused: time stands still
 * @message: what the last key did not do
 * @old: the look before
 * @now: the last look
 */
struct nt_top {
	char pattern[256];
	double interval;
	unsigned long left;
	enum nt_sort by;
	bool reverse;
	size_t offset;
	char input[256];
	bool typing;
	bool help;
	bool paused;
	char message[128];
	struct nt_look old;
	struct nt_look now;
};

#define NT_LOOK_ALL	(NT_LOAD_PARAMS | NT_LOAD_STATS | NT_LOAD_SYSTEM)

static size_t nt_top_rows(const struct nt_top *top, struct nt_row **rows, size_t *wide)
{
	size_t nr, i, len;

	nr = nt_rows_make(&top->old, &top->now, top->pattern, rows);
	nt_rows_sort(*rows, nr, top->by, top->reverse);
	*wide = strlen("OBJECT") + 2;
	for (i = 0; i < nr; i++) {
		len = strlen((*rows)[i].obj->name);
		if (len > *wide)
			*wide = len;
	}
	return nr;
}

/* Lines */

static json_object *nt_json_known(double num)
{
	return isnan(num) ? NULL : json_object_new_double(num);
}

static json_object *nt_json_row(const struct nt_row *row)
{
	json_object *o = json_object_new_object();

	json_object_object_add(o, "object", json_object_new_string(row->obj->name));
	json_object_object_add(o, "mode", json_object_new_string(row->mode));
	json_object_object_add(o, "cpus", json_object_new_string(row->cpus));
	json_object_object_add(o, "irq_share", nt_json_known(row->irq_share));
	json_object_object_add(o, "interrupts_per_second", nt_json_known(row->interrupts));
	json_object_object_add(o, "requests_per_second", nt_json_known(row->requests));
	json_object_object_add(o, "bytes_per_second", nt_json_known(row->bytes));
	json_object_object_add(o, "deferred_share", nt_json_known(row->deferred_share));
	json_object_object_add(o, "backlog_bytes", nt_json_known(row->backlog));
	json_object_object_add(o, "oldest_ns", nt_json_known(row->oldest));
	return o;
}

static void nt_top_json(const struct nt_top *top, const struct nt_row *rows, size_t nr)
{
	json_object *o = json_object_new_object(), *list = json_object_new_array();
	char time[32];
	size_t i;

	json_object_object_add(o, "time", json_object_new_string(nt_timestamp(time)));
	json_object_object_add(o, "seconds", json_object_new_double(top->now.at - top->old.at));
	json_object_object_add(o, "sort", json_object_new_string(nt_sorts[top->by]));
	for (i = 0; i < nr; i++)
		json_object_array_add(list, nt_json_row(&rows[i]));
	json_object_object_add(o, "queues", list);
	nt_json_line(o);
}

static void nt_top_lines(const struct nt_top *top)
{
	struct nt_row *rows;
	char time[32], *line;
	size_t nr, i, wide;

	nr = nt_top_rows(top, &rows, &wide);
	if (nt.json) {
		nt_top_json(top, rows, nr);
	} else {
		printf("%s, %.2f s\n", nt_timestamp(time), top->now.at - top->old.at);
		for (i = 0; i <= nr; i++) {
			line = nt_row_line(i ? &rows[i - 1] : NULL, wide, 0);
			puts(line);
			free(line);
		}
		putchar('\n');
		fflush(stdout);
	}
	free(rows);
}

/* A new look; the one before is the old one. */
static int nt_top_look(struct nt_top *top)
{
	nt_look_free(&top->old);
	top->old = top->now;
	return nt_look_take(NT_LOOK_ALL, &top->now);
}

static int nt_top_batch(struct nt_top *top)
{
	int ret;

	do {
		nt_sleep_until(top->now.at + top->interval);
		ret = nt_top_look(top);
		if (!ret)
			nt_top_lines(top);
	} while (!ret && !ferror(stdout) && (!top->left || --top->left));
	return ret;
}

/* The screen */

static const char nt_top_keys[] =
	"  i  d  b  e  a  n   sort by interrupts, deferred share, backlog, requests, age, name\n"
	"  r                  the other way around\n"
	"  /                  show only what a pattern matches, as nvme0 or nvme*/q[1-4]\n"
	"  +  -               look less often, more often\n"
	"  space              let time stand still\n"
	"  arrows, page keys  scroll\n"
	"  h                  these keys\n"
	"  q                  end\n"
	"\n"
	"  IRQ%      time in interrupts of the busiest of the CPUs that the queue's goes to\n"
	"  DEFER%    share of requests that were handed to workers\n"
	"  BACKLOG   bytes that wait for workers, OLDEST: for how long already\n"
	"  REQ/s     requests completed in interrupt context while the queue may defer\n"
	"  COPIED/s  bytes that these copied\n"
	"  -         not known, or nothing to tell";

/* Lines for the screen: each is cut, and clears what was there. */
static void nt_put_line(const char *text, size_t width)
{
	printf("%.*s\033[K\n", (int)width, text);
}

static void nt_draw_help(size_t height, size_t width)
{
	const char *line = nt_top_keys, *end;
	size_t len;

	while (line && height--) {
		end = strchr(line, '\n');
		len = end ? (size_t)(end - line) : strlen(line);
		printf("%.*s\033[K\n", (int)(len < width ? len : width), line);
		line = end ? end + 1 : NULL;
	}
}

static void nt_draw_rows(struct nt_top *top, size_t height, size_t width)
{
	struct nt_row *rows;
	size_t nr, i, wide;
	char *line;

	nr = nt_top_rows(top, &rows, &wide);
	if (top->offset + height > nr)
		top->offset = nr > height ? nr - height : 0;
	line = nt_row_line(NULL, wide, width);
	printf("%s%s%s\033[K\n", nt_color(NT_BOLD), line, nt_color(NT_PLAIN));
	free(line);
	for (i = top->offset; i < nr && i < top->offset + height; i++) {
		line = nt_row_line(&rows[i], wide, width);
		if (rows[i].irq_share > 0.5)
			printf("%s%s%s\033[K\n", nt_color(NT_RED), line, nt_color(NT_PLAIN));
		else
			nt_put_line(line, width);
		free(line);
	}
	if (!nr)
		nt_put_line("no queue matches: / changes the pattern", width);
	free(rows);
}

static void nt_draw(struct nt_top *top)
{
	unsigned int height, width;
	char *head;

	nt_term_size(&height, &width);
	fputs("\033[H", stdout);
	if (top->typing)
		head = nt_printf("show only: %s_  (Enter: do it, Esc: leave it, nothing: all)",
				 top->input);
	else if (*top->message)
		head = nt_strdup(top->message);
	else
		head = nt_printf("nvmetune top  %s  every %g s, by %s%s%s  h: keys", top->pattern,
				 top->interval, nt_sorts[top->by],
				 top->reverse ? ", reversed" : "", top->paused ? ", PAUSED" : "");
	nt_put_line(head, width);
	free(head);
	/* The last line of a screen stays empty: behind its end it would scroll. */
	if (height > 3 && top->help)
		nt_draw_help(height - 2, width);
	else if (height > 3)
		nt_draw_rows(top, height - 3, width);
	fputs("\033[J", stdout);
	fflush(stdout);
}

/* Keys */

static void nt_type(struct nt_top *top, int key)
{
	size_t len = strlen(top->input);

	if (key == NT_KEY_ESCAPE) {
		top->typing = false;
	} else if (key == '\n' || key == '\r') {
		const char *pattern = len ? top->input : "all";

		top->typing = false;
		if (nt_pattern_valid(pattern))
			snprintf(top->pattern, sizeof(top->pattern), "%s", pattern);
		else
			snprintf(top->message, sizeof(top->message), "'%.80s' is no pattern",
				 pattern);
		top->offset = 0;
	} else if (key == 127 || key == '\b') {
		top->input[len ? len - 1 : 0] = '\0';
	} else if (key >= ' ' && key < 127 && len + 1 < sizeof(top->input)) {
		top->input[len] = key;
		top->input[len + 1] = '\0';
	}
}

static void nt_set_sort(struct nt_top *top, enum nt_sort by)
{
	top->by = by;
	top->offset = 0;
}

static void nt_set_interval(struct nt_top *top, double by)
{
	double interval = top->interval * by;

	if (interval >= 0.1 && interval <= 60)
		top->interval = interval;
}

static void nt_scroll(struct nt_top *top, long by)
{
	if (by < 0 && (size_t)-by > top->offset)
		top->offset = 0;
	else
		top->offset += by;	/* nt_draw_rows() keeps it within bounds */
}

/* False: end. */
static bool nt_top_key(struct nt_top *top, int key)
{
	static const char sorts[] = "idbean";
	unsigned int height, width;
	const char *sort;

	top->message[0] = '\0';
	if (key == NT_KEY_GONE)
		return false;
	if (top->typing) {
		nt_type(top, key);
		return true;
	}
	sort = key > 0 && key < 256 ? strchr(sorts, key) : NULL;
	if (sort) {
		nt_set_sort(top, sort - sorts);
		return true;
	}
	nt_term_size(&height, &width);
	switch (key) {
	case 'q':
		return false;
	case 'r':
		top->reverse = !top->reverse;
		break;
	case '/':
		top->typing = true;
		top->input[0] = '\0';
		break;
	case ' ':
		top->paused = !top->paused;
		break;
	case '+':
		nt_set_interval(top, 2);
		break;
	case '-':
		nt_set_interval(top, 0.5);
		break;
	case 'h':
	case '?':
		top->help = !top->help;
		break;
	case NT_KEY_UP:
		nt_scroll(top, -1);
		break;
	case NT_KEY_DOWN:
		nt_scroll(top, 1);
		break;
	case NT_KEY_PAGE_UP:
		nt_scroll(top, -(long)height);
		break;
	case NT_KEY_PAGE_DOWN:
		nt_scroll(top, height);
		break;
	case NT_KEY_HOME:
		top->offset = 0;
		break;
	case NT_KEY_ESCAPE:
		top->help = false;
		break;
	}
	return true;
}

static int nt_top_screen(struct nt_top *top)
{
	int ret, key;

	ret = nt_term_open();
	if (ret)
		return ret;
	/* The first interval is short: nobody likes to look at nothing. */
	nt_sleep_until(top->now.at + (top->interval < 0.3 ? top->interval : 0.3));
	ret = nt_top_look(top);
	while (!ret) {
		nt_draw(top);
		key = nt_term_key(top->now.at + top->interval);
		if (key == NT_KEY_NONE && top->paused) {
			key = nt_term_key(nt_clock() + 3600);
			if (key == NT_KEY_NONE)
				continue;
		}
		if (key != NT_KEY_NONE) {
			if (!nt_top_key(top, key))
				break;
			continue;
		}
		if (top->left && !--top->left)
			break;
		ret = nt_top_look(top);
		/* A message has to be where it stays. */
		if (ret)
			break;
	}
	nt_term_close();
	return ret;
}

static int nt_take_sort(const char *text, enum nt_sort *by)
{
	size_t i;

	for (i = 0; text && nt_sorts[i]; i++) {
		if (!strcmp(text, nt_sorts[i])) {
			*by = i;
			return NT_OK;
		}
	}
	return text ? nt_fail(NT_USAGE, "--sort=%s: it is irq, deferred, backlog, requests, age or name",
			      text) : NT_OK;
}

int nt_run_top(int argc, char **args, const char **values)
{
	struct nt_top top = { .interval = 1, .reverse = values[NT_TOP_REVERSE] };
	struct nt_object **found;
	size_t nr;
	int ret = NT_OK;

	if (argc > 1)
		return nt_fail(NT_USAGE, "top takes one pattern of objects");
	if (argc && strlen(args[0]) >= sizeof(top.pattern))
		return nt_fail(NT_USAGE, "'%.40s...' is no pattern of objects", args[0]);
	snprintf(top.pattern, sizeof(top.pattern), "%s", argc ? args[0] : "all");
	if (values[NT_TOP_INTERVAL])
		ret = nt_take_seconds("interval", values[NT_TOP_INTERVAL], &top.interval);
	if (!ret && values[NT_TOP_COUNT])
		ret = nt_take_number("count", values[NT_TOP_COUNT], &top.left);
	if (!ret)
		ret = nt_take_sort(values[NT_TOP_SORT], &top.by);
	if (!ret)
		ret = nt_look_take(NT_LOOK_ALL, &top.now);
	if (ret)
		return ret;
	ret = nt_select(&top.now.tree, top.pattern, &found, &nr);
	free(found);
	if (ret)
		goto free;
	if (nt_no_stats(&top.now.tree) && !nt.quiet)
		nt_warn("%s", nt_no_stats(&top.now.tree));
	if (nt.json || values[NT_TOP_BATCH] || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		ret = nt_top_batch(&top);
	else
		ret = nt_top_screen(&top);
free:
	nt_look_free(&top.old);
	nt_look_free(&top.now);
	return ret;
}
