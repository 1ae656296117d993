/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a program of unit tests ends.
 */
#ifndef RUN_CASE_H
#define RUN_CASE_H

#include <check.h>
#include <stdlib.h>

/* Run @tcase as the one of a suite, and free it. Returns what main() does. */
static int run_case(const char *suite_name, TCase *tcase)
{
	Suite *suite = suite_create(suite_name);
	SRunner *runner;
	int failed;

	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif /* RUN_CASE_H */
