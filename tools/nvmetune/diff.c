// SPDX-License-Identifier: GPL-2.0-only
/*
 * What differs between two states, as events; and a state that follows events.
 */
#include <stdlib.h>
#include <string.h>

#include "watch.h"

static void nt_diff_object(const struct nt_object *obj, enum nt_event_kind kind,
			   void (*take)(const struct nt_event *ev, void *arg), void *arg)
{
	struct nt_event ev = {
		.kind = kind, .object = (char *)obj->name, .class = (char *)obj->class,
	};

	take(&ev, arg);
}

static void nt_diff_params(const struct nt_object *old, const struct nt_object *now,
			   void (*take)(const struct nt_event *ev, void *arg), void *arg)
{
	const struct nt_param *was, *is;
	struct nt_event ev;
	size_t i;

	for (i = 0; i < now->nr_params; i++) {
		is = &now->params[i];
		was = nt_object_param(old, is->name);
		/* Facts follow the device; nobody is told of them. */
		if (is->read_only || !was || !strcmp(was->text, is->text))
			continue;
		ev = (struct nt_event){
			.kind = NT_EVENT_PARAM, .object = (char *)now->name,
			.class = (char *)now->class, .param = *is, .old = was->text,
		};
		take(&ev, arg);
	}
}

void nt_tree_diff(const struct nt_tree *old, const struct nt_tree *now,
		  void (*take)(const struct nt_event *ev, void *arg), void *arg)
{
	const struct nt_object *was;
	size_t i;

	/* What is below goes first, as the kernel tells it. */
	for (i = old->nr; i--;)
		if (!nt_tree_find(now, old->objects[i]->name))
			nt_diff_object(old->objects[i], NT_EVENT_DEL, take, arg);
	for (i = 0; i < now->nr; i++) {
		was = nt_tree_find(old, now->objects[i]->name);
		if (was)
			nt_diff_params(was, now->objects[i], take, arg);
		else
			nt_diff_object(now->objects[i], NT_EVENT_ADD, take, arg);
	}
}

static bool nt_follow_param(struct nt_tree *tree, const struct nt_event *ev)
{
	struct nt_object *obj = nt_tree_find(tree, ev->object);
	struct nt_param *param = obj ? nt_object_param(obj, ev->param.name) : NULL;

	/* Of an object that is new here, nothing is known yet. */
	if (!param)
		return true;
	if (!strcmp(param->text, ev->param.text))
		return false;
	nt_param_set_text(param, ev->param.text, ev->param.in_force);
	return true;
}

static bool nt_follow_add(struct nt_tree *tree, const struct nt_event *ev)
{
	struct nt_object *obj = nt_tree_find(tree, ev->object);

	if (obj)
		return false;
	obj = nt_tree_add(tree, ev->object);
	obj->class = nt_intern(ev->class ? ev->class : "");
	nt_tree_sort(tree);
	return true;
}

/* Rebuilt without the one, as a tree has no way to take one out. */
static bool nt_follow_del(struct nt_tree *tree, const struct nt_event *ev)
{
	struct nt_tree gone = { };
	size_t i, left = 0;

	for (i = 0; i < tree->nr; i++) {
		if (strcmp(tree->objects[i]->name, ev->object)) {
			tree->objects[left++] = tree->objects[i];
			continue;
		}
		gone.objects = nt_grow(gone.objects, gone.nr, sizeof(*gone.objects));
		gone.objects[gone.nr++] = tree->objects[i];
	}
	if (!gone.nr)
		return false;
	tree->nr = left;
	tree->last = NULL;
	nt_tree_sort(tree);
	nt_tree_free(&gone);
	return true;
}

bool nt_tree_follow(struct nt_tree *tree, const struct nt_event *ev)
{
	switch (ev->kind) {
	case NT_EVENT_PARAM:
		return nt_follow_param(tree, ev);
	case NT_EVENT_ADD:
		return nt_follow_add(tree, ev);
	case NT_EVENT_DEL:
		return nt_follow_del(tree, ev);
	default:
		return true;
	}
}
