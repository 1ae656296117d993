// SPDX-License-Identifier: GPL-2.0-only
/*
 * doctor: rules about queues: their settings, facts and statistics.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

/* Objects */

bool nt_is_queue(const struct nt_object *obj)
{
	return obj->parent && nt_object_param(obj, "qid");
}

const char *nt_holds(const struct nt_object *obj, const char *name)
{
	const struct nt_param *param = nt_object_param(obj, name);

	return param ? param->in_force : "";
}

uint64_t nt_number_of(const struct nt_object *obj, const char *name)
{
	const struct nt_param *param = nt_object_param(obj, name);

	return param ? param->num : 0;
}

bool nt_is_true(const struct nt_object *obj, const char *name)
{
	return !strcmp(nt_holds(obj, name), "1");
}

bool nt_bounces_in_interrupts(const struct nt_object *obj)
{
	return nt_is_true(obj, "bounces") && nt_is_true(obj, "running") &&
	       !nt_is_true(obj, "polled") && !nt_is_true(obj, "threaded");
}

static bool nt_mode_is(const struct nt_object *obj, const char *mode)
{
	return !strcmp(nt_holds(obj, "defer_mode"), mode);
}

/* Names */

/* Some of many names are enough for people. */
#define NT_SOME	4

/**
 * struct nt_names - names that are collected
 * @text: separated by ", "; after NT_SOME of them no more
 * @nr: how many there were
 */
struct nt_names {
	char *text;
	size_t nr;
};

static void nt_names_add(struct nt_names *n, const char *name)
{
	char *longer;

	if (n->nr++ >= NT_SOME)
		return;
	longer = nt_printf("%s%s%s", n->text ? n->text : "", n->text ? ", " : "", name);
	free(n->text);
	n->text = longer;
}

/* To be freed. */
static char *nt_names_take(struct nt_names *n)
{
	char *text = n->nr > NT_SOME ? nt_printf("%s and %zu more", n->text, n->nr - NT_SOME) :
		nt_strdup(n->text ? n->text : "");

	free(n->text);
	*n = (struct nt_names){ };
	return text;
}

char *nt_queues_of_cpu(const struct nt_doctor *d, unsigned int cpu)
{
	struct nt_names names = { };
	size_t i;

	for (i = 0; i < d->now.tree.nr; i++) {
		const struct nt_object *obj = d->now.tree.objects[i];

		if (nt_is_queue(obj) && nt_number_of(obj, "irq") &&
		    nt_list_has(nt_holds(obj, "cpus"), cpu))
			nt_names_add(&names, obj->name);
	}
	return nt_names_take(&names);
}

/* Blame */

/* The object whose own value it is that holds for the queue. */
static const struct nt_object *nt_source(const struct nt_tree *tree,
					 const struct nt_object *queue, const char *name)
{
	const struct nt_object *obj, *driver;
	const struct nt_param *param;
	char *top;

	for (obj = queue; obj; obj = obj->parent) {
		param = nt_object_param(obj, name);
		if (param && !param->inherit)
			return obj;
	}
	/* Above nvme0 is nvme, which is not its parent. */
	top = nt_printf("%.*s", (int)strcspn(queue->name, "0123456789/"), queue->name);
	driver = nt_tree_find(tree, top);
	free(top);
	return driver && nt_object_param(driver, name) ? driver : queue;
}

/**
 * struct nt_blame - who is to blame for what
 * @source: whose value it is
 * @queues: for which it holds
 */
struct nt_blame {
	const struct nt_object *source;
	struct nt_names queues;
};

static size_t nt_blame_find(const struct nt_doctor *d, const char *name,
			    bool (*bad)(const struct nt_object *queue), struct nt_blame **blames)
{
	const struct nt_object *obj, *source;
	size_t i, b, nr = 0;

	*blames = NULL;
	for (i = 0; i < d->now.tree.nr; i++) {
		obj = d->now.tree.objects[i];
		if (!nt_is_queue(obj) || !bad(obj))
			continue;
		source = nt_source(&d->now.tree, obj, name);
		for (b = 0; b < nr && (*blames)[b].source != source; b++)
			;
		if (b == nr) {
			*blames = nt_grow(*blames, nr, sizeof(**blames));
			(*blames)[nr++] = (struct nt_blame){ source };
		}
		nt_names_add(&(*blames)[b].queues, obj->name);
	}
	return nr;
}

