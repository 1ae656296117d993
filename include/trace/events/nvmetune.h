/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nvmetune

#if !defined(_TRACE_NVMETUNE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_NVMETUNE_H

#include <linux/tracepoint.h>

/* The fields are limited by what the netlink spec allows for names. */
#define NVMETUNE_TRACE_PATH	64
#define NVMETUNE_TRACE_NAME	32

/**
 * nvmetune_param - a value was changed
 * @path: of the object
 * @name: of the parameter
 * @old: its own value before, as sysfs shows it: may be "inherit"
 * @new: its own value now
 * @in_force: the value that holds now
 */
TRACE_EVENT(nvmetune_param,
	TP_PROTO(const char *path, const char *name, const char *old,
		 const char *new, const char *in_force),
	TP_ARGS(path, name, old, new, in_force),
	TP_STRUCT__entry(
		__array(char, path, NVMETUNE_TRACE_PATH)
		__array(char, name, NVMETUNE_TRACE_NAME)
		__array(char, old, NVMETUNE_TRACE_NAME)
		__array(char, new, NVMETUNE_TRACE_NAME)
		__array(char, in_force, NVMETUNE_TRACE_NAME)
	),
	TP_fast_assign(
		strscpy(__entry->path, path, NVMETUNE_TRACE_PATH);
		strscpy(__entry->name, name, NVMETUNE_TRACE_NAME);
		strscpy(__entry->old, old, NVMETUNE_TRACE_NAME);
		strscpy(__entry->new, new, NVMETUNE_TRACE_NAME);
		strscpy(__entry->in_force, in_force, NVMETUNE_TRACE_NAME);
	),
	TP_printk("%s %s: %s -> %s, in force: %s", __entry->path,
		  __entry->name, __entry->old, __entry->new, __entry->in_force)
);

#endif /* _TRACE_NVMETUNE_H */

#include <trace/define_trace.h>
