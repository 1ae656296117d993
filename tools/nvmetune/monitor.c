// SPDX-License-Identifier: GPL-2.0-only
/*
 * monitor: changes as they happen. Over netlink the kernel tells them; over files two
 * states are compared now and then.
 *
 * When events were lost, what is left of them is taken first, since it is older than what
 * was lost; then all is read, and what differs from what the events have said is told.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "watch.h"

enum { NT_MONITOR_COUNT, NT_MONITOR_TIMEOUT, NT_MONITOR_INTERVAL };

const struct nt_opt nt_opts_monitor[] = {
	[NT_MONITOR_COUNT] = { "count", 'c', "NUMBER", "end after so many changes" },
	[NT_MONITOR_TIMEOUT] = { "timeout", 't', "SECONDS", "end after that time" },
	[NT_MONITOR_INTERVAL] = { "interval", 'i', "SECONDS",
				  "compare states so often, where nothing tells of changes" },
	{ }
};

/**
 * struct nt_monitor - a run of it
 * @pattern: objects, and what is below them
 * @known: the state that the events so far add up to
 * @stale: something came of which only the name is known
 * @lost: events are missing
 * @resync: what is told was found by comparing
 * @catching_up: events may tell what comparing has told already
 * @left: changes until it ends; 0: no end
 * @end: nt_clock() at which it ends, 0: none
 * @done: it ends
 */
struct nt_monitor {
	const char *pattern;
	struct nt_tree known;
	bool stale;
	bool lost;
	bool resync;
	bool catching_up;
	unsigned long left;
	double end;
	bool done;
};

static bool nt_is_watched(const struct nt_monitor *m, const char *name)
{
	char *above = nt_strdup(name), *slash;
	bool is = nt_pattern_match(m->pattern, above);

	while (!is && (slash = strrchr(above, '/'))) {
		*slash = '\0';
		is = nt_pattern_match(m->pattern, above);
	}
	free(above);
	return is;
}

/* Printing */

static void nt_monitor_text(const struct nt_monitor *m, const struct nt_event *ev)
{
	const char *note = m->resync ? " (found after lost events)" : "";
	char time[32], old[128], new[128];

	nt_local_time(time);
	switch (ev->kind) {
	case NT_EVENT_PARAM:
		nt_param_show(&ev->param, ev->old, old, sizeof(old));
		nt_param_show(&ev->param, ev->param.text, new, sizeof(new));
		printf("%s %s %s: %s -> %s%s\n", time, ev->object, ev->param.name, old, new, note);
		break;
	case NT_EVENT_ADD:
	case NT_EVENT_DEL:
		printf("%s %s has %s%s\n", time, ev->object,
		       ev->kind == NT_EVENT_ADD ? "come" : "gone", note);
		break;
	case NT_EVENT_LOST:
		printf("%s events were lost: reading all again\n", time);
		break;
	}
	fflush(stdout);
}

static void nt_monitor_json(const struct nt_monitor *m, const struct nt_event *ev)
{
	static const char *const kinds[] = {
		[NT_EVENT_PARAM] = "change", [NT_EVENT_ADD] = "add", [NT_EVENT_DEL] = "remove",
		[NT_EVENT_LOST] = "lost",
	};
	json_object *o = json_object_new_object();
	char time[32];

	json_object_object_add(o, "time", json_object_new_string(nt_timestamp(time)));
	json_object_object_add(o, "event", json_object_new_string(kinds[ev->kind]));
	json_object_object_add(o, "resync", json_object_new_boolean(m->resync));
	if (ev->object)
		json_object_object_add(o, "object", json_object_new_string(ev->object));
	if (ev->class && *ev->class)
		json_object_object_add(o, "class", json_object_new_string(ev->class));
	if (ev->kind == NT_EVENT_PARAM) {
		json_object_object_add(o, "name", json_object_new_string(ev->param.name));
		json_object_object_add(o, "old", json_object_new_string(ev->old));
		json_object_object_add(o, "new", json_object_new_string(ev->param.text));
		json_object_object_add(o, "in_force", json_object_new_string(ev->param.in_force));
	}
	nt_json_line(o);
}

/* One that is told: for people, or for programs. */
static void nt_monitor_tell(struct nt_monitor *m, const struct nt_event *ev)
{
	if (m->done || (ev->object && !nt_is_watched(m, ev->object)))
		return;
	if (nt.json)
		nt_monitor_json(m, ev);
	else
		nt_monitor_text(m, ev);
	if (ferror(stdout))
		m->done = true;
	if (ev->kind != NT_EVENT_LOST && m->left && !--m->left)
		m->done = true;
}

