#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: resets under load lose nothing and leak nothing
# vm: standard
# timeout: 180
# full-timeout: 1200

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"

readonly dma=/sys/kernel/debug/dma-api

# DMA mappings that exist now, but for coherent memory, which a driver keeps. The
# file is made of one line a mapping.
mappings() {
	[ ! -d $dma ] || grep -c -v coherent $dma/dump
}

reset_under_load() { # SERIAL SECONDS
	local resets=0 failed=0

	use "$1"
	mode on "$ctrl"
	check "$1: data to verify at the end" fill "$dev" 256m 64m
	settle "$ctrl"
	before=$(mappings) used=$(bounce_used)
	mark "$ctrl"
	load_start "$dev"
	SECONDS=0
	while [ $SECONDS -lt "$2" ]; do
		reset_controller "$ctrl" || failed=$((failed + 1))
		resets=$((resets + 1))
		# else the next one finds nothing on its way; a few completions do
		load_goes_on "$ctrl" || break
	done
	tally
	echo "# $1: $resets resets, $deferred deferred, $flushes flushes found something"
	check "$1: the load goes on" load_goes_on "$ctrl"
	check "$1: no error, no wrong data under load" load_stop
	expect "$1: all resets worked" "failed == 0 && resets > $2 / 5"
	expect "$1: requests were deferred in between" 'deferred > resets'
	soon 20 "$1: nothing is left in the lanes" "settled $ctrl"
	check "$1: data are right" verify "$dev" 256m 64m
	check_leaks "$1"
}

check_leaks() { # SERIAL
	local mappings

	soon 10 "$1: no bounce buffer is left in use" "[ \$(bounce_used) = $used ]"
	if [ -d $dma ]; then
		mappings=$(mappings)
		expect "$1: no DMA mapping is left" "mappings == before"
	else
		skip "$1: no DMA mapping is left" "the kernel has no DMA_API_DEBUG"
	fi
}

# A reset cancels what is on its way. Each time that happens counts as a retry, and
# fio may not run out of them.
echo 255 > /sys/module/nvme_core/parameters/max_retries

seconds=20
full && seconds=200
for serial in four two one; do
	reset_under_load $serial $seconds
done
if [ -d $dma ]; then
	check "DMA debugging is still on" grep -q N $dma/disabled
fi
echo 5 > /sys/module/nvme_core/parameters/max_retries
