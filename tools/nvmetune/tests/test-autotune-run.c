// SPDX-License-Identifier: GPL-2.0-only
/*
 * autotune as a whole, with a kernel and a fio made up here: fio's figures follow from
 * what is set. What has to hold: what is better is found and kept, and whatever else
 * happens, what was set before is set afterwards.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "autotune.h"
#include "run-case.h"

#define NR_PARAMS	3

static const char *const names[NR_PARAMS] = { "defer_mode", "defer_lanes", "defer_chunk_bytes" };
static const char *const start[NR_PARAMS] = { "inherit", "inherit", "262144" };
static const char *const in_force[NR_PARAMS] = { "auto", "2", "262144" };

static char dir[] = "/tmp/nvmetune-test.XXXXXX";
static char own[NR_PARAMS][32];
static int nr_sets, fail_set, fail_from;

static char *path_of(const char *name)
{
	return nt_printf("%s%s", dir, name);
}

static void put_file(const char *name, const char *text, mode_t mode)
{
	char *path = path_of(name);
	FILE *f;

	ck_assert(!nt_make_parents(path));
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
	ck_assert(!chmod(path, mode));
	free(path);
}

static char *get_file(const char *name)
{
	return nt_sys_read("%s", name);
}

/* The kernel */

static void put_state(void)
{
	char *text = nt_strdup(""), *longer;
	int i;

	for (i = 0; i < NR_PARAMS; i++) {
		longer = nt_printf("%s%s=%s\n", text, names[i],
				   strcmp(own[i], "inherit") ? own[i] : in_force[i]);
		free(text);
		text = longer;
	}
	put_file("/state", text, 0644);
	free(text);
}

static int fake_load(struct nt_backend *b, unsigned int what, struct nt_tree *tree,
		     struct nt_error *err)
{
	static const char *const modes[] = { "off", "on", "auto" };
	static const uint32_t types[NR_PARAMS] = {
		NVMETUNE_TYPE_ENUM, NVMETUNE_TYPE_COUNT, NVMETUNE_TYPE_BYTES,
	};
	struct nt_object *obj = nt_tree_add(tree, "nvme0"), *queue;
	struct nt_param *param;
	int i;

	for (i = 0; i < NR_PARAMS; i++) {
		param = nt_object_add_param(obj, names[i]);
		param->described = true;
		param->inheritable = true;
		param->type = types[i];
		param->has_range = i > 0;
		param->min = 1;
		param->max = i == 1 ? 8 : 1 << 30;
		param->inherit = !strcmp(own[i], "inherit");
		nt_param_set_text(param, own[i], param->inherit ? in_force[i] : own[i]);
		if (!i)
			nt_param_set_choices(param, modes, 3);
		nt_param_parse(param, param->in_force, &param->num);
	}
	param = nt_object_add_param(obj, "bounces");
	param->read_only = true;
	nt_param_set_text(param, "1", NULL);
	queue = nt_tree_add(tree, "nvme0/q1");
	param = nt_object_add_param(queue, "defer_mode");
	param->inheritable = true;
	nt_param_set_text(param, "off", NULL);
	nt_tree_sort(tree);
	return 0;
}

static int fake_set(struct nt_backend *b, const struct nt_change *changes, size_t nr,
		    struct nt_error *err)
{
	size_t i;
	int j;

	if (++nr_sets == fail_set || (fail_from && nr_sets >= fail_from)) {
		nt_error_set(err, EBUSY, "the kernel refuses");
		return -1;
	}
	for (i = 0; i < nr; i++)
		for (j = 0; j < NR_PARAMS; j++)
			if (!strcmp(names[j], changes[i].name))
				snprintf(own[j], sizeof(own[j]), "%s", changes[i].value);
	put_state();
	return 0;
}

static const struct nt_backend_ops fake_ops = { .load = fake_load, .set = fake_set };
static struct nt_backend fake = { &fake_ops };

