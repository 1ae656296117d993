#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: nvmetune stat, monitor, top, wq: counters, changes, lost events, workqueues
# vm: standard
# timeout: 180

# shellcheck source=tools/testing/selftests/nvmetune/lib-tool.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib-tool.sh"

readonly check_metrics=$VM_ROOT/tools/nvmetune/tests/check-metrics

use two
wait_for 20 "[ -e $tune/$ctrl/q2 ]" || die "$ctrl has no q2"
first=$(state)
mode on "$ctrl"
echo 1 > "$tune/$ctrl/measure"

# stat

check "written" fill "$dev" 0 32m
settle "$ctrl"
expect_t 0 "stat --json" -j stat "$ctrl"
for q in 1 2; do
	same "queue $q: all statistics of debugfs, the same" "$(sort "$debug/$ctrl/q$q/stats")" \
		"$(jq -r ".objects[] | select(.name == \"$ctrl/q$q\").stats | to_entries[] |
			\"\(.key) \(.value.value)\"" <<< "$out" | sort)"
done
deferred=$(jq '[.objects[].stats.irq_deferred.value + .objects[].stats.softirq_deferred.value] | add' <<< "$out")
delays=$(jq '[.objects[].histograms.delay_ns.buckets[]?.count] | add' <<< "$out")
expect "requests were deferred and measured" 'deferred > 100 && delays > 0'
expect_t 0 "stat" stat "$ctrl"
says "stat: a histogram" 'delay_ns.*: [0-9]+ values, 50 % up to ' "$out"

for format in openmetrics prometheus; do
	expect_t 0 "stat --format=$format" stat --format=$format
	check "$format: a strict parser takes it" "$check_metrics" $format "$tmp/out"
done
expect_t 0 "openmetrics again" stat --format=openmetrics "$ctrl"
says "openmetrics: a counter" \
	"^nvmetune_worker_requests_total\{object=\"$ctrl/q1\",parent=\"$ctrl\"\} [0-9]+$" "$out"
says "openmetrics: a histogram" \
	"^nvmetune_delay_seconds_bucket\{object=\"$ctrl/q1\",parent=\"$ctrl\",le=\"\+Inf\"\} [0-9]+$" "$out"

load_start "$dev" 600
expect_t 0 "stat --interval" -j stat "$ctrl" --interval=1 --count=2
same "two intervals, a line each" 2 "$(wc -l <<< "$out")"
busy=$(jq -s '[.[1].objects[].stats.worker_requests.rate] | add > 1' <<< "$out")
same "rates of what runs" true "$busy"
expect_t 0 "top in lines" top --count=2 --interval=1
says "top: a queue under load" "^$ctrl/q[12] +on +[0-9.]+ +[1-9][0-9.]* " "$out"
expect_t 0 "top --json" -j top --count=1 --interval=1 "$ctrl"
n=$(jq '[.queues[] | select(.deferred_share > 0.5 and .interrupts_per_second > 0)] | length' <<< "$out")
expect "top: shares and interrupts" 'n >= 1'
check "no error in the load" load_stop

expect_t 0 "stat --reset -n" -n stat --reset "$ctrl/q1"
before=$(stat_of "$ctrl" 1 worker_requests)
expect "resets nothing" 'before > 0'
expect_t 0 "stat --reset" stat --reset "$ctrl/q1"
now=$(stat_of "$ctrl" 1 worker_requests) other=$(stat_of "$ctrl" 2 worker_requests)
expect "resets that queue, and no other" 'now == 0 && other > 0'
setpriv --reuid 65534 --regid 65534 --clear-groups "$nvmetune" stat --reset "$ctrl" \
	> "$tmp/out" 2> "$tmp/err"
status=$?
expect "stat --reset needs privileges" 'status == 2'

# wq

expect_t 0 "wq --json" -j wq "$ctrl"
same "the workqueues of the queues" "${ctrl}q1-defer ${ctrl}q2-defer" \
	"$(jq -r '[.workqueues[].name] | join(" ")' <<< "$out")"
expect_t 0 "wq sets" wq "$ctrl/q1" cpus=1-2 nice=-5
same "the mask" 6 "$(< "$wqs/${ctrl}q1-defer/cpumask")"
same "nice" -5 "$(< "$wqs/${ctrl}q1-defer/nice")"
if [ -e "$wqs/${ctrl}q1-defer/affinity_scope" ]; then
	expect_t 0 "the scope" wq "$ctrl/q1" affinity_scope=system
	same "is set" system "$(< "$wqs/${ctrl}q1-defer/affinity_scope")"
