// SPDX-License-Identifier: GPL-2.0
/*
 * Load for the control plane, while objects come and go. It ends with SIGTERM, says
 * what it did, and fails if an answer was wrong.
 *
 * nlload set SEED NAME...: valid values for the parameters NAME of any objects, up
 *	to 8 in a request. Prints the values set last, as "last OBJECT NAME VALUE".
 * nlload dump SEED: dumps of everything, some read slowly, some left in the midst,
 *	and single requests.
 * nlload write SEED DIRECTORY NAME: values of some ten thousand to the files NAME
 *	below, in sysfs or debugfs. Prints those that were written last.
 * nlload read SEED DIRECTORY: all files below, some a while after they were opened.
 * nlload objects: prints the objects' paths.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nl.h"

/* All leave some time to the others, which are scripts. */

/* Requests between two looks at what objects there are */
#define LOOK_EACH	20

static struct nl nl;
static struct model model;
static struct msg m;

static volatile sig_atomic_t ended;

/* What was refused as the object was not there any more */
static unsigned long gone;

static void end(int sig)
{
	(void)sig;
	ended = 1;
}

static void begin(uint8_t cmd, uint16_t flags)
{
	m.len = 0;
	msg_begin(&m, nl.family, cmd, NLM_F_REQUEST | flags);
}

static const struct param *any_param(void)
{
	return &model.param[below(model.nr_params)];
}

static void load_model(void)
{
	int err = model_load(&nl, &model);

	if (err)
		die("dump: %s", strerror(err));
}

/* Setting */

static char **names;
static int nr_names;
static struct param last[1024];
static unsigned int nr_last;

static bool is_mine(const struct param *p)
{
	int i;

	for (i = 0; i < nr_names; i++)
		if (!strcmp(p->name, names[i]))
			return !p->read_only;
	return false;
}

static void set_last(const struct param *p)
{
	unsigned int i;

	for (i = 0; i < nr_last; i++)
		if (!strcmp(last[i].object, p->object) &&
		    !strcmp(last[i].name, p->name))
			break;
	if (i == ARRAY_SIZE(last))
		die("more objects than there is room for");
	if (i == nr_last)
		nr_last++;
	last[i] = *p;
}

static void print_last(void)
{
	char text[NL_TEXT];
	unsigned int i;

	for (i = 0; i < nr_last; i++) {
		param_text(&last[i], text, sizeof(text));
		printf("last %s %s %s\n", last[i].object, last[i].name, text);
	}
}

static void put_setting(struct param *p)
{
	size_t nest = msg_nest(&m, NVMETUNE_A_SET_SETTING);
	char text[NL_TEXT];

	p->inherit = p->inheritable && one_in(4);
	p->value = p->inherit ? 0 : p->min + rnd() % (param_max(p) - p->min + 1);
	msg_str(&m, NVMETUNE_A_SETTING_OBJECT, p->object);
	msg_str(&m, NVMETUNE_A_SETTING_NAME, p->name);
	if (!p->inherit && one_in(2)) {
		msg_u64(&m, NVMETUNE_A_SETTING_VALUE, p->value);
	} else {
		param_text(p, text, sizeof(text));
		msg_str(&m, NVMETUNE_A_SETTING_TEXT, text);
	}
	msg_nest_end(&m, nest);
}

static bool chosen(const struct param *set, unsigned int nr, const struct param *p)
{
	while (nr--)
		if (!strcmp(set[nr].object, p->object) &&
		    !strcmp(set[nr].name, p->name))
			return true;
	return false;
}

static int set_some(void)
{
	unsigned int want = one_in(2) ? 1 : 1 + below(8), nr = 0, tries, i;
	struct param set[8];
	const struct param *p;
	int err;

	begin(NVMETUNE_CMD_PARAM_SET, NLM_F_ACK);
	for (tries = 0; nr < want && tries < 200; tries++) {
		p = any_param();
		if (!is_mine(p) || chosen(set, nr, p))
			continue;
		set[nr] = *p;
		put_setting(&set[nr++]);
	}
	if (!nr)
		return 0;
	err = nl_call(&nl, &m, NULL, NULL);
	for (i = 0; !err && i < nr; i++) {
		param_set(&set[i], set[i].inherit, set[i].value);
		set_last(&set[i]);
	}
	return err;
}

