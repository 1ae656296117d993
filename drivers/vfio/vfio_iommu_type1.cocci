// vfio type1: let go of the CPU in all loops whose length the user decides, and hand
// the IOMMU no more at once than the interval.
//
// All of them run with iommu->lock, a mutex, or in release, when nobody else has the
// container. None holds a spinlock or an RCU read lock, so all may sleep. What is
// walked (mappings, page tables of the domains) changes under that lock only.
//
// EXPECT drivers/vfio/vfio_iommu_type1.c 1 #include <linux/vfio_resched.h>
// EXPECT drivers/vfio/vfio_iommu_type1.c 1 struct vfio_resched resched;
// EXPECT drivers/vfio/vfio_iommu_type1.c 1 struct vfio_resched *resched;
// EXPECT drivers/vfio/vfio_iommu_type1.c 1 struct vfio_resched_runs runs;
// EXPECT drivers/vfio/vfio_iommu_type1.c 1 new->resched = &iommu->resched;
// EXPECT drivers/vfio/vfio_iommu_type1.c 9 vfio_resched_begin(
// EXPECT drivers/vfio/vfio_iommu_type1.c 10 vfio_resched_end(
// EXPECT drivers/vfio/vfio_iommu_type1.c 4 vfio_resched_point(dma->resched);
// EXPECT drivers/vfio/vfio_iommu_type1.c 3 vfio_resched_tick(&iommu->resched, VFIO_RESCHED_MAPPING);
// EXPECT drivers/vfio/vfio_iommu_type1.c 2 vfio_resched_tick(dma->resched, VFIO_RESCHED_MAPPING);
// EXPECT drivers/vfio/vfio_iommu_type1.c 6 vfio_resched_tick(&iommu->resched, PAGE_SIZE);
// EXPECT drivers/vfio/vfio_iommu_type1.c 2 vfio_resched_tick(dma->resched, PAGE_SIZE);
// EXPECT drivers/vfio/vfio_iommu_type1.c 1 vfio_resched_run(
// EXPECT drivers/vfio/vfio_iommu_type1.c 1 vfio_resched_start_unmap(
// EXPECT drivers/vfio/vfio_iommu_type1.c 1 vfio_resched_phys(
// EXPECT drivers/vfio/vfio_iommu_type1.c 1 vfio_resched_scan(
// EXPECT drivers/vfio/vfio_iommu_type1.c 1 vfio_resched_flush(
// EXPECT drivers/vfio/vfio_iommu_type1.c 1 vfio_resched_unmapped(
// EXPECT drivers/vfio/vfio_iommu_type1.c 4 vfio_resched_unmap(
// EXPECT drivers/vfio/vfio_iommu_type1.c 2 vfio_resched_map(
// EXPECT drivers/vfio/vfio_iommu_type1.c 2 vfio_resched_bitmap_set(
// EXPECT drivers/vfio/vfio_iommu_type1.c 1 vfio_resched_bitmap_clear(
// EXPECT drivers/vfio/vfio_iommu_type1.c 1 vfio_resched_bitmap_shift_left(
// EXPECT drivers/vfio/vfio_iommu_type1.c 1 vfio_resched_copy_to_user(

@header@
@@
 #include "vfio.h"
+#include <linux/vfio_resched.h>

@iommu_member@
@@
 struct vfio_iommu {
 	...
 	struct mutex lock;
+	struct vfio_resched resched;
 	...
 };

@dma_member@
@@
 struct vfio_dma {
 	...
 	unsigned long *bitmap;
+	struct vfio_resched *resched;
+	struct vfio_resched_runs runs;
 	...
 };

@link@
identifier iommu, new;
@@
 vfio_link_dma(struct vfio_iommu *iommu, struct vfio_dma *new)
 {
 	<+...
+	new->resched = &iommu->resched;
 	rb_link_node(&new->node, ...);
 	...+>
 }

