#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: a namespace that is attached around a reset can be used and is right
# vm: --cpus 4 --append swiotlb=65536,force --nvme id=ns,queues=2,backend=mem,size=256M,namespaces=1,detached=1
# timeout: 180

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"

use ns
second() {
	disk "$ctrl" 2
}

both_work() { # DESCRIPTION
	check "$1: the load on the first goes on" load_goes_on "$ctrl"
	soon 20 "$1: the second namespace is there" "second > /dev/null"
	dev2=/dev/$(second)
	mark "$ctrl"
	check "$1: the second is written" fill "$dev2" 0 16m
	check "$1: the second is verified" verify "$dev2" 0 16m
	check "$1: the first saw no error, no wrong data" load_stop
	soon 20 "$1: nothing is left in the lanes" "settled $ctrl"
	tally
	expect "$1: completions were deferred" 'deferred > 100'
}

echo 255 > /sys/module/nvme_core/parameters/max_retries
mode on "$ctrl"
check "there is one namespace at first" eval '! second > /dev/null'

load_start "$dev"
check "attach" quietly nvme attach-ns "/dev/$ctrl" -n 2 -c 0
reset_controller "$ctrl"
both_work "attach, then reset"

check "detach" quietly nvme detach-ns "/dev/$ctrl" -n 2 -c 0
soon 20 "the second namespace is gone" "! second > /dev/null"
load_start "$dev"
reset_controller "$ctrl" &
nvme attach-ns "/dev/$ctrl" -n 2 -c 0 > "$tmp/attach" 2>&1 || echo "# $(head -n 1 "$tmp/attach")"
wait $!
# what comes while the controller resets may be refused
if ! wait_for 5 "second > /dev/null"; then
	nvme attach-ns "/dev/$ctrl" -n 2 -c 0 > /dev/null 2>&1
	nvme ns-rescan "/dev/$ctrl"
fi
both_work "attach during a reset"
echo 5 > /sys/module/nvme_core/parameters/max_retries
