// SPDX-License-Identifier: GPL-2.0-only
/* Where profiles are found, and what is kept of the state before, at each instant. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile.h"
#include "run-case.h"

#define BEFORE	"/run/nvmetune/before.conf"
#define OLD	"/run/nvmetune/before.old"

static char dir[] = "/tmp/nvmetune-test.XXXXXX";
static struct nt_tree tree;
static struct nt_param *lanes;

static void put_file(const char *name, const char *text)
{
	char *path = nt_sys_path("%s", name);

	ck_assert(!nt_make_parents(path));
	ck_assert(!nt_write_atomic(path, text));
	free(path);
}

/* The number of lanes in a state that is kept; -1: there is none. */
static int kept(const char *name)
{
	char *text = nt_sys_read("%s", name), *at;
	int value = -1;

	at = text ? strstr(text, "\ndefer_lanes = ") : NULL;
	if (at)
		value = atoi(at + 15);
	free(text);
	return value;
}

static void set_lanes(const char *value)
{
	nt_param_set_text(lanes, value, NULL);
}

static void setup(void)
{
	struct nt_object *obj;

	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	nt = (struct nt_ctx){ .root = dir };
	obj = nt_tree_add(&tree, "nvme0");
	lanes = nt_object_add_param(obj, "defer_lanes");
	set_lanes("2");
	nt_tree_sort(&tree);
}

static void teardown(void)
{
	char *command = nt_printf("/bin/rm -rf %s", dir);

	ck_assert_int_eq(system(command), 0);
	free(command);
	nt_tree_free(&tree);
}

static void assert_origin(const char *name, const char *origin)
{
	struct nt_profile p;

	ck_assert_int_eq(nt_profile_load(name, &p), NT_OK);
	ck_assert_msg(strstr(p.origin, origin) != NULL, "%s, not %s", p.origin, origin);
	nt_profile_clear(&p);
}

START_TEST(test_where)
{
	struct nt_profile p;
	char **names;

	assert_origin("low-latency", "built in");
	put_file("/usr/share/nvmetune/profiles.d/low-latency.conf", "description = b\n");
	assert_origin("low-latency", "/usr/share/nvmetune/profiles.d/low-latency.conf");
	put_file("/etc/nvmetune/profiles.d/low-latency.conf", "description = c\n");
	assert_origin("low-latency", "/etc/nvmetune/profiles.d/low-latency.conf");
	put_file("/etc/nvmetune/profiles.d/a.conf", "");
	put_file("/etc/nvmetune/profiles.d/README", "");
	put_file("/etc/nvmetune/profiles.d/.conf", "");
	names = nt_profile_names();
	ck_assert_str_eq(names[0], "a");
	ck_assert_str_eq(names[1], "confidential-vm");
	ck_assert_str_eq(names[2], "low-latency");
	ck_assert_str_eq(names[3], "numa-throughput");
	ck_assert_str_eq(names[4], "vfio-large-memory");
	ck_assert_ptr_null(names[5]);
	nt_strv_free(names);
	/* One that is wrong hides one further down, and is told. */
	put_file("/etc/nvmetune/profiles.d/low-latency.conf", "[\n");
	ck_assert_int_eq(nt_profile_load("low-latency", &p), NT_USAGE);
	ck_assert_int_eq(nt_profile_load("README", &p), NT_USAGE);
	ck_assert_int_eq(nt_profile_load("", &p), NT_USAGE);
}
END_TEST

