// Where the calls of pci-pools.cocci have to be. One match a rule.
// PLACE 13: a line each of statements that have several
@@
@@
 nvme_admin_init_hctx(...)
 {
 	...
*	return nvme_pci_init_hctx_common(...);
 }
@@
@@
 nvme_init_hctx(...)
 {
 	...
*	return nvme_pci_init_hctx_common(...);
 }
@@
expression list ES;
symbol pair;
@@
 nvme_setup_prp_pools(...)
 {
 	...
*	pair->page = dma_pool_create_node(ES, node);
 	...
 }
@@
symbol pair;
@@
 nvme_setup_prp_pools(...)
 {
 	<+...
 	if (!pair->small) {
 		dma_pool_destroy(pair->page);
*		pair->page = NULL;
 		return ...;
 	}
 	...+>
 }
@@
@@
 nvme_release_prp_pools(...)
 {
*	nvme_pci_pools_release(...);
 }
@@
@@
 nvme_probe(...)
 {
 	<+...
*	result = nvme_pci_pools_setup(dev);
 	...+>
 }
@@
@@
 nvme_setup_io_queues(...)
 {
 	<+...
*	nvme_pci_pools_prepare(...);
 	return 0;
 	...+>
 }
@@
@@
 nvme_reset_work(...)
 {
 	<+...
 	nvme_wait_freeze(...);
 	...
*	nvme_pci_pools_apply(...);
 	nvme_unfreeze(...);
 	...+>
 }
@@
@@
 nvme_free_prps(...)
 {
 	<+...
*	dma_pool_free(nvme_pci_pools_of(req)->page, ...);
 	...+>
 }
@@
@@
 nvme_unmap_data(...)
 {
 	<+...
*	dma_pool_free(nvme_pci_pools_of(req)->small, ...);
 	...+>
 }
