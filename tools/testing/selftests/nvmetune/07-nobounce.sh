#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: where DMA does not bounce, auto costs nothing: no workqueue, no count
# vm: --cpus 4 --nvme id=direct,queues=2,backend=mem
# timeout: 60

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"

use direct
check "auto is the default" [ "$(cat $params/defer_mode)" = auto ]
sum_up "$ctrl"
n=${sum[bounces]} m=$((sum[armed] + sum[workqueue]))
expect "nothing bounces, nothing is armed" 'n == 0 && m == 0'
mark "$ctrl"
check "written" fill "$dev" 0 32m
check "verified" verify "$dev" 0 32m
tally
expect "auto: nothing is counted" 'deferred + inline + worker_requests == 0'
check "auto: no workqueue" [ -z "$(find $wqs/ -name '*-defer')" ]
check "auto: no rescuer" eval '! rescuers nvme > /dev/null'

mode on "$ctrl"
mark "$ctrl"
check "on: verified" verify "$dev" 0 32m
settle "$ctrl"
tally
expect "on: defers here, too" 'deferred > 100 && worker_requests == deferred'
check "on: one rescuer a queue" [ "$(rescuers "$ctrl" | wc -l)" = 2 ]

set_defer mode auto
soon 10 "auto again: no workqueue" '[ -z "$(find $wqs/ -name "*-defer")" ]'
soon 10 "auto again: nothing is armed" "[ \$(armed $ctrl) = 0 ]"
