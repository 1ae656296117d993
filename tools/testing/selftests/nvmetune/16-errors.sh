#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: read errors and time-outs reach who asked, once, and everything completes
# vm: --cpus 4 --append swiotlb=65536,force --append nvme_core.io_timeout=2 --append nvme_core.max_retries=1 --nvme id=bad,queues=2,backend=mem,inject=%d/errors.blkdebug --nvme id=late,queues=2,backend=null,latency-us=3000000,size=8M --nvme id=dead,queues=2,backend=null,latency-us=6500000,size=8M
# timeout: 150
# allow: at: nvme_sync_queues

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"

total_errors() { # FILE
	sed -n 's/^ *"total_err" : \([0-9]*\),*/\1/p' "$1"
}

read_errors() { # MODE SCHEDULER
	local name="$1, $2" errors

	echo "$2" > "/sys/class/block/${dev#/dev/}/queue/scheduler"
	mode "$1" "$ctrl"
	mark "$ctrl"
	# 128 reads, one of which has the bad sector
	fio --name=errors --thread --output-format=json --filename="$dev" --direct=1 \
		--ioengine=io_uring --rw=read --bs=64k --size=8m --iodepth=64 \
		--continue_on_error=read --ignore_error=61 > "$tmp/json" 2> /dev/null
	errors=$(total_errors "$tmp/json")
	expect "$name: one read of 128 fails" 'errors == 1'
	if dd if="$dev" of=/dev/null bs=64k skip=16 count=1 iflag=direct 2> "$tmp/dd"; then
		not_ok "$name: the error is seen by who reads"
	else
		check "$name: the error is seen by who reads" grep -q "No data available" "$tmp/dd"
	fi
	check "$name: its neighbours can be read" \
		dd if="$dev" of=/dev/null bs=64k skip=15 count=1 iflag=direct status=none
	check "$name: and on the other side" \
		dd if="$dev" of=/dev/null bs=64k skip=17 count=1 iflag=direct status=none
	soon 20 "$name: nothing is left in the lanes" "settled $ctrl"
	tally
	[ "$1" = off ] ||
		expect "$name: workers complete what is deferred" 'worker_requests == deferred'
	[ "$1" != on ] ||
		expect "$name: each attempt was deferred" 'deferred + pressure >= 129 && inline == pressure'
}

# Of what is merged, as 6.1 does it, more than one read would fail.
use bad
echo 2 > "/sys/class/block/${dev#/dev/}/queue/nomerges"
mode on "$ctrl"
check "written" fill "$dev" 0 8m
for m in on off auto; do
	read_errors $m mq-deadline
	read_errors $m none
done

# A command that takes longer than the time-out is aborted, which QEMU does not do,
# and then completes as ever.
use late
mode on "$ctrl"
echo mq-deadline > "/sys/class/block/${dev#/dev/}/queue/scheduler"
dmesg_mark
mark "$ctrl"
check "late: reads that complete after their time-out succeed" \
	run_fio --name=late --filename="$dev" --direct=1 --ioengine=libaio --rw=randread \
	--bs=128k --iodepth=16 --number_ios=32
check "late: they have timed out" grep -q 'timeout, aborting' <(dmesg_since)
soon 20 "late: nothing is left in the lanes" "settled $ctrl"
tally
expect "late: each was completed once" 'deferred + inline == 32 && worker_requests == deferred'

# One that takes longer still ends in a reset. QEMU completes it then, before the
# queues are gone, and the driver finds it there, or retries it. Lockdep says of the
# work which has found the time-out that it leaves the queues frozen: true, and the
# stock driver's way. On 6.1 it says that a reset waits for that work with a lock held
# which the work takes, too: as true.
use dead
mode on "$ctrl"
dmesg_mark
requests "${dev#/dev/}"
before=$requests
run_fio --name=dead --filename="$dev" --direct=1 --ioengine=libaio --rw=randread \
	--bs=128k --iodepth=4 --number_ios=4
echo "# dead: fio's error is $fio_error"
check "dead: reads have timed out twice and the controller was reset" \
	grep -q 'reset controller' <(dmesg_since)
soon 30 "dead: the controller is live again" '[ "$(cat /sys/class/nvme/$ctrl/state)" = live ]'
requests "${dev#/dev/}"
expect "dead: each read has ended, once" 'requests - before == 4'
soon 20 "dead: nothing is left in the lanes" "settled $ctrl"
soon 10 "no bounce buffer is left in use" '[ $(bounce_used) = 0 ]'
