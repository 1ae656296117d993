#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: nvmetune autotune: under load, killed and stopped in the middle, with a fio job
# vm: standard
# timeout: 300
# full-timeout: 1500

# shellcheck source=tools/testing/selftests/nvmetune/lib-tool.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib-tool.sh"

use two
readonly before=/run/nvmetune/before.conf found=$tmp/found.conf

wait_for 20 "[ -e $tune/$ctrl/q2 ]" || die "$ctrl has no q2"
first=$(state)

# Without a load, and without a measurement

expect_t 2 "without a load, autotune says so" autotune "$ctrl" --seconds=0.5 --warmup=0
says "and what to do" "no load on ${dev#/dev/}: start the load" "$err"
same "and nothing is changed" "$first" "$(state)"
expect_t 1 "a queue is no controller" autotune "$ctrl/q1"
echo off > "$tune/$ctrl/defer_mode"
expect_t 0 "autotune -n proposes" -n autotune "$ctrl"
says "the mode, where all DMA bounces" "$ctrl defer_mode: off -> auto" "$out"
says "with the reason" 'bounces' "$out"
check "and sets nothing" grep -qx off "$tune/$ctrl/defer_mode"
echo inherit > "$tune/$ctrl/defer_mode"

# Under the load that runs, stopped and killed in the middle

load_start "$dev" 600

# Runs so long that one cannot end while the state is read twice, however slow this is
readonly slow_runs='--seconds=5 --warmup=0 --repeats=5'

changed() {
	[ "$(state)" != "$first" ]
}

# Stopped where something differs from before: the next moment it may not.
# shellcheck disable=SC2317 # called by wait_for
caught() {
	changed || return 1
	kill -STOP $pid
	wait_for 10 "grep -q '^State:.T' /proc/$pid/status"
	changed && return 0
	kill -CONT $pid
	return 1
}

tune_until_changed() { # SIGNAL
	local i

	# shellcheck disable=SC2086 # options
	"$nvmetune" autotune "$ctrl" $slow_runs --output="$found" > "$tmp/out" 2> "$tmp/err" &
	pid=$!
	if ! wait_for 60 caught; then
		kill -9 $pid
		die "autotune changes nothing: $(tail -n 3 "$tmp/out" "$tmp/err")"
	fi
	kill -"$1" $pid
	kill -CONT $pid 2> /dev/null
	wait $pid 2> /dev/null
	status=$?
}

for signal in INT TERM; do
	tune_until_changed $signal
	expect "SIG$signal ends it" 'status == 2'
	says "SIG$signal: it says that" 'interrupted: what was before is set again' "$(< "$tmp/err")"
	same "SIG$signal: what was set before is set again" "$first" "$(state)"
	check "SIG$signal: nothing is left to restore" [ ! -e $before ]
done
tune_until_changed KILL
expect "kill -9 in the middle" 'status == 137'
check "leaves a changed state" changed
expect_t 0 "restore" restore
same "goes back to what was set before" "$first" "$(state)"

t apply low-latency
applied=$(state)
# shellcheck disable=SC2086 # options
"$nvmetune" -q autotune "$ctrl" $slow_runs --output="$found" > "$tmp/out" 2>&1 &
pid=$!
wait_for 60 "[ \"\$(state)\" != \"$applied\" ]" || die "autotune does not begin"
expect_t 2 "a second autotune" autotune "$ctrl"
says "has to wait" 'another nvmetune' "$err"
kill -INT $pid
wait $pid 2> /dev/null
same "a stopped autotune leaves what apply has set" "$applied" "$(state)"
expect_t 0 "and restore" restore
same "goes back to before that apply" "$first" "$(state)"

# To the end

expect_t 0 "autotune under load" autotune "$ctrl" --parameters=defer_lanes,defer_chunk_bytes \
	--seconds=0.4 --warmup=0.1 --repeats=5 --output="$found"
says "tells what it has tried" '^defer_lanes +2 +4 ' "$out"
echo "# ${out//$'\n'/$'\n'# }"
if [ -e "$found" ]; then
	expect_t 0 "what it has kept is in force" diff "$found"
	t restore
else
	ok "it has kept nothing"
