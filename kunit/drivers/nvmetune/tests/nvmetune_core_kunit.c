// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the control plane: objects, changes, statistics. The provider is
 * made up; it counts what it is asked.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/string.h>
#include <trace/events/nvmetune.h>

#include "internal.h"

#define NR_FAKE	4

struct fake {
	u64 value[NR_FAKE];
	bool own[NR_FAKE];
	unsigned int prepared;
	unsigned int committed;
	unsigned int aborted;
	int refuse;		/* prepare of this parameter fails; -1: none */
	u64 counter;
	u64 gauge;
	u64 maximum;
	struct nvmetune_hist hist;
	bool hist_on;
	struct completion *inside;	/* of get: told, and waited for */
	struct completion *go_on;
};

static void fake_get(struct nvmetune_object *obj, const struct nvmetune_param *p,
		     struct nvmetune_state *state)
{
	struct fake *f = nvmetune_data(obj);

	if (f->inside) {
		complete(f->inside);
		wait_for_completion(f->go_on);
	}
	state->own.inherit = p->inherits && !f->own[p->arg];
	state->own.num = f->value[p->arg];
	state->in_force = state->own.inherit ? 77 : f->value[p->arg];
}

static int fake_prepare(struct nvmetune_setting *s, struct nvmetune_error *err)
{
	struct fake *f = nvmetune_data(s->obj);

	if (f->refuse == s->param->arg) {
		err->text = "not now";
		return -EBUSY;
	}
	f->prepared++;
	s->prepared = f;
	return 0;
}

static void fake_commit(struct nvmetune_setting *s)
{
	struct fake *f = nvmetune_data(s->obj);

	f->committed++;
	f->own[s->param->arg] = !s->value.inherit;
	if (!s->value.inherit)
		f->value[s->param->arg] = s->value.num;
}

static void fake_abort(struct nvmetune_setting *s)
{
	struct fake *f = nvmetune_data(s->obj);

	if (s->prepared == f)
		f->aborted++;
}

#define FAKE_PARAM(i, pname, ...)					\
	{								\
		.name = pname, .help = "a number",			\
		.type = NVMETUNE_TYPE_COUNT, .max = 1000, .arg = i,	\
		.get = fake_get, .prepare = fake_prepare,		\
		.commit = fake_commit, .abort = fake_abort, __VA_ARGS__	\
	}

static const struct nvmetune_param fake_params[] = {
	FAKE_PARAM(0, "a"),
	FAKE_PARAM(1, "b"),
	FAKE_PARAM(2, "c"),
	FAKE_PARAM(3, "d", .inherits = true),
};

static const struct nvmetune_param fake_facts[] = {
	{
		.name = "fact", .help = "a number", .max = 1000,
		.type = NVMETUNE_TYPE_COUNT, .get = fake_get,
	},
};

static const struct nvmetune_stat fake_stats[] = {
	{ .name = "counter", .help = "x", .kind = NVMETUNE_STAT_KIND_COUNTER },
	{ .name = "gauge", .help = "x", .kind = NVMETUNE_STAT_KIND_GAUGE },
	{ .name = "maximum", .help = "x", .kind = NVMETUNE_STAT_KIND_MAXIMUM },
};

static const struct nvmetune_hist_desc fake_hists[] = {
	{ .name = "hist", .help = "x" },
};

static void fake_read_stats(struct nvmetune_object *obj, u64 *values)
{
	struct fake *f = nvmetune_data(obj);

	values[0] = f->counter;
	values[1] = f->gauge;
	values[2] = f->maximum;
}

static void fake_reset_stats(struct nvmetune_object *obj)
{
	struct fake *f = nvmetune_data(obj);

	f->maximum = 0;
}

static struct nvmetune_hist *fake_hist(struct nvmetune_object *obj,
				       unsigned int index)
{
	struct fake *f = nvmetune_data(obj);

	return f->hist_on ? &f->hist : NULL;
}

