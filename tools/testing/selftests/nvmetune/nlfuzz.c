// SPDX-License-Identifier: GPL-2.0
/*
 * nlfuzz SEED COUNT: sends mutated messages to the generic netlink family
 * "nvmetune" and watches that nothing changes but by valid requests.
 *
 * A model of all values follows the param-set requests that the kernel accepts,
 * each of which has to be valid by what is written here; those that are valid have
 * to be accepted. Now and then the model is compared with a dump, the changes that
 * it has seen with the notifications, and valid requests of all commands are
 * answered as they should be. What is changed in the end is printed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nl.h"

/* Messages between two looks at everything */
#define LOOK_EACH	1000

/* Most messages that the kernel may see in one datagram that are kept track of */
#define MAX_SEEN	16

static struct nl nl, events;
static struct model model, now;
static struct msg m;

static unsigned long sent, accepted, changes, notified, failures;

/* Answers by errno; what is no error is told apart. */
#define MAX_ERRNO	256
enum { ANSWER_ACK = MAX_ERRNO, ANSWER_REPLY, ANSWER_DUMP, ANSWER_NONE, NR_ANSWERS };
static unsigned long answers[NR_ANSWERS];

static void dump_bytes(const void *data, size_t len)
{
	const unsigned char *byte = data;
	size_t i;

	for (i = 0; i < len && i < 400; i++)
		printf("%s%02x", i % 32 ? " " : "\n#   ", byte[i]);
	printf("%s\n", len > i ? " ..." : "");
}

static void fail(const char *what, const void *data, size_t len)
{
	if (++failures > 20)
		die("too many failures");
	printf("# message %lu: %s", sent, what);
	dump_bytes(data, len);
}

/* What is valid: written from the documentation, and from lib/nlattr.c */

enum verdict { INVALID, VALID, UNSURE };

struct setting {
	struct param *p;
	bool inherit;
	uint64_t value;
};

/* As the kernel's sysfs_streq(): one line feed at the end is ignored. */
static bool same(const char *text, const char *want)
{
	size_t len = strlen(want);

	return !strncmp(text, want, len) &&
	       (!text[len] || (text[len] == '\n' && !text[len + 1]));
}

static bool parse_bool(const char *text, uint64_t *value)
{
	bool on = text[0] && strchr("yYtT1", text[0]);
	bool off = text[0] && strchr("nNfF0", text[0]);

	if (text[0] == 'o' || text[0] == 'O') {
		on = text[1] == 'n' || text[1] == 'N';
		off = text[1] == 'f' || text[1] == 'F';
	}
	*value = on;
	return on || off;
}

static bool parse_number(const struct param *p, const char *text, uint64_t *value)
{
	size_t digits = strspn(text, "0123456789");
	const char *suffixes = "KMG", *suffix;

	if (!digits || digits > 10)
		return false;
	*value = strtoull(text, NULL, 10);
	text += digits;
	if (p->type == NVMETUNE_TYPE_BYTES && *text) {
		suffix = strchr(suffixes, *text & ~0x20);
		if (suffix && *text != '\v' && *text != '\r' && *text != '\a') {
			*value <<= 10 * (suffix - suffixes + 1);
			text++;
		}
	}
	return same(text, "");
}

static bool parse_value(const struct param *p, const char *text, struct setting *s)
{
	unsigned int i;

	s->inherit = same(text, "inherit");
	if (s->inherit)
		return p->inheritable;
	if (p->type == NVMETUNE_TYPE_BOOL)
		return parse_bool(text, &s->value);
	if (p->type != NVMETUNE_TYPE_ENUM)
		return parse_number(p, text, &s->value);
	for (i = 0; i < p->choices; i++) {
		s->value = i;
		if (same(text, p->choice[i]))
			return true;
	}
	return false;
}

/* A string of the policy: ends with a NUL and has not more than a NUL behind max. */
static bool valid_string(const struct attr *a, size_t max)
{
	size_t len = a->len, look = len < max ? len : max;

	if (a->flags & NLA_F_NESTED || !memchr(a->data, 0, look))
		return false;
	return len - !a->data[len - 1] < max;
}