/* Queues of one controller with the same value of their own are one finding. */
static bool nt_same_blame(const struct nt_blame *a, const struct nt_blame *b, const char *name)
{
	return nt_is_queue(a->source) && nt_is_queue(b->source) &&
	       a->source->parent == b->source->parent &&
	       !strcmp(nt_holds(a->source, name), nt_holds(b->source, name));
}

static char *nt_mend_setting(const char *words, const char *object, const char *name,
			     const char *value)
{
	if (!*words)
		return value ? nt_printf("nvmetune set %s %s=%s", object, name, value) :
			nt_printf("nvmetune reset %s %s", object, name);
	return nt_printf("%s %s %s=%s", words, object, name, value ? value : "inherit");
}

void nt_blame_setting(struct nt_doctor *d, const char *name,
		      bool (*bad)(const struct nt_object *queue), const char *value)
{
	struct nt_blame *blames;
	size_t nr, i, k;

	if (!nt_need_tree(d))
		return;
	nr = nt_blame_find(d, name, bad, &blames);
	for (i = 0; i < nr; i++) {
		const struct nt_object *source = blames[i].source;
		char shown[128], *seen, *mend, *queues, *longer;
		const struct nt_param *param;
		struct nt_names all = { };
		bool several = false;

		/* It is part of another finding. */
		if (!source)
			continue;
		param = nt_object_param(source, name);
		mend = nt_mend_setting("", source->name, name, value);
		nt_names_add(&all, source->name);
		for (k = i + 1; k < nr; k++) {
			if (!blames[k].source || !nt_same_blame(&blames[i], &blames[k], name))
				continue;
			/* From the second on it is one command with all of them. */
			longer = several ? nt_strdup(mend) :
				nt_mend_setting("nvmetune set", source->name, name, value);
			free(mend);
			mend = nt_mend_setting(longer, blames[k].source->name, name, value);
			free(longer);
			several = true;
			nt_names_add(&all, blames[k].source->name);
			blames[k].source = NULL;
			free(blames[k].queues.text);
		}
		nt_param_show(param, param->in_force, shown, sizeof(shown));
		if (nt_is_queue(source)) {
			free(blames[i].queues.text);
			queues = nt_names_take(&all);
			seen = nt_printf("%s=%s is set for %s", name, shown, queues);
		} else {
			free(all.text);
			queues = nt_names_take(&blames[i].queues);
			seen = nt_printf("%s=%s of %s holds for %s", name, shown, source->name,
					 queues);
		}
		free(queues);
		nt_found(d, nt_is_queue(source) && several ? source->parent->name : source->name,
			 seen, mend);
	}
	free(blames);
}

void nt_blame_queues(struct nt_doctor *d, bool (*bad)(const struct nt_object *queue),
		     const char *seen, const char *mend)
{
	const struct nt_object *obj, *ctrl = NULL;
	struct nt_names names = { };
	char *queues;
	size_t i;

	if (!nt_need_tree(d))
		return;
	/* One round more than there are objects, for the last controller. */
	for (i = 0; i <= d->now.tree.nr; i++) {
		obj = i < d->now.tree.nr ? d->now.tree.objects[i] : NULL;
		if (names.nr && (!obj || obj->parent != ctrl)) {
			queues = nt_names_take(&names);
			nt_found(d, ctrl->name, nt_printf("%s: %s", queues, seen),
				 nt_strdup(mend));
			free(queues);
		}
		if (obj && nt_is_queue(obj) && bad(obj)) {
			ctrl = obj->parent;
			nt_names_add(&names, obj->name);
		}
	}
}

/* Rules: settings */

static bool nt_bad_off(const struct nt_object *q)
{
	return nt_bounces_in_interrupts(q) && nt_mode_is(q, "off");
}

static void nt_look_off(struct nt_doctor *d)
{
	nt_blame_setting(d, "defer_mode", nt_bad_off, "auto");
}

/* Beyond this, an interrupt takes longer than a tick. */
#define NT_MUCH_INLINE	(16 << 20)

