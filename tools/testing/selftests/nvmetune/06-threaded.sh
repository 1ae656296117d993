#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: interrupts handled in threads never defer: the driver's parameter
# vm: --cpus 4 --append swiotlb=65536,force --append nvme.use_threaded_interrupts=1 --append nvme.defer_mode=on --append nvme.defer_lanes=3 --append nvme.defer_backlog_bytes=32M --nvme id=thread,queues=2,backend=mem
# timeout: 60

# shellcheck source=tools/testing/selftests/nvmetune/lib-tool.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib-tool.sh"

use thread
check "defer_mode= at boot" [ "$(cat $params/defer_mode)" = on ]
check "defer_lanes= at boot" [ "$(cat $params/defer_lanes)" = 3 ]
check "defer_backlog_bytes= at boot" [ "$(cat $params/defer_backlog_bytes)" = 33554432 ]
check "force_bounce_swiotlb_wq says Y" [ "$(cat $params/force_bounce_swiotlb_wq)" = Y ]

sum_up "$ctrl"
n=${sum[threaded]} m=$((sum[armed] + sum[workqueue]))
expect "both queues are known to be threaded" 'n == 2 && m == 0'
mark "$ctrl"
check "written" fill "$dev" 0 32m
check "verified" verify "$dev" 0 32m
tally
expect "nothing is deferred" 'deferred + inline + worker_requests == 0'
check "there is no workqueue" [ -z "$(find $wqs/ -name '*-defer')" ]
t -j doctor threaded-interrupts
says "threaded-interrupts: nvmetune doctor names both queues" \
	"^$ctrl: $ctrl/q1, $ctrl/q2: interrupts are handled in threads" \
	"$(jq -r '.findings[] | "\(.object): \(.seen)"' <<< "$out")"
