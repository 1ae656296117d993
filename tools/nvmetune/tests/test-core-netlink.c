// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests: the netlink backend, and changes through it, against a kernel of our own. */
#include <check.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake-kernel.h"
#include "run-case.h"

static struct nt_error err;

static struct nt_backend *opened(void)
{
	struct nt_backend *b = nt_netlink_open(&err);

	ck_assert_msg(b != NULL, "%s", err.text);
	return b;
}

START_TEST(absent)
{
	fake.absent = true;
	ck_assert_ptr_null(nt_netlink_open(&err));
	ck_assert_int_eq(err.code, ENOENT);
	nt.backend_name = "netlink";
	ck_assert_int_eq(nt_open(), NT_NONE);
}
END_TEST

START_TEST(loads)
{
	struct nt_backend *b = opened();
	struct nt_tree tree = { };
	const struct nt_param *p;
	const struct nt_object *q;

	ck_assert_int_eq(b->ops->load(b, NT_LOAD_PARAMS | NT_LOAD_STATS, &tree, &err), 0);
	ck_assert_uint_eq(tree.nr, 2);
	ck_assert_str_eq(tree.objects[0]->name, "nvme0");
	ck_assert_str_eq(tree.objects[0]->class, "nvme-controller");
	q = tree.objects[1];
	ck_assert_ptr_eq(q->parent, tree.objects[0]);
	p = nt_object_param(tree.objects[0], "defer_mode");
	ck_assert(p->described && p->inheritable && p->inherit && p->has_default && !p->read_only);
	ck_assert_str_eq(p->text, "inherit");
	ck_assert_str_eq(p->in_force, "auto");
	ck_assert_uint_eq(p->num, 2);
	ck_assert_str_eq(p->help, "which completions");
	ck_assert_uint_eq(p->nr_choices, 3);
	p = nt_object_param(tree.objects[0], "pool_bytes");
	ck_assert(p->has_range && !p->inherit);
	ck_assert_uint_eq(p->max, 1 << 20);
	ck_assert_str_eq(p->in_force, "8192");
	ck_assert_uint_eq(nt_object_stat(q, "backlog_bytes")->value, 4096);
	ck_assert_uint_eq(nt_object_stat(q, "backlog_bytes")->kind, NVMETUNE_STAT_KIND_GAUGE);
	ck_assert_uint_eq(nt_object_hist(q, "handler_ns")->nr_buckets, 2);
	ck_assert(nt_object_hist(q, "handler_ns")->buckets[1].up_to == UINT64_MAX);
	nt_tree_free(&tree);
	b->ops->close(b);
}
END_TEST

START_TEST(disturbed_dump_is_repeated)
{
	struct nt_backend *b = opened();
	struct nt_tree tree = { };

	fake.interrupted = 3;
	ck_assert_int_eq(b->ops->load(b, NT_LOAD_PARAMS, &tree, &err), 0);
	/* Three in vain, at least, then both in one go. */
	ck_assert_int_ge(fake.nr_dumps, 5);
	ck_assert_uint_eq(tree.nr, 2);
	ck_assert_uint_eq(tree.objects[0]->nr_params, 2);
	nt_tree_free(&tree);
	b->ops->close(b);
}
END_TEST

START_TEST(object_that_came_meanwhile)
{
	struct nt_backend *b = opened();
	struct nt_tree tree = { };

	fake.late = 1;
	ck_assert_int_eq(b->ops->load(b, NT_LOAD_PARAMS, &tree, &err), 0);
	ck_assert_int_eq(fake.nr_dumps, 4);
	nt_tree_free(&tree);
	b->ops->close(b);
}
END_TEST

START_TEST(always_disturbed)
{
	struct nt_backend *b = opened();
	struct nt_tree tree = { };

	fake.interrupted = 1 << 20;
	ck_assert_int_eq(b->ops->load(b, NT_LOAD_PARAMS, &tree, &err), -1);
	ck_assert_int_eq(err.code, EAGAIN);
	ck_assert_uint_eq(tree.nr, 0);
	b->ops->close(b);
}
END_TEST

START_TEST(dump_that_fails)
{
	struct nt_backend *b = opened();
	struct nt_tree tree = { };

	fake.dump_error = -ENOMEM;
	ck_assert_int_eq(b->ops->load(b, 0, &tree, &err), -1);
	ck_assert_int_eq(err.code, ENOMEM);
	b->ops->close(b);
}
END_TEST