static bool nt_bad_budget(const struct nt_object *q)
{
	return nt_bounces_in_interrupts(q) && nt_mode_is(q, "auto") &&
	       nt_number_of(q, "defer_inline_bytes") >= NT_MUCH_INLINE &&
	       nt_number_of(q, "defer_irq_share") > 50;
}

static void nt_look_budget(struct nt_doctor *d)
{
	nt_blame_setting(d, "defer_inline_bytes", nt_bad_budget, NULL);
}

static bool nt_bad_resched(const struct nt_object *q)
{
	const struct nt_param *param = nt_object_param(q, "resched_bytes");

	return param && !param->num && nt_is_true(q, "armed");
}

static void nt_look_resched(struct nt_doctor *d)
{
	char *preempt = nt_sys_read("/sys/kernel/debug/sched/preempt");
	bool full = preempt && (strstr(preempt, "(full)") || strstr(preempt, "(lazy)"));

	free(preempt);
	/* There, workers are made to let go. */
	if (!full)
		nt_blame_setting(d, "resched_bytes", nt_bad_resched, NULL);
}

static bool nt_bad_measure(const struct nt_object *q)
{
	return nt_is_true(q, "measure");
}

static void nt_look_measure(struct nt_doctor *d)
{
	nt_blame_setting(d, "measure", nt_bad_measure, NULL);
}

static uint64_t nt_pool;

static bool nt_bad_backlog(const struct nt_object *q)
{
	/* It is a controller's, and each queue has as much for itself. */
	return nt_is_true(q, "bounces") && nt_is_true(q, "armed") &&
	       nt_number_of(q->parent, "defer_backlog_bytes") > nt_pool / 2;
}

static void nt_look_backlog(struct nt_doctor *d)
{
	if (!nt_need_tree(d))
		return;
	nt_pool = nt_pool_bytes();
	if (!nt_pool)
		nt_not_looked(d, "/sys/kernel/debug/swiotlb/io_tlb_nslabs: %s", nt_unreadable());
	else
		nt_blame_setting(d, "defer_backlog_bytes", nt_bad_backlog, NULL);
}

/* Rules: facts */

static bool nt_wants_deferral(const struct nt_object *q)
{
	return nt_mode_is(q, "on") || (nt_mode_is(q, "auto") && nt_is_true(q, "bounces"));
}

static bool nt_bad_threaded(const struct nt_object *q)
{
	return nt_is_true(q, "threaded") && !nt_is_true(q, "polled") && nt_wants_deferral(q);
}

static void nt_look_threaded(struct nt_doctor *d)
{
	nt_blame_queues(d, nt_bad_threaded,
			"interrupts are handled in threads, so nothing is deferred",
			"boot without nvme.use_threaded_interrupts=1 and threadirqs, to defer instead");
}

static bool nt_bad_polled(const struct nt_object *q)
{
	return nt_is_true(q, "polled") && nt_wants_deferral(q);
}

static void nt_look_polled(struct nt_doctor *d)
{
	nt_blame_queues(d, nt_bad_polled, "polled, so who polls copies, and nothing is deferred",
			"boot with nvme.poll_queues=0, to defer instead");
}

static bool nt_bad_armed(const struct nt_object *q)
{
	return nt_is_true(q, "running") && nt_wants_deferral(q) && !nt_is_true(q, "polled") &&
	       !nt_is_true(q, "threaded") && !nt_is_true(q, "armed");
}

static void nt_look_armed(struct nt_doctor *d)
{
	nt_blame_queues(d, nt_bad_armed, "may defer, but is not armed: it has no workqueue",
			"dmesg | grep -i nvme; if it persists: nvmetune set nvme defer_mode=off && nvmetune reset nvme defer_mode");
}

/* What isolcpus= names, beside flags. To be freed; NULL: nothing. */
static char *nt_isolcpus(const char *cmdline)
{
	const char *at = cmdline;
	char *list, *from;

	while ((at = strstr(at, "isolcpus="))) {
		if (at == cmdline || at[-1] == ' ')
			break;
		at++;
	}
	if (!at)
		return NULL;
	at += strlen("isolcpus=");
	list = nt_printf("%.*s", (int)strcspn(at, "\n "), at);
	/* Flags come first: managed_irq,domain,2-7. */
	from = list + strcspn(list, "0123456789");
	memmove(list, from, strlen(from) + 1);
	return list;
}

