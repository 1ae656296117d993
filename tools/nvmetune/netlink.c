// SPDX-License-Identifier: GPL-2.0-only
/*
 * The backend for the generic netlink family "nvmetune". What messages say is in
 * nl-decode.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <sys/socket.h>

#include "nvmetune.h"

/* Objects that come and go disturb dumps: so often is one repeated. */
#define NT_DUMP_TRIES	50
/* A notice is a message of a page at most. */
#define NT_EVENT_SIZE	(64 * 1024)

struct nt_netlink {
	struct nt_backend b;
	struct nl_sock *sock;
	int family;
	/* Events: what has arrived and was not yet taken. */
	struct nl_sock *events;
	char *buf;
	struct nlmsghdr *next;
	int left;
	/* Parameters as they were when last looked at, to tell names of values. */
	struct nt_tree known;
};

static struct nt_netlink *nt_netlink(struct nt_backend *b)
{
	return (struct nt_netlink *)b;
}

/* Requests */

typedef int (*nt_decoder)(struct nlattr *attrs, int len, struct nt_tree *tree);

/* One exchange with the kernel. */
struct nt_call {
	nt_decoder decode;
	struct nt_tree *tree;
	int failed;		/* what the decoder said */
	bool done;
	struct nt_ack ack;
};

static int nt_call_valid(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *g = nlmsg_data(nlmsg_hdr(msg));
	struct nt_call *call = arg;

	if (nlmsg_datalen(nlmsg_hdr(msg)) < (int)GENL_HDRLEN)
		call->failed = -EINVAL;
	else if (call->decode && !call->failed)
		call->failed = call->decode(genlmsg_attrdata(g, 0), genlmsg_attrlen(g, 0),
					    call->tree);
	return NL_OK;
}

static int nt_call_finish(struct nl_msg *msg, void *arg)
{
	struct nt_call *call = arg;

	nt_decode_ack(nlmsg_hdr(msg), &call->ack);
	call->done = true;
	return NL_OK;
}

static int nt_call_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	struct nt_call *call = arg;

	/* libnl hands out the payload; the header is before it. */
	nt_decode_ack((struct nlmsghdr *)((char *)e - NLMSG_HDRLEN), &call->ack);
	call->done = true;
	return NL_STOP;
}

/*
 * Send @msg and take all that comes of it. 0, or the error that there was before the
 * kernel could say something: a code of libnl's.
 */
static int nt_exchange(struct nt_netlink *n, struct nl_msg *msg, struct nt_call *call)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int ret;

	if (!cb)
		return -NLE_NOMEM;
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, nt_call_valid, call);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, nt_call_finish, call);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, nt_call_finish, call);
	nl_cb_err(cb, NL_CB_CUSTOM, nt_call_error, call);
	ret = nl_send_auto(n->sock, msg);
	while (ret >= 0 && !call->done)
		ret = nl_recvmsgs(n->sock, cb);
	nl_cb_put(cb);
	/* A refusal is an answer. */
	return call->ack.error || ret >= 0 ? 0 : ret;
}

static struct nl_msg *nt_message(struct nt_netlink *n, int flags, uint8_t cmd, size_t size)
{
	struct nl_msg *msg = nlmsg_alloc_size(NLMSG_HDRLEN + GENL_HDRLEN + size);

	if (msg && genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, n->family, 0, flags, cmd,
			       NVMETUNE_FAMILY_VERSION))
		return msg;
	nlmsg_free(msg);
	return NULL;
}

static int nt_failed(struct nt_error *err, int code, const char *what)
{
	nt_error_set(err, EIO, "netlink: %s: %s", what, nl_geterror(code));
	return -1;
}

/* Loading */

/* 1: something came or went meanwhile. */
static int nt_dump(struct nt_netlink *n, uint8_t cmd, nt_decoder decode, struct nt_tree *tree,
		   struct nt_error *err)
{
	struct nt_call call = { .decode = decode, .tree = tree };
	struct nl_msg *msg = nt_message(n, NLM_F_DUMP, cmd, 0);
	int ret = -NLE_NOMEM;