/* fio: @body sets iops and p99 from $defer_lanes and so on, $run is the run's number. */
static void put_fio(const char *body)
{
	char *text = nt_printf("#!/bin/sh\ncat > %s/job\n. %s/state\n"
			       "run=$(($(cat %s/runs 2>/dev/null || echo 0) + 1))\necho $run > %s/runs\n"
			       "iops=1000 p99=1000000 error=0\n%s\n"
			       "printf '{\\n\"jobs\": [{ \"error\": %%d, \"read\": { \"total_ios\": 1, \"iops\": %%d, "
			       "\"bw_bytes\": 1, \"clat_ns\": { \"percentile\": { \"99.000000\": %%d } } } }]}' "
			       "$error $iops $p99\n", dir, dir, dir, dir, body);

	put_file("/bin/fio", text, 0755);
	free(text);
}

static void setup(void)
{
	char *path;
	int i;

	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	nt = (struct nt_ctx){ .root = dir, .backend = &fake, .cmd = nt_find_cmd("autotune"),
			      .quiet = true };
	nr_sets = 0;
	fail_set = 0;
	fail_from = 0;
	for (i = 0; i < NR_PARAMS; i++)
		strcpy(own[i], start[i]);
	put_state();
	put_file("/sys/class/nvme/nvme0/nvme0n1/nsid", "1\n", 0644);
	put_file("/sys/block/nvme0n1/stat", "1 0 8 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n", 0644);
	put_file("/proc/stat", "cpu  1 1 1 1 1 1 1 1\ncpu0 1 1 1 1 1 1 1 1\nintr 1\n", 0644);
	put_file("/job.fio", "[load]\nrw=randread\n", 0644);
	path = nt_printf("%s/bin:%s", dir, getenv("PATH"));
	setenv("PATH", path, 1);
	free(path);
	put_fio("");
}

static void teardown(void)
{
	char *command = nt_printf("/bin/rm -rf %s", dir);

	ck_assert_int_eq(system(command), 0);
	free(command);
}

static int tune(const char *parameters)
{
	char *job = path_of("/job.fio");
	const char *values[] = { job, "throughput", parameters, NULL, "5", "0.1", "0", NULL };
	int ret = nt_run_autotune(0, NULL, values);

	fflush(stdout);
	free(job);
	return ret;
}

static void assert_as_before(void)
{
	int i;

	for (i = 0; i < NR_PARAMS; i++)
		ck_assert_str_eq(own[i], start[i]);
	/* Nothing for restore to do, and no profile of nothing. */
	ck_assert(!nt_sys_exists("/run/nvmetune/before.conf"));
	ck_assert(!nt_sys_exists("/run/nvmetune/before.old"));
	ck_assert(!nt_sys_exists("/etc/nvmetune/profiles.d/autotune.conf"));
}

static void assert_unblocked(void)
{
	sigset_t set;

	sigprocmask(SIG_BLOCK, NULL, &set);
	ck_assert(!sigismember(&set, SIGINT));
	sigpending(&set);
	ck_assert(!sigismember(&set, SIGINT));
}

static const char lanes_help[] =
	"case $defer_lanes in 1) iops=700 ;; 4) iops=1500 ;; 8) iops=1200 ;; esac";

START_TEST(test_finds)
{
	char *text;

	put_fio(lanes_help);
	ck_assert_int_eq(tune(NULL), NT_OK);
	ck_assert_str_eq(own[1], "4");
	/* What is not better is as it was, inheriting included. */
	ck_assert_str_eq(own[0], "inherit");
	ck_assert_str_eq(own[2], "262144");
	text = get_file("/etc/nvmetune/profiles.d/autotune.conf");
	ck_assert(strstr(text, "\n[nvme0]\ndefer_lanes = 4") != NULL);
	ck_assert_ptr_null(strstr(text, "defer_chunk_bytes"));
	free(text);
	text = get_file("/run/nvmetune/before.conf");
	ck_assert(strstr(text, "defer_lanes = inherit") != NULL);
	free(text);
	text = get_file("/job");
	ck_assert_str_eq(text, "[load]\nrw=randread\ntime_based=1\nramp_time=0ms\nruntime=100ms");
	free(text);
	assert_unblocked();
}
END_TEST