static const struct nvmetune_class fake_class = {
	.name		= "fake",
	.params		= {
		{ fake_params, ARRAY_SIZE(fake_params) },
		{ fake_facts, ARRAY_SIZE(fake_facts) },
	},
	.stats		= fake_stats,
	.nr_stats	= ARRAY_SIZE(fake_stats),
	.hists		= fake_hists,
	.nr_hists	= ARRAY_SIZE(fake_hists),
	.read_stats	= fake_read_stats,
	.reset_stats	= fake_reset_stats,
	.hist		= fake_hist,
};

/* Changes that were told, of objects of these tests. */
static unsigned int fake_told;

static void fake_probe(void *data, const char *path, const char *name,
		       const char *old, const char *new, const char *in_force)
{
	if (strstarts(path, "kunit"))
		fake_told++;
}

static struct fake *fake;
static struct nvmetune_object *fake_top;
static struct nvmetune_object *fake_below;

static int core_init(struct kunit *test)
{
	fake_told = 0;
	fake_top = NULL;
	fake_below = NULL;
	fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	if (!fake)
		return -ENOMEM;
	fake->refuse = -1;
	fake_top = nvmetune_register(&fake_class, NULL, "kunit", NULL, fake);
	fake_below = IS_ERR(fake_top) ? NULL :
		nvmetune_register(&fake_class, fake_top, "q1", NULL, fake);
	if (IS_ERR_OR_NULL(fake_below))
		return -ENOMEM;
	return register_trace_nvmetune_param(fake_probe, NULL);
}

static void core_exit(struct kunit *test)
{
	unregister_trace_nvmetune_param(fake_probe, NULL);
	tracepoint_synchronize_unregister();
	nvmetune_unregister(fake_below);
	nvmetune_unregister(fake_top);
}

static void set_four(struct nvmetune_setting *s)
{
	unsigned int i;

	for (i = 0; i < NR_FAKE; i++)
		s[i] = (struct nvmetune_setting){
			.obj = i % 2 ? fake_below : fake_top,
			.param = &fake_params[i],
			.value.num = 10 + i,
		};
}

/* Changes */

static void all_are_set(struct kunit *test)
{
	struct nvmetune_setting s[NR_FAKE];
	struct nvmetune_error err;
	unsigned int i;

	set_four(s);
	KUNIT_ASSERT_EQ(test, nvmetune_apply(s, NR_FAKE, &err), 0);
	for (i = 0; i < NR_FAKE; i++)
		KUNIT_EXPECT_EQ(test, fake->value[i], 10 + i);
	KUNIT_EXPECT_EQ(test, fake->prepared, NR_FAKE);
	KUNIT_EXPECT_EQ(test, fake->committed, NR_FAKE);
	KUNIT_EXPECT_EQ(test, fake->aborted, 0);
	KUNIT_EXPECT_EQ(test, fake_told, NR_FAKE);
}

static void expect_untouched(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < NR_FAKE; i++) {
		KUNIT_EXPECT_EQ(test, fake->value[i], 0);
		KUNIT_EXPECT_FALSE(test, fake->own[i]);
	}
	KUNIT_EXPECT_EQ(test, fake->committed, 0);
	KUNIT_EXPECT_EQ(test, fake->aborted, fake->prepared);
	KUNIT_EXPECT_EQ(test, fake_told, 0);
}

static void third_of_four_fails(struct kunit *test)
{
	struct nvmetune_setting s[NR_FAKE];
	unsigned int before = nvmetune_generation();
	struct nvmetune_error err;

	set_four(s);
	fake->refuse = 2;
	KUNIT_EXPECT_EQ(test, nvmetune_apply(s, NR_FAKE, &err), -EBUSY);
	KUNIT_EXPECT_EQ(test, err.index, 2);
	KUNIT_EXPECT_STREQ(test, err.text, "not now");
	KUNIT_EXPECT_EQ(test, fake->prepared, 2);
	expect_untouched(test);
	KUNIT_EXPECT_EQ(test, nvmetune_generation(), before);
}

