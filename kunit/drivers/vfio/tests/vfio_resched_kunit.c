// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pieces, runs and points, on made-up page tables of three page sizes.
 *
 * Like the strictest drivers, these refuse to unmap a part of a page. What is unmapped
 * is compared, page by page, with what was mapped: type1 unpins the pages that follow
 * the first physically, so each of these must be the one that was mapped there.
 */
#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/delay.h>
#include <linux/iommu.h>
#include <linux/kthread.h>
#include <linux/prandom.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "resched.h"

#define PAGES		4096UL
#define SMALL		PAGE_SIZE
#define MIDDLE		(16 * PAGE_SIZE)
#define LARGE		(256 * PAGE_SIZE)
#define THREE_SIZES	(SMALL | MIDDLE | LARGE)
/* As AMD's: any power of two. */
#define ALL_SIZES	(~(SMALL - 1))

/* A page of memory, as the made-up IOMMU has it. */
struct fake_page {
	phys_addr_t phys;
	size_t leaf;		/* size of the IOMMU's page that it is in, 0: not mapped */
};

struct fake {
	struct iommu_domain domain;
	struct kunit *test;
	dma_addr_t start;
	struct fake_page page[PAGES];
	phys_addr_t pinned[PAGES];
	unsigned long mapped;	/* pages */
	size_t longest;		/* of one unmap_pages() */
	unsigned long lookups;
};

static struct fake *fake_of(struct iommu_domain *domain)
{
	return container_of(domain, struct fake, domain);
}

static struct fake_page *fake_page(struct iommu_domain *domain, unsigned long iova)
{
	struct fake *f = fake_of(domain);
	unsigned long index = (iova - f->start) / PAGE_SIZE;

	return iova >= f->start && index < PAGES ? &f->page[index] : NULL;
}

static phys_addr_t fake_iova_to_phys(struct iommu_domain *domain, dma_addr_t iova)
{
	struct fake_page *p = fake_page(domain, iova);

	fake_of(domain)->lookups++;
	return p && p->leaf ? p->phys : 0;
}

static int fake_map_pages(struct iommu_domain *domain, unsigned long iova,
			  phys_addr_t phys, size_t pgsize, size_t count, int prot,
			  gfp_t gfp, size_t *mapped)
{
	struct fake *f = fake_of(domain);
	size_t pos;

	KUNIT_EXPECT_FALSE(f->test, (iova | phys) & (pgsize - 1));
	for (pos = 0; pos < pgsize * count; pos += PAGE_SIZE) {
		*fake_page(domain, iova + pos) = (struct fake_page){
			.phys = phys + pos,
			.leaf = pgsize,
		};
		f->mapped++;
	}
	*mapped += pos;
	return 0;
}

/* Refuses what does not start or end with a page. */
static size_t fake_unmap_pages(struct iommu_domain *domain, unsigned long iova,
			       size_t pgsize, size_t count,
			       struct iommu_iotlb_gather *gather)
{
	struct fake *f = fake_of(domain);
	size_t pos, size = pgsize * count;
	struct fake_page *p;

	f->longest = max(f->longest, size);
	for (pos = 0; pos < size; pos += PAGE_SIZE) {
		p = fake_page(domain, iova + pos);
		if (!p || !p->leaf) {
			size = pos;
			break;
		}
		if (!pos && (iova & (p->leaf - 1))) {
			KUNIT_FAIL(f->test, "unmap starts inside of a page of %zu", p->leaf);
			return 0;
		}
		if (((iova + pos) & ~(p->leaf - 1)) + p->leaf > iova + size) {
			KUNIT_FAIL(f->test, "unmap ends inside of a page of %zu", p->leaf);
			return pos;
		}
	}
	for (pos = 0; pos < size; pos += PAGE_SIZE) {
		fake_page(domain, iova + pos)->leaf = 0;
		f->mapped--;
	}
	return size;
}

static const struct iommu_domain_ops fake_ops = {
	.map_pages	= fake_map_pages,
	.unmap_pages	= fake_unmap_pages,
	.iova_to_phys	= fake_iova_to_phys,
};

