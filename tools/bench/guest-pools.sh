#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Measures DMA pools in the guest: alone, with the load of prp_pools_bench.c, and below
# the real driver with fio. Prints a line "pools …" a run, NAME=VALUE each. Nothing is
# computed here: pools-report reads them on the host.
#
# Usage: guest-pools.sh SECONDS REPEATS DEPTH
# shellcheck source=tools/vm/guest.sh
. "$VM_LIB" || exit
set -u

seconds=$1 repeats=$2 depth=$3
bench=/sys/kernel/debug/prp_bench
tune=/sys/kernel/nvmetune
[ -e $bench/run ] || die "this kernel has no CONFIG_NVME_PRP_POOLS_BENCH"
ctrl=$(nvme_by_serial pools) || die "no controller"
readonly choices='device node private'
cpus=$(nproc)

alone() { # REMOTE CHOICE
	echo "$2 $1 $depth $((seconds * 1000))" > $bench/run || die "bench $2: refused"
	echo "pools kind=alone $(< $bench/run)"
}

in_force() {
	cat $tune/"$ctrl"/q*/in_force/pool | sort -u
}

# What the controller's pools have taken of memory
pool_bytes() {
	awk '/_bytes / { n += $2 } END { print n + 0 }' /sys/kernel/debug/nvmetune/"$ctrl"/pools/*/stats
}

fio_run() { # DEFERRAL CHOICE
	local acquired contended before ios ms

	echo "$1" > $tune/"$ctrl"/defer_mode
	echo "$2" > $tune/"$ctrl"/pool
	echo 1 > "/sys/class/nvme/$ctrl/reset_controller"
	[ "$(in_force)" = "$2" ] || die "$2 is not in force: $(in_force)"
	want=$cpus
	[ "$1" = on ] || want=0
	wait_for 20 "[ \$(cat $tune/$ctrl/q*/armed | grep -c 1) = $want ]" || die "deferral $1 is not in force"
	before=$(< $bench/locks)
	fio --name=pools --filename="/dev/${ctrl}n1" --ioengine=libaio --direct=1 --rw=randread \
		--bs=32k --iodepth="$depth" --numjobs="$cpus" --cpus_allowed="0-$((cpus - 1))" \
		--cpus_allowed_policy=split --thread --group_reporting --time_based \
		--runtime="$seconds" --output-format=json > /run/fio.json || die "fio failed"
	IFS='= ' read -r _ acquired _ contended <<< "$(< $bench/locks)"
	IFS='= ' read -r _ b_acquired _ b_contended <<< "$before"
	read -r ios ms < <(jq -r '.jobs[0] | "\(.read.total_ios) \(.read.runtime)"' /run/fio.json)
	echo "pools kind=fio deferral=$1 choice=$2 depth=$depth threads=$cpus ops=$ios" \
		"ns=$((ms * 1000000)) acquired=$((acquired - b_acquired))" \
		"contended=$((contended - b_contended)) bytes=$(pool_bytes)"
}

# Interleaved, so that what else the machine does meets all alike.
for ((repeat = 1; repeat <= repeats; repeat++)); do
	for remote in 0 1; do
		for choice in $choices; do
			alone $remote "$choice"
		done
	done
	for deferral in off on; do
		for choice in $choices; do
			fio_run $deferral "$choice"
		done
	done
done
