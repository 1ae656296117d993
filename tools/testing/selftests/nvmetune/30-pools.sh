#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: descriptors come from the pools that were chosen and go back there; data are right
# vm: --cpus 8 --numa 2 --append swiotlb=65536,force --nvme id=pools,queues=8,namespaces=2,backend=mem,size=512M
# timeout: 400

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/testing/selftests/nvmetune/lib-pools.sh
. "$(dirname "$0")/lib-pools.sh"

use pools
mode on "$ctrl"
dev2=/dev/$(disk "$ctrl" 2)

# At first

check "by node is the default" [ "$(< "$tune/$ctrl/in_force/pool")" = node ]
soon 10 "and in force from the start" 'pool_is "$ctrl" node'
nodes=$(cat /sys/devices/system/node/online 2> /dev/null || echo 0)
case $nodes in
0-1)
	check "two nodes, two pairs" [ "$(pairs "$ctrl")" = "device node0 node1" ]
	check "the pairs say so" [ "$(cat "$tune/$ctrl/pools"/node*/numa_node | paste -sd' ')" = "0 1" ]
	check "four queues each" [ "$(cat "$tune/$ctrl/pools"/node*/users | paste -sd' ')" = "4 4" ] ;;
*)
	check "one node, one pair" [ "$(pairs "$ctrl")" = "device node0" ]
	check "all queues" [ "$(< "$tune/$ctrl/pools/node0/users")" = 8 ] ;;
esac
check "the admin queue has the device's" [ "$(< "$tune/$ctrl/pools/device/users")" = 1 ]
check "block sizes" [ "$(cat "$tune/$ctrl/pools/device"/{small,page}_block_bytes | paste -sd' ')" = "256 4096" ]
check "the pairs are counted" [ "$(< "$tune/$ctrl/pools/pairs")" = $(($(pairs "$ctrl" | wc -w))) ]

# Each choice

took_from() { # CHOICE: the pairs that have to have had blocks, and those that have not
	local pair n

	for pair in $(pairs "$ctrl"); do
		n=$(pool_blocks "$ctrl" "$pair")
		case $1,$pair in
		device,device | node,node* | private,q*)
			expect "$1: descriptors came from $pair" 'n > 0' ;;
		esac
	done
}

# The device's pair never shrinks: that others take nothing from it shows only as long as
# it has had few itself, so it is not the first.
blocks=$(pool_blocks "$ctrl" device)
for choice in private node device private; do
	old=$(in_force "$ctrl")
	echo $choice > "$tune/$ctrl/pool"
	check "$choice: not before the reset" [ "$(in_force "$ctrl")" = "$old" ]
	reset_controller "$ctrl"
	soon 10 "$choice: in force after it" 'pool_is "$ctrl" $choice'
	check "$choice: written" fill "$dev" 0 32m
	check "$choice: the second namespace is written" fill "$dev2" 0 8m
	for cpu in {0..7}; do
		taskset -c "$cpu" dd if="$dev" of=/dev/null bs=64k count=8 iflag=direct status=none
		taskset -c "$cpu" dd if="$dev" of=/dev/null bs=256k count=8 iflag=direct status=none
	done
	check "$choice: verified" verify "$dev" 0 32m
	check "$choice: the second is verified" verify "$dev2" 0 8m
	took_from $choice
	after=$(pool_blocks "$ctrl" device)
	if [ $choice = device ]; then
		expect "$choice: the device's has grown" 'after > blocks'
	else
		expect "$choice: none from the device's" 'after == blocks'
	fi
	blocks=$after
	soon 20 "$choice: all went back" 'pools_idle "$ctrl"'
	expect "$choice: there are some" "$(pool_sum "$ctrl" bytes) > 0"
done

# Of one queue, and of the driver

echo inherit > "$tune/$ctrl/pool"
echo private > "$tune/$ctrl/q3/pool"
reset_controller "$ctrl"
soon 10 "a queue may have its own" '[ "$(< "$tune/$ctrl/q3/in_force/pool") $(in_force "$ctrl")" = "private node private" ]'
soon 10 "and is the only one" '[[ $(pairs "$ctrl") = "device node0"*" q3" ]]'
check "one user" [ "$(< "$tune/$ctrl/pools/q3/users")" = 1 ]
echo inherit > "$tune/$ctrl/q3/pool"
echo device > "$params/pool"
reset_controller "$ctrl"
soon 10 "the module parameter holds for all that inherit" 'pool_is "$ctrl" device'
check "verified" verify "$dev" 0 16m
check "an unknown choice is refused" eval '! echo shared 2> /dev/null > "$tune/$ctrl/pool"'

# A new namespace does not disturb what is under way

echo private > "$tune/$ctrl/pool"
load_start "$dev"
check "detach" quietly nvme detach-ns "/dev/$ctrl" -n 2 -c 0
soon 20 "the second namespace is gone" '! disk "$ctrl" 2 > /dev/null'
check "attach" quietly nvme attach-ns "/dev/$ctrl" -n 2 -c 0
soon 20 "the second namespace is back" 'disk "$ctrl" 2 > /dev/null'
check "queues keep their pools" [ "$(in_force "$ctrl")" = device ]
check "the load goes on" load_goes_on "$ctrl"
check "no error, no wrong data under load" load_stop
soon 20 "all went back" 'pools_idle "$ctrl"'