static struct fake *fake_new(struct kunit *test, unsigned long pgsizes)
{
	struct fake *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->test = test;
	f->domain.type = IOMMU_DOMAIN_UNMANAGED;
	f->domain.ops = &fake_ops;
	f->domain.pgsize_bitmap = pgsizes;
	f->start = SZ_1G;
	return f;
}

/* The settings, put back afterwards */

struct saved {
	u64 resched_bytes;
	bool skip;
};

static struct vfio_resched_set *set = &vfio_resched_sets[VFIO_RESCHED_TYPE1];

static int resched_suite_init(struct kunit *test)
{
	struct saved *saved = kunit_kzalloc(test, sizeof(*saved), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, saved);
	saved->resched_bytes = set->resched_bytes;
	saved->skip = set->skip;
	test->priv = saved;
	return 0;
}

static void resched_suite_exit(struct kunit *test)
{
	struct saved *saved = test->priv;

	WRITE_ONCE(set->resched_bytes, saved->resched_bytes);
	WRITE_ONCE(set->skip, saved->skip);
}

static void begin(struct vfio_resched *r, u64 interval)
{
	WRITE_ONCE(set->resched_bytes, interval);
	vfio_resched_init(r, VFIO_RESCHED_TYPE1);
	vfio_resched_begin(r);
}

/* What is mapped */

/*
 * Pins and maps random runs, as type1 does: alignments, and lengths from one page to
 * several large ones, contiguous memory in separate runs, runs that look contiguous at
 * their ends only.
 */
static void pin_runs(struct fake *f, struct rnd_state *rnd, struct vfio_resched_runs *runs,
		     struct vfio_resched *r)
{
	static const unsigned int unit[] = { 1, 1, 7, 16, 16, 256, 256, 300 };
	unsigned long at = 0, n, i, kind = prandom_u32_state(rnd) % 4;
	phys_addr_t phys = SZ_4G;

	while (at < PAGES) {
		n = unit[prandom_u32_state(rnd) % (kind == 3 ? 8 : 2 + 2 * kind)];
		n = min(PAGES - at, n * (1 + prandom_u32_state(rnd) % 6));
		vfio_resched_run(runs, at * PAGE_SIZE);
		switch (prandom_u32_state(rnd) % 4) {
		case 0:		/* goes on */
			break;
		case 1:		/* suits large pages */
			phys = ALIGN(phys, LARGE) + ((f->start + at * PAGE_SIZE) & (LARGE - 1));
			break;
		case 2:		/* as if contiguous with others, but for what lies between */
			phys = 2 * SZ_4G + at * PAGE_SIZE;
			break;
		case 3:
			phys += LARGE + (prandom_u32_state(rnd) % 512) * PAGE_SIZE;
			break;
		}
		KUNIT_ASSERT_EQ(f->test, 0,
				vfio_resched_map_gfp(r, &f->domain, f->start + at * PAGE_SIZE,
						     phys, n * PAGE_SIZE, IOMMU_READ,
						     GFP_KERNEL));
		for (i = 0; i < n; i++)
			f->pinned[at + i] = phys + i * PAGE_SIZE;
		phys += n * PAGE_SIZE;
		at += n;
	}
	KUNIT_ASSERT_EQ(f->test, f->mapped, PAGES);
}

/* As vfio_unmap_unpin() does: all that it would unpin is what was pinned there. */
static void unmap_unpin(struct fake *f, struct vfio_resched_runs *runs,
			struct vfio_resched *r)
{
	unsigned long index, i, wrong = 0;
	dma_addr_t iova = f->start, end = f->start + PAGES * PAGE_SIZE;
	phys_addr_t phys;
	size_t len, got;

	vfio_resched_start_unmap(r, runs, f->start, PAGES * PAGE_SIZE);
	while (iova < end) {
		phys = vfio_resched_phys(r, &f->domain, iova);
		KUNIT_ASSERT_TRUE(f->test, phys);
		for (len = PAGE_SIZE; iova + len < end; len += PAGE_SIZE)
			if (vfio_resched_scan(r, &f->domain, iova, phys, &len) != phys + len)
				break;
		index = (iova - f->start) / PAGE_SIZE;
		for (i = 0; i < len / PAGE_SIZE; i++)
			wrong += f->pinned[index + i] != phys + i * PAGE_SIZE;
		got = iommu_unmap(&f->domain, iova, len);
		KUNIT_ASSERT_EQ(f->test, got, len);
		iova += got;
	}
	KUNIT_EXPECT_EQ(f->test, wrong, 0UL);
	KUNIT_EXPECT_EQ(f->test, f->mapped, 0UL);
}

