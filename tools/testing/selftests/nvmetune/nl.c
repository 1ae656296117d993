// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family "nvmetune" on plain sockets; see nl.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "nl.h"

/* A guest without KVM that has a drive under load may take long. */
#define NL_TIMEOUT	60

void die(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* Pseudorandom numbers: splitmix64 */

static uint64_t rnd_state;

void rnd_seed(uint64_t seed)
{
	rnd_state = seed;
}

uint64_t rnd(void)
{
	uint64_t z = (rnd_state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

unsigned int below(unsigned int limit)
{
	return limit ? (rnd() >> 16) % limit : 0;
}

bool one_in(unsigned int n)
{
	return !below(n);
}

/* Writing messages */

static void *msg_room(struct msg *m, size_t len)
{
	void *at = m->buf + m->len;

	if (m->len + NLMSG_ALIGN(len) > sizeof(m->buf))
		die("a message becomes too long");
	memset(at, 0, NLMSG_ALIGN(len));
	m->len += NLMSG_ALIGN(len);
	return at;
}

void msg_begin(struct msg *m, uint16_t type, uint8_t cmd, uint16_t flags)
{
	struct nlmsghdr *h;
	struct genlmsghdr *g;

	m->begin = m->len;
	h = msg_room(m, sizeof(*h));
	h->nlmsg_type = type;
	h->nlmsg_flags = flags;
	g = msg_room(m, sizeof(*g));
	g->cmd = cmd;
	g->version = NVMETUNE_FAMILY_VERSION;
}

void msg_end(struct msg *m)
{
	struct nlmsghdr *h = (struct nlmsghdr *)(m->buf + m->begin);

	h->nlmsg_len = m->len - m->begin;
}

void msg_put(struct msg *m, uint16_t type, const void *data, size_t len)
{
	struct nlattr *a = msg_room(m, sizeof(*a));

	a->nla_type = type;
	a->nla_len = sizeof(*a) + len;
	memcpy(msg_room(m, len), data, len);
}

void msg_str(struct msg *m, uint16_t type, const char *text)
{
	msg_put(m, type, text, strlen(text) + 1);
}

void msg_u64(struct msg *m, uint16_t type, uint64_t value)
{
	msg_put(m, type, &value, sizeof(value));
}

size_t msg_nest(struct msg *m, uint16_t type)
{
	size_t nest = m->len;

	msg_put(m, type | NLA_F_NESTED, NULL, 0);
	return nest;
}

void msg_nest_end(struct msg *m, size_t nest)
{
	struct nlattr *a = (struct nlattr *)(m->buf + nest);

	a->nla_len = m->len - nest;
}

/* Reading messages */

bool attr_next(const unsigned char **at, size_t *left, struct attr *a)
{
	const struct nlattr *nla = (const void *)*at;
	size_t step;

	if (*left < sizeof(*nla) || nla->nla_len < sizeof(*nla) ||
	    nla->nla_len > *left)
		return false;
	a->type = nla->nla_type & NLA_TYPE_MASK;
	a->flags = nla->nla_type & ~NLA_TYPE_MASK;
	a->len = nla->nla_len - sizeof(*nla);
	a->data = *at + sizeof(*nla);
	step = NLA_ALIGN(nla->nla_len);
	if (step > *left)
		step = *left;
	*at += step;
	*left -= step;
	return true;
}

static void attr_number(const struct attr *a, void *value, size_t size)
{
	if (a->len != size)
		die("attribute %u has %zu bytes", a->type, a->len);
	memcpy(value, a->data, size);
}

uint32_t attr_u32(const struct attr *a)
{
	uint32_t value;

	attr_number(a, &value, sizeof(value));
	return value;
}

uint64_t attr_u64(const struct attr *a)
{
	uint64_t value;

	attr_number(a, &value, sizeof(value));
	return value;
}

void attr_text(const struct attr *a, char *text, size_t size)
{
	if (!a->len || a->len > size || a->data[a->len - 1])
		die("attribute %u is no text of up to %zu bytes", a->type, size);
	memcpy(text, a->data, a->len);
}

const struct nlmsghdr *nl_next(const unsigned char **at, size_t *left)
{
	const struct nlmsghdr *h = (const void *)*at;
	size_t step;

	if (*left < sizeof(*h))
		return NULL;
	if (h->nlmsg_len < sizeof(*h) || h->nlmsg_len > *left)
		die("the kernel sent a malformed message");
	step = NLMSG_ALIGN(h->nlmsg_len);
	if (step > *left)
		step = *left;
	*at += step;
	*left -= step;
	return h;
}

const unsigned char *nl_attrs(const struct nlmsghdr *h, size_t *left)
{
	if (h->nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN)
		die("the kernel sent a message without a header");
	*left = h->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN;
	return (const unsigned char *)h + NLMSG_HDRLEN + GENL_HDRLEN;
}

/* The socket */

void nl_send(struct nl *nl, const void *data, size_t len)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	if (sendto(nl->fd, data, len, 0, (struct sockaddr *)&kernel,
		   sizeof(kernel)) != (ssize_t)len)
		die("send %zu bytes: %s", len, strerror(errno));
}

/* Into nl->buf; 0 without an answer, which is an error where one is waited for. */
size_t nl_recv(struct nl *nl, bool wait)
{
	ssize_t len = recv(nl->fd, nl->buf, sizeof(nl->buf),
			   wait ? 0 : MSG_DONTWAIT);

	if (len > 0)
		return len;
	if (!wait && errno == EAGAIN)
		return 0;
	die("receive: %s", errno == EAGAIN ? "no answer" : strerror(errno));
}

/* Sends a message; until it is acknowledged, or a dump ends, calls a handler. */
int nl_call(struct nl *nl, struct msg *m, nl_handler handler, void *arg)
{
	struct nlmsghdr *h = (struct nlmsghdr *)(m->buf + m->begin);
	const unsigned char *at;
	size_t left;

	msg_end(m);
	h->nlmsg_seq = ++nl->seq;
	nl->interrupted = false;
	nl_send(nl, h, h->nlmsg_len);
	for (;;) {
		left = nl_recv(nl, true);
		at = nl->buf;
		while ((h = (struct nlmsghdr *)nl_next(&at, &left))) {
			if (h->nlmsg_seq != nl->seq)
				continue;
			if (h->nlmsg_flags & NLM_F_DUMP_INTR)
				nl->interrupted = true;
			if (h->nlmsg_type == NLMSG_ERROR ||
			    h->nlmsg_type == NLMSG_DONE)
				return -*(int *)NLMSG_DATA(h);
			if (handler)
				handler(h, arg);
		}
	}
}

static void take_group(const struct attr *groups, struct nl *nl)
{
	const unsigned char *at = groups->data, *in;
	size_t left = groups->len, in_left;
	char name[NL_NAME] = "";
	struct attr group, a;
	uint32_t id = 0;

	while (attr_next(&at, &left, &group)) {
		in = group.data;
		in_left = group.len;
		while (attr_next(&in, &in_left, &a)) {
			if (a.type == CTRL_ATTR_MCAST_GRP_NAME)
				attr_text(&a, name, sizeof(name));
			else if (a.type == CTRL_ATTR_MCAST_GRP_ID)
				id = attr_u32(&a);
		}
		if (!strcmp(name, NVMETUNE_MCGRP_CONFIG))
			nl->group = id;
	}
}

static void take_family(const struct nlmsghdr *h, void *arg)
{
	struct nl *nl = arg;
	const unsigned char *at;
	struct attr a;
	size_t left;

	at = nl_attrs(h, &left);
	while (attr_next(&at, &left, &a)) {
		if (a.type == CTRL_ATTR_FAMILY_ID)
			memcpy(&nl->family, a.data, sizeof(nl->family));
		else if (a.type == CTRL_ATTR_MCAST_GROUPS)
			take_group(&a, nl);
	}
}

void nl_open(struct nl *nl)
{
	struct timeval timeout = { .tv_sec = NL_TIMEOUT };
	int size = 8 << 20, one = 1, err;
	static struct msg m;

	memset(nl, 0, offsetof(struct nl, buf));
	nl->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (nl->fd < 0 ||
	    setsockopt(nl->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) ||
	    setsockopt(nl->fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) ||
	    setsockopt(nl->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) ||
	    setsockopt(nl->fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one)))
		die("socket: %s", strerror(errno));
	m.len = 0;
	msg_begin(&m, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_REQUEST | NLM_F_ACK);
	msg_str(&m, CTRL_ATTR_FAMILY_NAME, NVMETUNE_FAMILY_NAME);
	err = nl_call(nl, &m, take_family, nl);
	if (err || !nl->family || !nl->group)
		die("no family \"" NVMETUNE_FAMILY_NAME "\": %s", strerror(err));
}

void nl_close(struct nl *nl)
{
	close(nl->fd);
}

void nl_subscribe(struct nl *nl)
{
	if (setsockopt(nl->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &nl->group,
		       sizeof(nl->group)))
		die("subscribe: %s", strerror(errno));
}

/* What the kernel has */

void param_from(const struct nlmsghdr *h, struct param *p)
{
	const unsigned char *at;
	struct attr a;
	size_t left;

	memset(p, 0, sizeof(*p));
	at = nl_attrs(h, &left);
	while (attr_next(&at, &left, &a)) {
		switch (a.type) {
		case NVMETUNE_A_PARAM_OBJECT:
			attr_text(&a, p->object, sizeof(p->object));
			break;
		case NVMETUNE_A_PARAM_NAME:
			attr_text(&a, p->name, sizeof(p->name));
			break;
		case NVMETUNE_A_PARAM_TYPE:
			p->type = attr_u32(&a);
			break;
		case NVMETUNE_A_PARAM_READ_ONLY:
			p->read_only = true;
			break;
		case NVMETUNE_A_PARAM_INHERITABLE:
			p->inheritable = true;
			break;
		case NVMETUNE_A_PARAM_MIN_VALUE:
			p->min = attr_u64(&a);
			break;
		case NVMETUNE_A_PARAM_MAX_VALUE:
			p->max = attr_u64(&a);
			break;
		case NVMETUNE_A_PARAM_DEFAULT:
			p->def = attr_u64(&a);
			break;
		case NVMETUNE_A_PARAM_CHOICE:
			if (p->choices == NL_CHOICES)
				die("%s has more than %d choices", p->name, NL_CHOICES);
			attr_text(&a, p->choice[p->choices++], NL_NAME);
			break;
		case NVMETUNE_A_PARAM_INHERIT:
			p->inherit = true;
			break;
		case NVMETUNE_A_PARAM_VALUE:
			p->value = attr_u64(&a);
			break;
		}
	}
}

static void take_param(const struct nlmsghdr *h, void *arg)
{
	struct model *model = arg;

	if (model->nr_params == ARRAY_SIZE(model->param))
		die("more parameters than there is room for");
	param_from(h, &model->param[model->nr_params++]);
}

static void take_object(const struct nlmsghdr *h, void *arg)
{
	struct model *model = arg;
	const unsigned char *at;
	struct object *o;
	struct attr a;
	size_t left;

	if (model->nr_objects == ARRAY_SIZE(model->object))
		die("more objects than there is room for");
	o = &model->object[model->nr_objects++];
	memset(o, 0, sizeof(*o));
	at = nl_attrs(h, &left);
	while (attr_next(&at, &left, &a)) {
		if (a.type == NVMETUNE_A_OBJECT_ID)
			o->id = attr_u32(&a);
		else if (a.type == NVMETUNE_A_OBJECT_NAME)
			attr_text(&a, o->path, sizeof(o->path));
		else if (a.type == NVMETUNE_A_OBJECT_PARENT)
			o->parent = attr_u32(&a);
		else if (a.type == NVMETUNE_A_OBJECT_PARAMS)
			o->params = attr_u32(&a);
		else if (a.type == NVMETUNE_A_OBJECT_STATS)
			o->stats = attr_u32(&a);
	}
}

/* Returns an error; nl->interrupted says if either dump was. */
int model_load(struct nl *nl, struct model *model)
{
	static struct msg m;
	bool interrupted;
	int err;

	model->nr_params = 0;
	model->nr_objects = 0;
	m.len = 0;
	msg_begin(&m, nl->family, NVMETUNE_CMD_OBJECT_GET,
		  NLM_F_REQUEST | NLM_F_DUMP);
	err = nl_call(nl, &m, take_object, model);
	interrupted = nl->interrupted;
	if (err)
		return err;
	m.len = 0;
	msg_begin(&m, nl->family, NVMETUNE_CMD_PARAM_GET,
		  NLM_F_REQUEST | NLM_F_DUMP);
	err = nl_call(nl, &m, take_param, model);
	nl->interrupted |= interrupted;
	return err;
}

struct param *model_find(struct model *model, const char *object, const char *name)
{
	unsigned int i;

	for (i = 0; i < model->nr_params; i++)
		if (!strcmp(model->param[i].object, object) &&
		    !strcmp(model->param[i].name, name))
			return &model->param[i];
	return NULL;
}

/* At the top of what inherits, "inherit" brings the default back. */
void param_set(struct param *p, bool inherit, uint64_t value)
{
	p->inherit = inherit && strcmp(p->object, "nvme");
	if (p->inherit)
		p->value = 0;
	else
		p->value = inherit ? p->def : value;
}

/* As sysfs shows it. */
void param_text(const struct param *p, char *text, size_t size)
{
	if (p->inherit)
		snprintf(text, size, "inherit");
	else if (p->type == NVMETUNE_TYPE_ENUM && p->value < p->choices)
		snprintf(text, size, "%s", p->choice[p->value]);
	else
		snprintf(text, size, "%llu", (unsigned long long)p->value);
}

uint64_t param_max(const struct param *p)
{
	if (p->type == NVMETUNE_TYPE_BOOL)
		return 1;
	if (p->type == NVMETUNE_TYPE_ENUM)
		return p->choices - 1;
	return p->max;
}