	if (msg)
		ret = nt_exchange(n, msg, &call);
	nlmsg_free(msg);
	if (ret == -NLE_DUMP_INTR || (!ret && !call.ack.error && call.failed == -ENOENT))
		return 1;
	if (ret)
		return nt_failed(err, ret, "reading");
	if (call.ack.error || call.failed) {
		ret = call.ack.error ? -call.ack.error : -call.failed;
		nt_error_set(err, ret, "netlink: reading: %s",
			     *call.ack.text ? call.ack.text : strerror(ret));
		return -1;
	}
	return 0;
}

static int nt_netlink_try(struct nt_netlink *n, unsigned int what, struct nt_tree *tree,
			  struct nt_error *err)
{
	int ret;

	ret = nt_dump(n, NVMETUNE_CMD_OBJECT_GET, nt_decode_object, tree, err);
	if (ret)
		return ret;
	nt_tree_sort(tree);
	if (what & NT_LOAD_PARAMS)
		ret = nt_dump(n, NVMETUNE_CMD_PARAM_GET, nt_decode_param, tree, err);
	if (!ret && (what & NT_LOAD_STATS))
		ret = nt_dump(n, NVMETUNE_CMD_STATS_GET, nt_decode_stats, tree, err);
	return ret;
}

static int nt_netlink_load(struct nt_backend *b, unsigned int what, struct nt_tree *tree,
			   struct nt_error *err)
{
	unsigned int i;
	int ret = 1;

	for (i = 0; i < NT_DUMP_TRIES && ret > 0; i++) {
		nt_tree_free(tree);
		ret = nt_netlink_try(nt_netlink(b), what, tree, err);
	}
	if (ret > 0)
		nt_error_set(err, EAGAIN, "objects come and go all the time: try again later");
	if (ret)
		nt_tree_free(tree);
	return ret ? -1 : 0;
}

/* Changing */

static int nt_put_setting(struct nl_msg *msg, const struct nt_change *c)
{
	struct nlattr *nest = nla_nest_start(msg, NVMETUNE_A_SET_SETTING);

	if (!nest || nla_put_string(msg, NVMETUNE_A_SETTING_OBJECT, c->object) < 0 ||
	    nla_put_string(msg, NVMETUNE_A_SETTING_NAME, c->name) < 0 ||
	    nla_put_string(msg, NVMETUNE_A_SETTING_TEXT, c->value) < 0)
		return -NLE_NOMEM;
	nla_nest_end(msg, nest);
	return 0;
}

static size_t nt_setting_size(const struct nt_change *c)
{
	return nla_total_size(nla_total_size(strlen(c->object) + 1) +
			      nla_total_size(strlen(c->name) + 1) +
			      nla_total_size(strlen(c->value) + 1));
}

/* The kernel's refusal in its own words, with what they are about. */
static void nt_refused(const struct nt_ack *ack, const struct nlmsghdr *request,
		       const struct nt_change *changes, size_t nr, struct nt_error *err)
{
	const char *text = *ack->text ? ack->text : strerror(-ack->error);
	const struct nt_change *c;
	long index;
	int inner;

	index = nt_ack_find(request, ack->offset, &inner);
	if (index < 0 || (size_t)index >= nr) {
		nt_error_set(err, -ack->error, "the kernel refuses: %s%s", text,
			     ack->error == -EPERM ? ": run it as root" : "");
		return;
	}
	c = &changes[index];
	if (inner == NVMETUNE_A_SETTING_OBJECT)
		nt_error_set(err, -ack->error, "%s: the kernel refuses: %s", c->object, text);
	else if (inner == NVMETUNE_A_SETTING_NAME)
		nt_error_set(err, -ack->error, "%s: %s: the kernel refuses: %s", c->object,
			     c->name, text);
	else
		nt_error_set(err, -ack->error, "%s: %s=%s: the kernel refuses: %s", c->object,
			     c->name, c->value, text);
	err->index = index;
}