else
	skip "the scope" "this kernel has none"
fi
expect_t 2 "what the kernel refuses" wq "$ctrl" nice=3 affinity_scope=nowhere
same "is put back as a whole" "-5 -20" \
	"$(< "$wqs/${ctrl}q1-defer/nice") $(< "$wqs/${ctrl}q2-defer/nice")"
expect_t 0 "all again" wq "$ctrl/q1" cpus=0-3 nice=-20

# monitor

jq_true() {
	jq -se "$@" > /dev/null
}

monitor() { # ARG...: in the background, into $tmp/monitor
	rm -f "$tmp/listening"
	"$nvmetune" -v monitor "$@" > "$tmp/monitor" 2> "$tmp/listening" &
	monitor_pid=$!
	wait_for 20 'grep -q listening $tmp/listening' || die "monitor does not listen"
}

monitor --count=4
echo 77 > "$tune/$ctrl/defer_irq_share"
"$nvmetune" -q set "$ctrl/q1" defer_mode=off measure=0
echo inherit > "$tune/$ctrl/q1/defer_mode"
soon 20 "monitor ends after as many changes as asked for" "! kill -0 $monitor_pid 2> /dev/null"
same "each change, with its old and new value" \
	"$ctrl defer_irq_share: inherit -> 77 %
$ctrl/q1 defer_mode: inherit -> off
$ctrl/q1 measure: inherit -> 0
$ctrl/q1 defer_mode: off -> inherit" "$(cut -d' ' -f3- "$tmp/monitor")"
says "with the time" '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}\.[0-9]{3} ' "$(< "$tmp/monitor")"

# Objects that go and come
pci=$(nvme_pci "$ctrl")
mapfile -t objects < <("$nvmetune" -j list | jq -r --arg ctrl "$ctrl" '.objects[].name |
	select(. == $ctrl or startswith($ctrl + "/"))' | sort)
monitor -j --timeout=15 "$ctrl"
echo "$pci" > /sys/bus/pci/drivers/nvme/unbind
echo "$pci" > /sys/bus/pci/drivers/nvme/bind
wait_for 12 '[ "$(grep -c "\"add\"" $tmp/monitor)" = ${#objects[@]} ]' || echo "# not all came"
kill $monitor_pid
wait $monitor_pid 2> /dev/null
n=${#objects[@]}
expect "they are the controller, its queues and its pools" 'n == 6'
same "each of them goes, and comes" \
	"$(printf 'remove %s\n' "${objects[@]}"; printf 'add %s\n' "${objects[@]}")" \
	"$(jq -r '"\(.event) \(.object)"' "$tmp/monitor" | sort -k1,1r -k2,2)"
ctrl=$(controller two)
wait_for 20 "[ -e $tune/$ctrl/q2 ]" || die "$ctrl has no q2"

# More changes than the socket holds, while nobody reads
monitor -j --timeout=60
kill -STOP $monitor_pid
values=$(
	for ((i = 0; i < 2000; i++)); do
		echo $((i % 90 + 1)) > "$tune/$ctrl/q1/defer_irq_share"
	done
	cat "$tune/$ctrl/q1/defer_irq_share"
)
echo 4096 > "$tune/$ctrl/q2/defer_small_bytes"
kill -CONT $monitor_pid
soon 20 "lost events are told" 'grep -q "\"event\": \"lost\"" $tmp/monitor'
soon 20 "what they were about is found by comparing" \
	'grep -q "\"resync\": true.*q2.*defer_small_bytes.*4096" $tmp/monitor'
echo 8192 > "$tune/$ctrl/q2/defer_small_bytes"
soon 20 "then it goes on" \
	'grep -q "\"resync\": false.*q2.*defer_small_bytes.*\"old\": \"4096\", \"new\": \"8192\"" $tmp/monitor'
kill $monitor_pid
wait $monitor_pid 2> /dev/null
last=$(jq -r 'select(.name == "defer_irq_share").new' "$tmp/monitor" | tail -n 1)
same "the last value that was told is the one that is" "$values" "$last"
told=$(wc -l < "$tmp/monitor")
expect "fewer lines than changes: some were lost" 'told < 2000'
# each value that was told follows from the one before, but for what was lost
check "old and new values fit together" jq_true '[.[] | select(.name == "defer_irq_share")] |
	[range(1; length) as $i | select(.[$i].old != .[$i - 1].new)] | length == 0' "$tmp/monitor"

expect_t 0 "all is put back" reset all
set_defer mode auto
