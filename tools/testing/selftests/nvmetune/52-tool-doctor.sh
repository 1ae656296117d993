#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: nvmetune doctor: nothing on a healthy guest, and each fault that is planted, by its id
# vm: standard
# timeout: 180
# alone: its log is full of what never happened

# shellcheck source=tools/testing/selftests/nvmetune/lib-tool.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib-tool.sh"

use two
disk=${dev#/dev/}
wait_for 20 "[ -e $tune/$ctrl/q2 ]" || die "$ctrl has no q2"
for c in "$ctrl" "$(controller one)" "$(controller four)"; do
	wait_for 20 "! grep -q 0 $tune/$c/q*/armed" || die "$c is not armed"
done

# doctor: sets found to the ids of what was found, in one line
doctor() {
	t -j doctor "$@"
	found=$(jq -r '[.findings[].id] | unique | join(" ")' <<< "$out")
}

# planted ID WHAT OBJECT: it is found, nothing else is, with what mends it
planted() {
	doctor
	if [ "$found" = "$1" ] && [ "$status" = 3 ]; then
		ok "$1: $2"
	else
		not_ok "$1: $2" "status $status, found: $found. $err"
	fi
	says "$1: about $3" "$3" "$(jq -r '.findings[].object' <<< "$out")"
}

# mended ID [COMMAND]: by the command that it says
mended() {
	local command=${2:-$(jq -r '.findings[0].mend' <<< "$out")}

	PATH=${nvmetune%/*}:$PATH bash -c "$command" > "$tmp/mend" 2>&1 ||
		not_ok "$1: '$command' works" "$(< "$tmp/mend")"
	doctor
	if [ "$status" = 0 ] && [ -z "$found" ]; then
		ok "$1: mended by '$command'"
	else
		not_ok "$1: mended by '$command'" "status $status, found: $found"
	fi
}

# Healthy

doctor
same "nothing is found" "" "$found"
expect "and the status is 0" 'status == 0'
echo "# could not look: $(jq -c .could_not_look <<< "$out")"
unknown=$(jq -r '[.could_not_look[].id] | unique | join(" ")' <<< "$out")
looked=$(jq '.looked | length' <<< "$out")
expect "it could look at all but, at the most, one" 'looked >= 28'
# What QEMU's drive does not tell, and what 6.1 does not count
unknown=" $unknown "
unknown=${unknown/ interrupt-coalescing / }
[ -e /sys/kernel/debug/swiotlb/io_tlb_used_hiwater ] || unknown=${unknown/ swiotlb-high-water / }
same "but at what neither drive nor kernel tells" "" "${unknown// /}"
setpriv --reuid 65534 --regid 65534 --clear-groups "$nvmetune" -j doctor > "$tmp/out" 2> "$tmp/err"
status=$?
says "without privileges it says what it cannot see" swiotlb-high-water \
	"$(jq -r '.could_not_look[].id' "$tmp/out")"
expect "and claims nothing" 'status == 0'

# Planted, one by one

echo off > "$tune/$ctrl/q1/defer_mode"
planted deferral-off "a queue that may not defer" "$ctrl/q1"
mended deferral-off

"$nvmetune" -q set nvme defer_irq_share=100 defer_inline_bytes=1G
planted budget-unlimited "a budget that is none" nvme
mended budget-unlimited
"$nvmetune" -q reset nvme

echo 0 > "$tune/$ctrl/resched_bytes"
planted resched-never "workers that never let go" "$ctrl"
mended resched-never

echo 1073741824 > "$tune/$ctrl/defer_backlog_bytes"
planted backlog-exceeds-pool "a backlog larger than the pool" "$ctrl"
mended backlog-exceeds-pool

echo 1 > "$tune/$ctrl/q2/measure"
planted measure-on "measuring left on" "$ctrl/q2"
mended measure-on

echo 2 > "$wqs/${ctrl}q1-defer/cpumask"
planted wq-narrow "a workqueue with one CPU" "$ctrl/q1"
mended wq-narrow

echo 10 > "$wqs/${ctrl}q2-defer/nice"
planted wq-nice "workers behind all others" "$ctrl/q2"
mended wq-nice

echo 2 > "/sys/block/$disk/queue/rq_affinity"
planted rq-affinity "completion on the CPU that sent it" "$disk"
mended rq-affinity "echo 1 > /sys/block/$disk/queue/rq_affinity"

# Deferred requests that no worker takes: a real-time task has its only CPU. The mask is
# found, too.
cpu=3
echo -1 > /proc/sys/kernel/sched_rt_runtime_us
[ ! -e /sys/kernel/debug/sched/fair_server/cpu$cpu/runtime ] ||
	echo 0 > /sys/kernel/debug/sched/fair_server/cpu$cpu/runtime
taskset -pc 0-2 $$ > /dev/null
for other in nvme-reset-wq nvme-wq; do
	echo 7 > "$wqs/$other/cpumask"
done
"$nvmetune" -q set "$ctrl" defer_mode=on
echo $((1 << cpu)) | tee "$wqs/${ctrl}q1-defer/cpumask" > "$wqs/${ctrl}q2-defer/cpumask"
setpriv --pdeathsig KILL -- taskset -c $cpu chrt -f 50 \
	bash -c ': > "$1"; while :; do :; done' hog "$tmp/hog" &
hog=$!
wait_for 20 '[ -e $tmp/hog ]' || die "no hog"
# shellcheck disable=SC2086
$as_load fio $fio_all --name=few --filename="$dev" --ioengine=libaio --direct=1 \
	--rw=read --bs=128k --size=2m --iodepth=16 --cpus_allowed=0-2 > "$tmp/few" 2>&1 &
few=$!
soon 20 "a request waits for a worker" \
	'[ $(($(stat_of $ctrl 1 oldest_ns) + $(stat_of $ctrl 2 oldest_ns))) -gt 3000000000 ]'
doctor oldest-deferred
same "oldest-deferred: requests that no worker takes" oldest-deferred "$found"
kill -9 $hog
wait $hog 2> /dev/null
check "oldest-deferred: the reads end then" wait $few
"$nvmetune" -q wq "$ctrl" cpus=0-3
"$nvmetune" -q reset "$ctrl"
settle "$ctrl"
soon 20 "oldest-deferred: and nothing is found" 'doctor; [ -z "$found" ]'

# The log. What has been logged stays, so these add up.

logged() { # ID LINE
	local before

	read -ra before <<< "$found"
	echo "<4>$2" > /dev/kmsg
	doctor
	same "$1: in the log" "$(printf '%s\n' "${before[@]}" "$1" | sort | tr '\n' ' ' | sed 's/ $//')" "$found"
}

logged swiotlb-too-large "nvme 0000:00:05.0: swiotlb buffer is full (sz: 327680 bytes), total 65536 (slots), used 32 (slots)"
logged swiotlb-pieces "nvme 0000:00:05.0: swiotlb buffer is full (sz: 131072 bytes), total 65536 (slots), used 32768 (slots)"
logged swiotlb-full "nvme 0000:00:05.0: swiotlb buffer is full (sz: 131072 bytes), total 65536 (slots), used 65530 (slots)"
logged nvme-timeout "nvme $ctrl: I/O tag 12 (100c) QID 2 timeout, completion polled"
same "nvme-timeout: about the queue" "$ctrl/q2" \
	"$(jq -r '.findings[] | select(.id == "nvme-timeout").object' <<< "$out")"
expect_t 3 "for people" doctor
says "each with what was seen, why, what mends it" '^  mend: ' "$out"
