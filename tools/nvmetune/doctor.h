/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * doctor in parts: the verb (doctor.c), and rules about queues and their settings
 * (doctor-queues.c), about the system around them (doctor-system.c) and about what the
 * kernel has logged (doctor-log.c). A rule reads files below --root, so that recorded
 * trees test it, and claims nothing about what it could not read.
 */
#ifndef NVMETUNE_DOCTOR_H
#define NVMETUNE_DOCTOR_H

#include "watch.h"

enum nt_severity { NT_HINT, NT_WARNING, NT_CRITICAL };

struct nt_doctor;

/**
 * struct nt_rule - what is looked at
 * @id: never changes, as scripts know it
 * @severity: of what it finds
 * @what: what it looks at, a phrase
 * @why: why what it finds matters
 * @look: calls nt_found() for each thing found, or nt_not_looked()
 */
struct nt_rule {
	const char *id;
	enum nt_severity severity;
	const char *what;
	const char *why;
	void (*look)(struct nt_doctor *d);
};

/**
 * struct nt_finding - what a rule has found, or why it could not look
 * @rule: the rule
 * @object: what it is about
 * @seen: what was seen; or why it could not look
 * @mend: the command that mends it
 */
struct nt_finding {
	const struct nt_rule *rule;
	char *object;
	char *seen;
	char *mend;
};

struct nt_findings {
	struct nt_finding *list;
	size_t nr;
};

/**
 * struct nt_log_line - a line of the kernel's log
 * @usec: when, since boot
 * @text: what
 */
struct nt_log_line {
	uint64_t usec;
	char *text;
};

/**
 * struct nt_log - the kernel's log
 * @lines: its lines, the oldest first
 * @nr: their number
 * @read: reading was tried
 * @error: why it could not be read, NULL: it could
 */
struct nt_log {
	struct nt_log_line *lines;
	size_t nr;
	bool read;
	const char *error;
};

/**
 * struct nt_doctor - a visit
 * @old: the system before, if time has passed
 * @timed: it has
 * @now: the system
 * @no_tree: why there are no objects, "" : there are
 * @log: read when first needed: nt_doctor_log()
 * @rule: which looks
 * @found: what was found
 * @unknown: what could not be looked at
 */
struct nt_doctor {
	struct nt_look old;
	bool timed;
	struct nt_look now;
	char no_tree[512];
	struct nt_log log;
	const struct nt_rule *rule;
	struct nt_findings found;
	struct nt_findings unknown;
};

/* Rules, each table with one without an id at its end. */
extern const struct nt_rule nt_rules_queues[], nt_rules_system[], nt_rules_log[];

/* @seen and @mend are taken over. */
void nt_found(struct nt_doctor *d, const char *object, char *seen, char *mend);
void nt_not_looked(struct nt_doctor *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Why a file cannot be read, for people, from errno. */
const char *nt_unreadable(void);
/* False: there are no objects, which was noted. */
bool nt_need_tree(struct nt_doctor *d);
/* False: the log cannot be read, which was noted. */
bool nt_need_log(struct nt_doctor *d);
void nt_log_parse(char *text, struct nt_log *log);
void nt_log_free(struct nt_log *log);

/* Objects */

bool nt_is_queue(const struct nt_object *obj);
/* The value that holds; "": there is none. */
const char *nt_holds(const struct nt_object *obj, const char *name);
uint64_t nt_number_of(const struct nt_object *obj, const char *name);
bool nt_is_true(const struct nt_object *obj, const char *name);
/* It takes interrupts, and they copy: what most rules are about. */
bool nt_bounces_in_interrupts(const struct nt_object *obj);
/* Queues that have the CPU, for people, to be freed; "": none. */
char *nt_queues_of_cpu(const struct nt_doctor *d, unsigned int cpu);
/* Bytes of the bounce pool; 0 with errno set: cannot be read. */
uint64_t nt_pool_bytes(void);
/* What to boot with for a pool of so many slots, to be freed. */
char *nt_pool_mend(uint64_t slots);

/*
 * For each object whose value of @name makes some queues fail @bad, that it is so. @what
 * says what that value is, and @value what is to be set, NULL: what is inherited, or the
 * default.
 */
void nt_blame_setting(struct nt_doctor *d, const char *name,
		      bool (*bad)(const struct nt_object *queue), const char *value);
/* For each controller that has such queues, that they are so; @mend with the names. */
void nt_blame_queues(struct nt_doctor *d, bool (*bad)(const struct nt_object *queue),
		     const char *seen, const char *mend);

#endif /* NVMETUNE_DOCTOR_H */
