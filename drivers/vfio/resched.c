// SPDX-License-Identifier: GPL-2.0-only
/*
 * Letting go of the CPU in the long loops of vfio type1 and iommufd.
 *
 * Walks of different containers run at the same time; what they count is atomic,
 * and is touched once a point and not once a page. A new interval is seen by a walk
 * that runs at its next point.
 */
#include <linux/bitmap.h>
#include <linux/iommu.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>
#include <linux/vfio_resched.h>

#include "resched.h"

#define CREATE_TRACE_POINTS
#include <trace/events/vfio_resched.h>

/* Where the interval is 0, this is how often a walk looks whether it still is. */
#define VFIO_RESCHED_LOOK	SZ_1G

/* The walk */

static struct vfio_resched_set *vfio_resched_set(const struct vfio_resched *r)
{
	return &vfio_resched_sets[r->object];
}

/* In whole pages: type1 unpins what a piece has unmapped, which is no part of a page. */
static u64 vfio_resched_interval(const struct vfio_resched *r)
{
	return round_up(READ_ONCE(vfio_resched_set(r)->resched_bytes), (u64)PAGE_SIZE);
}

static void vfio_resched_refresh(struct vfio_resched *r)
{
	u64 interval = vfio_resched_interval(r);

	r->on = interval;
	r->tick.interval = interval ?: VFIO_RESCHED_LOOK;
}

/* How often this task has let go of its CPU. */
static unsigned long vfio_resched_switches(void)
{
	return current->nvcsw + current->nivcsw;
}

static void vfio_resched_start(struct vfio_resched *r, u64 now)
{
	r->since = now;
	r->switches = vfio_resched_switches();
}

/* A stretch is over. */
static void vfio_resched_stretch(struct vfio_resched *r, u64 now, bool yielded)
{
	struct vfio_resched_set *set = vfio_resched_set(r);
	u64 ns = max_t(s64, now - r->since, 0);
	s64 longest = atomic64_read(&set->longest);

	while (ns > longest && !atomic64_try_cmpxchg(&set->longest, &longest, ns))
		;
	nvmetune_hist_add(&set->stretches, ns, 1);
	if (yielded)
		atomic64_inc(&set->yields);
	trace_vfio_resched(vfio_resched_names[r->object], ns, yielded);
}

/*
 * Let go of the CPU, if @offer, and begin another stretch. Where the task has slept or
 * was preempted since the last one began, as in a page fault or for a lock, the CPU was
 * let go of at a time that is not known: then that was none.
 */
static void vfio_resched_leave(struct vfio_resched *r, bool offer)
{
	bool slept = vfio_resched_switches() != r->switches;
	u64 now = local_clock();
	bool yielded = offer && cond_resched();

	if (!slept)
		vfio_resched_stretch(r, now, yielded);
	vfio_resched_start(r, yielded ? local_clock() : now);
}

/**
 * vfio_resched_begin() - an operation begins
 * @r: the walk
 *
 * Context: task context, with the lock that protects @r.
 */
void vfio_resched_begin(struct vfio_resched *r)
{
	resched_tick_init(&r->tick, 0);
	vfio_resched_refresh(r);
	vfio_resched_start(r, local_clock());
}
EXPORT_SYMBOL_GPL(vfio_resched_begin);

/**
 * vfio_resched_end() - the operation ends, or drops its lock for a while
 * @r: the walk
 *
 * Lets go of the CPU, as many short operations in a row are a long one: iommufd has one
 * for each area of a table, of which there may be any number.
 *
 * Context: as vfio_resched_begin().
 */
void vfio_resched_end(struct vfio_resched *r)
{
	if (!r->since)
		return;
	vfio_resched_leave(r, r->on);
	r->since = 0;
}
EXPORT_SYMBOL_GPL(vfio_resched_end);

/**
 * vfio_resched_point() - let go of the CPU
 * @r: the walk
 *
 * Stands where the kernel without this calls cond_resched(), too, and does so whatever
 * the interval.
 *
 * Context: task context, may sleep.
 */
void vfio_resched_point(struct vfio_resched *r)
{
	if (r->since)
		vfio_resched_leave(r, true);
	else
		cond_resched();
	r->tick.bytes = 0;
	vfio_resched_refresh(r);
}
EXPORT_SYMBOL_GPL(vfio_resched_point);

