/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Let go of the CPU each so many bytes of work.
 *
 * For loops in task context whose length somebody else decides: count what was
 * done and reschedule at an interval that can be set, in the unit in which the
 * work is done. A count of iterations would mean another stretch of time for
 * each size of page or request; asking need_resched() each time costs as much
 * as the work where the work is small.
 */
#ifndef _LINUX_RESCHED_TICK_H
#define _LINUX_RESCHED_TICK_H

#include <linux/sched.h>
#include <linux/types.h>

/**
 * struct resched_tick - progress of one loop towards its next reschedule
 * @interval: bytes between two reschedule points; 0 means never
 * @bytes: bytes since the last one
 * @rescheds: reschedule points passed (whether or not another task was waiting)
 *
 * Lives on the stack of the loop; needs no locking.
 */
struct resched_tick {
	u64 interval;
	u64 bytes;
	u64 rescheds;
};

/**
 * resched_tick_init() - start counting
 * @tick: the tick
 * @interval: bytes between two reschedule points; 0 means never
 */
static inline void resched_tick_init(struct resched_tick *tick, u64 interval)
{
	tick->interval = interval;
	tick->bytes = 0;
	tick->rescheds = 0;
}

/**
 * resched_tick_due() - account for work done and tell when it is time
 * @tick: the tick
 * @bytes: bytes of work done since the last call
 *
 * For callers that have more to do at a reschedule point than reschedule. The
 * count starts again at zero when it is time, so that one large step is followed
 * by one reschedule and not by several in a row.
 *
 * Context: any; does not sleep.
 * Return: true when the caller is to reschedule now.
 */
static inline bool resched_tick_due(struct resched_tick *tick, u64 bytes)
{
	if (!tick->interval)
		return false;

	tick->bytes += bytes;
	if (tick->bytes < tick->interval)
		return false;

	tick->bytes = 0;
	tick->rescheds++;
	return true;
}

/**
 * resched_tick() - account for work done and reschedule when it is time
 * @tick: the tick
 * @bytes: bytes of work done since the last call
 *
 * See resched_tick_due().
 *
 * Context: task context that may sleep (cond_resched() checks).
 * Return: true when this call was a reschedule point.
 */
static inline bool resched_tick(struct resched_tick *tick, u64 bytes)
{
	if (!resched_tick_due(tick, bytes))
		return false;

	cond_resched();
	return true;
}

#endif /* _LINUX_RESCHED_TICK_H */
