/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nvme_defer

#if !defined(_TRACE_NVME_DEFER_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_NVME_DEFER_H

#include <linux/tracepoint.h>

DECLARE_EVENT_CLASS(nvme_defer_lane_class,
	TP_PROTO(int ctrl, unsigned int qid, unsigned int lane, unsigned int nr,
		 u32 bytes, long backlog),
	TP_ARGS(ctrl, qid, lane, nr, bytes, backlog),
	TP_STRUCT__entry(
		__field(int, ctrl)
		__field(unsigned int, qid)
		__field(unsigned int, lane)
		__field(unsigned int, nr)
		__field(u32, bytes)
		__field(long, backlog)
	),
	TP_fast_assign(
		__entry->ctrl = ctrl;
		__entry->qid = qid;
		__entry->lane = lane;
		__entry->nr = nr;
		__entry->bytes = bytes;
		__entry->backlog = backlog;
	),
	TP_printk("nvme%d q%u lane %u: %u requests, %u bytes, backlog %ld",
		  __entry->ctrl, __entry->qid, __entry->lane, __entry->nr,
		  __entry->bytes, __entry->backlog)
);

/**
 * nvme_defer_push - completed requests are handed to a lane
 * @ctrl: N of nvmeN
 * @qid: queue identifier
 * @lane: number of the lane
 * @nr: requests
 * @bytes: that completing them copies
 * @backlog: of the lane, with these, in bytes
 */
DEFINE_EVENT(nvme_defer_lane_class, nvme_defer_push,
	TP_PROTO(int ctrl, unsigned int qid, unsigned int lane, unsigned int nr,
		 u32 bytes, long backlog),
	TP_ARGS(ctrl, qid, lane, nr, bytes, backlog)
);

/**
 * nvme_defer_complete - a worker, or a flush, has completed requests of a lane
 * @ctrl: N of nvmeN
 * @qid: queue identifier
 * @lane: number of the lane
 * @nr: requests
 * @bytes: that were copied
 * @backlog: of the lane, without these, in bytes
 */
DEFINE_EVENT(nvme_defer_lane_class, nvme_defer_complete,
	TP_PROTO(int ctrl, unsigned int qid, unsigned int lane, unsigned int nr,
		 u32 bytes, long backlog),
	TP_ARGS(ctrl, qid, lane, nr, bytes, backlog)
);

#endif /* _TRACE_NVME_DEFER_H */

#include <trace/define_trace.h>
