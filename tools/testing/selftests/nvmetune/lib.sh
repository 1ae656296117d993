# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For the tests: . "$(dirname "$0")/lib.sh"
#
# Cases, counters, parameters, load. A test exits 0 whatever its cases say; it
# dies only where it cannot go on. All that it sets is put back when it ends.
set -u

# The tests stop CPUs, remove devices and write to drives: not on a real machine.
if [ -z "${VM_LIB:-}" ]; then
	echo "1..0 # SKIP runs in a virtual machine, see $(dirname "$0")/run"
	exit 4
fi
# shellcheck source=tools/vm/guest.sh
. "$VM_LIB" || exit

readonly params=/sys/module/nvme/parameters
readonly debug=/sys/kernel/debug/nvmetune
# shellcheck disable=SC2034 # for the tests
readonly tune=/sys/kernel/nvmetune
# shellcheck disable=SC2034 # for the tests
readonly wqs=/sys/bus/workqueue/devices
tmp=$(mktemp -d /run/selftest.XXXXXX)

# The load leaves little of the guest's CPUs; the script has to get its turn.
renice -n -15 -p $$ > /dev/null
readonly as_load='nice -n 15'

exec {never}<> <(:)

pause() { # SECONDS; without a fork, which takes long under load
	local _

	read -rt "$1" -u "$never" _ || true
}

# As in guest.sh, but for that.
wait_for() { # SECONDS CONDITION
	local end=$((${EPOCHREALTIME/./} + $1 * 1000000))

	until eval "$2"; do
		[ "${EPOCHREALTIME/./}" -lt "$end" ] || return 1
		pause 0.02
	done
}

full() {
	[ "${SELFTEST_FULL:-0}" != 0 ]
}

# Cases

cases=0

ok() { # DESCRIPTION
	echo "ok $((++cases)) - $1"
}

not_ok() { # DESCRIPTION [DIAGNOSTICS]
	echo "not ok $((++cases)) - $1"
	[ -z "${2:-}" ] || echo "# ${2//$'\n'/$'\n'# }"
}

skip() { # DESCRIPTION REASON
	echo "ok $((++cases)) - $1 # SKIP $2"
}

# expect DESCRIPTION EXPRESSION: an arithmetic one. Where it is false, the values
# of its variables are told.
expect() {
	local name text=$2

	if (($2)); then
		ok "$1"
		return
	fi
	while read -r name; do
		text+=", $name=${!name-}"
	done < <(grep -oE '\b[a-z_][a-z0-9_]*' <<< "$2" | sort -u)
	not_ok "$1" "$text"
}

# check DESCRIPTION COMMAND...: succeeds
check() {
	local what=$1

	shift
	if "$@"; then
		ok "$what"
	else
		not_ok "$what" "failed: $*"
	fi
}

# quietly COMMAND...: what it prints is of no interest
quietly() {
	"$@" > /dev/null
}

# soon SECONDS DESCRIPTION CONDITION: a shell condition that has to become true
soon() {
	if wait_for "$1" "$3"; then
		ok "$2"
	else
		not_ok "$2" "not within $1 s: $3"
	fi
}

# now VARIABLE: sets it to milliseconds
now() {
	printf -v "$1" %d $((${EPOCHREALTIME/./} / 1000))
}

# Controllers

# controller SERIAL: its name; waits, as probing is asynchronous
controller() {
	wait_for 30 "nvme_by_serial $1 > /dev/null" || die "no controller $1"
	nvme_by_serial "$1"
}

