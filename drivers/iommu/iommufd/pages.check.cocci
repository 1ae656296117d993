// Where the calls of pages.cocci have to be. One match a rule.
// PLACE 15
@@
@@
 iommu_unmap_nofail(...)
 {
 	<+...
*	ret = vfio_resched_unmap(resched, domain, iova, size);
 	...+>
 }
@@
iterator name vfio_resched_for_each_page;
@@
 batch_from_domain(...)
 {
 	<+...
*	vfio_resched_for_each_page(area->resched, ...) {
 		...
 		start_index++;
 	}
 	...+>
 }
@@
@@
 batch_iommu_map_small(...)
 {
 	<+...
*	vfio_resched_yield(...);
 	...+>
 }
@@
@@
 batch_unpin(...)
 {
 	<+...
*	iopt_pages_sub_npinned(pages, npages);
 	while (first_page_off) {
 		...
 	}
 	...+>
 }
@@
@@
 batch_unpin(...)
 {
 	<+...
*	vfio_resched_unpin(&pages->resched, ...);
 	cur++;
 	...+>
 }
@@
@@
 iopt_area_unmap_domain_range(...)
 {
 	<+...
*	iommu_unmap_nofail(area->resched, ...);
 	...+>
 }
@@
@@
 iopt_area_unmap_domain(...)
 {
 	<+...
*	iommu_unmap_nofail(NULL, ...);
 	...+>
 }
@@
@@
 iopt_area_fill_domains(...)
 {
 	<+...
 	mutex_lock(&pages->mutex);
*	vfio_resched_begin(...);
 	...+>
 }
@@
@@
 iopt_area_unfill_domains(...)
 {
 	<+...
 	mutex_lock(&pages->mutex);
*	vfio_resched_begin(...);
 	...+>
 }
@@
@@
 iopt_area_unfill_domains(...)
 {
 	<+...
*	vfio_resched_end(...);
 	mutex_unlock(&pages->mutex);
 	...+>
 }
@@
@@
 iopt_area_unfill_domains(...)
 {
 	<+...
 	iopt_area_unfill_domain(...);
*	vfio_resched_unmapped(...);
 	...+>
 }
@@
@@
 pfn_reader_next(...)
 {
 	<+...
 	pfns->batch_end_index = ...;
*	vfio_resched_tick(&pfns->pages->resched, ...);
 	...+>
 }
