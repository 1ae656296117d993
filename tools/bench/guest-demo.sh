#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One case of the demo, in the guest: works off $VM_OUT/plan, a run a line:
#
#   DIRECTORY KIND [NAME=VALUE]...
#
# KIND is load or warm-up (everything is measured, by ftrace, too) or another
# (fio and the engine's counters); what fio gets is in $VM_OUT/fio.KIND, an argument
# a line. NAME=VALUE are settings of the
# engine, what is not named stays as at boot. Prints "run DIRECTORY" when one is
# done. Nothing is computed here: raw figures go into $VM_OUT/DIRECTORY, report.py
# on the host reads them.
#
# Usage: guest-demo.sh SCHEDULER SECONDS
# shellcheck source=tools/vm/guest.sh
. "$VM_LIB" || exit
set -u

scheduler=$1 seconds=$2
nvme=nvme0
disk=${nvme}n1
params=/sys/module/nvme/parameters
events=/sys/kernel/tracing/events
prefix=defer_

# A setting by its short name, as in the plan
setting() { # NAME [VALUE]
	if [ $# = 1 ]; then
		cat "$params/$prefix$1"
	else
		echo "$2" > "$params/$prefix$1" || die "cannot set $1 to $2"
	fi
}

settings() {
	local file

	for file in "$params/$prefix"*; do
		echo "${file#"$params/$prefix"}=$(< "$file")"
	done
}

remember_settings() {
	mapfile -t boot_settings < <(settings | grep -v '^mode=')
	[ ${#boot_settings[@]} -gt 0 ] || die "this kernel has no deferred completion"
	boot_mode=$(setting mode)
}

# Through off, so that settings which only count for workqueues made from then on
# do count.
apply() { # [NAME=VALUE]...
	local pair mode=$boot_mode

	setting mode off
	wait_for 30 "follows off" || die "the queues do not follow the mode off"
	for pair in "${boot_settings[@]}" "$@"; do
		case $pair in
		mode=*) mode=${pair#*=} ;;
		wq_*) ;;
		*) setting "${pair%%=*}" "${pair#*=}" ;;
		esac
	done
	setting mode "$mode"
	wait_for 30 "follows $mode" || die "the queues do not follow the mode $mode"
	for pair in "$@"; do
		[[ $pair != wq_* ]] || workqueue_setting "${pair#wq_}"
	done
}

# An attribute of the workqueues, which are new in each run
workqueue_setting() { # NAME=VALUE
	local dir

	for dir in /sys/bus/workqueue/devices/"$nvme"*-defer; do
		[ ! -d "$dir" ] || echo "${1#*=}" > "$dir/${1%%=*}" || die "cannot set wq_$1"
	done
}

# Whether every queue is armed, and has a workqueue, as the mode says
# shellcheck disable=SC2317 # called by wait_for
follows() { # MODE
	local dir bounces want armed workqueue

	for dir in /sys/kernel/nvmetune/"$nvme"/q*; do
		read -r armed < "$dir/armed"
		read -r workqueue < "$dir/wq_name"
		read -r bounces < "$dir/bounces"
		[ "$workqueue" = none ] && workqueue=0 || workqueue=1
		case $1 in
		off) want=0 ;;
		on) want=1 ;;
		auto) want=$bounces ;;
		esac
		[ "$armed$workqueue" = "$want$want" ] || return 1
	done
}

# The time of the handler, and of one run of the BLOCK softirq, as histograms
# in µs: made by ftrace from the kernel's own trace events. vec=4 is BLOCK.
trace_on() {
	local filter

	filter=$(nvme_irqs $nvme | awk '{ printf "%sirq==%s", (NR > 1 ? "||" : ""), $2 }')
	echo 'nvmetune_handler u64 us' >> /sys/kernel/tracing/synthetic_events
	echo 'nvmetune_block u64 us' >> /sys/kernel/tracing/synthetic_events
	trace_span irq_handler keys=irq nvmetune_handler "if $filter"
	trace_span softirq keys=common_cpu nvmetune_block "if vec==4"
	trigger synthetic/nvmetune_handler "$us_hist"
	trigger synthetic/nvmetune_block "$us_hist"
}
us_hist='keys=us:size=32768'
triggers=()

# From irq:NAME_entry to irq:NAME_exit. Variables have to differ between events.
trace_span() { # NAME KEYS SYNTHETIC-EVENT FILTER
	local start=$3_start time=common_timestamp.usecs

	trigger "irq/$1_entry" "$2:$start=$time $4"
	trigger "irq/$1_exit" "$2:us=$time-\$$start:onmatch(irq.$1_entry).$3(\$us) $4"
}

trigger() { # EVENT HISTOGRAM
	echo "hist:$2" >> "$events/$1/trigger" ||
		die "ftrace refuses the histogram $2: $(tail -n 3 /sys/kernel/tracing/error_log)"
	triggers+=("$1 $2")
}

