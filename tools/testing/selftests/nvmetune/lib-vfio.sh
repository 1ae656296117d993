# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# For the tests that map memory for devices: drives on vfio-pci, vfiomap, statistics.

# shellcheck source=tools/testing/selftests/nvmetune/lib-ynl.sh
. "$(dirname "$0")/lib-ynl.sh"

ulimit -l unlimited
vfiomap=$(program vfiomap)
readonly vfiomap

# address SERIAL: of the drive, as long as the NVMe driver has it
address() {
	basename "$(readlink -f "/sys/class/nvme/$(controller "$1")/device")"
}

# to_vfio ADDRESS: from whichever driver
to_vfio() {
	local dir=/sys/bus/pci/devices/$1

	echo vfio-pci > "$dir/driver_override"
	[ ! -e "$dir/driver" ] || echo "$1" > "$dir/driver/unbind"
	echo "$1" > /sys/bus/pci/drivers_probe
	wait_for 10 "[ -e $dir/vfio-dev ] || [ -e /sys/bus/pci/drivers/vfio-pci/$1 ]" ||
		die "$1: not on vfio-pci"
}

# to_nvme ADDRESS: back, for the tests that come after in the same machine
to_nvme() {
	local dir=/sys/bus/pci/devices/$1

	[ -e "$dir" ] || return 0
	echo > "$dir/driver_override"
	[ ! -e "$dir/driver" ] || echo "$1" > "$dir/driver/unbind"
	echo "$1" > /sys/bus/pci/drivers_probe
}

# take_drives: sets $spare and $other to their addresses, on vfio-pci
take_drives() {
	spare=$(address spare)
	other=$(address other)
	to_vfio "$spare"
	to_vfio "$other"
}

# give_drives: for the next test
give_drives() {
	to_nvme "$spare"
	to_nvme "$other"
	controller spare > /dev/null
	controller other > /dev/null
}

# has_iommufd: this kernel has the interface
has_iommufd() {
	[ -e /dev/iommu ]
}

# apis: what there is
apis() {
	echo type1
	! has_iommufd || echo iommufd
}

# object API: its object
object() {
	[ "$1" = iommufd ] && echo iommufd || echo vfio_type1
}

# tune_vfio API NAME VALUE
tune_vfio() {
	echo "$3" > "$tune/$(object "$1")/$2" || die "$(object "$1"): $2=$3 was refused"
}

# read_stats API: sets $unmaps, $bytes, $reschedules, $yields, $longest_stretch_ns
read_stats() {
	local name value

	while read -r name value; do
		printf -v "$name" %d "$value"
	done < "$debug/$(object "$1")/stats"
}

# reset_stats API: maxima and all
reset_stats() {
	nl reset "$(object "$1")" || die "statistics cannot be reset: $nl_error"
}

# map_unmap OPTION...: runs vfiomap; sets $map_ns, $unmap_ns, $locked_kb, $pinned_kb, …
map_unmap() {
	local name value

	map_ns=0 unmap_ns=0 wait_ns=0 locked_kb=-1 pinned_kb=-1 dirty_reads=0
	stuck=-1 stuck_while_mapped=-1 bits_missing=-1 bits_extra=-1 attached=-1
	"$vfiomap" "$@" > "$tmp/vfiomap" 2> "$tmp/vfiomap.err" || {
		sed 's/^/# /' "$tmp/vfiomap.err"
		return 1
	}
	while read -r name value; do
		[[ $value != *[!0-9]* ]] || continue
		printf -v "$name" %d "$value"
	done < "$tmp/vfiomap"
}

# pinned: pages that are pinned at this moment, by whomever: the root file system does
# so for as long as it reads
pinned() {
	awk '$1 == "nr_foll_pin_acquired" { n += $2 } $1 == "nr_foll_pin_released" { n -= $2 }
		END { print n }' /proc/vmstat
}

# unpinned SECONDS: no more are than when this was asked first
unpinned() {
	[ -n "${pinned_before:-}" ] || pinned_before=$(pinned)
	wait_for "$1" '[ "$(pinned)" -le "$pinned_before" ]'
}

# new_mdev: makes a mediated device, $mdev, of the kernel's sample driver; fails if this
# kernel has none
new_mdev() {
	local types=/sys/class/mdev_bus/mtty/mdev_supported_types

	[ -d $types ] || return 1
	mdev=$(< /proc/sys/kernel/random/uuid)
	echo "$mdev" > $types/mtty-1/create || die "no mediated device"
	wait_for 10 "[ -e /sys/bus/mdev/devices/$mdev/iommu_group ]" || die "$mdev: has no group"
}

drop_mdev() {
	echo 1 > "/sys/bus/mdev/devices/$mdev/remove"
}

# huge_pages MIB: reserves them
huge_pages() {
	echo $(($1 / 2)) > /proc/sys/vm/nr_hugepages
	[ "$(cat /proc/sys/vm/nr_hugepages)" = $(($1 / 2)) ] || die "no $1 MiB of huge pages"
}
