// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles that come with the tool, as text like any other: nvmetune profiles NAME
 * prints one, to begin one's own with. They name what some kernels do not have.
 */
#include "profile.h"

static const char nt_confidential_vm[] =
"description = guests whose DMA bounces (SEV, TDX, CCA): bounded work in interrupts\n"
"skip_unknown = yes\n"
"\n"
"# Deferral where everything bounces, and nowhere else.\n"
"[nvme]\n"
"defer_mode = auto\n"
"defer_inline_bytes = 128K\n"
"defer_irq_share = 10\n"
"defer_small_bytes = 16K\n"
"resched_bytes = 256K\n"
"defer_lanes = 2\n"
"defer_chunk_bytes = 512K\n"
"defer_lane_bytes = 1M\n"
"# Deferred requests hold bounce buffers: well below the pool.\n"
"defer_backlog_bytes = 32M\n"
"defer_max_age_ms = 200\n"
"\n"
"[nvme[0-9]*]\n"
"defer_mode = inherit\n"
"\n"
"[nvme[0-9]*/q*]\n"
"defer_mode = inherit\n";

static const char nt_numa_throughput[] =
"description = large machines: more workers, larger pieces, pools on the node of the queue\n"
"skip_unknown = yes\n"
"\n"
"[nvme]\n"
"defer_mode = auto\n"
"defer_inline_bytes = 256K\n"
"defer_irq_share = 25\n"
"resched_bytes = 1M\n"
"defer_lanes = 4\n"
"defer_chunk_bytes = 1M\n"
"defer_lane_bytes = 2M\n"
"defer_backlog_bytes = 64M\n"
"\n"
"# From the next reset of a controller on. Where memory does not matter, private.\n"
"pool = node\n";

static const char nt_low_latency[] =
"description = what else runs on the interrupts' CPUs waits least; costs some throughput\n"
"skip_unknown = yes\n"
"\n"
"[nvme]\n"
"defer_mode = auto\n"
"defer_inline_bytes = 32K\n"
"defer_irq_share = 5\n"
"defer_small_bytes = 8K\n"
"resched_bytes = 64K\n"
"defer_lanes = 4\n"
"defer_chunk_bytes = 128K\n"
"defer_lane_bytes = 256K\n"
"defer_backlog_bytes = 16M\n"
"defer_max_age_ms = 50\n";

static const char nt_vfio_large_memory[] =
"description = guests of hundreds of gigabytes with passed-through devices: bounded unmapping\n"
"skip_unknown = yes\n"
"\n"
"[vfio_type1]\n"
"resched_bytes = 16M\n"
"\n"
"[iommufd]\n"
"resched_bytes = 16M\n";

const struct nt_builtin nt_builtins[] = {
	{ "confidential-vm", nt_confidential_vm },
	{ "low-latency", nt_low_latency },
	{ "numa-throughput", nt_numa_throughput },
	{ "vfio-large-memory", nt_vfio_large_memory },
	{ }
};
