// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measuring for autotune: the load that runs, by the block layer's statistics, or one
 * that fio makes.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "autotune.h"

/* Below this a figure says nothing. */
#define NT_LEAST_IOPS	10

/* Disks */

/* nvme0n1, or with multipath the path nvme3c0n1, with the subsystem's number first. */
static bool nt_is_disk(const char *name, const char *ctrl)
{
	size_t len = strlen(ctrl);

	if (strncmp(name, "nvme", 4))
		return false;
	return (!strncmp(name, ctrl, len) && name[len] == 'n') || strchr(name + 4, 'c');
}

/* nvme0c0n1 is a path to the disk nvme0n1, which has the statistics. */
static char *nt_disk_name(const char *name)
{
	const char *path = strchr(name, 'c'), *ns = path ? strchr(path, 'n') : NULL;

	if (!ns)
		return nt_strdup(name);
	return nt_printf("%.*s%s", (int)(path - name), name, ns);
}

static bool nt_strv_find(char **strv, size_t nr, const char *s)
{
	while (nr--)
		if (!strcmp(strv[nr], s))
			return true;
	return false;
}

char **nt_load_disks(struct nt_object **ctrls, size_t nr)
{
	char **disks = NULL, **names, *disk;
	size_t i, j, found = 0;

	for (i = 0; i < nr; i++) {
		names = nt_sys_list("/sys/class/nvme/%s", ctrls[i]->name);
		for (j = 0; names && names[j]; j++) {
			if (!nt_is_disk(names[j], ctrls[i]->name))
				continue;
			disk = nt_disk_name(names[j]);
			if (!nt_sys_exists("/sys/block/%s/stat", disk) ||
			    nt_strv_find(disks, found, disk)) {
				free(disk);
				continue;
			}
			disks = nt_grow(disks, found, sizeof(*disks));
			disks[found++] = disk;
		}
		nt_strv_free(names);
	}
	disks = nt_grow(disks, found, sizeof(*disks));
	disks[found] = NULL;
	return disks;
}

/* The system's counters */

#define NT_MAX_CPUS	4096

struct nt_counters {
	uint64_t requests, sectors, ms;
	size_t cpus;
	struct {
		uint64_t irq, all;
	} cpu[NT_MAX_CPUS];
	struct timespec at;
};

/* Documentation/block/stat.rst: reads, writes, discards of four fields, then flushes. */
static int nt_count_disk(const char *disk, struct nt_counters *c, struct nt_error *err)
{
	uint64_t f[17] = { };
	char *text = nt_sys_read("/sys/block/%s/stat", disk), *at, *end;
	size_t nr;

	if (!text) {
		nt_error_set(err, errno, "cannot read the statistics of %s: %s", disk,
			     strerror(errno));
		return -1;
	}
	for (at = text, nr = 0; nr < NT_ARRAY_SIZE(f); nr++, at = end) {
		f[nr] = strtoull(at, &end, 10);
		if (end == at)
			break;
	}
	free(text);
	if (nr < 11) {
		nt_error_set(err, EINVAL, "the statistics of %s are not as expected", disk);
		return -1;
	}
	c->requests += f[0] + f[4] + f[11];
	c->sectors += f[2] + f[6] + f[13];
	c->ms += f[3] + f[7] + f[14];
	return 0;
}

static void nt_count_cpus(struct nt_counters *c)
{
	char *text = nt_sys_read("/proc/stat"), *line, *save = NULL, *at;
	uint64_t f, all, irq;
	int i;

	for (line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, "cpu", 3) || line[3] == ' ' || c->cpus == NT_MAX_CPUS)
			continue;
		at = strchr(line, ' ');
		all = 0;
		irq = 0;
		/* user nice system idle iowait irq softirq steal; guests are in user */
		for (i = 0; at && i < 8; i++) {
			f = strtoull(at, &at, 10);
			all += f;
			if (i == 5 || i == 6)
				irq += f;
		}
		c->cpu[c->cpus].irq = irq;
		c->cpu[c->cpus++].all = all;
	}
	free(text);
}

static int nt_count(const struct nt_load *load, struct nt_counters *c, struct nt_error *err)
{
	char **disk;

	*c = (struct nt_counters){ };
	clock_gettime(CLOCK_MONOTONIC, &c->at);
	for (disk = load->disks; disk && *disk; disk++)
		if (nt_count_disk(*disk, c, err))
			return -1;
	nt_count_cpus(c);
	return 0;
}

