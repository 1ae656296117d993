/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's side of the family "nvmetune", in the test program itself: it defines the
 * system calls that libnl makes, answers what was sent and hands out events. Include it
 * in one file of a program.
 */
#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/genetlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <sys/socket.h>

#include "nvmetune.h"

#define FAKE_FAMILY	0x33
/* There is one with that number on every kernel, so that it can be joined. */
#define FAKE_GROUP	16
#define FAKE_DATAGRAMS	256

struct fake_datagram {
	void *data;
	size_t len;
};

struct fake_queue {
	struct fake_datagram all[FAKE_DATAGRAMS];
	size_t first, end;
};

/**
 * struct fake - what the kernel does, and what it was asked
 * @absent: there is no such family
 * @interrupted: so many dumps are disturbed
 * @late: so many dumps of parameters have one of an object that was not there before
 * @dump_error: error of dumps, negative
 * @set_error: error of sets, negative
 * @set_text: words with it
 * @set_index: which setting the refusal is about; -1: none
 * @set_attr: the attribute in it; 0: the setting
 * @mode: own value of nvme0's defer_mode, 0 to 2; -1: inherits
 * @pool: nvme0's pool_bytes
 * @deaf: sets are acknowledged, and nothing is done
 * @fail_after: sets that are accepted before one is refused; -1: all
 * @nr_dumps: dumps that were asked for
 * @nr_sets: requests to set
 * @nr_settings: settings in the last of them
 * @last_text: value of the last setting
 * @events: datagrams for the socket that listens
 * @lost: errno of the next read of an event, 0: none
 */
static struct fake {
	bool absent;
	int interrupted, late, dump_error;
	int set_error;
	const char *set_text;
	int set_index, set_attr, fail_after;
	int mode;
	char pool[64];
	bool deaf;
	int nr_dumps, nr_sets, nr_settings;
	char last_text[64];
	int event_fd;
	struct fake_queue replies, events;
	int lost;
} fake = { .set_index = -1, .fail_after = -1, .mode = -1, .pool = "8192" };

static void fake_push(struct fake_queue *q, struct nl_msg *msg)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);
	struct fake_datagram *d = &q->all[q->end++ % FAKE_DATAGRAMS];

	d->len = h->nlmsg_len;
	d->data = malloc(d->len);
	memcpy(d->data, h, d->len);
	nlmsg_free(msg);
}

static struct nl_msg *fake_message(const struct nlmsghdr *to, int flags, int cmd)
{
	struct nl_msg *msg = nlmsg_alloc_size(65536);

	genlmsg_put(msg, to ? to->nlmsg_pid : 0, to ? to->nlmsg_seq : 0, FAKE_FAMILY, 0, flags,
		    cmd, 1);
	return msg;
}

/* An error, or with 0 an acknowledgment, with extended attributes. */
static void fake_ack(const struct nlmsghdr *to, int error, const char *text, uint32_t offset)
{
	struct nl_msg *msg = nlmsg_alloc_size(4096);
	int flags = NLM_F_CAPPED | (text || offset ? NLM_F_ACK_TLVS : 0);
	struct nlmsghdr *h = nlmsg_put(msg, to->nlmsg_pid, to->nlmsg_seq, NLMSG_ERROR,
				       sizeof(struct nlmsgerr), flags);
	struct nlmsgerr *e = nlmsg_data(h);

	e->error = error;
	e->msg = *to;
	if (text)
		nla_put_string(msg, NLMSGERR_ATTR_MSG, text);
	if (offset)
		nla_put_u32(msg, NLMSGERR_ATTR_OFFS, offset);
	fake_push(&fake.replies, msg);
}

static void fake_done(const struct nlmsghdr *to, int error)
{
	struct nl_msg *msg = nlmsg_alloc_size(256);
	struct nlmsghdr *h = nlmsg_put(msg, to->nlmsg_pid, to->nlmsg_seq, NLMSG_DONE, sizeof(int),
				       NLM_F_MULTI);

	*(int *)nlmsg_data(h) = error;
	fake_push(&fake.replies, msg);
}

