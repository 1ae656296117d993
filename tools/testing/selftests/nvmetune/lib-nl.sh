# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# For the tests that talk to the control plane by programs of this directory, which
# run, or the kernel's make install, has compiled.

readonly kmemleak=/sys/kernel/debug/kmemleak

# program NAME: its path
program() {
	local dir

	for dir in "$(dirname "$0")" "$VM_ROOT/build/selftest/bin"; do
		[ ! -x "$dir/$1" ] || { echo "$dir/$1"; return; }
	done
	die "no program $1"
}

# settings: all that can be written in sysfs, as "OBJECT NAME VALUE" lines
settings() {
	local file name value

	while read -r file; do
		read -r value < "$file" || continue
		name=${file#"$tune/"}
		echo "${name%/*} ${name##*/} $value"
	done < <(find "$tune" -type f -perm -u=w) | sort
}

# Remembers all settings, and puts back those that are not what they were. A queue
# that has gone meanwhile has none.
remember_settings() {
	settings > "$tmp/settings"
}

put_back_settings() {
	local object name value is

	# "workqueue" of a controller cannot be changed as long as it has any
	echo N > "$params/force_bounce_swiotlb_wq"
	echo off > "$tune/nvme/defer_mode"
	wait_for 20 '[ -z "$(find "$wqs/" -name "nvme*-defer")" ]'
	while read -r object name value; do
		read -r is 2> /dev/null < "$tune/$object/$name" || continue
		[ "$is" = "$value" ] || echo "$value" > "$tune/$object/$name"
	done < <(grep ' workqueue ' "$tmp/settings"; grep -v ' workqueue ' "$tmp/settings")
}

# objects DIRECTORY: the objects below /sys/kernel/nvmetune or in debugfs
objects() {
	(cd "$1" && find . -mindepth 1 -maxdepth 3 -type d ! -name in_force | sed 's,^\./,,' | sort)
}

# pool_of CONTROLLER QUEUE CPUS: the pair that a queue has to use, by its choice and
# the node of its first CPU
pool_of() {
	local cpu=${3%%[,-]*} choice node

	# it may go in this moment, and come with the next try
	read -r choice 2> /dev/null < "$tune/$1/q$2/in_force/pool" || choice=none
	case $choice in
	node)
		node=$(echo "/sys/devices/system/cpu/cpu$cpu"/node*)
		node=${node##*/node}
		echo "$1/pools/node${node/\*/0}" ;;
	private)
		echo "$1/pools/q$2" ;;
	esac
}

# objects_expected: what there has to be, from the controllers, the block layer and the
# kernel's configuration
objects_expected() {
	local dir ctrl q

	{
		others_expected
		echo nvme
		for dir in /sys/class/nvme/nvme*; do
			ctrl=${dir##*/}
			echo "$ctrl"
			# each disk has all queues
			for q in "/sys/block/$(disk "$ctrl")"/mq/*; do
				echo "$ctrl/q$((${q##*/} + 1))"
				pool_of "$ctrl" $((${q##*/} + 1)) "$(< "$q/cpu_list")"
			done
			printf '%s\n' "$ctrl/pools" "$ctrl/pools/device"
		done
	} | sort -u
}

# others_expected: those that belong to no controller
others_expected() {
	zgrep -q '^CONFIG_VFIO_IOMMU_TYPE1=[ym]' /proc/config.gz && echo vfio_type1
	zgrep -q '^CONFIG_IOMMUFD=[ym]' /proc/config.gz && echo iommufd
}

# Objects in sysfs, debugfs and over netlink are those expected.
objects_right() {
	local want

	want=$(objects_expected)
	[ "$(objects "$tune")" = "$want" ] && [ "$(objects "$debug")" = "$want" ] &&
		[ "$("$(program nlload)" objects | sort)" = "$want" ]
}

# lockdep_on DESCRIPTION: it has not switched itself off, of which the log need not tell
lockdep_on() {
	if [ -e /proc/lockdep_stats ]; then
		check "$1" grep -q 'debug_locks: *1' /proc/lockdep_stats
	else
		skip "$1" "the kernel has no lockdep"
	fi
}

# leaks_mark; …; leaks_check: nothing that was allocated in between is lost. What
# kmemleak has found before is none of ours.
leaks_mark() {
	[ -e $kmemleak ] || return 0
	# refused where it has switched itself off
	echo scan > $kmemleak || die "kmemleak does not work"
	echo clear > $kmemleak
}

leaks_check() { # DESCRIPTION
	local lost='' i

	if [ ! -e $kmemleak ]; then
		skip "$1" "the kernel has no kmemleak"
		return
	fi
	# What is younger than 5 s is not looked at; a second look tells the lost from
	# what was on its way from one list to the other.
	for i in 1 2; do
		pause 6
		echo scan > $kmemleak || lost="kmemleak has switched itself off"
	done
	lost+=$(cat $kmemleak)
	if [ -z "$lost" ]; then
		ok "$1"
	else
		echo "# $(grep -c '^unreferenced' <<< "$lost") objects, the first:"
		not_ok "$1" "$(head -n 40 <<< "$lost")"
	fi
}
