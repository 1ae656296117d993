// Deferred completion in the NVMe PCI driver: the calls into pci-defer.h.
//
// EXPECT drivers/nvme/host/pci.c 1 #include "defer.h"
// EXPECT drivers/nvme/host/pci.c 1 #include "pci-defer.h"
// EXPECT drivers/nvme/host/pci.c 1 struct nvme_defer *defer;
// EXPECT drivers/nvme/host/pci.c 1 struct nvme_defer_ctrl *defer;
// EXPECT drivers/nvme/host/pci.c 1 nvme_pci_defer_cqe(
// EXPECT drivers/nvme/host/pci.c 0 nvme_try_complete_req(
// EXPECT drivers/nvme/host/pci.c 1 nvme_pci_defer_irq(
// EXPECT drivers/nvme/host/pci.c 1 = nvme_pci_defer_complete_rq,
// EXPECT drivers/nvme/host/pci.c 1 nvme_pci_defer_alloc(
// EXPECT drivers/nvme/host/pci.c 1 nvme_pci_defer_start(
// EXPECT drivers/nvme/host/pci.c 1 nvme_pci_defer_stop(
// EXPECT drivers/nvme/host/pci.c 1 nvme_pci_defer_release(
// EXPECT drivers/nvme/host/pci.c 1 nvme_pci_defer_register(
// EXPECT drivers/nvme/host/pci.c 2 nvme_pci_defer_unregister(

@header@
@@
 #include "nvme.h"
+#include "defer.h"

@dev_member@
@@
 struct nvme_dev {
 	struct nvme_queue *queues;
+	struct nvme_defer_ctrl *defer;
 	...
 };

@queue_member@
@@
 struct nvme_queue {
 	struct nvme_dev *dev;
+	struct nvme_defer *defer;
 	...
 };

// Where the driver's structures are known and nothing of ours is used yet.
@glue@
@@
+#include "pci-defer.h"
+
 nvme_dbbuf_size(...) {
 	...
 }

@cqe@
identifier nvmeq, iob, req;
expression status, result;
@@
 nvme_handle_cqe(struct nvme_queue *nvmeq, struct io_comp_batch *iob, ...)
 {
 	<+...
 	if (
-	    !nvme_try_complete_req(req, status, result)
+	    !nvme_pci_defer_cqe(nvmeq, iob, req, status, result)
 	    && !blk_mq_add_to_batch(req, ...))
 		nvme_pci_complete_rq(req);
 	...+>
 }

@irq@
identifier nvmeq;
@@
 nvme_irq(int irq, void *data)
 {
 	<+...
 	if (nvme_poll_cq(nvmeq, ...)) {
 		...
+		nvme_pci_defer_irq(nvmeq);
 		return IRQ_HANDLED;
 	}
 	...+>
 }

@complete@
@@
 struct blk_mq_ops nvme_mq_ops = {
	.complete =
-	nvme_pci_complete_rq
+	nvme_pci_defer_complete_rq
	,
 };

@alloc@
identifier nvmeq, id;
@@
 nvme_alloc_queue(...)
 {
 	<+...
 	nvmeq->qid = id;
+	nvme_pci_defer_alloc(nvmeq);
 	...+>
 }

@start@
identifier nvmeq, polled;
type T1, T2, T3;
identifier id;
@@
 nvme_create_queue(T1 nvmeq, T2 id, T3 polled)
 {
 	<+...
 	set_bit(NVMEQ_ENABLED, &nvmeq->flags);
+	nvme_pci_defer_start(nvmeq, polled);
 	...+>
 }

@stop@
expression E1, E2, nvmeq;
@@
 nvme_suspend_queue(...)
 {
 	... when any
 	if (!test_and_clear_bit(NVMEQ_POLLED, ...))
 		pci_free_irq(E1, E2, nvmeq);
+	nvme_pci_defer_stop(nvmeq);
 	...
 }

@release@
identifier nvmeq;
@@
 nvme_free_queue(struct nvme_queue *nvmeq)
 {
+	nvme_pci_defer_release(nvmeq);
 	...
 }

@probe@
identifier dev, result, L;
@@
 nvme_probe(...)
 {
 	<+...
 	result = nvme_dev_map(dev);
 	if (result)
 		goto L;
+	nvme_pci_defer_register(dev);
 	...+>
 }

@probe_error@
identifier dev;
@@
 nvme_probe(...)
 {
 	<+...
+	nvme_pci_defer_unregister(dev);
 	nvme_dev_unmap(dev);
 	...+>
 }

@remove@
identifier dev;
@@
 nvme_remove(...)
 {
 	<+...
+	nvme_pci_defer_unregister(dev);
 	nvme_dev_unmap(dev);
 	...+>
 }