/* What can be told beforehand is, before anything is prepared. */
static void last_of_four_is_wrong(struct kunit *test)
{
	struct nvmetune_setting s[NR_FAKE];
	struct nvmetune_error err;

	set_four(s);
	s[3].value.num = 1001;
	KUNIT_EXPECT_EQ(test, nvmetune_apply(s, NR_FAKE, &err), -ERANGE);
	KUNIT_EXPECT_EQ(test, err.index, 3);
	set_four(s);
	s[3].param = &fake_facts[0];
	KUNIT_EXPECT_EQ(test, nvmetune_apply(s, NR_FAKE, &err), -EPERM);
	KUNIT_EXPECT_EQ(test, err.index, 3);
	set_four(s);
	s[3].param = s[1].param;
	KUNIT_EXPECT_EQ(test, nvmetune_apply(s, NR_FAKE, &err), -EINVAL);
	KUNIT_EXPECT_EQ(test, err.index, 3);
	set_four(s);
	s[2].value.inherit = true;
	KUNIT_EXPECT_EQ(test, nvmetune_apply(s, NR_FAKE, &err), -EINVAL);
	KUNIT_EXPECT_EQ(test, err.index, 2);
	KUNIT_EXPECT_EQ(test, nvmetune_apply(s, NVMETUNE_MAX_SETTINGS + 1, &err),
			-E2BIG);
	KUNIT_EXPECT_EQ(test, fake->prepared, 0);
	expect_untouched(test);
}

static void one_object_is_gone(struct kunit *test)
{
	struct nvmetune_setting s[NR_FAKE];
	struct nvmetune_error err;

	set_four(s);
	nvmetune_get(fake_below);
	nvmetune_unregister(fake_below);
	KUNIT_EXPECT_EQ(test, nvmetune_apply(s, NR_FAKE, &err), -ENODEV);
	KUNIT_EXPECT_EQ(test, err.index, 1);
	expect_untouched(test);
	nvmetune_put(fake_below);
	fake_below = NULL;
}

static void inherit_and_back(struct kunit *test)
{
	char text[32];
	int len;

#define EXPECT_D(want_own, want_in_force) do {				\
	len = nvmetune_show(fake_top, &fake_params[3], false, text, sizeof(text)); \
	KUNIT_EXPECT_GT(test, len, 0);					\
	KUNIT_EXPECT_STREQ(test, text, want_own);			\
	len = nvmetune_show(fake_top, &fake_params[3], true, text, sizeof(text)); \
	KUNIT_EXPECT_GT(test, len, 0);					\
	KUNIT_EXPECT_STREQ(test, text, want_in_force);			\
} while (0)

	EXPECT_D("inherit", "77");
	KUNIT_EXPECT_EQ(test, nvmetune_store(fake_top, &fake_params[3], "5\n"), 0);
	EXPECT_D("5", "5");
	KUNIT_EXPECT_EQ(test, nvmetune_store(fake_top, &fake_params[3], "1001"), -ERANGE);
	KUNIT_EXPECT_EQ(test, nvmetune_store(fake_top, &fake_facts[0], "5"), -EPERM);
	EXPECT_D("5", "5");
	KUNIT_EXPECT_EQ(test, nvmetune_store(fake_top, &fake_params[3], "inherit"), 0);
	EXPECT_D("inherit", "77");
	KUNIT_EXPECT_EQ(test, fake_told, 2);
}

static void told_once_a_change(struct kunit *test)
{
	unsigned int before;

	KUNIT_EXPECT_EQ(test, nvmetune_store(fake_top, &fake_params[0], "5"), 0);
	KUNIT_EXPECT_EQ(test, fake_told, 1);
	before = nvmetune_generation();
	KUNIT_EXPECT_EQ(test, nvmetune_store(fake_top, &fake_params[0], "5"), 0);
	KUNIT_EXPECT_EQ(test, nvmetune_store(fake_top, &fake_params[0], "x"), -EINVAL);
	KUNIT_EXPECT_EQ(test, nvmetune_store(fake_top, &fake_params[3], "inherit"), 0);
	KUNIT_EXPECT_EQ(test, fake_told, 1);
	KUNIT_EXPECT_EQ(test, nvmetune_generation(), before);
	/* 0 is a value, and not to inherit. */
	KUNIT_EXPECT_EQ(test, nvmetune_store(fake_top, &fake_params[3], "0"), 0);
	KUNIT_EXPECT_EQ(test, fake_told, 2);
	KUNIT_EXPECT_NE(test, nvmetune_generation(), before);
}

