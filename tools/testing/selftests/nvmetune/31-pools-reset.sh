#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: pools that resets change under load: no wrong data, nothing left, nothing lost
# vm: --cpus 8 --numa 2 --append swiotlb=65536,force --append nvme.poll_queues=2 --nvme id=pools,queues=8,backend=mem,size=512M
# timeout: 480
# full-timeout: 900

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/testing/selftests/nvmetune/lib-pools.sh
. "$(dirname "$0")/lib-pools.sh"

seconds=60
full && seconds=300

# A reset cancels what is on its way; fio may not run out of retries.
echo 255 > /sys/module/nvme_core/parameters/max_retries
use pools
mode on "$ctrl"
check "data to verify at the end" fill "$dev" 256m 32m
seen=" "
resets=0 failed=0 kept=0

# one_reset: to another choice, of all queues or of some, at times with other queues
one_reset() {
	local choices=(device node private) q

	echo "${choices[RANDOM % 3]}" > "$tune/$ctrl/pool"
	for q in "$tune/$ctrl"/q*/; do
		if [ $((RANDOM % 4)) = 0 ]; then
			echo "${choices[RANDOM % 3]}"
		else
			echo inherit
		fi > "$q/pool" 2> /dev/null
	done
	if [ $((RANDOM % 5)) = 0 ]; then
		echo $((RANDOM % 3)) > "$params/poll_queues"
	fi
	reset_controller "$ctrl" || failed=$((failed + 1))
	resets=$((resets + 1))
	for q in $(in_force "$ctrl"); do
		[[ $seen = *" $q "* ]] || seen+="$q "
	done
}

load_start "$dev"
dmesg -C
SECONDS=0
while [ $SECONDS -lt $seconds ] || [ $resets -lt 10 ]; do
	one_reset
	load_goes_on "$ctrl" || break
done
kept=$(dmesg | grep -c 'PRP pools')
echo "# $resets resets, pools that were seen in force:$seen, messages: $kept"
check "the load goes on" load_goes_on "$ctrl"
check "no error, no wrong data under load" load_stop
expect "all resets worked" 'failed == 0 && resets >= 10'
expect "each choice was in force at some time" "$(wc -w <<< "$seen") == 3"
expect "each reset applied its choice" 'kept == 0'
settle "$ctrl"

echo 0 > "$params/poll_queues"
for q in "$tune/$ctrl"/q*/pool; do
	echo inherit > "$q"
done
for choice in private device node; do
	set_pool "$ctrl" $choice
	soon 10 "at rest, $choice: the pairs are those that it needs" 'pool_is "$ctrl" $choice'
	check "at rest, $choice: data are right" verify "$dev" 256m 32m
	soon 20 "at rest, $choice: no descriptor is in use" 'pools_idle "$ctrl"'
done

# Removal in the middle of a reset, with another choice on the way

# resetting PID: waits until the controller is being reset by the process; fails if that
# ends before
resetting() {
	local state

	while kill -0 "$1" 2> /dev/null; do
		read -r state < "/sys/class/nvme/$ctrl/state"
		case $state in
		resetting | connecting) return 0 ;;
		esac
	done
	return 1
}

pci=$(nvme_pci "$ctrl")
gone=$ctrl
for ((i = 0; i < 3; i++)); do
	load_start "$dev"
	echo private > "$tune/$ctrl/pool"
	(reset_controller "$ctrl" 2> /dev/null) &
	check "removal: in the middle of a reset" resetting $!
	echo 1 > "/sys/bus/pci/devices/$pci/remove"
	check "removed meanwhile: its objects are gone" [ ! -e "$tune/$gone" ]
	kill -INT "$load_pid" 2> /dev/null
	soon 60 "removed meanwhile: fio ends" '! kill -0 $load_pid 2> /dev/null'
	load_pid=
	echo 1 > /sys/bus/pci/rescan
	use pools
	soon 20 "it is back, with the default" 'pool_is "$ctrl" node'
	check "data are right" verify "$dev" 256m 32m
	soon 20 "no descriptor is in use" 'pools_idle "$ctrl"'
done
echo 5 > /sys/module/nvme_core/parameters/max_retries
