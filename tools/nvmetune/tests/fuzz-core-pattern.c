// SPDX-License-Identifier: GPL-2.0-only
/* Fuzzer: patterns of objects; the first line is the pattern, the second a name. */
#include <stdlib.h>
#include <string.h>

#include "nvmetune.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *name;
	bool match;

	memcpy(text, data, size);
	text[size] = '\0';
	name = strchr(text, '\n');
	if (name) {
		*name++ = '\0';
		match = nt_pattern_match(text, name);
		/* Nothing but all and stars match what has more levels. */
		if (match && (!nt_pattern_valid(text) ||
			      (!strchr(text, '/') && strchr(name, '/') && strcmp(text, "all"))))
			abort();
		/* A name is a pattern that matches itself, unless it has special characters. */
		if (nt_pattern_valid(name) && !strpbrk(name, "[]*?") &&
		    !nt_pattern_match(name, name))
			abort();
	}
	free(text);
	return 0;
}