trace_off() {
	local i event

	for ((i = ${#triggers[@]} - 1; i >= 0; i--)); do
		event=${triggers[i]%% *}
		echo "!hist:${triggers[i]#* }" >> "$events/$event/trigger"
	done
	triggers=()
	: > /sys/kernel/tracing/synthetic_events
}

# clear, cont or pause
trace_do() { # COMMAND
	local event

	for event in handler block; do
		echo "hist:$us_hist:$1" >> "$events/synthetic/nvmetune_$event/trigger"
	done
}

# Time and /proc/stat, close together, into $cpu_times
take_cpu_times() {
	local lines

	mapfile -t lines < /proc/stat
	cpu_times="time $EPOCHREALTIME"
	for line in "${lines[@]}"; do
		[[ $line != cpu[0-9]* ]] || cpu_times+=$'\n'$line
	done
}

# Waits without a fork: starting a program takes long under the load.
nap() { # SECONDS
	local _

	read -rt "$1" -u "$never" _ || true
}

# The file's time of change comes from the host: report.py compares the clocks.
counters() {
	local dir

	for dir in /sys/kernel/debug/nvmetune/"$nvme"/q*; do
		sed "s/^/${dir##*/} /" "$dir/stats"
	done
	echo "guest time $EPOCHREALTIME"
}

start_fio() { # DIRECTORY KIND
	local args reads=0 writes=0 end=$((SECONDS + 60))

	mapfile -t args < "$VM_OUT/fio.$2"
	fio --filename=/dev/$disk --output="$1/fio.json" --output-format=json \
		--percentile_list=50:99:99.9 "${args[@]}" 2> "$1/fio.err" &
	fio=$!
	until [ $((reads + writes)) -gt 0 ]; do
		[ $SECONDS -lt $end ] || die "fio does not start: $(cat "$1/fio.err")"
		nap 0.05
		read -r reads writes < /sys/block/$disk/inflight
	done
}

# A load runs until it is interrupted, for which fio's exit code is 128.
end_fio() { # DIRECTORY [SIGNAL]
	local status=0 expected=0

	if [ $# -gt 1 ]; then
		kill -"$2" "$fio" || die "fio has ended early: $(cat "$1/fio.err")"
		expected=128
	fi
	wait "$fio" || status=$?
	[ $status = $expected ] || die "fio ended with $status: $(cat "$1/fio.err")"
}

# Until a process has so many threads, or is gone
until_threads() { # PID NUMBER
	local threads=(/proc/"$1"/task/*)

	until [ ${#threads[@]} = "$2" ] || ! kill -0 "$1" 2> /dev/null; do
		nap 0.02
		threads=(/proc/"$1"/task/*)
	done
}

# In the middle of fio's run: CPU time, the histograms, and how long a task of
# normal priority that is pinned to an interrupt CPU waits to run.
measure() { # DIRECTORY SECONDS
	local pid before

	trace_do pause
	trace_do clear
	cyclictest --default-system --policy=other -q -t1 -a "$pinned" "${main_cpu[@]}" \
		-i 1000 -D "$2" -h 200000 --histfile=/dev/null \
		--json="$1/wait.json" > /dev/null 2> "$1/wait.err" &
	pid=$!
	until_threads "$pid" 2
	kill -0 "$pid" 2> /dev/null || die "cyclictest does not last: $(cat "$1/wait.err")"
	trace_do cont
	take_cpu_times
	before=$cpu_times
	nap "$2"
	take_cpu_times
	trace_do pause
	until_threads "$pid" 1
	end_fio "$1" INT
	wait "$pid" || die "cyclictest: $(cat "$1/wait.err")"
	echo "$before" > "$1/cpu.0"
	echo "$cpu_times" > "$1/cpu.1"
	cat $events/synthetic/nvmetune_handler/hist > "$1/handler"
	cat $events/synthetic/nvmetune_block/hist > "$1/block"
}

one_run() { # DIRECTORY KIND [NAME=VALUE]...
	local dir=$VM_OUT/$1 kind=$2

	mkdir -p "$dir"
	apply "${@:3}"
	case $kind in
	load | warm-up) [ ${#triggers[@]} -gt 0 ] || trace_on ;;
	*) [ ${#triggers[@]} = 0 ] || trace_off ;;
	esac
	settings > "$dir/settings"
	counters > "$dir/counters.0"
	start_fio "$dir" "$kind"
	case $kind in
	load) measure "$dir" "$seconds" ;;
	warm-up) measure "$dir" 1 ;;
	*) end_fio "$dir" ;;
	esac
	counters > "$dir/counters.1"
	echo "run $1"
}

# Interrupts may be spread anew when the device is reset, but not in between.
describe() {
	irq_cpus $nvme > "$VM_OUT/interrupt_cpus"
	uname -r > "$VM_OUT/release"
	uname -v > "$VM_OUT/version"
	cat /proc/cmdline > "$VM_OUT/cmdline"
	settings > "$VM_OUT/defaults"
	read -r pinned < "$VM_OUT/interrupt_cpus"
	mapfile -t others < <(seq 0 $(($(nproc) - 1)) | grep -vxFf "$VM_OUT/interrupt_cpus")
	main_cpu=()
	[ ${#others[@]} = 0 ] || main_cpu=(--mainaffinity="${others[0]}")
}

# A kernel that boots on a busy machine may measure its clock wrong, by a factor even,
# and keep to it. The host's clock is in the time of change of a file on the share.
check_clock() {
	local i now guest=() host=() there here

	for i in 0 1; do
		[ $i = 0 ] || nap 1.5
		guest[i]=${EPOCHREALTIME/./}
		: > "$VM_OUT/clock"
		now=$(stat -c %.6Y "$VM_OUT/clock")
		host[i]=${now/./}
	done
	there=$((guest[1] - guest[0])) here=$((host[1] - host[0]))
	if [ $((there * 10)) -gt $((here * 13)) ] || [ $((there * 13)) -lt $((here * 10)) ]; then
		echo "the guest's clock is wrong: $there us there, $here us here"
		exit 75
	fi
}

main() {
	local words

	exec {never}<> <(:)
	check_clock
	wait_for 20 "[ -b /dev/$disk ]" || die "no disk"
	echo "$scheduler" > /sys/block/$disk/queue/scheduler || die "no scheduler $scheduler"
	remember_settings
	describe
	while read -r -a words; do
		one_run "${words[@]}"
	done < "$VM_OUT/plan"
}

# On one line: this file may be changed while it runs.
main; exit