static const u64 intervals[] = {
	0, PAGE_SIZE / 2, PAGE_SIZE, SZ_64K, SZ_64K + 100, SZ_64K + PAGE_SIZE, SZ_256K, SZ_1M,
	SZ_1M + SZ_64K, SZ_4M, SZ_1G,
};

/* Each layout with each interval, with and without skipping. */
static void layouts(struct kunit *test, unsigned long pgsizes)
{
	struct fake *f = fake_new(test, pgsizes);
	struct vfio_resched_runs runs = { };
	struct vfio_resched r;
	struct rnd_state rnd;
	unsigned int seed, i;

	for (seed = 0; seed < 60; seed++) {
		prandom_seed_state(&rnd, seed);
		f->start = SZ_1G + (prandom_u32_state(&rnd) % 600) * PAGE_SIZE;
		i = seed % ARRAY_SIZE(intervals);
		begin(&r, intervals[i]);
		WRITE_ONCE(set->skip, seed / ARRAY_SIZE(intervals) % 2);
		pin_runs(f, &rnd, &runs, &r);
		f->longest = 0;
		unmap_unpin(f, &runs, &r);
		/* No more at once than the interval, or one page. */
		if (intervals[i] && pgsizes != ALL_SIZES)
			KUNIT_EXPECT_LE(test, f->longest,
					max_t(size_t, round_up(intervals[i], PAGE_SIZE),
					      pgsizes == SMALL ? SMALL : LARGE));
		vfio_resched_end(&r);
	}
}

static void scan_three_sizes(struct kunit *test)
{
	layouts(test, THREE_SIZES);
}

static void scan_any_size(struct kunit *test)
{
	layouts(test, ALL_SIZES);
}

static void scan_one_size(struct kunit *test)
{
	layouts(test, SMALL);
}

/* Sizes below that of the CPU's pages are not used: what is unpinned are whole pages. */
static void scan_smaller_pages(struct kunit *test)
{
	layouts(test, THREE_SIZES | PAGE_SIZE / 16);
}

/* A further domain: nothing is known of contiguity. */
static void unmap_in_pieces(struct kunit *test)
{
	struct vfio_resched_runs runs = { };
	struct fake *f = fake_new(test, THREE_SIZES);
	struct vfio_resched r;
	struct rnd_state rnd;
	unsigned int seed, i;

	for (seed = 0; seed < 60; seed++) {
		prandom_seed_state(&rnd, 1000 + seed);
		f->start = SZ_1G + (prandom_u32_state(&rnd) % 600) * PAGE_SIZE;
		i = seed % ARRAY_SIZE(intervals);
		begin(&r, intervals[i]);
		pin_runs(f, &rnd, &runs, &r);
		f->longest = 0;
		KUNIT_EXPECT_EQ(test, PAGES * PAGE_SIZE,
				vfio_resched_unmap(&r, &f->domain, f->start, PAGES * PAGE_SIZE));
		KUNIT_EXPECT_EQ(test, f->mapped, 0UL);
		if (intervals[i])
			KUNIT_EXPECT_LE(test, f->longest, max_t(size_t, intervals[i], LARGE));
		vfio_resched_end(&r);
	}
}

