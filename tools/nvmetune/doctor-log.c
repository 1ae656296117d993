// SPDX-License-Identifier: GPL-2.0-only
/*
 * doctor: rules about what the kernel has logged. /dev/kmsg, or the file of that name in
 * a recorded tree, with the same lines.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor.h"

/* Reading */

/* "6,339,5140900,-;text"; what continues one begins with a blank. */
static void nt_log_take(char *line, struct nt_log *log)
{
	unsigned long long usec;
	char *text = strchr(line, ';');

	if (*line == ' ' || !text || sscanf(line, "%*u,%*u,%llu", &usec) != 1)
		return;
	log->lines = nt_grow(log->lines, log->nr, sizeof(*log->lines));
	log->lines[log->nr++] = (struct nt_log_line){ usec, nt_strdup(text + 1) };
}

void nt_log_parse(char *text, struct nt_log *log)
{
	char *line;

	while ((line = strsep(&text, "\n")))
		nt_log_take(line, log);
}

void nt_log_free(struct nt_log *log)
{
	size_t i;

	for (i = 0; i < log->nr; i++)
		free(log->lines[i].text);
	free(log->lines);
}

/* A record each read; what was overwritten meanwhile is gone. */
static void nt_log_read_device(int fd, struct nt_log *log)
{
	char buf[8193];
	ssize_t got;

	for (;;) {
		got = read(fd, buf, sizeof(buf) - 1);
		if (got > 0) {
			buf[got] = '\0';
			nt_log_parse(buf, log);
		} else if (!got || errno == EAGAIN) {
			return;
		} else if (errno != EPIPE && errno != EINTR) {
			log->error = nt_unreadable();
			return;
		}
	}
}

static void nt_log_read(struct nt_log *log)
{
	char *path = nt_sys_path("/dev/kmsg"), *text;
	struct stat st;
	int fd;

	log->read = true;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		log->error = nt_unreadable();
	} else if (S_ISCHR(st.st_mode)) {
		nt_log_read_device(fd, log);
	} else {
		text = nt_read_fd(fd, 4096);
		if (text)
			nt_log_parse(text, log);
		else
			log->error = nt_unreadable();
		free(text);
	}
	if (fd >= 0)
		close(fd);
	free(path);
}

bool nt_need_log(struct nt_doctor *d)
{
	if (!d->log.read)
		nt_log_read(&d->log);
	if (d->log.error)
		nt_not_looked(d, "/dev/kmsg: %s", d->log.error);
	return !d->log.error;
}

/* What many lines say */

/**
 * struct nt_hits - lines of one kind
 * @nr: how many
 * @last: the last of them
 * @objects: what they are about, each once
 * @nr_objects: their number
 */
struct nt_hits {
	size_t nr;
	const struct nt_log_line *last;
	char **objects;
	size_t nr_objects;
};

static void nt_hits_add(struct nt_hits *h, const struct nt_log_line *line, char *object)
{
	size_t i;

	h->nr++;
	h->last = line;
	for (i = 0; object && i < h->nr_objects; i++) {
		if (strcmp(h->objects[i], object))
			continue;
		free(object);
		object = NULL;
	}
	if (!object)
		return;
	h->objects = nt_grow(h->objects, h->nr_objects, sizeof(*h->objects));
	h->objects[h->nr_objects++] = object;
}

/* One finding for all of them. @mend is taken over. */
static void nt_hits_tell(struct nt_doctor *d, struct nt_hits *h, char *mend)
{
	char *names = nt_strdup(""), *longer;
	size_t i;

	for (i = 0; i < h->nr_objects; i++) {
		if (i < 4) {
			longer = nt_printf("%s%s%s", names, i ? ", " : "", h->objects[i]);
			free(names);
			names = longer;
		}
		free(h->objects[i]);
	}
	free(h->objects);
	if (h->nr)
		nt_found(d, names,
			 nt_printf("%zu %s in the kernel's log, the last %" PRIu64 " s after boot: %s",
				   h->nr, h->nr > 1 ? "messages" : "message",
				   h->last->usec / 1000000, h->last->text), mend);
	else
		free(mend);
	free(names);
}

