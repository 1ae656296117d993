#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: queues of a NUMA node without memory have pools, too
# vm: --cpus 4 --numa 2 --memoryless --append swiotlb=65536,force --nvme id=pools,queues=4,backend=mem,size=256M
# timeout: 120

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/testing/selftests/nvmetune/lib-pools.sh
. "$(dirname "$0")/lib-pools.sh"

readonly sys=/sys/devices/system/node
use pools
mode on "$ctrl"
check "node 0 alone has memory" [ "$(< $sys/has_memory)" = 0 ]
check "node 1 has CPUs" [ "$(< $sys/node1/cpulist)" = 2-3 ]
for choice in node private device node; do
	set_pool "$ctrl" $choice
	soon 10 "$choice: in force" 'pool_is "$ctrl" $choice'
	check "$choice: written" fill "$dev" 0 16m
	check "$choice: verified" verify "$dev" 0 16m
	soon 20 "$choice: all went back" 'pools_idle "$ctrl"'
done
check "a pair for each" [ "$(pairs "$ctrl")" = "device node0 node1" ]
check "two queues each" [ "$(cat "$tune/$ctrl/pools"/node*/users | paste -sd' ')" = "2 2" ]
expect "the pair of node 1 is in use" "$(pool_blocks "$ctrl" node1) > 0"
