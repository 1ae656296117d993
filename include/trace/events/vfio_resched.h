/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM vfio_resched

#if !defined(_TRACE_VFIO_RESCHED_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_VFIO_RESCHED_H

#include <linux/tracepoint.h>

/**
 * vfio_resched - a long operation has come to a point where it may be preempted
 * @object: vfio_type1 or iommufd
 * @stretch_ns: time since the point before
 * @yielded: another task was run
 */
TRACE_EVENT(vfio_resched,
	TP_PROTO(const char *object, u64 stretch_ns, bool yielded),
	TP_ARGS(object, stretch_ns, yielded),
	TP_STRUCT__entry(
		__array(char, object, 16)
		__field(u64, stretch_ns)
		__field(bool, yielded)
	),
	TP_fast_assign(
		strscpy(__entry->object, object, sizeof(__entry->object));
		__entry->stretch_ns = stretch_ns;
		__entry->yielded = yielded;
	),
	TP_printk("%s: after %llu ns, %s", __entry->object, __entry->stretch_ns,
		  __entry->yielded ? "another task was run" : "went on")
);

#endif /* _TRACE_VFIO_RESCHED_H */

#include <trace/define_trace.h>