static int nt_netlink_set(struct nt_backend *b, const struct nt_change *changes, size_t nr,
			  struct nt_error *err)
{
	struct nt_netlink *n = nt_netlink(b);
	struct nt_call call = { };
	struct nl_msg *msg;
	size_t size = 0, i;
	int ret = -NLE_NOMEM;

	for (i = 0; i < nr; i++)
		size += nt_setting_size(&changes[i]);
	msg = nt_message(n, 0, NVMETUNE_CMD_PARAM_SET, size);
	if (!msg)
		return nt_failed(err, ret, "setting");
	for (ret = 0, i = 0; i < nr && !ret; i++)
		ret = nt_put_setting(msg, &changes[i]);
	if (!ret)
		ret = nt_exchange(n, msg, &call);
	if (ret)
		nt_failed(err, ret, "setting");
	else if (call.ack.error)
		nt_refused(&call.ack, nlmsg_hdr(msg), changes, nr, err);
	nlmsg_free(msg);
	return ret || call.ack.error ? -1 : 0;
}

static int nt_netlink_reset_stats(struct nt_backend *b, const char *object,
				  struct nt_error *err)
{
	struct nt_netlink *n = nt_netlink(b);
	struct nt_call call = { };
	struct nl_msg *msg;
	int ret = -NLE_NOMEM;

	msg = nt_message(n, 0, NVMETUNE_CMD_STATS_RESET, nla_total_size(strlen(object) + 1));
	if (msg && !nla_put_string(msg, NVMETUNE_A_STATS_OBJECT, object))
		ret = nt_exchange(n, msg, &call);
	nlmsg_free(msg);
	if (ret)
		return nt_failed(err, ret, "resetting statistics");
	if (!call.ack.error)
		return 0;
	nt_error_set(err, -call.ack.error, "%s: the kernel does not reset statistics: %s%s", object,
		     *call.ack.text ? call.ack.text : strerror(-call.ack.error),
		     call.ack.error == -EPERM ? ": run it as root" : "");
	return -1;
}

/* Events */

static int nt_netlink_subscribe(struct nt_backend *b, struct nt_error *err)
{
	struct nt_netlink *n = nt_netlink(b);
	int ret, group;

	n->events = nl_socket_alloc();
	if (!n->events)
		return nt_failed(err, -NLE_NOMEM, "listening");
	nl_socket_disable_seq_check(n->events);
	ret = genl_connect(n->events);
	if (ret)
		return nt_failed(err, ret, "listening");
	group = genl_ctrl_resolve_grp(n->sock, NVMETUNE_FAMILY_NAME, NVMETUNE_MCGRP_CONFIG);
	if (group < 0)
		return nt_failed(err, group, "listening");
	ret = nl_socket_add_membership(n->events, group);
	if (!ret)
		ret = nl_socket_set_nonblocking(n->events);
	if (ret)
		return nt_failed(err, ret, "listening");
	n->buf = nt_alloc(NT_EVENT_SIZE);
	if (nt_netlink_load(b, NT_LOAD_PARAMS, &n->known, err))
		return -1;
	return nl_socket_get_fd(n->events);
}

/* Look the parameter up, again if it was not there before. */
static void nt_describe(struct nt_netlink *n, struct nt_event *ev)
{
	const struct nt_param *param = NULL;
	struct nt_error err = { };
	struct nt_object *obj;
	bool again = false;

	for (;;) {
		obj = nt_tree_find(&n->known, ev->object);
		if (obj)
			param = nt_object_param(obj, ev->param.name);
		if (param || again)
			break;
		nt_tree_free(&n->known);
		if (nt_netlink_load(&n->b, NT_LOAD_PARAMS, &n->known, &err))
			break;
		again = true;
	}
	if (param)
		nt_event_describe(ev, param);
}

