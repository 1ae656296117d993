/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where objects come from and changes go: the netlink family, or sysfs where that
 * is not there or a recorded tree is looked at (--root).
 */
#ifndef NVMETUNE_BACKEND_H
#define NVMETUNE_BACKEND_H

#include "model.h"

/* What to load beside names. */
#define NT_LOAD_PARAMS	1
#define NT_LOAD_STATS	2

/**
 * struct nt_error - why something did not work
 * @code: errno value, positive
 * @index: of several changes, which one; -1: none in particular
 * @text: a line that says what is wrong and what to do, without line feed
 */
struct nt_error {
	int code;
	long index;
	char text[512];
};

void nt_error_set(struct nt_error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * struct nt_change - a value to be set
 * @object: path of the object
 * @name: the parameter
 * @value: the new value as sysfs takes it
 */
struct nt_change {
	char *object;
	char *name;
	char *value;
};

enum nt_event_kind {
	NT_EVENT_PARAM,		/* a value has changed */
	NT_EVENT_ADD,		/* an object has come */
	NT_EVENT_DEL,		/* an object has gone */
	NT_EVENT_LOST,		/* the socket overflowed: events are missing */
};

/**
 * struct nt_event - what monitoring tells
 * @kind: what happened
 * @object: path of the object; NULL for NT_EVENT_LOST
 * @class: class of the object, for NT_EVENT_ADD and NT_EVENT_DEL
 * @param: the parameter after the change; name NULL for other kinds
 * @old: the own value before, as text
 */
struct nt_event {
	enum nt_event_kind kind;
	char *object;
	char *class;
	struct nt_param param;
	char *old;
};

void nt_event_clear(struct nt_event *ev);

struct nt_backend;

/**
 * struct nt_backend_ops - a way to the kernel
 * @name: "netlink" or "sysfs"
 * @load: read what there is into an empty tree, which is sorted afterwards. Dumps
 *	that were disturbed are repeated. 0, or -1 with @err set.
 * @set: change values; over netlink all or none, over sysfs one by one with what was
 *	done put back when one is refused. 0, or -1 with @err set: a kernel's refusal has
 *	its own words in it, and the index of the change.
 * @reset_stats: let an object's statistics start from 0; NULL: cannot
 * @subscribe: start to listen; NULL: cannot. Returns a file descriptor for poll(), or
 *	-1 with @err set.
 * @next_event: the next event that has arrived, without waiting: 1 one, 0 none, -1
 *	error
 * @close: free all
 */
struct nt_backend_ops {
	const char *name;
	int (*load)(struct nt_backend *b, unsigned int what, struct nt_tree *tree,
		    struct nt_error *err);
	int (*set)(struct nt_backend *b, const struct nt_change *changes, size_t nr,
		   struct nt_error *err);
	int (*reset_stats)(struct nt_backend *b, const char *object,
			   struct nt_error *err);
	int (*subscribe)(struct nt_backend *b, struct nt_error *err);
	int (*next_event)(struct nt_backend *b, struct nt_event *ev,
			  struct nt_error *err);
	void (*close)(struct nt_backend *b);
};

struct nt_backend {
	const struct nt_backend_ops *ops;
};

/*
 * Each returns NULL with @err set; err->code is ENOENT where this kernel has no
 * nvmetune, which is exit status 4.
 */
struct nt_backend *nt_netlink_open(struct nt_error *err);
struct nt_backend *nt_sysfs_open(struct nt_error *err);

/*
 * Netlink messages to the model, apart from sockets, to be fuzzed: nl-decode.c. They
 * return 0, -EINVAL for a message that makes no sense, -ENOENT if it is about an object
 * that the tree does not have.
 */
struct nlattr;
struct nlmsghdr;
int nt_decode_object(struct nlattr *attrs, int len, struct nt_tree *tree);
int nt_decode_param(struct nlattr *attrs, int len, struct nt_tree *tree);
int nt_decode_stats(struct nlattr *attrs, int len, struct nt_tree *tree);
int nt_decode_event(unsigned int cmd, struct nlattr *attrs, int len, struct nt_event *ev);
/*
 * Events have numbers where people want names: make @ev as if the kernel had said all
 * about the parameter, from what it said before.
 */
void nt_event_describe(struct nt_event *ev, const struct nt_param *known);

/**
 * struct nt_ack - what the kernel said of a request
 * @error: negative errno value, or 0
 * @text: its words, "" for none
 * @offset: of the attribute that it points at, from the start of the request; 0: none
 */
struct nt_ack {
	int error;
	char text[256];
	uint32_t offset;
};

/* NLMSG_ERROR or NLMSG_DONE, with extended acks, which libnl 3.7 does not know. */
void nt_decode_ack(const struct nlmsghdr *h, struct nt_ack *ack);
/*
 * Which of the attributes of @request, from 0 on, holds what @offset points at, -1:
 * none; *inner: type of the attribute within it, 0: it is the whole.
 */
long nt_ack_find(const struct nlmsghdr *request, uint32_t offset, int *inner);

#endif /* NVMETUNE_BACKEND_H */