static char *nt_isolated;

static bool nt_bad_isolated(const struct nt_object *q)
{
	return nt_number_of(q, "irq") && nt_list_within(nt_holds(q, "cpus"), nt_isolated);
}

static void nt_look_isolated(struct nt_doctor *d)
{
	char *cmdline, *domain, *managed = NULL;

	if (!nt_need_tree(d))
		return;
	domain = nt_sys_read("/sys/devices/system/cpu/isolated");
	cmdline = nt_sys_read("/proc/cmdline");
	if (cmdline)
		managed = nt_isolcpus(cmdline);
	if (!domain && !cmdline)
		nt_not_looked(d, "/sys/devices/system/cpu/isolated: %s", nt_unreadable());
	nt_isolated = nt_printf("%s%s%s", domain ? domain : "", domain && *domain ? "," : "",
				managed ? managed : "");
	nt_blame_queues(d, nt_bad_isolated, "all CPUs of its interrupt are isolated",
			"boot with isolcpus= that leaves each queue a CPU, or with fewer queues");
	free(nt_isolated);
	nt_isolated = NULL;
	free(managed);
	free(cmdline);
	free(domain);
}

static void nt_look_node(struct nt_doctor *d)
{
	char *nodes;
	size_t i;

	if (!nt_need_tree(d))
		return;
	nodes = nt_sys_read("/sys/devices/system/node/online");
	if (!nodes) {
		nt_not_looked(d, "/sys/devices/system/node/online: %s", nt_unreadable());
		return;
	}
	for (i = 0; i < d->now.tree.nr && nt_list_count(nodes) > 1; i++) {
		const struct nt_object *obj = d->now.tree.objects[i];

		if (obj->parent || strcmp(nt_holds(obj, "numa_node"), "-1"))
			continue;
		nt_found(d, obj->name, nt_printf("its NUMA node is -1, and nodes %s are online",
						 nodes),
			 nt_printf("cat /sys/class/nvme/%s/device/numa_node; the firmware has to say it (_PXM), or echo NODE > that file, and then 1 > /sys/class/nvme/%s/reset_controller",
				   obj->name, obj->name));
	}
	free(nodes);
}

/* Rules: statistics */

static uint64_t nt_stat_of(const struct nt_object *obj, const char *name)
{
	const struct nt_stat *stat = nt_object_stat(obj, name);

	return stat ? stat->value : 0;
}

/* False: there are no statistics, which was noted. */
static bool nt_need_stats(struct nt_doctor *d)
{
	const char *why;

	if (!nt_need_tree(d))
		return false;
	why = d->now.tree.nr ? nt_no_stats(&d->now.tree) : NULL;
	if (why)
		nt_not_looked(d, "%s", why);
	return !why;
}

static void nt_look_oldest(struct nt_doctor *d)
{
	uint64_t age, limit;
	char text[64];
	size_t i;

	if (!nt_need_stats(d))
		return;
	for (i = 0; i < d->now.tree.nr; i++) {
		const struct nt_object *obj = d->now.tree.objects[i];

		age = nt_stat_of(obj, "oldest_ns");
		limit = 2000000 * nt_number_of(obj, "defer_max_age_ms");
		if (obj->parent && !limit)
			limit = 2000000 * nt_number_of(obj->parent, "defer_max_age_ms");
		if (limit < 1000000000)
			limit = 1000000000;
		if (age <= limit)
			continue;
		nt_found(d, obj->name,
			 nt_printf("a completed request waits for a worker since %s",
				   nt_format(NVMETUNE_UNIT_NANOSECONDS, age, text, sizeof(text))),
			 nt_printf("nvmetune wq %s, and wq %s cpus=LIST with CPUs that no real-time task keeps busy",
				   obj->name, obj->name));
	}
}

/**
 * struct nt_pressure - what a controller's queues have deferred and not deferred
 * @ctrl: the controller, NULL: none yet
 * @queues: those with much of what was not
 * @kept: was to be deferred and was not
 * @deferred: was
 */
struct nt_pressure {
	const struct nt_object *ctrl;
	struct nt_names queues;
	uint64_t kept;
	uint64_t deferred;
};

