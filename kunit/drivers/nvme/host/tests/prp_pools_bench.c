// SPDX-License-Identifier: GPL-2.0-only
/*
 * A load for DMA pools as the NVMe PCI driver uses them for reads of 32 KiB, without a
 * drive: a thread for each CPU, which takes a short descriptor for each request that it
 * submits and gives back the oldest of those that it has, or, as deferred completion
 * does, has another CPU give them back.
 *
 *   /sys/kernel/debug/prp_bench/run	write "CHOICE REMOTE DEPTH MILLISECONDS"; read
 *					what the last run has measured
 *   /sys/kernel/debug/prp_bench/locks	how often the lock of any DMA pool was taken,
 *					and how often that had to wait
 */
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/dmapool.h>
#include <linux/init.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/uaccess.h>

#include "prp-pools.h"

#define BENCH_MAX_DEPTH	1024U

/* Descriptors on their way from who takes to who gives back. */
struct bench_ring {
	struct {
		void *block;
		dma_addr_t dma;
	} slot[BENCH_MAX_DEPTH];
	unsigned int head ____cacheline_aligned_in_smp;	/* the taker's */
	unsigned int tail ____cacheline_aligned_in_smp;	/* the giver's */
};

struct bench_thread {
	struct task_struct *task;
	struct dma_pool *pool;
	struct bench_ring *ring;
	struct bench_thread *gives_for;
	unsigned int depth;
	u64 ops;
	u64 failed;
};

struct bench_result {
	char choice[16];
	unsigned int remote;
	unsigned int depth;
	unsigned int threads;
	unsigned int pools;
	u64 ops;
	u64 failed;
	u64 ns;
	struct dma_pool_lock_counts locks;
	u64 bytes;
};

static const char * const bench_choices[] = { "node", "device", "private" };

static DEFINE_MUTEX(bench_mutex);
static struct bench_result bench_last;
static struct device *bench_dev;
static u64 bench_dma_mask = DMA_BIT_MASK(64);

/* Submits a request, unless as many as there may be are on their way. */
static void bench_take(struct bench_thread *t)
{
	struct bench_ring *r = t->ring;
	unsigned int i = r->head % BENCH_MAX_DEPTH;

	/* Pairs with smp_store_release() in bench_give(). */
	if (r->head - smp_load_acquire(&r->tail) >= t->depth)
		return;
	r->slot[i].block = dma_pool_alloc(t->pool, GFP_ATOMIC, &r->slot[i].dma);
	if (!r->slot[i].block) {
		t->failed++;
		return;
	}
	/* Pairs with smp_load_acquire() in bench_give(). */
	smp_store_release(&r->head, r->head + 1);
}

/* Completes the oldest request of a queue, once it has @left others. */
static bool bench_give(struct bench_thread *of, unsigned int left)
{
	struct bench_ring *r = of->ring;
	unsigned int i = r->tail % BENCH_MAX_DEPTH;

	/* Pairs with smp_store_release() in bench_take(). */
	if (smp_load_acquire(&r->head) - r->tail <= left)
		return false;
	dma_pool_free(of->pool, r->slot[i].block, r->slot[i].dma);
	/* Pairs with smp_load_acquire() in bench_take(). */
	smp_store_release(&r->tail, r->tail + 1);
	return true;
}

static int bench_work(void *data)
{
	struct bench_thread *t = data;

	while (!kthread_should_stop()) {
		bench_take(t);
		t->ops += bench_give(t->gives_for, t->depth / 2);
		cond_resched();
	}
	return 0;
}

static bool bench_shares(unsigned int choice, unsigned int a, unsigned int b)
{
	switch (choice) {
	case NVME_PRP_NODE:
		return cpu_to_node(a) == cpu_to_node(b);
	case NVME_PRP_DEVICE:
		return true;
	}
	return false;
}

static void bench_free(struct bench_thread *threads, unsigned int nr,
		       struct bench_result *res)
{
	struct dma_pool_stats stats;
	unsigned int i, j;

	for (i = 0; i < nr; i++) {
		while (threads[i].ring && bench_give(&threads[i], 0))
			;
		kvfree(threads[i].ring);
	}
	for (i = 0; i < nr; i++) {
		for (j = 0; j < i; j++)
			if (threads[j].pool == threads[i].pool)
				break;
		if (j < i || !threads[i].pool)
			continue;
		dma_pool_get_stats(threads[i].pool, &stats);
		res->bytes += stats.bytes;
		res->failed += stats.active;
		res->pools++;
	}
	for (i = 0; i < nr; i++) {
		for (j = i + 1; j < nr; j++)
			if (threads[j].pool == threads[i].pool)
				break;
		/* The last that has it. */
		if (j == nr)
			dma_pool_destroy(threads[i].pool);
	}
	kfree(threads);
}

static int bench_setup(struct bench_thread *threads, const unsigned int *cpus,
		       unsigned int nr, unsigned int choice, bool remote,
		       unsigned int depth)
{
	unsigned int i, j;

	for (i = 0; i < nr; i++) {
		struct bench_thread *t = &threads[i];

		t->depth = depth;
		t->gives_for = &threads[remote ? (i + 1) % nr : i];
		t->ring = kvzalloc(sizeof(*t->ring), GFP_KERNEL);
		for (j = 0; j < i && !t->pool; j++)
			if (bench_shares(choice, cpus[i], cpus[j]))
				t->pool = threads[j].pool;
		if (!t->pool)
			t->pool = dma_pool_create_node("bench", bench_dev, 256,
						       256, 0, cpu_to_node(cpus[i]));
		if (!t->ring || !t->pool)
			return -ENOMEM;
	}
	return 0;
}

