#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: nvmetune list, show, set, reset, caps: what they say is so, what they set is set
# vm: standard
# timeout: 120

# shellcheck source=tools/testing/selftests/nvmetune/lib-tool.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib-tool.sh"

use two
wait_for 20 "[ -e $tune/$ctrl/q2 ]" || die "$ctrl has no q2"
wait_for 20 "[ \$(< $tune/$ctrl/q1/armed) = 1 ]" || die "$ctrl/q1 is not armed"
first=$(state)

nobody() { # ARG...: run the tool without privileges; sets out, err and status
	setpriv --reuid 65534 --regid 65534 --clear-groups "$nvmetune" "$@" \
		> "$tmp/out" 2> "$tmp/err"
	status=$?
	out=$(< "$tmp/out") err=$(< "$tmp/err")
}

# list

expect_t 0 "list" list
for object in nvme "$ctrl" "$ctrl/q1" "$ctrl/q2"; do
	says "list: $object" "^ *$object  " "$out"
done
says "list: what the queue is" "^ *$ctrl/q1 +auto +may defer +$(< "$tune/$ctrl/q1/irq") " "$out"
expect_t 0 "list --json" -j list
same "all objects of sysfs are there" \
	"$(cd $tune && find . -mindepth 1 -type d ! -name in_force -printf '%P\n' | sort)" \
	"$(jq -r '.objects[].name' <<< "$out" | sort)"
same "with their facts" "$(< "$tune/$ctrl/q1/cpus")" \
	"$(jq -r ".objects[] | select(.name == \"$ctrl/q1\").facts.cpus" <<< "$out")"

# show: each value of sysfs, through both backends

for backend in netlink sysfs; do
	expect_t 0 "show --json over $backend" --backend=$backend -j show
	jq -r '.objects[] | .name as $o | .params | to_entries[] |
		select(.value.read_only | not) | "\($o)/\(.key) \(.value.own)"' <<< "$out" |
		sed 's/ true$/ 1/; s/ false$/ 0/' | sort > "$tmp/shown"
	same "$backend: all settings, with their values" "$(sort <<< "$first")" "$(< "$tmp/shown")"
done
expect_t 0 "show of one" -q show "$ctrl/q1" defer_mode
same "is its value" auto "$out"

# set: all or none

expect_t 0 "set of several objects" set "$ctrl" defer_lanes=3 defer_inline_bytes=64K \
	"$ctrl/q*" measure=1
says "old and new" "^$ctrl defer_inline_bytes: inherit \(128 KiB\) -> 64 KiB$" "$out"
same "lanes" 3 "$(< "$tune/$ctrl/defer_lanes")"
same "bytes" 65536 "$(< "$tune/$ctrl/q1/in_force/defer_inline_bytes")"
same "of both queues" "1 1" "$(< "$tune/$ctrl/q1/measure") $(< "$tune/$ctrl/q2/measure")"
second=$(state)
expect_t 0 "the same again" set "$ctrl" defer_lanes=3
says "changes nothing" 'nothing to change' "$out"
expect_t 0 "set -n" -n set "$ctrl/q1" defer_mode=off
says "says what would be" "would set $ctrl/q1 defer_mode: inherit \(auto\) -> off" "$out"
same "and sets nothing" "$second" "$(state)"

expect_t 2 "what the kernel refuses" set "$ctrl" defer_lanes=5 workqueue=controller
says "is named, in its words" "^nvmetune: $ctrl: workqueue=controller: the kernel refuses: has workqueues.*nothing was changed" "$err"
same "nothing of the request is done" "$second" "$(state)"
expect_t 1 "what is out of range is told before" set "$ctrl" defer_lanes=9
says "with the range" 'out of range.*1 to 8' "$err"
expect_t 1 "a slip" set "$ctrl" defer_lains=2
says "is told as one" 'defer_lanes' "$err"
expect_t 1 "a fact" set "$ctrl/q1" qid=3
expect_t 1 "no such object" set nvme77 defer_lanes=2
same "none of these has set anything" "$second" "$(state)"

expect_t 0 "set over sysfs" --backend=sysfs set "$ctrl/q2" defer_mode=off
same "sets" off "$(< "$tune/$ctrl/q2/defer_mode")"
third=$(state)
expect_t 2 "over sysfs, what is refused" --backend=sysfs set "$ctrl" defer_lanes=7 workqueue=controller
same "has what came before it put back" "$third" "$(state)"

# reset

expect_t 0 "reset of one setting" reset "$ctrl/q2" defer_mode
same "inherits again" inherit "$(< "$tune/$ctrl/q2/defer_mode")"
same "all else stays" "$second" "$(state)"
expect_t 0 "reset of all" reset all
same "all is as at first" "$first" "$(state)"
echo on > $tune/nvme/defer_mode
expect_t 0 "reset of the driver's" reset nvme
same "brings the default back" auto "$(< $tune/nvme/defer_mode)"

# caps

expect_t 0 "caps --json" -j caps
same "caps: over netlink, all or none, may set" "netlink true true true" \
	"$(jq -r '"\(.backend) \(.atomic) \(.monitor) \(.may_set)"' <<< "$out")"
says "caps: the kinds of objects" '^nvme-(driver|controller|queue)' \
	"$(jq -r '.classes[].class' <<< "$out")"
expect_t 0 "caps" caps
says "caps: a setting and what it may be" 'defer_mode +off, on, auto' "$out"

# An ordinary user

nobody list
expect "list needs no privilege" 'status == 0'
nobody -j show
expect "show needs none" 'status == 0'
nobody -q stat "$ctrl"
expect "stat needs none" 'status == 0'
nobody set "$ctrl" defer_lanes=4
expect "set does" 'status == 2'
says "and says what to do" 'root' "$err"
same "and sets nothing" "$first" "$(state)"
