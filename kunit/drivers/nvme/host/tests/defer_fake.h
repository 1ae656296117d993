/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Made-up requests, clock and struct nvme_defer_ops for the tests of deferred
 * completion.
 *
 * Interrupts, softirqs and workqueues are real. What completes a request runs
 * where no expectation can be reported, so faults are kept as bits (struct
 * fake.bad) and reported by the test's end; a completed request is made
 * poisonous at once, as its tag would be reused: whoever follows its links
 * meets struct fake.trap.
 */
#ifndef _NVME_DEFER_FAKE_H
#define _NVME_DEFER_FAKE_H

#include <kunit/test.h>
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sizes.h>

#include "defer.h"

/* Faults; names in defer_fake.c. */
enum fake_fault {
	FAKE_TWICE,		/* completed though not in flight */
	FAKE_AFTER,		/* looked at after its completion */
	FAKE_TRAP,		/* reached by a completed request's links */
	FAKE_ORDER,		/* overtaken within a lane */
	FAKE_BATCH,		/* batch is empty, too large, or has a loner */
	FAKE_BACKLOG,		/* not in its lane's backlog while in completion */
	FAKE_NOIO,		/* completed by a worker that may start I/O */
	FAKE_TIMEOUT,		/* held for ever */
	FAKE_NR_FAULTS,
};

enum fake_ctx {
	FAKE_TASK,
	FAKE_SOFTIRQ,
	FAKE_HARDIRQ,
};

/* Where a batch has its first request; blk-mq: as in the kernel at hand. */
enum fake_batch {
	FAKE_BLK_MQ,
	FAKE_FIFO,
	FAKE_LIFO,
};

#define FAKE_SOURCES	3	/* that push at the same time */

struct fake;

/**
 * struct fake_rq - a request
 * @rq: what the engine sees
 * @fake: whose it is
 * @bytes: answer of the bytes op
 * @alone: refused by the batch op
 * @hold: completing it in task context waits for struct fake.release
 * @source: which context pushes it
 * @seq: its place among those that @source pushes
 * @in_flight: pushed and not completed
 * @times: completions
 * @order: its place among all completions, from 0
 * @ctx: where it was completed
 * @by: the task that completed it
 * @noio: that task might not start I/O
 * @lane: whose worker did; -1: not known, as no worker did
 */
struct fake_rq {
	struct request rq;
	struct fake *fake;
	u32 bytes;
	bool alone;
	bool hold;
	unsigned int source;
	u64 seq;
	atomic_t in_flight;
	unsigned int times;
	unsigned int order;
	enum fake_ctx ctx;
	struct task_struct *by;
	bool noio;
	int lane;
};

/**
 * struct fake_job - something to do in another task, like a reset
 * @work: for a workqueue that memory reclaim may wait for
 * @fn: what to do
 * @fake: its argument
 * @task: who does it
 * @begun: it is about to
 * @done: it is done
 */
struct fake_job {
	struct work_struct work;
	void (*fn)(struct fake *f);
	struct fake *fake;
	struct task_struct *task;
	struct completion begun;
	struct completion done;
};

/**
 * struct fake - a queue with its surroundings
 * @set: settings of @own
 * @own: the queue, where no controller makes it
 * @d: the queue in use
 * @wq: its workqueue, with the flags that the driver uses
 * @wq_blocked: nothing of @wq runs until fake_unblock_wq()
 * @window: its budgets, shared with nothing else
 * @batch: how batches are kept
 * @ns_per_byte: what completing costs on the made-up clock
 * @one_lane: what no worker completes in task context belongs to lane 0, too
 * @nest: called once within the next completion in softirq
 * @rqs: requests
 * @nr: number of them
 * @trap: see above
 * @completed: completions so far
 * @last_seq: highest seq seen, by lane and source, plus one
 * @bad: bits of enum fake_fault
 * @held: a completion has come to its hold
 * @release: lets it go on
 * @lanes_held: fake_hold_lanes() is in effect
 * @job_wq: for fake_job_start()
 * @job: the one that is started there
 * @blocker: what blocks @wq
 * @unblock: lets it end
 * @irq_work: for fake_in_hardirq()
 * @tasklet: for fake_in_softirq()
 */
