// SPDX-License-Identifier: GPL-2.0
/*
 * Maps memory for devices on vfio-pci, unmaps it, and says how long that took and how
 * long another task on the same CPU had to wait meanwhile:
 *
 *   vfiomap OPTION... PCI-ADDRESS...
 *
 *   --api type1|iommufd     by the container of a group, or by iommufd (type1)
 *   --memory 4k|thp|huge    what it consists of (4k)
 *   --shuffled              pages of 4k in random physical order
 *   --mixed                 a page of 4k in each other huge page is another one
 *   --size MIB              of all regions (256)
 *   --regions N             of the same size, with a gap between them (1)
 *   --gap PAGES             that gap (512)
 *   --iova ADDRESS          of the first (4 GiB)
 *   --times N               map and unmap so often (1)
 *   --wait                  measure how long another task waits; the CPU is that of now
 *   --dirty                 another thread reads the dirty bitmap all the time
 *   --migrate               afterwards, all pages have to be movable to another node, as
 *                           those are of which nobody has a reference too many or too few
 *   --hold                  map, say so, and wait to be killed
 *   --refused               instead, try what has to be refused
 *   --bits                  instead, compare the dirty bitmap with what is mapped
 *   --late ADDRESS          instead, attach this device after memory was mapped for the
 *                           others, which have no IOMMU; then detach it again
 *   --hole MIB              with --late, map so much more that cannot be pinned
 *   --watch                 instead, until SIGTERM, measure how long this task waits
 *
 * Several devices: by iommufd, each with a domain of its own. An address is that of a PCI
 * device or the UUID of a mediated one.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <linux/types.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "vfiomap.h"

#define MAX_DEVICES	4
#define PAGE		4096UL
#define HUGE_PAGE	(2UL << 20)
#define UUID_LENGTH	36

static struct {
	bool iommufd, shuffled, mixed, wait, dirty, migrate, hold, refused, bits, watch;
	const char *memory, *late;
	uint64_t size, regions, gap, iova, times, hole;
	const char *device[MAX_DEVICES];
	int nr_devices;
} opt = {
	.memory = "4k", .size = 256, .regions = 1, .gap = 512, .iova = 1ULL << 32, .times = 1,
};

static int container = -1, iommufd = -1, device_fd[MAX_DEVICES];
static uint32_t ioas;
static volatile bool stop, unmapping;

static void die(const char *format, ...)
{
	int error = errno;
	va_list args;

	va_start(args, format);
	fprintf(stderr, "vfiomap: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, ": %s\n", strerror(error));
	va_end(args);
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* Devices */

static bool is_mediated(const char *address)
{
	return strlen(address) == UUID_LENGTH;
}

static int open_group(const char *address)
{
	char path[128], target[256];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/%s/devices/%s/iommu_group",
		 is_mediated(address) ? "mdev" : "pci", address);
	len = readlink(path, target, sizeof(target) - 1);
	if (len < 0)
		die("%s", path);
	target[len] = '\0';
	snprintf(path, sizeof(path), "/dev/vfio/%s", strrchr(target, '/') + 1);
	fd = open(path, O_RDWR);
	if (fd < 0)
		die("%s", path);
	return fd;
}

static void open_container(void)
{
	int i, group;

	container = open("/dev/vfio/vfio", O_RDWR);
	if (container < 0)
		die("/dev/vfio/vfio");
	for (i = 0; i < opt.nr_devices; i++) {
		group = open_group(opt.device[i]);
		if (ioctl(group, VFIO_GROUP_SET_CONTAINER, &container))
			die("VFIO_GROUP_SET_CONTAINER");
		if (!i && ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU))
			die("VFIO_SET_IOMMU");
		/* A mediated device need not be open. */
		if (is_mediated(opt.device[i]))
			continue;
		device_fd[i] = ioctl(group, VFIO_GROUP_GET_DEVICE_FD, opt.device[i]);
		if (device_fd[i] < 0)
			die("VFIO_GROUP_GET_DEVICE_FD");
	}
}

static int open_cdev(const char *address)
{
	char path[128], command[160], name[64] = "";
	FILE *f;
	int fd;

	snprintf(command, sizeof(command), "ls /sys/bus/pci/devices/%s/vfio-dev", address);
	f = popen(command, "r");
	if (!f || !fgets(name, sizeof(name), f))
		die("%s has no vfio-dev", address);
	pclose(f);
	name[strcspn(name, "\n")] = '\0';
	snprintf(path, sizeof(path), "/dev/vfio/devices/%s", name);
	fd = open(path, O_RDWR);
	if (fd < 0)
		die("%s", path);
	return fd;
}

