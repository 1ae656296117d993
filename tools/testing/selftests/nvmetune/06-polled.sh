#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: polled queues never defer, nor have they a workqueue; the others do
# vm: --cpus 4 --append swiotlb=65536,force --append nvme.poll_queues=2 --nvme id=poll,queues=4,backend=mem
# timeout: 60

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"

use poll
# the driver puts polled queues behind the others
readonly with_irq='1 2' by_poll='3 4'

sum_of() { # QUEUES NAME...
	local q name n=0 queues=$1

	shift
	for q in $queues; do
		for name; do
			n=$((n + $(stat_of "$ctrl" "$q" "$name")))
		done
	done
	echo $n
}

mode on "$ctrl"
n=$(sum_of "$by_poll" polled) m=$(sum_of "$with_irq" polled)
expect "queues 3 and 4 are polled, 1 and 2 are not" 'n == 2 && m == 0'
n=$(sum_of "$by_poll" workqueue armed) m=$(sum_of "$with_irq" workqueue armed)
expect "a workqueue for each that has an interrupt, none for the polled" 'n == 0 && m == 4'
check "no such workqueue" [ ! -e "$wqs/${ctrl}q3-defer" ]
check "one for queue 1" [ -e "$wqs/${ctrl}q1-defer" ]

check "written" fill "$dev" 0 32m io_uring
settle "$ctrl"
n=$(sum_of "$with_irq" irq_deferred softirq_deferred)
expect "interrupt queues defer" 'n > 100'

mark "$ctrl"
check "verified, polled" verify "$dev" 0 32m io_uring --hipri
settle "$ctrl"
tally
n=$(sum_of "$by_poll" irq_deferred softirq_deferred irq_inline softirq_inline worker_requests)
expect "the polled queues have deferred nothing" 'n == 0'
kb=$fio_read_kb
expect "$kb KiB were read by polling: the interrupt queues have seen none of it" \
	'fio_read_kb > 60000 && deferred == 0 && inline == 0'
check "verified, by interrupt" verify "$dev" 0 32m io_uring
