#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: a reset waits for what a held worker has in hand, and for nothing else
# vm: standard
# timeout: 300

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"

use two
queue=1 wq=${ctrl}q1-defer hold_cpu=3
# the queue's own CPUs are left to its interrupt and to the load
cpus=$(cat "/sys/block/${dev#/dev/}/mq/0/cpu_list")

# A real-time task that gives the held CPU to nobody else.
hog_start() {
	setpriv --pdeathsig KILL -- taskset -c $hold_cpu chrt -f 50 \
		bash -c ': > "$1"; while :; do :; done' hog "$tmp/hog" &
	hog_pid=$!
	wait_for 20 '[ -e $tmp/hog ]' || die "no hog"
	rm "$tmp/hog"
}

hog_stop() {
	kill -9 "$hog_pid"
	wait "$hog_pid" 2> /dev/null
}

# throttling on|off: of real-time tasks on the held CPU; newer kernels have a server
# for other tasks instead
throttling() {
	local runtime=/sys/kernel/debug/sched/fair_server/cpu$hold_cpu/runtime

	if [ "$1" = off ]; then
		echo -1 > /proc/sys/kernel/sched_rt_runtime_us
		[ ! -e $runtime ] || echo 0 > $runtime
	else
		[ ! -e $runtime ] || echo 50000000 > $runtime
		echo 950000 > /proc/sys/kernel/sched_rt_runtime_us
	fi
}

# The engine's worker is in the middle of a run: of one that waits to begin, the
# stack does not show the engine.
held_in_run() {
	grep -q 'nvme_defer_\(work\|drain\)' /proc/[0-9]*/stack 2> /dev/null
}

oldest_above() { # MILLISECONDS
	[ "$(stat_of "$ctrl" $queue oldest_ns)" -gt $(($1 * 1000000)) ]
}

check "CPU $hold_cpu is not one of queue $queue's: $cpus" \
	[ -z "$(expand_cpus "${cpus// /}" | grep $hold_cpu)" ]
throttling off
# Softirqs that ksoftirqd was woken for wait for it on some kernels, those of RCU, too.
chrt -f -p 60 "$(pgrep -x "ksoftirqd/$hold_cpu")"
# nothing else may get stuck there, the reset's own worker least of all
taskset -pc 0-2 $$ > /dev/null
for other in nvme-reset-wq nvme-wq; do
	cat "$wqs/$other/cpumask" > "$tmp/$other"
	echo 7 > "$wqs/$other/cpumask"
done
echo 255 > /sys/module/nvme_core/parameters/max_retries
# Long runs with many points at which the hog can come in: where kernel code is not
# preempted, that is where the worker lets go of the CPU.
set_defer lanes 1
set_defer chunk_bytes 4M
set_defer resched_bytes 64K
set_defer max_age_ms 60000
set_defer backlog_bytes 1G
mode on "$ctrl"
echo $((1 << hold_cpu)) > "$wqs/$wq/cpumask"

# The worker is held in its run
load_start "$dev" 600 --cpus_allowed="${cpus// /}"
for ((try = 1; try <= 20; try++)); do
	hog_start
	wait_for 20 'oldest_above 300' || die "the worker is not held"
	held_in_run && break
	hog_stop
	load_moves 20
done
echo "# held in the middle of a run at try $try"
expect "the worker is held in its run" 'try <= 20'
mark "$ctrl"
now begin
reset_controller "$ctrl" &
reset_pid=$!
wait_for 10 '[ "$(cat /sys/class/nvme/$ctrl/state)" = resetting ]'
pause 1.5
check "the reset waits for the worker" kill -0 $reset_pid
check "the controller is resetting" [ "$(cat "/sys/class/nvme/$ctrl/state")" = resetting ]
hog_stop
now released
check "the reset succeeds" wait $reset_pid
now end
tally
held=$((released - begin)) total=$((end - begin))
echo "# held $held ms, the reset took $total ms"
expect "it has taken as long as the worker was held" 'total >= held && held >= 1500'
expect "the flush has waited" 'flush_waits >= 1 && flushes >= flush_waits'
check "the load goes on" load_goes_on "$ctrl"
check "no error, no wrong data" load_stop
soon 20 "nothing is left in the lanes" "settled $ctrl"

# The worker has not begun
hog_start
mark "$ctrl"
# shellcheck disable=SC2086
$as_load fio $fio_all --name=few --filename="$dev" --ioengine=libaio --direct=1 \
	--rw=read --bs=128k --size=2m --iodepth=16 --cpus_allowed="${cpus// /}" > "$tmp/few" 2>&1 &
few_pid=$!
soon 20 "requests wait for a worker that cannot begin" 'oldest_above 300'
check "it has not begun" eval '! held_in_run'
backlog=$(stat_of "$ctrl" $queue backlog_bytes)
expect "they are in the backlog" 'backlog >= 128 * 1024'
now begin
check "the reset succeeds" reset_controller "$ctrl"
now end
tally
total=$((end - begin))
echo "# the reset took $total ms with $backlog bytes in the lanes"
expect "the reset has completed them itself" 'flushes >= 1 && worker_requests > 0'
expect "it has waited for nobody" 'flush_waits == 0'
check "the hog still has the CPU" kill -0 $hog_pid
hog_stop
check "the reads end" wait $few_pid
check "without an error" fio_result "$tmp/few"
soon 20 "nothing is left in the lanes" "settled $ctrl"
throttling on
for other in nvme-reset-wq nvme-wq; do
	cat "$tmp/$other" > "$wqs/$other/cpumask"
done
echo 5 > /sys/module/nvme_core/parameters/max_retries
