// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests: monitor, stat and top over netlink, against a kernel of our own. */
#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "fake-kernel.h"
#include "run-case.h"
#include "watch.h"

/* What happens while somebody waits: a step each time, until none is left. */
static void (*steps[8])(void);
static int step;

int poll(struct pollfd *fds, nfds_t nr, int timeout)
{
	if (step == (int)NT_ARRAY_SIZE(steps) || !steps[step])
		return 0;
	steps[step++]();
	return 1;
}

static char output[65536];

/* Run a verb and keep what it has printed. */
static int run(const char *const *args)
{
	char path[] = "/tmp/nvmetune-test-XXXXXX";
	int fd = mkstemp(path), saved = dup(STDOUT_FILENO), argc, ret;
	char *argv[16] = { "nvmetune" };
	ssize_t len;

	for (argc = 1; args[argc - 1]; argc++)
		argv[argc] = (char *)args[argc - 1];
	unlink(path);
	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	ret = nt_main(argc, argv);
	dup2(saved, STDOUT_FILENO);
	len = pread(fd, output, sizeof(output) - 1, 0);
	output[len > 0 ? len : 0] = '\0';
	close(saved);
	close(fd);
	return ret;
}

#define RUN(...)	run((const char *const[]){ __VA_ARGS__, NULL })

/* Without the time at the beginning of each line. */
static char *untimed(void)
{
	char *text = strdup(""), *rest = output, *line, *more;

	while ((line = strsep(&rest, "\n"))) {
		if (strlen(line) < 24)
			continue;
		ck_assert_int_eq(line[4], '-');
		ck_assert_int_eq(line[13], ':');
		ck_assert_int_eq(line[23], ' ');
		ck_assert_int_ge(asprintf(&more, "%s%s\n", text, line + 24), 0);
		free(text);
		text = more;
	}
	return text;
}

static void assert_told(const char *want)
{
	char *text = untimed();

	ck_assert_str_eq(text, want);
	free(text);
}

static void nothing(void)
{
}

static void to_off(void)
{
	fake_changed("nvme0", -1, 0);
	fake.mode = 0;
}

static void to_on(void)
{
	fake_changed("nvme0", 0, 1);
	fake.mode = 1;
}

static void comes_and_goes(void)
{
	fake_came("nvme0/q2", NVMETUNE_CMD_OBJECT_ADD_NTF);
	fake_came("nvme0/q2", NVMETUNE_CMD_OBJECT_DEL_NTF);
}

START_TEST(changes)
{
	steps[0] = to_off;
	steps[1] = to_on;
	steps[2] = comes_and_goes;
	ck_assert_int_eq(RUN("monitor"), NT_OK);
	assert_told("nvme0 defer_mode: inherit -> off\n"
		    "nvme0 defer_mode: off -> on\n"
		    "nvme0/q2 has come\n"
		    "nvme0/q2 has gone\n");
}
END_TEST

START_TEST(count)
{
	steps[0] = to_off;
	steps[1] = to_on;
	ck_assert_int_eq(RUN("monitor", "--count=1"), NT_OK);
	assert_told("nvme0 defer_mode: inherit -> off\n");
}
END_TEST

START_TEST(pattern)
{
	steps[0] = to_off;
	steps[1] = comes_and_goes;
	ck_assert_int_eq(RUN("monitor", "nvme*/q2"), NT_OK);
	assert_told("nvme0/q2 has come\nnvme0/q2 has gone\n");
	step = 0;
	steps[0] = comes_and_goes;
	steps[1] = NULL;
	/* What is below a match is meant, too. */
	ck_assert_int_eq(RUN("monitor", "nvme0"), NT_OK);
	assert_told("nvme0/q2 has come\nnvme0/q2 has gone\n");
}
END_TEST

START_TEST(as_json)
{
	json_object *o, *v;
	char *rest = output, *line;

	steps[0] = to_off;
	steps[1] = comes_and_goes;
	ck_assert_int_eq(RUN("-j", "monitor"), NT_OK);
	line = strsep(&rest, "\n");
	o = json_tokener_parse(line);
	ck_assert_ptr_nonnull(o);
	ck_assert(json_object_object_get_ex(o, "old", &v));
	ck_assert_str_eq(json_object_get_string(v), "inherit");
	ck_assert(json_object_object_get_ex(o, "new", &v));
	ck_assert_str_eq(json_object_get_string(v), "off");
	ck_assert(json_object_object_get_ex(o, "event", &v));
	ck_assert_str_eq(json_object_get_string(v), "change");
	json_object_put(o);
	o = json_tokener_parse(strsep(&rest, "\n"));
	ck_assert(json_object_object_get_ex(o, "event", &v));
	ck_assert_str_eq(json_object_get_string(v), "add");
	ck_assert(json_object_object_get_ex(o, "class", &v));
	ck_assert_str_eq(json_object_get_string(v), "nvme-queue");
	json_object_put(o);
}
END_TEST