/* Refusals */

static const struct nt_change three[] = {
	{ (char *)"nvme0", (char *)"defer_mode", (char *)"on" },
	{ (char *)"nvme0/q1", (char *)"pool_bytes", (char *)"1" },
	{ (char *)"nvme0/q2", (char *)"depth", (char *)"64" },
};

static const struct {
	int error, index, attr;
	const char *said;
	const char *text;
	long found;
} refusals[] = {
	{ -ERANGE, 1, NVMETUNE_A_SETTING_TEXT, "out of range",
	  "nvme0/q1: pool_bytes=1: the kernel refuses: out of range", 1 },
	{ -ENOENT, 2, NVMETUNE_A_SETTING_NAME, "the object has no such parameter",
	  "nvme0/q2: depth: the kernel refuses: the object has no such parameter", 2 },
	{ -ENODEV, 0, NVMETUNE_A_SETTING_OBJECT, "no such object",
	  "nvme0: the kernel refuses: no such object", 0 },
	{ -EBUSY, 0, 0, "has workqueues", "nvme0: defer_mode=on: the kernel refuses: has workqueues",
	  0 },
	{ -EPERM, -1, 0, "needs CAP_SYS_ADMIN",
	  "the kernel refuses: needs CAP_SYS_ADMIN: run it as root", -1 },
	{ -EIO, -1, 0, NULL, "the kernel refuses: Input/output error", -1 },
};

START_TEST(refused)
{
	struct nt_backend *b = opened();

	fake.set_error = refusals[_i].error;
	fake.set_text = refusals[_i].said;
	fake.set_index = refusals[_i].index;
	fake.set_attr = refusals[_i].attr;
	ck_assert_int_eq(b->ops->set(b, three, 3, &err), -1);
	ck_assert_str_eq(err.text, refusals[_i].text);
	ck_assert_int_eq(err.code, -refusals[_i].error);
	ck_assert_int_eq(err.index, refusals[_i].found);
	b->ops->close(b);
}
END_TEST

START_TEST(all_in_one_request)
{
	struct nt_backend *b = opened();

	ck_assert_int_eq(b->ops->set(b, three, 3, &err), 0);
	ck_assert_int_eq(fake.nr_sets, 1);
	ck_assert_int_eq(fake.nr_settings, 3);
	b->ops->close(b);
}
END_TEST

START_TEST(stats_reset)
{
	struct nt_backend *b = opened();

	ck_assert_int_eq(b->ops->reset_stats(b, "nvme0/q1", &err), 0);
	fake.set_error = -EPERM;
	fake.set_text = "needs CAP_SYS_ADMIN";
	ck_assert_int_eq(b->ops->reset_stats(b, "nvme0/q1", &err), -1);
	ck_assert_str_eq(err.text,
			 "nvme0/q1: the kernel does not reset statistics: needs CAP_SYS_ADMIN: run it as root");
	b->ops->close(b);
}
END_TEST

/* Acks as older kernels have them: with the request in them, without words, cut off. */
START_TEST(acks)
{
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
		char request[32];
		struct nlattr attr;
		char text[8];
	} whole = {
		.h = { .nlmsg_len = sizeof(whole), .nlmsg_type = NLMSG_ERROR,
		       .nlmsg_flags = NLM_F_ACK_TLVS },
		.e = { .error = -EINVAL, .msg.nlmsg_len = NLMSG_HDRLEN + 32 },
		.attr = { .nla_len = NLA_HDRLEN + 8, .nla_type = NLMSGERR_ATTR_MSG },
		.text = "words",
	};
	struct nt_ack ack;

	nt_decode_ack(&whole.h, &ack);
	ck_assert_int_eq(ack.error, -EINVAL);
	ck_assert_str_eq(ack.text, "words");
	/* Says that its request is longer than the message. */
	whole.e.msg.nlmsg_len = 10000;
	nt_decode_ack(&whole.h, &ack);
	ck_assert_str_eq(ack.text, "");
	whole.e.msg.nlmsg_len = 3;
	nt_decode_ack(&whole.h, &ack);
	ck_assert_str_eq(ack.text, "");
	whole.h.nlmsg_len = NLMSG_HDRLEN + 4;
	nt_decode_ack(&whole.h, &ack);
	ck_assert_int_eq(ack.error, -EINVAL);
	whole.h.nlmsg_len = NLMSG_HDRLEN;
	nt_decode_ack(&whole.h, &ack);
	ck_assert_int_eq(ack.error, 0);
}
END_TEST