/* The queues of the CPU that the line or one of those behind it names, or NULL. */
static char *nt_log_queues(const struct nt_doctor *d, size_t at)
{
	static const char *const names[] = { "CPU#", "CPU: ", "on cpu ", "on CPU " };
	size_t i, n;

	for (i = at; i < d->log.nr && i < at + 30; i++) {
		for (n = 0; n < NT_ARRAY_SIZE(names); n++) {
			const char *found = strstr(d->log.lines[i].text, names[n]);
			char *queues;

			if (found)
				found += strlen(names[n]);
			if (!found || !isdigit((unsigned char)*found))
				continue;
			queues = nt_queues_of_cpu(d, strtoul(found, NULL, 10));
			if (*queues)
				return queues;
			free(queues);
			return NULL;
		}
	}
	return NULL;
}

/* Lines with any of the words, which name CPUs. */
static void nt_look_words(struct nt_doctor *d, const char *const *words, const char *mend)
{
	struct nt_hits h = { };
	size_t i, w;

	if (!nt_need_log(d))
		return;
	for (i = 0; i < d->log.nr; i++) {
		for (w = 0; words[w]; w++) {
			if (!strstr(d->log.lines[i].text, words[w]))
				continue;
			nt_hits_add(&h, &d->log.lines[i], nt_log_queues(d, i));
			break;
		}
	}
	nt_hits_tell(d, &h, nt_strdup(mend));
}

static const char nt_mend_lockup[] =
	"nvmetune doctor deferral-off budget-unlimited interrupt-bound-cpu; dmesg shows the stack";

static void nt_look_soft(struct nt_doctor *d)
{
	static const char *const words[] = { "BUG: soft lockup", NULL };

	nt_look_words(d, words, nt_mend_lockup);
}

static void nt_look_hard(struct nt_doctor *d)
{
	static const char *const words[] = { "hard LOCKUP", "Hard LOCKUP", NULL };

	nt_look_words(d, words, nt_mend_lockup);
}

static void nt_look_rcu(struct nt_doctor *d)
{
	static const char *const words[] = {
		"self-detected stall", "detected stalls on CPUs", "detected expedited stalls", NULL
	};

	nt_look_words(d, words, nt_mend_lockup);
}

static void nt_look_wq_lockup(struct nt_doctor *d)
{
	static const char *const words[] = { "BUG: workqueue lockup", NULL };

	nt_look_words(d, words, "nvmetune wq all, and give workers CPUs that are not kept busy");
}

/* Lines with both words, which name no CPU. */
static void nt_look_both(struct nt_doctor *d, const char *word, const char *other,
			 const char *mend)
{
	struct nt_hits h = { };
	size_t i;

	if (!nt_need_log(d))
		return;
	for (i = 0; i < d->log.nr; i++) {
		const char *text = d->log.lines[i].text;

		if (strstr(text, word) && strstr(text, other))
			nt_hits_add(&h, &d->log.lines[i], NULL);
	}
	nt_hits_tell(d, &h, nt_strdup(mend));
}

static void nt_look_hung(struct nt_doctor *d)
{
	nt_look_both(d, "blocked for more than ", "task ",
		     "nvmetune doctor oldest-deferred nvme-timeout; dmesg shows where the task waits");
}

static void nt_look_flush(struct nt_doctor *d)
{
	nt_look_both(d, "is flushing !WQ_MEM_RECLAIM", "nvme",
		     "report it to the driver's maintainers, with the lines from dmesg");
}

/* "nvme nvme0: I/O tag 12 (100c) QID 1 timeout, completion polled" */
static void nt_look_timeouts(struct nt_doctor *d)
{
	static const char mend[] =
		"nvmetune doctor interrupt-bound-cpu oldest-deferred; else nvme error-log";
	struct nt_hits h = { };
	unsigned int ctrl, qid;
	const char *text, *at;
	size_t i;

	if (!nt_need_log(d))
		return;
	for (i = 0; i < d->log.nr; i++) {
		text = d->log.lines[i].text;
		if (sscanf(text, "nvme nvme%u: I/O", &ctrl) != 1 || !strstr(text, "timeout, "))
			continue;
		at = strstr(text, "QID ");
		if (at && sscanf(at, "QID %u", &qid) == 1)
			nt_hits_add(&h, &d->log.lines[i], nt_printf("nvme%u/q%u", ctrl, qid));
		else
			nt_hits_add(&h, &d->log.lines[i], nt_printf("nvme%u", ctrl));
	}
	nt_hits_tell(d, &h, nt_strdup(mend));
}

/* Bounce buffers */

#define NT_SLOT		2048
#define NT_LARGEST	(256 << 10)

enum nt_pool_kind { NT_POOL_NONE, NT_POOL_FULL, NT_POOL_TOO_LARGE, NT_POOL_PIECES };

