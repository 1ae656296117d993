// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink messages of the family "nvmetune" to the model. Nothing here knows sockets.
 * What the kernel leaves out is no error, what does not fit its type is.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <linux/genetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "nvmetune.h"

#define NT_STRING	{ .type = NLA_STRING }
#define NT_U32		{ .type = NLA_U32 }
#define NT_U64		{ .type = NLA_U64 }
#define NT_FLAG		{ .type = NLA_FLAG }
#define NT_NEST		{ .type = NLA_NESTED }

static struct nla_policy nt_object_policy[NVMETUNE_A_OBJECT_MAX + 1] = {
	[NVMETUNE_A_OBJECT_ID]		= NT_U32,
	[NVMETUNE_A_OBJECT_NAME]	= NT_STRING,
	[NVMETUNE_A_OBJECT_CLASS]	= NT_STRING,
};

static struct nla_policy nt_param_policy[NVMETUNE_A_PARAM_MAX + 1] = {
	[NVMETUNE_A_PARAM_OBJECT]	= NT_STRING,
	[NVMETUNE_A_PARAM_NAME]		= NT_STRING,
	[NVMETUNE_A_PARAM_TYPE]		= NT_U32,
	[NVMETUNE_A_PARAM_UNIT]		= NT_U32,
	[NVMETUNE_A_PARAM_APPLIES]	= NT_U32,
	[NVMETUNE_A_PARAM_READ_ONLY]	= NT_FLAG,
	[NVMETUNE_A_PARAM_INHERITABLE]	= NT_FLAG,
	[NVMETUNE_A_PARAM_MIN_VALUE]	= NT_U64,
	[NVMETUNE_A_PARAM_MAX_VALUE]	= NT_U64,
	[NVMETUNE_A_PARAM_DEFAULT]	= NT_U64,
	[NVMETUNE_A_PARAM_CHOICE]	= NT_STRING,
	[NVMETUNE_A_PARAM_HELP]		= NT_STRING,
	[NVMETUNE_A_PARAM_INHERIT]	= NT_FLAG,
	[NVMETUNE_A_PARAM_VALUE]	= NT_U64,
	[NVMETUNE_A_PARAM_IN_FORCE]	= NT_U64,
	[NVMETUNE_A_PARAM_TEXT]		= NT_STRING,
	[NVMETUNE_A_PARAM_OLD_INHERIT]	= NT_FLAG,
	[NVMETUNE_A_PARAM_OLD_VALUE]	= NT_U64,
};

static struct nla_policy nt_stats_policy[NVMETUNE_A_STATS_MAX + 1] = {
	[NVMETUNE_A_STATS_OBJECT]	= NT_STRING,
};

static struct nla_policy nt_stat_policy[NVMETUNE_A_STAT_MAX + 1] = {
	[NVMETUNE_A_STAT_NAME]		= NT_STRING,
	[NVMETUNE_A_STAT_KIND]		= NT_U32,
	[NVMETUNE_A_STAT_UNIT]		= NT_U32,
	[NVMETUNE_A_STAT_VALUE]		= NT_U64,
	[NVMETUNE_A_STAT_HELP]		= NT_STRING,
};

static struct nla_policy nt_hist_policy[NVMETUNE_A_HISTOGRAM_MAX + 1] = {
	[NVMETUNE_A_HISTOGRAM_NAME]	= NT_STRING,
	[NVMETUNE_A_HISTOGRAM_UNIT]	= NT_U32,
	[NVMETUNE_A_HISTOGRAM_BUCKET]	= NT_NEST,
	[NVMETUNE_A_HISTOGRAM_HELP]	= NT_STRING,
};

static struct nla_policy nt_bucket_policy[NVMETUNE_A_BUCKET_MAX + 1] = {
	[NVMETUNE_A_BUCKET_UP_TO]	= NT_U64,
	[NVMETUNE_A_BUCKET_COUNT]	= NT_U64,
};

static const char *nt_attr_text(struct nlattr *attr)
{
	return attr ? nla_get_string(attr) : "";
}

static uint32_t nt_attr_u32(struct nlattr *attr)
{
	return attr ? nla_get_u32(attr) : 0;
}

static uint64_t nt_attr_u64(struct nlattr *attr)
{
	return attr ? nla_get_u64(attr) : 0;
}

/* Objects */

