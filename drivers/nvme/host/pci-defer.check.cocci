// Where the calls of pci-defer.cocci have to be. One match a rule.
// PLACE 10
@@
@@
 nvme_handle_cqe(...)
 {
 	<+...
 	if (
*	    !nvme_pci_defer_cqe(...)
 	    && !blk_mq_add_to_batch(...))
 		nvme_pci_complete_rq(...);
 	...+>
 }
@@
@@
 nvme_irq(...)
 {
 	<+...
*	nvme_pci_defer_irq(...);
 	return IRQ_HANDLED;
 	...+>
 }
@@
@@
 struct blk_mq_ops nvme_mq_ops = {
*	.complete = nvme_pci_defer_complete_rq,
 };
@@
@@
 nvme_alloc_queue(...)
 {
 	<+...
*	nvme_pci_defer_alloc(...);
 	...+>
 }
@@
@@
 nvme_create_queue(...)
 {
 	<+...
*	nvme_pci_defer_start(...);
 	mutex_unlock(...);
 	...+>
 }
@@
@@
 nvme_suspend_queue(...)
 {
 	<+...
 	pci_free_irq(...);
 	...
*	nvme_pci_defer_stop(...);
 	...+>
 }
@@
@@
 nvme_free_queue(...)
 {
*	nvme_pci_defer_release(...);
 	dma_free_coherent(...);
 	...
 }
@@
@@
 nvme_probe(...)
 {
 	<+...
*	nvme_pci_defer_register(...);
 	...+>
 }
@@
@@
 nvme_probe(...)
 {
 	<+...
*	nvme_pci_defer_unregister(...);
 	nvme_dev_unmap(...);
 	...+>
 }
@@
@@
 nvme_remove(...)
 {
 	<+...
*	nvme_pci_defer_unregister(...);
 	nvme_dev_unmap(...);
 	...+>
 }
