#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: a bounce pool too small for the load makes it slow, not stuck
# vm: --cpus 4 --append swiotlb=2048,force --nvme id=small,queues=2,backend=mem,iops=300
# timeout: 180

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"

use small
pool=/sys/kernel/debug/swiotlb
highest_file=$pool/io_tlb_used_hiwater
slabs=$(cat $pool/io_tlb_nslabs)
expect "the pool has at most 8 MiB" 'slabs <= 4096'
check "written" fill "$dev" 0 32m

for m in on auto; do
	mode $m "$ctrl"
	mark "$ctrl"
	[ ! -e $highest_file ] || echo 0 > $highest_file
	# four jobs of 32 requests of 128 KiB want 16 MiB; the drive is slow enough that
	# all of them wait for it
	check "$m: verified" verify "$dev" 0 32m libaio --bsrange=128k-128k
	expect "$m: all of it was read" 'fio_read_kb == 4 * 32768'
	if [ -e $highest_file ]; then
		highest=$(cat $highest_file)
		echo "# $m: $highest of $slabs slabs"
		# a request of 128 KiB takes 64
		expect "$m: the pool was used up" 'highest > slabs * 3 / 4'
	else
		skip "$m: the pool was used up" "this kernel does not say how much was in use"
	fi
	soon 20 "$m: nothing is left in the lanes" "settled $ctrl"
	tally
	expect "$m: completions were deferred" 'deferred > 0 && worker_requests == deferred'
	soon 10 "$m: no bounce buffer is left in use" '[ $(bounce_used) = 0 ]'
done

check "larger requests: verified" verify "$dev" 0 16m io_uring --bsrange=256k-256k
soon 10 "larger requests: no bounce buffer is left in use" '[ $(bounce_used) = 0 ]'