static void nt_monitor_take(const struct nt_event *ev, void *arg)
{
	nt_monitor_tell(arg, ev);
}

/* States */

static int nt_monitor_read(struct nt_monitor *m, bool tell)
{
	struct nt_tree now;
	int ret;

	ret = nt_load(NT_LOAD_PARAMS, &now);
	if (ret)
		return ret;
	if (tell)
		nt_tree_diff(&m->known, &now, nt_monitor_take, m);
	nt_tree_free(&m->known);
	m->known = now;
	return NT_OK;
}

/* Nothing is waiting: the moment to learn more, if that is wanted. */
static int nt_monitor_idle(struct nt_monitor *m)
{
	int ret = NT_OK;

	m->catching_up = false;
	if (m->lost) {
		m->lost = false;
		m->resync = true;
		m->catching_up = true;
		ret = nt_monitor_read(m, true);
		m->resync = false;
	} else if (m->stale) {
		ret = nt_monitor_read(m, false);
	} else {
		return NT_OK;
	}
	m->stale = false;
	return ret;
}

static int nt_monitor_events(struct nt_monitor *m)
{
	struct nt_error err = { };
	struct nt_event ev;
	bool news;
	int ret;

	while (!m->done) {
		ret = nt.backend->ops->next_event(nt.backend, &ev, &err);
		if (ret < 0)
			return nt_fail_err(&err);
		if (!ret)
			return nt_monitor_idle(m);
		news = nt_tree_follow(&m->known, &ev);
		if (ev.kind == NT_EVENT_LOST)
			m->lost = true;
		else if (ev.kind == NT_EVENT_ADD)
			m->stale = true;
		if (news || !m->catching_up)
			nt_monitor_tell(m, &ev);
		nt_event_clear(&ev);
	}
	return NT_OK;
}

/* Milliseconds until the end, for poll(); -1: there is none. */
static int nt_monitor_wait(const struct nt_monitor *m)
{
	double left = (m->end - nt_clock()) * 1000;

	if (!m->end)
		return -1;
	return left > 0 ? (int)left + 1 : 0;
}

static int nt_monitor_listen(struct nt_monitor *m)
{
	struct nt_error err = { };
	struct pollfd pfd = { .events = POLLIN };
	int ret;

	pfd.fd = nt.backend->ops->subscribe(nt.backend, &err);
	if (pfd.fd < 0)
		return nt_fail_err(&err);
	ret = nt_monitor_read(m, false);
	/* For scripts that cause what they want to see. */
	if (!ret && nt.verbose)
		nt_warn("listening");
	while (!ret && !m->done) {
		ret = poll(&pfd, 1, nt_monitor_wait(m));
		if (ret < 0 && errno != EINTR)
			return nt_fail(NT_REFUSED, "cannot wait for events: %s", strerror(errno));
		if (!ret)
			break;
		ret = nt_monitor_events(m);
	}
	return ret;
}

static int nt_monitor_compare(struct nt_monitor *m, double interval)
{
	double next = nt_clock();
	int ret;

	ret = nt_monitor_read(m, false);
	while (!ret && !m->done) {
		next += interval;
		if (m->end && next >= m->end)
			break;
		nt_sleep_until(next);
		ret = nt_monitor_read(m, true);
	}
	return ret;
}

int nt_run_monitor(int argc, char **args, const char **values)
{
	struct nt_monitor m = { .pattern = argc ? args[0] : "all" };
	double timeout, interval = 0;
	int ret = NT_OK;

	if (argc > 1)
		return nt_fail(NT_USAGE, "monitor takes one pattern of objects");
	if (!nt_pattern_valid(m.pattern))
		return nt_fail(NT_USAGE, "'%s' is no pattern of objects", m.pattern);
	if (values[NT_MONITOR_COUNT])
		ret = nt_take_number("count", values[NT_MONITOR_COUNT], &m.left);
	if (!ret && values[NT_MONITOR_TIMEOUT]) {
		ret = nt_take_seconds("timeout", values[NT_MONITOR_TIMEOUT], &timeout);
		if (!ret)
			m.end = nt_clock() + timeout;
	}
	if (!ret && values[NT_MONITOR_INTERVAL])
		ret = nt_take_seconds("interval", values[NT_MONITOR_INTERVAL], &interval);
	if (!ret)
		ret = nt_open();
	if (ret)
		return ret;
	if (interval)
		ret = nt_monitor_compare(&m, interval);
	else if (nt.backend->ops->subscribe)
		ret = nt_monitor_listen(&m);
	else
		ret = nt_fail(NT_REFUSED,
			      "changes are told over netlink, which is not there: use --interval to compare");
	nt_tree_free(&m.known);
	return ret;
}
