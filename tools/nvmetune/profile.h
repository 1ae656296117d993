/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Profiles: settings for patterns of objects, in INI. See nvmetune-profile(5).
 */
#ifndef NVMETUNE_PROFILE_H
#define NVMETUNE_PROFILE_H

#include "nvmetune.h"

/* The origin of profiles that come with the tool. */
#define NT_BUILT_IN	"built in"

/**
 * struct nt_profile_section - objects that settings are for
 * @pattern: what they match
 * @line: where it stands
 */
struct nt_profile_section {
	char *pattern;
	unsigned int line;
};

/**
 * struct nt_profile_setting - a setting of a section
 * @section: index of the section
 * @name: the parameter
 * @value: its value
 * @line: where it stands
 */
struct nt_profile_setting {
	size_t section;
	char *name;
	char *value;
	unsigned int line;
};

/**
 * struct nt_profile - a profile as read
 * @name: as it was asked for
 * @origin: its file, "standard input" or NT_BUILT_IN
 * @text: the file's contents
 * @description: a phrase, "" if there is none
 * @skip_unknown: parameters that no object has are passed over
 * @sections: in the file's order
 * @nr_sections: their number
 * @settings: in the file's order
 * @nr_settings: their number
 */
struct nt_profile {
	char *name;
	char *origin;
	char *text;
	char *description;
	bool skip_unknown;
	struct nt_profile_section *sections;
	size_t nr_sections;
	struct nt_profile_setting *settings;
	size_t nr_settings;
};

/**
 * struct nt_plan - what a profile means for the objects that there are
 * @changes: a value for each parameter that it names, once; the same value included
 * @nr: their number
 * @current: for each, the parameter as it is
 * @unmatched: patterns that match no object
 * @nr_unmatched: their number
 * @skipped: "PATTERN NAME", names that were passed over
 * @nr_skipped: their number
 */
struct nt_plan {
	struct nt_change *changes;
	const struct nt_param **current;
	size_t nr;
	char **unmatched;
	size_t nr_unmatched;
	char **skipped;
	size_t nr_skipped;
};

/* profile-file.c */

/*
 * Parse @len bytes of @text into an empty @p. 0, or -1 with @err set: it names the
 * line. Whatever the text, nt_profile_clear() frees what there is.
 */
int nt_profile_parse(const char *text, size_t len, struct nt_profile *p, struct nt_error *err);
void nt_profile_clear(struct nt_profile *p);
/*
 * What @p says for the objects of @tree, of those that @only matches and what is below
 * them (NULL: all).
 * Sections count in the file's order: the last one that names a parameter for an
 * object wins. 0, or -1 with @err set.
 */
int nt_profile_expand(const struct nt_profile *p, const struct nt_tree *tree, const char *only,
		      bool skip_unknown, struct nt_plan *plan, struct nt_error *err);
void nt_plan_clear(struct nt_plan *plan);
/* How many of the plan's values are not so already. */
size_t nt_plan_differs(const struct nt_plan *plan);
/*
 * A profile that brings all settings of @tree back, or of the objects that @only
 * matches and what is below them, to be freed. @title stands in its first line.
 */
char *nt_profile_text(const struct nt_tree *tree, const char *only, const char *title);

/* builtin.c */

struct nt_builtin {
	const char *name;
	const char *text;
};

extern const struct nt_builtin nt_builtins[];

/* profile-store.c: where profiles are kept, and the state before the last apply */

/*
 * Find a profile by name or path ("-": stdin) and parse it: NT_OK, or the exit status
 * after a message.
 */
int nt_profile_load(const char *name, struct nt_profile *p);
/* Names of all profiles that can be found by name, to be freed by nt_strv_free(). */
char **nt_profile_names(void);
/*
 * Write a file so that at each moment it has its old contents or the new, after a crash
 * as well. -1 with errno set.
 */
int nt_write_atomic(const char *path, const char *text);
/* Directories above a file, like mkdir -p. -1 with errno set. */
int nt_make_parents(const char *path);

/*
 * The state before the last apply or autotune, in /run/nvmetune. nt_state_lock() keeps
 * other applies away until the descriptor that it returns is closed; with @wait it
 * waits for them. -1 after a message. nt_state_recover() comes next: an apply that was
 * killed before it changed anything does not count. nt_state_store() keeps the state of @tree; then
 * nt_state_commit() if the change was made, or nt_state_undo() if it was not, which brings
 * back what was kept before. nt_state_settle() is for those who do not know: it compares.
 */
int nt_state_lock(bool wait);
void nt_state_recover(const struct nt_tree *tree);
int nt_state_store(const struct nt_tree *tree);
void nt_state_commit(void);
void nt_state_undo(void);
void nt_state_settle(const struct nt_tree *now);
int nt_state_load(struct nt_profile *p);
int nt_state_remove(void);

/* profile.c */

/* Members "unmatched" and "skipped" of @plan into @o; for people, messages instead. */
void nt_plan_tell(const struct nt_profile *p, const struct nt_plan *plan, json_object *o);

#endif /* NVMETUNE_PROFILE_H */