/**
 * vfio_resched_due() - the interval is over
 * @r: the walk
 *
 * Context: task context, may sleep.
 */
void vfio_resched_due(struct vfio_resched *r)
{
	if (r->on) {
		atomic64_inc(&vfio_resched_set(r)->rescheds);
		vfio_resched_point(r);
	} else {
		vfio_resched_refresh(r);
	}
}
EXPORT_SYMBOL_GPL(vfio_resched_due);

/**
 * vfio_resched_yield() - let go of the CPU between two parts of an operation
 * @object: whose it is
 *
 * For where there is no walk to account to. Not measured.
 *
 * Context: task context, may sleep.
 */
void vfio_resched_yield(enum vfio_resched_object object)
{
	if (READ_ONCE(vfio_resched_sets[object].resched_bytes))
		cond_resched();
}
EXPORT_SYMBOL_GPL(vfio_resched_yield);

/**
 * vfio_resched_unmapped() - a mapping was unmapped
 * @r: the walk
 * @bytes: its size
 */
void vfio_resched_unmapped(struct vfio_resched *r, u64 bytes)
{
	atomic64_inc(&vfio_resched_set(r)->unmaps);
	atomic64_add(bytes, &vfio_resched_set(r)->bytes);
}
EXPORT_SYMBOL_GPL(vfio_resched_unmapped);

/* Pieces */

/**
 * vfio_resched_piece() - how much of a range to hand to the IOMMU at once
 * @pgsizes: page sizes of the domain, a bit each
 * @iova: start of the range, where a page of the IOMMU starts, too
 * @phys: what it is mapped to
 * @size: of the range, which is physically contiguous and where another page ends
 * @interval: what the piece should not exceed
 *
 * A page of the IOMMU is as large as one of @pgsizes, aligned to that on both sides,
 * and lies in the range. So one that reaches across a place aligned to some size is
 * larger than that size; if it starts behind @iova, the place before it that is
 * aligned to its own size would have been found first. What is left is one at @iova.
 *
 * Return: size of the piece: no page of the IOMMU reaches across its end. More than
 * @interval only where it may be one page.
 */
size_t vfio_resched_piece(unsigned long pgsizes, dma_addr_t iova, phys_addr_t phys,
			  size_t size, u64 interval)
{
	if (size <= interval)
		return size;
	while (pgsizes) {
		u64 page = BIT_ULL(__fls(pgsizes)), end;

		pgsizes &= ~page;
		if (page > size)
			continue;
		end = (iova + interval) & ~(page - 1);
		if (end > iova)
			return end - iova;
		if (end == iova && !(phys & (page - 1)))
			return page;
	}
	return size;
}

/* The same where contiguity is not known: of a page that may be, look at its end. */
static size_t vfio_resched_unmap_piece(struct iommu_domain *domain,
				       unsigned long iova, size_t size, u64 interval)
{
	unsigned long pgsizes = domain->pgsize_bitmap;
	phys_addr_t phys;
	size_t piece, last;

	if (size <= interval)
		return size;
	phys = iommu_iova_to_phys(domain, iova);
	for (;;) {
		piece = vfio_resched_piece(pgsizes, iova, phys, size, interval);
		if (piece <= interval)
			return piece;
		last = piece - BIT(__ffs(domain->pgsize_bitmap));
		if (iommu_iova_to_phys(domain, iova + last) == phys + last)
			return piece;
		/* No page of this size or above. */
		pgsizes &= piece - 1;
		if (!pgsizes)
			return size;
	}
}

/*
 * Where a piece comes back short, the rest is done at once, to end as iommu_unmap()
 * would have.
 */
size_t __vfio_resched_unmap(struct vfio_resched *r, struct iommu_domain *domain,
			    unsigned long iova, size_t size)
{
	struct vfio_resched alone;
	size_t done = 0, piece, got;

	if (!r) {
		r = &alone;
		vfio_resched_init(r, VFIO_RESCHED_IOMMUFD);
		vfio_resched_begin(r);
	}
	while (done < size) {
		u64 interval = vfio_resched_interval(r) ?: U64_MAX;

		piece = vfio_resched_unmap_piece(domain, iova + done, size - done,
						 interval);
		got = iommu_unmap(domain, iova + done, piece);
		done += got;
		if (got < piece)
			break;
		vfio_resched_tick(r, got);
	}
	if (done < size)
		done += iommu_unmap(domain, iova + done, size - done);
	if (r == &alone)
		vfio_resched_end(r);
	return done;
}
EXPORT_SYMBOL_GPL(__vfio_resched_unmap);