static bool valid_in_setting(const struct attr *a)
{
	switch (a->type) {
	case NVMETUNE_A_SETTING_OBJECT:
	case NVMETUNE_A_SETTING_TEXT:
		return valid_string(a, NL_PATH);
	case NVMETUNE_A_SETTING_NAME:
		return valid_string(a, NL_NAME);
	case NVMETUNE_A_SETTING_VALUE:
		return a->len == sizeof(uint64_t) && !(a->flags & NLA_F_NESTED);
	}
	return false;
}

static enum verdict judge_setting(const struct attr *nest, struct setting *s)
{
	struct attr a, in[NVMETUNE_A_SETTING_MAX + 1] = { };
	const struct attr *text = &in[NVMETUNE_A_SETTING_TEXT];
	const struct attr *value = &in[NVMETUNE_A_SETTING_VALUE];
	const unsigned char *at = nest->data;
	size_t left = nest->len;

	if (nest->type != NVMETUNE_A_SET_SETTING || !(nest->flags & NLA_F_NESTED))
		return INVALID;
	while (attr_next(&at, &left, &a)) {
		if (!valid_in_setting(&a))
			return INVALID;
		in[a.type] = a;
	}
	if (left || !in[NVMETUNE_A_SETTING_OBJECT].data ||
	    !in[NVMETUNE_A_SETTING_NAME].data || !text->data == !value->data)
		return INVALID;
	s->p = model_find(&model, (void *)in[NVMETUNE_A_SETTING_OBJECT].data,
			  (void *)in[NVMETUNE_A_SETTING_NAME].data);
	if (!s->p || s->p->read_only)
		return INVALID;
	if (text->data && !parse_value(s->p, (void *)text->data, s))
		return INVALID;
	if (value->data)
		s->value = attr_u64(value);
	if (!s->inherit && (s->value < s->p->min || s->value > param_max(s->p)))
		return INVALID;
	/* It depends on whether a controller has workqueues at this moment. */
	return strcmp(s->p->name, "workqueue") ? VALID : UNSURE;
}

static bool set_twice(const struct setting *s, unsigned int nr)
{
	unsigned int i, j;

	for (i = 0; i < nr; i++)
		for (j = 0; j < i; j++)
			if (s[i].p == s[j].p)
				return true;
	return false;
}

static enum verdict judge_set(const struct nlmsghdr *h, struct setting *s,
			      unsigned int *nr)
{
	enum verdict verdict = VALID, one;
	const unsigned char *at;
	struct attr a;
	size_t left;

	*nr = 0;
	at = nl_attrs(h, &left);
	while (attr_next(&at, &left, &a)) {
		if (*nr == NL_SETTINGS)
			return INVALID;
		s[*nr] = (struct setting){ };
		one = judge_setting(&a, &s[(*nr)++]);
		if (one == INVALID)
			return INVALID;
		if (one == UNSURE)
			verdict = UNSURE;
	}
	return left || !*nr || set_twice(s, *nr) ? INVALID : verdict;
}

static bool same_value(const struct param *a, const struct param *b)
{
	return a->inherit == b->inherit && a->value == b->value;
}

static void apply(const struct setting *s, unsigned int nr)
{
	struct param *p, before;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		p = s[i].p;
		before = *p;
		param_set(p, s[i].inherit, s[i].value);
		if (same_value(&before, p))
			continue;
		p->changed = true;
		changes++;
	}
}

/* Writing messages, with faults in their attributes */

/* Of how many attributes one is spoilt; 0: none. */
static unsigned int spoil;

static const char * const odd_texts[] = {
	"", "/", "nvme0/", "/nvme0", "nvme0//q1", "nvme0/q1/", "nvme99", "nvme0/q99",
	"nvme0/q1/x", "..", "../kernel", "%s%n%p", "inherit", "off", "on", "auto", "0",
	"1", "-1", "4K", "64K\n", "1G", "99999999999", "4294967296", "1e3", " 1", "0x10",
	"\xff\xfe", "nvme", "defer_mode", "in_force", "params",
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
};

