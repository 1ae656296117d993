// SPDX-License-Identifier: GPL-2.0-only
/*
 * A control plane for tunable drivers: the generic netlink family "nvmetune".
 *
 * See Documentation/netlink/specs/nvmetune.yaml, from which netlink-gen.[ch] and
 * the uapi header are made. Messages are handled in parallel; what has to be
 * serialised is so in the core. A dump keeps ids between its parts, no pointers,
 * and says if anything has changed since it began.
 */
#include <linux/slab.h>

#include "internal.h"
#include "netlink-gen.h"

/* Longest text of one value in a message. */
#define NVMETUNE_TEXT_SIZE	1024

static struct genl_family nvmetune_family;

static int nvmetune_refuse(struct genl_info *info, struct nlattr *attr,
			   const char *text, int ret)
{
	/* Not NL_SET_ERR_MSG(), which takes literals only. */
	if (info->extack)
		info->extack->_msg = text;
	NL_SET_BAD_ATTR(info->extack, attr);
	return ret;
}

/* Objects named in requests */

static struct nvmetune_object *nvmetune_object_of(struct genl_info *info,
						  struct nlattr *attr)
{
	struct nvmetune_object *obj = nvmetune_find(nla_data(attr));

	if (obj)
		return obj;
	return ERR_PTR(nvmetune_refuse(info, attr, "no such object", -ENODEV));
}

static int nvmetune_missing(struct genl_info *info, struct nlattr *nest,
			    unsigned int type, const char *text)
{
	if (info->extack) {
		info->extack->_msg = text;
		NL_SET_ERR_ATTR_MISS(info->extack, nest, type);
	}
	return -EINVAL;
}

/* Objects */

static int nvmetune_fill_object(struct sk_buff *skb, u32 portid, u32 seq,
				struct netlink_callback *cb,
				const struct nvmetune_object *obj, u8 cmd)
{
	void *hdr;

	hdr = genlmsg_put(skb, portid, seq, &nvmetune_family,
			  cb ? NLM_F_MULTI : 0, cmd);
	if (!hdr)
		return -EMSGSIZE;
	if (cb)
		genl_dump_check_consistent(cb, hdr);
	if (nla_put_u32(skb, NVMETUNE_A_OBJECT_ID, obj->id) ||
	    nla_put_string(skb, NVMETUNE_A_OBJECT_NAME, obj->path) ||
	    (obj->parent &&
	     nla_put_u32(skb, NVMETUNE_A_OBJECT_PARENT, obj->parent->id)) ||
	    nla_put_string(skb, NVMETUNE_A_OBJECT_CLASS, obj->class->name) ||
	    nla_put_u32(skb, NVMETUNE_A_OBJECT_PARAMS,
			nvmetune_nr_params(obj->class)) ||
	    nla_put_u32(skb, NVMETUNE_A_OBJECT_STATS, obj->class->nr_stats)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

int nvmetune_nl_object_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *name = info->attrs[NVMETUNE_A_OBJECT_NAME];
	struct nvmetune_object *obj;
	struct sk_buff *msg;
	int ret;

	if (!name)
		return nvmetune_missing(info, NULL, NVMETUNE_A_OBJECT_NAME,
					"which object?");
	obj = nvmetune_object_of(info, name);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	ret = -ENOMEM;
	msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!msg)
		goto put;
	ret = -ENODEV;
	if (!nvmetune_enter(obj))
		goto free;
	ret = nvmetune_fill_object(msg, info->snd_portid, info->snd_seq, NULL,
				   obj, NVMETUNE_CMD_OBJECT_GET);
	nvmetune_leave(obj);
	if (ret)
		goto free;
	nvmetune_put(obj);
	return genlmsg_reply(msg, info);

free:
	nlmsg_free(msg);
put:
	nvmetune_put(obj);
	return ret;
}

/*
 * Dumps go through objects by id. A part that ends within an object goes on there:
 * args[0] is the id, args[1] how much of the object was sent.
 */
static int nvmetune_dump(struct sk_buff *skb, struct netlink_callback *cb,
			 int (*fill)(struct sk_buff *skb,
				     struct netlink_callback *cb,
				     struct nvmetune_object *obj))
{
	struct nvmetune_object *obj;
	unsigned long id = cb->args[0];
	int ret = 0;

