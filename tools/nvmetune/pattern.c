// SPDX-License-Identifier: GPL-2.0-only
/*
 * Patterns of objects. Not fnmatch(): what it does with a pattern that is broken
 * depends on the C library, and here a broken one is an error.
 */
#include <string.h>

#include "nvmetune.h"

/* The kernel's names are shorter; it bounds the work, too. */
#define NT_PATTERN_MAX	255

/* The ']' that ends the set that begins after '['; NULL: none. */
static const char *nt_set_end(const char *p)
{
	if (*p == '!' || *p == '^')
		p++;
	/* The first may be ']' itself. */
	if (*p)
		p++;
	while (*p && *p != ']' && *p != '/')
		p++;
	return *p == ']' ? p : NULL;
}

bool nt_pattern_valid(const char *pattern)
{
	const char *p;

	if (!*pattern || *pattern == '/' || strlen(pattern) > NT_PATTERN_MAX)
		return false;
	for (p = pattern; *p; p++) {
		if (*p == '/' && (!p[1] || p[1] == '/'))
			return false;
		if (*p == '[') {
			p = nt_set_end(p + 1);
			if (!p)
				return false;
		}
	}
	return true;
}

/* Whether the set from @p, after '[', to @end has @c. */
static bool nt_set_has(const char *p, const char *end, unsigned char c)
{
	bool negated = *p == '!' || *p == '^', has = false;

	for (p += negated; p < end; p++) {
		if (p + 2 < end && p[1] == '-') {
			if (c >= (unsigned char)p[0] && c <= (unsigned char)p[2])
				has = true;
			p += 2;
		} else if (c == (unsigned char)*p) {
			has = true;
		}
	}
	return has != negated && c != '/';
}

/* One character of the pattern against one of the name; *next is what follows. */
static bool nt_match_one(const char *pattern, char c, const char **next)
{
	const char *end;

	*next = pattern + 1;
	if (!c || !*pattern)
		return false;
	if (*pattern == '?')
		return c != '/';
	if (*pattern != '[')
		return *pattern == c;
	end = nt_set_end(pattern + 1);
	if (!end)
		return false;
	*next = end + 1;
	return nt_set_has(pattern + 1, end, c);
}

/* Only the last star is ever tried again, so the work is at most quadratic. */
static bool nt_glob(const char *pattern, const char *name)
{
	const char *star = NULL, *from = NULL, *next;

	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			from = name;
		} else if (nt_match_one(pattern, *name, &next)) {
			/* A '/' ends what stars before it can take. */
			if (*name == '/')
				star = NULL;
			pattern = next;
			name++;
		} else if (star && *from != '/') {
			pattern = star;
			name = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

bool nt_pattern_match(const char *pattern, const char *name)
{
	if (!nt_pattern_valid(pattern))
		return false;
	return !strcmp(pattern, "all") || nt_glob(pattern, name);
}
