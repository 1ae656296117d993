// A failed reset, or one that a removal overtakes, leaves queues frozen, and somebody
// else thaws or removes them. To lockdep a freeze is a lock of the task that began it:
// it reports the worker that ends with it, and once the queue is gone it stumbles over
// the class that it holds, with the run queue's lock held, and the machine stands. Not
// ours; 6.13 has nobody own it. The same, for images with tests.
//
// REQUIRES include/linux/blk-mq.h blk_freeze_queue_start_non_owner(
// PROVIDED drivers/nvme/host/core.c blk_freeze_queue_start_non_owner(
// EXPECT drivers/nvme/host/core.c 1 blk_freeze_queue_start_non_owner(
// EXPECT drivers/nvme/host/core.c 1 blk_mq_unfreeze_queue_non_owner(

@start@
@@
 nvme_start_freeze(...)
 {
 	<...
-	blk_freeze_queue_start
+	blk_freeze_queue_start_non_owner
 	(...);
 	...>
 }

@unfreeze@
@@
 nvme_unfreeze(...)
 {
 	<...
-	blk_mq_unfreeze_queue
+	blk_mq_unfreeze_queue_non_owner
 	(...);
 	...>
 }
