#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: past its limits a queue's interrupts take work back, a bounded share of it
# vm: standard
# timeout: 120

# shellcheck source=tools/testing/selftests/nvmetune/lib-tool.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib-tool.sh"

# took VARIABLE COMMAND...: how long it took, in ms
took() {
	local name=$1 from to

	shift
	now from
	"$@"
	now to
	printf -v "$name" %d $((to - from))
}

use two
mode on "$ctrl"
check "written" fill "$dev" 0 32m
settle "$ctrl"

set_defer backlog_bytes 1G
set_defer max_age_ms 60000
mark "$ctrl"
check "no limit: verified" verify "$dev" 0 32m
settle "$ctrl"
tally
expect "no limit: no pressure" 'deferred > 0 && pressure == 0 && inline == 0'

set_defer backlog_bytes 64K
set_defer chunk_bytes 64K
settle "$ctrl"
mark "$ctrl"
took ms verify "$dev" 0 32m
settle "$ctrl"
tally
echo "# small backlog: $deferred deferred, $pressure taken back, $inline_bytes bytes in $ms ms"
expect "small backlog: pressure" 'pressure > 0'
expect "small backlog: all that is not deferred is pressure" 'inline == pressure'
# a chunk and what exceeds it, at most a request, each 10 ms on each of four CPUs
most=$(((ms / 10 + 1) * 4 * (65536 + 131072)))
expect "small backlog: a bounded share" 'inline_bytes <= most'
expect "small backlog: workers complete the rest" 'worker_requests == deferred && deferred > 0'

# no more can wait than fio has asked for: four jobs of 32 reads of up to 128 KiB
sum_up "$ctrl"
highest=${sum[lane_backlog_max_bytes]}
expect "no lane has held more than was on its way" 'highest <= 2 * 4 * 32 * 131072'
expect "nothing is left" "${sum[backlog_bytes]} == 0 && ${sum[oldest_ns]} == 0"

# nvmetune doctor tells of it where it is more than one request in twenty
check "statistics start anew" "$nvmetune" -q stat --reset "$ctrl"
for ((round = 1; round <= 10; round++)); do
	pressed=
	for queue in 1 2; do
		kept=$(($(stat_of "$ctrl" $queue irq_pressure) + $(stat_of "$ctrl" $queue softirq_pressure)))
		rest=$(($(stat_of "$ctrl" $queue irq_deferred) + $(stat_of "$ctrl" $queue softirq_deferred)))
		[ $kept -lt 100 ] || [ $((20 * kept)) -lt $((kept + rest)) ] ||
			pressed+=${pressed:+, }$ctrl/q$queue
	done
	[ -z "$pressed" ] || break
	quietly verify "$dev" 0 32m || break
	settle "$ctrl"
done
echo "# round $round: q2: $kept of $((kept + rest)) taken back"
check "backlog-pressure: there is some to tell of" [ -n "$pressed" ]
t -j doctor backlog-pressure
says "backlog-pressure: nvmetune doctor names the queues" "^$ctrl: $pressed: [0-9]+ of [0-9]+ requests" \
	"$(jq -r '.findings[] | "\(.object): \(.seen)"' <<< "$out")"
