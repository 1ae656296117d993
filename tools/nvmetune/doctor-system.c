// SPDX-License-Identifier: GPL-2.0-only
/*
 * doctor: rules about what is around queues: CPUs, workqueues, bounce buffers, the block
 * layer, the drive, who uses vfio.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/nvme_ioctl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "doctor.h"

/* CPUs */

static void nt_look_interrupts(struct nt_doctor *d)
{
	static const char mend[] =
		"nvmetune doctor deferral-off budget-unlimited; nvmetune top; nvmetune autotune";
	static const char mend_others[] =
		"cat /proc/interrupts, to see whose they are: no queue's go there";
	unsigned int which = 0;
	char cpu[16], *queues;
	double share;
	size_t i;

	if (!d->now.nr_cpus) {
		nt_not_looked(d, "/proc/stat: %s", nt_unreadable());
		return;
	}
	for (i = 0; i < d->now.nr_cpus; i++) {
		snprintf(cpu, sizeof(cpu), "%u", d->now.cpus[i].cpu);
		share = nt_look_irq_share(d->timed ? &d->old : NULL, &d->now, cpu, &which);
		if (!(share > 0.5))
			continue;
		queues = nt_queues_of_cpu(d, which);
		nt_found(d, *queues ? queues : cpu,
			 nt_printf("CPU %u has spent %.0f %% of its time in interrupts%s%s%s",
				   which, 100 * share, d->timed ? "" : " since boot",
				   *queues ? "; it takes those of " : "", queues),
			 nt_strdup(*queues ? mend : mend_others));
		free(queues);
	}
}

/* Workqueues */

/* The CPUs in a mask like "00000000,0000000f". */
static unsigned int nt_mask_weight(const char *mask)
{
	unsigned int weight = 0;

	for (; *mask; mask++) {
		char digit[2] = { *mask };

		weight += __builtin_popcount(strtoul(digit, NULL, 16));
	}
	return weight;
}

/* For each workqueue once, in the name of a queue that it serves. */
static void nt_each_workqueue(struct nt_doctor *d, const char *file,
			      void (*look)(struct nt_doctor *d, const struct nt_object *queue,
					   const char *wq, const char *value))
{
	const char *wq, *last = "";
	bool failed = false;
	size_t i;

	if (!nt_need_tree(d))
		return;
	for (i = 0; i < d->now.tree.nr; i++) {
		const struct nt_object *obj = d->now.tree.objects[i];
		char *value;

		wq = nt_holds(obj, "wq_name");
		if (!*wq || !strcmp(wq, "none") || strchr(wq, '/') || !strcmp(wq, last))
			continue;
		last = wq;
		value = nt_sys_read("/sys/bus/workqueue/devices/%s/%s", wq, file);
		if (value)
			look(d, obj, wq, value);
		else if (!failed)
			nt_not_looked(d, "/sys/bus/workqueue/devices/%s/%s: %s", wq, file,
				      nt_unreadable());
		failed |= !value;
		free(value);
	}
}

static void nt_see_cpumask(struct nt_doctor *d, const struct nt_object *queue, const char *wq,
			   const char *value)
{
	char *online = nt_sys_read("/sys/devices/system/cpu/online");

	if (online && nt_list_count(online) > 1 && nt_mask_weight(value) < 2)
		nt_found(d, queue->name,
			 nt_printf("%s may run on one CPU only (cpumask %s), of those online: %s",
				   wq, value, online),
			 nt_printf("nvmetune wq %s cpus=%s", queue->name, online));
	free(online);
}

static void nt_look_narrow(struct nt_doctor *d)
{
	nt_each_workqueue(d, "cpumask", nt_see_cpumask);
}

static void nt_see_nice(struct nt_doctor *d, const struct nt_object *queue, const char *wq,
			const char *value)
{
	if (strtol(value, NULL, 10) > 0)
		nt_found(d, queue->name, nt_printf("the workers of %s have nice %s", wq, value),
			 nt_printf("nvmetune wq %s nice=-20", queue->name));
}

static void nt_look_nice(struct nt_doctor *d)
{
	nt_each_workqueue(d, "nice", nt_see_nice);
}

/* Bounce buffers */

#define NT_SWIOTLB	"/sys/kernel/debug/swiotlb/"
#define NT_SLOT		2048

static uint64_t nt_pool_number(const char *file)
{
	char *text = nt_sys_read(NT_SWIOTLB "%s", file);
	uint64_t num = 0;

	if (text && !nt_parse_number(text, &num))
		errno = EINVAL;
	free(text);
	return num;
}

uint64_t nt_pool_bytes(void)
{
	return NT_SLOT * nt_pool_number("io_tlb_nslabs");
}