static void fake_family(const struct nlmsghdr *to)
{
	struct nl_msg *msg = nlmsg_alloc_size(4096);
	struct nlattr *groups, *group;

	genlmsg_put(msg, to->nlmsg_pid, to->nlmsg_seq, GENL_ID_CTRL, 0, 0, CTRL_CMD_NEWFAMILY, 2);
	nla_put_string(msg, CTRL_ATTR_FAMILY_NAME, "nvmetune");
	nla_put_u16(msg, CTRL_ATTR_FAMILY_ID, FAKE_FAMILY);
	nla_put_u32(msg, CTRL_ATTR_VERSION, 1);
	nla_put_u32(msg, CTRL_ATTR_HDRSIZE, 0);
	nla_put_u32(msg, CTRL_ATTR_MAXATTR, 8);
	groups = nla_nest_start(msg, CTRL_ATTR_MCAST_GROUPS);
	group = nla_nest_start(msg, 1);
	nla_put_u32(msg, CTRL_ATTR_MCAST_GRP_ID, FAKE_GROUP);
	nla_put_string(msg, CTRL_ATTR_MCAST_GRP_NAME, "config");
	nla_nest_end(msg, group);
	nla_nest_end(msg, groups);
	fake_push(&fake.replies, msg);
	/* libnl waits for the acknowledgment that it asked for. */
	fake_ack(to, 0, NULL, 0);
}

static const char *const fake_modes[] = { "off", "on", "auto" };

static void fake_put_object(struct nl_msg *msg, const char *name, const char *class)
{
	nla_put_string(msg, NVMETUNE_A_OBJECT_NAME, name);
	nla_put_string(msg, NVMETUNE_A_OBJECT_CLASS, class);
}

static void fake_put_mode(struct nl_msg *msg, const char *object, int own)
{
	int i;

	nla_put_string(msg, NVMETUNE_A_PARAM_OBJECT, object);
	nla_put_string(msg, NVMETUNE_A_PARAM_NAME, "defer_mode");
	nla_put_u32(msg, NVMETUNE_A_PARAM_TYPE, NVMETUNE_TYPE_ENUM);
	nla_put_u32(msg, NVMETUNE_A_PARAM_UNIT, NVMETUNE_UNIT_NONE);
	nla_put_u32(msg, NVMETUNE_A_PARAM_APPLIES, NVMETUNE_APPLIES_AT_ONCE);
	nla_put_flag(msg, NVMETUNE_A_PARAM_INHERITABLE);
	for (i = 0; i < 3; i++)
		nla_put_string(msg, NVMETUNE_A_PARAM_CHOICE, fake_modes[i]);
	nla_put_u64(msg, NVMETUNE_A_PARAM_DEFAULT, 2);
	nla_put_string(msg, NVMETUNE_A_PARAM_HELP, "which completions");
	nla_put_string(msg, NVMETUNE_A_PARAM_TEXT, own < 0 ? "inherit" : fake_modes[own]);
	nla_put_u64(msg, NVMETUNE_A_PARAM_IN_FORCE, own < 0 ? 2 : own);
	if (own < 0)
		nla_put_flag(msg, NVMETUNE_A_PARAM_INHERIT);
	else
		nla_put_u64(msg, NVMETUNE_A_PARAM_VALUE, own);
}

/* One that applies at reset, which no driver has yet. */
static void fake_put_pool(struct nl_msg *msg, const char *object)
{
	nla_put_string(msg, NVMETUNE_A_PARAM_OBJECT, object);
	nla_put_string(msg, NVMETUNE_A_PARAM_NAME, "pool_bytes");
	nla_put_u32(msg, NVMETUNE_A_PARAM_TYPE, NVMETUNE_TYPE_BYTES);
	nla_put_u32(msg, NVMETUNE_A_PARAM_UNIT, NVMETUNE_UNIT_BYTES);
	nla_put_u32(msg, NVMETUNE_A_PARAM_APPLIES, NVMETUNE_APPLIES_AT_RESET);
	nla_put_u64(msg, NVMETUNE_A_PARAM_MIN_VALUE, 0);
	nla_put_u64(msg, NVMETUNE_A_PARAM_MAX_VALUE, 1 << 20);
	nla_put_u64(msg, NVMETUNE_A_PARAM_DEFAULT, 4096);
	nla_put_string(msg, NVMETUNE_A_PARAM_HELP, "at reset");
	nla_put_string(msg, NVMETUNE_A_PARAM_TEXT, fake.pool);
	nla_put_u64(msg, NVMETUNE_A_PARAM_VALUE, atoi(fake.pool));
	nla_put_u64(msg, NVMETUNE_A_PARAM_IN_FORCE, atoi(fake.pool));
}