fi
same "as before" "$first" "$(state)"
check "the load has met no error" load_stop

cat > "$tmp/job.fio" <<-END
	[global]
	filename=$dev
	direct=1
	ioengine=libaio
	[read]
	rw=randread
	bs=128k
	iodepth=32
	runtime=600
	time_based
END
expect_t 0 "autotune with a fio job" -j autotune "$ctrl" --fio="$tmp/job.fio" --goal=interrupts \
	--parameters=defer_mode --seconds=1 --warmup=0.2 --repeats=5 --output="$found"
check "its JSON has runs" jq -e '.trials | length == 2 and all(.pairs > 0)' "$tmp/out"
jq -c '.trials[], (.total, .before, .after | values)' "$tmp/out" | sed 's/^/# /'
[ ! -e $before ] || t restore
same "as before" "$first" "$(state)"

# Something to be kept: each small request waits for a worker until deferral ends

sed 's/^bs=.*/bs=4k/; s/^iodepth=.*/iodepth=1/' "$tmp/job.fio" > "$tmp/small.fio"
echo on > "$tune/$ctrl/defer_mode"
was=$(state)
rm -f "$found"
expect_t 0 "autotune where all is deferred" -j autotune "$ctrl" --fio="$tmp/small.fio" \
	--goal=latency --parameters=defer_mode --seconds=1 --warmup=0.2 --output="$found"
jq -c '.trials[], (.total, .before, .after | values)' "$tmp/out" | sed 's/^/# /'
check "it keeps what does not" jq -e '.kept and any(.trials[]; .verdict == "better")' "$tmp/out"
mode=$(< "$tune/$ctrl/defer_mode")
check "and has set it: $mode" [ "$mode" != on ]
same "and nothing else" "${was/"$ctrl/defer_mode on"/"$ctrl/defer_mode $mode"}" "$(state)"
check "and written it to a profile" grep -qE "^defer_mode *= *$mode\$" "$found"
expect_t 0 "restore" restore
same "goes back to on" "$was" "$(state)"
echo inherit > "$tune/$ctrl/defer_mode"

# Not worse than the default, three times over: what it ends with against what was there

measure() { # sets iops and p99 of one run of the job
	local result

	result=$(sed 's/^runtime=.*/runtime=3/' "$tmp/job.fio" | fio --output-format=json - 2> /dev/null)
	iops=$(jq '.jobs[0].read.iops | floor' <<< "$result")
	p99=$(jq '.jobs[0].read.clat_ns.percentile["99.000000"] / 1000 | floor' <<< "$result")
}

median() {
	printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"
}

spread() { # half of the distance from lowest to highest
	printf '%s\n' "$@" | sort -n | sed -n '1p;$p' | paste -sd ' ' | awk '{ print int(($2 - $1) / 2) }'
}

not_worse() { # RUN
	local i old_iops=() new_iops=() old_p99=() new_p99=()

	rm -f "$found"
	t autotune "$ctrl" --fio="$tmp/job.fio" --seconds=1.5 --warmup=0.3 --output="$found" \
		--parameters=defer_mode,defer_irq_share,defer_inline_bytes,defer_lanes
	echo "# ${out//$'\n'/$'\n'# }"
	expect "run $1: autotune ends" 'status == 0'
	[ -e "$found" ] || : > "$found"
	t restore
	for i in 1 2 3 4 5; do
		measure
		old_iops+=("$iops") old_p99+=("$p99")
		t apply "$found"
		measure
		new_iops+=("$iops") new_p99+=("$p99")
		[ ! -e $before ] || t restore
	done
	echo "# run $1: IOPS ${old_iops[*]} -> ${new_iops[*]}; p99 us ${old_p99[*]} -> ${new_p99[*]}"
	a=$(median "${old_iops[@]}") b=$(median "${new_iops[@]}") noise=$(spread "${old_iops[@]}")
	expect "run $1: throughput is not worse beyond the noise" 'b + noise >= a'
	a=$(median "${old_p99[@]}") b=$(median "${new_p99[@]}") noise=$(spread "${old_p99[@]}")
	expect "run $1: p99 is not worse beyond the noise" 'b <= a + noise'
}

if full; then
	for run in 1 2 3; do
		not_worse $run
	done
fi