/* What to boot with for @slots; what else swiotlb= says is kept. To be freed. */
char *nt_pool_mend(uint64_t slots)
{
	char *cmdline = nt_sys_read("/proc/cmdline"), *mend;
	const char *at = cmdline ? strstr(cmdline, "swiotlb=") : NULL, *more = NULL;

	if (at) {
		more = at + strcspn(at, ", ");
		/* The number of areas may be left out: swiotlb=force. */
		if (more > at && *more != ',')
			more = strstr(at, "swiotlb=force") == at ? ",force" : "";
	}
	mend = nt_printf("boot with swiotlb=%" PRIu64 "%.*s", slots,
			 more ? (int)strcspn(more, "\n ") : 0, more ? more : "");
	free(cmdline);
	return mend;
}

static void nt_look_high_water(struct nt_doctor *d)
{
	uint64_t slots = nt_pool_number("io_tlb_nslabs"), high;

	/* Nothing bounces where there is no pool. */
	if (!slots && !errno)
		return;
	if (!slots) {
		nt_not_looked(d, NT_SWIOTLB "io_tlb_nslabs: %s", nt_unreadable());
		return;
	}
	errno = 0;
	high = nt_pool_number("io_tlb_used_hiwater");
	if (!high && errno) {
		nt_not_looked(d, NT_SWIOTLB "io_tlb_used_hiwater: %s", nt_unreadable());
		return;
	}
	if (high * 5 <= slots * 4)
		return;
	nt_found(d, "swiotlb",
		 nt_printf("up to %" PRIu64 " of %" PRIu64 " slots of the bounce pool were in use",
			   high, slots), nt_pool_mend(2 * slots));
}

/* The block layer */

static bool nt_disk_bounces(const struct nt_doctor *d, const char *disk)
{
	char ctrl[64];
	const struct nt_object *obj;

	/* nvme0n1 and nvme0c0n1 are nvme0's. */
	if (sscanf(disk, "nvme%59[0-9]", ctrl + 4) != 1)
		return false;
	memcpy(ctrl, "nvme", 4);
	obj = nt_tree_find(&d->now.tree, ctrl);
	return obj && nt_is_true(obj, "bounces");
}

static void nt_each_disk(struct nt_doctor *d, const char *file,
			 void (*look)(struct nt_doctor *d, const char *disk, uint64_t value))
{
	char **disks, *text;
	uint64_t value;
	size_t i;

	if (!nt_need_tree(d))
		return;
	disks = nt_sys_list("/sys/block");
	if (!disks)
		nt_not_looked(d, "/sys/block: %s", nt_unreadable());
	for (i = 0; disks && disks[i]; i++) {
		if (!nt_disk_bounces(d, disks[i]))
			continue;
		text = nt_sys_read("/sys/block/%s/queue/%s", disks[i], file);
		if (text && nt_parse_number(text, &value))
			look(d, disks[i], value);
		free(text);
	}
	nt_strv_free(disks);
}

static void nt_see_sectors(struct nt_doctor *d, const char *disk, uint64_t kb)
{
	if (kb > 256)
		nt_found(d, disk, nt_printf("requests of up to %" PRIu64 " KiB", kb),
			 nt_printf("echo 256 > /sys/block/%s/queue/max_sectors_kb", disk));
}

static void nt_look_sectors(struct nt_doctor *d)
{
	nt_each_disk(d, "max_sectors_kb", nt_see_sectors);
}

static void nt_see_affinity(struct nt_doctor *d, const char *disk, uint64_t value)
{
	static const char seen[] =
		"rq_affinity is 2: each request completes on the CPU that sent it";

	if (value == 2)
		nt_found(d, disk, nt_strdup(seen),
			 nt_printf("echo 1 > /sys/block/%s/queue/rq_affinity, unless its users need that",
				   disk));
}

static void nt_look_affinity(struct nt_doctor *d)
{
	nt_each_disk(d, "rq_affinity", nt_see_affinity);
}

/* The drive */

#define NT_GET_FEATURES		0x0a
#define NT_FEATURE_COALESCING	0x08

static void nt_see_coalescing(struct nt_doctor *d, const char *ctrl, uint32_t value)
{
	unsigned int completions = (value & 0xff) + 1, usec = (value >> 8 & 0xff) * 100;

	if (!(value & 0xffff))
		return;
	nt_found(d, ctrl,
		 nt_printf("the drive gathers %u completions or waits %u us before it interrupts",
			   completions, usec),
		 nt_printf("nvme set-feature /dev/%s -f 8 -v 0", ctrl));
}

