// Where the calls of io_pagetable.cocci have to be. One match a rule.
// PLACE 5
@@
@@
 iopt_insert_area(...)
 {
 	<+...
*	area->resched = &pages->resched;
 	interval_tree_insert(...);
 	...+>
 }
@@
@@
 iopt_unfill_domain(...)
 {
 	<+...
 	iopt_area_unfill_domain(area, pages, domain);
*	vfio_resched_unmapped(...);
 	...+>
 }
@@
@@
 iopt_fill_domain(...)
 {
 	<+...
*	vfio_resched_begin(area->resched);
 	rc = iopt_area_fill_domain(area, domain);
 	...+>
 }
@@
@@
 iopt_fill_domain(...)
 {
 	<+...
*	vfio_resched_begin(&pages->resched);
 	iopt_area_unfill_domain(area, pages, domain);
 	...+>
 }
@@
@@
 iopt_unfill_domain(...)
 {
 	<+...
*	vfio_resched_begin(&pages->resched);
 	iopt_area_unfill_domain(area, pages, domain);
 	...+>
 }
