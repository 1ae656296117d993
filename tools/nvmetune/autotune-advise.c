// SPDX-License-Identifier: GPL-2.0-only
/*
 * What can be proposed without a measurement: from facts and from what the statistics
 * have counted so far. Each proposal says why. What is set well already is left alone.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "autotune.h"

/* Below so many requests the statistics say nothing. */
#define NT_ENOUGH	1000

/* Longer than this a worker should not keep its CPU. */
#define NT_LONG_RUN_NS	100000000ull

struct nt_advisor {
	const struct nt_object *ctrl;
	struct nt_advice *advice;
	size_t nr;
	/* Sums over the controller's queues. */
	uint64_t queues, deferred, handled, pressure, queue_work, run_ns;
	/* The queue whose worker ran longest. */
	const struct nt_object *longest;
};

static const char *nt_value(const struct nt_object *obj, const char *name)
{
	const struct nt_param *param = nt_object_param(obj, name);

	return param ? param->in_force : "";
}

static uint64_t nt_number(const struct nt_object *obj, const char *name)
{
	const struct nt_param *param = nt_object_param(obj, name);

	return param ? param->num : 0;
}

static bool nt_fact(const struct nt_object *obj, const char *name)
{
	return !strcmp(nt_value(obj, name), "1");
}

static uint64_t nt_counted(const struct nt_object *obj, const char *name)
{
	const struct nt_stat *stat = nt_object_stat(obj, name);

	return stat ? stat->value : 0;
}

static void nt_propose(struct nt_advisor *a, const char *name, char *proposed, char *reason)
{
	const struct nt_param *param = nt_object_param(a->ctrl, name);
	char *why = NULL;

	/* Twice as much of what is at its limit is no proposal. */
	if (!param || !nt_param_accepts(param, proposed, &why) ||
	    nt_param_same(param, proposed, param->in_force)) {
		free(why);
		free(proposed);
		free(reason);
		return;
	}
	a->advice = nt_grow(a->advice, a->nr, sizeof(*a->advice));
	a->advice[a->nr++] = (struct nt_advice){
		.object = a->ctrl->name, .name = param->name,
		.now = nt_strdup(param->in_force), .proposed = proposed, .reason = reason,
	};
}

static void nt_sum_queue(struct nt_advisor *a, const struct nt_object *q)
{
	uint64_t run = nt_counted(q, "worker_max_run_ns");
	uint64_t deferred = nt_counted(q, "irq_deferred") + nt_counted(q, "softirq_deferred");

	a->queues++;
	a->deferred += deferred;
	a->handled += deferred + nt_counted(q, "irq_inline") + nt_counted(q, "softirq_inline");
	a->pressure += nt_counted(q, "irq_pressure") + nt_counted(q, "softirq_pressure");
	a->queue_work += nt_counted(q, "irq_queue_work") + nt_counted(q, "softirq_queue_work");
	if (run > a->run_ns) {
		a->run_ns = run;
		a->longest = q;
	}
}

static void nt_advise_mode(struct nt_advisor *a)
{
	static const char unbounded[] =
		"all DMA of this device bounces; its copies are made in interrupts, unbounded";
	static const char needless[] =
		"this device's DMA does not bounce as a whole: hand-overs save little";
	const char *mode = nt_value(a->ctrl, "defer_mode");

	if (nt_fact(a->ctrl, "bounces") && !strcmp(mode, "off"))
		nt_propose(a, "defer_mode", nt_strdup("auto"), nt_strdup(unbounded));
	if (!nt_fact(a->ctrl, "bounces") && !strcmp(mode, "on"))
		nt_propose(a, "defer_mode", nt_strdup("auto"), nt_strdup(needless));
}

static void nt_advise_lanes(struct nt_advisor *a)
{
	uint64_t lanes = nt_number(a->ctrl, "defer_lanes");

	if (a->handled < NT_ENOUGH || a->pressure * 100 < a->deferred)
		return;
	nt_propose(a, "defer_lanes", nt_printf("%" PRIu64, lanes * 2),
		   nt_printf("%" PRIu64 " requests were completed in interrupts since backlog or age was over its limit: workers do not keep up",
			     a->pressure));
}

static void nt_advise_inline(struct nt_advisor *a)
{
	/* A wake-up for nearly each request: the hand-over is most of the cost. */
	if (a->deferred < NT_ENOUGH || a->queue_work * 10 < a->deferred * 8)
		return;
	nt_propose(a, "defer_inline_bytes",
		   nt_printf("%" PRIu64, nt_number(a->ctrl, "defer_inline_bytes") * 2),
		   nt_printf("a worker was woken for %" PRIu64 " of %" PRIu64 " deferred requests: more of them could be done on the spot",
			     a->queue_work, a->deferred));
}

static void nt_advise_resched(struct nt_advisor *a)
{
	uint64_t bytes = nt_number(a->ctrl, "resched_bytes");

	/* A long run is none to worry about if the CPU was offered in between. */
	if (!a->longest || a->run_ns < NT_LONG_RUN_NS || nt_counted(a->longest, "worker_rescheds"))
		return;
	/* 0 is never. */
	nt_propose(a, "resched_bytes", nt_printf("%" PRIu64, bytes ? bytes / 2 : 262144),
		   nt_printf("a worker of %s ran for %" PRIu64 " ms and has never offered its CPU to others",
			     a->longest->name, a->run_ns / 1000000));
}

size_t nt_advise(const struct nt_tree *tree, const struct nt_object *ctrl,
		 struct nt_advice **advice)
{
	struct nt_advisor a = { .ctrl = ctrl };
	size_t i;

	for (i = 0; i < tree->nr; i++)
		if (tree->objects[i]->parent == ctrl)
			nt_sum_queue(&a, tree->objects[i]);
	/* Interrupts in threads hold up no CPU: nothing is deferred, nothing to tune. */
	if (!nt_fact(ctrl, "threaded")) {
		nt_advise_mode(&a);
		nt_advise_lanes(&a);
		nt_advise_inline(&a);
		nt_advise_resched(&a);
	}
	*advice = a.advice;
	return a.nr;
}

void nt_advice_free(struct nt_advice *advice, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		free(advice[i].now);
		free(advice[i].proposed);
		free(advice[i].reason);
	}
	free(advice);
}