static void fake_put_stats(struct nl_msg *msg)
{
	struct nlattr *nest, *bucket;

	nla_put_string(msg, NVMETUNE_A_STATS_OBJECT, "nvme0/q1");
	nest = nla_nest_start(msg, NVMETUNE_A_STATS_STAT);
	nla_put_string(msg, NVMETUNE_A_STAT_NAME, "backlog_bytes");
	nla_put_u32(msg, NVMETUNE_A_STAT_KIND, NVMETUNE_STAT_KIND_GAUGE);
	nla_put_u32(msg, NVMETUNE_A_STAT_UNIT, NVMETUNE_UNIT_BYTES);
	nla_put_u64(msg, NVMETUNE_A_STAT_VALUE, 4096);
	nla_put_string(msg, NVMETUNE_A_STAT_HELP, "pushed and not yet completed");
	nla_nest_end(msg, nest);
	nest = nla_nest_start(msg, NVMETUNE_A_STATS_HISTOGRAM);
	nla_put_string(msg, NVMETUNE_A_HISTOGRAM_NAME, "handler_ns");
	nla_put_u32(msg, NVMETUNE_A_HISTOGRAM_UNIT, NVMETUNE_UNIT_NANOSECONDS);
	bucket = nla_nest_start(msg, NVMETUNE_A_HISTOGRAM_BUCKET);
	nla_put_u64(msg, NVMETUNE_A_BUCKET_UP_TO, 1023);
	nla_put_u64(msg, NVMETUNE_A_BUCKET_COUNT, 7);
	nla_nest_end(msg, bucket);
	bucket = nla_nest_start(msg, NVMETUNE_A_HISTOGRAM_BUCKET);
	nla_put_u64(msg, NVMETUNE_A_BUCKET_COUNT, 1);
	nla_nest_end(msg, bucket);
	nla_put_string(msg, NVMETUNE_A_HISTOGRAM_HELP, "interrupt handler");
	nla_nest_end(msg, nest);
}

static void fake_dump(const struct nlmsghdr *to, int cmd)
{
	/* The second of a dump's messages says that something was disturbed. */
	int flags = fake.interrupted > 0 && fake.interrupted-- ? NLM_F_DUMP_INTR : 0;
	struct nl_msg *msg = fake_message(to, NLM_F_MULTI, cmd);

	fake.nr_dumps++;
	if (fake.dump_error) {
		nlmsg_free(msg);
		fake_done(to, fake.dump_error);
		return;
	}
	if (cmd == NVMETUNE_CMD_OBJECT_GET) {
		fake_put_object(msg, "nvme0/q1", "nvme-queue");
		fake_push(&fake.replies, msg);
		msg = fake_message(to, NLM_F_MULTI | flags, cmd);
		fake_put_object(msg, "nvme0", "nvme-controller");
	} else if (cmd == NVMETUNE_CMD_PARAM_GET) {
		fake_put_mode(msg, fake.late > 0 && fake.late-- ? "nvme1" : "nvme0", fake.mode);
		fake_push(&fake.replies, msg);
		msg = fake_message(to, NLM_F_MULTI | flags, cmd);
		fake_put_pool(msg, "nvme0");
	} else {
		fake_put_stats(msg);
	}
	fake_push(&fake.replies, msg);
	fake_done(to, 0);
}

/* Offset of the attribute that a refusal is about. */
static uint32_t fake_offset(const struct nlmsghdr *request)
{
	struct nlattr *attr, *in;
	int rem, rem_in, i = 0;

	nlmsg_for_each_attr(attr, (struct nlmsghdr *)request, GENL_HDRLEN, rem) {
		if (i++ != fake.set_index)
			continue;
		if (!fake.set_attr)
			return (char *)attr - (char *)request;
		nla_for_each_nested(in, attr, rem_in)
			if (nla_type(in) == fake.set_attr)
				return (char *)in - (char *)request;
	}
	return 0;
}

/* Which parameter it is for, the value tells. */
static void fake_take_value(const char *text)
{
	int i;

	snprintf(fake.last_text, sizeof(fake.last_text), "%s", text);
	if (!strcmp(text, "inherit"))
		fake.mode = -1;
	for (i = 0; i < 3; i++)
		if (!strcmp(text, fake_modes[i]))
			fake.mode = i;
	if (*text >= '0' && *text <= '9')
		snprintf(fake.pool, sizeof(fake.pool), "%s", text);
}

