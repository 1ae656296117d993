// SPDX-License-Identifier: GPL-2.0-only
/*
 * nvmetune: settings and statistics of the storage stack, for operators. What it
 * can do stands in the table of command.c.
 */
#include "nvmetune.h"

int main(int argc, char **argv)
{
	return nt_main(argc, argv);
}