/* One event is left in the socket; what came behind it was lost. */
static void overflows(void)
{
	fake.lost = ENOBUFS;
	fake_changed("nvme0", -1, 0);
	fake.mode = 1;
}

START_TEST(lost_events)
{
	steps[0] = overflows;
	steps[1] = nothing;
	steps[2] = to_off;
	ck_assert_int_eq(RUN("monitor"), NT_OK);
	assert_told("events were lost: reading all again\n"
		    "nvme0 defer_mode: inherit -> off\n"
		    "nvme0 defer_mode: off -> on (found after lost events)\n"
		    "nvme0 defer_mode: inherit -> off\n");
}
END_TEST

/* While all is read again, a change is made: it is in what is read, and told again. */
static void overflows_amid_changes(void)
{
	fake.lost = ENOBUFS;
	fake.mode = 1;
}

static void told_again(void)
{
	fake_changed("nvme0", 0, 1);
	fake_changed("nvme0", 1, 2);
	fake.mode = 2;
}

START_TEST(lost_events_are_told_once)
{
	steps[0] = overflows_amid_changes;
	steps[1] = told_again;
	ck_assert_int_eq(RUN("monitor"), NT_OK);
	assert_told("events were lost: reading all again\n"
		    "nvme0 defer_mode: inherit -> on (found after lost events)\n"
		    "nvme0 defer_mode: on -> auto\n");
}
END_TEST

static void socket_fails(void)
{
	fake.lost = EIO;
}

START_TEST(failing_socket)
{
	steps[0] = socket_fails;
	ck_assert_int_eq(RUN("monitor"), NT_REFUSED);
	ck_assert_str_eq(output, "");
}
END_TEST

START_TEST(comparing)
{
	ck_assert_int_eq(RUN("monitor", "--interval=0.1", "--timeout=0.25"), NT_OK);
	ck_assert_str_eq(output, "");
}
END_TEST

START_TEST(failing_dump)
{
	fake.dump_error = -EIO;
	ck_assert_int_eq(RUN("monitor"), NT_REFUSED);
	ck_assert_int_eq(RUN("stat", "--interval=0.1", "--count=1"), NT_REFUSED);
	ck_assert_int_eq(RUN("top", "--count=1"), NT_REFUSED);
	ck_assert_int_eq(RUN("wq"), NT_REFUSED);
}
END_TEST

/* Statistics with kinds, which only netlink has */

START_TEST(statistics)
{
	ck_assert_int_eq(RUN("stat"), NT_OK);
	ck_assert_ptr_nonnull(strstr(output, "backlog_bytes  4 KiB"));
	ck_assert_ptr_nonnull(strstr(output, "handler_ns: 8 values, 50 % up to 1.02 us, "
				     "99 % above the last limit"));
	ck_assert_int_eq(RUN("stat", "--format=openmetrics"), NT_OK);
	ck_assert_ptr_nonnull(strstr(output, "# TYPE nvmetune_backlog_bytes gauge\n"));
	ck_assert_ptr_nonnull(strstr(output, "nvmetune_handler_seconds_bucket{object=\"nvme0/q1\","
				     "parent=\"nvme0\",le=\"1.023e-06\"} 7\n"));
	ck_assert_int_eq(RUN("stat", "--count=1", "--interval=0.1"), NT_OK);
	ck_assert_ptr_nonnull(strstr(output, "TOTAL OR NOW"));
	ck_assert_ptr_nonnull(strstr(output, "4 KiB"));
	/* Nothing was counted in that time. */
	ck_assert_ptr_null(strstr(output, "handler_ns"));
}
END_TEST

START_TEST(reset)
{
	ck_assert_int_eq(RUN("stat", "--reset", "-n"), NT_OK);
	ck_assert_str_eq(output, "would reset nvme0/q1: statistics start from 0\n");
	ck_assert_int_eq(RUN("stat", "--reset"), NT_OK);
	ck_assert_str_eq(output, "nvme0/q1: statistics start from 0\n");
	fake.set_error = -EPERM;
	ck_assert_int_eq(RUN("stat", "--reset", "nvme0/q1"), NT_REFUSED);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("watch-netlink");

	tcase_add_test(t, changes);
	tcase_add_test(t, count);
	tcase_add_test(t, pattern);
	tcase_add_test(t, as_json);
	tcase_add_test(t, lost_events);
	tcase_add_test(t, lost_events_are_told_once);
	tcase_add_test(t, failing_socket);
	tcase_add_test(t, comparing);
	tcase_add_test(t, failing_dump);
	tcase_add_test(t, statistics);
	tcase_add_test(t, reset);
	return run_case("watch-netlink", t);
}
