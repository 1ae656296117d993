#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: CPUs go and come back under load, those of the interrupts included
# vm: standard
# timeout: 180
# full-timeout: 900

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"

cpu() { # NUMBER 0|1
	echo "$2" > "/sys/devices/system/cpu/cpu$1/online"
}

# With a queue a CPU, the last CPU of a queue takes its interrupt with it, and the
# kernel waits for that queue's requests.
cycle() { # SERIAL SECONDS
	local cycles=0 failed=0 n

	use "$1"
	mode on "$ctrl"
	check "$1: written" fill "$dev" 192m 24m
	echo "# $1: interrupts on CPUs $(irq_cpus "$ctrl" | tr '\n' ' ')"
	mark "$ctrl"
	load_start "$dev"
	SECONDS=0
	while [ $SECONDS -lt "$2" ] || [ $cycles -lt 3 ]; do
		for n in 1 2 3; do
			cpu $n 0 || failed=$((failed + 1))
			load_moves 30 || failed=$((failed + 1))
			# two at a time: a queue of two CPUs loses both
			[ $n = 1 ] || cpu $((n - 1)) 1
		done
		cpu 3 1
		cycles=$((cycles + 1))
	done
	echo "# $1: $cycles times each CPU"
	expect "$1: each CPU went and came back" "failed == 0 && cycles >= 3"
	check "$1: the load goes on" load_moves 30
	check "$1: no error, no wrong data" load_stop
	soon 20 "$1: nothing is left in the lanes" "settled $ctrl"
	tally
	expect "$1: requests were deferred" 'deferred > 100 && worker_requests == deferred'
	check "$1: verified" verify "$dev" 192m 24m
	check "$1: all CPUs are back" [ "$(cat /sys/devices/system/cpu/online)" = 0-3 ]
}

seconds=10
full && seconds=120
cycle four $seconds
cycle two $seconds
check "no bounce buffer is left in use" [ "$(bounce_used)" = 0 ]