static void run_set(void)
{
	unsigned long done = 0, busy = 0, n;

	for (n = 0; !ended; n++) {
		if (!(n % LOOK_EACH))
			load_model();
		usleep(1000);
		switch (model.nr_params ? set_some() : ENODEV) {
		case 0:
			done++;
			break;
		case ENODEV:
			gone++;
			break;
		case EBUSY:
			busy++;
			break;
		default:
			die("a valid request was refused");
		}
	}
	printf("# set: %lu done, %lu refused as the object was gone, %lu busy\n",
	       done, gone, busy);
	print_last();
}

/* Reading */

static unsigned long dumps, interrupted, left_off, singles;

/* What is of one moment has each object's parent and each object's parameters. */
static void check_consistent(void)
{
	unsigned int i, j, params;

	for (i = 0; i < model.nr_objects; i++) {
		const struct object *o = &model.object[i];

		for (j = 0; o->parent && j < model.nr_objects; j++)
			if (model.object[j].id == o->parent)
				break;
		if (o->parent && j == model.nr_objects)
			die("a dump that was not interrupted lacks the object above %s",
			    o->path);
		params = 0;
		for (j = 0; j < model.nr_params; j++)
			params += !strcmp(model.param[j].object, o->path);
		/* Between the two dumps, an object may have come or gone. */
		if (params && params != o->params)
			die("%s has %u parameters, a dump showed %u", o->path,
			    o->params, params);
	}
}

static void dump_model(void)
{
	load_model();
	dumps += 2;
	if (nl.interrupted)
		interrupted++;
	else
		check_consistent();
}

static void dump_stats(void)
{
	int err;

	begin(NVMETUNE_CMD_STATS_GET, NLM_F_DUMP);
	err = nl_call(&nl, &m, NULL, NULL);
	if (err)
		die("dump of statistics: %s", strerror(err));
	dumps++;
	interrupted += nl.interrupted;
}

/* On a socket of its own; objects may go between its parts. */
static void dump_slowly(bool to_the_end)
{
	static struct nl slow;
	const struct nlmsghdr *h;
	const unsigned char *at;
	unsigned int parts = 0;
	bool done = false;
	size_t left;

	nl_open(&slow);
	begin(one_in(2) ? NVMETUNE_CMD_PARAM_GET : NVMETUNE_CMD_STATS_GET, NLM_F_DUMP);
	msg_end(&m);
	nl_send(&slow, m.buf, m.len);
	while (!done && (to_the_end || parts < 2)) {
		usleep(5000);
		left = nl_recv(&slow, true);
		at = slow.buf;
		while ((h = nl_next(&at, &left)))
			done |= h->nlmsg_type == NLMSG_DONE ||
				h->nlmsg_type == NLMSG_ERROR;
		parts++;
	}
	nl_close(&slow);
	if (done)
		dumps++;
	else
		left_off++;
}

static void get_one(void)
{
	const struct param *p = any_param();
	int err;

	switch (below(5)) {
	case 0:
		begin(NVMETUNE_CMD_OBJECT_GET, NLM_F_ACK);
		msg_str(&m, NVMETUNE_A_OBJECT_NAME, p->object);
		break;
	case 1:
		begin(NVMETUNE_CMD_PARAM_GET, NLM_F_ACK);
		msg_str(&m, NVMETUNE_A_PARAM_OBJECT, p->object);
		msg_str(&m, NVMETUNE_A_PARAM_NAME, p->name);
		break;
	case 2:
		begin(NVMETUNE_CMD_PARAM_GET, NLM_F_DUMP);
		msg_str(&m, NVMETUNE_A_PARAM_OBJECT, p->object);
		break;
	case 3:
		begin(NVMETUNE_CMD_STATS_GET, NLM_F_ACK);
		msg_str(&m, NVMETUNE_A_STATS_OBJECT, p->object);
		break;
	case 4:
		begin(NVMETUNE_CMD_STATS_RESET, NLM_F_ACK);
		msg_str(&m, NVMETUNE_A_STATS_OBJECT, p->object);
		break;
	}
	err = nl_call(&nl, &m, NULL, NULL);
	if (err == ENODEV)
		gone++;
	else if (err)
		die("%s: %s", p->object, strerror(err));
	singles++;
}

