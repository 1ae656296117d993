#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: a queue that a reset takes and another one brings back has its values still
# vm: --cpus 4 --append swiotlb=65536,force --append nvme.poll_queues=2 --nvme id=grow,queues=6,backend=mem
# timeout: 90

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2030,SC2031,SC2034,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/testing/selftests/nvmetune/lib-ynl.sh
. "$(dirname "$0")/lib-ynl.sh"

# As in 08-queues.sh: six queues, which are four if none is polled.
use grow

reset_to() { # POLL WRITE
	echo "$1" > "$params/poll_queues"
	echo "$2" > "$params/write_queues"
	reset_controller "$ctrl"
}

queues() { # NUMBER: are there
	[ "$(echo "$tune/$ctrl"/q*/qid | wc -w)" = "$1" ]
}

collect() { # adds what has come to the array ntfs
	nl ntf
	ntfs+=("${nl_out[@]}")
}

fact() { # QUEUE NAME
	cat "$tune/$ctrl/q$1/$2"
}

soon 20 "at first: six queues" 'queues 6'
check "at first: the sixth is polled, has no interrupt" \
	[ "$(fact 6 polled) $(fact 6 irq) $(fact 6 armed) $(fact 6 cpus)" = "1 0 0 " ]
remember_settings
nl subscribe || die "subscribe: $nl_error"
put sysfs "$ctrl/defer_mode" on
put sysfs "$ctrl/q5/defer_irq_share" 55
put debugfs "$ctrl/q6/defer_mode" off
put netlink "$ctrl/q6/resched_bytes" 66666
put sysfs "$ctrl/q6/defer_small_bytes" 6
before=$(settings)
nl ntf
nl objects
six=$(printf '%s\n' "${nl_out[@]}" | sed -n "s,^$ctrl/q6|\([0-9]*\)|.*,\1,p")

exec {gone}< "$tune/$ctrl/q6/defer_mode"
ntfs=()
reset_to 0 0
soon 20 "lowered: four queues" 'queues 4'
soon 10 "lowered: two objects are told to have gone" 'collect; [ ${#ntfs[@]} = 2 ]'
check "lowered: they are the fifth and the sixth" \
	[ "$(printf '%s\n' "${ntfs[@]%|*}" | sort | tr '\n' ' ')" = "object-del-ntf|$ctrl/q5 object-del-ntf|$ctrl/q6 " ]
check "lowered: debugfs has no more either" eval '[ ! -e "$debug/$ctrl/q5" ] && [ ! -e "$debug/$ctrl/q6" ]'
error=$( { read -r _ <&"$gone"; } 2>&1)
check "lowered: a file that is still open says ENODEV" [ "${error##*: }" = 'No such device' ]
exec {gone}<&-
nl set "$ctrl/q6:defer_mode=on"
check "lowered: netlink has no sixth" [ "$nl_error $nl_where" = "ENODEV setting[0].object" ]
# a value of the controller changes meanwhile, for when they come back
put sysfs "$ctrl/defer_lanes" 4
put sysfs "$ctrl/defer_inline_bytes" 1234

ntfs=()
reset_to 0 2
soon 20 "raised: six queues" 'queues 6'
soon 10 "raised: two objects are told to have come" \
	'collect; [ "$(printf "%s\n" "${ntfs[@]}" | grep -c object-add)" = 2 ]'
nl objects
now=$(printf '%s\n' "${nl_out[@]}" | sed -n "s,^$ctrl/q6|\([0-9]*\)|.*,\1,p")
expect "raised: the sixth is another object" 'now > six'
check "raised: its facts are new" [ "$(fact 6 polled) $((0 < $(fact 6 irq)))" = "0 1" ]
echo inherit > "$tune/$ctrl/defer_lanes"
check "raised: what it inherits is what holds now" \
	[ "$(cat "$tune/$ctrl/q6/in_force/defer_inline_bytes")" = 1234 ]
echo inherit > "$tune/$ctrl/defer_inline_bytes"
check "raised: all values are what they were" diff <(echo "$before") <(settings)
soon 10 "raised: they have effect: the fifth is armed, the sixth not" \
	'[ "$(fact 5 armed) $(fact 6 armed)" = "1 0" ]'
nl set "$ctrl/q6:defer_mode=inherit"
soon 10 "raised: the sixth follows when it is to" '[ "$(fact 6 armed)" = 1 ]'

reset_to 2 0
soon 20 "polled again" '[ "$(fact 6 polled 2> /dev/null)" = 1 ]'
soon 20 "polled again: six queues" 'queues 6'
put_back_settings
check "at the end all settings are as at first" diff "$tmp/settings" <(settings)