/*
 * Pieces end where iommu_map() would not have put a page across, so that the pages
 * of the IOMMU are the same.
 */
int __vfio_resched_map(struct vfio_resched *r, struct iommu_domain *domain,
		       unsigned long iova, phys_addr_t phys, size_t size, int prot,
		       gfp_t gfp)
{
	size_t done = 0, piece;
	int ret;

	while (done < size) {
		u64 interval = vfio_resched_interval(r) ?: U64_MAX;

		piece = vfio_resched_piece(domain->pgsize_bitmap, iova + done,
					   phys + done, size - done, interval);
		ret = vfio_resched_iommu_map(domain, iova + done, phys + done, piece,
					     prot, gfp);
		if (ret)
			goto unmap;
		done += piece;
		vfio_resched_tick(r, piece);
	}
	return 0;

unmap:
	if (done)
		vfio_resched_unmap(r, domain, iova, done);
	return ret;
}
EXPORT_SYMBOL_GPL(__vfio_resched_map);

/* The caller has counted them, so there is a point between two pieces and nothing to add. */
void __vfio_resched_unpin(struct vfio_resched *r, struct page *page,
			  unsigned long npages, bool dirty)
{
	unsigned long pfn = page_to_pfn(page), n;

	for (;;) {
		u64 interval = vfio_resched_interval(r) ?: U64_MAX;

		n = min_t(u64, npages, interval >> PAGE_SHIFT);
		unpin_user_page_range_dirty_lock(pfn_to_page(pfn), n, dirty);
		pfn += n;
		npages -= n;
		if (!npages)
			break;
		vfio_resched_due(r);
	}
}
EXPORT_SYMBOL_GPL(__vfio_resched_unpin);

/* The scan */

/* From @offset on, so many bytes lie in one run. */
static size_t vfio_resched_in_run(const struct vfio_resched_runs *runs, size_t offset)
{
	size_t grid = runs->distance & -runs->distance;

	if (!runs->first)
		return SIZE_MAX;
	if (grid)
		return grid - ((offset - runs->first) & (grid - 1));
	return offset < runs->first ? runs->first - offset : SIZE_MAX;
}

/* Looks up where a run may start and, if the setting says so, all other pages. */
phys_addr_t __vfio_resched_scan(struct vfio_resched *r, struct iommu_domain *domain,
				dma_addr_t iova, phys_addr_t phys, size_t *len)
{
	u64 interval = vfio_resched_interval(r) ?: U64_MAX;
	bool skip = READ_ONCE(vfio_resched_set(r)->skip);
	/* Where the IOMMU has smaller pages than the CPU, type1 does not map by them. */
	unsigned long pgsizes = (domain->pgsize_bitmap & PAGE_MASK) | PAGE_SIZE;
	size_t limit = vfio_resched_piece(pgsizes, iova, phys, r->end - iova + 1, interval);
	size_t pos = PAGE_SIZE, step = PAGE_SIZE, stop;
	phys_addr_t next;

	for (;;) {
		/* At pos memory is contiguous still; so it is up to pos + step. */
		if (skip)
			step = vfio_resched_in_run(r->runs, iova + pos - r->start);
		if (step >= limit - pos)
			break;
		pos += step;
		/* A few at a time, so that the loop costs little but the look-up. */
		stop = pos;
		if (step == PAGE_SIZE)
			stop = min(limit - PAGE_SIZE,
				   pos + (VFIO_RESCHED_PAGES - 1) * PAGE_SIZE);
		for (;;) {
			next = iommu_iova_to_phys(domain, iova + pos);
			if (next != phys + pos)
				goto end_of_run;
			if (pos >= stop)
				break;
			pos += PAGE_SIZE;
		}
		vfio_resched_tick(r, step == PAGE_SIZE ?
				  VFIO_RESCHED_PAGES * PAGE_SIZE : PAGE_SIZE);
	}
	*len = limit;
	return 0;

end_of_run:
	r->next_iova = iova + pos;
	r->next_phys = next;
	*len = vfio_resched_piece(pgsizes, iova, phys, pos, interval);
	return 0;
}
EXPORT_SYMBOL_GPL(__vfio_resched_scan);

