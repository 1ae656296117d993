/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Letting go of the CPU in the long loops of vfio type1 and iommufd.
 *
 * How long these loops run is decided by the user who maps memory. Each operation
 * (a call of the user's, or the end of a container) has a walk, whose holder keeps
 * all else off the structures that the loops walk: iommu->lock in type1, the mutex
 * of the iopt_pages in iommufd. Both are mutexes, so a loop may sleep with them,
 * and nothing it walks changes meanwhile.
 *
 * The unit is a byte of memory that was worked on once, so that scanning, unmapping
 * and unpinning a page count as three. What is done in one call that cannot be
 * interrupted (iommu_map(), iommu_unmap()) is cut into pieces. No piece ends inside
 * a page of the IOMMU: some drivers refuse to unmap a part of one, others unmap more
 * than they were asked for.
 */
#ifndef _LINUX_VFIO_RESCHED_H
#define _LINUX_VFIO_RESCHED_H

#include <linux/gfp_types.h>
#include <linux/iommu.h>
#include <linux/mm.h>
#include <linux/resched_tick.h>
#include <linux/uaccess.h>
#include <linux/version.h>

/* Who has a walk; each is an object of the control plane. */
enum vfio_resched_object {
	VFIO_RESCHED_TYPE1,
	VFIO_RESCHED_IOMMUFD,
	VFIO_RESCHED_NR_OBJECTS
};

/* Loops over pages count each so many of them, so that a page costs nothing more. */
#define VFIO_RESCHED_PAGES	64

/* Regions are flushed from the IOTLB each so many intervals, at the latest. */
#define VFIO_RESCHED_FLUSH	16

/* Loops that must not sleep go over so many pages at the most. */
#define VFIO_RESCHED_ATOMIC	512UL

/* To remove a mapping takes about as long as to work on so many bytes. */
#define VFIO_RESCHED_MAPPING	(16 * PAGE_SIZE)

/*
 * iommu_map() has taken allocation flags since 6.3, and so has what is put in its
 * place.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline int vfio_resched_iommu_map(struct iommu_domain *domain,
					 unsigned long iova, phys_addr_t phys,
					 size_t size, int prot, gfp_t gfp)
{
	return iommu_map(domain, iova, phys, size, prot);
}

#define vfio_resched_map(r, domain, iova, phys, size, prot)		\
	vfio_resched_map_gfp(r, domain, iova, phys, size, prot, GFP_KERNEL)
#else
#define vfio_resched_iommu_map	iommu_map
#define vfio_resched_map	vfio_resched_map_gfp
#endif

#if IS_ENABLED(CONFIG_VFIO_RESCHED)

/**
 * struct vfio_resched_runs - where physical contiguity of a mapping may end
 * @first: offset of the first run but for the one at 0; 0: there is only one run
 * @distance: distances of all later ones from @first, or'ed
 *
 * A run is what one call has pinned: contiguous by construction, and pinned for as
 * long as it is mapped. Runs start nowhere but at @first plus a multiple of the
 * lowest bit of @distance. This says where runs may start, not where they do.
 */
struct vfio_resched_runs {
	size_t first;
	size_t distance;
};

/**
 * struct vfio_resched - the walk of one operation at a time
 * @tick: progress towards the next point; its interval is refreshed at each
 * @since: when the last point was, by local_clock(); 0 where no operation runs
 * @switches: how often the task had let go of the CPU then
 * @object: whose it is, enum vfio_resched_object
 * @on: resched_bytes was not 0 at the last point
 * @gathered: bytes unmapped whose IOTLB flush is still to come
 * @runs: of the mapping that is unmapped
 * @start: of that mapping
 * @end: of that mapping; the last byte, as the first after it may be out of range
 * @next_iova: address that the scan has looked up beyond the end of a run
 * @next_phys: what it found there, 0: nothing
 *
 * All zero where it has never been used. Protected by the lock that serialises the
 * operations.
 */
struct vfio_resched {
	struct resched_tick tick;
	u64 since;
	unsigned long switches;
	unsigned int object;
	bool on;
	u64 gathered;
	const struct vfio_resched_runs *runs;
	dma_addr_t start;
	dma_addr_t end;
	dma_addr_t next_iova;
	phys_addr_t next_phys;
};

void vfio_resched_begin(struct vfio_resched *r);
void vfio_resched_end(struct vfio_resched *r);
void vfio_resched_point(struct vfio_resched *r);
void vfio_resched_due(struct vfio_resched *r);
void vfio_resched_yield(enum vfio_resched_object object);
void vfio_resched_unmapped(struct vfio_resched *r, u64 bytes);
phys_addr_t __vfio_resched_scan(struct vfio_resched *r, struct iommu_domain *domain,
				dma_addr_t iova, phys_addr_t phys, size_t *len);
size_t __vfio_resched_unmap(struct vfio_resched *r, struct iommu_domain *domain,
			    unsigned long iova, size_t size);
int __vfio_resched_map(struct vfio_resched *r, struct iommu_domain *domain,
		       unsigned long iova, phys_addr_t phys, size_t size, int prot,
		       gfp_t gfp);
void __vfio_resched_unpin(struct vfio_resched *r, struct page *page,
			  unsigned long npages, bool dirty);
void vfio_resched_bitmap_set(struct vfio_resched *r, unsigned long *map,
			     unsigned int start, unsigned int nbits);
void vfio_resched_bitmap_clear(struct vfio_resched *r, unsigned long *map,
			       unsigned int start, unsigned int nbits);
void vfio_resched_bitmap_shift_left(struct vfio_resched *r, unsigned long *map,
				    unsigned int shift, unsigned int nbits);
unsigned long vfio_resched_copy_to_user(struct vfio_resched *r, void __user *to,
					const void *from, unsigned long n);

/**
 * vfio_resched_init() - prepare a walk before its first operation
 * @r: the walk
 * @object: whose it is
 */
static inline void vfio_resched_init(struct vfio_resched *r,
				     enum vfio_resched_object object)
{
	*r = (struct vfio_resched){ .object = object };
}

/**
 * vfio_resched_tick() - account for work done; let go of the CPU when it is time
 * @r: the walk
 * @bytes: of memory that was worked on
 *
 * Context: task context, may sleep.
 */
static inline void vfio_resched_tick(struct vfio_resched *r, u64 bytes)
{
	if (resched_tick_due(&r->tick, bytes))
		vfio_resched_due(r);
}

/**
 * vfio_resched_page() - the same for a page of a loop over pages
 * @r: the walk
 * @index: of the page; the loop calls with consecutive ones, in either direction
 *
 * Context: task context, may sleep.
 */
static inline void vfio_resched_page(struct vfio_resched *r, unsigned long index)
{
	if (unlikely(!(index % VFIO_RESCHED_PAGES)))
		vfio_resched_tick(r, VFIO_RESCHED_PAGES * PAGE_SIZE);
}

/* A loop over pages is at its end, or where it shall look how far it has come. */
static inline bool vfio_resched_goes_on(struct vfio_resched *r, unsigned long index,
					unsigned long end, unsigned long *stop)
{
	unsigned long n;

	if (index >= end)
		return false;
	n = min(end - index, (unsigned long)VFIO_RESCHED_PAGES);
	vfio_resched_tick(r, n * PAGE_SIZE);
	*stop = index + n;
	return true;
}

/**
 * vfio_resched_for_each_page - while (index < end), with points
 * @r: the walk
 * @index: of a page; the body counts it up by one
 * @end: the first that is none
 *
 * A page costs one comparison, as without points.
 *
 * Context: task context, may sleep.
 */
#define vfio_resched_for_each_page(r, index, end)			\
	for (unsigned long __stop = (index);				\
	     (index) < __stop || vfio_resched_goes_on(r, index, end, &__stop);)

/**
 * vfio_resched_last() - how far a loop that must not sleep may go
 * @first: page that it begins with
 * @last: page that it is to end with; it is called again for what is left
 *
 * Return: page to end with.
 */
static inline unsigned long vfio_resched_last(unsigned long first, unsigned long last)
{
	return last - first < VFIO_RESCHED_ATOMIC ? last : first + VFIO_RESCHED_ATOMIC - 1;
}

/**
 * vfio_resched_run() - a run of pages is about to be pinned
 * @runs: of the mapping
 * @offset: of the run in the mapping; runs come in ascending order, from 0
 */
static inline void vfio_resched_run(struct vfio_resched_runs *runs, size_t offset)
{
	if (!offset)
		*runs = (struct vfio_resched_runs){ };
	else if (!runs->first)
		runs->first = offset;
	else
		runs->distance |= offset - runs->first;
}

/**
 * vfio_resched_start_unmap() - a mapping is about to be unmapped
 * @r: the walk
 * @runs: of the mapping
 * @start: of the mapping
 * @size: of the mapping
 *
 * Forgets what was looked up in another domain or another mapping.
 */
static inline void vfio_resched_start_unmap(struct vfio_resched *r,
					    const struct vfio_resched_runs *runs,
					    dma_addr_t start, size_t size)
{
	r->runs = runs;
	r->start = start;
	r->end = start + size - 1;
	r->next_phys = 0;
	r->gathered = 0;
}

/**
 * vfio_resched_scan() - find physically contiguous memory to unmap
 * @r: the walk
 * @domain: the domain
 * @iova: where to start, and a page of the IOMMU starts
 * @phys: what that is mapped to
 * @len: PAGE_SIZE, and a page follows; set to how much to unmap
 *
 * Context: task context, may sleep.
 * Return: 0, which does not follow @phys, so that a loop over pages ends.
 */
static inline phys_addr_t vfio_resched_scan(struct vfio_resched *r,
					    struct iommu_domain *domain,
					    dma_addr_t iova, phys_addr_t phys,
					    size_t *len)
{
	phys_addr_t next = iommu_iova_to_phys(domain, iova + PAGE_SIZE);

	if (next == phys + PAGE_SIZE)
		return __vfio_resched_scan(r, domain, iova, phys, len);
	r->next_iova = iova + PAGE_SIZE;
	r->next_phys = next;
	vfio_resched_tick(r, PAGE_SIZE);
	return 0;
}

/**
 * vfio_resched_flush() - a region was unmapped and waits for the IOTLB flush
 * @r: the walk
 * @unmapped: its size
 *
 * The flush also frees page tables, in one go.
 *
 * Context: task context, may sleep.
 * Return: true where the flush shall not wait any longer, or nothing was unmapped.
 */
static inline bool vfio_resched_flush(struct vfio_resched *r, size_t unmapped)
{
	if (!unmapped)
		return true;
	vfio_resched_tick(r, unmapped);
	r->gathered += unmapped;
	if (likely(r->gathered / VFIO_RESCHED_FLUSH < r->tick.interval) || !r->on)
		return false;
	r->gathered = 0;
	return true;
}

/**
 * vfio_resched_unmap() - iommu_unmap() in pieces
 * @r: the walk; NULL: one of its own, of iommufd
 * @domain: the domain
 * @iova: start of the range, and of a page of the IOMMU
 * @size: of the range
 *
 * Context: task context, may sleep.
 * Return: bytes unmapped, as iommu_unmap().
 */
static inline size_t vfio_resched_unmap(struct vfio_resched *r,
					struct iommu_domain *domain,
					unsigned long iova, size_t size)
{
	size_t unmapped;

	if (!r || size > r->tick.interval)
		return __vfio_resched_unmap(r, domain, iova, size);
	unmapped = iommu_unmap(domain, iova, size);
	vfio_resched_tick(r, unmapped);
	return unmapped;
}

/**
 * vfio_resched_map_gfp() - iommu_map() in pieces
 * @r: the walk
 * @domain: the domain
 * @iova: start of the range
 * @phys: what to map it to
 * @size: of the range
 * @prot: protection
 * @gfp: for page tables
 *
 * Context: task context, may sleep.
 * Return: 0, or an error; nothing is mapped then.
 */
static inline int vfio_resched_map_gfp(struct vfio_resched *r,
				       struct iommu_domain *domain, unsigned long iova,
				       phys_addr_t phys, size_t size, int prot, gfp_t gfp)
{
	int ret;

	if (size > r->tick.interval)
		return __vfio_resched_map(r, domain, iova, phys, size, prot, gfp);
	ret = vfio_resched_iommu_map(domain, iova, phys, size, prot, gfp);
	vfio_resched_tick(r, size);
	return ret;
}

/**
 * vfio_resched_unpin() - unpin contiguous pages
 * @r: the walk
 * @page: the first
 * @npages: their number
 * @dirty: they may have been written to
 *
 * Does not count them: the caller counts all runs of a batch together.
 *
 * Context: task context, may sleep.
 */
static inline void vfio_resched_unpin(struct vfio_resched *r, struct page *page,
				      unsigned long npages, bool dirty)
{
	if (unlikely(npages > VFIO_RESCHED_PAGES))
		__vfio_resched_unpin(r, page, npages, dirty);
	else
		unpin_user_page_range_dirty_lock(page, npages, dirty);
}

/**
 * vfio_resched_phys() - look up an address of the mapping that is unmapped
 * @r: the walk
 * @domain: the domain
 * @iova: the address
 *
 * The scan for the end of a run has looked up the start of the next. That is still
 * mapped: nothing but the caller unmaps in this domain, in ascending order.
 */
static inline phys_addr_t vfio_resched_phys(struct vfio_resched *r,
					    struct iommu_domain *domain,
					    dma_addr_t iova)
{
	phys_addr_t phys = r->next_phys;

	r->next_phys = 0;
	if (phys && r->next_iova == iova)
		return phys;
	return iommu_iova_to_phys(domain, iova);
}

#else

struct vfio_resched { };
struct vfio_resched_runs { };

static inline void vfio_resched_init(struct vfio_resched *r,
				     enum vfio_resched_object object) { }
static inline void vfio_resched_begin(struct vfio_resched *r) { }
static inline void vfio_resched_end(struct vfio_resched *r) { }
static inline void vfio_resched_point(struct vfio_resched *r) { cond_resched(); }
static inline void vfio_resched_yield(enum vfio_resched_object object) { }
static inline void vfio_resched_tick(struct vfio_resched *r, u64 bytes) { }
static inline void vfio_resched_page(struct vfio_resched *r, unsigned long index) { }

#define vfio_resched_for_each_page(r, index, end)	\
	for ((void)(r); (index) < (end);)

static inline unsigned long vfio_resched_last(unsigned long first, unsigned long last)
{
	return last;
}

static inline void vfio_resched_run(struct vfio_resched_runs *runs, size_t offset) { }
static inline void vfio_resched_start_unmap(struct vfio_resched *r,
					    const struct vfio_resched_runs *runs,
					    dma_addr_t start, size_t size) { }
static inline void vfio_resched_unmapped(struct vfio_resched *r, u64 bytes) { }

static inline phys_addr_t vfio_resched_phys(struct vfio_resched *r,
					    struct iommu_domain *domain,
					    dma_addr_t iova)
{
	return iommu_iova_to_phys(domain, iova);
}

static inline phys_addr_t vfio_resched_scan(struct vfio_resched *r,
					    struct iommu_domain *domain,
					    dma_addr_t iova, phys_addr_t phys,
					    size_t *len)
{
	return iommu_iova_to_phys(domain, iova + *len);
}

static inline bool vfio_resched_flush(struct vfio_resched *r, size_t unmapped)
{
	return !unmapped;
}

static inline size_t vfio_resched_unmap(struct vfio_resched *r,
					struct iommu_domain *domain,
					unsigned long iova, size_t size)
{
	return iommu_unmap(domain, iova, size);
}

static inline int vfio_resched_map_gfp(struct vfio_resched *r,
				       struct iommu_domain *domain, unsigned long iova,
				       phys_addr_t phys, size_t size, int prot, gfp_t gfp)
{
	return vfio_resched_iommu_map(domain, iova, phys, size, prot, gfp);
}

static inline void vfio_resched_unpin(struct vfio_resched *r, struct page *page,
				      unsigned long npages, bool dirty)
{
	unpin_user_page_range_dirty_lock(page, npages, dirty);
}

static inline void vfio_resched_bitmap_set(struct vfio_resched *r, unsigned long *map,
					   unsigned int start, unsigned int nbits)
{
	bitmap_set(map, start, nbits);
}

static inline void vfio_resched_bitmap_clear(struct vfio_resched *r,
					     unsigned long *map, unsigned int start,
					     unsigned int nbits)
{
	bitmap_clear(map, start, nbits);
}

static inline void vfio_resched_bitmap_shift_left(struct vfio_resched *r,
						  unsigned long *map,
						  unsigned int shift,
						  unsigned int nbits)
{
	bitmap_shift_left(map, map, shift, nbits);
}

static inline unsigned long vfio_resched_copy_to_user(struct vfio_resched *r,
						      void __user *to,
						      const void *from,
						      unsigned long n)
{
	return copy_to_user(to, from, n);
}

#endif

#endif /* _LINUX_VFIO_RESCHED_H */
