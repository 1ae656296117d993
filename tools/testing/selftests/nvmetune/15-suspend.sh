#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: suspend and resume of the controller under load
# vm: --cpus 4 --append swiotlb=65536,force --nvme id=stop,queues=1,size=1M --nvme id=sleep,queues=2,backend=mem
# timeout: 150
# allow: has pending DMA allocations while released from device \[count=2\]|DMA-API: Mapped at

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"

# The guest's root comes over virtio-9p, which no suspend leaves intact. So another
# controller, that sleeps after the one under test and before virtio, is brought into
# a state in which it refuses to: the suspend is given up there, and what sleeps
# already is resumed. The report of DMA: see 04-remove.sh.
use stop
stop=$ctrl
use sleep
echo 0 > /sys/power/pm_async

kill_controller() { # CONTROLLER: its registers are elsewhere, and it is found dead
	printf '\0\0\0\0\0\0\0\0' |
		dd of="/sys/bus/pci/devices/$(nvme_pci "$1")/config" bs=1 seek=16 conv=notrunc status=none
	reset_controller "$1" 2> /dev/null
	wait_for 30 "[ \"\$(cat /sys/class/nvme/$1/state)\" = dead ]"
}

# A resume is a reset, and sets up the queues.
awake() {
	grep -q "$ctrl: 2/0/0 default/read/poll queues" <(dmesg_since) &&
		[ "$(cat "/sys/class/nvme/$ctrl/state")" = live ]
}

if ! kill_controller "$stop"; then
	skip "suspend under load" "this kernel keeps no dead controller, which is what stops the suspend in time"
	exit 0
fi

echo 255 > /sys/module/nvme_core/parameters/max_retries
mode on "$ctrl"
check "written" fill "$dev" 192m 16m
load_start "$dev"
for ((i = 1; i <= 3; i++)); do
	dmesg_mark
	if echo freeze > /sys/power/state 2> /dev/null; then
		die "the suspend went through"
	fi
	check "suspend $i: has come as far as the other controller" \
		grep -q "$(nvme_pci "$stop").*failed to suspend" <(dmesg_since)
	soon 30 "suspend $i: the controller slept and is live again" awake
	check "suspend $i: the load goes on" load_goes_on "$ctrl"
done
check "no error, no wrong data" load_stop
soon 20 "nothing is left in the lanes" "settled $ctrl"
mark "$ctrl"
check "verified" verify "$dev" 192m 16m
settle "$ctrl"
tally
expect "defers as before" 'deferred > 100 && worker_requests == deferred'
echo 5 > /sys/module/nvme_core/parameters/max_retries
