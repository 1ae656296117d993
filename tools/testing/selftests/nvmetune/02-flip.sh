#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: mode, lanes and sizes change under load and nothing is lost
# vm: standard
# timeout: 90
# full-timeout: 400

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"

use two

flips=0
flip() { # NAME VALUE...: each in turn
	local name=$1 value

	shift
	for value; do
		set_defer "$name" "$value"
		flips=$((flips + 1))
		pause 0.05
	done
}

seconds=20
full && seconds=240

check "data to verify at the end" fill "$dev" 256m 64m
mark "$ctrl"
load_start "$dev"
SECONDS=0
while [ $SECONDS -lt $seconds ]; do
	flip mode off on auto on off auto
	set_defer mode on
	flip lanes 1 8 2 4
	flip chunk_bytes 4K 1M 64K
	flip resched_bytes 0 4K 256K
	flip lane_bytes 0 1G 1M
	flip backlog_bytes 64K 16M
	flip workqueue queue controller auto
done
echo "# $flips changes"
tally
expect "much was changed" "$flips > seconds * 4"
expect "some was deferred, some not" 'deferred > 100 && worker_requests > 100'
check "the load goes on" load_moves 20
check "no error, no wrong data under load" load_stop
soon 20 "nothing is left in the lanes" "settled $ctrl"
check "data are right" verify "$dev" 256m 64m
mode off "$ctrl"
mark "$ctrl"
check "data are right when nothing is deferred" verify "$dev" 256m 64m
tally
expect "off defers nothing" 'deferred + inline == 0'
check "bounce buffers are free again" [ "$(bounce_used)" = 0 ]