/* Bitmaps: a word of 64 pages takes about as long as looking up one. */

static unsigned int vfio_resched_words(const struct vfio_resched *r)
{
	u64 interval = vfio_resched_interval(r) ?: U64_MAX;

	/* At the most so many that their bits can be counted. */
	return clamp_t(u64, interval >> PAGE_SHIFT, 1, U32_MAX / BITS_PER_LONG);
}

static void vfio_resched_tick_words(struct vfio_resched *r, u64 words)
{
	vfio_resched_tick(r, words << PAGE_SHIFT);
}

/**
 * vfio_resched_bitmap_set() - bitmap_set() in pieces
 * @r: the walk
 * @map: the bitmap
 * @start: the first bit
 * @nbits: how many
 *
 * Context: task context, may sleep.
 */
void vfio_resched_bitmap_set(struct vfio_resched *r, unsigned long *map,
			     unsigned int start, unsigned int nbits)
{
	unsigned int n;

	for (; nbits; nbits -= n, start += n) {
		n = min(nbits, vfio_resched_words(r) * BITS_PER_LONG);
		bitmap_set(map, start, n);
		vfio_resched_tick_words(r, BITS_TO_LONGS(n));
	}
}
EXPORT_SYMBOL_GPL(vfio_resched_bitmap_set);

/**
 * vfio_resched_bitmap_clear() - bitmap_clear() in pieces
 * @r: the walk
 * @map: the bitmap
 * @start: the first bit
 * @nbits: how many
 *
 * Context: task context, may sleep.
 */
void vfio_resched_bitmap_clear(struct vfio_resched *r, unsigned long *map,
			       unsigned int start, unsigned int nbits)
{
	unsigned int n;

	for (; nbits; nbits -= n, start += n) {
		n = min(nbits, vfio_resched_words(r) * BITS_PER_LONG);
		bitmap_clear(map, start, n);
		vfio_resched_tick_words(r, BITS_TO_LONGS(n));
	}
}
EXPORT_SYMBOL_GPL(vfio_resched_bitmap_clear);

/**
 * vfio_resched_bitmap_shift_left() - bitmap_shift_left() in pieces
 * @r: the walk
 * @map: the bitmap
 * @shift: by how much, less than a word and not 0
 * @nbits: of the result
 *
 * Context: task context, may sleep.
 */
void vfio_resched_bitmap_shift_left(struct vfio_resched *r, unsigned long *map,
				    unsigned int shift, unsigned int nbits)
{
	unsigned int words = BITS_TO_LONGS(nbits), n;

	/* From the top, as the piece above needs the last word of the one below. */
	while (words) {
		n = min(words, vfio_resched_words(r));
		words -= n;
		bitmap_shift_left(map + words, map + words, shift, n * BITS_PER_LONG);
		if (words)
			map[words] |= map[words - 1] >> (BITS_PER_LONG - shift);
		vfio_resched_tick_words(r, n);
	}
}
EXPORT_SYMBOL_GPL(vfio_resched_bitmap_shift_left);

/**
 * vfio_resched_copy_to_user() - copy_to_user() of a bitmap in pieces
 * @r: the walk
 * @to: of the user
 * @from: the bitmap
 * @n: bytes
 *
 * Context: task context, may sleep.
 * Return: bytes that could not be copied.
 */
unsigned long vfio_resched_copy_to_user(struct vfio_resched *r, void __user *to,
					const void *from, unsigned long n)
{
	unsigned long piece, left = 0;

	for (; n && !left; n -= piece, to += piece, from += piece) {
		piece = min(n, vfio_resched_words(r) * sizeof(long));
		left = copy_to_user(to, from, piece);
		vfio_resched_tick_words(r, DIV_ROUND_UP(piece, sizeof(long)));
	}
	return n + left;
}
EXPORT_SYMBOL_GPL(vfio_resched_copy_to_user);
