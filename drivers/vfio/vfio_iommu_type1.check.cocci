// Where the calls of vfio_iommu_type1.cocci have to be. One match a rule.
// PLACE 33
@@
@@
 vfio_link_dma(...)
 {
 	<+...
*	new->resched = &iommu->resched;
 	rb_link_node(...);
 	...+>
 }
@@
@@
 vfio_pin_pages_remote(...)
 {
 	<+...
*	vfio_resched_run(&dma->runs, ...);
 	if (batch->size) {
 		...
 	} else {
 		...
 	}
 	...+>
 }
@@
@@
 vfio_pin_pages_remote(...)
 {
 	<+...
 	if (!batch->size) {
*		vfio_resched_point(dma->resched);
 		...
 	}
 	...+>
 }
@@
iterator name vfio_resched_for_each_page;
@@
 vfio_unpin_pages_remote(...)
 {
 	<+...
(
*	vfio_resched_for_each_page(dma->resched, i, npage) {
 		...
 		iova += PAGE_SIZE;
 	}
|
*	vfio_resched_tick(dma->resched, npage * PAGE_SIZE);
)
 	...+>
 }
@@
@@
 vfio_sync_unpin(...)
 {
 	<+...
 	iommu_iotlb_sync(...);
 	...
*	vfio_resched_point(dma->resched);
 	...+>
 }
@@
@@
 unmap_unpin_slow(...)
 {
 	<+...
 	if (unmapped) {
 		...
*		vfio_resched_point(dma->resched);
 	}
 	...+>
 }
@@
@@
 unmap_unpin_fast(...)
 {
 	<+...
 	if (*unmapped_cnt >= VFIO_IOMMU_TLB_SYNC_MAX ||
*	    vfio_resched_flush(...)
 	   ) {
 		...
 	}
 	...+>
 }
@@
@@
 vfio_unmap_unpin(...)
 {
 	<+...
*	vfio_resched_unmap(dma->resched, d->domain, dma->iova, dma->size);
 	vfio_resched_point(dma->resched);
 	...+>
 }
@@
@@
 vfio_unmap_unpin(...)
 {
 	<+...
 	iommu_iotlb_gather_init(...);
*	vfio_resched_start_unmap(...);
 	...+>
 }
@@
@@
 vfio_unmap_unpin(...)
 {
 	<+...
*	phys = vfio_resched_phys(dma->resched, domain->domain, iova);
 	if (WARN_ON(!phys)) {
 		...
 	}
 	...+>
 }
@@
@@
 vfio_unmap_unpin(...)
 {
 	<+...
*	next = vfio_resched_scan(dma->resched, domain->domain, iova, phys, &len);
 	if (next != phys + len)
 		break;
 	...+>
 }
@@
@@
 vfio_unmap_unpin(...)
 {
 	<+...
 	dma->iommu_mapped = false;
*	vfio_resched_unmapped(...);
 	...+>
 }
@@
@@
 vfio_iommu_map(...)
 {
 	<+...
*	ret = vfio_resched_map(...);
 	if (ret)
 		goto unwind;
 	...+>
 }
@@
@@
 vfio_iommu_replay(...)
 {
 	<+...
 	vfio_batch_init(...);
*	vfio_resched_begin(...);
 	...+>
 }
@@
@@
 vfio_iommu_replay(...)
 {
 	<+...
*	ret = vfio_resched_map(...);
 	if (ret) {
 		...
 	}
 	...+>
 }
@@
@@
 vfio_notify_dma_unmap(...)
 {
 	<+...
*	vfio_resched_end(...);
 	mutex_unlock(&iommu->lock);
 	...+>
 }
@@
@@
 vfio_notify_dma_unmap(...)
 {
 	<+...
 	mutex_lock(&iommu->lock);
*	vfio_resched_begin(...);
 	...+>
 }
@@
@@
 vfio_dma_do_unmap(...)
 {
 	<+...
 	mutex_lock(&iommu->lock);
*	vfio_resched_begin(...);
 	...+>
 }
@@
@@
 vfio_dma_do_unmap(...)
 {
 	<+...
*	vfio_resched_end(...);
 	mutex_unlock(&iommu->lock);
 	...+>
 }
@@
@@
 vfio_dma_do_map(...)
 {
 	<+...
 	mutex_lock(&iommu->lock);
*	vfio_resched_begin(...);
 	...+>
 }
@@
@@
 vfio_dma_do_map(...)
 {
 	<+...
*	vfio_resched_end(...);
 	mutex_unlock(&iommu->lock);
 	...+>
 }
@@
@@
 vfio_iommu_type1_detach_group(...)
 {
 	<+...
 	mutex_lock(&iommu->lock);
*	vfio_resched_begin(...);
 	...+>
 }
@@
@@
 vfio_iommu_type1_detach_group(...)
 {
 	<+...
*	vfio_resched_end(...);
 	mutex_unlock(&iommu->lock);
 	...+>
 }
@@
@@
 vfio_iommu_type1_release(...)
 {
 	<+...
 	vfio_iommu_unmap_unpin_all(...);
*	vfio_resched_end(...);
 	...+>
 }
@@
@@
 update_user_bitmap(...)
 {
 	<+...
*	vfio_resched_bitmap_shift_left(dma->resched, dma->bitmap, ...);
 	...+>
 }
@@
@@
 vfio_iova_dirty_bitmap(...)
 {
 	<+...
*	vfio_resched_bitmap_clear(dma->resched, dma->bitmap, ...);
 	vfio_dma_populate_bitmap(...);
 	...+>
 }
@@
@@
 vfio_iova_dirty_bitmap(...)
 {
 	<+...
*	vfio_resched_tick(dma->resched, PAGE_SIZE);
 	if (dma->iova < iova)
 		continue;
 	...+>
 }
@@
@@
 vfio_iommu_unmap_unpin_all(...)
 {
 	<+...
 	vfio_remove_dma(...);
*	vfio_resched_tick(&iommu->resched, ...);
 	...+>
 }
@@
@@
 vfio_iommu_replay(...)
 {
 	<+...
 	if (!phys) {
 		...
*		vfio_resched_tick(&iommu->resched, PAGE_SIZE);
 		continue;
 	}
 	...+>
 }
@@
@@
 vfio_dma_do_unmap(...)
 {
 	<+...
 	iommu->vaddr_invalid_count--;
*	vfio_resched_tick(&iommu->resched, PAGE_SIZE);
 	...+>
 }