static int bench_start(struct bench_thread *threads, const unsigned int *cpus,
		       unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		threads[i].task = kthread_create_on_cpu(bench_work, &threads[i],
							cpus[i], "prp_bench/%u");
		if (IS_ERR(threads[i].task))
			break;
	}
	nr = i < nr ? 0 : nr;
	for (i = 0; i < nr; i++)
		wake_up_process(threads[i].task);
	return nr ? 0 : -ENOMEM;
}

static void bench_stop(struct bench_thread *threads, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!IS_ERR_OR_NULL(threads[i].task))
			kthread_stop(threads[i].task);
}

static int bench_measure(struct bench_thread *threads, const unsigned int *cpus,
			 unsigned int nr, unsigned int ms,
			 struct bench_result *res)
{
	struct dma_pool_lock_counts before;
	unsigned int i;
	u64 start;
	int ret;

	dma_pool_get_lock_counts(&before);
	start = ktime_get_ns();
	ret = bench_start(threads, cpus, nr);
	if (!ret)
		msleep(ms);
	bench_stop(threads, nr);
	res->ns = ktime_get_ns() - start;
	dma_pool_get_lock_counts(&res->locks);
	res->locks.acquired -= before.acquired;
	res->locks.contended -= before.contended;
	for (i = 0; i < nr; i++) {
		res->ops += threads[i].ops;
		res->failed += threads[i].failed;
	}
	return ret;
}

static int bench_run(unsigned int choice, bool remote, unsigned int depth,
		     unsigned int ms)
{
	struct bench_result res = { .remote = remote, .depth = depth };
	unsigned int nr = 0, cpu, *cpus;
	struct bench_thread *threads;
	int ret = -ENOMEM;

	cpus_read_lock();
	cpus = kcalloc(num_online_cpus(), sizeof(*cpus), GFP_KERNEL);
	threads = kcalloc(num_online_cpus(), sizeof(*threads), GFP_KERNEL);
	if (cpus && threads) {
		for_each_online_cpu(cpu)
			cpus[nr++] = cpu;
		ret = bench_setup(threads, cpus, nr, choice, remote, depth);
		if (!ret)
			ret = bench_measure(threads, cpus, nr, ms, &res);
	}
	bench_free(threads, nr, &res);
	kfree(cpus);
	cpus_read_unlock();
	res.threads = nr;
	strscpy(res.choice, bench_choices[choice], sizeof(res.choice));
	if (!ret)
		bench_last = res;
	return ret;
}

static ssize_t bench_write(struct file *file, const char __user *ubuf,
			   size_t count, loff_t *ppos)
{
	unsigned int remote, depth, ms;
	char buf[64] = "", choice[16];
	int i, ret;

	if (count >= sizeof(buf) || copy_from_user(buf, ubuf, count))
		return -EINVAL;
	if (sscanf(buf, "%15s %u %u %u", choice, &remote, &depth, &ms) != 4)
		return -EINVAL;
	i = match_string(bench_choices, ARRAY_SIZE(bench_choices), choice);
	if (i < 0 || remote > 1 || !depth || depth > BENCH_MAX_DEPTH || ms > 60000)
		return -EINVAL;
	mutex_lock(&bench_mutex);
	ret = bench_run(i, remote, depth, ms);
	mutex_unlock(&bench_mutex);
	return ret ?: count;
}

static int bench_show(struct seq_file *m, void *unused)
{
	const struct bench_result *r = &bench_last;

	mutex_lock(&bench_mutex);
	seq_printf(m, "choice=%s remote=%u depth=%u threads=%u pools=%u ops=%llu ",
		   r->choice, r->remote, r->depth, r->threads, r->pools, r->ops);
	seq_printf(m, "failed=%llu ns=%llu acquired=%llu contended=%llu bytes=%llu\n",
		   r->failed, r->ns, r->locks.acquired, r->locks.contended, r->bytes);
	mutex_unlock(&bench_mutex);
	return 0;
}

static int bench_open(struct inode *inode, struct file *file)
{
	return single_open(file, bench_show, NULL);
}

static const struct file_operations bench_fops = {
	.owner		= THIS_MODULE,
	.open		= bench_open,
	.read		= seq_read,
	.write		= bench_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static int locks_show(struct seq_file *m, void *unused)
{
	struct dma_pool_lock_counts counts;

	dma_pool_get_lock_counts(&counts);
	seq_printf(m, "acquired=%llu contended=%llu\n", counts.acquired,
		   counts.contended);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(locks);

static int __init bench_init(void)
{
	struct dentry *dir;

	bench_dev = root_device_register("prp_bench");
	if (IS_ERR(bench_dev))
		return PTR_ERR(bench_dev);
	bench_dev->dma_mask = &bench_dma_mask;
	bench_dev->coherent_dma_mask = DMA_BIT_MASK(64);
	dir = debugfs_create_dir("prp_bench", NULL);
	debugfs_create_file("run", 0600, dir, NULL, &bench_fops);
	debugfs_create_file("locks", 0400, dir, NULL, &locks_fops);
	return 0;
}
late_initcall(bench_init);