static const char *odd_text(void)
{
	return odd_texts[below(ARRAY_SIZE(odd_texts))];
}

static void put_odd(uint16_t type, const void *data, size_t len)
{
	unsigned char other[600];
	size_t i, size = below(one_in(4) ? sizeof(other) : 12);

	for (i = 0; i < sizeof(other); i++)
		other[i] = one_in(3) ? 0 : rnd();
	switch (below(9)) {
	case 0:		/* not there */
		break;
	case 1:		/* twice */
		msg_put(&m, type, data, len);
		msg_put(&m, type, data, len);
		break;
	case 2:		/* of another type */
		msg_put(&m, one_in(2) ? below(24) : rnd(), data, len);
		break;
	case 3:		/* flagged */
		msg_put(&m, type ^ NLA_F_NESTED, data, len);
		break;
	case 4:
		msg_put(&m, type ^ NLA_F_NET_BYTEORDER, data, len);
		break;
	case 5:		/* cut off, as strings are without a NUL */
		msg_put(&m, type, data, below(len));
		break;
	case 6:		/* longer, without a NUL */
		memset(other, 'a', sizeof(other));
		msg_put(&m, type, other, size);
		break;
	case 7:		/* anything */
		msg_put(&m, type, other, size);
		break;
	case 8:
		msg_str(&m, type, odd_text());
		break;
	}
}

static void put(uint16_t type, const void *data, size_t len)
{
	if (spoil && one_in(spoil))
		put_odd(type, data, len);
	else
		msg_put(&m, type, data, len);
}

static void put_str(uint16_t type, const char *text)
{
	put(type, text, strlen(text) + 1);
}

static const struct param *any_param(void)
{
	return &model.param[below(model.nr_params)];
}

static const char *any_object(void)
{
	return model.object[below(model.nr_objects)].path;
}

static void put_number(uint64_t value)
{
	put(NVMETUNE_A_SETTING_VALUE, &value, sizeof(value));
}

/* What it is, in either form */
static void put_current(const struct param *p)
{
	char text[NL_TEXT];

	if (!p->inherit && one_in(2)) {
		put_number(p->value);
	} else {
		param_text(p, text, sizeof(text));
		put_str(NVMETUNE_A_SETTING_TEXT, text);
	}
}

static void put_value(const struct param *p)
{
	switch (spoil ? below(12) : 6) {
	case 0:
		put_number(rnd() >> below(64));
		break;
	case 1:
		put_number(param_max(p) + 1);
		break;
	case 2:
		put_number(p->min - 1);
		break;
	case 3:
		put_str(NVMETUNE_A_SETTING_TEXT, odd_text());
		break;
	case 4:		/* both */
		put_current(p);
		put_current(p);
		break;
	case 5:		/* another one that is valid */
		put_number(p->min + below(param_max(p) - p->min + 1));
		break;
	default:
		put_current(p);
		break;
	}
}

static void put_setting(const struct param *p)
{
	size_t nest = msg_nest(&m, NVMETUNE_A_SET_SETTING);
	unsigned int depth, i;
	size_t inner[12];

	put_str(NVMETUNE_A_SETTING_OBJECT, p->object);
	put_str(NVMETUNE_A_SETTING_NAME, p->name);
	put_value(p);
	if (spoil && one_in(40)) {
		depth = below(ARRAY_SIZE(inner));
		for (i = 0; i < depth; i++)
			inner[i] = msg_nest(&m, below(6));
		while (depth--)
			msg_nest_end(&m, inner[depth]);
	}
	msg_nest_end(&m, nest);
	if (spoil && one_in(40))
		((struct nlattr *)(m.buf + nest))->nla_type ^= NLA_F_NESTED;
}

/* Whose current value may be set at any time */
static bool settable(const struct param *p)
{
	return !p->read_only && strcmp(p->name, "workqueue");
}

static void put_all(void)
{
	unsigned int i;

	for (i = 0; i < model.nr_params; i++)
		if (settable(&model.param[i]))
			put_setting(&model.param[i]);
}

