#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Measures vfio type1 and iommufd in the guest: maps and unmaps memory, with each
# interval that is asked for, or as the kernel does where it has none. Prints a line
# "unmap …" a run, NAME=VALUE each; unmap-report reads them on the host.
#
# Usage: guest-unmap.sh timed|counted REPEATS MIB [SETTING]
# With SETTING, only that one: then what was measured before, and so how memory lies, is
# the same with each setting.
# shellcheck source=tools/vm/guest.sh
. "$VM_LIB" || exit
set -u

how=$1 repeats=$2 mib=$3 only=${4:-}
readonly vfiomap=$VM_ROOT/build/selftest/bin/vfiomap
readonly tune=/sys/kernel/nvmetune debug=/sys/kernel/debug/nvmetune
readonly sched=/sys/kernel/debug/sched
[ -x "$vfiomap" ] || die "no $vfiomap"
ulimit -l unlimited

# object API
object() {
	[ "$1" = iommufd ] && echo iommufd || echo vfio_type1
}

# on_vfio SERIAL: sets $device to its address, on vfio-pci
on_vfio() {
	local dir

	wait_for 30 "nvme_by_serial $1 > /dev/null" || die "no drive $1"
	device=$(basename "$(readlink -f "/sys/class/nvme/$(nvme_by_serial "$1")/device")")
	dir=/sys/bus/pci/devices/$device
	echo vfio-pci > "$dir/driver_override"
	echo "$device" > "$dir/driver/unbind"
	echo "$device" > /sys/bus/pci/drivers_probe
	wait_for 10 "[ -e /sys/bus/pci/drivers/vfio-pci/$device ]" || die "$device: not on vfio-pci"
}

# tell API NAME: a statistic, 0 where there is none
tell() {
	awk -v name="$2" '$1 == name { n = $2 } END { printf "%.0f\n", n }' \
		"$debug/$(object "$1")/stats" 2> /dev/null || echo 0
}

# The longest stretch is a maximum since the statistics were reset.
forget() {
	[ ! -d "$tune/$(object "$1")" ] || "$VM_ROOT/build/nvmetune/nvmetune" -q stat --reset "$(object "$1")" ||
		die "statistics of $1 cannot be reset"
}

# run API MEMORY SETTING: SETTING is INTERVAL, or INTERVAL/all without what the scan knows
run() {
	local api=$1 memory=$2 setting=$3 before args=() figures

	case $memory in
	4k-shuffled) args=(--memory 4k --shuffled) ;;
	huge-unaligned) args=(--memory huge --iova 0x100003000) ;;
	*) args=(--memory "$memory") ;;
	esac
	[ "$how" = counted ] || args+=(--wait)
	if [ "$setting" != stock ]; then
		echo "${setting%/all}" > "$tune/$(object "$api")/resched_bytes" || die "$setting was refused"
		if [ "$api" = type1 ]; then
			[[ $setting = */all ]] && echo 0 || echo 1
		fi > "$tune/vfio_type1/skip_contiguous"
	fi
	forget "$api"
	before=$(tell "$api" reschedules)
	"$vfiomap" --api "$api" --size "$mib" "${args[@]}" "$device" > /run/figures ||
		die "vfiomap failed: $api $memory"
	figures=$(tr ' \n' '= ' < /run/figures)
	echo "unmap how=$how api=$api memory=$memory setting=$setting mib=$mib ${figures}longest_ns=$(
		tell "$api" longest_stretch_ns) points=$(($(tell "$api" reschedules) - before))"
}

# settings API: what is compared
settings() {
	if [ ! -d "$tune/vfio_type1" ]; then
		echo stock
	elif [ -n "$only" ] && [ "$1" = iommufd ]; then
		echo "${only%/all}"
	elif [ -n "$only" ]; then
		echo "$only"
	elif [ "$1" = type1 ]; then
		echo 0/all 1G/all 64M/all 32M/all 32M
	else
		echo 0 1G 64M 32M
	fi
}

# The scheduler tells of a task that should have let go of the CPU: once an hour, so once
# in the life of this guest. That is what is asked for, so it does not go to the console,
# on which a report is a fault.
watch_scheduler() {
	dmesg -D
	echo LATENCY_WARN > $sched/features
	echo 0 > $sched/latency_warn_once
	echo 100 > $sched/latency_warn_ms
	if [ -d "$tune/vfio_type1" ]; then
		run type1 huge-unaligned 32M/all
	else
		run type1 huge-unaligned stock
	fi
	echo NO_LATENCY_WARN > $sched/features
	dmesg -E
	! dmesg | grep -E 'WARNING:|BUG:' | grep -v resched_latency_warn ||
		die "a report that was not asked for"
	dmesg | grep -A 40 'need_resched set for' > /run/report
	sed 's/^/# /' /run/report
	# It may be of another task, or of this one as it takes its memory.
	echo "scheduler reports=$(grep -c 'need_resched set for' /run/report)" \
		"of_unmap=$(grep -qE ' (vfio|iopt)_.*unmap' /run/report && echo 1 || echo 0)"
}

on_vfio spare
echo $((mib / 2)) > /proc/sys/vm/nr_hugepages
[ "$(< /proc/sys/vm/nr_hugepages)" = $((mib / 2)) ] || die "no $mib MiB of huge pages"
[ "$how" = counted ] || watch_scheduler
for ((i = 0; i < repeats; i++)); do
	for memory in huge huge-unaligned; do
		for api in type1 iommufd; do
			for setting in $(settings $api); do
				run $api $memory "$setting"
			done
		done
	done
done
echo 0 > /proc/sys/vm/nr_hugepages
for ((i = 0; i < repeats; i++)); do
	for memory in 4k 4k-shuffled thp; do
		for api in type1 iommufd; do
			for setting in $(settings $api); do
				run $api $memory "$setting"
			done
		done
	done
done