static void nt_tell_pressure(struct nt_doctor *d, struct nt_pressure *p)
{
	uint64_t lanes = p->ctrl ? nt_number_of(p->ctrl, "defer_lanes") : 0;
	char *queues;

	if (!p->queues.nr)
		return;
	queues = nt_names_take(&p->queues);
	nt_found(d, p->ctrl->name,
		 nt_printf("%s: %" PRIu64 " of %" PRIu64 " requests were completed in the interrupt because the backlog was full or old",
			   queues, p->kept, p->kept + p->deferred),
		 lanes < 8 ? nt_printf("nvmetune set %s defer_lanes=%" PRIu64, p->ctrl->name,
				       lanes < 4 ? 2 * lanes : 8) :
		 nt_printf("nvmetune wq %s cpus=LIST, with more CPUs", p->ctrl->name));
	free(queues);
}

static void nt_look_pressure(struct nt_doctor *d)
{
	struct nt_pressure p = { };
	uint64_t kept, deferred;
	size_t i;

	if (!nt_need_stats(d))
		return;
	for (i = 0; i < d->now.tree.nr; i++) {
		const struct nt_object *obj = d->now.tree.objects[i];

		if (obj->parent != p.ctrl) {
			nt_tell_pressure(d, &p);
			p = (struct nt_pressure){ .ctrl = obj->parent };
		}
		kept = nt_stat_of(obj, "irq_pressure") + nt_stat_of(obj, "softirq_pressure");
		deferred = nt_stat_of(obj, "irq_deferred") + nt_stat_of(obj, "softirq_deferred");
		if (!p.ctrl || kept < 100 || kept < (kept + deferred) / 20)
			continue;
		nt_names_add(&p.queues, obj->name);
		p.kept += kept;
		p.deferred += deferred;
	}
	nt_tell_pressure(d, &p);
}

const struct nt_rule nt_rules_queues[] = {
	{
		"deferral-off", NT_WARNING, "queues that bounce and may not defer",
		"All DMA bounces, so each read is copied in the interrupt of one CPU, until that CPU does nothing else.",
		nt_look_off,
	}, {
		"budget-unlimited", NT_WARNING, "budgets of mode auto that are never exceeded",
		"Mode auto defers beyond a budget of interrupt time. With such a one it never does.",
		nt_look_budget,
	}, {
		"resched-never", NT_WARNING, "workers that do not let go of their CPU",
		"With resched_bytes=0 a worker copies all of its backlog in one go; other tasks of its CPU wait.",
		nt_look_resched,
	}, {
		"backlog-exceeds-pool", NT_WARNING, "limits of the backlog against the bounce pool",
		"Deferred requests hold bounce buffers. Where one queue may hold more than half of the pool, others wait for buffers.",
		nt_look_backlog,
	}, {
		"measure-on", NT_HINT, "measuring that was left switched on",
		"Measuring reads the clock several times an interrupt.",
		nt_look_measure,
	}, {
		"threaded-interrupts", NT_HINT, "interrupts in threads where deferral is wanted",
		"Threads do not hold up their CPU, so that works; but settings of deferral have no effect.",
		nt_look_threaded,
	}, {
		"polled-queues", NT_HINT, "polled queues where deferral is wanted",
		"Polled queues complete in the task that polls; settings of deferral have no effect on them.",
		nt_look_polled,
	}, {
		"not-armed", NT_WARNING, "queues that should defer and cannot",
		"Until a queue has its workqueue it completes in the interrupt.",
		nt_look_armed,
	}, {
		"isolated-cpus", NT_WARNING, "queues whose CPUs are all isolated",
		"Interrupts of these queues, and the copies in them, run on CPUs that were to be left alone.",
		nt_look_isolated,
	}, {
		"numa-node-unknown", NT_WARNING, "controllers without a NUMA node",
		"Without it, memory and workers may be on a node far from the device.",
		nt_look_node,
	}, {
		"oldest-deferred", NT_CRITICAL, "deferred requests that no worker takes",
		"Such a request has no time-out: who waits for it waits until a worker gets a CPU.",
		nt_look_oldest,
	}, {
		"backlog-pressure", NT_WARNING, "requests that were to be deferred and were not",
		"Workers do not keep up, so interrupts copy again.",
		nt_look_pressure,
	},
	{ }
};