static void put_many(void)
{
	static const unsigned int counts[] = { 0, 47, 48, 49, 64, 255, 256, 1023, 1024,
					       1025, 1500, 3000 };
	unsigned int n = counts[below(ARRAY_SIZE(counts))];

	while (n--)
		put_setting(any_param());
}

/* The payload of a request that is valid but for what is spoilt */
static void put_request(uint8_t cmd)
{
	const struct param *p = any_param();
	unsigned int n;

	switch (cmd) {
	case NVMETUNE_CMD_OBJECT_GET:
		put_str(NVMETUNE_A_OBJECT_NAME, any_object());
		break;
	case NVMETUNE_CMD_PARAM_GET:
		put_str(NVMETUNE_A_PARAM_OBJECT, p->object);
		put_str(NVMETUNE_A_PARAM_NAME, p->name);
		break;
	case NVMETUNE_CMD_STATS_GET:
	case NVMETUNE_CMD_STATS_RESET:
		put_str(NVMETUNE_A_STATS_OBJECT, any_object());
		break;
	case NVMETUNE_CMD_PARAM_SET:
		if (one_in(100)) {
			put_all();
		} else if (one_in(100)) {
			put_many();
		} else {
			for (n = one_in(2) ? 1 : 1 + below(8); n; n--)
				put_setting(any_param());
		}
		break;
	}
}

/* Dumps take their time: few. */
static bool is_dump(uint8_t cmd)
{
	switch (cmd) {
	case NVMETUNE_CMD_OBJECT_GET:
		return one_in(4);
	case NVMETUNE_CMD_PARAM_GET:
	case NVMETUNE_CMD_STATS_GET:
		return one_in(12);
	}
	return false;
}

static uint8_t any_command(void)
{
	static const uint8_t commands[] = {
		NVMETUNE_CMD_OBJECT_GET, NVMETUNE_CMD_PARAM_GET, NVMETUNE_CMD_PARAM_SET,
		NVMETUNE_CMD_PARAM_SET, NVMETUNE_CMD_PARAM_SET, NVMETUNE_CMD_PARAM_SET,
		NVMETUNE_CMD_STATS_GET, NVMETUNE_CMD_STATS_RESET,
	};

	return commands[below(sizeof(commands))];
}

static void put_message(void)
{
	uint8_t cmd = any_command();
	uint16_t flags = NLM_F_REQUEST;

	if (!one_in(4))
		flags |= NLM_F_ACK;
	if (is_dump(cmd))
		flags |= NLM_F_DUMP;
	msg_begin(&m, nl.family, cmd, flags);
	put_request(cmd);
	if (spoil && one_in(10))
		put_odd(below(24), "nvme0", 6);
	msg_end(&m);
}

/* Mutations of what is written */

static struct nlmsghdr *head(void)
{
	return (struct nlmsghdr *)(m.buf + m.begin);
}

/* One of the attributes, at any depth that the lengths tell. */
static struct nlattr *any_attr(void)
{
	size_t at = m.begin + NLMSG_HDRLEN + GENL_HDRLEN, found = 0;
	unsigned int seen = 0;
	struct nlattr *a;

	while (at + sizeof(*a) <= m.len && seen < 200) {
		a = (struct nlattr *)(m.buf + at);
		if (one_in(++seen))
			found = at;
		if (a->nla_type & NLA_F_NESTED || a->nla_len < sizeof(*a))
			at += sizeof(*a);
		else
			at += NLA_ALIGN(a->nla_len);
	}
	return found ? (struct nlattr *)(m.buf + found) : NULL;
}

static void mutate_attr(void)
{
	struct nlattr *a = any_attr();

	if (!a)
		return;
	switch (below(6)) {
	case 0:
		a->nla_len += (int)below(17) - 8;
		break;
	case 1:
		a->nla_len = below(6);
		break;
	case 2:
		a->nla_len = one_in(2) ? 0xffff : rnd();
		break;
	case 3:
		a->nla_type ^= NLA_F_NESTED;
		break;
	case 4:
		a->nla_type = one_in(2) ? below(30) : rnd();
		break;
	case 5:
		a->nla_type ^= NLA_F_NET_BYTEORDER;
		break;
	}
}

