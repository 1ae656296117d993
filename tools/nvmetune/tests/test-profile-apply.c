// SPDX-License-Identifier: GPL-2.0-only
/*
 * apply and restore against a kernel that is made up here: queues that come while it is
 * at work, refusals, and what somebody else changes.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile.h"
#include "run-case.h"

#define BEFORE	"/run/nvmetune/before.conf"
#define MOST	4

static char dir[] = "/tmp/nvmetune-test.XXXXXX";
static int queues, most, nr_sets, nr_loads, events[2];
/* Own values of the queues' measure. */
static bool measure[MOST + 1];
static enum { WORKS, REFUSES, FORGETS, GROWS } way;

static int fake_load(struct nt_backend *b, unsigned int what, struct nt_tree *tree,
		     struct nt_error *err)
{
	struct nt_param *param;
	char name[16];
	int i;

	nr_loads++;
	if (way == GROWS && queues < most)
		queues++;
	nt_tree_add(tree, "nvme0");
	for (i = 1; i <= queues; i++) {
		snprintf(name, sizeof(name), "nvme0/q%d", i);
		param = nt_object_add_param(nt_tree_add(tree, name), "measure");
		param->inheritable = true;
		param->inherit = !measure[i];
		nt_param_set_text(param, measure[i] ? "1" : "inherit", measure[i] ? "1" : "0");
	}
	nt_tree_sort(tree);
	return 0;
}

static int fake_set(struct nt_backend *b, const struct nt_change *changes, size_t nr,
		    struct nt_error *err)
{
	size_t i;

	nr_sets++;
	if (way == REFUSES) {
		nt_error_set(err, EBUSY, "the kernel refuses");
		return -1;
	}
	/* Somebody else is faster with the last of them. */
	for (i = 0; i + (way == FORGETS) < nr; i++)
		measure[atoi(strchr(changes[i].object, 'q') + 1)] = changes[i].value[0] == '1';
	/* A queue comes when the one before has its settings. */
	if (way == WORKS && queues < most) {
		queues++;
		ck_assert_int_eq(write(events[1], "a", 1), 1);
	}
	return 0;
}

static int fake_subscribe(struct nt_backend *b, struct nt_error *err)
{
	return events[0];
}

static int fake_event(struct nt_backend *b, struct nt_event *ev, struct nt_error *err)
{
	char c;

	*ev = (struct nt_event){ };
	if (read(events[0], &c, 1) != 1)
		return 0;
	ev->kind = c == 'a' ? NT_EVENT_ADD : NT_EVENT_PARAM;
	return 1;
}

static struct nt_backend_ops ops = { .load = fake_load, .set = fake_set };
static struct nt_backend fake = { &ops };

static void setup(void)
{
	char *path;

	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	nt = (struct nt_ctx){ .root = dir, .backend = &fake, .cmd = nt_find_cmd("apply"),
			      .quiet = true };
	path = nt_sys_path("/etc/nvmetune/profiles.d/boot.conf");
	ck_assert(!nt_make_parents(path));
	ck_assert(!nt_write_atomic(path, "[nvme0/q*]\nmeasure = 1\n"));
	free(path);
	memset(measure, 0, sizeof(measure));
	queues = 1;
	most = 1;
	nr_sets = 0;
	nr_loads = 0;
	way = WORKS;
	ops.subscribe = NULL;
	ops.next_event = NULL;
	ck_assert(!pipe2(events, O_NONBLOCK));
}

static void teardown(void)
{
	char *command = nt_printf("/bin/rm -rf %s", dir);

	ck_assert_int_eq(system(command), 0);
	free(command);
	close(events[0]);
	close(events[1]);
}

static int apply(bool settle)
{
	const char *values[] = { NULL, NULL, settle ? "" : NULL };
	char *args[] = { "boot" };

	return nt_run_apply(1, args, values);
}

static int restore(void)
{
	return nt_run_restore(0, NULL, NULL);
}

START_TEST(test_settle_events)
{
	ops.subscribe = fake_subscribe;
	ops.next_event = fake_event;
	most = MOST;
	/* Events of other kinds are no reason to go on. */
	ck_assert_int_eq(write(events[1], "pp", 2), 2);
	ck_assert_int_eq(apply(true), NT_OK);
	ck_assert_int_eq(queues, MOST);
	ck_assert(measure[1] && measure[2] && measure[3] && measure[4]);
	ck_assert_int_eq(nr_sets, MOST);
	/* However many rounds it took, it is one apply. */
	ck_assert_int_eq(restore(), NT_OK);
	ck_assert(!measure[1] && !measure[2] && !measure[3] && !measure[4]);
}
END_TEST

START_TEST(test_settle_looks)
{
	most = 3;
	way = GROWS;
	ck_assert_int_eq(apply(true), NT_OK);
	ck_assert(measure[1] && measure[2] && measure[3]);
}
END_TEST

START_TEST(test_once)
{
	most = MOST;
	ck_assert_int_eq(apply(false), NT_OK);
	ck_assert_int_eq(nr_sets, 1);
	ck_assert(measure[1] && !measure[2]);
	ck_assert_int_eq(restore(), NT_OK);
	ck_assert(!measure[1]);
	ck_assert(!nt_sys_exists(BEFORE));
}
END_TEST

START_TEST(test_refused)
{
	way = REFUSES;
	ck_assert_int_eq(apply(false), NT_REFUSED);
	ck_assert_int_eq(nr_sets, 1);
	ck_assert(!nt_sys_exists(BEFORE));
	ck_assert_int_eq(restore(), NT_USAGE);
}
END_TEST

/* An error, but something was changed: there is something to go back to. */
START_TEST(test_half)
{
	queues = 2;
	most = 2;
	way = FORGETS;
	ck_assert_int_eq(apply(false), NT_REFUSED);
	ck_assert(measure[1] && !measure[2]);
	ck_assert(nt_sys_exists(BEFORE));
	way = WORKS;
	ck_assert_int_eq(restore(), NT_OK);
	ck_assert(!measure[1]);
}
END_TEST

START_TEST(test_dry_run)
{
	nt.dry_run = true;
	ck_assert_int_eq(apply(true), NT_OK);
	ck_assert_int_eq(nr_sets, 0);
	ck_assert(!nt_sys_exists("/run/nvmetune"));
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("profile-apply");

	tcase_set_timeout(tcase, 30);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_settle_events);
	tcase_add_test(tcase, test_settle_looks);
	tcase_add_test(tcase, test_once);
	tcase_add_test(tcase, test_refused);
	tcase_add_test(tcase, test_half);
	tcase_add_test(tcase, test_dry_run);
	return run_case("profile-apply", tcase);
}