/* Pages of the IOMMU are those that one call would have made. */
static void map_makes_the_same_pages(struct kunit *test)
{
	struct fake *whole = fake_new(test, THREE_SIZES), *pieces = fake_new(test, THREE_SIZES);
	unsigned long i, differ = 0, at;
	struct vfio_resched r;

	for (at = 0; at < 20; at++) {
		phys_addr_t phys = SZ_4G + (at % 3 ? at : 0) * PAGE_SIZE;

		whole->start = SZ_1G + at / 3 * 37 * PAGE_SIZE;
		pieces->start = whole->start;
		begin(&r, 0);
		vfio_resched_map_gfp(&r, &whole->domain, whole->start, phys,
				     PAGES * PAGE_SIZE, IOMMU_READ, GFP_KERNEL);
		vfio_resched_end(&r);
		begin(&r, SZ_256K + at * PAGE_SIZE);
		vfio_resched_map_gfp(&r, &pieces->domain, pieces->start, phys,
				     PAGES * PAGE_SIZE, IOMMU_READ, GFP_KERNEL);
		vfio_resched_end(&r);
		for (i = 0; i < PAGES; i++)
			differ += whole->page[i].leaf != pieces->page[i].leaf ||
				  whole->page[i].phys != pieces->page[i].phys;
		memset(whole->page, 0, sizeof(whole->page));
		memset(pieces->page, 0, sizeof(pieces->page));
	}
	KUNIT_EXPECT_EQ(test, differ, 0UL);
}

/* Gaps: as much is unmapped as iommu_unmap() unmaps at once. */
static void unmap_with_gap(struct kunit *test)
{
	struct fake *f = fake_new(test, SMALL);
	struct vfio_resched_runs runs = { };
	struct vfio_resched r;
	struct rnd_state rnd;
	size_t got[2];
	int round;

	for (round = 0; round < 2; round++) {
		prandom_seed_state(&rnd, 5);
		memset(f->page, 0, sizeof(f->page));
		f->mapped = 0;
		begin(&r, round ? SZ_64K : 0);
		pin_runs(f, &rnd, &runs, &r);
		f->page[PAGES / 2 + 3].leaf = 0;
		got[round] = vfio_resched_unmap(&r, &f->domain, f->start, PAGES * PAGE_SIZE);
		KUNIT_EXPECT_EQ(test, f->mapped, PAGES - got[round] / PAGE_SIZE);
		vfio_resched_end(&r);
	}
	KUNIT_EXPECT_EQ(test, got[0], (PAGES / 2 + 3) * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, got[0], got[1]);
}

/* Skipping asks for the second page of a run and the start of the next, not for each page. */
static void skip_looks_up_less(struct kunit *test)
{
	struct fake *f = fake_new(test, THREE_SIZES);
	struct vfio_resched_runs runs = { };
	unsigned long at, with, without;
	struct vfio_resched r;
	int round;

	for (round = 0; round < 2; round++) {
		begin(&r, 0);
		WRITE_ONCE(set->skip, round);
		for (at = 0; at < PAGES; at += 256) {
			vfio_resched_run(&runs, at * PAGE_SIZE);
			vfio_resched_map_gfp(&r, &f->domain, f->start + at * PAGE_SIZE,
					     SZ_4G + at * 2 * PAGE_SIZE, LARGE, IOMMU_READ,
					     GFP_KERNEL);
		}
		for (at = 0; at < PAGES; at++)
			f->pinned[at] = f->page[at].phys;
		f->lookups = 0;
		unmap_unpin(f, &runs, &r);
		vfio_resched_end(&r);
		if (round)
			with = f->lookups;
		else
			without = f->lookups;
	}
	KUNIT_EXPECT_EQ(test, without, PAGES);
	KUNIT_EXPECT_EQ(test, with, 2 * PAGES / 256);
}

/* What was known is gone when a mapping is pinned anew, as by a replay. */
static void runs_start_anew(struct kunit *test)
{
	struct vfio_resched_runs runs = { };

	vfio_resched_run(&runs, 0);
	KUNIT_EXPECT_EQ(test, runs.first, (size_t)0);
	vfio_resched_run(&runs, 3 * SMALL);
	vfio_resched_run(&runs, 3 * SMALL + MIDDLE);
	vfio_resched_run(&runs, 3 * SMALL + LARGE);
	KUNIT_EXPECT_EQ(test, runs.first, (size_t)(3 * SMALL));
	KUNIT_EXPECT_EQ(test, runs.distance, (size_t)(MIDDLE | LARGE));
	vfio_resched_run(&runs, 0);
	KUNIT_EXPECT_EQ(test, runs.first, (size_t)0);
	KUNIT_EXPECT_EQ(test, runs.distance, (size_t)0);
}