/* With more than one device, each gets a domain of its own of the same addresses. */
static void open_iommufd(void)
{
	struct iommu_ioas_alloc alloc = { .size = sizeof(alloc) };
	int i;

	iommufd = open("/dev/iommu", O_RDWR);
	if (iommufd < 0)
		die("/dev/iommu");
	if (ioctl(iommufd, IOMMU_IOAS_ALLOC, &alloc))
		die("IOMMU_IOAS_ALLOC");
	ioas = alloc.out_ioas_id;
	for (i = 0; i < opt.nr_devices; i++) {
		struct vfio_device_bind_iommufd bind = { .argsz = sizeof(bind), .iommufd = iommufd };
		struct vfio_device_attach_iommufd_pt attach = { .argsz = sizeof(attach) };
		struct iommu_hwpt_alloc hwpt = { .size = sizeof(hwpt), .pt_id = ioas };

		device_fd[i] = open_cdev(opt.device[i]);
		if (ioctl(device_fd[i], VFIO_DEVICE_BIND_IOMMUFD, &bind))
			die("VFIO_DEVICE_BIND_IOMMUFD");
		hwpt.dev_id = bind.out_devid;
		if (ioctl(iommufd, IOMMU_HWPT_ALLOC, &hwpt))
			die("IOMMU_HWPT_ALLOC");
		attach.pt_id = hwpt.out_hwpt_id;
		if (ioctl(device_fd[i], VFIO_DEVICE_ATTACH_IOMMUFD_PT, &attach))
			die("VFIO_DEVICE_ATTACH_IOMMUFD_PT");
	}
}

/* Memory */

static void touch_shuffled(char *memory, uint64_t size)
{
	uint64_t pages = size / PAGE, i, j, *order = malloc(pages * sizeof(*order));

	if (!order)
		die("malloc");
	for (i = 0; i < pages; i++)
		order[i] = i;
	for (i = pages - 1; i; i--) {
		uint64_t t = order[i];

		j = ((uint64_t)random() << 20 ^ random()) % (i + 1);
		order[i] = order[j];
		order[j] = t;
	}
	for (i = 0; i < pages; i++)
		memory[order[i] * PAGE] = 1;
	free(order);
}

/* Two pages change places in each other huge page: it is not contiguous any more. */
static void mix(char *memory, uint64_t size)
{
	uint64_t at;
	char *spare;

	for (at = 0; at + HUGE_PAGE <= size; at += 2 * HUGE_PAGE) {
		spare = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (spare == MAP_FAILED)
			die("mmap");
		*spare = 2;
		if (mremap(spare, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
			   memory + at + (17 + at / HUGE_PAGE % 480) * PAGE) == MAP_FAILED)
			die("mremap");
	}
}

