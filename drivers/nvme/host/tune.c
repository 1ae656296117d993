// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NVMe PCI driver's part of the control plane: values of the driver, of
 * controllers and of queues, and the objects that show them. tune-params.c says what
 * can be set and what is shown, tune-stats.c has the statistics.
 *
 * A queue's value comes before its controller's, and that before the driver's, which
 * is the module parameter:
 *
 *   nvme           the driver's values; there as long as any controller is.
 *                  "inherit" brings the built-in default back
 *   nvme0          a controller's own values, or "inherit"
 *   nvme0/q1       a queue's own values, or "inherit"
 *
 * Values live in the driver's structures; objects only show them. A queue's object
 * comes and goes in the controller's update work, since registering waits for
 * memory, and a reset must not.
 */
#include <linux/device.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "tune.h"

/* Values */

/*
 * Protects the list of controllers, the values of all levels, and the pointers to
 * objects. Nothing sleeps under it: a reset takes it.
 */
static DEFINE_SPINLOCK(nvme_tune_lock);
static LIST_HEAD(nvme_tune_ctrls);

static u32 *nvme_tune_slot(struct nvme_defer_settings *set, unsigned int field)
{
	BUILD_BUG_ON(NVME_TUNE_NR_FIELDS > 32);
	return (u32 *)set + field;
}

/**
 * nvme_tune_in_force() - what holds at a level
 * @level: the level; NULL: for the driver
 * @field: which setting
 *
 * Context: under nvme_tune_lock; for the driver, any.
 * Return: the value, its own or an inherited one.
 */
u32 nvme_tune_in_force(struct nvme_tune_level *level, unsigned int field)
{
	for (; level; level = level->above)
		if (level->has & BIT(field))
			return READ_ONCE(*nvme_tune_slot(&level->own, field));
	return READ_ONCE(*nvme_tune_slot(&nvme_defer_settings, field));
}

static void nvme_tune_recompute(struct nvme_defer *d)
{
	unsigned int i;

	lockdep_assert_held(&nvme_tune_lock);
	for (i = 0; i < NVME_TUNE_NR_FIELDS; i++)
		WRITE_ONCE(*nvme_tune_slot(&d->in_force, i),
			   nvme_tune_in_force(&d->level, i));
}

static void nvme_tune_recompute_all(void)
{
	struct nvme_defer_ctrl *c;
	unsigned int qid;

	lockdep_assert_held(&nvme_tune_lock);
	list_for_each_entry(c, &nvme_tune_ctrls, entry) {
		for (qid = 0; qid < c->nr_queues; qid++)
			if (c->queue[qid])
				nvme_tune_recompute(c->queue[qid]);
		schedule_work(&c->update);
	}
}

/**
 * nvme_defer_update_all() - nvme_defer_settings has changed
 *
 * Decisions follow at once; workqueues and histograms a little later.
 *
 * Context: task context.
 */
void nvme_defer_update_all(void)
{
	spin_lock(&nvme_tune_lock);
	nvme_tune_recompute_all();
	spin_unlock(&nvme_tune_lock);
}

/**
 * nvme_tune_workqueue() - what a controller's workqueues shall be
 * @c: the controller
 *
 * Return: enum nvme_defer_wq_scope.
 */
u32 nvme_tune_workqueue(struct nvme_defer_ctrl *c)
{
	u32 scope;

	spin_lock(&nvme_tune_lock);
	scope = nvme_tune_in_force(&c->level, NVME_TUNE_FIELD(workqueue));
	spin_unlock(&nvme_tune_lock);
	return scope;
}

/**
 * nvme_tune_get() - a parameter's get
 * @obj: the object
 * @param: the parameter
 * @state: out
 *
 * Context: task context.
 */
void nvme_tune_get(struct nvmetune_object *obj,
		   const struct nvmetune_param *param,
		   struct nvmetune_state *state)
{
	struct nvme_tune_level *level = nvmetune_data(obj);

	spin_lock(&nvme_tune_lock);
	state->in_force = nvme_tune_in_force(level, param->arg);
	state->own.inherit = level && !(level->has & BIT(param->arg));
	state->own.num = state->in_force;
	spin_unlock(&nvme_tune_lock);
}