/* Points */

static void due_does_not_sleep(struct kunit *test)
{
	struct resched_tick tick;
	unsigned int i, due = 0;

	resched_tick_init(&tick, 4 * PAGE_SIZE);
	preempt_disable();
	for (i = 0; i < 40; i++)
		due += resched_tick_due(&tick, PAGE_SIZE);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, due, 10U);
	KUNIT_EXPECT_EQ(test, tick.rescheds, 10ULL);
}

static u64 rescheds(void)
{
	return atomic64_read(&set->rescheds);
}

static void points_are_counted(struct kunit *test)
{
	struct vfio_resched r;
	unsigned int i;
	u64 before;

	begin(&r, SZ_256K);
	before = rescheds();
	for (i = 0; i < 10 * VFIO_RESCHED_PAGES; i++)
		vfio_resched_page(&r, i);
	KUNIT_EXPECT_EQ(test, rescheds() - before,
			(u64)(10 * VFIO_RESCHED_PAGES * PAGE_SIZE / SZ_256K));
	vfio_resched_end(&r);
}

/* A loop over pages goes over each once, with a point each so many, and may be empty. */
static void loops_go_over_each_page(struct kunit *test)
{
	static const unsigned int pages[] = { 0, 1, 63, 64, 65, 128, 1000 };
	unsigned long index, end, n;
	struct vfio_resched r;
	unsigned int i;
	u64 before;

	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		begin(&r, VFIO_RESCHED_PAGES * PAGE_SIZE);
		before = rescheds();
		index = 5;
		end = index + pages[i];
		n = 0;
		vfio_resched_for_each_page(&r, index, end) {
			n++;
			index++;
		}
		KUNIT_EXPECT_EQ(test, n, (unsigned long)pages[i]);
		KUNIT_EXPECT_EQ(test, index, end);
		KUNIT_EXPECT_EQ(test, rescheds() - before,
				(u64)pages[i] / VFIO_RESCHED_PAGES);
		vfio_resched_end(&r);
	}
}

static void off_never_reschedules(struct kunit *test)
{
	struct vfio_resched r;
	unsigned int i;
	u64 before;

	begin(&r, 0);
	before = rescheds();
	for (i = 0; i < 100; i++)
		vfio_resched_tick(&r, SZ_1G);
	KUNIT_EXPECT_EQ(test, rescheds() - before, 0ULL);
	vfio_resched_end(&r);
}

/* A walk that runs sees a new interval: at its next point, or after a GiB if off. */
static void interval_changes_meanwhile(struct kunit *test)
{
	struct vfio_resched r;
	unsigned int i;
	u64 before;

	begin(&r, 0);
	before = rescheds();
	vfio_resched_tick(&r, SZ_1M);
	WRITE_ONCE(set->resched_bytes, SZ_1M);
	vfio_resched_tick(&r, SZ_1G);
	KUNIT_EXPECT_EQ(test, rescheds() - before, 0ULL);
	for (i = 0; i < 8; i++)
		vfio_resched_tick(&r, SZ_1M);
	KUNIT_EXPECT_EQ(test, rescheds() - before, 8ULL);
	WRITE_ONCE(set->resched_bytes, 0);
	vfio_resched_tick(&r, SZ_1M);
	KUNIT_EXPECT_EQ(test, rescheds() - before, 9ULL);
	for (i = 0; i < 8; i++)
		vfio_resched_tick(&r, SZ_1M);
	KUNIT_EXPECT_EQ(test, rescheds() - before, 9ULL);
	vfio_resched_end(&r);
}

static u64 stretches(void)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < NVMETUNE_HIST_BUCKETS; i++)
		sum += atomic64_read(&set->stretches.count[i]);
	return sum;
}

/* Each point ends a stretch, and so does the end; outside of a walk nothing does. */
static void stretches_are_counted(struct kunit *test)
{
	struct vfio_resched r;
	u64 before;

	begin(&r, SZ_1M);
	before = stretches();
	vfio_resched_tick(&r, SZ_1M);
	vfio_resched_point(&r);
	vfio_resched_end(&r);
	KUNIT_EXPECT_EQ(test, stretches() - before, 3ULL);
	vfio_resched_end(&r);
	vfio_resched_point(&r);
	KUNIT_EXPECT_EQ(test, stretches() - before, 3ULL);
}