@open@
identifier iommu;
@@
 vfio_iommu_type1_open(...)
 {
 	<+...
 	mutex_init(&iommu->lock);
+	vfio_resched_init(&iommu->resched, VFIO_RESCHED_TYPE1);
 	...+>
 }

// Operations: what holds iommu->lock for long.

@lock@
identifier iommu;
identifier f = {vfio_dma_do_unmap, vfio_dma_do_map, vfio_iommu_type1_detach_group, vfio_iommu_type1_dirty_pages};
@@
 f(...)
 {
 	<+...
 	mutex_lock(&iommu->lock);
+	vfio_resched_begin(&iommu->resched);
 	...+>
 }

@unlock@
identifier iommu;
identifier f = {vfio_dma_do_unmap, vfio_dma_do_map, vfio_iommu_type1_detach_group, vfio_iommu_type1_dirty_pages};
@@
 f(...)
 {
 	<+...
+	vfio_resched_end(&iommu->resched);
 	mutex_unlock(&iommu->lock);
 	...+>
 }

@notify@
identifier iommu;
@@
 vfio_notify_dma_unmap(struct vfio_iommu *iommu, ...)
 {
 	...
+	/* The lock is dropped: what comes until it is taken again is no stretch. */
+	vfio_resched_end(&iommu->resched);
 	mutex_unlock(&iommu->lock);
 	...
 	mutex_lock(&iommu->lock);
+	vfio_resched_begin(&iommu->resched);
 }

@release@
identifier iommu;
@@
 vfio_iommu_type1_release(...)
 {
 	<+...
+	/* Nobody else has the container any more: no lock is needed, none is held. */
+	vfio_resched_begin(&iommu->resched);
 	vfio_iommu_unmap_unpin_all(iommu);
+	vfio_resched_end(&iommu->resched);
 	...+>
 }

// Pinning and mapping

@pin@
identifier dma, vaddr;
type T1;
@@
 vfio_pin_pages_remote(struct vfio_dma *dma, T1 vaddr, ...)
 {
 	...
 	if (!mm)
 		return -ENODEV;
+	vfio_resched_run(&dma->runs, vaddr - dma->vaddr);
 	...
 }

@pin_point@
identifier dma;
@@
 vfio_pin_pages_remote(struct vfio_dma *dma, ...)
 {
 	<+...
-	cond_resched();
+	vfio_resched_point(dma->resched);
 	...+>
 }

@pin_undo@
identifier dma, pfn, pinned;
expression E1, E2;
@@
 vfio_pin_pages_remote(struct vfio_dma *dma, ...)
 {
 	<+...
 	for (E1; pinned; E2)
-		put_pfn(pfn, dma->prot);
+	{
+		put_pfn(pfn, dma->prot);
+		/* With iommu->lock only, a mutex. */
+		vfio_resched_page(dma->resched, pinned);
+	}
 	...+>
 }

@map@
identifier iommu, d;
expression E1, E2;
expression list ES;
@@
 vfio_iommu_map(struct vfio_iommu *iommu, ...)
 {
 	<+...
-	iommu_map(d->domain, E1, E2, ES)
+	vfio_resched_map(&iommu->resched, d->domain, E1,
+                                       E2,
+                                       ES)
 	...+>
 }

@map_unwind@
identifier iommu, d;
expression list ES;
@@
 vfio_iommu_map(struct vfio_iommu *iommu, ...)
 {
 	<+...
-	iommu_unmap(d->domain, ES)
+	vfio_resched_unmap(&iommu->resched, d->domain, ES)
 	...+>
 }

// Unmapping and unpinning