static double nt_busiest(const struct nt_counters *a, const struct nt_counters *b)
{
	double share, most = 0;
	size_t i;

	for (i = 0; i < a->cpus && i < b->cpus; i++) {
		if (b->cpu[i].all <= a->cpu[i].all || b->cpu[i].irq < a->cpu[i].irq)
			continue;
		share = (double)(b->cpu[i].irq - a->cpu[i].irq) /
			(double)(b->cpu[i].all - a->cpu[i].all);
		if (share > most)
			most = share;
	}
	return most;
}

static double nt_seconds(const struct timespec *a, const struct timespec *b)
{
	return (double)(b->tv_sec - a->tv_sec) + (double)(b->tv_nsec - a->tv_nsec) / 1e9;
}

/* The load that runs */

/* 1: it has to stop. */
static int nt_wait(const struct nt_load *load, double seconds)
{
	struct pollfd fd = { .fd = load->stop_fd, .events = POLLIN };
	struct timespec start, now;
	double left = seconds;
	int ret;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (left > 0) {
		ret = poll(&fd, 1, (int)(left * 1000) + 1);
		if (ret > 0)
			return 1;
		clock_gettime(CLOCK_MONOTONIC, &now);
		left = seconds - nt_seconds(&start, &now);
	}
	return 0;
}

static int nt_measure_running(const struct nt_load *load, struct nt_counters *before,
			      struct nt_counters *after, struct nt_sample *sample,
			      struct nt_error *err)
{
	double seconds;
	uint64_t requests;

	if (nt_wait(load, load->warmup))
		return 1;
	if (nt_count(load, before, err))
		return -1;
	if (nt_wait(load, load->seconds))
		return 1;
	if (nt_count(load, after, err))
		return -1;
	seconds = nt_seconds(&before->at, &after->at);
	requests = after->requests - before->requests;
	sample->iops = (double)requests / seconds;
	sample->bytes = (double)(after->sectors - before->sectors) * 512 / seconds;
	sample->latency = requests ? (double)(after->ms - before->ms) / 1000 / (double)requests : 0;
	sample->irq = nt_busiest(before, after);
	if (sample->iops >= NT_LEAST_IOPS)
		return 0;
	nt_error_set(err, ENODATA,
		     "no load on %s%s: start the load to be tuned for, or name a fio job file with --fio",
		     load->disks[0], load->disks[1] ? " and others" : "");
	return -1;
}

/* fio */

char *nt_load_job(const char *text, const struct nt_load *load)
{
	char *copy = nt_strdup(text), *at = copy, *line, *job = NULL;
	bool in_section = false;
	size_t size;
	FILE *f = open_memstream(&job, &size);

	if (!f)
		exit(nt_fail(NT_REFUSED, "out of memory"));
	/* At the end of each section, where they win over what it says. */
	while ((line = strsep(&at, "\n")) || in_section) {
		if (in_section && (!line || line[strspn(line, " \t")] == '['))
			fprintf(f, "time_based=1\nramp_time=%.0fms\nruntime=%.0fms\n",
				load->warmup * 1000, load->seconds * 1000);
		if (!line)
			break;
		in_section |= line[strspn(line, " \t")] == '[';
		fprintf(f, "%s\n", line);
	}
	fclose(f);
	free(copy);
	return job;
}

static double nt_json_number(json_object *o, const char *a, const char *b, const char *c)
{
	const char *const path[] = { a, b, c };
	size_t i;

	for (i = 0; i < NT_ARRAY_SIZE(path) && path[i]; i++)
		if (!json_object_object_get_ex(o, path[i], &o))
			return 0;
	return json_object_get_double(o);
}

static void nt_fio_direction(json_object *dir, struct nt_sample *sample)
{
	double p99 = nt_json_number(dir, "clat_ns", "percentile", "99.000000") / 1e9;

	if (nt_json_number(dir, "total_ios", NULL, NULL) <= 0)
		return;
	sample->iops += nt_json_number(dir, "iops", NULL, NULL);
	sample->bytes += nt_json_number(dir, "bw_bytes", NULL, NULL);
	/* Of several jobs and directions the worst: none is to be given up for another. */
	if (p99 > sample->latency)
		sample->latency = p99;
}

