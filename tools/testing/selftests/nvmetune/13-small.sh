#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: small requests, one at a time, are not deferred by auto
# vm: standard
# timeout: 60

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"

for serial in one two four; do
	use $serial
	mode auto "$ctrl"
	check "$serial: written" fill "$dev" 0 20m
	settle "$ctrl"
	mark "$ctrl"
	# shellcheck disable=SC2086 # options
	check "$serial: 4 KiB, one at a time: verified" run_fio --name=small $fio_verify \
		--rw=randread --bs=4k --iodepth=1 --ioengine=io_uring --direct=1 \
		--filename="$dev" --size=20m
	tally
	expect "$serial: more than 5000 reads" 'inline >= 5120'
	expect "$serial: none is deferred, no worker is woken" \
		'deferred == 0 && chunks == 0 && queue_work == 0 && worker_runs == 0'
done