# disk nvme0 [NSID]: the name of a namespace's block device. Below a controller of
# a subsystem stands the path to it, nvme0c0n1 of nvme0n1.
disk() {
	local dir name nsid

	for dir in "/sys/class/nvme/$1"/nvme*n*; do
		[ -e "$dir/nsid" ] || continue
		read -r nsid < "$dir/nsid" || continue
		name=${dir##*/}
		[[ $name != *c*n* ]] || name=${name%c*}n${name##*n}
		if [ "$nsid" = "${2:-1}" ] && [ -b "/dev/$name" ]; then
			echo "$name"
			return
		fi
	done
	return 1
}

# use SERIAL: sets ctrl and dev, for the tests that look at one controller
use() {
	ctrl=$(controller "$1") || die "no controller $1"
	wait_for 30 "disk $ctrl > /dev/null" || die "$ctrl: no disk"
	dev=/dev/$(disk "$ctrl")
}

reset_controller() { # CONTROLLER: and wait for the end of it
	echo 1 > "/sys/class/nvme/$1/reset_controller"
}

# Counters: /sys/kernel/debug/nvmetune/CONTROLLER/qN/stats, and facts beside it

readonly facts='armed bounces polled running threaded'

# fact_of CONTROLLER QUEUE NAME: of one queue; "workqueue": whether it has one
fact_of() {
	local value

	if [ "$3" = workqueue ]; then
		read -r value < "$debug/$1/q$2/wq_name"
		[ "$value" = none ] && echo 0 || echo 1
		return
	fi
	read -r value < "$debug/$1/q$2/$3" || die "q$2: no fact $3"
	echo "$value"
}

# stat_of CONTROLLER QUEUE NAME: a counter or a fact of one queue
stat_of() {
	local line lines

	if [[ " $facts workqueue " == *" $3 "* ]]; then
		fact_of "$@"
		return
	fi

	mapfile -t lines < "$debug/$1/q$2/stats"
	for line in "${lines[@]}"; do
		if [ "${line% *}" = "$3" ]; then
			echo "${line#* }"
			return
		fi
	done
	die "q$2: no counter $3"
}

# sum_up CONTROLLER: fills the array "sum" with each counter's sum over the queues,
# and with how many of them each fact is true of.
# "deferred", "inline" and so on are the sums of what hard interrupts (irq_) and
# softirqs (softirq_) have counted; "in_softirq" is how many requests came there.
sum_up() {
	local file line lines name

	declare -gA sum=()
	for file in "$debug/$1"/q*/stats; do
		mapfile -t lines < "$file"
		for line in "${lines[@]}"; do
			name=${line% *}
			case $name in
			softirq_deferred | softirq_inline)
				sum[in_softirq]=$((${sum[in_softirq]:-0} + ${line#* })) ;;
			esac
			name=${name#irq_}
			name=${name#softirq_}
			sum[$name]=$((${sum[$name]:-0} + ${line#* }))
		done
		sum_up_facts "${file%/*}"
	done
}

sum_up_facts() { # DIRECTORY
	local name value

	for name in $facts; do
		read -r value < "$1/$name" || continue
		sum[$name]=$((${sum[$name]:-0} + value))
	done
	read -r value < "$1/wq_name"
	[ "$value" = none ] && value=0 || value=1
	sum[workqueue]=$((${sum[workqueue]:-0} + value))
}

# count CONTROLLER NAME: one of them
count() {
	sum_up "$1"
	echo "${sum[$2]:?no such counter}"
}

# mark CONTROLLER; …; tally: sets a variable for each counter to what was counted
# in between: $deferred, $inline, $worker_requests, …
mark() {
	local name

	marked=$1
	sum_up "$1"
	declare -gA at_mark=()
	for name in "${!sum[@]}"; do
		at_mark[$name]=${sum[$name]}
	done
}

tally() {
	local name

	sum_up "$marked"
	for name in "${!sum[@]}"; do
		printf -v "$name" %d $((sum[$name] - ${at_mark[$name]:-0}))
	done
}

# settled CONTROLLER: nothing is on its way to a worker or in its hands
settled() {
	sum_up "$1"
	[ "${sum[backlog_bytes]}" = 0 ] && [ "${sum[deferred]}" = "${sum[worker_requests]}" ]
}

settle() { # CONTROLLER
	wait_for 20 "settled $1"
}

# requests nvme0n1: sets $requests to the reads, writes, discards and flushes that
# the block layer has completed; it does not count passthrough. Of a disk with paths,
# nvme0c1n1 and so on, they count: before 6.4 the disk itself does not.
requests() {
	local f disk paths=(/sys/class/block/"${1%n*}"c*n"${1##*n}")

	[ -e "${paths[0]}" ] || paths=("/sys/class/block/$1")
	requests=0
	for disk in "${paths[@]}"; do
		read -ra f < "$disk/stat"
		requests=$((requests + f[0] + f[4] + f[11] + f[15]))
	done
}

# requests_above nvme0n1 NUMBER
requests_above() {
	requests "$1"
	[ $requests -gt "$2" ]
}

# Parameters

put_back() {
	local file

	for file in "$tmp"/set.*; do
		[ -e "$file" ] || continue
		cat "$file" > "$params/defer_${file##*/set.}"
	done
}

# set_defer NAME VALUE: a defer_ parameter
set_defer() {
	[ -e "$tmp/set.$1" ] || cat "$params/defer_$1" > "$tmp/set.$1"
	echo "$2" > "$params/defer_$1" || die "defer_$1=$2 was refused"
}

# armed CONTROLLER: how many of its queues may defer at this moment
armed() {
	count "$1" armed
}

# interrupt_queues CONTROLLER: how many have an interrupt of their own and run
interrupt_queues() {
	local n=0 dir

	for dir in "$debug/$1"/q*; do
		[ "$(fact_of "$1" "${dir##*/q}" running)" = 1 ] || continue
		[ "$(fact_of "$1" "${dir##*/q}" polled)" = 0 ] && n=$((n + 1))
	done
	echo $n
}

# mode MODE [CONTROLLER]: sets it and waits until the controller's queues follow.
# A bouncing controller is expected for auto.
mode() {
	local want=0

	set_defer mode "$1"
	[ -n "${2:-}" ] || return 0
	[ "$1" = off ] || want=$(interrupt_queues "$2")
	wait_for 10 "[ \$(armed $2) = $want ] && [ \$(count $2 workqueue) = $want ]" ||
		die "mode $1: $(armed "$2") queues of $2 are armed, want $want"
}

# rescuers CONTROLLER: rescuer threads of its workqueues, a name a line. They are
# what WQ_MEM_RECLAIM gives a workqueue; ordinary workers have a / in their names.
rescuers() {
	local file name found=1

	for file in /proc/[0-9]*/comm; do
		read -r name 2> /dev/null < "$file" || continue
		case ${name#kworker/R-} in
		*/*) ;;
		"$1"*-defer)
			echo "${name#kworker/R-}"
			found=0 ;;
		esac
	done
	return $found
}

# Load

readonly fio_all='--thread --group_reporting --minimal'
# 4 KiB blocks, each with its checksum and its place on the drive
readonly fio_verify='--verify=crc32c --verify_interval=4k --verify_fatal=1'

# engine NAME DEVICE: fio's options for libaio, io_uring or passthrough
engine() {
	case $1 in
	passthrough)
		echo "--ioengine=io_uring_cmd --cmd_type=nvme --filename=${2/nvme/ng}" ;;
	*)
		echo "--ioengine=$1 --direct=1 --filename=$2" ;;
	esac
}

# fio_result FILE: what fio has printed, a line a group of jobs; sets fio_error,
# fio_read_kb, fio_write_kb
# shellcheck disable=SC2034
fio_result() {
	local f line

	fio_error='' fio_read_kb=0 fio_write_kb=0
	while read -r line; do
		case $line in
		'3;fio-'*)
			IFS=';' read -ra f <<< "$line"
			[ "${fio_error:-0}" != 0 ] || fio_error=${f[4]}
			fio_read_kb=$((fio_read_kb + f[5]))
			fio_write_kb=$((fio_write_kb + f[46])) ;;
		'' | *'norandommap given'* | *'terminating on signal'*) ;;
		*)
			echo "# $line" ;;
		esac
	done < "$1"
	[ "$fio_error" = 0 ]
}

# run_fio ARG...: succeeds if no I/O failed and all that was verified was right
run_fio() {
	# shellcheck disable=SC2086 # options
	$as_load fio $fio_all "$@" > "$tmp/fio" 2>&1
	fio_result "$tmp/fio"
}

# fill DEVICE OFFSET SIZE [ENGINE]: with data that reads can be verified against
fill() {
	# shellcheck disable=SC2046,SC2086
	run_fio --name=fill $fio_verify --do_verify=0 --rw=write --bs=128k --iodepth=16 \
		$(engine "${4:-libaio}" "$1") --offset="$2" --size="$3"
}

# verify DEVICE OFFSET SIZE [ENGINE [FIO OPTION]...]: random reads of mixed sizes of
# what fill has written, by several jobs, each of which reads as much as SIZE
verify() {
	local dev=$1 offset=$2 size=$3 engine=${4:-libaio}

	shift $(($# < 4 ? 3 : 4))
	# shellcheck disable=SC2046,SC2086
	run_fio --name=verify $fio_verify --rw=randread --norandommap --bsrange=4k-128k \
		--iodepth=32 --numjobs=4 $(engine "$engine" "$dev") \
		--offset="$offset" --size="$size" "$@"
}

# load_start DEVICE [SECONDS [FIO OPTION]...]: in the background, in the drive's
# first 192 MiB: a job that writes and verifies, two that only read, deep
load_start() {
	local dev=$1 seconds=${2:-600}

	shift $(($# < 2 ? 1 : 2))
	# shellcheck disable=SC2086
	setpriv --pdeathsig KILL -- $as_load fio $fio_all --direct=1 --filename="$dev" \
		--ioengine=libaio --time_based --runtime="$seconds" "$@" \
		--name=verify $fio_verify --rw=randwrite --verify_backlog=64 \
		--bsrange=4k-128k --iodepth=16 --offset=0 --size=32m \
		--name=read --rw=randread --norandommap --bs=128k --iodepth=32 \
		--numjobs=2 --offset=64m --size=128m > "$tmp/load" 2>&1 &
	load_pid=$!
	load_disk=${dev#/dev/}
	load_moves 30 || die "the load does not start: $(cat "$tmp/load")"
}

# load_moves SECONDS: within that time, more of its I/O completes
load_moves() {
	requests "$load_disk"
	wait_for "$1" "requests_above $load_disk $((requests + 100))"
}

# load_goes_on CONTROLLER: after a reset. QEMU's drive may lose a command then, with
# mode off as with any other: the driver rings shadow doorbells before the drive knows
# of them. Nothing is with a worker, and another reset has the command sent again. One
# that we had lost would be complete, and that reset would wait for it for ever.
load_goes_on() {
	local try

	for try in 1 2 3; do
		load_moves 10 && return
		settled "$1" || break
		echo "# the drive has lost a command, reset $try to get it back"
		lost=$((${lost:-0} + 1))
		reset_controller "$1"
	done
	load_moves 30
}

# Who waits for what, and what the lanes hold.
tell_stuck() {
	local dir file

	for dir in "$debug"/nvme*/q*; do
		echo "# ${dir#"$debug"/}: $(grep -vh ' 0$' "$dir/stats" | tr '\n' ' ')"
	done
	grep -E "State|SigQ|Threads" "/proc/$load_pid/status" | sed "s/^/# /"
	for file in /proc/"$load_pid"/task/*/stack; do
		echo "# ${file%/stack}: $(tr '\n' ' ' < "$file")"
	done
	ps -C fio -L -o tid,psr,cls,stat,wchan:20 | sed 's/^/# /'
}

# load_stop: succeeds if it ran to the end and without an error
load_stop() {
	[ -n "${load_pid:-}" ] || return 0
	kill -INT "$load_pid" 2> /dev/null
	if ! wait_for 60 "! kill -0 $load_pid 2> /dev/null"; then
		# Slow, or it waits for a request that never comes: told apart below.
		tell_stuck
		kill -INT "$load_pid" 2> /dev/null
		wait_for 90 "! kill -0 $load_pid 2> /dev/null" || die "fio does not end"
	fi
	wait "$load_pid" 2> /dev/null
	load_pid=
	fio_result "$tmp/load"
}

# A drive's bounce slots in use
bounce_used() {
	cat /sys/kernel/debug/swiotlb/io_tlb_used
}

cleanup() {
	local pid

	for pid in $(jobs -p); do
		kill -9 "$pid" 2> /dev/null
	done
	put_back
	rm -rf "$tmp"
}
trap cleanup EXIT