/* Objects */

static void found_by_path(struct kunit *test)
{
	static const char * const wrong[] = {
		"", "/", "kuni", "kunit2", "kunit/", "/kunit", "kunit//q1",
		"kunit/q", "kunit/q11", "kunit/q1/", "q1", "kunit/q1/q1",
	};
	struct nvmetune_object *obj;
	unsigned int i;

	obj = nvmetune_find("kunit");
	KUNIT_EXPECT_PTR_EQ(test, obj, fake_top);
	nvmetune_put(obj);
	obj = nvmetune_find("kunit/q1");
	KUNIT_EXPECT_PTR_EQ(test, obj, fake_below);
	KUNIT_EXPECT_STREQ(test, nvmetune_path(obj), "kunit/q1");
	nvmetune_put(obj);
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		KUNIT_EXPECT_NULL_MSG(test, nvmetune_find(wrong[i]), "'%s'", wrong[i]);
}

static void found_in_turn(struct kunit *test)
{
	struct nvmetune_object *obj;
	unsigned long id = fake_top->id;

	KUNIT_EXPECT_GT(test, fake_below->id, fake_top->id);
	obj = nvmetune_find_next(&id);
	KUNIT_EXPECT_PTR_EQ(test, obj, fake_top);
	nvmetune_put(obj);
	id++;
	obj = nvmetune_find_next(&id);
	KUNIT_EXPECT_PTR_EQ(test, obj, fake_below);
	nvmetune_put(obj);
	id = ULONG_MAX;
	KUNIT_EXPECT_NULL(test, nvmetune_find_next(&id));
}

static void ids_are_not_used_again(struct kunit *test)
{
	u32 id = fake_below->id;

	nvmetune_unregister(fake_below);
	fake_below = nvmetune_register(&fake_class, fake_top, "q1", NULL, fake);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fake_below));
	KUNIT_EXPECT_GT(test, fake_below->id, id);
}

static void names_are_limited(struct kunit *test)
{
	char name[NVMETUNE_MAX_PATH + 1];
	struct nvmetune_object *obj;

	memset(name, 'x', sizeof(name));
	name[NVMETUNE_MAX_PATH - strlen("kunit/")] = '\0';
	obj = nvmetune_register(&fake_class, fake_top, name, NULL, fake);
	KUNIT_EXPECT_FALSE(test, IS_ERR(obj));
	nvmetune_unregister(obj);
	name[NVMETUNE_MAX_PATH - strlen("kunit/")] = 'x';
	name[NVMETUNE_MAX_PATH - strlen("kunit/") + 1] = '\0';
	obj = nvmetune_register(&fake_class, fake_top, name, NULL, fake);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(obj), -ENAMETOOLONG);
	nvmetune_unregister(obj);
}

/* What a reader holds is memory; the provider is not asked any more. */
static void gone_while_held(struct kunit *test)
{
	struct nvmetune_object *obj = nvmetune_find("kunit/q1");
	char text[32];

	KUNIT_ASSERT_NOT_NULL(test, obj);
	nvmetune_unregister(fake_below);
	fake_below = NULL;
	KUNIT_EXPECT_NULL(test, nvmetune_find("kunit/q1"));
	KUNIT_EXPECT_FALSE(test, nvmetune_enter(obj));
	KUNIT_EXPECT_STREQ(test, nvmetune_path(obj), "kunit/q1");
	KUNIT_EXPECT_EQ(test, nvmetune_show(obj, &fake_params[0], false, text,
					    sizeof(text)), -ENODEV);
	KUNIT_EXPECT_EQ(test, nvmetune_store(obj, &fake_params[0], "1"), -ENODEV);
	KUNIT_EXPECT_EQ(test, nvmetune_reset_stats(obj), -ENODEV);
	nvmetune_put(obj);
}

static int show_thread(void *data)
{
	char text[32];

	nvmetune_show(data, &fake_params[0], false, text, sizeof(text));
	nvmetune_put(data);
	return 0;
}

static int unregister_thread(void *data)
{
	nvmetune_unregister(fake_below);
	complete(data);
	return 0;
}