/* Events */

START_TEST(events)
{
	struct nt_backend *b = opened();
	struct nt_event ev;

	ck_assert_int_ge(b->ops->subscribe(b, &err), 0);
	ck_assert_int_eq(b->ops->next_event(b, &ev, &err), 0);
	fake_changed("nvme0", -1, 1);
	fake_changed("nvme0", 1, 0);
	fake_changed("nvme7", 1, 0);
	fake_came("nvme0/q9", NVMETUNE_CMD_OBJECT_ADD_NTF);
	fake_came("nvme0/q9", NVMETUNE_CMD_OBJECT_DEL_NTF);
	ck_assert_int_eq(b->ops->next_event(b, &ev, &err), 1);
	ck_assert_int_eq(ev.kind, NT_EVENT_PARAM);
	ck_assert_str_eq(ev.object, "nvme0");
	ck_assert_str_eq(ev.param.name, "defer_mode");
	ck_assert_str_eq(ev.old, "inherit");
	ck_assert_str_eq(ev.param.text, "on");
	ck_assert_str_eq(ev.param.in_force, "on");
	ck_assert(ev.param.described);
	nt_event_clear(&ev);
	ck_assert_int_eq(b->ops->next_event(b, &ev, &err), 1);
	/* The kernel sends indices; people want names. */
	ck_assert_str_eq(ev.old, "on");
	ck_assert_str_eq(ev.param.in_force, "off");
	nt_event_clear(&ev);
	/* One that is not known even after another look: numbers are better than nothing. */
	ck_assert_int_eq(b->ops->next_event(b, &ev, &err), 1);
	ck_assert_str_eq(ev.object, "nvme7");
	ck_assert_str_eq(ev.old, "1");
	ck_assert(!ev.param.described);
	nt_event_clear(&ev);
	ck_assert_int_eq(b->ops->next_event(b, &ev, &err), 1);
	ck_assert_int_eq(ev.kind, NT_EVENT_ADD);
	ck_assert_str_eq(ev.class, "nvme-queue");
	nt_event_clear(&ev);
	ck_assert_int_eq(b->ops->next_event(b, &ev, &err), 1);
	ck_assert_int_eq(ev.kind, NT_EVENT_DEL);
	nt_event_clear(&ev);
	fake.lost = ENOBUFS;
	ck_assert_int_eq(b->ops->next_event(b, &ev, &err), 1);
	ck_assert_int_eq(ev.kind, NT_EVENT_LOST);
	ck_assert_ptr_null(ev.object);
	nt_event_clear(&ev);
	fake.lost = EIO;
	ck_assert_int_eq(b->ops->next_event(b, &ev, &err), -1);
	ck_assert_int_eq(err.code, EIO);
	b->ops->close(b);
}
END_TEST

/* Changes, through all of it */

static char *output(int (*run)(void), int *ret)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size), *before = stdout;

	stdout = f;
	*ret = run();
	fclose(f);
	stdout = before;
	return text;
}

static int run_main(const char *const *words)
{
	char *argv[16] = { (char *)"nvmetune" };
	int argc = 1;

	for (; *words; words++)
		argv[argc++] = (char *)*words;
	return nt_main(argc, argv);
}

static int set_on(void)
{
	return run_main((const char *[]){ "set", "nvme0", "defer_mode=on", NULL });
}

static int set_pool(void)
{
	return run_main((const char *[]){ "set", "nvme0", "pool_bytes=4096", NULL });
}

static int reset_all(void)
{
	return run_main((const char *[]){ "-n", "reset", "all", NULL });
}

static int caps(void)
{
	return run_main((const char *[]){ "caps", NULL });
}

START_TEST(set_and_read_back)
{
	char *out;
	int ret;

	out = output(set_on, &ret);
	ck_assert_int_eq(ret, NT_OK);
	ck_assert_str_eq(out, "nvme0 defer_mode: inherit (auto) -> on\n");
	ck_assert_str_eq(fake.last_text, "on");
	free(out);
	out = output(set_on, &ret);
	ck_assert_int_eq(ret, NT_OK);
	ck_assert_str_eq(out, "nothing to change: all is so already\n");
	ck_assert_int_eq(fake.nr_sets, 1);
	free(out);
}
END_TEST