static char *allocate(uint64_t size)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS, huge = !strcmp(opt.memory, "huge");
	uint64_t at;
	char *memory;

	memory = mmap(NULL, size + (huge ? 0 : HUGE_PAGE), PROT_READ | PROT_WRITE,
		      flags | (huge ? MAP_HUGETLB : 0), -1, 0);
	if (memory == MAP_FAILED)
		die("mmap");
	if (!huge) {
		memory = (char *)(((uintptr_t)memory + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
		if (madvise(memory, size, strcmp(opt.memory, "thp") ? MADV_NOHUGEPAGE : MADV_HUGEPAGE))
			die("madvise");
	}
	if (opt.shuffled)
		touch_shuffled(memory, size);
	else
		for (at = 0; at < size; at += PAGE)
			memory[at] = 1;
	if (opt.mixed)
		mix(memory, size);
	return memory;
}

/* Mapping */

static int map(char *memory, uint64_t iova, uint64_t size)
{
	if (container >= 0) {
		struct vfio_iommu_type1_dma_map m = {
			.argsz = sizeof(m), .iova = iova, .size = size, .vaddr = (uintptr_t)memory,
			.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
		};

		return ioctl(container, VFIO_IOMMU_MAP_DMA, &m);
	} else {
		struct iommu_ioas_map m = {
			.size = sizeof(m), .ioas_id = ioas, .iova = iova, .length = size,
			.user_va = (uintptr_t)memory,
			.flags = IOMMU_IOAS_MAP_FIXED_IOVA | IOMMU_IOAS_MAP_READABLE |
				 IOMMU_IOAS_MAP_WRITEABLE,
		};

		return ioctl(iommufd, IOMMU_IOAS_MAP, &m);
	}
}

/* Returns what was unmapped, or -1. */
static int64_t unmap(uint64_t iova, uint64_t size)
{
	if (container >= 0) {
		struct vfio_iommu_type1_dma_unmap u = {
			.argsz = sizeof(u), .iova = iova, .size = size,
		};

		return ioctl(container, VFIO_IOMMU_UNMAP_DMA, &u) ? -1 : (int64_t)u.size;
	} else {
		struct iommu_ioas_unmap u = {
			.size = sizeof(u), .ioas_id = ioas, .iova = iova, .length = size,
		};

		return ioctl(iommufd, IOMMU_IOAS_UNMAP, &u) ? -1 : (int64_t)u.length;
	}
}

static uint64_t region_size(void)
{
	return (opt.size << 20) / opt.regions / HUGE_PAGE * HUGE_PAGE;
}

static uint64_t region_iova(uint64_t i)
{
	return opt.iova + i * (region_size() + opt.gap * PAGE);
}

/* From the first to the last, with what lies between them. */
static uint64_t all_regions(void)
{
	return region_iova(opt.regions - 1) + region_size() - opt.iova;
}

static void map_all(char *memory)
{
	uint64_t i;

	for (i = 0; i < opt.regions; i++)
		if (map(memory + i * region_size(), region_iova(i), region_size()))
			die("map of region %llu", (unsigned long long)i);
}

/* All regions by one call, with the gaps between them. */
static void unmap_all(void)
{
	uint64_t want = opt.regions * region_size();
	int64_t got = unmap(opt.iova, all_regions());

	if (got < 0)
		die("unmap");
	if ((uint64_t)got != want) {
		fprintf(stderr, "vfiomap: unmapped %lld instead of %llu\n", (long long)got,
			(unsigned long long)want);
		exit(1);
	}
}

/* What is measured beside */

/* A task that would run now and then: how late it is, at the worst. */
static void *waiter(void *arg)
{
	uint64_t *longest = arg, before, late;
	struct timespec ms = { .tv_nsec = 1000000 };

	prctl(PR_SET_TIMERSLACK, 1);
	while (!stop) {
		before = now();
		clock_nanosleep(CLOCK_MONOTONIC, 0, &ms, NULL);
		late = now() - before;
		/* Less than asked for: a signal. */
		if (unmapping && late > *longest + ms.tv_nsec)
			*longest = late - ms.tv_nsec;
	}
	return NULL;
}

static uint64_t bitmap_bytes(void)
{
	return (all_regions() / PAGE + 63) / 64 * 8;
}

static uint64_t *new_bitmap(void)
{
	uint64_t *bitmap = calloc(1, bitmap_bytes());

	if (!bitmap)
		die("calloc");
	return bitmap;
}

static void get_dirty(uint64_t *bitmap)
{
	struct {
		struct vfio_iommu_type1_dirty_bitmap bitmap;
		struct vfio_iommu_type1_dirty_bitmap_get get;
	} d = {
		.bitmap = { .argsz = sizeof(d), .flags = VFIO_IOMMU_DIRTY_PAGES_FLAG_GET_BITMAP },
		.get = { .iova = opt.iova, .size = all_regions(),
			 .bitmap = { .pgsize = PAGE, .size = bitmap_bytes(),
				     .data = (void *)bitmap } },
	};

	if (ioctl(container, VFIO_IOMMU_DIRTY_PAGES, &d))
		die("VFIO_IOMMU_DIRTY_PAGES");
}

static void *read_dirty(void *arg)
{
	uint64_t *count = arg, *bitmap = new_bitmap();

	while (!stop) {
		get_dirty(bitmap);
		++*count;
	}
	return NULL;
}

static void start_dirty(void)
{
	struct vfio_iommu_type1_dirty_bitmap d = {
		.argsz = sizeof(d), .flags = VFIO_IOMMU_DIRTY_PAGES_FLAG_START,
	};

	if (ioctl(container, VFIO_IOMMU_DIRTY_PAGES, &d))
		die("VFIO_IOMMU_DIRTY_PAGES");
}

/*
 * Pages that cannot be moved to the other node. One that is pinned cannot, nor one that
 * was unpinned once too often or too rarely.
 */
static uint64_t count_stuck(char *memory)
{
	uint64_t pages = opt.regions * region_size() / PAGE, i, stuck = 0;
	int *is = malloc(pages * sizeof(int)), *to = malloc(pages * sizeof(int));
	void **at = malloc(pages * sizeof(*at));

	if (!is || !to || !at)
		die("malloc");
	for (i = 0; i < pages; i++)
		at[i] = memory + i * PAGE;
	if (syscall(SYS_move_pages, 0, pages, at, NULL, is, 0))
		die("move_pages");
	for (i = 0; i < pages; i++) {
		if (is[i] < 0) {
			fprintf(stderr, "vfiomap: page %llu: %s\n", (unsigned long long)i,
				strerror(-is[i]));
			exit(1);
		}
		to[i] = !is[i];
	}
	if (syscall(SYS_move_pages, 0, pages, at, to, is, MPOL_MF_MOVE) < 0)
		die("move_pages");
	/* The call tells of some of those that it could not move: look where they are. */
	if (syscall(SYS_move_pages, 0, pages, at, NULL, is, 0))
		die("move_pages");
	for (i = 0; i < pages; i++)
		stuck += is[i] != to[i];
	free(is);
	free(to);
	free(at);
	return stuck;
}

static void pin_to_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("sched_setaffinity");
}