static void nvme_tune_put(struct nvme_tune_level *level,
			  const struct nvmetune_param *param,
			  const struct nvmetune_value *value)
{
	unsigned int field = param->arg;

	spin_lock(&nvme_tune_lock);
	if (!level) {
		WRITE_ONCE(*nvme_tune_slot(&nvme_defer_settings, field),
			   value->inherit ? param->def : value->num);
	} else if (value->inherit) {
		level->has &= ~BIT(field);
	} else {
		WRITE_ONCE(*nvme_tune_slot(&level->own, field), value->num);
		level->has |= BIT(field);
	}
	nvme_tune_recompute_all();
	spin_unlock(&nvme_tune_lock);
}

/**
 * nvme_tune_commit() - a parameter's commit
 * @s: what to set
 *
 * Context: task context.
 */
void nvme_tune_commit(struct nvmetune_setting *s)
{
	nvme_tune_put(nvmetune_data(s->obj), s->param, &s->value);
}

/* Objects */

/* The driver's object, and how many controllers there are. */
static struct nvmetune_object *nvme_tune_driver;
static unsigned int nvme_tune_users;
static DEFINE_MUTEX(nvme_tune_users_mutex);

static void nvme_tune_set_obj(struct nvmetune_object **p,
			      struct nvmetune_object *obj)
{
	spin_lock(&nvme_tune_lock);
	*p = IS_ERR(obj) ? NULL : obj;
	spin_unlock(&nvme_tune_lock);
}

static struct nvmetune_object *nvme_tune_take_obj(struct nvmetune_object **p)
{
	struct nvmetune_object *obj;

	spin_lock(&nvme_tune_lock);
	obj = *p;
	*p = NULL;
	spin_unlock(&nvme_tune_lock);
	return obj;
}

static struct nvmetune_object *nvme_tune_get_obj(struct nvmetune_object **p)
{
	struct nvmetune_object *obj;

	spin_lock(&nvme_tune_lock);
	obj = *p ? nvmetune_get(*p) : NULL;
	spin_unlock(&nvme_tune_lock);
	return obj;
}

/**
 * nvme_tune_add_ctrl() - a controller comes
 * @c: the controller, without queues
 *
 * Without memory for its object, it works and cannot be tuned.
 *
 * Context: task context, may sleep.
 */
void nvme_tune_add_ctrl(struct nvme_defer_ctrl *c)
{
	char name[16];

	mutex_lock(&nvme_tune_users_mutex);
	if (!nvme_tune_users++)
		nvme_tune_set_obj(&nvme_tune_driver,
				  nvmetune_register(&nvme_tune_driver_class,
						    NULL, "nvme", NULL, NULL));
	mutex_unlock(&nvme_tune_users_mutex);

	snprintf(name, sizeof(name), "nvme%d", c->instance);
	nvme_tune_set_obj(&c->level.obj,
			  nvmetune_register(&nvme_tune_ctrl_class, NULL, name,
					    c->dev, &c->level));
	spin_lock(&nvme_tune_lock);
	list_add_tail(&c->entry, &nvme_tune_ctrls);
	spin_unlock(&nvme_tune_lock);
}

/**
 * nvme_tune_remove_ctrl() - a controller goes
 * @c: the controller
 *
 * Nothing schedules its update work afterwards.
 *
 * Context: task context, may sleep. The caller holds no lock that the setting of
 *	a parameter takes.
 */
void nvme_tune_remove_ctrl(struct nvme_defer_ctrl *c)
{
	unsigned int qid;

	/* No setter schedules the work from here on, so that it can end. */
	spin_lock(&nvme_tune_lock);
	list_del(&c->entry);
	spin_unlock(&nvme_tune_lock);
	cancel_work_sync(&c->update);
	for (qid = 0; qid < c->nr_queues; qid++)
		if (c->queue[qid])
			nvme_tune_remove_queue(c->queue[qid]);
	nvmetune_unregister(nvme_tune_take_obj(&c->level.obj));

	mutex_lock(&nvme_tune_users_mutex);
	if (!--nvme_tune_users)
		nvmetune_unregister(nvme_tune_take_obj(&nvme_tune_driver));
	mutex_unlock(&nvme_tune_users_mutex);
}

/**
 * nvme_tune_add_queue() - a queue appears for the first time
 * @d: the queue
 *
 * Context: task context, no allocation: in the reset path.
 */
void nvme_tune_add_queue(struct nvme_defer *d)
{
	spin_lock(&nvme_tune_lock);
	d->level.above = &d->ctrl->level;
	nvme_tune_recompute(d);
	spin_unlock(&nvme_tune_lock);
}