/* Who sleeps lets others run: that is no stretch, at a point and at the end. */
static void sleep_is_no_stretch(struct kunit *test)
{
	struct vfio_resched r;
	u64 before;

	begin(&r, SZ_1M);
	before = stretches();
	atomic64_set(&set->longest, 0);
	msleep(20);
	vfio_resched_tick(&r, SZ_1M);
	KUNIT_EXPECT_EQ(test, stretches() - before, 0ULL);
	msleep(20);
	vfio_resched_end(&r);
	KUNIT_EXPECT_EQ(test, stretches() - before, 0ULL);
	KUNIT_EXPECT_EQ(test, (u64)atomic64_read(&set->longest), 0ULL);
	/* The next one is measured again. */
	begin(&r, SZ_1M);
	vfio_resched_end(&r);
	KUNIT_EXPECT_EQ(test, stretches() - before, 1ULL);
}

/* Loops that must not sleep end in time, and each page is in one of them. */
static void atomic_loops_end(struct kunit *test)
{
	unsigned long first = 7, last = 7 + 3 * VFIO_RESCHED_ATOMIC + 5, to, n = 0;

	for (; first <= last; first = to + 1) {
		to = vfio_resched_last(first, last);
		KUNIT_EXPECT_LE(test, to - first + 1, VFIO_RESCHED_ATOMIC);
		KUNIT_EXPECT_LE(test, to, last);
		n++;
	}
	KUNIT_EXPECT_EQ(test, first, last + 1);
	KUNIT_EXPECT_EQ(test, n, 4UL);
	KUNIT_EXPECT_EQ(test, vfio_resched_last(0, ULONG_MAX), VFIO_RESCHED_ATOMIC - 1);
	KUNIT_EXPECT_EQ(test, vfio_resched_last(ULONG_MAX, ULONG_MAX), ULONG_MAX);
}

static void longest_is_kept(struct kunit *test)
{
	struct vfio_resched r;

	begin(&r, SZ_1M);
	r.since -= 3600ULL * NSEC_PER_SEC;
	vfio_resched_end(&r);
	KUNIT_EXPECT_GE(test, (u64)atomic64_read(&set->longest), 3600ULL * NSEC_PER_SEC);
	begin(&r, SZ_1M);
	vfio_resched_end(&r);
	KUNIT_EXPECT_GE(test, (u64)atomic64_read(&set->longest), 3600ULL * NSEC_PER_SEC);
	atomic64_set(&set->longest, 0);
	/* A clock of another CPU may be behind. */
	begin(&r, SZ_1M);
	r.since += NSEC_PER_SEC;
	vfio_resched_end(&r);
	KUNIT_EXPECT_EQ(test, (u64)atomic64_read(&set->longest), 0ULL);
}

static int count_walks(void *data)
{
	struct vfio_resched r;
	unsigned int i;

	vfio_resched_init(&r, VFIO_RESCHED_TYPE1);
	for (i = 0; i < 2000; i++) {
		vfio_resched_begin(&r);
		vfio_resched_tick(&r, SZ_1M);
		vfio_resched_unmapped(&r, 3);
		vfio_resched_end(&r);
	}
	complete(data);
	return 0;
}

