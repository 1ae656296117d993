#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: vfio: settings, what is refused, statistics, histogram, tracepoint, inert
# vm: vfio
# timeout: 120

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/testing/selftests/nvmetune/lib-vfio.sh
. "$(dirname "$0")/lib-vfio.sh"

readonly tracing=/sys/kernel/tracing
mountpoint -q $tracing || mount -t tracefs tracefs $tracing

take_drives
check "objects are there" [ -d "$tune/vfio_type1" ]
if grep -q '^CONFIG_IOMMUFD=y' <(zcat /proc/config.gz); then
	check "iommufd has one" [ -d "$tune/iommufd" ]
else
	check "iommufd has none, as there is none" [ ! -e "$tune/iommufd" ]
fi

# refused OBJECT NAME VALUE: and unchanged
refused() {
	local was

	was=$(cat "$tune/$1/$2")
	! { echo "$3" > "$tune/$1/$2"; } 2> /dev/null && [ "$(cat "$tune/$1/$2")" = "$was" ]
}

for api in $(apis); do
	obj=$(object "$api")
	check "$obj: the default" [ "$(cat "$tune/$obj/resched_bytes")" = 33554432 ]
	for value in 8589934593 -1 often ''; do
		check "$obj: resched_bytes=$value is refused" refused "$obj" resched_bytes "$value"
	done
	for value in 0 1 65536 8589934592; do
		tune_vfio "$api" resched_bytes $value
		check "$obj: resched_bytes=$value" [ "$(cat "$tune/$obj/resched_bytes")" = $value ]
	done
	tune_vfio "$api" resched_bytes inherit
	check "$obj: resched_bytes=inherit: the default" [ "$(cat "$tune/$obj/resched_bytes")" = 33554432 ]
	check "$obj: inert is read-only" [ "$(stat -c %a "$tune/$obj/inert")" = 444 ]
	tune_vfio "$api" resched_bytes 1M

	# Statistics, from an unmap of 64 MiB: scan or read back, unmap, unpin
	reset_stats "$api"
	echo > $tracing/trace
	echo 1 > $tracing/events/vfio_resched/enable
	map_unmap --api "$api" --memory 4k --shuffled --size 64 "$spare" || die "vfiomap failed"
	echo 0 > $tracing/events/vfio_resched/enable
	read_stats "$api"
	expect "$obj: unmaps and bytes" 'unmaps == 1 && bytes == 64 << 20'
	expect "$obj: a point each interval, for mapping, unmapping and unpinning" \
		'reschedules >= 128 && reschedules <= 5 * 64'
	expect "$obj: the longest stretch" 'longest_stretch_ns > 0'
	stretches=$(awk '/^  up to|above/ { n += $NF } END { print n + 0 }' "$debug/$obj/histograms")
	expect "$obj: the histogram has all stretches" 'stretches >= reschedules'
	traced=$(grep -c "vfio_resched: $obj: after " $tracing/trace)
	expect "$obj: the tracepoint has all stretches" 'traced == stretches'
	traced_ns=$(sed -n "s/.*vfio_resched: $obj: after \([0-9]*\) ns.*/\1/p" $tracing/trace | sort -n | tail -n 1)
	expect "$obj: the longest traced is the longest" 'traced_ns == longest_stretch_ns'

	reset_stats "$api"
	read_stats "$api"
	expect "$obj: reset" 'unmaps == 0 && bytes == 0 && reschedules == 0 && longest_stretch_ns == 0'
	tune_vfio "$api" resched_bytes 32M
done

# What the scan knows saves looking up
tune_vfio type1 resched_bytes 0
huge_pages 64
for skip in 1 0; do
	tune_vfio type1 skip_contiguous $skip
	map_unmap --memory huge --size 64 "$spare" || die "vfiomap failed"
	unmap_us[skip]=$((unmap_ns / 1000))
done
echo "# unmapping 64 MiB of huge pages: ${unmap_us[1]} us, ${unmap_us[0]} us with all pages looked up"
tune_vfio type1 skip_contiguous 1
tune_vfio type1 resched_bytes 32M

# Whether cond_resched() does anything can be changed while the system runs
for model in full none; do
	echo $model > /sys/kernel/debug/sched/preempt
	inert=$(cat "$tune/vfio_type1/inert")
	want=$([ $model = full ] && echo 1 || echo 0)
	expect "inert with preempt=$model" 'inert == want'
done
give_drives