/* Which of three things is wrong has to be told from sizes. */
static enum nt_pool_kind nt_pool_message(const char *text, uint64_t *total)
{
	static const char format[] =
		"swiotlb buffer is full (sz: %llu bytes), total %llu (slots), used %llu (slots)";
	const char *at = strstr(text, "swiotlb buffer is full");
	unsigned long long size, slots, used, wanted;

	if (!at || sscanf(at, format, &size, &slots, &used) != 3)
		return NT_POOL_NONE;
	*total = slots;
	wanted = (size + NT_SLOT - 1) / NT_SLOT;
	if (size > NT_LARGEST)
		return NT_POOL_TOO_LARGE;
	/* By the time of the message some may have been given back. */
	if (used + wanted + slots / 20 >= slots)
		return NT_POOL_FULL;
	return NT_POOL_PIECES;
}

/* What stands before the message: a driver and its device. */
static char *nt_log_device(const char *text)
{
	const char *end = strstr(text, ": swiotlb buffer");

	return end ? nt_printf("%.*s", (int)(end - text), text) : NULL;
}

static void nt_look_pool(struct nt_doctor *d, enum nt_pool_kind kind, const char *mend)
{
	struct nt_hits h = { };
	uint64_t total = 0, slots;
	size_t i;

	if (!nt_need_log(d))
		return;
	for (i = 0; i < d->log.nr; i++) {
		if (nt_pool_message(d->log.lines[i].text, &slots) != kind)
			continue;
		total = slots;
		nt_hits_add(&h, &d->log.lines[i], nt_log_device(d->log.lines[i].text));
	}
	nt_hits_tell(d, &h, mend ? nt_strdup(mend) : nt_pool_mend(2 * total));
}

static void nt_look_full(struct nt_doctor *d)
{
	nt_look_pool(d, NT_POOL_FULL, NULL);
}

static void nt_look_too_large(struct nt_doctor *d)
{
	nt_look_pool(d, NT_POOL_TOO_LARGE,
		     "for d in /sys/block/nvme*; do echo 256 > $d/queue/max_sectors_kb; done; a larger pool does not help");
}

static void nt_look_pieces(struct nt_doctor *d)
{
	nt_look_pool(d, NT_POOL_PIECES,
		     "boot with fewer areas, swiotlb=SLOTS,AREAS, or echo 128 > queue/max_sectors_kb of the disk");
}

const struct nt_rule nt_rules_log[] = {
	{
		"swiotlb-full", NT_CRITICAL, "the log: a bounce pool that was full",
		"Requests wait until others give buffers back; other drivers' fail.",
		nt_look_full,
	}, {
		"swiotlb-too-large", NT_CRITICAL, "the log: one mapping larger than a bounce buffer",
		"The pool is not full: a mapping over 256 KiB can never be bounced, however large the pool.",
		nt_look_too_large,
	}, {
		"swiotlb-pieces", NT_WARNING, "the log: a bounce pool without enough slots in one piece",
		"The pool has room, but not in one place of one area, so requests wait all the same.",
		nt_look_pieces,
	}, {
		"soft-lockup", NT_CRITICAL, "the log: CPUs that did not schedule",
		"A CPU ran one thing in the kernel for 20 seconds or longer.",
		nt_look_soft,
	}, {
		"hard-lockup", NT_CRITICAL, "the log: CPUs that took no interrupts",
		"A CPU was in one interrupt, or had them off, for 10 seconds or longer.",
		nt_look_hard,
	}, {
		"rcu-stall", NT_CRITICAL, "the log: CPUs that hold up RCU",
		"Memory is not given back meanwhile; it comes before a lockup, or instead of one.",
		nt_look_rcu,
	}, {
		"workqueue-lockup", NT_CRITICAL, "the log: workers that do not get to run",
		"What is queued waits, deferred requests among it.",
		nt_look_wq_lockup,
	}, {
		"hung-task", NT_CRITICAL, "the log: tasks that wait for long",
		"As a rule such a task waits for I/O that does not complete.",
		nt_look_hung,
	}, {
		"nvme-timeout", NT_CRITICAL, "the log: NVMe commands that timed out",
		"\"completion polled\" says that the drive was done, but the interrupt was not seen in 30 s: its CPU was busy, or it was lost.",
		nt_look_timeouts,
	}, {
		"flush-dependency", NT_WARNING, "the log: workqueues that wait for the wrong ones",
		"Memory reclaim through this drive can get stuck while it is reset.",
		nt_look_flush,
	},
	{ }
};
