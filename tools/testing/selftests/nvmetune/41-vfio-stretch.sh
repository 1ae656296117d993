#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: vfio: unmapping holds a CPU for long without, and not with, an interval
# vm: vfio
# timeout: 240
# full-timeout: 600
# allow: need_resched set for

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/testing/selftests/nvmetune/lib-vfio.sh
. "$(dirname "$0")/lib-vfio.sh"

# The report that is allowed is of the scheduler, which is asked for it here. It makes one
# an hour, so the run that has to be silent comes first.
readonly sched=/sys/kernel/debug/sched

[ -e "$sched/latency_warn_ms" ] || die "the kernel has no latency_warn_ms"
take_drives
mib=2048
huge_pages $mib

# reported [COMMAND]: the scheduler has reported, a task of that name
reported() {
	dmesg | grep -A4 'need_resched set for' | grep -q "Comm: ${1:-}"
}

# unmap API INTERVAL: beside a task that waits for the CPU
unmap() {
	local api=$1

	tune_vfio "$api" resched_bytes "$2"
	reset_stats "$api"
	map_unmap --api "$api" --memory huge --size $mib --iova 0x100003000 --wait "$spare" ||
		die "$api: vfiomap failed"
	read_stats "$api"
	longest_ms=$((longest_stretch_ns / 1000000)) wait_ms=$((wait_ns / 1000000))
	echo "# $api, resched_bytes $2: longest stretch $longest_ms ms, task waited $wait_ms ms, unmapped in $((unmap_ns / 1000000)) ms, $reschedules points, $yields yields"
}

# The best of three, as the host takes the CPU away now and then.
unmap_best() {
	local best=1000000 best_wait=1000000 i

	for i in 1 2 3; do
		unmap "$@"
		[ $longest_ms -ge $best ] || best=$longest_ms
		[ $wait_ms -ge $best_wait ] || best_wait=$wait_ms
	done
	longest_ms=$best wait_ms=$best_wait
}

echo LATENCY_WARN > $sched/features
echo 0 > $sched/latency_warn_once
# Twice the default, as the host takes the CPU away now and then.
echo 200 > $sched/latency_warn_ms
tune_vfio type1 skip_contiguous 0
for api in $(apis); do
	unmap_best "$api" 32M
	on_ms=$longest_ms on_wait_ms=$wait_ms
	expect "$api: 32M: the CPU is let go of" 'reschedules > 40'
	reported vfiomap && silent=0 || silent=1
	unmap "$api" 0
	expect "$api: off: it is not" 'reschedules == 0'
	expect "$api: 32M: another task waits less than half as long" 'on_wait_ms * 2 < wait_ms'
	expect "$api: 32M: no stretch is longer than a third of that when off" 'on_ms * 3 < longest_ms'
	[ "$api" = type1 ] || continue
	expect "$api: 32M: the scheduler was silent" 'silent == 1'
	if reported && ! reported vfiomap; then
		skip "$api: off: the scheduler reports it" "its one report was of another task"
	else
		check "$api: off: the scheduler reports it" reported vfiomap
	fi
done
echo NO_LATENCY_WARN > $sched/features
tune_vfio type1 skip_contiguous 1
huge_pages 0

# Many areas, each of them far below the interval, as a process ends: another task on its
# CPU waits no longer for that.

# end_process API INTERVAL: sets $wait_ms
end_process() {
	local watcher holder

	tune_vfio "$1" resched_bytes "$2"
	taskset -c 1 "$vfiomap" --api "$1" --memory 4k --shuffled --size 1024 --regions 256 --gap 1 \
		--hold "$spare" > "$tmp/held" 2>&1 &
	holder=$!
	wait_for 90 "grep -q mapped $tmp/held" || die "$1: not mapped: $(cat "$tmp/held")"
	taskset -c 1 "$vfiomap" --watch > "$tmp/watch" &
	watcher=$!
	wait_for 10 "grep -q watching $tmp/watch" || die "nobody watches"
	kill -9 $holder
	wait $holder 2> /dev/null
	kill $watcher
	wait $watcher
	wait_ms=$(($(sed -n 's/^wait_ns //p' "$tmp/watch") / 1000000))
	echo "# $1, resched_bytes $2, the end of a process with 256 areas of 4 MiB: a task waited $wait_ms ms"
}

if has_iommufd; then
	on_ms=1000000
	for _ in 1 2 3; do
		end_process iommufd 32M
		[ $wait_ms -ge $on_ms ] || on_ms=$wait_ms
	done
	end_process iommufd 0
	expect "iommufd: the end of a process: another task waits less than half as long" \
		'on_ms * 2 < wait_ms'
fi
give_drives
