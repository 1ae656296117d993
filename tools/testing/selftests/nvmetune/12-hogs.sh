#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: real-time hogs on the workers' CPUs: slow, visible, and pressure helps
# vm: standard
# timeout: 120

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"

use two
hogs=()
for q in 1 2; do
	cpus+=" $(cat "/sys/block/${dev#/dev/}/mq/$((q - 1))/cpu_list")"
done

oldest_ms() {
	local q n highest=0

	for q in 1 2; do
		n=$(stat_of "$ctrl" $q oldest_ns)
		[ "$n" -lt "$highest" ] || highest=$n
	done
	echo $((highest / 1000000))
}

hogs_start() {
	local cpu

	for cpu in 2 3; do
		setpriv --pdeathsig KILL -- taskset -c $cpu chrt -f 50 \
			bash -c ': > "$1"; while :; do :; done' hog "$tmp/hog$cpu" &
		hogs+=($!)
		wait_for 20 "[ -e $tmp/hog$cpu ]" || die "no hog"
	done
}

check "throttling of real-time tasks is on" \
	[ "$(cat /proc/sys/kernel/sched_rt_runtime_us)" -gt 0 ]
check "written" fill "$dev" 0 16m
mode on "$ctrl"
set_defer max_age_ms 20
for q in 1 2; do
	echo c > "$wqs/${ctrl}q$q-defer/cpumask"
done
settle "$ctrl"

hogs_start
mark "$ctrl"
verify "$dev" 0 16m libaio --cpus_allowed=0,1 --bsrange=64k-64k > "$tmp/verify" &
verify_pid=$!
soon 30 "the age of the oldest shows: over 100 ms" '[ "$(oldest_ms)" -gt 100 ]'
soon 60 "all reads end although the hogs stay" "! kill -0 $verify_pid 2> /dev/null"
wait $verify_pid
status=$?
cat "$tmp/verify"
expect "all data are right" 'status == 0'
soon 30 "what is deferred is completed although the hogs stay" "settled $ctrl"
tally
echo "# $deferred deferred, $pressure taken back into interrupts"
expect "past max_age, interrupts take a share" 'pressure > 0 && pressure == inline'
for pid in "${hogs[@]}"; do
	kill -0 "$pid" || not_ok "the hogs were there all the time"
	kill -9 "$pid"
done
wait "${hogs[@]}" 2> /dev/null
check "nothing is old now" [ "$(oldest_ms)" = 0 ]

# without a limit that is passed, nothing is taken back
set_defer max_age_ms 60000
set_defer backlog_bytes 1G
mark "$ctrl"
check "without hogs: verified" verify "$dev" 0 16m
settle "$ctrl"
tally
expect "without hogs: no pressure" 'deferred > 0 && pressure == 0'