static void fake_set(const struct nlmsghdr *request)
{
	struct nlattr *attr, *in;
	int rem, rem_in;

	fake.nr_sets++;
	fake.nr_settings = 0;
	if (fake.set_error && (fake.fail_after < 0 || fake.fail_after-- <= 0)) {
		/* Once: what is put back afterwards is taken. */
		if (fake.fail_after < 0)
			fake.fail_after = 1000;
		fake_ack(request, fake.set_error, fake.set_text, fake_offset(request));
		return;
	}
	nlmsg_for_each_attr(attr, (struct nlmsghdr *)request, GENL_HDRLEN, rem) {
		fake.nr_settings++;
		nla_for_each_nested(in, attr, rem_in)
			if (nla_type(in) == NVMETUNE_A_SETTING_TEXT && !fake.deaf)
				fake_take_value(nla_get_string(in));
	}
	fake_ack(request, 0, NULL, 0);
}

static void fake_request(const struct nlmsghdr *h)
{
	const struct genlmsghdr *g = nlmsg_data(h);

	if (h->nlmsg_type == GENL_ID_CTRL) {
		if (fake.absent)
			fake_ack(h, -ENOENT, NULL, 0);
		else
			fake_family(h);
	} else if (h->nlmsg_flags & NLM_F_DUMP) {
		fake_dump(h, g->cmd);
	} else if (g->cmd == NVMETUNE_CMD_PARAM_SET) {
		fake_set(h);
	} else {
		fake_ack(h, fake.set_error, fake.set_text, 0);
	}
}

/* System calls */

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	fake_request(msg->msg_iov[0].iov_base);
	return msg->msg_iov[0].iov_len;
}

static ssize_t fake_take(struct fake_queue *q, void *buf, size_t size, int flags)
{
	struct fake_datagram *d = &q->all[q->first % FAKE_DATAGRAMS];
	ssize_t len;

	if (q->first == q->end) {
		errno = EAGAIN;
		return -1;
	}
	len = d->len;
	memcpy(buf, d->data, d->len < size ? d->len : size);
	if (!(flags & MSG_PEEK)) {
		free(d->data);
		q->first++;
	}
	return len;
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	struct sockaddr_nl *from = msg->msg_name;
	ssize_t len = fake_take(&fake.replies, msg->msg_iov[0].iov_base,
				msg->msg_iov[0].iov_len, flags);

	if (from)
		*from = (struct sockaddr_nl){ .nl_family = AF_NETLINK };
	msg->msg_namelen = sizeof(*from);
	msg->msg_controllen = 0;
	msg->msg_flags = len > (ssize_t)msg->msg_iov[0].iov_len ? MSG_TRUNC : 0;
	return len;
}

ssize_t recvfrom(int fd, void *buf, size_t size, int flags, struct sockaddr *from,
		 socklen_t *from_len)
{
	if (fake.lost) {
		errno = fake.lost;
		fake.lost = 0;
		return -1;
	}
	*(struct sockaddr_nl *)from = (struct sockaddr_nl){ .nl_family = AF_NETLINK };
	return fake_take(&fake.events, buf, size, flags);
}

/* A change that somebody has made. */
static inline void fake_changed(const char *object, int old, int own)
{
	struct nl_msg *msg = fake_message(NULL, 0, NVMETUNE_CMD_PARAM_NTF);

	nla_put_string(msg, NVMETUNE_A_PARAM_OBJECT, object);
	nla_put_string(msg, NVMETUNE_A_PARAM_NAME, "defer_mode");
	nla_put_string(msg, NVMETUNE_A_PARAM_TEXT, own < 0 ? "inherit" : fake_modes[own]);
	nla_put_u64(msg, NVMETUNE_A_PARAM_IN_FORCE, own < 0 ? 2 : own);
	if (own < 0)
		nla_put_flag(msg, NVMETUNE_A_PARAM_INHERIT);
	if (old < 0)
		nla_put_flag(msg, NVMETUNE_A_PARAM_OLD_INHERIT);
	else
		nla_put_u64(msg, NVMETUNE_A_PARAM_OLD_VALUE, old);
	fake_push(&fake.events, msg);
}

static inline void fake_came(const char *object, int cmd)
{
	struct nl_msg *msg = fake_message(NULL, 0, cmd);

	fake_put_object(msg, object, "nvme-queue");
	fake_push(&fake.events, msg);
}

#endif /* FAKE_KERNEL_H */