static void nt_look_coalescing(struct nt_doctor *d)
{
	char **ctrls = nt_sys_list("/sys/class/nvme"), *path;
	size_t i;
	int fd;

	for (i = 0; ctrls && ctrls[i]; i++) {
		struct nvme_admin_cmd cmd = {
			.opcode = NT_GET_FEATURES, .cdw10 = NT_FEATURE_COALESCING,
			.timeout_ms = 2000,
		};

		if (*nt.root) {
			nt_not_looked(d, "a recorded tree has no drive to ask");
			break;
		}
		path = nt_sys_path("/dev/%s", ctrls[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			nt_not_looked(d, "%s: %s", path, nt_unreadable());
		else if (!ioctl(fd, NVME_IOCTL_ADMIN_CMD, &cmd))
			nt_see_coalescing(d, ctrls[i], cmd.result);
		else
			nt_not_looked(d, "%s does not say whether it gathers completions", path);
		if (fd >= 0)
			close(fd);
		free(path);
	}
	nt_strv_free(ctrls);
}

/* Users of vfio */

/* Below this, small pages cost little. */
#define NT_LARGE_KB	(1 << 20)

static uint64_t nt_rollup(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static void nt_see_memory(struct nt_doctor *d, const char *pid, const char *text)
{
	static const char mend[] =
		"hugetlbfs, or echo always > /sys/kernel/mm/transparent_hugepage/enabled";
	uint64_t hugetlb = nt_rollup(text, "\nShared_Hugetlb:") +
			   nt_rollup(text, "\nPrivate_Hugetlb:");
	uint64_t all = nt_rollup(text, "\nRss:") + hugetlb;
	uint64_t huge = nt_rollup(text, "\nAnonHugePages:") +
			nt_rollup(text, "\nShmemPmdMapped:") + hugetlb;
	char *comm, *name;

	if (all < NT_LARGE_KB || huge >= all / 2)
		return;
	comm = nt_sys_read("/proc/%s/comm", pid);
	name = nt_printf("process %s%s%s", pid, comm ? ", " : "", comm ? comm : "");
	nt_found(d, name,
		 nt_printf("%" PRIu64 " of its %" PRIu64 " MiB are in huge pages", huge >> 10,
			   all >> 10),
		 nt_strdup(mend));
	free(name);
	free(comm);
}

/* 1: it has a descriptor of vfio's, 0: none, -1: cannot tell. */
static int nt_uses_vfio(const char *pid)
{
	char **fds = nt_sys_list("/proc/%s/fd", pid), *target;
	int ret = 0;
	size_t i;

	if (!fds)
		return errno == EACCES || errno == EPERM ? -1 : 0;
	for (i = 0; fds[i] && !ret; i++) {
		target = nt_sys_link("/proc/%s/fd/%s", pid, fds[i]);
		ret = target && !strncmp(target, "/dev/vfio/", strlen("/dev/vfio/"));
		free(target);
	}
	nt_strv_free(fds);
	return ret;
}

static void nt_look_vfio(struct nt_doctor *d)
{
	char **pids, *text;
	bool unknown = false;
	size_t i;
	int ret;

	/* There are no users without groups. */
	if (!nt_sys_exists("/dev/vfio"))
		return;
	pids = nt_sys_list("/proc");
	for (i = 0; pids && pids[i]; i++) {
		if (pids[i][strspn(pids[i], "0123456789")])
			continue;
		ret = nt_uses_vfio(pids[i]);
		unknown |= ret < 0;
		if (ret <= 0)
			continue;
		text = nt_sys_read("/proc/%s/smaps_rollup", pids[i]);
		if (text)
			nt_see_memory(d, pids[i], text);
		else
			unknown |= errno == EACCES || errno == EPERM;
		free(text);
	}
	nt_strv_free(pids);
	if (unknown)
		nt_not_looked(d, "the files of other users' processes: not allowed: run it as root");
}

const struct nt_rule nt_rules_system[] = {
	{
		"interrupt-bound-cpu", NT_CRITICAL, "CPUs with more than half of their time in interrupts",
		"Tasks on that CPU wait, and watchdogs complain. Interrupts of NVMe queues are managed: irqbalance and smp_affinity cannot move them.",
		nt_look_interrupts,
	}, {
		"wq-narrow", NT_WARNING, "workqueues that have one CPU",
		"Where that CPU is busy with something of higher priority, deferred requests wait without a time-out.",
		nt_look_narrow,
	}, {
		"wq-nice", NT_HINT, "workqueues with workers that are nicer than others",
		"Every other task comes before the workers, so requests take longer under load.",
		nt_look_nice,
	}, {
		"swiotlb-high-water", NT_WARNING, "bounce buffers: how full the pool was",
		"When the pool is full, requests wait for buffers; there is no error, only slowness.",
		nt_look_high_water,
	}, {
		"max-sectors", NT_HINT, "sizes of requests that bounce",
		"A bounce buffer has 256 KiB at most: larger requests fail or are cut by drivers that know.",
		nt_look_sectors,
	}, {
		"rq-affinity", NT_HINT, "where requests that bounce complete",
		"Requests go to their CPU by interrupts and softirqs of that; what is deferred does not get there.",
		nt_look_affinity,
	}, {
		"interrupt-coalescing", NT_HINT, "drives that gather completions",
		"It saves interrupts under load, and makes a single write or fsync wait.",
		nt_look_coalescing,
	}, {
		"vfio-small-pages", NT_WARNING, "memory of processes that use vfio",
		"Each page is pinned and released by itself: with small ones, giving back hundreds of gigabytes holds a CPU for seconds.",
		nt_look_vfio,
	},
	{ }
};