/* The fake kernel acknowledges, and does nothing: that must be seen. */
START_TEST(acknowledged_and_not_done)
{
	char *out;
	int ret;

	fake.deaf = true;
	out = output(set_pool, &ret);
	ck_assert_int_eq(ret, NT_REFUSED);
	ck_assert_str_eq(out, "");
	free(out);
}
END_TEST

START_TEST(reset_proposes)
{
	char *out;
	int ret;

	fake.mode = 1;
	out = output(reset_all, &ret);
	ck_assert_int_eq(ret, NT_OK);
	ck_assert_str_eq(out, "would set nvme0 defer_mode: on -> inherit\n"
			      "would set nvme0 pool_bytes: 8 KiB -> 4 KiB (applies when the controller is reset)\n");
	ck_assert_int_eq(fake.nr_sets, 0);
	free(out);
}
END_TEST

START_TEST(caps_of_netlink)
{
	char *out;
	int ret;

	out = output(caps, &ret);
	ck_assert_int_eq(ret, NT_OK);
	ck_assert_ptr_nonnull(strstr(out, "all or none  yes, by the kernel"));
	ck_assert_ptr_nonnull(strstr(out, "nvme-queue, such as nvme0/q1: 0 parameters, 1 stat"));
	ck_assert_msg(strstr(out, "pool_bytes  0 to 1 MiB     at-reset") != NULL, "%s", out);
	free(out);
}
END_TEST

/* A list that is too long for one request: several, and back when one is refused. */
#define MANY	1500

/**
 * struct mock - a backend with many parameters
 * @b: what others see
 * @value: what each is set to
 * @sets: requests
 * @refuse: the value that is refused
 */
static struct mock {
	struct nt_backend b;
	int value[MANY];
	int sets;
	const char *refuse;
} mock;

static int mock_load(struct nt_backend *b, unsigned int what, struct nt_tree *tree,
		     struct nt_error *e)
{
	struct nt_object *obj = nt_tree_add(tree, "nvme0");
	char name[32], text[32];
	int i;

	for (i = 0; i < MANY; i++) {
		struct nt_param *p;

		snprintf(name, sizeof(name), "p%d", i);
		snprintf(text, sizeof(text), "%d", mock.value[i]);
		p = nt_object_add_param(obj, name);
		p->described = true;
		p->type = NVMETUNE_TYPE_COUNT;
		nt_param_set_text(p, text, NULL);
	}
	nt_tree_sort(tree);
	return 0;
}

static int mock_set(struct nt_backend *b, const struct nt_change *changes, size_t nr,
		    struct nt_error *e)
{
	size_t i;

	ck_assert_uint_le(nr, 1024);
	mock.sets++;
	for (i = 0; i < nr; i++) {
		if (mock.refuse && !strcmp(changes[i].value, mock.refuse)) {
			nt_error_set(e, EBUSY, "%s is busy", changes[i].name);
			return -1;
		}
	}
	for (i = 0; i < nr; i++)
		mock.value[atoi(changes[i].name + 1)] = atoi(changes[i].value);
	return 0;
}

static const struct nt_backend_ops mock_ops = { "mock", mock_load, mock_set };

static int apply_many(void)
{
	struct nt_change *changes = nt_alloc(MANY * sizeof(*changes));
	size_t changed;
	int i, ret;

	nt.backend = &mock.b;
	nt.quiet = true;
	for (i = 0; i < MANY; i++)
		changes[i] = (struct nt_change){ (char *)"nvme0", nt_printf("p%d", i),
						 nt_printf("%d", i + 1) };
	ret = nt_apply_changes(changes, MANY, &changed);
	ck_assert_uint_eq(changed, ret ? 0 : MANY);
	for (i = 0; i < MANY; i++) {
		free(changes[i].name);
		free(changes[i].value);
	}
	free(changes);
	return ret;
}

START_TEST(more_than_a_request)
{
	mock.b.ops = &mock_ops;
	ck_assert_int_eq(apply_many(), NT_OK);
	ck_assert_int_eq(mock.sets, 2);
	ck_assert_int_eq(mock.value[0], 1);
	ck_assert_int_eq(mock.value[MANY - 1], MANY);
}
END_TEST

START_TEST(second_request_is_refused)
{
	int i;

	mock.b.ops = &mock_ops;
	mock.refuse = "1400";
	ck_assert_int_eq(apply_many(), NT_REFUSED);
	ck_assert_int_eq(mock.sets, 3);
	for (i = 0; i < MANY; i++)
		ck_assert_int_eq(mock.value[i], 0);
}
END_TEST