START_TEST(test_json)
{
	char *path = path_of("/json");
	json_object *o, *value;

	put_fio(lanes_help);
	nt.json = true;
	ck_assert_ptr_nonnull(freopen(path, "w", stdout));
	ck_assert_int_eq(tune("defer_lanes"), NT_OK);
	o = json_object_from_file(path);
	ck_assert_ptr_nonnull(o);
	ck_assert(json_object_object_get_ex(o, "kept", &value) && json_object_get_boolean(value));
	/* 1000 to 1500, exactly. */
	ck_assert(json_object_object_get_ex(o, "total", &value));
	value = json_object_object_get(value, "gain_percent");
	ck_assert_double_eq_tol(json_object_get_double(value), 50, 1e-6);
	ck_assert(json_object_object_get_ex(o, "after", &value));
	value = json_object_object_get(json_object_object_get(value, "iops"), "median");
	ck_assert_double_eq_tol(json_object_get_double(value), 1500, 1e-6);
	json_object_put(o);
	free(path);
}
END_TEST

START_TEST(test_nothing_better)
{
	ck_assert_int_eq(tune(NULL), NT_OK);
	assert_as_before();
	ck_assert_int_gt(nr_sets, 4);
}
END_TEST

/* Better while it is searched, the same when all of it is compared. */
START_TEST(test_not_confirmed)
{
	put_fio("[ $defer_lanes != 4 ] || [ $run -gt 10 ] || iops=1500");
	ck_assert_int_eq(tune("defer_lanes"), NT_OK);
	assert_as_before();
}
END_TEST

START_TEST(test_costs)
{
	put_fio("[ $defer_lanes != 4 ] || { iops=1500; p99=2000000; }");
	ck_assert_int_eq(tune("defer_lanes"), NT_OK);
	assert_as_before();
}
END_TEST

START_TEST(test_signal)
{
	static const char *const signals[] = { "INT", "TERM", "HUP" };
	char *body = nt_printf("[ $run != 4 ] || { kill -%s %d; sleep 10; }", signals[_i],
			       getpid());

	put_fio(body);
	free(body);
	ck_assert_int_eq(tune(NULL), NT_REFUSED);
	assert_as_before();
	assert_unblocked();
}
END_TEST

START_TEST(test_signal_running)
{
	const char *values[8] = { NULL, NULL, NULL, NULL, NULL, "60", "60", NULL };
	pid_t pid = getpid(), child = fork();

	if (!child) {
		/* It has begun when it has kept what is set. */
		while (!nt_sys_exists("/run/nvmetune/before.conf"))
			usleep(1000);
		kill(pid, SIGINT);
		_exit(0);
	}
	ck_assert_int_eq(nt_run_autotune(0, NULL, values), NT_REFUSED);
	waitpid(child, NULL, 0);
	assert_as_before();
	assert_unblocked();
}
END_TEST

START_TEST(test_set_fails)
{
	fail_set = _i;
	ck_assert_int_eq(tune(NULL), NT_REFUSED);
	assert_as_before();
}
END_TEST

START_TEST(test_fio_fails)
{
	put_fio("[ $run != 3 ] || error=5");
	ck_assert_int_eq(tune(NULL), NT_REFUSED);
	assert_as_before();
	put_fio("[ $run != 6 ] || exit 1");
	ck_assert_int_eq(tune(NULL), NT_REFUSED);
	assert_as_before();
	setenv("PATH", "/nowhere", 1);
	ck_assert_int_eq(tune(NULL), NT_REFUSED);
	assert_as_before();
}
END_TEST

/* The controller has gone: what was set before is kept, for restore. */
START_TEST(test_not_put_back)
{
	char *text;

	fail_from = 3;
	ck_assert_int_eq(tune(NULL), NT_REFUSED);
	text = get_file("/run/nvmetune/before.conf");
	ck_assert(strstr(text, "defer_lanes = inherit") != NULL);
	free(text);
}
END_TEST

/* One that finds nothing leaves what restore would have gone back to. */
START_TEST(test_keeps_state)
{
	char *text;

	put_file("/run/nvmetune/before.conf", "[nvme0]\ndefer_lanes = 8\n", 0644);
	ck_assert_int_eq(tune("defer_lanes"), NT_OK);
	text = get_file("/run/nvmetune/before.conf");
	ck_assert_str_eq(text, "[nvme0]\ndefer_lanes = 8");
	free(text);
}
END_TEST

