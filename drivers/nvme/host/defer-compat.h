/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the kernels that we build on differ. Feature tests, no versions.
 */
#ifndef _NVME_DEFER_COMPAT_H
#define _NVME_DEFER_COMPAT_H

#include <linux/blk-mq.h>

/*
 * 6.1 has rq_list_add() on a bare pointer, later kernels rq_list_add_head() on
 * a struct rq_list. Peek and pop take the list's address in all of them.
 */
#ifdef rq_list_add
#define nvme_defer_list_add_head(list, rq)	rq_list_add(list, rq)
#else
#define nvme_defer_list_add_head(list, rq)	rq_list_add_head(list, rq)
#endif

/**
 * nvme_defer_batch_in_order() - put a batch into the order of its making
 * @iob: a batch that blk_mq_add_to_batch() filled
 * @first: the request that was added first
 *
 * Some kernels add at the tail, others at the head, so that the request that
 * has waited longest would be completed last. Which kind this is shows in
 * where @first has gone.
 */
static inline void nvme_defer_batch_in_order(struct io_comp_batch *iob,
					     struct request *first)
{
	struct io_comp_batch reversed = { };
	struct request *rq;

	if (rq_list_peek(&iob->req_list) == first)
		return;
	while ((rq = rq_list_pop(&iob->req_list)))
		nvme_defer_list_add_head(&reversed.req_list, rq);
	iob->req_list = reversed.req_list;
}

#endif /* _NVME_DEFER_COMPAT_H */