struct fake {
	struct nvme_defer_settings set;
	struct nvme_defer own;
	struct nvme_defer *d;
	struct workqueue_struct *wq;
	bool wq_blocked;
	struct nvme_defer_window __percpu *window;
	enum fake_batch batch;
	unsigned int ns_per_byte;
	bool one_lane;
	void (*nest)(struct fake *f);

	struct fake_rq *rqs;
	unsigned int nr;
	struct fake_rq trap;

	atomic_t completed;
	u64 last_seq[NVME_DEFER_MAX_LANES][FAKE_SOURCES];
	unsigned long bad;

	struct completion held;
	struct completion release;
	bool lanes_held;
	struct workqueue_struct *job_wq;
	struct fake_job job;
	struct fake_job blocker;
	struct completion unblock;
	struct irq_work irq_work;
	struct tasklet_struct tasklet;
	void (*irq_fn)(struct fake *f, void *arg);
	void *irq_arg;
	void (*softirq_fn)(struct fake *f, void *arg);
	void *softirq_arg;
};

extern const struct nvme_defer_ops fake_ops;
extern u64 fake_time;		/* 0: real time */

#define FAKE_WQ_FLAGS	(WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM)
#define FAKE_LONG	(30 * HZ)

/* Wait for a condition; false when it does not come true for very long. */
#define FAKE_WAIT(cond)							\
({									\
	unsigned long __end = jiffies + FAKE_LONG;			\
	bool __ok;							\
									\
	while (!(__ok = !!(cond)) && time_before(jiffies, __end))	\
		usleep_range(20, 100);					\
	__ok;								\
})

int fake_suite_init(struct kunit *test);
void fake_suite_exit(struct kunit *test);
struct fake *fake_alloc(struct kunit *test);
void fake_requests(struct kunit *test, unsigned int nr, u32 bytes);
void fake_start(struct kunit *test);
void fake_shut(struct fake *f);
void fake_check(struct kunit *test);
void fake_check_done(struct kunit *test);
void fake_check_order(struct kunit *test);
void fake_check_ctx(struct kunit *test, unsigned int first, unsigned int nr,
		    enum fake_ctx ctx);

bool fake_in_hardirq(struct fake *f, void (*fn)(struct fake *f, void *arg),
		     void *arg);
void fake_in_softirq(struct fake *f, void (*fn)(struct fake *f, void *arg),
		     void *arg);
void fake_push(struct fake *f, struct fake_rq *rq);
void fake_push_softirq(struct fake *f, struct fake_rq *rq);
void fake_irq(struct fake *f, unsigned int first, unsigned int nr);
void fake_softirq(struct fake *f, unsigned int first, unsigned int nr);

void fake_hold_lanes(struct fake *f);
void fake_release_lanes(struct fake *f);
bool fake_wait_held(struct fake *f);
bool fake_wait_completed(struct fake *f, unsigned int nr);
bool fake_job_start(struct fake *f, void (*fn)(struct fake *f));
bool fake_job_waits(struct fake *f);
bool fake_job_done(struct fake *f);
void fake_block_wq(struct kunit *test);
void fake_unblock_wq(struct fake *f);
void fake_pin(void);

u32 fake_cost(u32 bytes);
long fake_backlog(const struct fake *f);
u64 fake_irq_count(const struct fake *f, enum nvme_defer_count what);
u64 fake_softirq_count(const struct fake *f, enum nvme_defer_count what);
unsigned int fake_lane_holds(const struct fake *f, unsigned int lane,
			     unsigned int *first);
struct nvme_defer_window *fake_window(const struct fake *f);

static inline struct fake_rq *fake_rq(struct request *rq)
{
	return container_of(rq, struct fake_rq, rq);
}

#endif /* _NVME_DEFER_FAKE_H */