static void mutate_bytes(void)
{
	size_t from = m.begin + (one_in(8) ? 0 : NLMSG_HDRLEN);
	unsigned int n = 1 + below(8);
	size_t at;

	while (n-- && m.len > from) {
		at = from + below(m.len - from);
		if (one_in(2))
			m.buf[at] ^= 1 << below(8);
		else
			m.buf[at] = rnd();
	}
	/* Other families are none of our business. */
	if (head()->nlmsg_type != nl.family)
		head()->nlmsg_type = nl.family;
}

static void mutate_header(void)
{
	struct nlmsghdr *h = head();
	struct genlmsghdr *g = NLMSG_DATA(h);

	switch (below(8)) {
	case 0:
		g->cmd = one_in(2) ? below(12) : rnd();
		break;
	case 1:
		g->version = rnd();
		break;
	case 2:
		g->reserved = rnd();
		break;
	case 3:
		h->nlmsg_flags = rnd();
		break;
	case 4:
		h->nlmsg_flags ^= 1 << below(16);
		break;
	case 5:
		h->nlmsg_flags |= NLM_F_DUMP;
		break;
	case 6:		/* a message of netlink's own, or of no family */
		h->nlmsg_type = one_in(2) ? below(NLMSG_MIN_TYPE) : 0xfff0 + below(15);
		break;
	case 7:
		h->nlmsg_len += (int)below(65) - 32;
		break;
	}
}

static void mutate_length(void)
{
	size_t len = m.len - m.begin;

	switch (below(3)) {
	case 0:		/* cut off at any byte, and the header says so or not */
		len = 1 + below(len);
		m.len = m.begin + len;
		if (one_in(4) && len >= NLMSG_HDRLEN)
			break;
		if (len >= sizeof(uint32_t))
			head()->nlmsg_len = len;
		break;
	case 1:		/* more than the attributes */
		if (m.len + 100 > sizeof(m.buf))
			break;
		len = 1 + below(64);
		while (len--)
			m.buf[m.len++] = one_in(2) ? 0 : rnd();
		if (!one_in(4))
			msg_end(&m);
		break;
	case 2:
		head()->nlmsg_len = one_in(2) ? below(2 * len) : rnd();
		break;
	}
}

static void mutate(void)
{
	unsigned int n = 1 + below(3);

	while (n--) {
		switch (below(8)) {
		case 0:
		case 1:
		case 2:
			mutate_attr();
			break;
		case 3:
		case 4:
			mutate_bytes();
			break;
		case 5:
		case 6:
			mutate_header();
			break;
		case 7:
			mutate_length();
			return;
		}
	}
}

/* Sending, and what comes back */

struct seen {
	struct nlmsghdr *h;
	int answer;		/* errno, ANSWER_... */
	bool dump;		/* ends with a message of its own */
	bool acked;
};

static struct seen seen[MAX_SEEN];
static unsigned int nr_seen;