int nt_decode_object(struct nlattr *attrs, int len, struct nt_tree *tree)
{
	struct nlattr *tb[NVMETUNE_A_OBJECT_MAX + 1];
	struct nt_object *obj;
	const char *name;

	if (nla_parse(tb, NVMETUNE_A_OBJECT_MAX, attrs, len, nt_object_policy) < 0)
		return -EINVAL;
	name = nt_attr_text(tb[NVMETUNE_A_OBJECT_NAME]);
	if (!*name)
		return -EINVAL;
	obj = nt_tree_add(tree, name);
	obj->class = nt_intern(nt_attr_text(tb[NVMETUNE_A_OBJECT_CLASS]));
	return 0;
}

/* Parameters */

/* The text of a number as sysfs has it. */
static char *nt_number_text(const struct nt_param *param, uint64_t num)
{
	if (param->type == NVMETUNE_TYPE_ENUM && param->described && num < param->nr_choices)
		return nt_strdup(param->choices[num]);
	return nt_printf("%" PRIu64, num);
}

static void nt_take_choices(struct nt_param *param, struct nlattr *attrs, int len)
{
	const char **names = NULL;
	struct nlattr *attr;
	size_t nr = 0;
	int rem;

	nla_for_each_attr(attr, attrs, len, rem) {
		if (nla_type(attr) != NVMETUNE_A_PARAM_CHOICE)
			continue;
		/* nla_parse() has looked at each: all end with NUL. */
		names = nt_grow(names, nr, sizeof(*names));
		names[nr++] = nla_get_string(attr);
	}
	nt_param_set_choices(param, names, nr);
	free(names);
}

static void nt_take_range(struct nt_param *param, struct nlattr **tb)
{
	param->has_range = tb[NVMETUNE_A_PARAM_MIN_VALUE] && tb[NVMETUNE_A_PARAM_MAX_VALUE];
	param->min = nt_attr_u64(tb[NVMETUNE_A_PARAM_MIN_VALUE]);
	param->max = nt_attr_u64(tb[NVMETUNE_A_PARAM_MAX_VALUE]);
	param->has_default = tb[NVMETUNE_A_PARAM_DEFAULT];
	param->def = nt_attr_u64(tb[NVMETUNE_A_PARAM_DEFAULT]);
}

static void nt_take_state(struct nt_param *param, struct nlattr **tb)
{
	char *in_force = NULL;

	param->inherit = tb[NVMETUNE_A_PARAM_INHERIT];
	param->num = nt_attr_u64(tb[NVMETUNE_A_PARAM_IN_FORCE]);
	if (tb[NVMETUNE_A_PARAM_IN_FORCE])
		in_force = nt_number_text(param, param->num);
	nt_param_set_text(param, nt_attr_text(tb[NVMETUNE_A_PARAM_TEXT]), in_force);
	free(in_force);
}

int nt_decode_param(struct nlattr *attrs, int len, struct nt_tree *tree)
{
	struct nlattr *tb[NVMETUNE_A_PARAM_MAX + 1];
	struct nt_param *param;
	struct nt_object *obj;

	if (nla_parse(tb, NVMETUNE_A_PARAM_MAX, attrs, len, nt_param_policy) < 0 ||
	    !*nt_attr_text(tb[NVMETUNE_A_PARAM_NAME]))
		return -EINVAL;
	obj = nt_tree_find(tree, nt_attr_text(tb[NVMETUNE_A_PARAM_OBJECT]));
	if (!obj)
		return -ENOENT;
	param = nt_object_add_param(obj, nt_attr_text(tb[NVMETUNE_A_PARAM_NAME]));
	param->described = true;
	param->help = nt_intern(nt_attr_text(tb[NVMETUNE_A_PARAM_HELP]));
	param->type = nt_attr_u32(tb[NVMETUNE_A_PARAM_TYPE]);
	param->unit = nt_attr_u32(tb[NVMETUNE_A_PARAM_UNIT]);
	param->applies = nt_attr_u32(tb[NVMETUNE_A_PARAM_APPLIES]);
	param->read_only = tb[NVMETUNE_A_PARAM_READ_ONLY];
	param->inheritable = tb[NVMETUNE_A_PARAM_INHERITABLE];
	if (tb[NVMETUNE_A_PARAM_CHOICE])
		nt_take_choices(param, attrs, len);
	nt_take_range(param, tb);
	nt_take_state(param, tb);
	return 0;
}

/* Statistics */

static int nt_take_stat(struct nlattr *nest, struct nt_object *obj)
{
	struct nlattr *tb[NVMETUNE_A_STAT_MAX + 1];
	struct nt_stat *stat;

	if (nla_parse_nested(tb, NVMETUNE_A_STAT_MAX, nest, nt_stat_policy) < 0 ||
	    !*nt_attr_text(tb[NVMETUNE_A_STAT_NAME]))
		return -EINVAL;
	stat = nt_object_add_stat(obj, nt_attr_text(tb[NVMETUNE_A_STAT_NAME]));
	stat->help = nt_intern(nt_attr_text(tb[NVMETUNE_A_STAT_HELP]));
	stat->described = true;
	stat->kind = nt_attr_u32(tb[NVMETUNE_A_STAT_KIND]);
	stat->unit = nt_attr_u32(tb[NVMETUNE_A_STAT_UNIT]);
	stat->value = nt_attr_u64(tb[NVMETUNE_A_STAT_VALUE]);
	return 0;
}