/* Walks of other containers count at the same time. */
static void concurrent_walks_lose_nothing(struct kunit *test)
{
	u64 unmaps = atomic64_read(&set->unmaps), bytes = atomic64_read(&set->bytes);
	DECLARE_COMPLETION_ONSTACK(done);
	u64 points = rescheds(), ended = stretches();
	struct task_struct *task;
	unsigned int i;

	WRITE_ONCE(set->resched_bytes, SZ_1M);
	for (i = 0; i < 4; i++) {
		task = kthread_run(count_walks, &done, "vfio-resched-%u", i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	}
	for (i = 0; i < 4; i++)
		wait_for_completion(&done);
	KUNIT_EXPECT_EQ(test, (u64)atomic64_read(&set->unmaps) - unmaps, 8000ULL);
	KUNIT_EXPECT_EQ(test, (u64)atomic64_read(&set->bytes) - bytes, 24000ULL);
	KUNIT_EXPECT_EQ(test, rescheds() - points, 8000ULL);
	/* But for those in which one of them was preempted. */
	KUNIT_EXPECT_LE(test, stretches() - ended, 16000ULL);
	KUNIT_EXPECT_GT(test, stretches() - ended, 8000ULL);
}

/* Bitmaps */

#define BITS	(100 * BITS_PER_LONG)

static void bitmaps_as_in_one(struct kunit *test)
{
	unsigned long *is = kunit_kzalloc(test, BITS_TO_LONGS(BITS) * 8 + 8, GFP_KERNEL);
	unsigned long *want = kunit_kzalloc(test, BITS_TO_LONGS(BITS) * 8 + 8, GFP_KERNEL);
	struct vfio_resched r;
	struct rnd_state rnd;
	unsigned int i, nbits, start, shift;

	KUNIT_ASSERT_NOT_NULL(test, is);
	KUNIT_ASSERT_NOT_NULL(test, want);
	prandom_seed_state(&rnd, 17);
	for (i = 0; i < 300; i++) {
		/* Some words at a time, down to one. */
		begin(&r, i % 5 ? (i % 5) * 3 * PAGE_SIZE : PAGE_SIZE / 2);
		prandom_bytes_state(&rnd, want, BITS / 8 + 8);
		memcpy(is, want, BITS / 8 + 8);
		nbits = 1 + prandom_u32_state(&rnd) % (BITS - BITS_PER_LONG);
		start = prandom_u32_state(&rnd) % (BITS - nbits);
		shift = 1 + prandom_u32_state(&rnd) % (BITS_PER_LONG - 1);

		vfio_resched_bitmap_set(&r, is, start, nbits);
		bitmap_set(want, start, nbits);
		KUNIT_EXPECT_EQ(test, memcmp(is, want, BITS / 8 + 8), 0);
		vfio_resched_bitmap_clear(&r, is, start / 2, nbits / 2);
		bitmap_clear(want, start / 2, nbits / 2);
		KUNIT_EXPECT_EQ(test, memcmp(is, want, BITS / 8 + 8), 0);
		vfio_resched_bitmap_shift_left(&r, is, shift, nbits);
		bitmap_shift_left(want, want, shift, nbits);
		KUNIT_EXPECT_TRUE(test, bitmap_equal(is, want, nbits));
		KUNIT_EXPECT_EQ(test, is[BITS_TO_LONGS(nbits)], want[BITS_TO_LONGS(nbits)]);
		vfio_resched_end(&r);
	}
}

static struct kunit_case resched_cases[] = {
	KUNIT_CASE(scan_three_sizes),
	KUNIT_CASE(scan_any_size),
	KUNIT_CASE(scan_one_size),
	KUNIT_CASE(scan_smaller_pages),
	KUNIT_CASE(unmap_in_pieces),
	KUNIT_CASE(map_makes_the_same_pages),
	KUNIT_CASE(unmap_with_gap),
	KUNIT_CASE(skip_looks_up_less),
	KUNIT_CASE(runs_start_anew),
	KUNIT_CASE(due_does_not_sleep),
	KUNIT_CASE(points_are_counted),
	KUNIT_CASE(loops_go_over_each_page),
	KUNIT_CASE(off_never_reschedules),
	KUNIT_CASE(interval_changes_meanwhile),
	KUNIT_CASE(stretches_are_counted),
	KUNIT_CASE(sleep_is_no_stretch),
	KUNIT_CASE(atomic_loops_end),
	KUNIT_CASE(longest_is_kept),
	KUNIT_CASE(concurrent_walks_lose_nothing),
	KUNIT_CASE(bitmaps_as_in_one),
	{ }
};

static struct kunit_suite resched_suite = {
	.name = "vfio_resched",
	.init = resched_suite_init,
	.exit = resched_suite_exit,
	.test_cases = resched_cases,
};

kunit_test_suite(resched_suite);