static void run_dump(void)
{
	unsigned long n;

	for (n = 0; !ended; n++) {
		usleep(1000);
		if (!(n % LOOK_EACH))
			dump_model();
		else if (n % LOOK_EACH == 7)
			dump_slowly(true);
		else if (n % LOOK_EACH == 14)
			dump_slowly(false);
		else if (one_in(4))
			dump_stats();
		else if (model.nr_params)
			get_one();
	}
	printf("# dump: %lu dumps, %lu of them interrupted, %lu left in the midst, %lu single requests, %lu of them for what was gone\n",
	       dumps, interrupted, left_off, singles, gone);
}

/* Files */

static const char *top, *written;
static unsigned long files;

static bool has_gone(const char *path)
{
	if (errno != ENOENT && errno != ENODEV && errno != EIO)
		die("%s: %s", path, strerror(errno));
	gone++;
	return true;
}

static void read_file(const char *path)
{
	char buf[4096];
	int fd = open(path, O_RDONLY);
	ssize_t len;

	if (fd < 0 && has_gone(path))
		return;
	if (one_in(16))
		usleep(20000);
	do {
		len = read(fd, buf, sizeof(buf));
	} while (len > 0);
	if (!len || !has_gone(path))
		files++;
	close(fd);
}

static void write_file(const char *path)
{
	int fd = open(path, O_WRONLY);
	struct param p = { };
	char text[NL_TEXT];
	ssize_t len;

	if (fd < 0 && has_gone(path))
		return;
	p.value = 65536 + below(32768);
	len = snprintf(text, sizeof(text), "%llu\n", (unsigned long long)p.value);
	if (one_in(16))
		usleep(20000);
	if (write(fd, text, len) == len) {
		/* TOP/OBJECT/NAME */
		path += strlen(top) + 1;
		snprintf(p.object, sizeof(p.object), "%.*s",
			 (int)(strrchr(path, '/') - path), path);
		snprintf(p.name, sizeof(p.name), "%s", written);
		set_last(&p);
		files++;
	} else {
		has_gone(path);
	}
	close(fd);
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	if (type != FTW_F || ended)
		return ended;
	if (!written)
		read_file(path);
	else if (!strcmp(path + at->base, written) && !strstr(path, "/in_force/"))
		write_file(path);
	return 0;
}

static void run_files(void)
{
	unsigned long n;

	for (n = 0; !ended; n++) {
		/* It fails where a directory goes meanwhile. */
		nftw(top, visit, 8, FTW_PHYS);
		usleep(1000);
	}
	printf("# %s: %lu done, %lu of what was gone, %s below %s\n",
	       written ? "write" : "read", files, gone, written ?: "all files", top);
	print_last();
}

static void print_objects(void)
{
	unsigned int i;

	load_model();
	for (i = 0; i < model.nr_objects; i++)
		printf("%s\n", model.object[i].path);
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = end, .sa_flags = SA_RESTART };

	sigaction(SIGTERM, &act, NULL);
	nl_open(&nl);
	if (argc > 2)
		rnd_seed(strtoull(argv[2], NULL, 0));
	if (argc > 3 && !strcmp(argv[1], "set")) {
		names = argv + 3;
		nr_names = argc - 3;
		run_set();
	} else if (argc == 3 && !strcmp(argv[1], "dump")) {
		run_dump();
	} else if (argc == 5 && !strcmp(argv[1], "write")) {
		top = argv[3];
		written = argv[4];
		run_files();
	} else if (argc == 4 && !strcmp(argv[1], "read")) {
		top = argv[3];
		run_files();
	} else if (argc == 2 && !strcmp(argv[1], "objects")) {
		print_objects();
	} else {
		die("Usage: nlload set SEED NAME... | dump SEED | write SEED DIRECTORY NAME | read SEED DIRECTORY | objects");
	}
	return 0;
}
