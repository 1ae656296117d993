#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: nvmetune save, diff, apply, restore: the same state again, all or none, over kill -9
# vm: standard
# timeout: 150

# shellcheck source=tools/testing/selftests/nvmetune/lib-tool.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib-tool.sh"

use two
readonly before=/run/nvmetune/before.conf

put() { # OBJECT/NAME VALUE: by sysfs
	echo "$2" > "$tune/$1" || die "$1=$2 was refused"
}

profile() { # NAME: from standard input, a profile of that name
	mkdir -p /etc/nvmetune/profiles.d
	cat > "/etc/nvmetune/profiles.d/$1.conf"
}

wait_for 20 "[ -e $tune/$ctrl/q2 ]" || die "$ctrl has no q2"

# save, apply

first=$(state)
put nvme/defer_irq_share 33
put "$ctrl/defer_inline_bytes" 65536
put "$ctrl/q1/defer_small_bytes" 4096
put "$ctrl/q2/measure" 1
second=$(state)
[ "$first" != "$second" ] || die "nothing has changed"
expect_t 0 "save writes a file" save "$tmp/saved.conf"
expect_t 1 "save does not replace a file" save "$tmp/saved.conf"
expect_t 0 "save --force does" save --force "$tmp/saved.conf"
expect_t 0 "what was just saved does not differ" diff "$tmp/saved.conf"
put nvme/defer_irq_share inherit
put "$ctrl/defer_inline_bytes" 4096
put "$ctrl/defer_lanes" 3
put "$ctrl/q1/defer_small_bytes" inherit
put "$ctrl/q2/measure" inherit
put "$ctrl/q2/resched_bytes" 0
third=$(state)
expect_t 3 "diff finds what has changed" diff "$tmp/saved.conf"
same "diff: expected and actual, a line each" \
	"nvme defer_irq_share: expected 33, actual 10
$ctrl defer_inline_bytes: expected 65536, actual 4096
$ctrl defer_lanes: expected inherit, actual 3
$ctrl/q1 defer_small_bytes: expected 4096, actual inherit (16384)
$ctrl/q2 resched_bytes: expected inherit, actual 0
$ctrl/q2 measure: expected 1, actual inherit (0)" "$out"
expect_t 0 "apply -n" -n apply "$tmp/saved.conf"
same "apply -n changes nothing" "$third" "$(state)"
check "nor does it keep a state" [ ! -e $before ]
expect_t 0 "apply what was saved" apply "$tmp/saved.conf"
same "apply of what was saved brings the same state" "$second" "$(state)"
expect_t 0 "apply again" apply "$tmp/saved.conf"
says "which finds nothing to change" '^nothing to change' "$out"
expect_t 0 "restore" restore
same "restore goes back to before the last apply that changed anything" "$third" "$(state)"
expect_t 1 "a second restore" restore
says "has nothing to go back to" 'nothing to go back to' "$err"
for object in "$ctrl/q1" "$ctrl/q2" "$ctrl" nvme; do
	t reset "$object"
done
same "reset of all: as at first" "$first" "$(state)"

# Refusals: all or none, and the state before is the one from before

profile good <<-END
	[$ctrl]
	defer_lanes = 4
	[$ctrl/q[1-2]]	; both
	defer_inline_bytes = 32K
END
expect_t 0 "a profile of /etc is found by name" apply good
says "old and new" "defer_lanes.*4" "$out"
kept=$(< $before)
now=$(state)
# Its queues have workqueues when it bounces: EBUSY.
wait_for 20 "grep -qv none $tune/$ctrl/q1/wq_name" || die "no workqueue"
profile busy <<-END
	[$ctrl]
	defer_lanes = 5
	workqueue = controller
END
expect_t 2 "what the kernel refuses" apply busy
says "says why" 'workqueue' "$err"
same "nothing of it is applied" "$now" "$(state)"
same "and the state before is still that from before the last apply" "$kept" "$(< $before)"
expect_t 0 "so restore goes there" restore
same "after a refusal, restore goes back as if it had not been" "$first" "$(state)"

# What a profile names that is not there

profile odd <<-END
	[$ctrl]
	defer_lanes = 4
	defer_lains = 4
	[nvme77]
	defer_lanes = 4
END
expect_t 1 "an unknown name is an error" apply odd
says "with its line and what to do" "line 3: .*'defer_lains'.*--skip-unknown" "$err"
same "and nothing is applied" "$first" "$(state)"
expect_t 0 "--skip-unknown passes over it" apply --skip-unknown odd
says "and says so" "skipped, not in this kernel: $ctrl defer_lains" "$err"
says "a pattern without an object is said" '\[nvme77\] matches no object' "$err"
t restore
for name in confidential-vm low-latency numa-throughput vfio-large-memory; do
	expect_t 0 "built-in profile $name applies" apply "$name"
	expect_t 0 "$name: and does not differ then" diff "$name"
	# the built-in one for vfio has nothing to do without that part of the kernel
	t restore
done
same "after the built-in profiles and restore: as at first" "$first" "$(state)"

# kill -9 at any instant: before, or all, and restore goes back to before

profile low <<-END
	[all]
	defer_inline_bytes = 64K
END
bad=0 all=0 none=0 lost=0 i=0
now from
t apply low
now to
after=$(state)
t restore
end=$((SECONDS + 40))
# from the start of an apply on, later each time, until it is over twice as long
while [ $i -lt 40 ] && [ $SECONDS -lt $end ]; do
	i=$((i + 1))
	"$nvmetune" -q apply low &
	pid=$!
	ms=$(((to - from) * (i % 10) * 2 / 9))
	pause "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
	kill -9 $pid 2> /dev/null
	wait $pid 2> /dev/null
	case $(state) in
	"$first") none=$((none + 1)) ;;
	"$after") all=$((all + 1)) ;;
	*) bad=$((bad + 1)) ;;
	esac
	[ ! -e $before ] || t restore
	[ "$(state)" = "$first" ] || lost=$((lost + 1))
done
expect "an apply that is killed is made or not, never half, $i times" 'bad == 0 && all + none == i'
expect "both were seen" 'all > 0 && none > 0'
expect "restore goes back each time" 'lost == 0'
left=$(find /run/nvmetune -type f ! -name lock ! -name before.new ! -name before.old | wc -l)
expect "what was killed leaves no pile of files" 'left == 0'

# An ordinary user

expect_t 0 "an ordinary user reads" save
setpriv --reuid 65534 --regid 65534 --clear-groups "$nvmetune" diff low > "$tmp/out" 2> "$tmp/err"
status=$?
expect "diff needs no privilege" 'status == 3'
setpriv --reuid 65534 --regid 65534 --clear-groups "$nvmetune" apply low > "$tmp/out" 2> "$tmp/err"
status=$?
expect "apply does" 'status == 2'
says "and says what to do" 'root' "$(< "$tmp/err")"
same "and has changed nothing" "$first" "$(state)"
