// iommufd: let go of the CPU while an area is filled and unfilled, and hand the IOMMU
// no more at once than the interval.
//
// All of this runs with pages->mutex, which protects the walk; iopt_area_unmap_domain()
// does not, and has a walk of its own. Beside it only rwsems are held, so all may sleep.
// What is read back from a domain stays mapped, and pinned, while it is.
//
// The loops over the xarray hold a spinlock or the RCU read lock. They are called for so
// many pages at a time, and again for what is left.
//
// REQUIRES drivers/iommu/iommufd/pages.c
//
// EXPECT drivers/iommu/iommufd/pages.c 1 vfio_resched_init(&pages->resched, VFIO_RESCHED_IOMMUFD);
// EXPECT drivers/iommu/iommufd/pages.c 2 vfio_resched_begin(&pages->resched);
// EXPECT drivers/iommu/iommufd/pages.c 1 vfio_resched_unmapped(&pages->resched,
// EXPECT drivers/iommu/iommufd/pages.c 1 vfio_resched_unmap(
// EXPECT drivers/iommu/iommufd/pages.c 1 vfio_resched_tick(&pages->resched,
// EXPECT drivers/iommu/iommufd/pages.c 0 iopt_pages_sub_npinned(pages, to_unpin);
// EXPECT drivers/iommu/iommufd/pages.c 1 vfio_resched_unpin(&pages->resched,
// EXPECT drivers/iommu/iommufd/pages.c 1 vfio_resched_for_each_page(area->resched, start_index,
// EXPECT drivers/iommu/iommufd/pages.c 1 vfio_resched_yield(VFIO_RESCHED_IOMMUFD);
// EXPECT drivers/iommu/iommufd/pages.c 1 vfio_resched_tick(&pfns->pages->resched,
// EXPECT drivers/iommu/iommufd/pages.c 1 vfio_resched_map(area->resched,
// EXPECT drivers/iommu/iommufd/pages.c 2 iommu_unmap_nofail(area->resched,
// EXPECT drivers/iommu/iommufd/pages.c 2 iommu_unmap_nofail(NULL,
// EXPECT drivers/iommu/iommufd/pages.c 2 vfio_resched_last(

@alloc@
identifier pages;
@@
 kref_init(&pages->kref);
+vfio_resched_init(&pages->resched, VFIO_RESCHED_IOMMUFD);

@nofail@
identifier domain, iova, size;
@@
 iommu_unmap_nofail(
-	struct iommu_domain *domain, unsigned long iova, size_t size
+struct vfio_resched *resched, struct iommu_domain *domain,
+                               unsigned long iova, size_t size
 	)
 {
 	<+...
-	iommu_unmap(domain, iova, size)
+	vfio_resched_unmap(resched, domain, iova, size)
 	...+>
 }

@nofail_area@
identifier area;
expression E1, E2, E3;
identifier f = {iopt_area_unmap_domain_range, batch_to_domain};
@@
 f(..., struct iopt_area *area, ...)
 {
 	<+...
-	iommu_unmap_nofail(E1, E2, E3);
+	iommu_unmap_nofail(area->resched, E1, E2,
+                           E3);
 	...+>
 }

@nofail_alone@
expression list ES;
identifier f = {iopt_area_unmap_domain, batch_iommu_map_small};
@@
 f(...)
 {
 	<+...
-	iommu_unmap_nofail(ES);
+	iommu_unmap_nofail(NULL, ES);
 	...+>
 }

@from_xarray@
expression first, last, batch, xa;
identifier f = {pfn_reader_fill_span, iopt_pages_unpin_xarray};
@@
 f(...)
 {
 	<+...
(
-	batch_from_xarray(batch, xa, first, last);
+	batch_from_xarray(batch, xa, first,
+                                  vfio_resched_last(first, last));
|
-	batch_from_xarray_clear(batch, xa, first, last);
+	batch_from_xarray_clear(batch, xa, first,
+                                        vfio_resched_last(first, last));
)
 	...+>
 }

@from_domain@
iterator name vfio_resched_for_each_page;
identifier area, start_index, last_index;
@@
 batch_from_domain(..., struct iopt_area *area, unsigned long start_index, unsigned long last_index)
 {
 	...
-	while (start_index <= last_index) {
+	/* With pages->mutex, which sleeps; what is read stays mapped. */
+	vfio_resched_for_each_page(area->resched, start_index, last_index + 1) {
 		...
 	}
 }

// Contiguous memory takes little room in a batch, which is filled before it is mapped.

@filled@
identifier pfns;
symbol npfns;
@@
 pfn_reader_next(struct pfn_reader *pfns)
 {
 	<+...
 	pfns->batch_end_index =
 		pfns->batch_start_index + pfns->batch.total_pfns;
+	/* With pages->mutex, which sleeps; what was pinned stays so. */
+	vfio_resched_tick(&pfns->pages->resched,
+                                  (u64)(pfns->batch.total_pfns - npfns) * PAGE_SIZE);
 	...+>
 }

@map_small@
expression size;
@@
 batch_iommu_map_small(...)
 {
 	<+...
 	size -= PAGE_SIZE;
+	/* With pages->mutex, which sleeps. */
+	vfio_resched_yield(VFIO_RESCHED_IOMMUFD);
 	...+>
 }

@map@
identifier area, domain, iova;
expression E1, E2;
expression list ES;
@@
 batch_to_domain(..., struct iopt_area *area, ...)
 {
 	<+...
-	iommu_map(domain, iova, E1, E2, ES)
+	vfio_resched_map(area->resched, domain, iova,
+                                              E1,
+                                              E2,
+                                              ES)
 	...+>
 }

// Accounted once a batch and not once a run, which pays for looking at its length.

@unpin_all@
identifier pages, npages;
@@
 batch_unpin(..., struct iopt_pages *pages, unsigned int first_page_off, size_t npages)
 {
 	...
+	vfio_resched_tick(&pages->resched, npages * PAGE_SIZE);
+	iopt_pages_sub_npinned(pages, npages);
 	while (first_page_off) {
 		...
 	}
 	...
 }

@unpin@
identifier pages;
expression E1, E2, E3;
@@
 batch_unpin(..., struct iopt_pages *pages, ...)
 {
 	<+...
-	unpin_user_page_range_dirty_lock(E1, E2, pages->writable);
+	/* With pages->mutex, which sleeps; the IOTLB was flushed before. */
+	vfio_resched_unpin(&pages->resched, E1,
+                                   E2, pages->writable);
-	iopt_pages_sub_npinned(pages, E3);
 	...+>
 }

@lock@
identifier pages;
identifier f = {iopt_area_fill_domains, iopt_area_unfill_domains};
@@
 f(...)
 {
 	<+...
 	mutex_lock(&pages->mutex);
+	vfio_resched_begin(&pages->resched);
 	...+>
 }

@unlock@
identifier pages;
identifier f = {iopt_area_fill_domains, iopt_area_unfill_domains};
@@
 f(...)
 {
 	<+...
+	vfio_resched_end(&pages->resched);
 	mutex_unlock(&pages->mutex);
 	...+>
 }

@done@
identifier area, pages;
expression E;
@@
 iopt_area_unfill_domains(...)
 {
 	<+...
 	iopt_area_unfill_domain(area, pages, E);
+	vfio_resched_unmapped(&pages->resched, iopt_area_length(area));
 	...+>
 }