static void print_accounts(void)
{
	char line[128];
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "VmLck:", 6) || !strncmp(line, "VmPin:", 6))
			printf("%s_kb %s\n", line[2] == 'L' ? "locked" : "pinned",
			       strtok(line + 6, " \tk"));
	if (f)
		fclose(f);
}

static void measure(char *memory)
{
	uint64_t i, start, map_ns = 0, unmap_ns = 0, longest = 0, dirty = 0, stuck = 0;
	pthread_t wait_thread, dirty_thread;

	if (opt.wait)
		pin_to_cpu();
	if (opt.wait && pthread_create(&wait_thread, NULL, waiter, &longest))
		die("pthread_create");
	if (opt.dirty) {
		start_dirty();
		if (pthread_create(&dirty_thread, NULL, read_dirty, &dirty))
			die("pthread_create");
	}
	for (i = 0; i < opt.times; i++) {
		start = now();
		map_all(memory);
		map_ns += now() - start;
		/* All of it, or this could not find anything. */
		if (opt.migrate)
			stuck = count_stuck(memory);
		start = now();
		unmapping = true;
		unmap_all();
		unmapping = false;
		unmap_ns += now() - start;
		if (opt.migrate)
			printf("stuck_while_mapped %llu\nstuck %llu\n", (unsigned long long)stuck,
			       (unsigned long long)count_stuck(memory));
	}
	stop = true;
	if (opt.wait)
		pthread_join(wait_thread, NULL);
	if (opt.dirty)
		pthread_join(dirty_thread, NULL);
	printf("map_ns %llu\nunmap_ns %llu\n", (unsigned long long)map_ns / opt.times,
	       (unsigned long long)unmap_ns / opt.times);
	if (opt.wait)
		printf("wait_ns %llu\n", (unsigned long long)longest);
	if (opt.dirty)
		printf("dirty_reads %llu\n", (unsigned long long)dirty);
	print_accounts();
}

/* What has to be refused, and must change nothing */

static void refuse(const char *what, bool refused)
{
	printf("%s %s\n", what, refused ? "refused" : "accepted");
}

static void try_refused(char *memory)
{
	uint64_t size = region_size(), half = size / 2;

	map_all(memory);
	refuse("overlap", map(memory, opt.iova + half, size) && errno == EEXIST);
	refuse("inside", map(memory, opt.iova + PAGE, PAGE) && errno == EEXIST);
	/* A part of a region: no region is cut in two. */
	refuse("bisect_end", unmap(opt.iova, half) <= 0);
	refuse("bisect_start", unmap(opt.iova + half, half) <= 0);
	refuse("bisect_middle", unmap(opt.iova + PAGE, PAGE) <= 0);
	unmap_all();
	print_accounts();
}

/* The dirty bitmap: all that is pinned is dirty, and what lies between is not. */

static void check_bits(char *memory)
{
	uint64_t *bitmap = new_bitmap(), page, missing = 0, extra = 0, times;

	start_dirty();
	map_all(memory);
	for (times = 0; times < 2; times++) {
		memset(bitmap, 0, bitmap_bytes());
		get_dirty(bitmap);
		for (page = 0; page < all_regions() / PAGE; page++) {
			bool is = bitmap[page / 64] >> page % 64 & 1;
			bool has_to = page % (region_size() / PAGE + opt.gap) < region_size() / PAGE;

			missing += has_to && !is;
			extra += is && !has_to;
		}
	}
	unmap_all();
	printf("bits_missing %llu\nbits_extra %llu\n", (unsigned long long)missing,
	       (unsigned long long)extra);
	print_accounts();
}

