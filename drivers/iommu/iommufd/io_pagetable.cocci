// iommufd: the walk of each iopt_pages.
//
// REQUIRES drivers/iommu/iommufd/io_pagetable.c
// UNPARSED drivers/iommu/iommufd/io_pagetable.h #define __make_iopt_iter(name)
// UNPARSED drivers/iommu/iommufd/io_pagetable.h #define iopt_for_each_contig_area(iter, area
//
// EXPECT drivers/iommu/iommufd/io_pagetable.h 1 #include <linux/vfio_resched.h>
// EXPECT drivers/iommu/iommufd/io_pagetable.h 1 struct vfio_resched *resched;
// EXPECT drivers/iommu/iommufd/io_pagetable.h 1 struct vfio_resched resched;
// EXPECT drivers/iommu/iommufd/io_pagetable.c 1 area->resched = &pages->resched;
// EXPECT drivers/iommu/iommufd/io_pagetable.c 1 vfio_resched_unmapped(&pages->resched,
// EXPECT drivers/iommu/iommufd/io_pagetable.c 3 vfio_resched_begin(
// EXPECT drivers/iommu/iommufd/io_pagetable.c 3 vfio_resched_end(

@header@
@@
 #include <linux/xarray.h>
+#include <linux/vfio_resched.h>

@area_member@
@@
 struct iopt_area {
 	...
 	struct iommu_domain *storage_domain;
+	struct vfio_resched *resched;
 	...
 };

@pages_member@
@@
 struct iopt_pages {
 	struct kref kref;
 	struct mutex mutex;
+	struct vfio_resched resched;
 	...
 };

@insert@
identifier iopt, area, pages;
@@
 iopt_insert_area(struct io_pagetable *iopt, struct iopt_area *area, struct iopt_pages *pages, ...)
 {
 	<+...
 	area->iopt = iopt;
+	area->resched = &pages->resched;
 	...+>
 }

// Attach and detach, and the end of a process: with pages->mutex and two rwsems, which
// sleep. Between areas the end of each walk lets go of the CPU.

@fill@
identifier area, domain, rc;
@@
 iopt_fill_domain(...)
 {
 	<+...
+	vfio_resched_begin(area->resched);
 	rc = iopt_area_fill_domain(area, domain);
+	vfio_resched_end(area->resched);
 	...+>
 }

@unfill@
identifier area, domain, pages;
identifier f = {iopt_fill_domain, iopt_unfill_domain};
@@
 f(...)
 {
 	<+...
+	vfio_resched_begin(&pages->resched);
 	iopt_area_unfill_domain(area, pages, domain);
+	vfio_resched_end(&pages->resched);
 	...+>
 }

// Its last domain: nothing is left of it for iopt_area_unfill_domains() to count.

@unfilled depends on unfill@
identifier area, domain, pages;
@@
 iopt_unfill_domain(...)
 {
 	<+...
 	iopt_area_unfill_domain(area, pages, domain);
+	vfio_resched_unmapped(&pages->resched, iopt_area_length(area));
 	...+>
 }