static int nt_take_bucket(struct nlattr *nest, struct nt_hist *hist)
{
	struct nlattr *tb[NVMETUNE_A_BUCKET_MAX + 1];

	if (nla_parse_nested(tb, NVMETUNE_A_BUCKET_MAX, nest, nt_bucket_policy) < 0)
		return -EINVAL;
	nt_hist_add(hist, tb[NVMETUNE_A_BUCKET_UP_TO] ?
		    nla_get_u64(tb[NVMETUNE_A_BUCKET_UP_TO]) : UINT64_MAX,
		    nt_attr_u64(tb[NVMETUNE_A_BUCKET_COUNT]));
	return 0;
}

static int nt_take_hist(struct nlattr *nest, struct nt_object *obj)
{
	struct nlattr *tb[NVMETUNE_A_HISTOGRAM_MAX + 1], *attr;
	struct nt_hist *hist;
	int rem;

	if (nla_parse_nested(tb, NVMETUNE_A_HISTOGRAM_MAX, nest, nt_hist_policy) < 0 ||
	    !*nt_attr_text(tb[NVMETUNE_A_HISTOGRAM_NAME]))
		return -EINVAL;
	hist = nt_object_add_hist(obj, nt_attr_text(tb[NVMETUNE_A_HISTOGRAM_NAME]));
	hist->help = nt_intern(nt_attr_text(tb[NVMETUNE_A_HISTOGRAM_HELP]));
	hist->unit = nt_attr_u32(tb[NVMETUNE_A_HISTOGRAM_UNIT]);
	nla_for_each_nested(attr, nest, rem)
		if (nla_type(attr) == NVMETUNE_A_HISTOGRAM_BUCKET && nt_take_bucket(attr, hist))
			return -EINVAL;
	return 0;
}

int nt_decode_stats(struct nlattr *attrs, int len, struct nt_tree *tree)
{
	struct nlattr *tb[NVMETUNE_A_STATS_MAX + 1], *attr;
	struct nt_object *obj;
	int rem, ret = 0;

	if (nla_parse(tb, NVMETUNE_A_STATS_MAX, attrs, len, nt_stats_policy) < 0)
		return -EINVAL;
	obj = nt_tree_find(tree, nt_attr_text(tb[NVMETUNE_A_STATS_OBJECT]));
	if (!obj)
		return -ENOENT;
	nla_for_each_attr(attr, attrs, len, rem) {
		if (nla_type(attr) == NVMETUNE_A_STATS_STAT)
			ret = nt_take_stat(attr, obj);
		else if (nla_type(attr) == NVMETUNE_A_STATS_HISTOGRAM)
			ret = nt_take_hist(attr, obj);
		if (ret)
			break;
	}
	return ret;
}

/* Events */

static int nt_decode_change(struct nlattr *attrs, int len, struct nt_event *ev)
{
	struct nlattr *tb[NVMETUNE_A_PARAM_MAX + 1];
	const char *object, *name;

	if (nla_parse(tb, NVMETUNE_A_PARAM_MAX, attrs, len, nt_param_policy) < 0)
		return -EINVAL;
	object = nt_attr_text(tb[NVMETUNE_A_PARAM_OBJECT]);
	name = nt_attr_text(tb[NVMETUNE_A_PARAM_NAME]);
	if (!*object || !*name)
		return -EINVAL;
	ev->kind = NT_EVENT_PARAM;
	ev->object = nt_strdup(object);
	ev->param.name = nt_intern(name);
	ev->param.help = "";
	nt_take_state(&ev->param, tb);
	ev->old = tb[NVMETUNE_A_PARAM_OLD_INHERIT] ? nt_strdup("inherit") :
		nt_number_text(&ev->param, nt_attr_u64(tb[NVMETUNE_A_PARAM_OLD_VALUE]));
	return 0;
}

static int nt_decode_coming(struct nlattr *attrs, int len, struct nt_event *ev)
{
	struct nlattr *tb[NVMETUNE_A_OBJECT_MAX + 1];

	if (nla_parse(tb, NVMETUNE_A_OBJECT_MAX, attrs, len, nt_object_policy) < 0 ||
	    !*nt_attr_text(tb[NVMETUNE_A_OBJECT_NAME]))
		return -EINVAL;
	ev->object = nt_strdup(nt_attr_text(tb[NVMETUNE_A_OBJECT_NAME]));
	ev->class = nt_strdup(nt_attr_text(tb[NVMETUNE_A_OBJECT_CLASS]));
	return 0;
}

