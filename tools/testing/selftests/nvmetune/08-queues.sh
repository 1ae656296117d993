#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: queues that a reset adds defer after it, those that it takes are given up
# vm: --cpus 4 --append swiotlb=65536,force --append nvme.poll_queues=2 --nvme id=grow,queues=6,backend=mem
# timeout: 240

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"

# The driver allows for as many queues as its parameters ask for at probe: with two
# polled ones that is six, and a reset may make them what the parameters say then.
use grow

state() { # QUEUE: running polled workqueue armed, or gone
	if [ ! -d "$debug/$ctrl/q$1" ]; then
		echo gone
		return
	fi
	echo "$(stat_of "$ctrl" "$1" running) $(stat_of "$ctrl" "$1" polled)" \
		"$(stat_of "$ctrl" "$1" workqueue) $(stat_of "$ctrl" "$1" armed)"
}

# reset_to POLL WRITE: numbers of queues
reset_to() {
	echo "$1" > $params/poll_queues
	echo "$2" > $params/write_queues
	reset_controller "$ctrl"
}

deferred_by() { # QUEUE...
	local q n=0

	for q; do
		[ -d "$debug/$ctrl/q$q" ] || continue
		n=$((n + $(stat_of "$ctrl" "$q" irq_deferred) + $(stat_of "$ctrl" "$q" softirq_deferred)))
	done
	echo $n
}

echo 255 > /sys/module/nvme_core/parameters/max_retries
mode on "$ctrl"
check "at first: queue 4 has an interrupt" [ "$(state 4)" = "1 0 1 1" ]
check "at first: queues 5 and 6 are polled" [ "$(state 5), $(state 6)" = "1 1 0 0, 1 1 0 0" ]
check "written" fill "$dev" 192m 32m

load_start "$dev"
reset_to 0 0
soon 10 "lowered: queues 5 and 6 are gone" '[ "$(state 5), $(state 6)" = "gone, gone" ]'
check "lowered: the load goes on" load_goes_on "$ctrl"
soon 10 "lowered: queue 4 defers" '[ "$(state 4)" = "1 0 1 1" ]'

n=$(deferred_by 5 6)
reset_to 0 2
check "raised: the load goes on" load_goes_on "$ctrl"
for q in 5 6; do
	soon 10 "raised: queue $q has a workqueue" "[ \"\$(state $q)\" = '1 0 1 1' ]"
	check "raised: it has a rescuer" grep -q "^${ctrl}q$q-defer\$" <(rescuers "$ctrl")
done
# reads go to queues 3 to 6 now, writes to 1 and 2
soon 20 "raised: queues 5 and 6 defer" "[ \$(deferred_by 5 6) -gt $n ]"
check "no error, no wrong data under load" load_stop
check "verified" verify "$dev" 192m 32m

load_start "$dev"
reset_to 0 0
check "lowered again: the load goes on" load_goes_on "$ctrl"
for q in 5 6; do
	soon 10 "lowered again: queue $q is gone" "[ \"\$(state $q)\" = gone ]"
	soon 10 "lowered again: no such workqueue" "[ ! -e $wqs/${ctrl}q$q-defer ]"
done

reset_to 2 0
soon 10 "polled again: queues 5 and 6 do not defer" \
	'[ "$(state 5), $(state 6)" = "1 1 0 0, 1 1 0 0" ]'
check "no error, no wrong data under load" load_stop
soon 20 "nothing is left in the lanes" "settled $ctrl"
check "verified" verify "$dev" 192m 32m
echo 5 > /sys/module/nvme_core/parameters/max_retries
