#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: past its limits a queue's interrupts take work back, a bounded share of it
# vm: standard
# timeout: 90

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"

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
