// QEMU's drive has shadow doorbells. Until 6.4 the driver starts its queues after a
// reset before the drive is told of them: commands that are submitted in between may
// never be seen, and time out. Not ours, and found with deferral off; but tests that
// reset under load are of no use with it. The order of 6.5, for images with tests.
//
// PROVIDED drivers/nvme/host/pci.c nvme_unquiesce_io_queues(
// EXPECT drivers/nvme/host/pci.c 1 /* Before the queues start. */

@@
@@
 nvme_reset_work(...)
 {
 	<...
+	/* Before the queues start. */
+	nvme_dbbuf_set(dev);
 	nvme_start_queues(&dev->ctrl);
 	nvme_wait_freeze(&dev->ctrl);
 	if (!dev->ctrl.tagset)
 		nvme_pci_alloc_tag_set(dev);
 	else if (!nvme_pci_update_nr_queues(dev))
 		goto out;
-	nvme_dbbuf_set(dev);
 	...
 	nvme_unfreeze(&dev->ctrl);
 	...>
 }
