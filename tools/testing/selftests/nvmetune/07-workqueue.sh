#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: a workqueue where something may be deferred and nowhere else; its settings work
# vm: standard
# timeout: 150

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"

use two
wq1=${ctrl}q1-defer wq2=${ctrl}q2-defer
trace=/sys/kernel/tracing/instances/selftest

# traced COMMAND...: sets $workers to "PID CPU" of each run of the engine's worker
traced() {
	mkdir -p $trace
	echo 1 > $trace/events/workqueue/workqueue_execute_start/enable
	"$@"
	echo 0 > $trace/tracing_on
	workers=$(sed -n 's/^ *[^ ]*-\([0-9]*\) *\[0*\([0-9]*\)\].* function nvme_defer_work.*/\1 \2/p' \
		$trace/trace | sort -u)
	rmdir $trace
}

# Which of the controllers' queues have one, sorted.
names() {
	(cd $wqs && echo *-defer)
}

mode off
soon 10 "off: no workqueue at all" '[ "$(names)" = "*-defer" ]'
soon 10 "off: no rescuer" '! rescuers nvme > /dev/null'
mark "$ctrl"
check "off: written" fill "$dev" 0 24m
tally
expect "off: nothing is counted" 'deferred + inline == 0'

mode on "$ctrl"
check "on: one a queue" eval "[ -d $wqs/$wq1 ] && [ -d $wqs/$wq2 ]"
check "on: each has its rescuer, that is WQ_MEM_RECLAIM" \
	[ "$(rescuers "$ctrl" | sort | tr '\n' ' ')" = "$wq1 $wq2 " ]
check "on: WQ_HIGHPRI, WQ_UNBOUND" [ "$(cat "$wqs/$wq1/nice") $(cat "$wqs/$wq1/per_cpu")" = "-20 0" ]

for wq in $wq1 $wq2; do
	echo 8 > "$wqs/$wq/cpumask"
	check "$wq: cpumask reads back" [ $((0x$(tail -c 9 "$wqs/$wq/cpumask"))) = 8 ]
	echo 5 > "$wqs/$wq/nice"
	check "$wq: nice reads back" [ "$(cat "$wqs/$wq/nice")" = 5 ]
done
settle "$ctrl"
traced verify "$dev" 0 24m
echo "# workers, as PID CPU: ${workers//$'\n'/, }"
check "the worker runs" [ -n "$workers" ]
check "the worker runs on the CPU of the cpumask alone" [ -z "$(grep -v ' 3$' <<< "$workers")" ]
# The rescuer keeps its own; it helps out where a worker is not made in time.
seen=0 wrong=0
while read -r pid _; do
	[[ $(cat "/proc/$pid/comm") == kworker/u* ]] || continue
	seen=$((seen + 1))
	[ "$(ps -o ni= -p "$pid" | tr -d ' ')" = 5 ] || wrong=$((wrong + 1))
done <<< "$workers"
expect "workers have the nice value" 'seen > 0 && wrong == 0'

mode off "$ctrl"
soon 10 "off again: no workqueue" "[ ! -e $wqs/$wq1 ] && [ ! -e $wqs/$wq2 ]"
soon 10 "off again: no rescuer" "! rescuers $ctrl > /dev/null"

set_defer workqueue controller
mode on "$ctrl"
check "controller: one for both queues" \
	[ "$(names | tr ' ' '\n' | grep "^$ctrl")" = "$ctrl-defer" ]
check "controller: one rescuer" [ "$(rescuers "$ctrl")" = "$ctrl-defer" ]
mark "$ctrl"
check "controller: verified" verify "$dev" 0 24m
settle "$ctrl"
tally
expect "controller: defers" 'deferred > 100 && worker_requests == deferred'
# lives on until it is made anew
set_defer workqueue queue
check "a new scope does not touch what there is" [ "$(rescuers "$ctrl")" = "$ctrl-defer" ]
mode off "$ctrl"
soon 10 "controller, off: none" "[ ! -e $wqs/$ctrl-defer ]"
mode on "$ctrl"
check "queue: one a queue" [ "$(rescuers "$ctrl" | wc -l)" = 2 ]
mode auto "$ctrl"
check "auto: they stay, as DMA bounces" [ "$(rescuers "$ctrl" | wc -l)" = 2 ]
