#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: vfio: killed while it unmaps, dirty bitmaps and other intervals meanwhile, what is refused
# vm: vfio
# timeout: 300
# full-timeout: 900

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/testing/selftests/nvmetune/lib-vfio.sh
. "$(dirname "$0")/lib-vfio.sh"

take_drives
unpinned 20
rounds=3
full && rounds=30

# What is pinned is let go of when the last file is closed, by the process as it ends.
back() { # DESCRIPTION
	check "$1: all that was pinned is unpinned" unpinned 60
}

# in_unmap API: it has begun to unmap since $unmaps0 was read, or is at a point of it
in_unmap() {
	read_stats "$1"
	[ $((unmaps + reschedules)) != "$mark" ]
}

# Killed in the middle: the ioctl goes on to its end, or the end of the process does the rest
kill_unmapping() { # API
	local i pid

	tune_vfio "$1" resched_bytes 64K
	for ((i = 0; i < rounds; i++)); do
		"$vfiomap" --api "$1" --memory 4k --shuffled --size 96 --hold "$spare" > "$tmp/held" 2>&1 &
		pid=$!
		wait_for 60 "grep -q mapped $tmp/held" || die "$1: not mapped: $(cat "$tmp/held")"
		read_stats "$1"
		mark=$((unmaps + reschedules))
		kill -9 $pid
		# it unmaps as it ends, which takes a while
		wait_for 30 "in_unmap $1" || die "$1: does not unmap"
		read_stats "$1"
		reads=$reschedules
		wait $pid 2> /dev/null
	done
	ok "$1: $rounds processes killed with their memory mapped"
	back "$1: killed"

	killed=0
	for ((i = 0; i < rounds; i++)); do
		"$vfiomap" --api "$1" --memory 4k --shuffled --size 96 --times 1000 "$spare" > "$tmp/held" 2>&1 &
		pid=$!
		read_stats "$1"
		unmaps0=$unmaps
		wait_for 60 "read_stats $1; [ \$unmaps -gt $unmaps0 ]" || die "$1: does not unmap"
		pause "0.0$((RANDOM % 90 + 10))"
		kill -9 $pid && killed=$((killed + 1))
		wait $pid 2> /dev/null
	done
	expect "$1: $rounds processes killed while they map and unmap" 'killed == rounds'
	back "$1: killed again"
	tune_vfio "$1" resched_bytes 32M
}

for api in $(apis); do
	kill_unmapping "$api"
done

# Reads of the dirty bitmap wait for the lock, and get a turn
tune_vfio type1 resched_bytes 64K
check "type1: dirty bitmaps are read meanwhile" map_unmap --memory 4k --size 96 \
	--regions 3 --times $rounds --dirty "$spare"
expect "type1: dirty bitmaps were read" 'dirty_reads > 0'
expect "type1: nothing stays locked" 'locked_kb == 0'
# Where a region begins in the middle of a word of the bitmap, it is shifted. The stock
# kernel then leaves some bits behind the end of a region in the second read: as many have
# to be there with an interval.
for regions in 1 3; do
	for bytes_each in 0 64K; do
		tune_vfio type1 resched_bytes $bytes_each
		check "type1, $bytes_each: the dirty bitmap of $regions regions" \
			map_unmap --memory 4k --size 96 --regions $regions --gap 7 --bits "$spare"
		expect "type1, $bytes_each: it has all pages that are mapped" 'bits_missing == 0'
		[ $bytes_each != 0 ] || stock_extra=$bits_extra
	done
	echo "# $regions regions: $bits_extra bits beside them, $stock_extra when off"
	expect "type1: and no more others than when off" 'bits_extra == stock_extra && bits_extra < 16'
done
tune_vfio type1 resched_bytes 32M
back "type1: dirty bitmaps"

# An interval that changes all the time
while :; do
	for value in 64K 0 1M 32M; do
		echo $value > "$tune/vfio_type1/resched_bytes"
		! has_iommufd || echo $value > "$tune/iommufd/resched_bytes"
	done
done &
changer=$!
for api in $(apis); do
	check "$api: unmapping while the interval changes" map_unmap --api "$api" \
		--memory thp --mixed --size 96 --regions 3 --times $((rounds * 3)) "$spare"
done
kill $changer
wait $changer 2> /dev/null
for api in $(apis); do
	tune_vfio "$api" resched_bytes 32M
done
back "interval changes"

# Refused, with nothing changed: what is mapped can be unmapped afterwards, all of it
for api in $(apis); do
	check "$api: tries what is to be refused" map_unmap --api "$api" --size 64 --refused "$spare"
	check "$api: overlapping regions, and parts of one, are refused" \
		[ "$(grep -c ' refused$' "$tmp/vfiomap") $(grep -c ' accepted$' "$tmp/vfiomap")" = '5 0' ]
	expect "$api: nothing stays locked" 'locked_kb == 0'
done
back "refused"

lockdep_on "lockdep is on still"
give_drives
