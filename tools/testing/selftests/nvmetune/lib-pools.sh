# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
# For the tests of PRP pools, after lib.sh.

# The driver's choice is put back at the end.
pool_before=$(< "$params/pool") || die "no nvme.pool: is CONFIG_NVME_PRP_POOLS set?"

# pool_sum CONTROLLER NAME: the sum of a statistic over its pairs, small and page:
# active, blocks, pages, bytes
pool_sum() {
	local dir line n=0

	for dir in "$debug/$1"/pools/*/; do
		while read -r line; do
			case $line in
			small_"$2"' '* | page_"$2"' '*) n=$((n + ${line#* })) ;;
			esac
		done < "$dir/stats"
	done
	echo $n
}

# pool_blocks CONTROLLER PAIR: blocks that it has ever had
pool_blocks() {
	awk '/_blocks / { n += $2 } END { print n + 0 }' "$debug/$1/pools/$2/stats"
}

# device_pools CONTROLLER: pools that its device has, as mm/dmapool.c lists them
device_pools() {
	grep -c '^prp list' "/sys/class/nvme/$1/device/pools"
}

# device_active CONTROLLER: blocks in use in all of them, as mm/dmapool.c counts
device_active() {
	awk '/^prp list/ { n += $(NF - 3) } END { print n + 0 }' \
		"/sys/class/nvme/$1/device/pools"
}

# pairs CONTROLLER: names of its pairs, in one line
pairs() {
	local dir names=()

	for dir in "$tune/$1"/pools/*/; do
		dir=${dir%/}
		[ ! -d "$dir" ] || names+=("${dir##*/}")
	done
	echo "${names[*]}"
}

# in_force CONTROLLER: what its queues use, each once, in one line
in_force() {
	cat "$tune/$1"/q*/in_force/pool | sort -u | paste -sd' '
}

# nodes_of CONTROLLER: pairs by node that its queues need
nodes_of() {
	cat "$tune/$1"/q*/numa_node | sort -un | sed 's/^/node/' | paste -sd' '
}

# pairs_of CONTROLLER CHOICE: pairs that there have to be if all queues have it
pairs_of() {
	local dir names=(device)

	case $2 in
	node)
		names+=("$(nodes_of "$1")") ;;
	private)
		for dir in "$tune/$1"/q*/; do
			dir=${dir%/}
			names+=("${dir##*/}")
		done ;;
	esac
	echo "${names[*]}"
}

# pool_is CONTROLLER CHOICE: all queues have it, and the pairs follow, those that
# are shown and those that the device has
pool_is() {
	local want

	[ "$(in_force "$1")" = "$2" ] || return 1
	want=$(pairs_of "$1" "$2")
	[ "$(pairs "$1")" = "$want" ] || return 1
	set -- "$1" $want
	[ "$(device_pools "$1")" = $((2 * ($# - 1))) ]
}

# set_pool CONTROLLER CHOICE: and reset
set_pool() {
	echo "$2" > "$tune/$1/pool" || die "pool=$2 was refused"
	reset_controller "$1"
}

# pools_idle CONTROLLER: no descriptor is in use
pools_idle() {
	[ "$(pool_sum "$1" active)" = 0 ] && [ "$(device_active "$1")" = 0 ]
}

cleanup_pools() {
	echo "$pool_before" > "$params/pool"
	cleanup
}
trap cleanup_pools EXIT