START_TEST(the_later_of_two_holds)
{
	struct nt_change changes[] = {
		{ (char *)"nvme0", (char *)"p1", (char *)"7" },
		{ (char *)"nvme0", (char *)"p2", (char *)"8" },
		{ (char *)"nvme0", (char *)"p1", (char *)"9" },
	};
	size_t changed;

	mock.b.ops = &mock_ops;
	nt.backend = &mock.b;
	nt.json = true;
	nt.changes = json_object_new_array();
	ck_assert_int_eq(nt_apply_changes(changes, 3, &changed), NT_OK);
	ck_assert_uint_eq(changed, 2);
	ck_assert_int_eq(mock.value[1], 9);
	ck_assert_int_eq(mock.value[2], 8);
	ck_assert_uint_eq(json_object_array_length(nt.changes), 2);
	json_object_put(nt.changes);
}
END_TEST

/* --reset resets the controllers that need it, and no other. */

static char nt_root[] = "/tmp/nvmetune-test.XXXXXX";

static void make_controller(const char *name)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/sys/class/nvme/%s", nt_root, name);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/sys/class/nvme/%s/reset_controller", nt_root, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fclose(f);
}

static int set_with_reset(void)
{
	char *args[] = { (char *)"nvme0", (char *)"pool_bytes=4096", (char *)"defer_mode=on" };
	const char *values[] = { "" };

	int ret;

	/* A socket for parameters, files for the rest. */
	nt.backend = opened();
	nt.root = nt_root;
	ret = nt_run_set(3, args, values);
	nt.backend->ops->close(nt.backend);
	return ret;
}

static bool was_reset(const char *name)
{
	char *text = nt_sys_read("/sys/class/nvme/%s/reset_controller", name);
	bool reset = text && !strcmp(text, "1");

	free(text);
	return reset;
}

START_TEST(set_resets)
{
	const char *const below[] = { "/sys", "/sys/class", "/sys/class/nvme" };
	char path[128], *out;
	size_t i;
	int ret;

	ck_assert_ptr_nonnull(mkdtemp(nt_root));
	for (i = 0; i < NT_ARRAY_SIZE(below); i++) {
		snprintf(path, sizeof(path), "%s%s", nt_root, below[i]);
		ck_assert_int_eq(mkdir(path, 0755), 0);
	}
	make_controller("nvme0");
	make_controller("nvme1");
	out = output(set_with_reset, &ret);
	ck_assert_int_eq(ret, NT_OK);
	ck_assert_str_eq(out, "nvme0 pool_bytes: 8 KiB -> 4 KiB (applies when the controller is reset)\n"
			      "nvme0 defer_mode: inherit (auto) -> on\n"
			      "nvme0: reset\n");
	free(out);
	ck_assert(was_reset("nvme0"));
	ck_assert(!was_reset("nvme1"));
	/* Where that cannot be done, what was set stays set, and it is said. */
	snprintf(path, sizeof(path), "%s/sys/class/nvme/nvme0/reset_controller", nt_root);
	ck_assert_int_eq(unlink(path), 0);
	snprintf(fake.pool, sizeof(fake.pool), "8192");
	out = output(set_with_reset, &ret);
	ck_assert_int_eq(ret, NT_REFUSED);
	free(out);
	snprintf(path, sizeof(path), "rm -r %s", nt_root);
	ck_assert_int_eq(system(path), 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("netlink");

	tcase_add_test(tc, absent);
	tcase_add_test(tc, loads);
	tcase_add_test(tc, disturbed_dump_is_repeated);
	tcase_add_test(tc, object_that_came_meanwhile);
	tcase_add_test(tc, always_disturbed);
	tcase_add_test(tc, dump_that_fails);
	tcase_add_loop_test(tc, refused, 0, NT_ARRAY_SIZE(refusals));
	tcase_add_test(tc, all_in_one_request);
	tcase_add_test(tc, stats_reset);
	tcase_add_test(tc, acks);
	tcase_add_test(tc, events);
	tcase_add_test(tc, set_and_read_back);
	tcase_add_test(tc, acknowledged_and_not_done);
	tcase_add_test(tc, reset_proposes);
	tcase_add_test(tc, caps_of_netlink);
	tcase_add_test(tc, more_than_a_request);
	tcase_add_test(tc, second_request_is_refused);
	tcase_add_test(tc, the_later_of_two_holds);
	tcase_add_test(tc, set_resets);
	return run_case("netlink", tc);
}
