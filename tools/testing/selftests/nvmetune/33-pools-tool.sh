#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: nvmetune and the pools: set --reset, profiles, caps, the pairs and their numbers
# vm: --cpus 4 --numa 2 --append swiotlb=65536,force --nvme id=pools,queues=4,backend=mem,size=256M --nvme id=other,queues=2,backend=mem,size=256M
# timeout: 240

# shellcheck source=tools/testing/selftests/nvmetune/lib-tool.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib-tool.sh"
# shellcheck source=tools/testing/selftests/nvmetune/lib-pools.sh
. "$(dirname "$0")/lib-pools.sh"

use other
other=$ctrl
use pools
soon 10 "by node at first" 'pool_is "$ctrl" node && pool_is "$other" node'
check "written" fill "$dev" 0 16m

# caps and list

expect_t 0 "caps" caps
says "caps: the choices" 'pool +node, device, private' "$out"
expect_t 0 "list" list
says "list: the pairs" "$ctrl/pools/node1" "$out"
expect_t 0 "show of a pair" -q show "$ctrl/pools/node1" users
same "its users" 2 "$out"
expect_t 0 "stat of a pair" -j stat "$ctrl/pools/device"
says "its numbers" 'small_active' "$out"
expect_t 1 "a fact of a pair is none to set" set "$ctrl/pools/device" users=3

# set, with and without --reset

expect_t 0 "set" set "$ctrl" pool=private
says "tells when" 'reset' "$out$err"
same "does not reset" node "$(in_force "$ctrl")"
expect_t 0 "set --reset" set --reset "$ctrl" pool=device
soon 10 "resets" 'pool_is "$ctrl" device'
same "that controller only" node "$(in_force "$other")"
expect_t 0 "set --reset of queues" set --reset "$ctrl/q*" pool=private
soon 10 "works as well" 'pool_is "$ctrl" private'
same "own and in force" "device private" "$(< "$tune/$ctrl/pool") $(< "$tune/$ctrl/q1/in_force/pool")"
check "verified" verify "$dev" 0 16m
expect_t 0 "set --reset of the driver's" set --reset nvme pool=device
soon 10 "resets all" 'pool_is "$other" device'
expect_t 1 "no such choice" set --reset "$ctrl" pool=shared
says "is told, with those that there are" 'node.*device.*private' "$err"

# A profile

expect_t 0 "all as the driver again" set --reset nvme pool=inherit "$ctrl" pool=inherit \
	'nvme*/q*' pool=inherit
soon 10 "in force" 'pool_is "$ctrl" node && pool_is "$other" node'
expect_t 0 "other pools" set --reset nvme pool=private
expect_t 0 "numa-throughput" apply numa-throughput
says "has the pools" 'pool' "$out"
same "sets them" node "$(< "$tune/nvme/pool")"
expect_t 0 "restore" restore
same "puts the choice back" private "$(< "$tune/nvme/pool")"
expect_t 0 "the default again" set --reset nvme pool=inherit
soon 10 "in force" 'pool_is "$ctrl" node'
check "verified" verify "$dev" 0 16m
soon 20 "no descriptor is in use" 'pools_idle "$ctrl" && pools_idle "$other"'
