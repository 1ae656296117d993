#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: interrupts handled in threads never defer: threadirqs, found at run time
# vm: --cpus 4 --append swiotlb=65536,force --append threadirqs --append nvme.force_bounce_swiotlb_wq=Y --nvme id=thread,queues=2,backend=mem --nvme id=single,queues=1,backend=mem
# timeout: 90

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"

check "force_bounce_swiotlb_wq= at boot sets the mode" [ "$(cat $params/defer_mode)" = on ]
for serial in thread single; do
	use $serial
	mark "$ctrl"
	check "$serial: written" fill "$dev" 0 32m
	check "$serial: verified" verify "$dev" 0 32m
	tally
	sum_up "$ctrl"
	n=${sum[threaded]}
	expect "$serial: a queue whose interrupt came was found to be threaded" 'n > 0'
	expect "$serial: nothing is deferred" 'deferred + worker_requests == 0'
	soon 10 "$serial: its workqueues are gone, but for queues without an interrupt so far" \
		"[ \$(count $ctrl workqueue) -le $((sum[running] - n)) ]"
done