@unpin_pages@
iterator name vfio_resched_for_each_page;
identifier dma, iova, i, npage, pfn, unlocked, locked;
@@
 vfio_unpin_pages_remote(struct vfio_dma *dma, dma_addr_t iova, unsigned long pfn, long npage, ...)
 {
 	<+...
-	for (i = 0; i < npage; i++, iova += PAGE_SIZE) {
+	/* With iommu->lock only, a mutex; the IOTLB was flushed before. */
+	i = 0;
+	vfio_resched_for_each_page(dma->resched, i, npage) {
 		if (put_pfn(pfn++, dma->prot)) {
 			unlocked++;
 			if (vfio_find_vpfn(dma, iova))
 				locked++;
 		}
+		i++;
+		iova += PAGE_SIZE;
 	}
 	...+>
 }

@unpin_reserved@
identifier dma, i, npage, pfn, unlocked;
@@
 vfio_unpin_pages_remote(struct vfio_dma *dma, ...)
 {
 	<+...
 	for (i = 0; i < npage; i++)
-		if (put_pfn(pfn++, dma->prot))
-			unlocked++;
+	{
+		if (put_pfn(pfn++, dma->prot))
+			unlocked++;
+		/* With iommu->lock only, a mutex; the IOTLB was flushed before. */
+		vfio_resched_page(dma->resched, i);
+	}
 	...+>
 }

@unpin_range@
identifier dma, pfn, npage;
type T1, T2, T3;
@@
 vfio_unpin_pages_remote(struct vfio_dma *dma, T1 iova, T2 pfn, T3 npage, ...)
 {
 	<+...
-	put_valid_unreserved_pfns(pfn, npage, dma->prot);
+	/* With iommu->lock only, a mutex; the IOTLB was flushed before. */
+	vfio_resched_tick(dma->resched, npage * PAGE_SIZE);
+	vfio_resched_unpin(dma->resched, pfn_to_page(pfn), npage,
+                                   dma->prot & IOMMU_WRITE);
 	...+>
 }

@sync@
identifier dma;
@@
 vfio_sync_unpin(struct vfio_dma *dma, ...)
 {
 	<+...
-	cond_resched();
+	vfio_resched_point(dma->resched);
 	...+>
 }

@fast@
identifier dma, unmapped, unmapped_cnt;
@@
 unmap_unpin_fast(struct vfio_domain *domain, struct vfio_dma *dma, ...)
 {
 	<+...
-	if (*unmapped_cnt >= VFIO_IOMMU_TLB_SYNC_MAX || !unmapped)
+	if (*unmapped_cnt >= VFIO_IOMMU_TLB_SYNC_MAX ||
+            vfio_resched_flush(dma->resched, unmapped))
 	{
 		...
 	}
 	...+>
 }

@slow@
identifier dma;
@@
 unmap_unpin_slow(struct vfio_domain *domain, struct vfio_dma *dma, ...)
 {
 	<+...
-	cond_resched();
+	vfio_resched_point(dma->resched);
 	...+>
 }

@further@
identifier dma, d;
@@
 vfio_unmap_unpin(struct vfio_iommu *iommu, struct vfio_dma *dma, ...)
 {
 	<+...
-	iommu_unmap(d->domain, dma->iova, dma->size);
+	/* With iommu->lock only, a mutex; nothing is unpinned before all is done. */
+	vfio_resched_unmap(dma->resched, d->domain, dma->iova, dma->size);
-	cond_resched();
+	vfio_resched_point(dma->resched);
 	...+>
 }

@start@
identifier dma;
expression E;
@@
 vfio_unmap_unpin(struct vfio_iommu *iommu, struct vfio_dma *dma, ...)
 {
 	<+...
 	iommu_iotlb_gather_init(E);
+	vfio_resched_start_unmap(dma->resched, &dma->runs, dma->iova, dma->size);
 	...+>
 }

@lookup@
identifier dma, domain, iova, phys;
@@
 vfio_unmap_unpin(struct vfio_iommu *iommu, struct vfio_dma *dma, ...)
 {
 	<+...
 	phys =
-		iommu_iova_to_phys(domain->domain, iova)
+		vfio_resched_phys(dma->resched, domain->domain, iova)
 	;
 	...+>
 }

@scan@
identifier dma, domain, iova, phys, next, len;
expression E;
@@
 vfio_unmap_unpin(struct vfio_iommu *iommu, struct vfio_dma *dma, ...)
 {
 	<+...
 	for (len = PAGE_SIZE; E; len += PAGE_SIZE) {
+		/* With iommu->lock only, a mutex; what waits for its flush stays pinned. */
-		next = iommu_iova_to_phys(domain->domain, iova + len);
+		next = vfio_resched_scan(dma->resched, domain->domain, iova, phys, &len);
 		if (next != phys + len)
 			break;
 	}
 	...+>
 }

@done@
identifier dma;
@@
 vfio_unmap_unpin(struct vfio_iommu *iommu, struct vfio_dma *dma, ...)
 {
 	<+...
 	dma->iommu_mapped = false;
+	vfio_resched_unmapped(dma->resched, dma->size);
 	...+>
 }

@reaccount@
identifier iommu, vpfn, locked, p;
@@
 vfio_iommu_unmap_unpin_reaccount(struct vfio_iommu *iommu)
 {
 	<+...
 	for (; p; p = rb_next(p)) {
 		...
 		if (!is_invalid_reserved_pfn(vpfn->pfn))
 			locked++;
+		vfio_resched_tick(&iommu->resched, PAGE_SIZE);
 	}
 	...+>
 }

// Mappings that were not mapped to any domain are taken down by nothing but this.

@each_mapping@
identifier iommu;
expression E;
@@
 vfio_iommu_unmap_unpin_all(struct vfio_iommu *iommu)
 {
 	<+...
 	while (...)
-		vfio_remove_dma(iommu, E);
+	{
+		vfio_remove_dma(iommu, E);
+		vfio_resched_tick(&iommu->resched, VFIO_RESCHED_MAPPING);
+	}
 	...+>
 }

@vaddr@
identifier iommu, dma, unmapped;
@@
 vfio_dma_do_unmap(struct vfio_iommu *iommu, ...)
 {
 	<+...
 	unmapped += dma->size;
+	vfio_resched_tick(&iommu->resched, VFIO_RESCHED_MAPPING);
 	...+>
 }

@vaddr_undo@
identifier iommu, dma;
@@
 vfio_dma_do_unmap(struct vfio_iommu *iommu, ...)
 {
 	<+...
 	dma->vaddr_invalid = false;
 	iommu->vaddr_invalid_count--;
+	vfio_resched_tick(&iommu->resched, PAGE_SIZE);
 	...+>
 }

// Replay: 6.1 waits without the lock before it begins.

@replay_begin@
identifier iommu;
expression E;
@@
 vfio_iommu_replay(struct vfio_iommu *iommu, ...)
 {
 	<+...
 	vfio_batch_init(E);
+	vfio_resched_begin(&iommu->resched);
 	...+>
 }

@replay_end@
identifier iommu;
expression E;
@@
 vfio_iommu_replay(struct vfio_iommu *iommu, ...)
 {
 	<+...
+	vfio_resched_end(&iommu->resched);
 	vfio_batch_fini(E);
 	...+>
 }

@replay_scan@
identifier iommu;
symbol p;
@@
 vfio_iommu_replay(struct vfio_iommu *iommu, ...)
 {
 	<+...
 	p += PAGE_SIZE;
+	/* With iommu->lock only, a mutex. */
+	vfio_resched_tick(&iommu->resched, PAGE_SIZE);
 	...+>
 }

// What was not mapped before it failed.

@replay_gap@
identifier iommu, phys, iova;
@@
 vfio_iommu_replay(struct vfio_iommu *iommu, ...)
 {
 	<+...
 	if (!phys) {
 		iova += PAGE_SIZE;
+		/* With iommu->lock only, a mutex. */
+		vfio_resched_tick(&iommu->resched, PAGE_SIZE);
 		continue;
 	}
 	...+>
 }

@replay_mapped@
identifier iommu, dma;
@@
 vfio_iommu_replay(struct vfio_iommu *iommu, ...)
 {
 	<+...
 	dma->iommu_mapped = true;
+	vfio_resched_tick(&iommu->resched, PAGE_SIZE);
 	...+>
 }

@replay_map@
identifier iommu, domain;
expression E1, E2, E3;
expression list ES;
@@
 vfio_iommu_replay(struct vfio_iommu *iommu, ...)
 {
 	<+...
-	iommu_map(domain->domain, E1, E2, E3, ES)
+	vfio_resched_map(&iommu->resched, domain->domain, E1, E2, E3,
+                                               ES)
 	...+>
 }

@replay_unmap@
identifier iommu, domain;
expression list ES;
@@
 vfio_iommu_replay(struct vfio_iommu *iommu, ...)
 {
 	<+...
-	iommu_unmap(domain->domain, ES)
+	vfio_resched_unmap(&iommu->resched, domain->domain, ES)
 	...+>
 }

// Dirty bitmaps: with iommu->lock only, a mutex.

@populate@
identifier dma, p;
expression list ES;
@@
 vfio_dma_populate_bitmap(struct vfio_dma *dma, ...)
 {
 	<+...
 	bitmap_set(dma->bitmap, ES);
+	vfio_resched_tick(dma->resched, PAGE_SIZE);
 	...+>
 }

@populate_full@
identifier dma;
expression list ES;
@@
 vfio_iommu_populate_bitmap_full(...)
 {
 	<+...
-	bitmap_set(dma->bitmap, ES);
+	/* With iommu->lock only, a mutex. */
+	vfio_resched_bitmap_set(dma->resched, dma->bitmap, ES);
 	...+>
 }

@alloc_all@
identifier dma, pgsize;
@@
 vfio_dma_bitmap_alloc_all(...)
 {
 	<+...
 	vfio_dma_populate_bitmap(dma, pgsize);
+	/* A word of bitmap counts as a page. */
+	vfio_resched_tick(dma->resched, dma->size / BITS_PER_LONG);
 	...+>
 }

@free_all@
identifier dma;
identifier f = {vfio_dma_bitmap_alloc_all, vfio_dma_bitmap_free_all};
@@
 f(...)
 {
 	<+...
 	vfio_dma_bitmap_free(dma);
+	vfio_resched_tick(dma->resched, VFIO_RESCHED_MAPPING);
 	...+>
 }

@skip@
identifier dma, iova;
@@
 vfio_iova_dirty_bitmap(...)
 {
 	<+...
+	vfio_resched_tick(dma->resched, PAGE_SIZE);
 	if (dma->iova < iova)
 		continue;
 	...+>
 }

@update_set@
identifier dma;
expression list ES;
@@
 update_user_bitmap(...)
 {
 	<+...
-	bitmap_set(dma->bitmap, ES);
+	/* With iommu->lock only, a mutex. */
+	vfio_resched_bitmap_set(dma->resched, dma->bitmap, ES);
 	...+>
 }

@update_shift@
identifier dma;
expression E1, E2;
@@
 update_user_bitmap(...)
 {
 	<+...
-	bitmap_shift_left(dma->bitmap, dma->bitmap, E1, E2);
+	/* With iommu->lock only, a mutex. */
+	vfio_resched_bitmap_shift_left(dma->resched, dma->bitmap, E1, E2);
 	...+>
 }

@update_copy@
identifier dma;
expression E1, E2;
@@
 update_user_bitmap(...)
 {
 	<+...
-	copy_to_user(E1, dma->bitmap, E2)
+	vfio_resched_copy_to_user(dma->resched, E1,
+                                      dma->bitmap, E2)
 	...+>
 }

@dirty_clear@
identifier dma;
expression list ES;
@@
 vfio_iova_dirty_bitmap(...)
 {
 	<+...
-	bitmap_clear(dma->bitmap, ES);
+	/* With iommu->lock only, a mutex. */
+	vfio_resched_bitmap_clear(dma->resched, dma->bitmap, ES);
 	...+>
 }