int nt_load_parse_fio(const char *text, struct nt_sample *sample, struct nt_error *err)
{
	static const char *const dirs[] = { "read", "write", "trim" };
	const char *begin = strstr(text, "{\n");
	json_object *all, *jobs, *job, *dir;
	size_t i, j;
	int failed = 0;

	sample->iops = 0;
	sample->bytes = 0;
	sample->latency = 0;
	/* Notes of fio's come before the object. */
	all = begin ? json_tokener_parse(begin) : NULL;
	if (!all || !json_object_object_get_ex(all, "jobs", &jobs) ||
	    !json_object_is_type(jobs, json_type_array)) {
		json_object_put(all);
		nt_error_set(err, EINVAL, "fio has printed no result: try fio with this job file: %.200s",
			     text);
		err->text[strcspn(err->text, "\n")] = '\0';
		return -1;
	}
	for (i = 0; i < json_object_array_length(jobs); i++) {
		job = json_object_array_get_idx(jobs, i);
		failed |= (int)nt_json_number(job, "error", NULL, NULL);
		for (j = 0; j < NT_ARRAY_SIZE(dirs); j++)
			if (json_object_object_get_ex(job, dirs[j], &dir))
				nt_fio_direction(dir, sample);
	}
	json_object_put(all);
	if (!failed && sample->iops > 0)
		return 0;
	nt_error_set(err, failed ? failed : ENODATA, "fio %s: try fio with this job file",
		     failed ? "has met errors" : "has done no I/O");
	return -1;
}

/* In the child: the job is its standard input, *out all that it prints. */
static void nt_fio_exec(int job, int out)
{
	sigset_t none;

	/* A group of its own: ^C is for the tool, which ends it in its turn. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(job, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	execlp("fio", "fio", "--output-format=json", "-", NULL);
	dprintf(STDERR_FILENO, "cannot run fio: %s\n", strerror(errno));
	_exit(127);
}

/* The job as a file that lives as long as it is open; -1 with errno set. */
static int nt_fio_job(const char *text)
{
	int fd = memfd_create("nvmetune-job", MFD_CLOEXEC);

	if (fd < 0)
		return -1;
	if (dprintf(fd, "%s", text) >= 0 && !lseek(fd, 0, SEEK_SET))
		return fd;
	close(fd);
	return -1;
}

static pid_t nt_fio_start(const char *job, int *out, struct nt_error *err)
{
	int fds[2] = { -1, -1 }, fd = nt_fio_job(job), saved;
	pid_t pid = -1;

	if (fd >= 0 && !pipe2(fds, O_CLOEXEC))
		pid = fork();
	if (!pid)
		nt_fio_exec(fd, fds[1]);
	saved = errno;
	if (fd >= 0)
		close(fd);
	if (fds[1] >= 0)
		close(fds[1]);
	*out = fds[0];
	if (pid > 0) {
		/* Whichever of the two is first. */
		setpgid(pid, pid);
		return pid;
	}
	if (fds[0] >= 0)
		close(fds[0]);
	nt_error_set(err, saved, "cannot run fio: %s", strerror(saved));
	return -1;
}

/* All that fio prints, NULL if it has to stop. */
static char *nt_fio_output(const struct nt_load *load, int fd)
{
	struct pollfd fds[] = { { .fd = fd, .events = POLLIN },
				{ .fd = load->stop_fd, .events = POLLIN } };
	size_t len = 0, size = 65536;
	char *text = nt_alloc(size);
	ssize_t got;

	for (;;) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents)
			break;
		if (len + 1 == size)
			text = nt_realloc(text, size *= 2);
		got = read(fd, text + len, size - 1 - len);
		if (got <= 0) {
			text[len] = '\0';
			return text;
		}
		len += got;
	}
	free(text);
	return NULL;
}

static int nt_measure_fio(const struct nt_load *load, struct nt_counters *before,
			  struct nt_counters *after, struct nt_sample *sample,
			  struct nt_error *err)
{
	int out, ret, status;
	char *text;
	pid_t pid;

	if (nt_count(load, before, err))
		return -1;
	pid = nt_fio_start(load->job, &out, err);
	if (pid < 0)
		return -1;
	text = nt_fio_output(load, out);
	if (!text)
		kill(-pid, SIGKILL);
	close(out);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!text)
		return 1;
	ret = nt_count(load, after, err);
	sample->irq = nt_busiest(before, after);
	if (!ret)
		ret = nt_load_parse_fio(text, sample, err);
	free(text);
	return ret;
}

int nt_load_measure(const struct nt_load *load, struct nt_sample *sample, struct nt_error *err)
{
	struct nt_counters *c = nt_alloc(2 * sizeof(*c));
	int ret;

	*sample = (struct nt_sample){ };
	ret = load->job ? nt_measure_fio(load, &c[0], &c[1], sample, err) :
			  nt_measure_running(load, &c[0], &c[1], sample, err);
	free(c);
	return ret;
}