START_TEST(test_locked)
{
	int fd = nt_state_lock(false);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(tune(NULL), NT_REFUSED);
	close(fd);
	ck_assert_int_eq(nr_sets, 0);
}
END_TEST

START_TEST(test_no_load)
{
	const char *values[8] = { NULL, NULL, NULL, NULL, NULL, "0.1", "0", NULL };

	ck_assert_int_eq(nt_run_autotune(0, NULL, values), NT_REFUSED);
	assert_as_before();
	put_file("/sys/block/nvme0n1/stat", "1 2\n", 0644);
	ck_assert_int_eq(nt_run_autotune(0, NULL, values), NT_REFUSED);
	assert_as_before();
}
END_TEST

/* A disk that does 10000 requests a second of 4 KiB and 2 ms. */
static void run_disk(void)
{
	char *path = path_of("/sys/block/nvme0n1/stat"), *new = path_of("/new");
	struct timespec t;
	unsigned long n;
	FILE *f;

	for (;;) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		n = t.tv_sec * 10000 + t.tv_nsec / 100000;
		f = fopen(new, "w");
		fprintf(f, "%lu 0 %lu %lu 0 0 0 0 0 1 1 0 0 0 0 0 0\n", n, n * 8, n * 2);
		fclose(f);
		rename(new, path);
		usleep(1000);
	}
}

START_TEST(test_running)
{
	struct nt_load load = { .disks = (char *[]){ "nvme0n1", NULL }, .seconds = .3,
				.stop_fd = -1 };
	struct nt_sample s;
	struct nt_error err;
	pid_t child = fork();
	char *text;

	if (!child)
		run_disk();
	for (text = get_file("/sys/block/nvme0n1/stat"); !strncmp(text, "1 0", 3);
	     text = get_file("/sys/block/nvme0n1/stat")) {
		free(text);
		usleep(1000);
	}
	free(text);
	ck_assert_int_eq(nt_load_measure(&load, &s, &err), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	/* 10000, had the child and this always a CPU: other units would be far off. */
	ck_assert_double_ge(s.iops, 1000);
	ck_assert_double_le(s.iops, 100000);
	ck_assert_double_eq_tol(s.bytes, s.iops * 4096, 1);
	ck_assert_double_eq_tol(s.latency, .002, 1e-6);
}
END_TEST

START_TEST(test_disks)
{
	struct nt_object obj = { .name = "nvme0" }, *objs[] = { &obj };
	char **disks;

	/* With multipath: paths of subsystem 3, of which one is this controller's. */
	put_file("/sys/class/nvme/nvme0/nvme3c0n1/nsid", "1\n", 0644);
	put_file("/sys/class/nvme/nvme0/nvme3c0n2/nsid", "2\n", 0644);
	put_file("/sys/block/nvme3n1/stat", "0\n", 0644);
	put_file("/sys/class/nvme/nvme0/power/control", "auto\n", 0644);
	disks = nt_load_disks(objs, 1);
	ck_assert_str_eq(disks[0], "nvme0n1");
	ck_assert_str_eq(disks[1], "nvme3n1");
	ck_assert_ptr_null(disks[2]);
	nt_strv_free(disks);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("autotune-run");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_finds);
	tcase_add_test(tcase, test_json);
	tcase_add_test(tcase, test_nothing_better);
	tcase_add_test(tcase, test_not_confirmed);
	tcase_add_test(tcase, test_costs);
	tcase_add_loop_test(tcase, test_signal, 0, 3);
	tcase_add_test(tcase, test_signal_running);
	tcase_add_loop_test(tcase, test_set_fails, 1, 6);
	tcase_add_test(tcase, test_fio_fails);
	tcase_add_test(tcase, test_not_put_back);
	tcase_add_test(tcase, test_keeps_state);
	tcase_add_test(tcase, test_locked);
	tcase_add_test(tcase, test_no_load);
	tcase_add_test(tcase, test_running);
	tcase_add_test(tcase, test_disks);
	return run_case("autotune-run", tcase);
}
