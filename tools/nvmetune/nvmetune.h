/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every verb of the tool uses: its context, the command table, output, and
 * files of the system below --root.
 */
#ifndef NVMETUNE_H
#define NVMETUNE_H

#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>

#include "backend.h"

#define NT_ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* Exit status; see nvmetune(8). Scripts rely on them. */
enum nt_exit {
	NT_OK		= 0,
	NT_USAGE	= 1,	/* wrong usage, or bad input before the kernel saw it */
	NT_REFUSED	= 2,	/* the kernel refused, or the system failed */
	NT_FOUND	= 3,	/* doctor or diff found something */
	NT_NONE		= 4,	/* no nvmetune in this kernel */
};

/**
 * struct nt_ctx - an invocation of the tool
 * @cmd: the verb
 * @json: -j: print JSON
 * @dry_run: -n: say what would be done
 * @quiet: -q: no output but errors and what was asked for
 * @verbose: -v: how often given
 * @color: colours may be used: a terminal, no NO_COLOR, no --no-color
 * @root: --root: directory in place of /, "" for the real one
 * @backend_name: --backend: netlink, sysfs or NULL: what is there
 * @backend: opened by nt_open()
 * @changes: where nt_apply_changes() puts what it did, with -j, for a verb that prints
 *	it as a part of something; NULL: it prints by itself
 */
struct nt_ctx {
	const struct nt_cmd *cmd;
	bool json;
	bool dry_run;
	bool quiet;
	unsigned int verbose;
	bool color;
	const char *root;
	const char *backend_name;
	struct nt_backend *backend;
	json_object *changes;
};

extern struct nt_ctx nt;

/* The command table (main.c): dispatch, --help, completion, check of man pages. */

/* What words an argument or option's value is completed with. */
enum nt_complete {
	NT_COMPLETE_NONE,
	NT_COMPLETE_OBJECT,
	NT_COMPLETE_SETTING,	/* NAME=VALUE */
	NT_COMPLETE_NAME,	/* of a parameter */
	NT_COMPLETE_PROFILE,
	NT_COMPLETE_FILE,
	NT_COMPLETE_WORDS,	/* of @words */
};

/**
 * struct nt_opt - an option of a verb
 * @name: long name, without dashes; NULL ends a table
 * @letter: short name, or 0
 * @arg: what its value is called in --help, NULL: it has none
 * @help: a phrase
 * @complete: how its value is completed
 * @words: for NT_COMPLETE_WORDS, separated by spaces
 */
struct nt_opt {
	const char *name;
	char letter;
	const char *arg;
	const char *help;
	enum nt_complete complete;
	const char *words;
};

/**
 * struct nt_cmd - a verb
 * @name: as typed
 * @args: its arguments as --help shows them
 * @help: a phrase
 * @changes: it changes something: takes -n
 * @complete: how its arguments are completed, one after the other; the last holds for
 *	all that follow
 * @opts: options of its own; NULL: none
 * @run: do it. @args are what is left of the command line, @values the option values:
 *	values[i] for opts[i], NULL if not given, "" for an option without a value.
 *	Returns enum nt_exit.
 */
struct nt_cmd {
	const char *name;
	const char *args;
	const char *help;
	bool changes;
	enum nt_complete complete[3];
	const char *words;
	const struct nt_opt *opts;
	int (*run)(int argc, char **args, const char **values);
};

extern const struct nt_cmd nt_cmds[];
/* Options of all verbs; -n only of those that change something: nt_opt_for(). */
extern const struct nt_opt nt_opts_common[];

const struct nt_cmd *nt_find_cmd(const char *name);
bool nt_opt_for(const struct nt_opt *opt, const struct nt_cmd *cmd);
int nt_main(int argc, char **argv);

/* verbs, a file each or a file a family */
int nt_run_list(int argc, char **args, const char **values);
int nt_run_show(int argc, char **args, const char **values);
int nt_run_set(int argc, char **args, const char **values);
int nt_run_reset(int argc, char **args, const char **values);
int nt_run_caps(int argc, char **args, const char **values);
int nt_run_stat(int argc, char **args, const char **values);
int nt_run_top(int argc, char **args, const char **values);
int nt_run_monitor(int argc, char **args, const char **values);
int nt_run_doctor(int argc, char **args, const char **values);
int nt_run_autotune(int argc, char **args, const char **values);
int nt_run_save(int argc, char **args, const char **values);
int nt_run_diff(int argc, char **args, const char **values);
int nt_run_apply(int argc, char **args, const char **values);
int nt_run_restore(int argc, char **args, const char **values);
int nt_run_profiles(int argc, char **args, const char **values);
int nt_run_wq(int argc, char **args, const char **values);
int nt_run_completion(int argc, char **args, const char **values);
int nt_run_version(int argc, char **args, const char **values);
int nt_run_help(int argc, char **args, const char **values);

