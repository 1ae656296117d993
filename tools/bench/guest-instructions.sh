#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The guest's part of tools/bench/instructions: prints a line a run.
#
# Usage: guest-instructions.sh REPEATS
# shellcheck source=tools/vm/guest.sh
. "$VM_LIB" || exit
set -u

disk=/dev/nvme0n1
stats=/sys/kernel/debug/nvmetune/nvme0

wait_for 30 "[ -b $disk ]" || die "no disk"

# user system hardirq softirq, in ticks of 10 ms; handler runs; deferred;
# queue_work; context switches; time in ms
figures() {
	awk '
		/^cpu / { cpu = ($2 + $3) " " $4 " " $7 " " $8 }
		/^ctxt/ { switches = $2 }
		FILENAME == "/proc/interrupts" && /nvme0q[1-9]/ { for (i = 2; $i ~ /^[0-9]+$/; i++) runs += $i }
		/^(irq|softirq)_deferred / { deferred += $2 }
		/^(irq|softirq)_queue_work / { queued += $2 }
		FILENAME == "/proc/uptime" { up = $1 * 1000 }
		END { print cpu, runs + 0, deferred + 0, queued + 0, switches, up }
	' /proc/stat /proc/interrupts $stats/q*/stats /proc/uptime
}

run() { # CASE MODE FIO-ARGUMENT...
	local before after requests

	echo "$2" > /sys/module/nvme/parameters/defer_mode || die "cannot set $2"
	wait_for 30 "follows $2" || die "the queues do not follow the mode $2"
	before=$(figures)
	requests=$(fio --filename=$disk --output-format=json --direct=1 --ioengine=libaio --name=load \
		--rw=randread --iodepth=64 --numjobs=4 --group_reporting "${@:3}" | jq '.jobs[0].read.total_ios') ||
		die "fio failed"
	after=$(figures)
	[ "${requests:-0}" -gt 0 ] || die "fio has read nothing"
	echo "$1 $2 $requests $(echo "$before $after" | awk '{ for (i = 1; i <= 9; i++) printf "%s ", $(i + 9) - $i }')"
}

# shellcheck disable=SC2317 # called by wait_for
follows() { # MODE
	local file armed want=1

	[ "$1" != off ] || want=0
	for file in /sys/kernel/nvmetune/nvme0/q*/armed; do
		read -r armed < "$file"
		[ "$armed" = $want ] || return 1
	done
}

for scheduler in none mq-deadline; do
	echo $scheduler > /sys/block/nvme0n1/queue/scheduler || die "no scheduler $scheduler"
	for ((i = 0; i < $1; i++)); do
		for mode in off auto on; do
			run "128K-$scheduler" $mode --bs=128k --number_ios=1500
		done
	done
done
echo none > /sys/block/nvme0n1/queue/scheduler
for ((i = 0; i < $1; i++)); do
	for mode in off auto on; do
		run 4K-none $mode --bs=4k --number_ios=4000
	done
done