	cb->seq = nvmetune_generation();
	while (!ret && (obj = nvmetune_find_next(&id))) {
		/* The object where the last part ended may have gone since. */
		if (id != cb->args[0])
			cb->args[1] = 0;
		cb->args[0] = id;
		if (nvmetune_enter(obj)) {
			ret = fill(skb, cb, obj);
			nvmetune_leave(obj);
		}
		nvmetune_put(obj);
		if (!ret) {
			cb->args[0] = ++id;
			cb->args[1] = 0;
		}
	}
	if (ret == -EMSGSIZE && skb->len)
		ret = 0;
	return ret ?: skb->len;
}

static int nvmetune_dump_object(struct sk_buff *skb,
				struct netlink_callback *cb,
				struct nvmetune_object *obj)
{
	return nvmetune_fill_object(skb, NETLINK_CB(cb->skb).portid,
				    cb->nlh->nlmsg_seq, cb, obj,
				    NVMETUNE_CMD_OBJECT_GET);
}

int nvmetune_nl_object_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb)
{
	return nvmetune_dump(skb, cb, nvmetune_dump_object);
}

/* Parameters */

static int nvmetune_put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, NVMETUNE_A_PARAM_PAD);
}

static int nvmetune_put_range(struct sk_buff *skb,
			      const struct nvmetune_param *p)
{
	unsigned int i;

	switch (p->type) {
	case NVMETUNE_TYPE_TEXT:
		return 0;
	case NVMETUNE_TYPE_BOOL:
		break;
	case NVMETUNE_TYPE_ENUM:
		for (i = 0; p->names[i]; i++)
			if (nla_put_string(skb, NVMETUNE_A_PARAM_CHOICE,
					   p->names[i]))
				return -EMSGSIZE;
		break;
	default:
		if (nvmetune_put_u64(skb, NVMETUNE_A_PARAM_MIN_VALUE, p->min) ||
		    nvmetune_put_u64(skb, NVMETUNE_A_PARAM_MAX_VALUE, p->max))
			return -EMSGSIZE;
		break;
	}
	if (!p->commit)
		return 0;
	return nvmetune_put_u64(skb, NVMETUNE_A_PARAM_DEFAULT, p->def);
}

static int nvmetune_put_state(struct sk_buff *skb,
			      const struct nvmetune_param *p,
			      const struct nvmetune_state *state)
{
	char text[NVMETUNE_MAX_NAME + 1];

	nvmetune_format(p, &state->own, text, sizeof(text));
	if (nla_put_string(skb, NVMETUNE_A_PARAM_TEXT, text) ||
	    nvmetune_put_u64(skb, NVMETUNE_A_PARAM_IN_FORCE, state->in_force))
		return -EMSGSIZE;
	if (state->own.inherit)
		return nla_put_flag(skb, NVMETUNE_A_PARAM_INHERIT);
	return nvmetune_put_u64(skb, NVMETUNE_A_PARAM_VALUE, state->own.num);
}

