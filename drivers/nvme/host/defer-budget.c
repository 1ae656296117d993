// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion of NVMe requests outside of interrupt context: what an interrupt
 * may do itself. Decisions on numbers alone; see defer.h for the whole picture.
 */
#include <linux/irqflags.h>
#include <linux/minmax.h>

#include "defer.h"

/* Highest debt of a CPU. */
#define NVME_DEFER_MAX_DEBT_NS	(4 * NVME_DEFER_WINDOW_NS)
/**
 * nvme_defer_share_left() - whether a CPU may complete more in interrupts
 * @w: the CPU's window
 * @now: clock
 * @share: per cent of its time that it may spend so
 *
 * A token bucket: time spent is debt, debt is earned back at @share per cent of
 * the time that goes by, and there is something left while the debt is below
 * @share per cent of NVME_DEFER_WINDOW_NS. Over any longer time the share is
 * kept exactly; an idle CPU may take one window's worth at once.
 *
 * Context: any; @w belongs to this CPU.
 * Return: true while something is left.
 */
bool nvme_defer_share_left(struct nvme_defer_window *w, u64 now, u32 share)
{
	unsigned long flags;
	u64 earned;
	bool left;

	local_irq_save(flags);
	/* The clocks of two CPUs may differ a little after a migration. */
	if (now > w->last) {
		/* So long that even one per cent of it pays the highest debt. */
		earned = min_t(u64, now - w->last,
			       100 * NVME_DEFER_MAX_DEBT_NS) * share / 100;
		w->debt -= min(w->debt, earned);
		w->last = now;
	}
	left = w->debt * 100 < (u64)share * NVME_DEFER_WINDOW_NS;
	local_irq_restore(flags);
	return left || share >= 100;
}

/**
 * nvme_defer_charge() - charge time spent completing
 * @w: the CPU's window
 * @start: clock when it began
 * @charged: nvme_defer_window.charged when it began
 * @now: clock
 *
 * What interrupts nested in this stretch have charged themselves is left out.
 * The debt is capped: a hypervisor that took the CPU away for long must not
 * stop inline completion for seconds.
 *
 * Context: any; @w belongs to this CPU.
 */
void nvme_defer_charge(struct nvme_defer_window *w, u64 start, u64 charged,
		       u64 now)
{
	unsigned long flags;
	u64 spent, nested;

	local_irq_save(flags);
	spent = now > start ? now - start : 0;
	nested = w->charged - charged;
	spent -= min(spent, nested);
	w->charged += spent;
	w->debt = min_t(u64, w->debt + spent, NVME_DEFER_MAX_DEBT_NS);
	local_irq_restore(flags);
}

/**
 * nvme_defer_pressure_left() - take some of the lanes' work back
 * @w: the CPU's window
 * @now: clock
 * @bytes: bytes to complete in interrupt context although they would be deferred
 * @limit: bytes allowed in each NVME_DEFER_WINDOW_NS
 *
 * Context: any; @w belongs to this CPU.
 * Return: true if the caller shall complete them.
 */
bool nvme_defer_pressure_left(struct nvme_defer_window *w, u64 now, u32 bytes,
			      u32 limit)
{
	unsigned long flags;
	bool left;

	local_irq_save(flags);
	/* A softirq read its clock before the interrupt nested in it did. */
	if (now > w->pressure_since &&
	    now - w->pressure_since >= NVME_DEFER_WINDOW_NS) {
		w->pressure_since = now;
		w->pressure_used = 0;
	}
	left = w->pressure_used < limit;
	if (left)
		w->pressure_used += bytes;
	local_irq_restore(flags);
	return left;
}

/**
 * nvme_defer_wants() - whether the mode asks to defer a request
 * @set: the settings
 * @bytes: what completing it copies, 0 if it copies nothing
 * @used: bytes completed on the spot in this interrupt so far
 * @share_left: the CPU has some of its share of time left
 *
 * The budget is looked at before a request, so an interrupt exceeds
 * inline_bytes by less than one request.
 *
 * Return: true to defer.
 */
bool nvme_defer_wants(const struct nvme_defer_settings *set, u32 bytes,
		      u32 used, bool share_left)
{
	switch (READ_ONCE(set->mode)) {
	case NVME_DEFER_ON:
		return true;
	case NVME_DEFER_AUTO:
		if (!bytes)
			return false;
		if (used >= READ_ONCE(set->inline_bytes))
			return true;
		return !share_left && bytes > READ_ONCE(set->small_bytes);
	default:
		return false;
	}
}