/* A device that comes when memory was mapped already, for one that has no IOMMU */

static void attach_late(char *memory)
{
	uint64_t end = opt.iova + all_regions() + HUGE_PAGE;
	char *hole = NULL;
	int group = open_group(opt.late);
	bool attached;

	map_all(memory);
	if (opt.hole) {
		hole = mmap(NULL, opt.hole << 20, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (hole == MAP_FAILED)
			die("mmap");
		if (map(hole, end, opt.hole << 20))
			die("map of what cannot be pinned");
	}
	attached = !ioctl(group, VFIO_GROUP_SET_CONTAINER, &container);
	printf("attached %d\n", attached);
	if (opt.migrate)
		printf("stuck_while_mapped %llu\n", (unsigned long long)count_stuck(memory));
	if (attached && ioctl(group, VFIO_GROUP_UNSET_CONTAINER))
		die("VFIO_GROUP_UNSET_CONTAINER");
	if (opt.migrate)
		printf("stuck %llu\n", (unsigned long long)count_stuck(memory));
	print_accounts();
	unmap_all();
}

/* How late this task is, at the worst: the CPU was another task's */

static void on_term(int sig)
{
	(void)sig;
	stop = true;
}

static void watch(void)
{
	struct sigaction action = { .sa_handler = on_term };
	uint64_t longest = 0;

	sigaction(SIGTERM, &action, NULL);
	pin_to_cpu();
	printf("watching\n");
	fflush(stdout);
	unmapping = true;
	waiter(&longest);
	printf("wait_ns %llu\n", (unsigned long long)longest);
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 0);

	if (!*text || *end) {
		fprintf(stderr, "vfiomap: %s: no number\n", text);
		exit(2);
	}
	return n;
}

static bool flag(const char *arg)
{
	static const struct {
		const char *name;
		bool *value;
	} flags[] = {
		{ "--shuffled", &opt.shuffled }, { "--mixed", &opt.mixed }, { "--wait", &opt.wait },
		{ "--dirty", &opt.dirty }, { "--hold", &opt.hold }, { "--refused", &opt.refused },
		{ "--migrate", &opt.migrate }, { "--bits", &opt.bits }, { "--watch", &opt.watch },
	};
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		if (strcmp(arg, flags[i].name))
			continue;
		*flags[i].value = true;
		return true;
	}
	return false;
}

static bool option(const char *arg, const char *value)
{
	if (!value)
		return false;
	if (!strcmp(arg, "--api"))
		opt.iommufd = !strcmp(value, "iommufd");
	else if (!strcmp(arg, "--memory"))
		opt.memory = value;
	else if (!strcmp(arg, "--size"))
		opt.size = number(value);
	else if (!strcmp(arg, "--regions"))
		opt.regions = number(value);
	else if (!strcmp(arg, "--iova"))
		opt.iova = number(value);
	else if (!strcmp(arg, "--times"))
		opt.times = number(value);
	else if (!strcmp(arg, "--gap"))
		opt.gap = number(value);
	else if (!strcmp(arg, "--late"))
		opt.late = value;
	else if (!strcmp(arg, "--hole"))
		opt.hole = number(value);
	else
		return false;
	return true;
}

static void parse(char **arg)
{
	for (; *arg; arg++) {
		if (flag(*arg))
			continue;
		if (**arg != '-' && opt.nr_devices < MAX_DEVICES) {
			opt.device[opt.nr_devices++] = *arg;
			continue;
		}
		if (!option(*arg, arg[1])) {
			fprintf(stderr, "vfiomap: %s: see the head of vfiomap.c\n", *arg);
			exit(2);
		}
		arg++;
	}
	if (!opt.nr_devices && !opt.watch) {
		fprintf(stderr, "vfiomap: no device\n");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	char *memory;

	(void)argc;
	parse(argv + 1);
	if (opt.watch) {
		watch();
		return 0;
	}
	if (opt.iommufd)
		open_iommufd();
	else
		open_container();
	memory = allocate(opt.regions * region_size());
	if (opt.refused) {
		try_refused(memory);
	} else if (opt.bits) {
		check_bits(memory);
	} else if (opt.late) {
		attach_late(memory);
	} else if (opt.hold) {
		map_all(memory);
		printf("mapped\n");
		fflush(stdout);
		pause();
	} else {
		measure(memory);
	}
	return 0;
}
