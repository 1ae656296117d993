/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ties defer.c to pci.c. Included by pci.c alone, once, where the driver's
 * structures are defined, as they are private to it; what is called from the
 * driver is one of the functions below and nothing else.
 *
 * Teardown, in the driver's order:
 *   nvme_suspend_queue()	interrupt freed, then stop: what is in the lanes
 *				is completed, and what completes from here on
 *				does so in place
 *   nvme_cancel_tagset()	waits for requests that a softirq has pushed
 *				after the stop, until their tags are free
 *   nvme_free_queue()		release: nothing is left to complete
 *   nvme_remove(), probe's	unregister: the workqueues go
 *   error path
 */
#ifndef _NVME_PCI_DEFER_H
#define _NVME_PCI_DEFER_H

#include <linux/sched/clock.h>

static void nvme_pci_complete_rq(struct request *req);

#ifdef CONFIG_NVME_DEFER

static void nvme_pci_complete_batch(struct io_comp_batch *iob);

/*
 * Unmapping copies what the device has written; a write only frees its slots.
 * The payload, as blk_rq_bytes() of a discard is what it discards.
 */
static u32 nvme_pci_defer_bytes(struct request *req)
{
	if (rq_dma_dir(req) != DMA_FROM_DEVICE ||
	    !blk_rq_nr_phys_segments(req))
		return 0;
	return blk_rq_payload_bytes(req);
}

static bool nvme_pci_defer_batch(struct request *req, struct io_comp_batch *iob)
{
	return blk_mq_add_to_batch(req, iob,
				   nvme_req(req)->status != NVME_SC_SUCCESS,
				   nvme_pci_complete_batch);
}

static const struct nvme_defer_ops nvme_pci_defer_ops = {
	.batch		= nvme_pci_defer_batch,
	.complete_batch	= nvme_pci_complete_batch,
	.complete	= nvme_pci_complete_rq,
	.bytes		= nvme_pci_defer_bytes,
	.clock		= local_clock,
};

static void nvme_pci_defer_gather_rq(struct request *req)
{
	struct nvme_queue *nvmeq = req->mq_hctx->driver_data;

	nvme_defer_gather(nvmeq->defer, req);
}

/*
 * The same for a queue that may defer. Without a batch to add to, this is not the
 * interrupt handler. The context is looked at before the request may be handed to
 * a softirq: where the handler is a thread, that must not defer either.
 *
 * Where everything goes to a worker, handing it to the CPU that submitted it, or
 * with one hardware queue to a softirq, would only be a detour.
 */
static noinline bool nvme_pci_defer_cqe_armed(struct nvme_queue *nvmeq,
					      struct io_comp_batch *iob,
					      struct request *req,
					      __le16 status,
					      union nvme_result result)
{
	bool gather = iob && nvme_defer_in_handler(nvmeq->defer);

	if (gather && nvme_defer_takes_all(nvmeq->defer)) {
		if (!nvme_take_result(req, status, result))
			blk_mq_complete_request_direct(req, nvme_pci_defer_gather_rq);
		return true;
	}
	if (nvme_try_complete_req(req, status, result))
		return true;
	if (gather)
		nvme_defer_gather(nvmeq->defer, req);
	return gather;
}

/*
 * nvme_handle_cqe(), in place of nvme_try_complete_req(): true if somebody
 * else completes the request, now including what runs after the CQ loop.
 */
static inline bool nvme_pci_defer_cqe(struct nvme_queue *nvmeq,
				      struct io_comp_batch *iob,
				      struct request *req, __le16 status,
				      union nvme_result result)
{
	if (nvme_defer_armed(nvmeq->defer))
		return nvme_pci_defer_cqe_armed(nvmeq, iob, req, status, result);
	return nvme_try_complete_req(req, status, result);
}

/* nvme_irq(), after the CQ loop. */
static inline void nvme_pci_defer_irq(struct nvme_queue *nvmeq)
{
	if (unlikely(nvmeq->defer->gathered))
		nvme_defer_irq(nvmeq->defer);
}

/* mq_ops->complete of I/O queues. */
static void nvme_pci_defer_complete_rq(struct request *req)
{
	struct nvme_queue *nvmeq = req->mq_hctx->driver_data;

	if (nvme_defer_armed(nvmeq->defer) &&
	    nvme_defer_softirq(nvmeq->defer, req))
		return;
	nvme_pci_complete_rq(req);
}

/* nvme_alloc_queue(), when the queue identifier is known. */
static inline void nvme_pci_defer_alloc(struct nvme_queue *nvmeq)
{
	nvmeq->defer = nvme_defer_queue(nvmeq->dev->defer, nvmeq->qid);
}

/* nvme_create_queue(), when the queue is live; under shutdown_lock, as is stop. */
static void nvme_pci_defer_start(struct nvme_queue *nvmeq, bool polled)
{
	struct pci_dev *pdev = to_pci_dev(nvmeq->dev->dev);
	const struct cpumask *cpus = NULL;
	int irq = 0;

	if (!polled) {
		irq = pci_irq_vector(pdev, nvmeq->cq_vector);
		cpus = pci_irq_get_affinity(pdev, nvmeq->cq_vector);
	}
	nvme_tune_set_facts(nvmeq->defer, max(irq, 0), nvmeq->q_depth, cpus);
	nvme_defer_start(nvmeq->defer, polled);
}

/* nvme_suspend_queue(), after the interrupt was freed. */
static inline void nvme_pci_defer_stop(struct nvme_queue *nvmeq)
{
	nvme_defer_stop(nvmeq->defer);
}

/* nvme_free_queue() */
static inline void nvme_pci_defer_release(struct nvme_queue *nvmeq)
{
	nvme_defer_release(nvmeq->defer);
}

/* nvme_probe(), before the first queue. */
static inline void nvme_pci_defer_register(struct nvme_dev *dev)
{
	dev->defer = nvme_defer_register(dev->dev, dev->ctrl.instance,
					 dev->nr_allocated_queues,
					 use_threaded_interrupts,
					 &nvme_pci_defer_ops);
}

/* nvme_remove() and the error path of nvme_probe(), after the last queue. */
static inline void nvme_pci_defer_unregister(struct nvme_dev *dev)
{
	nvme_defer_unregister(dev->defer);
	dev->defer = NULL;
}

#else /* !CONFIG_NVME_DEFER */

static inline bool nvme_pci_defer_cqe(struct nvme_queue *nvmeq,
				      struct io_comp_batch *iob,
				      struct request *req, __le16 status,
				      union nvme_result result)
{
	return nvme_try_complete_req(req, status, result);
}

static inline void nvme_pci_defer_irq(struct nvme_queue *nvmeq) { }
#define nvme_pci_defer_complete_rq nvme_pci_complete_rq
static inline void nvme_pci_defer_alloc(struct nvme_queue *nvmeq) { }
static inline void nvme_pci_defer_start(struct nvme_queue *nvmeq, bool polled) { }
static inline void nvme_pci_defer_stop(struct nvme_queue *nvmeq) { }
static inline void nvme_pci_defer_release(struct nvme_queue *nvmeq) { }
static inline void nvme_pci_defer_register(struct nvme_dev *dev) { }
static inline void nvme_pci_defer_unregister(struct nvme_dev *dev) { }

#endif /* CONFIG_NVME_DEFER */
#endif /* _NVME_PCI_DEFER_H */
