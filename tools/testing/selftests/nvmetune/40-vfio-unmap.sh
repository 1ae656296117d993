#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: vfio: all kinds of memory, mapped and unmapped: each page is unpinned once, all is counted
# vm: vfio
# timeout: 240
# full-timeout: 900

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/testing/selftests/nvmetune/lib-vfio.sh
. "$(dirname "$0")/lib-vfio.sh"

take_drives
mib=64
full && mib=1024
huge_pages $((mib + 2))
unpinned 20

# run API OPTION...: with all that has to be right afterwards
run() {
	local api=$1 want=$((mib << 20)) unmaps0 bytes0 unmaps bytes

	shift
	read_stats "$api"
	unmaps0=$unmaps bytes0=$bytes
	if ! map_unmap --api "$api" --size $mib "$@" || ! unpinned 20; then
		not_ok "$api $*" "$(pinned) pages are pinned"
		return
	fi
	read_stats "$api"
	unmaps=$((unmaps - unmaps0)) bytes=$((bytes - bytes0))
	if [[ $* = *--migrate* ]]; then
		# What is pinned cannot be moved, nor what was unpinned too often. A page, and
		# not only the sum of all.
		expect "$api $*: no page can be moved, and each can afterwards" \
			'stuck_while_mapped == mib * 256 && stuck == 0'
	fi
	# regions are whole huge pages
	expect "$api $*: all is unmapped and counted, nothing stays locked or pinned" \
		"locked_kb == 0 && pinned_kb == 0 && unmaps == regions * times && bytes <= want * times && bytes > (want - regions * (2 << 20)) * times"
}

for api in $(apis); do
	devices=$spare
	# each in a domain of its own
	[ "$api" = type1 ] || devices="$spare $other"
	for bytes_each in 64K 32M 0; do
		tune_vfio "$api" resched_bytes $bytes_each
		regions=1 times=1
		for memory in 4k '4k --shuffled --migrate' thp 'thp --mixed --migrate' huge; do
			# shellcheck disable=SC2086 # options
			run "$api" --memory $memory $devices
		done
		# shellcheck disable=SC2086
		regions=9 run "$api" --memory thp --mixed --regions 9 $devices
		# not aligned as the memory is, so that no large page fits
		# shellcheck disable=SC2086
		regions=1 run "$api" --memory huge --iova 0x100003000 $devices
	done
	tune_vfio "$api" resched_bytes 32M
	# shellcheck disable=SC2086
	times=5 run "$api" --memory thp --times 5 $devices
	full || continue
	# shellcheck disable=SC2086
	times=1 regions=500 run "$api" --memory 4k --regions 500 $devices
done

# Without what the scan knows, the same is unmapped
tune_vfio type1 skip_contiguous 0
regions=1 times=1
for memory in '4k --migrate' '4k --shuffled' 'thp --mixed --migrate' huge; do
	# shellcheck disable=SC2086
	run type1 --memory $memory "$spare"
done
tune_vfio type1 skip_contiguous 1
give_drives