/* Fill the buffer: 1, 0 if there is nothing, -1 with errno set. */
static int nt_receive(struct nt_netlink *n)
{
	struct sockaddr_nl from = { };
	socklen_t len = sizeof(from);
	ssize_t got;

	do {
		got = recvfrom(nl_socket_get_fd(n->events), n->buf, NT_EVENT_SIZE, 0,
			       (struct sockaddr *)&from, &len);
		/* Only the kernel is believed. */
	} while ((got < 0 && errno == EINTR) || (got >= 0 && from.nl_pid));
	if (got < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
	n->next = (struct nlmsghdr *)n->buf;
	n->left = got;
	return 1;
}

static int nt_netlink_next_event(struct nt_backend *b, struct nt_event *ev,
				 struct nt_error *err)
{
	struct nt_netlink *n = nt_netlink(b);
	struct genlmsghdr *g;
	struct nlmsghdr *h;
	int ret;

	for (;;) {
		while (n->left > 0 && nlmsg_ok(n->next, n->left)) {
			h = n->next;
			n->next = nlmsg_next(h, &n->left);
			if (h->nlmsg_type != n->family || nlmsg_datalen(h) < (int)GENL_HDRLEN)
				continue;
			g = nlmsg_data(h);
			if (nt_decode_event(g->cmd, genlmsg_attrdata(g, 0),
					    genlmsg_attrlen(g, 0), ev))
				continue;
			if (ev->kind == NT_EVENT_PARAM)
				nt_describe(n, ev);
			return 1;
		}
		n->left = 0;
		ret = nt_receive(n);
		if (!ret)
			return 0;
		if (ret > 0)
			continue;
		if (errno == ENOBUFS) {
			*ev = (struct nt_event){ .kind = NT_EVENT_LOST };
			return 1;
		}
		nt_error_set(err, errno, "netlink: listening: %s", strerror(errno));
		return -1;
	}
}

/* Opening and closing */

static void nt_netlink_close(struct nt_backend *b)
{
	struct nt_netlink *n = nt_netlink(b);

	nl_socket_free(n->events);
	nl_socket_free(n->sock);
	nt_tree_free(&n->known);
	free(n->buf);
	free(n);
}

static const struct nt_backend_ops nt_netlink_ops = {
	.name		= "netlink",
	.load		= nt_netlink_load,
	.set		= nt_netlink_set,
	.reset_stats	= nt_netlink_reset_stats,
	.subscribe	= nt_netlink_subscribe,
	.next_event	= nt_netlink_next_event,
	.close		= nt_netlink_close,
};

/* Extended acks have to be asked for; without the request in them, they are short. */
static void nt_ask_for_acks(struct nl_sock *sock)
{
	int fd = nl_socket_get_fd(sock), one = 1;

	if (setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one)))
		nt_warn("this kernel cannot say why it refuses: %s", strerror(errno));
}

struct nt_backend *nt_netlink_open(struct nt_error *err)
{
	struct nt_netlink *n = nt_alloc(sizeof(*n));
	int ret = -NLE_NOMEM;

	n->b.ops = &nt_netlink_ops;
	n->sock = nl_socket_alloc();
	if (n->sock) {
		nl_socket_enable_msg_peek(n->sock);
		ret = genl_connect(n->sock);
	}
	if (ret) {
		/* No netlink at all, as in some sandboxes: no family either. */
		nt_error_set(err, ENOENT, "netlink cannot be used here: %s", nl_geterror(ret));
		nt_netlink_close(&n->b);
		return NULL;
	}
	n->family = genl_ctrl_resolve(n->sock, NVMETUNE_FAMILY_NAME);
	if (n->family < 0) {
		nt_error_set(err, ENOENT,
			     "no nvmetune over netlink: the kernel has none, or this is not the initial network namespace");
		nt_netlink_close(&n->b);
		return NULL;
	}
	nt_ask_for_acks(n->sock);
	return &n->b;
}
