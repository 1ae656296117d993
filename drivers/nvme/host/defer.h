/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Completion of NVMe requests outside of interrupt context.
 *
 * Where DMA goes through bounce buffers (SWIOTLB: every confidential VM), the
 * completion of a read copies its data. Done in the interrupt of one CPU, that
 * leaves the CPU no time for anything else. This engine moves completions to
 * an unbound workqueue: all of them (on), or only what exceeds a budget of
 * interrupt time, and only reads, and only where DMA bounces (auto).
 *
 *   nvme_irq():  the CQ loop gathers; after it nvme_defer_irq() decides
 *   softirq:     mq_ops->complete decides one request at a time, of those that
 *                blk-mq sends there (another CPU's, one hardware queue); in
 *                mode on, nothing is sent there
 *   anything else (polled queues, threaded interrupts, cancel): not deferred
 *
 *      gathered requests -> inline, in groups
 *                        -> chunks -> lanes -> worker, in groups
 *
 * A push takes neither memory nor a lock: chunks are linked into a lane by the
 * first request's ipi_list and chained by rq_next, both free once a request is
 * complete.
 *
 * The engine knows nothing of the driver: it sees requests, a clock and struct
 * nvme_defer_ops. defer.c is its side of interrupts and of the driver,
 * defer-budget.c says what an interrupt may do itself, defer-lane.c has the lanes,
 * their worker and the flush. defer-ctrl.c decides which queues may defer
 * and owns the workqueues. tune*.c holds the settings and shows them, and the
 * statistics, to the control plane. pci-defer.h ties all of it to pci.c.
 */
#ifndef _NVME_DEFER_H
#define _NVME_DEFER_H

#include <linux/atomic.h>
#include <linux/blk-mq.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/nvmetune.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/u64_stats_sync.h>
#include <linux/workqueue.h>

struct device;
struct nvme_defer;
struct nvme_defer_ctrl;

#define NVME_DEFER_MAX_LANES	8
/* Requests completed together: as many tags as blk-mq frees in one go. */
#define NVME_DEFER_GROUP	32

/**
 * enum nvme_defer_mode - which completions are deferred
 * @NVME_DEFER_OFF: none
 * @NVME_DEFER_ON: all that complete in interrupt context
 * @NVME_DEFER_AUTO: reads beyond the interrupt budget, where DMA bounces
 */
enum nvme_defer_mode {
	NVME_DEFER_OFF,
	NVME_DEFER_ON,
	NVME_DEFER_AUTO,
};

/**
 * enum nvme_defer_wq_scope - how many workqueues a controller gets
 * @NVME_DEFER_WQ_AUTO: one a queue, one a controller if it has many queues
 * @NVME_DEFER_WQ_QUEUE: one a queue
 * @NVME_DEFER_WQ_CTRL: one a controller
 */
enum nvme_defer_wq_scope {
	NVME_DEFER_WQ_AUTO,
	NVME_DEFER_WQ_QUEUE,
	NVME_DEFER_WQ_CTRL,
};

/**
 * struct nvme_defer_settings - what an operator can set
 * @mode: enum nvme_defer_mode
 * @workqueue: enum nvme_defer_wq_scope; for workqueues made from then on
 * @inline_bytes: auto: bytes that one interrupt may copy before it defers
 * @irq_share: auto: per cent of a CPU's time for completing in interrupts
 * @small_bytes: auto: requests up to this size do not count against @irq_share,
 *	and against @inline_bytes with NVME_DEFER_MIN_BYTES only
 * @lanes: lanes in use, 1 to NVME_DEFER_MAX_LANES
 * @chunk_bytes: most that is handed to a lane at once
 * @lane_bytes: a lane with less backlog than this gets the next chunk
 * @backlog_bytes: backlog of a queue beyond which interrupts take a share again
 * @max_age_ms: the same for the age of the oldest deferred request
 * @resched_bytes: the worker lets go of the CPU each so many bytes; 0: never
 * @measure: measure times
 * @pool: enum nvme_prp_choice; taken over at a reset
 *
 * Every field is a u32, so that one table describes them all. They are read
 * with READ_ONCE() where they are used and may be written at any time: each is
 * valid by itself, and none has to fit another.
 */
struct nvme_defer_settings {
	u32 mode;
	u32 workqueue;
	u32 inline_bytes;
	u32 irq_share;
	u32 small_bytes;
	u32 lanes;
	u32 chunk_bytes;
	u32 lane_bytes;
	u32 backlog_bytes;
	u32 max_age_ms;
	u32 resched_bytes;
	u32 measure;
	u32 pool;
};

/**
 * struct nvme_tune_level - what a controller or a queue has values of its own for
 * @above: from what it inherits the rest; NULL: from nvme_defer_settings
 * @own: its own values
 * @has: for which fields, a bit each
 * @obj: in the control plane, as long as it is there
 *
 * Values outlive the object: a queue that a reset takes and another brings back
 * has them still. Protected by nvme_tune_lock, see tune.c.
 */
struct nvme_tune_level {
	struct nvme_tune_level *above;
	struct nvme_defer_settings own;
	u32 has;
	struct nvmetune_object *obj;
};

/**
 * struct nvme_tune_facts - what a queue is, for users
 * @irq: interrupt number, 0: none
 * @depth: entries of the submission queue
 * @cpus: CPUs that the interrupt is spread over
 * @pool: enum nvme_prp_choice, as it is in force; not under the lock
 */
struct nvme_tune_facts {
	unsigned int irq;
	unsigned int depth;
	struct cpumask cpus;
	u32 pool;
};

/* Times that are measured; descriptions in tune-stats.c. */
enum nvme_defer_hist {
	NVME_DEFER_HIST_HANDLER,	/* ns from the first completion to the end */
	NVME_DEFER_HIST_DELAY,		/* ns from the push of the oldest to completion */
	NVME_DEFER_NR_HISTS,
};

struct nvme_defer_hists {
	struct nvmetune_hist hist[NVME_DEFER_NR_HISTS];
};

/**
 * struct nvme_defer_ops - what the engine needs to know of requests
 * @batch: add a request to a batch; false if it has to be completed alone
 * @complete_batch: complete a batch
 * @complete: complete one request
 * @bytes: bytes that completing this request copies, 0 for all but reads. Must
 *	give the same answer each time until the request is completed.
 * @clock: nanoseconds, comparable between CPUs to well below a millisecond
 *
 * Called in hard interrupt, softirq and task context alike.
 */
struct nvme_defer_ops {
	bool (*batch)(struct request *rq, struct io_comp_batch *iob);
	void (*complete_batch)(struct io_comp_batch *iob);
	void (*complete)(struct request *rq);
	u32 (*bytes)(struct request *rq);
	u64 (*clock)(void);
};

/* What happened in interrupt context; names in tune-stats.c. */
enum nvme_defer_count {
	NVME_DEFER_INLINE,		/* requests completed on the spot */
	NVME_DEFER_INLINE_BYTES,
	NVME_DEFER_DEFERRED,		/* requests handed to a lane */
	NVME_DEFER_DEFERRED_BYTES,
	NVME_DEFER_PRESSURE,		/* of INLINE: taken back from a lane's share */
	NVME_DEFER_CHUNKS,		/* pushes to a lane */
	NVME_DEFER_QUEUE_WORK,		/* of those, the ones that woke a worker */
	NVME_DEFER_NR_COUNTS,
};

struct nvme_defer_counts {
	u64_stats_t v[NVME_DEFER_NR_COUNTS];
	struct u64_stats_sync sync;
};

/**
 * struct nvme_defer_window - a CPU's budget of completion in interrupts
 * @last: clock at the last look
 * @debt: ns spent completing and not yet earned back; earned at irq_share
 * @charged: ns charged so far, ever; tells a softirq what interrupts nested in
 *	it have charged already
 * @pressure_since: clock at the start of the pressure period
 * @pressure_used: bytes taken back from lanes in that period
 *
 * Shared by all queues whose interrupts this CPU takes: it is the CPU that has
 * to be left alone. Only touched by its own CPU, with interrupts off.
 */
struct nvme_defer_window {
	u64 last;
	u64 debt;
	u64 charged;
	u64 pressure_since;
	u64 pressure_used;
};

/* The window over which irq_share is kept; a burst may take share x window. */
#define NVME_DEFER_WINDOW_NS	(10 * NSEC_PER_MSEC)

/**
 * struct nvme_defer_lane - requests on their way to one worker
 * @list: chunks pushed and not yet taken, newest first
 * @backlog: bytes pushed and not yet completed, each request counted with at
 *	least NVME_DEFER_MIN_BYTES
 * @backlog_max: highest @backlog so far
 * @since_pending: clock when @list was last empty and got a chunk
 * @since_running: the same for the requests in completion now, 0: none
 * @defer: the queue
 * @work: the worker
 * @consumer: held while requests are taken and completed: the worker, or who
 *	flushes. Keeps the order, and makes a flush wait for what is in hand.
 * @runs: times that anything was found to complete
 * @requests: requests completed
 * @bytes: bytes completed
 * @rescheds: reschedule points passed
 * @max_run_ns: longest time for one @runs, while times are measured
 * @sync: for the five counters, written under @consumer
 */
struct nvme_defer_lane {
	struct llist_head list;
	atomic_long_t backlog;
	atomic_long_t backlog_max;
	u64 since_pending;
	u64 since_running;

	struct nvme_defer *defer;
	struct work_struct work;
	struct mutex consumer;		/* one at a time takes and completes */
	u64_stats_t runs;
	u64_stats_t requests;
	u64_stats_t bytes;
	u64_stats_t rescheds;
	u64 max_run_ns;
	struct u64_stats_sync sync;
} ____cacheline_aligned_in_smp;

/* Least that a request counts in a backlog: none is free to complete. */
#define NVME_DEFER_MIN_BYTES	512

/**
 * struct nvme_defer - a queue's part in the engine
 * @armed: completions may be deferred now. The only thing that is read where
 *	nothing is deferred.
 * @gathered: what the CQ loop of the running interrupt has gathered
 * @gathered_last: its last request
 * @gathered_since: clock when it began, where times are measured
 * @set: the settings in force
 * @ops: how to complete
 * @window: the budget of each CPU
 * @wq: where lanes are worked off; NULL as long as this queue may not defer
 * @irq_counts: hard interrupt; one writer, as an interrupt does not nest
 * @softirq_counts: softirq, by CPU; comes with the first @wq and stays
 * @hists: measured times; made when first switched on
 * @lane: the lanes; the first nvme_defer_settings.lanes get new work
 *
 * @lock: protects the state below and the making of @armed from it
 * @allowed: the controller lets this queue defer and has given it @wq
 * @running: the queue is set up; false from a stop to the next start
 * @in_use: the queue exists; false once it was freed
 * @polled: it has no interrupt
 * @threaded: its interrupt is handled in a thread
 *
 * @flushes: stops that found something to wait for or to complete
 * @flush_waits: of those, stops that had to wait for a worker
 * @qid: queue identifier
 * @ctrl: the controller; NULL where there is none (tests)
 * @level: the queue's own values
 * @in_force: the values that hold, to which @set points
 * @measured: @hists counts for the static key
 * @facts: for users, under @lock
 */
struct nvme_defer {
	bool armed;
	struct request *gathered;
	struct request *gathered_last;
	u64 gathered_since;
	const struct nvme_defer_settings *set;
	const struct nvme_defer_ops *ops;
	struct nvme_defer_window __percpu *window;
	struct workqueue_struct *wq;
	struct nvme_defer_counts irq_counts;
	struct nvme_defer_counts __percpu *softirq_counts;
	struct nvme_defer_hists *hists;
	struct nvme_defer_lane lane[NVME_DEFER_MAX_LANES];

	spinlock_t lock;		/* the state below, and armed */
	bool allowed;
	bool running;
	bool in_use;
	bool polled;
	bool threaded;

	atomic_t flushes;
	atomic_t flush_waits;
	unsigned int qid;
	struct nvme_defer_ctrl *ctrl;
	struct nvme_tune_level level;
	struct nvme_defer_settings in_force;
	bool measured;
	struct nvme_tune_facts facts;
};

/* defer.c: interrupts, and the life of a queue */
extern struct nvme_defer nvme_defer_none;

void nvme_defer_init(struct nvme_defer *d, const struct nvme_defer_settings *set,
		     const struct nvme_defer_ops *ops,
		     struct nvme_defer_window __percpu *window);
void nvme_defer_exit(struct nvme_defer *d);
bool nvme_defer_in_handler(struct nvme_defer *d);
void nvme_defer_gather(struct nvme_defer *d, struct request *rq);
void nvme_defer_irq(struct nvme_defer *d);
bool nvme_defer_softirq(struct nvme_defer *d, struct request *rq);
void nvme_defer_start(struct nvme_defer *d, bool polled);
void nvme_defer_stop(struct nvme_defer *d);
int nvme_defer_allow(struct nvme_defer *d, struct workqueue_struct *wq);
void nvme_defer_disallow(struct nvme_defer *d);
u64 nvme_defer_counted(const struct nvme_defer *d, enum nvme_defer_count what,
		       bool softirq);

/* defer-budget.c: what an interrupt may do itself */
bool nvme_defer_wants(const struct nvme_defer_settings *set, u32 bytes,
		      u32 used, bool share_left);
bool nvme_defer_share_left(struct nvme_defer_window *w, u64 now, u32 share);
void nvme_defer_charge(struct nvme_defer_window *w, u64 start, u64 charged,
		       u64 now);
bool nvme_defer_pressure_left(struct nvme_defer_window *w, u64 now, u32 bytes,
			      u32 limit);

/* defer-lane.c: lanes, worker and flush; see defer-lane.h, too */
bool nvme_defer_over_limit(struct nvme_defer *d, u64 now);
u64 nvme_defer_age(const struct nvme_defer_lane *lane, u64 now);
void nvme_defer_flush(struct nvme_defer *d);

/**
 * nvme_defer_armed() - whether completions of a queue may be deferred now
 * @d: the queue
 *
 * This is all that a completion costs where nothing is deferred.
 *
 * Context: any. In interrupt context, what was armed stays usable until the
 *	interrupt ends: see nvme_defer_ctrl's disarming.
 */
static inline bool nvme_defer_armed(const struct nvme_defer *d)
{
	return unlikely(READ_ONCE(d->armed));
}

/**
 * nvme_defer_takes_all() - whether the mode is to defer every request
 * @d: the queue
 *
 * Context: any. The mode may change at once: a hint where to decide, no decision.
 */
static inline bool nvme_defer_takes_all(const struct nvme_defer *d)
{
	return READ_ONCE(d->set->mode) == NVME_DEFER_ON;
}

/* defer-ctrl.c: which queues may defer, and their workqueues */

/**
 * struct nvme_defer_ctrl - a controller's part in the engine
 * @entry: in the list of all controllers
 * @dev: the device that does the DMA
 * @instance: N of nvmeN
 * @ops: how to complete
 * @bounces: all DMA of @dev goes through SWIOTLB
 * @threaded: the driver asked for threaded interrupts
 * @update: makes and destroys workqueues, see nvme_defer_update()
 * @wq: the workqueue of all queues, if they share one
 * @level: the controller's own values
 * @pools: object above those of its PRP pools
 * @nr_pools: how many of these there are
 * @nr_queues: entries of @queue
 * @queue: by queue identifier; made when first needed, kept to the end
 */
struct nvme_defer_ctrl {
	struct list_head entry;
	struct device *dev;
	int instance;
	const struct nvme_defer_ops *ops;
	bool bounces;
	bool threaded;
	struct work_struct update;
	struct workqueue_struct *wq;
	struct nvme_tune_level level;
	struct nvmetune_object *pools;
	unsigned int nr_pools;
	unsigned int nr_queues;
	struct nvme_defer *queue[];
};

struct nvme_defer_ctrl *
nvme_defer_register(struct device *dev, int instance, unsigned int nr_queues,
		    bool threaded, const struct nvme_defer_ops *ops);
void nvme_defer_unregister(struct nvme_defer_ctrl *c);
struct nvme_defer *nvme_defer_queue(struct nvme_defer_ctrl *c, unsigned int qid);
void nvme_defer_release(struct nvme_defer *d);
void nvme_defer_update_queue(struct nvme_defer *d);

/* tune.c, tune-params.c: the settings, and the control plane's view of queues and controllers */
extern struct nvme_defer_settings nvme_defer_settings;
DECLARE_STATIC_KEY_FALSE(nvme_defer_hists_key);

void nvme_defer_update_all(void);
void nvme_tune_add_ctrl(struct nvme_defer_ctrl *c);
void nvme_tune_remove_ctrl(struct nvme_defer_ctrl *c);
void nvme_tune_add_queue(struct nvme_defer *d);
void nvme_tune_update_queue(struct nvme_defer *d);
void nvme_tune_remove_queue(struct nvme_defer *d);
u32 nvme_tune_workqueue(struct nvme_defer_ctrl *c);
void nvme_tune_set_facts(struct nvme_defer *d, unsigned int irq,
			 unsigned int depth, const struct cpumask *cpus);

/**
 * nvme_defer_measured() - a queue's histograms if they are switched on
 * @d: the queue
 *
 * Context: any. What it returns stays until the queue's structure goes.
 */
static inline struct nvme_defer_hists *nvme_defer_measured(struct nvme_defer *d)
{
	if (!static_branch_unlikely(&nvme_defer_hists_key))
		return NULL;
	if (!READ_ONCE(d->set->measure))
		return NULL;
	/* Pairs with smp_store_release() in nvme_tune_measure(). */
	return smp_load_acquire(&d->hists);
}

#endif /* _NVME_DEFER_H */
