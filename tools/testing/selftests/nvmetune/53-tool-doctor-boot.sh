#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: nvmetune doctor: faults that a guest is booted with, and a pool that a load fills
# vm: --cpus 4 --numa 2 --append swiotlb=2048,force --append nvme.poll_queues=1 --append isolcpus=managed_irq,domain,1-3 --nvme id=poll,queues=4,backend=mem
# timeout: 150

# shellcheck source=tools/testing/selftests/nvmetune/lib-tool.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib-tool.sh"

use poll
wait_for 20 "[ -e $tune/$ctrl/q4 ]" || die "$ctrl has no q4"

doctor() {
	t -j doctor
	found=" $(jq -r '[.findings[].id] | unique | join(" ")' <<< "$out") "
}

found() { # ID WHAT OBJECT SEEN
	if [[ $found == *" $1 "* ]]; then
		ok "$1: $2"
	else
		not_ok "$1: $2" "found: $found; $(jq -c .could_not_look <<< "$out")"
	fi
	says "$1: where, and what was seen" "^$3: .*$4" \
		"$(jq -r ".findings[] | select(.id == \"$1\") | \"\(.object): \(.seen)\"" <<< "$out")"
}

doctor
expect "something is found" 'status == 3'
found polled-queues "a queue that is polled" "$ctrl" "$ctrl/q4"
found isolated-cpus "queues whose CPUs are all isolated" "$ctrl" "$ctrl/q"
found backlog-exceeds-pool "a pool that the backlog can fill" nvme 'defer_backlog_bytes=32 MiB of nvme'
# What firmware without _PXM leaves; the driver looks at each reset
set_node() {
	echo "$1" > "/sys/class/nvme/$ctrl/device/numa_node" && reset_controller "$ctrl"
}

check "the node of its device is known" set_node 1
doctor
unknown=0
[[ $found != *" numa-node-unknown "* ]] || unknown=1
expect "numa-node-unknown: not found then" 'unknown == 0'
check "the node of its device is not known" set_node -1
doctor
found numa-node-unknown "a controller of no node" "$ctrl" 'NUMA node is -1, and nodes 0-1 are online'
full=0
[[ $found != *" swiotlb-high-water "* ]] || full=1
expect "the pool was not full yet" 'full == 0'
mode on "$ctrl"
check "written" fill "$dev" 0 32m

readonly pool=/sys/kernel/debug/swiotlb
filled() {
	[ $((5 * $(< $pool/io_tlb_used_hiwater))) -gt $((4 * $(< $pool/io_tlb_nslabs))) ]
}

if [ -e $pool/io_tlb_used_hiwater ]; then
	# The isolated CPUs send, too: one alone may be slower than the drive.
	for ((try = 1; try <= 10; try++)); do
		verify "$dev" 0 32m libaio --bsrange=128k-128k --iodepth=64 \
			--cpus_allowed=0-3 --cpus_allowed_policy=split || break
		! filled || break
	done
	echo "# at try $try: $(< $pool/io_tlb_used_hiwater) of $(< $pool/io_tlb_nslabs) slots"
	check "a load has filled the pool, and all was verified" filled
	settle "$ctrl"
	doctor
	found swiotlb-high-water "how full it was" swiotlb 'slots of the bounce pool'
	says "with the pool's size doubled as what mends it" \
		"swiotlb=$((2 * $(< $pool/io_tlb_nslabs)))" \
		"$(jq -r '.findings[] | select(.id == "swiotlb-high-water").mend' <<< "$out")"
else
	skip "swiotlb-high-water" "this kernel does not say how much was in use"
fi
