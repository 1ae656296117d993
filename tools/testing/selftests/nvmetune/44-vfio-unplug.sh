#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: vfio: a device is unplugged while memory is mapped for it
# vm: vfio
# timeout: 150
# alone: lockdep is off after the report below
# allow: pciehp_unconfigure_device

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/testing/selftests/nvmetune/lib-vfio.sh
. "$(dirname "$0")/lib-vfio.sh"

# The report that is allowed is of the stock kernel: its PCIe hotplug driver takes two of
# its locks in either order.

take_drives
unpinned 20

# It goes when its user does.
for api in $(apis); do
	tune_vfio "$api" resched_bytes 64K
	"$vfiomap" --api "$api" --memory 4k --shuffled --size 96 --hold "$other" > "$tmp/held" 2>&1 &
	pid=$!
	wait_for 60 "grep -q mapped $tmp/held" || die "$api: not mapped: $(cat "$tmp/held")"
	qmp device_del id=other > /dev/null
	pause 1
	kill -9 $pid
	wait $pid 2> /dev/null
	soon 60 "$api: unplugged: the device goes with its user" "[ ! -e /sys/bus/pci/devices/$other ]"
	check "$api: unplugged: all that was pinned is unpinned" unpinned 60
	# QEMU has it until the guest has let go of the slot
	wait_for 30 "qmp device_add driver=nvme id=other drive=other-n1 serial=other bus=port-other > /dev/null 2>&1" ||
		die "$api: cannot be plugged in"
	wait_for 60 "nvme_by_serial other > /dev/null" || die "does not come back"
	other=$(address other)
	to_vfio "$other"
	check "$api: plugged in again" map_unmap --api "$api" --size 64 "$other"
	tune_vfio "$api" resched_bytes 32M
done
give_drives
