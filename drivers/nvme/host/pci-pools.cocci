// PRP descriptor pools by device, node or queue: the calls into pci-pools.h. Kernels
// since 6.16 have pools by node of their own.
//
// PROVIDED drivers/nvme/host/pci.c struct nvme_descriptor_pools
// EXPECT drivers/nvme/host/pci.c 1 #include "prp-pools.h"
// EXPECT drivers/nvme/host/pci.c 1 #include "pci-pools.h"
// EXPECT drivers/nvme/host/pci.c 0 prp_page_pool
// EXPECT drivers/nvme/host/pci.c 0 prp_small_pool
// EXPECT drivers/nvme/host/pci.c 1 struct nvme_prp_pair prp_device;
// EXPECT drivers/nvme/host/pci.c 1 struct nvme_prp_ctrl *prp;
// EXPECT drivers/nvme/host/pci.c 1 struct nvme_prp_pair prp;
// EXPECT drivers/nvme/host/pci.c 2 = dma_pool_create_node(
// EXPECT drivers/nvme/host/pci.c 0 dma_pool_create(
// EXPECT drivers/nvme/host/pci.c 1 pair->page = NULL;
// EXPECT drivers/nvme/host/pci.c 1 result = nvme_pci_pools_setup(dev);
// EXPECT drivers/nvme/host/pci.c 1 nvme_pci_pools_release(dev);
// EXPECT drivers/nvme/host/pci.c 2 return nvme_pci_init_hctx_common(
// EXPECT drivers/nvme/host/pci.c 1 nvme_pci_pools_prepare(dev);
// EXPECT drivers/nvme/host/pci.c 1 nvme_pci_pools_apply(dev);

@header@
@@
 #include "nvme.h"
+#include "prp-pools.h"

@dev_member@
@@
 struct nvme_dev {
 	...
-	struct dma_pool *prp_page_pool;
-	struct dma_pool *prp_small_pool;
+	struct nvme_prp_pair prp_device;
+	struct nvme_prp_ctrl *prp;
 	...
 };

@queue_member@
@@
 struct nvme_queue {
 	struct nvme_dev *dev;
+	struct nvme_prp_pair prp;
 	...
 };

// Where the driver's structures are known and nothing of ours is used yet.
@glue@
@@
+#include "pci-pools.h"
+
 nvme_dbbuf_size(...) {
 	...
 }

// What else this kernel has in it stays: sizes, the alignment quirk of 6.12.
@setup depends on dev_member@
identifier dev;
@@
 nvme_setup_prp_pools(struct nvme_dev *dev
+		, struct nvme_prp_pair *pair, int node
 		)
 {
 	<...
(
-	dev->prp_page_pool
+	pair->page
|
-	dev->prp_small_pool
+	pair->small
)
 	...>
 }

@setup_node depends on setup@
expression list ES;
@@
 nvme_setup_prp_pools(...)
 {
 	<+...
-	dma_pool_create
+	dma_pool_create_node
 	(ES
+	, node
 	)
 	...+>
 }

// What failed must not be taken for a pool later on.
@setup_undo depends on setup@
symbol pair;
@@
 nvme_setup_prp_pools(...)
 {
 	<+...
 	dma_pool_destroy(pair->page);
+	pair->page = NULL;
 	...+>
 }

@release depends on dev_member@
identifier dev;
@@
 nvme_release_prp_pools(struct nvme_dev *dev)
 {
-	dma_pool_destroy(dev->prp_page_pool);
-	dma_pool_destroy(dev->prp_small_pool);
+	nvme_pci_pools_release(dev);
 }

@probe depends on dev_member@
identifier dev, result;
@@
 nvme_probe(...)
 {
 	<+...
-	result = nvme_setup_prp_pools(dev);
+	result = nvme_pci_pools_setup(dev);
 	...+>
 }

@io depends on dev_member@
identifier fn, dev, req;
@@
 fn(struct nvme_dev *dev, struct request *req, ...)
 {
 	<+...
(
-	dev->prp_page_pool
+	nvme_pci_pools_of(req)->page
|
-	dev->prp_small_pool
+	nvme_pci_pools_of(req)->small
)
 	...+>
 }

@admin_init_hctx@
identifier hctx, dev, nvmeq;
@@
 nvme_admin_init_hctx(struct blk_mq_hw_ctx *hctx, ...)
 {
 	struct nvme_dev *dev = ...;
-	struct nvme_queue *nvmeq = &dev->queues[0];
 	...
-	hctx->driver_data = nvmeq;
-	return 0;
+	return nvme_pci_init_hctx_common(hctx, dev, 0);
 }

@init_hctx@
identifier hctx, dev, nvmeq, idx;
symbol data;
@@
 nvme_init_hctx(struct blk_mq_hw_ctx *hctx, void *data, unsigned int idx)
 {
 	struct nvme_dev *dev = ...;
-	struct nvme_queue *nvmeq = &dev->queues[idx + 1];
	WARN_ON(...);
-	hctx->driver_data = nvmeq;
-	return 0;
+	return nvme_pci_init_hctx_common(hctx, dev, idx + 1);
 }

@prepare@
identifier dev;
@@
 nvme_setup_io_queues(struct nvme_dev *dev)
 {
 	<+...
 	dev_info(...);
+	nvme_pci_pools_prepare(dev);
 	return 0;
 	...+>
 }

@apply@
identifier dev;
@@
 nvme_reset_work(...)
 {
 	<+...
+	nvme_pci_pools_apply(dev);
 	nvme_unfreeze(&dev->ctrl);
 	...+>
 }
