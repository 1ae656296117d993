// PLACE 1
@told@
@@
 nvme_reset_work(...)
 {
 	<...
*	nvme_dbbuf_set(dev);
 	nvme_start_queues(&dev->ctrl);
 	...>
 }