/* What the kernel takes for messages in the datagram; each gets its number. */
static void number_messages(void)
{
	unsigned char *at = m.buf;
	size_t left = m.len, step;
	struct nlmsghdr *h;

	nr_seen = 0;
	while (left >= NLMSG_HDRLEN) {
		h = (struct nlmsghdr *)at;
		if (h->nlmsg_len < NLMSG_HDRLEN || h->nlmsg_len > left)
			break;
		if (nr_seen == MAX_SEEN) {
			/* The rest is not sent. */
			m.len = at - m.buf;
			break;
		}
		h->nlmsg_seq = ++nl.seq;
		seen[nr_seen++] = (struct seen){
			.h = h,
			.answer = ANSWER_NONE,
			.dump = h->nlmsg_type == nl.family &&
				h->nlmsg_flags & NLM_F_REQUEST &&
				(h->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP,
		};
		step = NLMSG_ALIGN(h->nlmsg_len);
		if (step > left)
			step = left;
		at += step;
		left -= step;
	}
}

static void take_error(struct seen *s, int err)
{
	if (err < 0 && err > -MAX_ERRNO)
		s->answer = -err;
	else if (!err)
		s->acked = true;
	else
		fail("no such error", s->h, s->h->nlmsg_len);
	s->dump = false;
	if (s->acked && s->answer == ANSWER_NONE)
		s->answer = ANSWER_ACK;
}

static void take_answer(const struct nlmsghdr *h, struct seen *s)
{
	int err = 0;

	if (h->nlmsg_type == NLMSG_ERROR) {
		take_error(s, *(int *)NLMSG_DATA(h));
		return;
	}
	if (h->nlmsg_type == NLMSG_DONE) {
		err = *(int *)NLMSG_DATA(h);
		s->answer = err < 0 && err > -MAX_ERRNO ? -err : ANSWER_DUMP;
		s->dump = false;
		return;
	}
	if (!s->dump)
		s->answer = ANSWER_REPLY;
}

static bool all_answered(bool probed)
{
	unsigned int i;

	for (i = 0; i < nr_seen; i++)
		if (seen[i].dump)
			return false;
	return probed;
}

/*
 * Behind the datagram goes a message that does nothing and is acknowledged: what
 * was not answered before that never will be, but for dumps.
 */
static void collect(void)
{
	const struct nlmsghdr *h;
	const unsigned char *at;
	bool probed = false;
	uint32_t probe = nl.seq, first = probe - nr_seen;
	size_t left;

	while (!all_answered(probed)) {
		left = nl_recv(&nl, true);
		at = nl.buf;
		while ((h = nl_next(&at, &left))) {
			if (h->nlmsg_seq == probe)
				probed = true;
			else if (h->nlmsg_seq - first < nr_seen)
				take_answer(h, &seen[h->nlmsg_seq - first]);
			else
				fail("an answer to nothing", h, h->nlmsg_len);
		}
	}
}

static void send_all(void)
{
	struct nlmsghdr probe = {
		.nlmsg_len = sizeof(probe),
		.nlmsg_type = NLMSG_NOOP,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
	};

	number_messages();
	nl_send(&nl, m.buf, m.len);
	probe.nlmsg_seq = ++nl.seq;
	nl_send(&nl, &probe, sizeof(probe));
	collect();
}

/* Whether the kernel handed it to the family's setter */
static bool is_set(const struct nlmsghdr *h)
{
	const struct genlmsghdr *g = NLMSG_DATA(h);

	return h->nlmsg_type == nl.family && h->nlmsg_flags & NLM_F_REQUEST &&
	       (h->nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP &&
	       h->nlmsg_len >= NLMSG_HDRLEN + GENL_HDRLEN &&
	       g->cmd == NVMETUNE_CMD_PARAM_SET;
}

static bool clean_header(const struct nlmsghdr *h)
{
	const struct genlmsghdr *g = NLMSG_DATA(h);

	return !g->reserved &&
	       !(h->nlmsg_flags & ~(NLM_F_REQUEST | NLM_F_ACK | NLM_F_ECHO));
}

static void judge(const struct seen *s)
{
	static struct setting settings[NL_SETTINGS];
	enum verdict verdict;
	unsigned int nr;

	answers[s->answer]++;
	if (!is_set(s->h))
		return;
	verdict = judge_set(s->h, settings, &nr);
	if (s->answer < MAX_ERRNO) {
		if (verdict == VALID && clean_header(s->h))
			fail(strerror(s->answer), s->h, s->h->nlmsg_len);
		return;
	}
	accepted++;
	if (verdict == INVALID)
		fail("taken, although not valid", s->h, s->h->nlmsg_len);
	else
		apply(settings, nr);
}

static void fuzz_one(void)
{
	unsigned int n = one_in(20) ? 2 + below(3) : 1, i;

	m.len = 0;
	while (n--) {
		spoil = one_in(4) ? 0 : 4 + below(20);
		put_message();
		sent++;
		if (!spoil || one_in(2))
			mutate();
		/* What follows is written behind a whole message. */
		if (m.len % NLMSG_ALIGNTO || m.len + 8192 > sizeof(m.buf) / 2)
			break;
	}
	spoil = 0;
	send_all();
	for (i = 0; i < nr_seen; i++)
		judge(&seen[i]);
	if (!nr_seen)
		answers[ANSWER_NONE]++;
}

/* Looks at everything */

static void expect(const char *what, int err, int want)
{
	char text[200];

	if (err == want)
		return;
	snprintf(text, sizeof(text), "%s: %s instead of %s", what,
		 err ? strerror(err) : "taken", want ? strerror(want) : "taken");
	fail(text, head(), m.len - m.begin);
}

static void begin(uint8_t cmd, uint16_t flags)
{
	m.len = 0;
	msg_begin(&m, nl.family, cmd, NLM_F_REQUEST | flags);
}

static int call(nl_handler handler, void *arg)
{
	return nl_call(&nl, &m, handler, arg);
}

static void compare_model(void)
{
	const struct param *p, *have;
	char text[200], is[NL_TEXT], want[NL_TEXT];
	unsigned int i;

	expect("dump", model_load(&nl, &now), 0);
	if (nl.interrupted)
		fail("a dump was interrupted", NULL, 0);
	if (now.nr_params != model.nr_params || now.nr_objects != model.nr_objects ||
	    memcmp(now.object, model.object, now.nr_objects * sizeof(now.object[0])))
		die("the objects or parameters are not what they were");
	for (i = 0; i < model.nr_params; i++) {
		p = &model.param[i];
		have = &now.param[i];
		if (p->read_only || same_value(have, p))
			continue;
		param_text(have, is, sizeof(is));
		param_text(p, want, sizeof(want));
		snprintf(text, sizeof(text), "%s %s is %s, should be %s", p->object,
			 p->name, is, want);
		fail(text, NULL, 0);
	}
}

static void take_events(void)
{
	const struct genlmsghdr *g;
	const struct nlmsghdr *h;
	const unsigned char *at;
	size_t left;

	while ((left = nl_recv(&events, false))) {
		at = events.buf;
		while ((h = nl_next(&at, &left))) {
			g = NLMSG_DATA(h);
			if (g->cmd == NVMETUNE_CMD_PARAM_NTF)
				notified++;
			else
				fail("a notification of something else", h,
				     h->nlmsg_len);
		}
	}
	if (notified != changes) {
		printf("# %lu changes, %lu notifications\n", changes, notified);
		fail("other notifications than changes", NULL, 0);
		notified = changes;
	}
}

static void take_one(const struct nlmsghdr *h, void *arg)
{
	struct param *p = arg;

	param_from(h, p);
}

static void count_one(const struct nlmsghdr *h, void *arg)
{
	unsigned int *n = arg;

	(void)h;
	++*n;
}

static void check_get(void)
{
	const struct param *p = any_param();
	unsigned int n = 0, with_stats = 0, i;
	struct param got = { };

	begin(NVMETUNE_CMD_OBJECT_GET, NLM_F_ACK);
	put_str(NVMETUNE_A_OBJECT_NAME, p->object);
	expect("object-get", call(count_one, &n), 0);
	begin(NVMETUNE_CMD_PARAM_GET, NLM_F_ACK);
	put_str(NVMETUNE_A_PARAM_OBJECT, p->object);
	put_str(NVMETUNE_A_PARAM_NAME, p->name);
	expect("param-get", call(take_one, &got), 0);
	if (n != 1 || strcmp(got.object, p->object) || strcmp(got.name, p->name) ||
	    (!p->read_only && !same_value(&got, p)))
		fail("the wrong answer to object-get or param-get", head(), m.len);
	n = 0;
	begin(NVMETUNE_CMD_STATS_GET, NLM_F_ACK);
	put_str(NVMETUNE_A_STATS_OBJECT, p->object);
	expect("stats-get", call(count_one, &n), 0);
	if (n != 1)
		fail("the wrong answer to stats-get", head(), m.len);
	n = 0;
	begin(NVMETUNE_CMD_STATS_GET, NLM_F_DUMP);
	expect("stats-get, dump", call(count_one, &n), 0);
	for (i = 0; i < model.nr_objects; i++)
		with_stats += !!model.object[i].stats;
	if (n != with_stats)
		fail("the wrong number of answers to stats-get", head(), m.len);
	begin(NVMETUNE_CMD_STATS_RESET, NLM_F_ACK);
	put_str(NVMETUNE_A_STATS_OBJECT, p->object);
	expect("stats-reset", call(NULL, NULL), 0);
}

/* A setting beside one that is valid */
static void refuses(int want, const char *object, const char *name, uint64_t value)
{
	const struct param *p;
	size_t nest;

	do {
		p = any_param();
	} while (!settable(p));
	begin(NVMETUNE_CMD_PARAM_SET, NLM_F_ACK);
	put_setting(p);
	nest = msg_nest(&m, NVMETUNE_A_SET_SETTING);
	put_str(NVMETUNE_A_SETTING_OBJECT, object);
	put_str(NVMETUNE_A_SETTING_NAME, name);
	put_number(value);
	msg_nest_end(&m, nest);
	expect(name, call(NULL, NULL), want);
}

static void check_set(void)
{
	const struct param *p;
	unsigned int i;

	begin(NVMETUNE_CMD_PARAM_SET, NLM_F_ACK);
	put_all();
	expect("param-set, all as they are", call(NULL, NULL), 0);

	do {
		p = any_param();
	} while (!settable(p));
	refuses(ERANGE, p->object, p->name, param_max(p) + 1);
	refuses(ENOENT, p->object, "nonsense", 0);
	refuses(ENODEV, "nonsense", p->name, p->min);
	begin(NVMETUNE_CMD_PARAM_SET, NLM_F_ACK);
	put_setting(p);
	put_setting(p);
	expect("param-set, twice the same", call(NULL, NULL), EINVAL);
	begin(NVMETUNE_CMD_PARAM_SET, NLM_F_ACK);
	for (i = 0; i <= NL_SETTINGS; i++)
		put_setting(p);
	expect("param-set, too many", call(NULL, NULL), E2BIG);
	begin(NVMETUNE_CMD_PARAM_SET, NLM_F_ACK);
	expect("param-set, nothing", call(NULL, NULL), EINVAL);

	do {
		p = any_param();
	} while (!p->read_only);
	refuses(EPERM, p->object, p->name, p->value);
}

static void look(void)
{
	spoil = 0;
	check_get();
	check_set();
	compare_model();
	take_events();
}

static void report(unsigned long long seed)
{
	char text[NL_TEXT];
	unsigned int i;

	printf("# seed %llu, %lu messages, %lu of param-set taken, %lu values changed, %lu notifications\n",
	       seed, sent, accepted, changes, notified);
	printf("# answers: %lu acknowledged, %lu replies, %lu dumps, %lu none",
	       answers[ANSWER_ACK], answers[ANSWER_REPLY], answers[ANSWER_DUMP],
	       answers[ANSWER_NONE]);
	for (i = 0; i < MAX_ERRNO; i++)
		if (answers[i])
			printf(", %lu %s", answers[i], strerrorname_np(i));
	printf("\n");
	for (i = 0; i < model.nr_params; i++) {
		if (!model.param[i].changed)
			continue;
		param_text(&model.param[i], text, sizeof(text));
		printf("changed %s %s %s\n", model.param[i].object,
		       model.param[i].name, text);
	}
}

int main(int argc, char **argv)
{
	unsigned long long seed, count;
	unsigned long next = LOOK_EACH;

	if (argc != 3)
		die("Usage: nlfuzz SEED COUNT");
	seed = strtoull(argv[1], NULL, 0);
	count = strtoull(argv[2], NULL, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	rnd_seed(seed);
	nl_open(&nl);
	nl_open(&events);
	nl_subscribe(&events);
	if (model_load(&nl, &model) || !model.nr_params || !model.nr_objects)
		die("no parameters");
	look();
	while (sent < count) {
		fuzz_one();
		if (sent < next && sent < count)
			continue;
		look();
		next += LOOK_EACH;
	}
	report(seed);
	return failures ? 1 : 0;
}
