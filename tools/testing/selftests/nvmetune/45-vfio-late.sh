#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: vfio: a device that is attached after memory was mapped: pinned then, or undone
# vm: vfio
# timeout: 120

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/testing/selftests/nvmetune/lib-vfio.sh
. "$(dirname "$0")/lib-vfio.sh"

# A container whose only device is a mediated one has no domain: mappings are recorded, and
# pinned as soon as a device with an IOMMU comes (vfio_iommu_replay()).

take_drives
unpinned 20
if ! new_mdev; then
	skip "a device comes late" "this kernel has no mediated device built in"
	give_drives
	exit
fi

for bytes_each in 64K 32M 0; do
	tune_vfio type1 resched_bytes $bytes_each
	# three regions of whole huge pages, 20 MiB each
	for memory in '4k --shuffled' 'thp --mixed'; do
		# shellcheck disable=SC2086 # options
		check "$bytes_each, $memory: memory, then a device" \
			map_unmap --memory $memory --size 64 --regions 3 --late "$spare" --migrate "$mdev"
		expect "$bytes_each, $memory: it is attached, all is pinned, and each page unpinned again" \
			'attached == 1 && stuck_while_mapped == 60 * 256 && stuck == 0 && locked_kb == 0'
	done
done

# What follows cannot be pinned. To undo what was done, all of it is looked up.
for bytes_each in 32M 0; do
	tune_vfio type1 resched_bytes $bytes_each
	read_stats type1
	before=$reschedules
	check "$bytes_each: memory, then some that cannot be pinned, then a device" \
		map_unmap --memory 4k --size 64 --regions 3 --hole 8192 --late "$spare" --migrate "$mdev"
	read_stats type1
	points=$((reschedules - before))
	echo "# resched_bytes $bytes_each: $points points"
	expect "$bytes_each: it is refused, and no page stays pinned" \
		'attached == 0 && stuck == 0 && locked_kb == 0'
	if [ $bytes_each = 0 ]; then
		expect "off: no point" 'points == 0'
	else
		expect "the CPU is let go of meanwhile" 'points >= 8192 / 32'
	fi
done
tune_vfio type1 resched_bytes 32M

check "nothing is pinned" unpinned 60
drop_mdev
lockdep_on "lockdep is on still"
give_drives