extern const struct nt_opt nt_opts_show[], nt_opts_set[], nt_opts_stat[], nt_opts_top[];
extern const struct nt_opt nt_opts_reset[], nt_opts_monitor[], nt_opts_doctor[];
extern const struct nt_opt nt_opts_autotune[], nt_opts_save[], nt_opts_diff[];
extern const struct nt_opt nt_opts_apply[], nt_opts_wq[];

/* Messages: one line on stderr, with "nvmetune: " before it; they return @status. */
int nt_fail(enum nt_exit status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int nt_fail_err(const struct nt_error *err);	/* status by err->code */
void nt_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* For people on stdout, not with -q or -j. */
void nt_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Open the backend, if it is not yet, and load. NT_OK, or the exit status. */
int nt_open(void);
/* The same without a message, for who goes on without. */
bool nt_try_open(struct nt_error *err);
int nt_load(unsigned int what, struct nt_tree *tree);
/*
 * The objects that @pattern matches, to be freed by the caller. NT_OK with one at
 * least, else a message was printed that names what there is.
 */
int nt_select(const struct nt_tree *tree, const char *pattern, struct nt_object ***found,
	      size_t *nr);

/*
 * Make changes, the only way that verbs do: check, one request, all or none, read
 * back. Prints old and new values (not with -q), with -n only what would change. What
 * applies at reset says so. Returns NT_OK or NT_REFUSED, NT_USAGE after a message.
 * Changes to what is so already are left out. *changed: how many were made.
 */
int nt_apply_changes(const struct nt_change *changes, size_t nr, size_t *changed);

/* A message that @obj has no parameter @name; returns NT_USAGE. */
int nt_no_param(const struct nt_object *obj, const char *name);
/* Of @names, the one that @name is likely to be a slip of; NULL: none. */
const char *nt_nearest(const char *name, const char *const *names, size_t nr);

/* Output */

/**
 * struct nt_table - columns for people; numbers to the right, no line longer than
 *	needed
 */
struct nt_table;
/* @headers: NULL: none. */
struct nt_table *nt_table_new(const char *const *headers, size_t nr);
/* Column @i is aligned to the right. */
void nt_table_right(struct nt_table *t, size_t i);
/* Spaces before each line. */
void nt_table_indent(struct nt_table *t, unsigned int indent);
void nt_table_row(struct nt_table *t, const char *const *cells);
/* Print and free. */
void nt_table_print(struct nt_table *t, FILE *f);

enum nt_color { NT_PLAIN, NT_BOLD, NT_RED, NT_YELLOW, NT_GREEN, NT_DIM };
/* Escape sequences, "" where colours are off. */
const char *nt_color(enum nt_color c);

/*
 * Print @obj on one go: "schema": 1 and "verb" are put in front; frees @obj. Verbs
 * that print many (monitor, --interval) print an object a line: nt_json_line().
 */
void nt_json_print(json_object *obj);
void nt_json_line(json_object *obj);
/*
 * The same for what is long: an array is printed item by item. nt_json_begin() prints
 * "schema", "verb", the members of @obj, which it frees (NULL: none), and begins the
 * array; nt_json_item() frees its object; nt_json_end() ends both.
 */
void nt_json_begin(json_object *obj, const char *array);
void nt_json_item(json_object *obj);
void nt_json_end(void);
json_object *nt_json_param(const struct nt_param *param);
json_object *nt_json_object(const struct nt_object *obj, unsigned int what);
/* 64-bit unsigned, which json-c prints right. */
json_object *nt_json_u64(uint64_t value);

/* The system: files below --root. Paths begin with '/'. */

/* The contents without the last line feed, to be freed; NULL with errno set. */
char *nt_sys_read(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* -1 with errno set. With --root, only where that tree is writable. */
int nt_sys_write(const char *value, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Names in a directory, sorted as nt_name_cmp() does, to be freed by nt_strv_free(). */
char **nt_sys_list(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *nt_sys_link(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool nt_sys_exists(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *nt_sys_path(const char *format, ...) __attribute__((format(printf, 1, 2)));
void nt_strv_free(char **strv);
/* All that can be read from @fd, as nt_sys_read(); @guess: how much that may be. */
char *nt_read_fd(int fd, size_t guess);

/* Memory: exits with a message when there is none. */
void *nt_alloc(size_t size);
void *nt_realloc(void *p, size_t size);
char *nt_strdup(const char *s);
char *nt_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *nt_vprintf(const char *format, va_list args);
/* Room for one more in an array of @nr of @size that only this has made grow. */
void *nt_grow(void *array, size_t nr, size_t size);

#endif /* NVMETUNE_H */