/* Switch measuring on or off; the histograms stay once they are made. */
static void nvme_tune_measure(struct nvme_defer *d, bool on)
{
	struct nvme_defer_hists *hists;

	if (on == d->measured)
		return;
	if (on && !d->hists) {
		hists = kzalloc_node(sizeof(*hists), GFP_KERNEL,
				     dev_to_node(d->ctrl->dev));
		if (!hists)
			return;
		/* Pairs with smp_load_acquire() in nvme_defer_measured(). */
		smp_store_release(&d->hists, hists);
	}
	/* Nothing is left of the last time that it was on. */
	WRITE_ONCE(d->gathered_since, 0);
	if (on)
		static_branch_inc(&nvme_defer_hists_key);
	else
		static_branch_dec(&nvme_defer_hists_key);
	d->measured = on;
}

/**
 * nvme_tune_update_queue() - bring a queue's object in line with its state
 * @d: the queue
 *
 * Context: the controller's update work.
 */
void nvme_tune_update_queue(struct nvme_defer *d)
{
	bool in_use = READ_ONCE(d->in_use);
	struct nvmetune_object *above = d->ctrl->level.obj;
	char name[16];

	nvme_tune_measure(d, in_use && READ_ONCE(d->set->measure));
	if (!in_use) {
		nvmetune_unregister(nvme_tune_take_obj(&d->level.obj));
	} else if (above && !d->level.obj) {
		snprintf(name, sizeof(name), "q%u", d->qid);
		nvme_tune_set_obj(&d->level.obj,
				  nvmetune_register(&nvme_tune_queue_class,
						    above, name, NULL,
						    &d->level));
	}
}

/**
 * nvme_tune_remove_queue() - a queue's structure is about to go
 * @d: the queue
 *
 * Context: task context, may sleep; the update work does not run any more.
 */
void nvme_tune_remove_queue(struct nvme_defer *d)
{
	nvmetune_unregister(nvme_tune_take_obj(&d->level.obj));
	nvme_tune_measure(d, false);
}

/**
 * nvme_tune_set_driver() - set the driver's value, with or without its object
 * @param: the parameter
 * @value: the value
 *
 * Context: task context, may sleep.
 * Return: as nvmetune_apply().
 */
int nvme_tune_set_driver(const struct nvmetune_param *param,
			 const struct nvmetune_value *value)
{
	struct nvmetune_setting s = { .param = param, .value = *value };
	struct nvmetune_error err;
	int ret;

	s.obj = nvme_tune_get_obj(&nvme_tune_driver);
	if (s.obj) {
		ret = nvmetune_apply(&s, 1, &err);
		nvmetune_put(s.obj);
		if (ret != -ENODEV)
			return ret;
	}
	/* There is no controller, or the last one has just gone. */
	nvme_tune_put(NULL, param, value);
	return 0;
}

/* A controller or queue that has a value of its own for a setting. */
static struct nvme_tune_level *nvme_tune_find_own(unsigned int field)
{
	struct nvme_defer_ctrl *c;
	unsigned int qid;

	lockdep_assert_held(&nvme_tune_lock);
	list_for_each_entry(c, &nvme_tune_ctrls, entry) {
		if (c->level.has & BIT(field))
			return &c->level;
		for (qid = 0; qid < c->nr_queues; qid++)
			if (c->queue[qid] &&
			    c->queue[qid]->level.has & BIT(field))
				return &c->queue[qid]->level;
	}
	return NULL;
}

/**
 * nvme_tune_inherit_all() - take away all own values for a setting
 * @param: the parameter
 *
 * Context: task context, may sleep.
 */
void nvme_tune_inherit_all(const struct nvmetune_param *param)
{
	struct nvmetune_setting s;
	struct nvme_tune_level *level;
	struct nvmetune_error err;

	for (;;) {
		s = (struct nvmetune_setting){
			.param = param,
			.value.inherit = true,
		};
		spin_lock(&nvme_tune_lock);
		level = nvme_tune_find_own(param->arg);
		if (level && level->obj) {
			s.obj = nvmetune_get(level->obj);
		} else if (level) {
			/* Not there at the moment: nobody to be told. */
			level->has &= ~BIT(param->arg);
			nvme_tune_recompute_all();
		}
		spin_unlock(&nvme_tune_lock);
		if (!level)
			return;
		if (!s.obj)
			continue;
		/* It may go in the meantime, and is not found again then. */
		nvmetune_apply(&s, 1, &err);
		nvmetune_put(s.obj);
	}
}
