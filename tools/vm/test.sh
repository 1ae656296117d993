#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests tools/vm itself: test.sh [KERNEL [PATTERN]]
#
# KERNEL defaults to the newest image in build/. PATTERN picks cases by name. Each
# case is a function, run in a subshell of its own, two at a time: that guests
# do not get in each other's way is tested along with it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
images=("$root"/build/*/*/arch/x86/boot/bzImage)
# shellcheck disable=SC2012 # images have tame names
kernel=${1:-$(ls -t "${images[@]}" 2> /dev/null | head -n 1)}
pattern=${2:-}
[ -r "$kernel" ] || { echo "no kernel image; see --help of tools/vm/run" >&2; exit 124; }

mkdir -p "$root/build/vm"
tmp=$(mktemp -d "$root/build/vm/test.XXXXXX")
trap 'kill $(jobs -p) 2> /dev/null || true; wait; rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

# boot [OPTION]... [-- ARG...] < SCRIPT: sets $code, leaves stdout and stderr in $dir
boot() {
	local options=()

	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	[ $# = 0 ] || shift
	cat > "$dir/script.sh"
	code=0
	"$here/run" --log "$dir/log" "${options[@]}" "$kernel" -- "$dir/script.sh" "$@" \
		> "$dir/stdout" 2> "$dir/stderr" || code=$?
}

# check NAME COMMAND...: ok if it succeeds
check() {
	local name=$1

	shift
	if "$@"; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		broken=1
	fi
}

# What a failed case leaves is shown: the guest is gone by then.
show_failure() {
	[ -n "${broken:-}" ] || return 0
	echo "# exit code ${code:-none}"
	tail -n 40 "$dir/stdout" "$dir/stderr" 2> /dev/null | sed 's/^/# /'
}

not() { ! "$@"; }
is_code() { [ "$code" = "$1" ]; }
says() { grep -qE -- "$1" "$dir/stderr"; }
prints() { grep -qE -- "$1" "$dir/stdout"; }
prints_just() { [ "$(cat "$dir/stdout")" = "$1" ]; }

case_output() {
	boot -- 'two words' "it's \"quoted\" \$HOME * \\" '' <<-'END'
	printf '[%s]' "$@"
	echo " on stderr" >&2
	echo "over there" > /dev/stderr
	# the 9p root is below an overlay: this must not reach the host
	echo changed >> "$0"
	echo "in the kernel log" > /dev/kmsg
	# and what is left running must not hold up the end
	sleep 1000 &
	exit 7
	END
	check "an exit code is handed back" is_code 7
	check "arguments and output arrive as they are" prints_just \
		"[two words][it's \"quoted\" \$HOME * \\][] on stderr
over there"
	check "the guest cannot write to the host's files" not grep -q ^changed "$dir/script.sh"
	check "the kernel log is in the log" grep -q "in the kernel log" "$dir/log"
}

case_much_output() {
	boot <<-'END'
	head -c 1000000 /dev/urandom | tee /mnt/copy
	END
	check "0 is handed back" is_code 0
	check "a megabyte of any bytes arrives (size)" [ "$(wc -c < "$dir/stdout")" = 1000000 ]
}

case_share() {
	mkdir "$dir/share"
	echo from the host > "$dir/share/a"
	boot --out "$dir/share" <<-'END'
	cat "$VM_OUT/a"
	head -c 1000000 /dev/urandom | tee "$VM_OUT/b" | md5sum > "$VM_OUT/b.md5"
	exit 99
	END
	check "99 is handed back" is_code 99
	check "the guest sees the shared directory" prints_just "from the host"
	check "the host sees what the guest wrote" \
		[ "$(md5sum < "$dir/share/b")" = "$(cat "$dir/share/b.md5")" ]
}

# A script below /tmp, which is the guest's own
case_tmp() {
	dir=$(mktemp -d)
	# shellcheck disable=SC2016 # it is the guest's
	boot <<< 'echo "$0"; exit 127'
	check "a script in /tmp runs" prints_just "$dir/script.sh"
	check "a code above 99 becomes 99" is_code 99
	check "and is told" says "ended with 127"
	[ -n "${broken:-}" ] || rm -r "$dir"
}

# The whole project there: what its scripts read has to be there, too.
case_project_in_tmp() {
	local here=$here

	dir=$(mktemp -d)
	mkdir "$dir/project"
	cp -r "$root/tools" "$dir/project"
	here=$dir/project/tools/vm
	# shellcheck disable=SC2016 # it is the guest's
	boot <<< '. "$VM_LIB" || exit 1; type -t wait_for; ls -d "$VM_ROOT"/t*'
	check "a project in /tmp: its scripts are there" prints_just "function
$dir/project/tools"
	[ -n "${broken:-}" ] || rm -r "$dir"
}

case_timeout() {
	boot --timeout 2 <<< 'echo begun; sleep 1000'
	check "a time-out is 121" is_code 121
	check "what was printed before is there" prints_just begun
	check "the log says who was blocked" grep -q "Show Blocked State" "$dir/log"
	check "its own dump is no report" not says "report.s. in the kernel log"
}

# Files on the share have the host's time stamps.
case_clock() {
	local host guest

	mkdir "$dir/share"
	boot --out "$dir/share" <<-'END'
	clock() { cut -d ' ' -f 1 /proc/uptime; }
	clock > /mnt/a
	sleep 4
	clock > /mnt/b
	END
	host=$(($(date -r "$dir/share/b" +%s%N) - $(date -r "$dir/share/a" +%s%N)))
	guest=$(awk 'NR == FNR { a = $1; next } { printf "%.0f", ($1 - a) * 1e9 }' \
		"$dir/share/a" "$dir/share/b")
	echo "guest $guest ns, host $host ns" >> "$dir/stdout"
	check "the guest's clock runs as the host's" \
		test $((guest > host * 9 / 10 && guest < host * 11 / 10)) = 1
}

# The guest is given some seconds to say who is blocked: no time for the script.
case_late() {
	boot --timeout 2 <<< 'sleep 4'
	check "a script that ends between time-out and kill is 121" is_code 121
}

# Output takes a moment through the pipe that keeps it in order.
case_panic() {
	boot <<< 'echo begun; sleep 2; echo c > /proc/sysrq-trigger'
	check "a panic is 123" is_code 123
	check "what was printed before is there" prints_just begun
	check "the panic is shown whole" says "entry_SYSCALL_64_after_hwframe"
}

case_poweroff() {
	boot <<< 'echo o > /proc/sysrq-trigger; sleep 1000'
	check "a power-off by the script is 123" is_code 123
}

# A task that hangs for a while: a real report, back trace included
case_splat() {
	boot --nvme backend=mem,size=64M <<-'END'
	. "$VM_LIB"
	mkfs.ext4 -q /dev/nvme0n1 && mkdir /run/fs && mount /dev/nvme0n1 /run/fs || die mount
	echo 1 > /proc/sys/kernel/hung_task_timeout_secs
	dmesg_mark
	fsfreeze -f /run/fs
	touch /run/fs/file &
	wait_for 30 'dmesg_since | grep -q "blocked for more"'
	fsfreeze -u /run/fs
	wait
	umount /run/fs
	echo over
	END
	check "a report in the kernel log is 120" is_code 120
	check "the script went on" prints_just over
	check "the report is printed" says "INFO: task touch:.*blocked"
	check "with its back trace" says "percpu_rwsem_wait|__percpu_down_read"
}

case_allowed_splat() {
	boot --allow-splat 'made up' --allow-splat 'by the test' <<-'END'
	echo "WARNING: made up" > /dev/kmsg
	echo "BUG: by the test" > /dev/kmsg
	exit 3
	END
	check "expected reports do not count" is_code 3
}

case_missing_splat() {
	boot --allow-splat 'made up' <<< 'exit 3'
	check "an expected report that is missing is 120" is_code 120
	check "and is named" says "made up"
}

case_usage() {
	local name

	try() { # NAME ARG...
		code=0
		name=$1
		shift
		"$here/run" --log "$dir/log" "$@" > "$dir/stdout" 2> "$dir/stderr" || code=$?
		check "$name is 124" is_code 124
	}
	echo true > "$dir/true.sh"
	try "no kernel"
	try "no script" "$kernel"
	try "a missing kernel" "$dir/none" -- "$dir/true.sh"
	try "a missing script" "$kernel" -- "$dir/none"
	try "an unknown option" --nonsense "$kernel" -- "$dir/true.sh"
	try "a bad number" --cpus many "$kernel" -- "$dir/true.sh"
	try "a bad size" --mem huge "$kernel" -- "$dir/true.sh"
	try "a bad NVMe key" --nvme nonsense=1 "$kernel" -- "$dir/true.sh"
	try "a bad backend" --nvme backend=tape "$kernel" -- "$dir/true.sh"
	try "a node that is not there" --nvme node=1 "$kernel" -- "$dir/true.sh"
	try "CPUs that do not divide" --cpus 3 --numa 2 "$kernel" -- "$dir/true.sh"
	try "no memory on the only node" --memoryless "$kernel" -- "$dir/true.sh"
	try "what QEMU refuses" --qemu -nonsense "$kernel" -- "$dir/true.sh"
	check "and QEMU's reason is shown" says "invalid option"
	"$here/run" --help > "$dir/stdout"
	check "--help names the exit codes" prints "124 +usage"
}

case_boot_death() {
	export VM_BOOT_RETRIES=$dir/retries
	boot --append rdinit=/nonexistent <<< 'echo never'
	check "a boot that dies twice is 122" is_code 122
	check "the first is kept" [ -s "$dir/log.boot1" ]
	check "the retry is told" says "trying once more"
	check "and counted" grep -qF "$dir/log.boot1" "$dir/retries"
	check "the script did not run" prints_just ""
}

case_boot_hang() {
	export VM_BOOT_LIMIT=1 VM_BOOT_RETRIES=$dir/retries
	boot <<< 'echo never'
	check "so is one that hangs" is_code 122
}

# Directories of mem-backed drives are named after the run that they belong to.
no_memory_left() {
	local left

	for left in /dev/shm/nvmetune-vm.*; do
		left=${left#*-vm.}
		[[ $left = '*' ]] || kill -0 "${left%.*}" 2> /dev/null || return 1
	done
}

case_drives() {
	boot --cpus 4 --numa 2 --nvme id=one,queues=1,backend=mem,size=64M \
		--nvme id=two,queues=2,namespaces=2,detached=1,node=1 <<-'END'
	. "$VM_LIB"
	set -euo pipefail
	one=$(nvme_by_serial one) two=$(nvme_by_serial two)
	echo queues "$(nvme_irqs "$one" | wc -l)" "$(nvme_irqs "$two" | wc -l)"
	echo interrupts "$(grep -c "${two}q[1-9]" /proc/interrupts)"
	echo cpus "$(irq_cpus "$two" | wc -l)"
	echo node "$(cat "/sys/class/nvme/$two/device/numa_node")"
	[[ $(nvme_pci "$one") =~ ^0000:[0-9a-f]{2}:[0-9a-f]{2}\.0$ ]] || die pci
	echo nodes "$(ls -d /sys/devices/system/node/node? | wc -l)"
	echo "CPUs of the second: $(cat /sys/devices/system/node/node1/cpulist)"
	head -c 1M /dev/urandom > /run/data
	dd if=/run/data of="/dev/${one}n1" bs=64k oflag=direct status=none
	dd if="/dev/${one}n1" bs=64k count=16 iflag=direct status=none | cmp - /run/data
	echo kept
	[ -b "/dev/${two}n2" ] && [ ! -e "/dev/${two}n3" ] || die namespaces
	nvme attach-ns "/dev/$two" -n 3 -c 0 > /dev/null
	nvme ns-rescan "/dev/$two"
	wait_for 10 "[ -b /dev/${two}n3 ]" || die "not attached"
	END
	check "two drives: the script is content" is_code 0
	check "queues and interrupts as asked, data kept, nodes" prints_just \
		"queues 1 2
interrupts 2
cpus 2
node 1
nodes 2
CPUs of the second: 2-3
kept"
	check "nothing stays in /dev/shm" no_memory_left
}

case_iommu() {
	boot --iommu --nvme hotplug <<-'END'
	ls /sys/kernel/iommu_groups | wc -l
	basename "$(readlink -f /sys/class/nvme/nvme0/device/iommu_group)"
	grep -c 'IR-PCI-MSI.*nvme0q1' /proc/interrupts
	END
	check "an IOMMU: boots" is_code 0
	check "groups exist, interrupts are remapped" \
		[ "$(wc -l < "$dir/stdout") $(tail -n 1 "$dir/stdout")" = "3 1" ]
}

case_bounce() {
	boot --nvme queues=2 --append swiotlb=65536,force <<-'END'
	T=/sys/kernel/tracing
	echo 1 > $T/events/swiotlb/swiotlb_bounced/enable
	dd if=/dev/nvme0n1 of=/dev/null bs=128k count=8 iflag=direct status=none
	grep -c 'swiotlb_bounced: .*FORCE' $T/trace
	END
	check "swiotlb=force bounces" test "$(cat "$dir/stdout")" -ge 8
}

case_errors() {
	printf '[inject-error]\nevent = "read_aio"\nsector = "2048"\nerrno = "5"\n' > "$dir/inject"
	boot --nvme "backend=mem,size=64M,inject=$dir/inject,extra=mdts=5" \
		--nvme id=slow,latency-us=300000,size=1M \
		--nvme "id=few,backend=mem,size=1M,iops=10,inject=$dir/inject" <<-'END'
	. "$VM_LIB"
	set -e
	d=$(nvme_by_serial nvme0)
	dd if=/dev/${d}n1 bs=512 skip=2040 count=1 iflag=direct of=/dev/null status=none
	! dd if=/dev/${d}n1 bs=512 skip=2048 count=1 iflag=direct of=/dev/null status=none 2> /dev/null
	cat /sys/block/${d}n1/queue/max_hw_sectors_kb
	d=$(nvme_by_serial slow)
	t=${EPOCHREALTIME/./}
	dd if=/dev/${d}n1 bs=512 count=1 iflag=direct of=/dev/null status=none
	[ $((${EPOCHREALTIME/./} - t)) -ge 300000 ]
	d=$(nvme_by_serial few)
	t=${EPOCHREALTIME/./}
	dd if=/dev/${d}n1 bs=512 count=20 iflag=direct of=/dev/null status=none
	[ $((${EPOCHREALTIME/./} - t)) -ge 1000000 ]
	END
	check "errors where asked for, latency and rate as asked" is_code 0
	check "extra= reaches the device" prints_just 128
}

# From the host while the guest waits; the socket's path is short (108 bytes at most)
case_unplug() {
	local dir2

	dir2=$(mktemp -d)
	mkdir "$dir/share"
	{
		for _ in $(seq 600); do
			[ ! -e "$dir/share/ready" ] || break
			sleep 0.1
		done
		"$here/qmp" "$dir2/qmp" device_del id=gone
	} > "$dir/qmp" 2>&1 &
	boot --out "$dir/share" --qmp "$dir2/qmp" --nvme id=gone,hotplug <<-'END'
	. "$VM_LIB"
	touch "$VM_OUT/ready"
	wait_for 60 '! nvme_by_serial gone > /dev/null' || die "still there"
	END
	wait
	rm -r "$dir2"
	check "device_del from the host" is_code 0
}

case_unplug_inside() {
	boot --guest-qmp --nvme id=gone,hotplug <<-'END'
	. "$VM_LIB"
	qmp device_del id=nonsense 2>&1
	qmp device_del id=gone
	wait_for 60 '! nvme_by_serial gone > /dev/null' || die "still there"
	END
	check "device_del from the guest" is_code 0
	check "QEMU's answers arrive" prints_just \
		"qmp: Device 'nonsense' not found
{}"
}

case_interrupted() {
	local pid

	echo 'sleep 1000' > "$dir/sleep.sh"
	"$here/run" --log "$dir/log" --nvme backend=mem "$kernel" -- "$dir/sleep.sh" 2> "$dir/stderr" &
	pid=$!
	for _ in $(seq 600); do
		! pgrep -P "$pid" -f qemu-system > "$dir/child" || break
		sleep 0.1
	done
	kill -TERM "$pid"
	code=0
	wait "$pid" || code=$?
	check "TERM ends it" is_code 143
	check "and QEMU" not kill -0 "$(cat "$dir/child")" 2> /dev/null
}

run_case() { # NAME
	local result=$tmp/$1/result

	dir=$tmp/$1
	mkdir "$dir"
	{
		"case_$1"
		show_failure
	} > "$result" 2>&1
}

# The long ones first, two at a time.
run_cases() {
	local name

	for name in unplug unplug_inside drives splat errors boot_death boot_hang \
		timeout late clock usage output much_output share tmp project_in_tmp panic poweroff \
		allowed_splat missing_splat iommu bounce interrupted; do
		[[ $name =~ $pattern ]] || continue
		while [ "$(jobs -pr | wc -l)" -ge 2 ]; do
			wait -n || true
		done
		run_case "$name" &
	done
	wait
	cat "$tmp"/*/result
}

{
	[ -n "$pattern" ] || "$here/scan-test.sh" | sed '$d'
	run_cases
} | tee "$tmp/all"
passed=$(grep -c '^ok' "$tmp/all") || true
failed=$(grep -c '^not ok' "$tmp/all") || true
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