static void unregister_waits(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(inside);
	DECLARE_COMPLETION_ONSTACK(go_on);
	DECLARE_COMPLETION_ONSTACK(gone);
	struct task_struct *task;

	fake->inside = &inside;
	fake->go_on = &go_on;
	task = kthread_run(show_thread, nvmetune_get(fake_below), "nvmetune-show");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	wait_for_completion(&inside);
	task = kthread_run(unregister_thread, &gone, "nvmetune-unregister");
	if (IS_ERR(task)) {
		complete(&go_on);
		KUNIT_FAIL(test, "no thread");
		return;
	}
	/* It is not found any more, and waits for the callback that runs. */
	while (true) {
		struct nvmetune_object *obj = nvmetune_find("kunit/q1");

		if (!obj)
			break;
		nvmetune_put(obj);
		msleep(20);
	}
	KUNIT_EXPECT_EQ(test, wait_for_completion_timeout(&gone, HZ / 5), 0);
	fake->inside = NULL;
	complete(&go_on);
	wait_for_completion(&gone);
	fake_below = NULL;
}

/* Statistics */

static void stats_are_reset(struct kunit *test)
{
	u64 v[3];

	fake->counter = 100;
	fake->gauge = 5;
	fake->maximum = 9;
	KUNIT_ASSERT_TRUE(test, nvmetune_enter(fake_top));
	nvmetune_read_stats(fake_top, v);
	nvmetune_leave(fake_top);
	KUNIT_EXPECT_EQ(test, v[0], 100);
	KUNIT_EXPECT_EQ(test, nvmetune_reset_stats(fake_top), 0);
	fake->counter += 7;
	KUNIT_ASSERT_TRUE(test, nvmetune_enter(fake_top));
	nvmetune_read_stats(fake_top, v);
	nvmetune_leave(fake_top);
	KUNIT_EXPECT_EQ(test, v[0], 7);
	KUNIT_EXPECT_EQ(test, v[1], 5);
	KUNIT_EXPECT_EQ(test, v[2], 0);
}

static void histograms_are_reset(struct kunit *test)
{
	struct nvmetune_hist_counts *counts;

	counts = kunit_kzalloc(test, sizeof(*counts), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, counts);
	KUNIT_ASSERT_TRUE(test, nvmetune_enter(fake_top));
	nvmetune_read_hist(fake_top, 0, counts);
	KUNIT_EXPECT_FALSE(test, counts->on);
	fake->hist_on = true;
	nvmetune_hist_add(&fake->hist, 100, 3);
	nvmetune_read_hist(fake_top, 0, counts);
	KUNIT_EXPECT_TRUE(test, counts->on);
	KUNIT_EXPECT_EQ(test, counts->count[nvmetune_hist_bucket(100)], 3);
	nvmetune_leave(fake_top);
	KUNIT_EXPECT_EQ(test, nvmetune_reset_stats(fake_top), 0);
	nvmetune_hist_add(&fake->hist, 100, 2);
	KUNIT_ASSERT_TRUE(test, nvmetune_enter(fake_top));
	nvmetune_read_hist(fake_top, 0, counts);
	nvmetune_leave(fake_top);
	KUNIT_EXPECT_EQ(test, counts->count[nvmetune_hist_bucket(100)], 2);
}

static struct kunit_case core_test_cases[] = {
	KUNIT_CASE(all_are_set),
	KUNIT_CASE(third_of_four_fails),
	KUNIT_CASE(last_of_four_is_wrong),
	KUNIT_CASE(one_object_is_gone),
	KUNIT_CASE(inherit_and_back),
	KUNIT_CASE(told_once_a_change),
	KUNIT_CASE(found_by_path),
	KUNIT_CASE(found_in_turn),
	KUNIT_CASE(ids_are_not_used_again),
	KUNIT_CASE(names_are_limited),
	KUNIT_CASE(gone_while_held),
	KUNIT_CASE(unregister_waits),
	KUNIT_CASE(stats_are_reset),
	KUNIT_CASE(histograms_are_reset),
	{ }
};

static struct kunit_suite core_suite = {
	.name = "nvmetune_core",
	.init = core_init,
	.exit = core_exit,
	.test_cases = core_test_cases,
};

kunit_test_suite(core_suite);