int nt_decode_event(unsigned int cmd, struct nlattr *attrs, int len, struct nt_event *ev)
{
	*ev = (struct nt_event){ };
	switch (cmd) {
	case NVMETUNE_CMD_PARAM_NTF:
		return nt_decode_change(attrs, len, ev);
	case NVMETUNE_CMD_OBJECT_ADD_NTF:
		ev->kind = NT_EVENT_ADD;
		return nt_decode_coming(attrs, len, ev);
	case NVMETUNE_CMD_OBJECT_DEL_NTF:
		ev->kind = NT_EVENT_DEL;
		return nt_decode_coming(attrs, len, ev);
	default:
		return -EINVAL;
	}
}

void nt_event_describe(struct nt_event *ev, const struct nt_param *known)
{
	struct nt_param *param = &ev->param;
	char *in_force;
	uint64_t num;

	nt_param_set_choices(param, known->choices, known->nr_choices);
	param->help = known->help;
	param->described = known->described;
	param->type = known->type;
	param->unit = known->unit;
	param->applies = known->applies;
	param->read_only = known->read_only;
	param->inheritable = known->inheritable;
	param->has_range = known->has_range;
	param->min = known->min;
	param->max = known->max;
	param->has_default = known->has_default;
	param->def = known->def;
	in_force = nt_number_text(param, param->num);
	free(param->in_force);
	param->in_force = in_force;
	if (param->type == NVMETUNE_TYPE_ENUM && nt_parse_number(ev->old, &num)) {
		free(ev->old);
		ev->old = nt_number_text(param, num);
	}
}

/* Acknowledgements */

static void nt_take_ack_attrs(struct nlattr *attrs, int len, struct nt_ack *ack)
{
	struct nlattr *attr;
	int rem;

	nla_for_each_attr(attr, attrs, len, rem) {
		if (nla_type(attr) == NLMSGERR_ATTR_MSG)
			snprintf(ack->text, sizeof(ack->text), "%.*s",
				 (int)strnlen(nla_data(attr), nla_len(attr)),
				 (char *)nla_data(attr));
		else if (nla_type(attr) == NLMSGERR_ATTR_OFFS && nla_len(attr) >= 4)
			ack->offset = nla_get_u32(attr);
	}
}

void nt_decode_ack(const struct nlmsghdr *h, struct nt_ack *ack)
{
	size_t len = h->nlmsg_len - NLMSG_HDRLEN, skip;
	char *data = (char *)h + NLMSG_HDRLEN;
	struct nlmsgerr *e = (void *)data;

	*ack = (struct nt_ack){ };
	if (h->nlmsg_len < NLMSG_HDRLEN + sizeof(int))
		return;
	memcpy(&ack->error, data, sizeof(int));
	if (h->nlmsg_type == NLMSG_DONE) {
		skip = NLMSG_ALIGN(sizeof(int));
	} else {
		if (len < sizeof(*e))
			return;
		skip = sizeof(*e);
		/* Behind the error is the request, whole unless capped. */
		if (!(h->nlmsg_flags & NLM_F_CAPPED)) {
			if (e->msg.nlmsg_len < NLMSG_HDRLEN)
				return;
			skip += NLMSG_ALIGN((size_t)e->msg.nlmsg_len) - NLMSG_HDRLEN;
		}
	}
	if ((h->nlmsg_flags & NLM_F_ACK_TLVS) && skip < len)
		nt_take_ack_attrs((struct nlattr *)(data + skip), len - skip, ack);
}

long nt_ack_find(const struct nlmsghdr *request, uint32_t offset, int *inner)
{
	struct nlattr *attrs = (void *)((char *)request + NLMSG_HDRLEN + GENL_HDRLEN);
	const char *at = (const char *)request + offset, *start, *end;
	struct nlattr *attr, *in;
	long index = 0;
	int rem, rem_in;

	*inner = 0;
	if (!offset || offset >= request->nlmsg_len)
		return -1;
	nla_for_each_attr(attr, attrs, (int)(request->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN),
			  rem) {
		start = (const char *)attr;
		end = start + nla_total_size(nla_len(attr));
		if (at >= start && at < end) {
			nla_for_each_nested(in, attr, rem_in)
				if ((const char *)in == at)
					*inner = nla_type(in);
			return index;
		}
		index++;
	}
	return -1;
}