START_TEST(test_write)
{
	char *path = nt_sys_path("/file"), *text;
	struct stat st;

	ck_assert(!nt_write_atomic(path, "one\n"));
	ck_assert(!nt_write_atomic(path, "two\n"));
	text = nt_sys_read("/file");
	ck_assert_str_eq(text, "two");
	free(text);
	ck_assert(!stat(path, &st));
	ck_assert_int_eq(st.st_mode & 0777, 0644);
	free(path);
	path = nt_sys_path("/nowhere/file");
	ck_assert_int_eq(nt_write_atomic(path, "one\n"), -1);
	ck_assert_int_eq(errno, ENOENT);
	free(path);
	/* Where a directory is in the way, nothing is left beside it. */
	path = nt_sys_path("/dir/x");
	ck_assert(!nt_make_parents(path) && !mkdir(path, 0755));
	ck_assert_int_eq(nt_write_atomic(path, "one\n"), -1);
	rmdir(path);
	*strrchr(path, '/') = '\0';
	ck_assert(!rmdir(path));
	free(path);
}
END_TEST

START_TEST(test_state)
{
	int lock = nt_state_lock(false);

	ck_assert_int_ge(lock, 0);
	/* Made. */
	ck_assert(!nt_state_store(&tree));
	set_lanes("3");
	nt_state_commit();
	ck_assert_int_eq(kept(BEFORE), 2);
	ck_assert_int_eq(kept(OLD), -1);
	/* Refused: as before. */
	ck_assert(!nt_state_store(&tree));
	ck_assert_int_eq(kept(BEFORE), 3);
	nt_state_undo();
	ck_assert_int_eq(kept(BEFORE), 2);
	ck_assert_int_eq(kept(OLD), -1);
	/* Made again: the newest counts. */
	ck_assert(!nt_state_store(&tree));
	set_lanes("4");
	nt_state_commit();
	ck_assert_int_eq(kept(BEFORE), 3);
	/* Restored. */
	ck_assert_int_eq(nt_state_remove(), NT_OK);
	ck_assert_int_eq(nt_state_remove(), NT_REFUSED);
	/* Refused where there was none. */
	ck_assert(!nt_state_store(&tree));
	nt_state_undo();
	ck_assert_int_eq(kept(BEFORE), -1);
	close(lock);
}
END_TEST

/* Killed at each point of an apply; the next one, or restore, looks first. */
START_TEST(test_killed)
{
	int lock = nt_state_lock(false);

	ck_assert(!nt_state_store(&tree));
	set_lanes("3");
	nt_state_commit();
	/* Killed after the state was kept, before anything was set. */
	ck_assert(!nt_state_store(&tree));
	nt_state_recover(&tree);
	ck_assert_int_eq(kept(BEFORE), 2);
	ck_assert_int_eq(kept(OLD), -1);
	/* Killed after it was set. */
	ck_assert(!nt_state_store(&tree));
	set_lanes("5");
	nt_state_recover(&tree);
	ck_assert_int_eq(kept(BEFORE), 3);
	ck_assert_int_eq(kept(OLD), -1);
	/* Killed in the middle of writing. */
	put_file("/run/nvmetune/before.new", "[nv");
	nt_state_recover(&tree);
	ck_assert_int_eq(kept(BEFORE), 3);
	ck_assert(!nt_state_store(&tree));
	ck_assert_int_eq(kept(BEFORE), 5);
	/* Whoever does not know compares. */
	nt_state_settle(&tree);
	ck_assert_int_eq(kept(BEFORE), 3);
	close(lock);
}
END_TEST

START_TEST(test_lock)
{
	int lock = nt_state_lock(false);

	ck_assert_int_ge(lock, 0);
	ck_assert_int_eq(nt_state_lock(false), -1);
	close(lock);
	lock = nt_state_lock(true);
	ck_assert_int_ge(lock, 0);
	close(lock);
	/* A file where the directory should be. */
	nt.root = "/dev/null";
	ck_assert_int_eq(nt_state_lock(true), -1);
	ck_assert_int_eq(nt_state_store(&tree), -1);
	nt.root = dir;
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("profile-store");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_where);
	tcase_add_test(tcase, test_write);
	tcase_add_test(tcase, test_state);
	tcase_add_test(tcase, test_killed);
	tcase_add_test(tcase, test_lock);
	return run_case("profile-store", tcase);
}
