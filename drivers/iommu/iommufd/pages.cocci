// iommufd: let go of the CPU while an area is filled and unfilled, and hand the IOMMU
// no more at once than the interval.
//
// All of this runs with pages->mutex, which protects the walk; iopt_area_unmap_domain()
// does not, and has a walk of its own. Beside it only rwsems are held, so all may sleep.
// What is read back from a domain stays mapped, and pinned, while it is.
//
// The loops over the xarray hold a spinlock or the RCU read lock and do not let go of the
// CPU: what is in there was pinned by a driver's call, which takes 512 pages at the most.
//
// REQUIRES drivers/iommu/iommufd/pages.c
//
// EXPECT drivers/iommu/iommufd/pages.c 1 vfio_resched_init(&pages->resched, VFIO_RESCHED_IOMMUFD);
// EXPECT drivers/iommu/iommufd/pages.c 2 vfio_resched_begin(&pages->resched);
// EXPECT drivers/iommu/iommufd/pages.c 1 vfio_resched_unmapped(&pages->resched,
// EXPECT drivers/iommu/iommufd/pages.c 1 vfio_resched_unmap(
// EXPECT drivers/iommu/iommufd/pages.c 1 vfio_resched_unpin(&pages->resched,
// EXPECT drivers/iommu/iommufd/pages.c 1 vfio_resched_page(area->resched, start_index);
// EXPECT drivers/iommu/iommufd/pages.c 1 vfio_resched_yield(VFIO_RESCHED_IOMMUFD);
// EXPECT drivers/iommu/iommufd/pages.c 1 vfio_resched_tick(&pfns->pages->resched,
// EXPECT drivers/iommu/iommufd/pages.c 1 vfio_resched_map(area->resched,
// EXPECT drivers/iommu/iommufd/pages.c 2 iommu_unmap_nofail(area->resched,
// EXPECT drivers/iommu/iommufd/pages.c 2 iommu_unmap_nofail(NULL,

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

@from_domain@
identifier area, start_index;
@@
 batch_from_domain(..., struct iopt_area *area, unsigned long start_index, ...)
 {
 	<+...
 	start_index++;
+	/* With pages->mutex, which sleeps; what is read stays mapped. */
+	vfio_resched_page(area->resched, start_index);
 	...+>
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

@unpin@
identifier pages;
expression E1, E2;
@@
 batch_unpin(..., struct iopt_pages *pages, ...)
 {
 	<+...
-	unpin_user_page_range_dirty_lock(E1, E2, pages->writable);
+	/* With pages->mutex, which sleeps; the IOTLB was flushed before. */
+	vfio_resched_unpin(&pages->resched, E1,
+                                   E2, pages->writable);
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