static int nvmetune_put_text(struct sk_buff *skb, struct nvmetune_object *obj,
			     const struct nvmetune_param *p)
{
	char *text;
	int ret, len;

	text = kmalloc(NVMETUNE_TEXT_SIZE, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	len = p->text(obj, p, text, NVMETUNE_TEXT_SIZE - 1);
	text[len] = '\0';
	ret = nla_put_string(skb, NVMETUNE_A_PARAM_TEXT, text);
	kfree(text);
	return ret;
}

static int nvmetune_put_param(struct sk_buff *skb, struct nvmetune_object *obj,
			      const struct nvmetune_param *p)
{
	struct nvmetune_state state;

	if (nla_put_string(skb, NVMETUNE_A_PARAM_OBJECT, obj->path) ||
	    nla_put_u32(skb, NVMETUNE_A_PARAM_OBJECT_ID, obj->id) ||
	    nla_put_string(skb, NVMETUNE_A_PARAM_NAME, p->name) ||
	    nla_put_u32(skb, NVMETUNE_A_PARAM_TYPE, p->type) ||
	    nla_put_u32(skb, NVMETUNE_A_PARAM_UNIT, nvmetune_unit(p)) ||
	    nla_put_u32(skb, NVMETUNE_A_PARAM_APPLIES, p->applies) ||
	    (!p->commit && nla_put_flag(skb, NVMETUNE_A_PARAM_READ_ONLY)) ||
	    (p->inherits && nla_put_flag(skb, NVMETUNE_A_PARAM_INHERITABLE)) ||
	    nvmetune_put_range(skb, p) ||
	    nla_put_string(skb, NVMETUNE_A_PARAM_HELP, p->help))
		return -EMSGSIZE;
	if (p->type == NVMETUNE_TYPE_TEXT)
		return nvmetune_put_text(skb, obj, p);
	p->get(obj, p, &state);
	return nvmetune_put_state(skb, p, &state);
}

static int nvmetune_fill_param(struct sk_buff *skb, u32 portid, u32 seq,
			       struct netlink_callback *cb,
			       struct nvmetune_object *obj,
			       const struct nvmetune_param *p)
{
	void *hdr;
	int ret;

	hdr = genlmsg_put(skb, portid, seq, &nvmetune_family,
			  cb ? NLM_F_MULTI : 0, NVMETUNE_CMD_PARAM_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (cb)
		genl_dump_check_consistent(cb, hdr);
	ret = nvmetune_put_param(skb, obj, p);
	if (ret) {
		genlmsg_cancel(skb, hdr);
		return ret;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

static int nvmetune_reply_param(struct genl_info *info,
				struct nvmetune_object *obj,
				const struct nvmetune_param *p)
{
	struct sk_buff *msg;
	int ret = -ENODEV;

	msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	if (nvmetune_enter(obj)) {
		ret = nvmetune_fill_param(msg, info->snd_portid, info->snd_seq,
					  NULL, obj, p);
		nvmetune_leave(obj);
	}
	if (ret) {
		nlmsg_free(msg);
		return ret;
	}
	return genlmsg_reply(msg, info);
}

int nvmetune_nl_param_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *name = info->attrs[NVMETUNE_A_PARAM_NAME];
	struct nlattr *path = info->attrs[NVMETUNE_A_PARAM_OBJECT];
	const struct nvmetune_param *p;
	struct nvmetune_object *obj;
	int ret;

	if (!path)
		return nvmetune_missing(info, NULL, NVMETUNE_A_PARAM_OBJECT,
					"of which object?");
	if (!name)
		return nvmetune_missing(info, NULL, NVMETUNE_A_PARAM_NAME,
					"which parameter?");
	obj = nvmetune_object_of(info, path);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	p = nvmetune_find_param(obj, nla_data(name));
	if (p)
		ret = nvmetune_reply_param(info, obj, p);
	else
		ret = nvmetune_refuse(info, name,
				      "the object has no such parameter",
				      -ENOENT);
	nvmetune_put(obj);
	return ret;
}

/* Attributes of a dump's request are kept in ways that differ between kernels. */
static struct nlattr *nvmetune_dump_attr(struct netlink_callback *cb, int type)
{
	return nlmsg_find_attr(cb->nlh, GENL_HDRLEN, type);
}

static int nvmetune_dump_params(struct sk_buff *skb,
				struct netlink_callback *cb,
				struct nvmetune_object *obj)
{
	struct nlattr *path = nvmetune_dump_attr(cb, NVMETUNE_A_PARAM_OBJECT);
	int ret = 0;

	if (path && strcmp(nla_data(path), obj->path))
		return 0;
	for (; cb->args[1] < nvmetune_nr_params(obj->class); cb->args[1]++) {
		ret = nvmetune_fill_param(skb, NETLINK_CB(cb->skb).portid,
					  cb->nlh->nlmsg_seq, cb, obj,
					  nvmetune_param_at(obj->class,
							    cb->args[1]));
		if (ret)
			break;
	}
	return ret;
}

int nvmetune_nl_param_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb)
{
	struct nlattr *path = nvmetune_dump_attr(cb, NVMETUNE_A_PARAM_OBJECT);
	struct nvmetune_object *obj;

	if (path && !cb->args[0]) {
		obj = nvmetune_find(nla_data(path));
		if (!obj) {
			NL_SET_ERR_MSG_ATTR(cb->extack, path, "no such object");
			return -ENODEV;
		}
		nvmetune_put(obj);
	}
	return nvmetune_dump(skb, cb, nvmetune_dump_params);
}

/* Changes */

static int nvmetune_take_value(struct genl_info *info, struct nlattr **tb,
			       struct nlattr *nest, struct nvmetune_setting *s)
{
	struct nlattr *num = tb[NVMETUNE_A_SETTING_VALUE];
	struct nlattr *text = tb[NVMETUNE_A_SETTING_TEXT];
	struct nvmetune_error err = { };
	int ret;

	if (num && text)
		return nvmetune_refuse(info, text, "value and text exclude each other",
				       -EINVAL);
	if (!num && !text)
		return nvmetune_missing(info, nest, NVMETUNE_A_SETTING_VALUE,
					"no value");
	if (text) {
		ret = nvmetune_parse(s->param, nla_data(text), &s->value, &err);
		return ret ? nvmetune_refuse(info, text, err.text, ret) : 0;
	}
	s->value = (struct nvmetune_value){ .num = nla_get_u64(num) };
	ret = nvmetune_check(s->param, &s->value, &err);
	return ret ? nvmetune_refuse(info, num, err.text, ret) : 0;
}

static int nvmetune_take_setting(struct genl_info *info, struct nlattr *nest,
				 struct nvmetune_setting *s)
{
	struct nlattr *tb[NVMETUNE_A_SETTING_MAX + 1];
	struct nlattr *name, *path;
	int ret;

	ret = nla_parse_nested(tb, NVMETUNE_A_SETTING_MAX, nest,
			       nvmetune_setting_nl_policy, info->extack);
	if (ret)
		return ret;
	path = tb[NVMETUNE_A_SETTING_OBJECT];
	name = tb[NVMETUNE_A_SETTING_NAME];
	if (!path)
		return nvmetune_missing(info, nest, NVMETUNE_A_SETTING_OBJECT,
					"of which object?");
	if (!name)
		return nvmetune_missing(info, nest, NVMETUNE_A_SETTING_NAME,
					"which parameter?");
	s->obj = nvmetune_object_of(info, path);
	if (IS_ERR(s->obj)) {
		ret = PTR_ERR(s->obj);
		s->obj = NULL;
		return ret;
	}
	s->param = nvmetune_find_param(s->obj, nla_data(name));
	if (!s->param)
		return nvmetune_refuse(info, name,
				       "the object has no such parameter",
				       -ENOENT);
	if (!s->param->commit)
		return nvmetune_refuse(info, name, "read-only", -EPERM);
	return nvmetune_take_value(info, tb, nest, s);
}

/* The attribute of a setting, by its place in the request. */
static struct nlattr *nvmetune_setting_attr(struct genl_info *info,
					    unsigned int index)
{
	struct nlattr *nest;
	int rem;

	nlmsg_for_each_attr(nest, info->nlhdr, GENL_HDRLEN, rem)
		if (nla_type(nest) == NVMETUNE_A_SET_SETTING && !index--)
			return nest;
	return NULL;
}

static int nvmetune_set(struct genl_info *info, struct nvmetune_setting *s,
			unsigned int nr)
{
	struct nvmetune_error err;
	struct nlattr *nest;
	unsigned int i = 0;
	int ret = 0, rem;

	nlmsg_for_each_attr(nest, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(nest) != NVMETUNE_A_SET_SETTING)
			continue;
		ret = nvmetune_take_setting(info, nest, &s[i++]);
		if (ret)
			goto put;
	}
	ret = nvmetune_apply(s, nr, &err);
	if (ret)
		nvmetune_refuse(info, nvmetune_setting_attr(info, err.index),
				err.text, ret);
put:
	while (i--)
		nvmetune_put(s[i].obj);
	return ret;
}

int nvmetune_nl_param_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nvmetune_setting *s;
	struct nlattr *nest;
	unsigned int nr = 0;
	int ret, rem;

	if (!netlink_capable(skb, CAP_SYS_ADMIN)) {
		NL_SET_ERR_MSG(info->extack,
			       "needs CAP_SYS_ADMIN in the initial user namespace");
		return -EPERM;
	}
	nlmsg_for_each_attr(nest, info->nlhdr, GENL_HDRLEN, rem)
		nr += nla_type(nest) == NVMETUNE_A_SET_SETTING;
	if (!nr)
		return nvmetune_missing(info, NULL, NVMETUNE_A_SET_SETTING,
					"nothing to set");
	if (nr > NVMETUNE_MAX_SETTINGS) {
		NL_SET_ERR_MSG(info->extack,
			       "too many settings in one request");
		return -E2BIG;
	}
	s = kvcalloc(nr, sizeof(*s), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	ret = nvmetune_set(info, s, nr);
	kvfree(s);
	return ret;
}

/* Statistics */

static int nvmetune_put_stats(struct sk_buff *skb, struct nvmetune_object *obj,
			      u64 *values)
{
	const struct nvmetune_stat *stat;
	struct nlattr *nest;
	unsigned int i;

	nvmetune_read_stats(obj, values);
	for (i = 0; i < obj->class->nr_stats; i++) {
		stat = &obj->class->stats[i];
		nest = nla_nest_start(skb, NVMETUNE_A_STATS_STAT);
		if (!nest ||
		    nla_put_string(skb, NVMETUNE_A_STAT_NAME, stat->name) ||
		    nla_put_u32(skb, NVMETUNE_A_STAT_KIND, stat->kind) ||
		    nla_put_u32(skb, NVMETUNE_A_STAT_UNIT, stat->unit) ||
		    nla_put_u64_64bit(skb, NVMETUNE_A_STAT_VALUE, values[i],
				      NVMETUNE_A_STAT_PAD) ||
		    nla_put_string(skb, NVMETUNE_A_STAT_HELP, stat->help))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int nvmetune_put_buckets(struct sk_buff *skb,
				const struct nvmetune_hist_counts *counts)
{
	struct nlattr *nest;
	unsigned int b;

	for (b = 0; b < NVMETUNE_HIST_BUCKETS; b++) {
		nest = nla_nest_start(skb, NVMETUNE_A_HISTOGRAM_BUCKET);
		if (!nest)
			return -EMSGSIZE;
		if (b < NVMETUNE_HIST_BUCKETS - 1 &&
		    nla_put_u64_64bit(skb, NVMETUNE_A_BUCKET_UP_TO,
				      (1ULL << b) - 1, NVMETUNE_A_BUCKET_PAD))
			return -EMSGSIZE;
		if (nla_put_u64_64bit(skb, NVMETUNE_A_BUCKET_COUNT,
				      counts->count[b], NVMETUNE_A_BUCKET_PAD))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int nvmetune_put_hists(struct sk_buff *skb, struct nvmetune_object *obj,
			      struct nvmetune_hist_counts *counts)
{
	const struct nvmetune_hist_desc *desc;
	struct nlattr *nest;
	unsigned int i;

	for (i = 0; i < obj->class->nr_hists; i++) {
		desc = &obj->class->hists[i];
		nvmetune_read_hist(obj, i, counts);
		nest = nla_nest_start(skb, NVMETUNE_A_STATS_HISTOGRAM);
		if (!nest ||
		    nla_put_string(skb, NVMETUNE_A_HISTOGRAM_NAME, desc->name) ||
		    nla_put_u32(skb, NVMETUNE_A_HISTOGRAM_UNIT, desc->unit) ||
		    (counts->on && nvmetune_put_buckets(skb, counts)) ||
		    nla_put_string(skb, NVMETUNE_A_HISTOGRAM_HELP, desc->help))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int nvmetune_fill_stats(struct sk_buff *skb, u32 portid, u32 seq,
			       struct netlink_callback *cb,
			       struct nvmetune_object *obj)
{
	struct nvmetune_hist_counts *counts;
	u64 *values;
	void *hdr;
	int ret = -ENOMEM;

	values = kcalloc(obj->class->nr_stats, sizeof(*values), GFP_KERNEL);
	counts = kmalloc(sizeof(*counts), GFP_KERNEL);
	if (!values || !counts)
		goto free;
	ret = -EMSGSIZE;
	hdr = genlmsg_put(skb, portid, seq, &nvmetune_family,
			  cb ? NLM_F_MULTI : 0, NVMETUNE_CMD_STATS_GET);
	if (!hdr)
		goto free;
	if (cb)
		genl_dump_check_consistent(cb, hdr);
	if (nla_put_string(skb, NVMETUNE_A_STATS_OBJECT, obj->path) ||
	    nla_put_u32(skb, NVMETUNE_A_STATS_OBJECT_ID, obj->id) ||
	    (obj->class->nr_stats && nvmetune_put_stats(skb, obj, values)) ||
	    nvmetune_put_hists(skb, obj, counts)) {
		genlmsg_cancel(skb, hdr);
		goto free;
	}
	genlmsg_end(skb, hdr);
	ret = 0;
free:
	kfree(counts);
	kfree(values);
	return ret;
}

/* Room for all statistics of an object, which may exceed a page. */
static size_t nvmetune_stats_size(const struct nvmetune_class *class)
{
	return NLMSG_GOODSIZE + 256 * class->nr_stats +
	       (256 + 32 * NVMETUNE_HIST_BUCKETS) * class->nr_hists;
}

int nvmetune_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *path = info->attrs[NVMETUNE_A_STATS_OBJECT];
	struct nvmetune_object *obj;
	struct sk_buff *msg;
	int ret;

	if (!path)
		return nvmetune_missing(info, NULL, NVMETUNE_A_STATS_OBJECT,
					"of which object?");
	obj = nvmetune_object_of(info, path);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	ret = -ENOMEM;
	msg = genlmsg_new(nvmetune_stats_size(obj->class), GFP_KERNEL);
	if (!msg)
		goto put;
	ret = -ENODEV;
	if (!nvmetune_enter(obj))
		goto free;
	ret = nvmetune_fill_stats(msg, info->snd_portid, info->snd_seq, NULL,
				  obj);
	nvmetune_leave(obj);
	if (ret)
		goto free;
	nvmetune_put(obj);
	return genlmsg_reply(msg, info);

free:
	nlmsg_free(msg);
put:
	nvmetune_put(obj);
	return ret;
}

static int nvmetune_dump_stats(struct sk_buff *skb, struct netlink_callback *cb,
			       struct nvmetune_object *obj)
{
	if (!obj->class->nr_stats && !obj->class->nr_hists)
		return 0;
	return nvmetune_fill_stats(skb, NETLINK_CB(cb->skb).portid,
				   cb->nlh->nlmsg_seq, cb, obj);
}

/* Each part has to hold at least one object. */
static int nvmetune_stats_start(struct netlink_callback *cb)
{
	struct nvmetune_object *obj;
	unsigned long id = 0;
	size_t size = 0;

	for (; (obj = nvmetune_find_next(&id)); id++) {
		size = max(size, nvmetune_stats_size(obj->class));
		nvmetune_put(obj);
	}
	cb->min_dump_alloc = min_t(size_t, size, U16_MAX);
	return 0;
}

int nvmetune_nl_stats_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb)
{
	return nvmetune_dump(skb, cb, nvmetune_dump_stats);
}

int nvmetune_nl_stats_reset_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *path = info->attrs[NVMETUNE_A_STATS_OBJECT];
	struct nvmetune_object *obj;
	int ret;

	if (!netlink_capable(skb, CAP_SYS_ADMIN)) {
		NL_SET_ERR_MSG(info->extack,
			       "needs CAP_SYS_ADMIN in the initial user namespace");
		return -EPERM;
	}
	if (!path)
		return nvmetune_missing(info, NULL, NVMETUNE_A_STATS_OBJECT,
					"of which object?");
	obj = nvmetune_object_of(info, path);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	ret = nvmetune_reset_stats(obj);
	nvmetune_put(obj);
	return ret;
}

/* Notifications */

static void nvmetune_multicast(struct sk_buff *msg)
{
	genlmsg_multicast(&nvmetune_family, msg, 0, NVMETUNE_NLGRP_CONFIG,
			  GFP_KERNEL);
}

static struct sk_buff *nvmetune_ntf(void)
{
	if (!genl_has_listeners(&nvmetune_family, &init_net,
				NVMETUNE_NLGRP_CONFIG))
		return NULL;
	return genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
}

/**
 * nvmetune_netlink_object() - tell listeners that an object comes or goes
 * @obj: the object
 * @added: it has come
 */
void nvmetune_netlink_object(struct nvmetune_object *obj, bool added)
{
	struct sk_buff *msg = nvmetune_ntf();

	if (!msg)
		return;
	if (nvmetune_fill_object(msg, 0, 0, NULL, obj,
				 added ? NVMETUNE_CMD_OBJECT_ADD_NTF :
					 NVMETUNE_CMD_OBJECT_DEL_NTF))
		nlmsg_free(msg);
	else
		nvmetune_multicast(msg);
}

static int nvmetune_put_old(struct sk_buff *msg,
			    const struct nvmetune_value *old)
{
	if (old->inherit)
		return nla_put_flag(msg, NVMETUNE_A_PARAM_OLD_INHERIT);
	return nvmetune_put_u64(msg, NVMETUNE_A_PARAM_OLD_VALUE, old->num);
}

/**
 * nvmetune_netlink_change() - tell listeners of a change
 * @s: what was changed
 * @after: the state now
 */
void nvmetune_netlink_change(const struct nvmetune_setting *s,
			     const struct nvmetune_state *after)
{
	struct sk_buff *msg = nvmetune_ntf();
	void *hdr;

	if (!msg)
		return;
	hdr = genlmsg_put(msg, 0, 0, &nvmetune_family, 0,
			  NVMETUNE_CMD_PARAM_NTF);
	if (!hdr ||
	    nla_put_string(msg, NVMETUNE_A_PARAM_OBJECT, s->obj->path) ||
	    nla_put_u32(msg, NVMETUNE_A_PARAM_OBJECT_ID, s->obj->id) ||
	    nla_put_string(msg, NVMETUNE_A_PARAM_NAME, s->param->name) ||
	    nvmetune_put_state(msg, s->param, after) ||
	    nvmetune_put_old(msg, &s->before.own)) {
		nlmsg_free(msg);
		return;
	}
	genlmsg_end(msg, hdr);
	nvmetune_multicast(msg);
}

/* The family */

static const struct genl_ops nvmetune_ops[] = {
	{
		.cmd		= NVMETUNE_CMD_OBJECT_GET,
		.doit		= nvmetune_nl_object_get_doit,
		.dumpit		= nvmetune_nl_object_get_dumpit,
		.policy		= nvmetune_object_get_nl_policy,
		.maxattr	= NVMETUNE_A_OBJECT_NAME,
	},
	{
		.cmd		= NVMETUNE_CMD_PARAM_GET,
		.doit		= nvmetune_nl_param_get_doit,
		.dumpit		= nvmetune_nl_param_get_dumpit,
		.policy		= nvmetune_param_get_do_nl_policy,
		.maxattr	= NVMETUNE_A_PARAM_NAME,
	},
	{
		.cmd		= NVMETUNE_CMD_PARAM_SET,
		.doit		= nvmetune_nl_param_set_doit,
		.policy		= nvmetune_param_set_nl_policy,
		.maxattr	= NVMETUNE_A_SET_SETTING,
	},
	{
		.cmd		= NVMETUNE_CMD_STATS_GET,
		.doit		= nvmetune_nl_stats_get_doit,
		.start		= nvmetune_stats_start,
		.dumpit		= nvmetune_nl_stats_get_dumpit,
		.policy		= nvmetune_stats_get_nl_policy,
		.maxattr	= NVMETUNE_A_STATS_OBJECT,
	},
	{
		.cmd		= NVMETUNE_CMD_STATS_RESET,
		.doit		= nvmetune_nl_stats_reset_doit,
		.policy		= nvmetune_stats_reset_nl_policy,
		.maxattr	= NVMETUNE_A_STATS_OBJECT,
	},
};

static const struct genl_multicast_group nvmetune_groups[] = {
	[NVMETUNE_NLGRP_CONFIG] = { .name = NVMETUNE_MCGRP_CONFIG, },
};

/*
 * In the initial network namespace only. No GENL_ADMIN_PERM: that asks for
 * CAP_NET_ADMIN, which says nothing of storage.
 */
static struct genl_family nvmetune_family __ro_after_init = {
	.name		= NVMETUNE_FAMILY_NAME,
	.version	= NVMETUNE_FAMILY_VERSION,
	.netnsok	= false,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.ops		= nvmetune_ops,
	.n_ops		= ARRAY_SIZE(nvmetune_ops),
	.mcgrps		= nvmetune_groups,
	.n_mcgrps	= ARRAY_SIZE(nvmetune_groups),
};

int __init nvmetune_netlink_init(void)
{
	return genl_register_family(&nvmetune_family);
}

void nvmetune_netlink_exit(void)
{
	genl_unregister_family(&nvmetune_family);
}
