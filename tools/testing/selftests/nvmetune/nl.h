/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generic netlink family "nvmetune" on plain sockets, for test programs: no
 * library in between that would keep malformed messages from the kernel.
 */
#ifndef _NL_H
#define _NL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/nvmetune.h>

/* Sizes with the NUL, and the most settings in a message; see the spec. */
#define NL_PATH		64
#define NL_NAME		32
#define NL_TEXT		64
#define NL_SETTINGS	1024
#define NL_CHOICES	8

/* Larger than what is sent or received. */
#define NL_SIZE		(512 * 1024)

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

void die(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/* Pseudorandom numbers that one seed reproduces */
void rnd_seed(uint64_t seed);
uint64_t rnd(void);
unsigned int below(unsigned int limit);
bool one_in(unsigned int n);

/* A message, or several one after the other, that is being written. */
struct msg {
	size_t len;
	size_t begin;		/* of the last message */
	unsigned char buf[NL_SIZE] __attribute__((aligned(8)));
};

void msg_begin(struct msg *m, uint16_t type, uint8_t cmd, uint16_t flags);
void msg_end(struct msg *m);
void msg_put(struct msg *m, uint16_t type, const void *data, size_t len);
void msg_str(struct msg *m, uint16_t type, const char *text);
void msg_u64(struct msg *m, uint16_t type, uint64_t value);
size_t msg_nest(struct msg *m, uint16_t type);
void msg_nest_end(struct msg *m, size_t nest);

/* An attribute that was received. The length says no more than the buffer holds. */
struct attr {
	uint16_t type;
	uint16_t flags;		/* NLA_F_ */
	size_t len;
	const unsigned char *data;
};

bool attr_next(const unsigned char **at, size_t *left, struct attr *a);
uint32_t attr_u32(const struct attr *a);
uint64_t attr_u64(const struct attr *a);
void attr_text(const struct attr *a, char *text, size_t size);

/* A socket of the family. */
struct nl {
	int fd;
	uint16_t family;
	uint32_t group;		/* "config" */
	uint32_t seq;		/* last one used */
	bool interrupted;	/* the last dump said NLM_F_DUMP_INTR */
	unsigned char buf[NL_SIZE] __attribute__((aligned(8)));
};

typedef void (*nl_handler)(const struct nlmsghdr *h, void *arg);

void nl_open(struct nl *nl);
void nl_close(struct nl *nl);
void nl_subscribe(struct nl *nl);
void nl_send(struct nl *nl, const void *data, size_t len);
size_t nl_recv(struct nl *nl, bool wait);
const struct nlmsghdr *nl_next(const unsigned char **at, size_t *left);
const unsigned char *nl_attrs(const struct nlmsghdr *h, size_t *left);
int nl_call(struct nl *nl, struct msg *m, nl_handler handler, void *arg);

/* What the kernel has, as a dump told. */
struct param {
	char object[NL_PATH];
	char name[NL_NAME];
	uint32_t type;
	bool read_only;
	bool inheritable;
	uint64_t min, max, def;
	unsigned int choices;
	char choice[NL_CHOICES][NL_NAME];
	bool inherit;
	uint64_t value;
	bool changed;		/* for the user of the model */
};

struct object {
	char path[NL_PATH];
	uint32_t id;
	uint32_t parent;
	uint32_t params;
	uint32_t stats;
};

struct model {
	unsigned int nr_params, nr_objects;
	struct param param[1024];
	struct object object[256];
};

int model_load(struct nl *nl, struct model *model);
struct param *model_find(struct model *model, const char *object, const char *name);
void param_from(const struct nlmsghdr *h, struct param *p);
void param_set(struct param *p, bool inherit, uint64_t value);
void param_text(const struct param *p, char *text, size_t size);
uint64_t param_max(const struct param *p);

#endif /* _NL_H */
