#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: many set and read everything while a controller is reset, unbound, removed under load
# vm: standard
# timeout: 300
# full-timeout: 1200
# allow: has pending DMA allocations while released from device \[count=2\]|DMA-API: Mapped at

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2030,SC2031,SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/testing/selftests/nvmetune/lib-nl.sh
. "$(dirname "$0")/lib-nl.sh"
# shellcheck source=tools/testing/selftests/nvmetune/lib-remove.sh
. "$(dirname "$0")/lib-remove.sh"

# The report that is allowed: see 04-remove.sh.

nlload=$(program nlload)
readonly driver=/sys/bus/pci/drivers/nvme

# Each parameter has one that sets it, so that what was set last is known.
readonly by_netlink_1='defer_mode defer_irq_share defer_lanes resched_bytes'
readonly by_netlink_2='measure defer_small_bytes defer_chunk_bytes workqueue'
readonly by_sysfs=defer_inline_bytes
readonly by_debugfs=defer_backlog_bytes

# Those that run in the background, by name
declare -A worker=()

start() { # NAME ARGUMENT...: of nlload
	local name=$1

	shift
	# shellcheck disable=SC2086 # a list
	setpriv --pdeathsig KILL -- $as_load "$nlload" "$@" > "$tmp/out.$name" 2>&1 &
	worker[$name]=$!
}

start_all() {
	local seed=$SELFTEST_SEED

	# shellcheck disable=SC2086 # lists
	{
		start set-1 set "$seed" $by_netlink_1
		start set-2 set "$((seed + 1))" $by_netlink_2
	}
	start dump-1 dump "$seed"
	start dump-2 dump "$((seed + 1))"
	start write-sysfs write "$seed" "$tune" $by_sysfs
	start write-debugfs write "$seed" "$debug" $by_debugfs
	start read-sysfs read "$seed" "$tune"
	start read-debugfs read "$seed" "$debug"
}

# stop_all DESCRIPTION NUMBER: all end, none has seen anything wrong, and there were
# at least as many sets and dumps
stop_all() {
	local name status failed='' sets dumps

	kill -TERM "${worker[@]}"
	for name in "${!worker[@]}"; do
		if ! wait_for 60 "! kill -0 ${worker[$name]} 2> /dev/null"; then
			failed+="$name does not end"$'\n'
			continue
		fi
		wait "${worker[$name]}"
		status=$?
		[ $status = 0 ] || failed+="$name: exit code $status"$'\n'
		# nothing but what it has to say
		failed+=$(grep -vE '^(#|last) ' "$tmp/out.$name")
		grep '^# ' "$tmp/out.$name"
	done
	worker=()
	if [ -z "$failed" ]; then
		ok "$1: all end, with nothing but the errors that are allowed"
	else
		not_ok "$1: all end, with nothing but the errors that are allowed" "$failed"
	fi
	sets=$(sum_done set write) dumps=$(sum_done dump)
	expect "$1: many sets and dumps, $sets and $dumps" "sets >= $2 && dumps >= $2"
}

# sum_done KIND...: what those that ran say how often they did it
sum_done() {
	local IFS='|'

	cat "$tmp"/out.* | sed -nE "s/^# ($*): ([0-9]+) .*/\2/p" |
		awk '{ sum += $1 } END { print sum + 0 }'
}

# shown OBJECT NAME VALUE: what VALUE reads as. With nothing above it, an object that
# inherits has the default, which is what it had before.
shown() {
	case "$3 $1" in
	inherit\ nvme*) echo inherit ;;
	inherit\ *) sed -n "s/^$1 $2 //p" "$tmp/settings" ;;
	*) echo "$3" ;;
	esac
}

# values_last DESCRIPTION: what was set last is what there is, in sysfs and debugfs
values_last() {
	local object name value is n=0 wrong=''

	while read -r _ object name value; do
		[ -e "$tune/$object/$name" ] || continue
		value=$(shown "$object" "$name" "$value")
		read -r is < "$tune/$object/$name"
		[ "$is" = "$value" ] || wrong+="$object $name is $is, $value was set last. "
		read -r is < "$debug/$object/$name"
		[ "$is" = "$value" ] || wrong+="$object $name is $is in debugfs. "
		n=$((n + 1))
	done < <(cat "$tmp"/out.* | grep '^last ')
	if [ -z "$wrong" ]; then
		expect "$1: $n values are those that were set last" 'n > 20'
	else
		not_ok "$1: values are those that were set last" "$wrong"
	fi
}

# own_values CONTROLLER: what it and its queues have that is not inherited
own_values() {
	settings | grep "^$1[ /]" | grep -v ' inherit$'
}

set_own_values() { # CONTROLLER
	local object

	for object in "$1" "$1"/q{1,2,3,4}; do
		echo 12345 > "$tune/$object/defer_inline_bytes"
		echo 7 > "$tune/$object/defer_irq_share"
		echo 1 > "$tune/$object/measure"
	done
}

# take_away DESCRIPTION COMMAND COMMAND: the controller, under load, and bring it back
take_away() {
	load_start "$dev"
	eval "$2"
	soon 30 "$1: the controller is gone" "! nvme_by_serial four > /dev/null 2>&1"
	load_ends "$1"
	soon 30 "$1: it comes back" "$3 2> /dev/null"
	use four
}

# workqueues_right DESCRIPTION: none when nothing may defer, one a queue when all may
workqueues_right() {
	local c want

	# all inherit the mode from here on
	echo N > "$params/force_bounce_swiotlb_wq"
	mode off "$ctrl"
	soon 20 "$1: off: no workqueue is left" '[ -z "$(find $wqs/ -name "nvme*-defer")" ]'
	for c in /sys/class/nvme/nvme*; do
		soon 10 "$1: off: ${c##*/} has no rescuer" "! rescuers ${c##*/} > /dev/null"
		echo inherit > "$tune/${c##*/}/workqueue"
	done
	echo auto > "$tune/nvme/workqueue"
	for c in /sys/class/nvme/nvme*; do
		c=${c##*/}
		mode on "$c"
		want=$(objects "$tune" | sed -n "s,^$c/\(q.*\),$c\1-defer,p")
		check "$1: on: $c has a workqueue for each queue" [ "$(rescuers "$c" | sort)" = "$want" ]
	done
}

controller one > /dev/null
controller two > /dev/null
use four
soon 30 "all objects are there" objects_right
# the driver's are set, too; all are put back in the end
for file in "$params"/defer_*; do
	set_defer "${file##*/defer_}" "$(cat "$file")"
done
remember_settings
first=$ctrl
leaks_mark
echo 255 > /sys/module/nvme_core/parameters/max_retries
pci=$(nvme_pci "$ctrl")
used=$(bounce_used)

seconds=15 rounds=1
full && seconds=120 rounds=5

check "data to verify at the end" fill "$dev" 256m 32m
load_start "$dev"
start_all
resets=0 failed=0
SECONDS=0
while [ $SECONDS -lt $seconds ] || [ $resets -lt 5 ]; do
	reset_controller "$ctrl" || failed=$((failed + 1))
	resets=$((resets + 1))
	load_goes_on "$ctrl" || break
done
echo "# $resets resets"
expect "resets: all worked" 'failed == 0'
check "resets: the load goes on" load_goes_on "$ctrl"
stop_all resets 300
check "resets: no error, no wrong data under load" load_stop
values_last resets
set_own_values "$ctrl"
own=$(own_values "$ctrl")
reset_controller "$ctrl"
check "one more: own values survive" [ "$(own_values "$ctrl")" = "$own" ]
soon 20 "resets: all objects are there" objects_right
workqueues_right resets
check "resets: data are right" verify "$dev" 256m 32m

start_all
for ((i = 0; i < rounds; i++)); do
	take_away unbind "echo $pci > $driver/unbind" "echo $pci > $driver/bind"
	take_away remove "echo 1 > /sys/bus/pci/devices/$pci/remove" \
		"echo 1 > /sys/bus/pci/rescan"
done
stop_all "unbind, remove" 200
soon 30 "unbind, remove: all objects are there, and no other" objects_right

for how in unbind remove; do
	set_own_values "$ctrl"
	check "$how: there are values of its own" [ "$(own_values "$ctrl" | wc -l)" -ge 15 ]
	if [ $how = unbind ]; then
		echo "$pci" > $driver/unbind
		echo "$pci" > $driver/bind
	else
		echo 1 > "/sys/bus/pci/devices/$pci/remove"
		echo 1 > /sys/bus/pci/rescan
	fi
	use four
	soon 30 "$how: all objects are there again" objects_right
	own=$(own_values "$ctrl")
	check "$how: they inherit everything" [ -z "$own" ]
done
workqueues_right "in the end"
back_again "in the end"
soon 10 "no bounce buffer is left in use" "[ \$(bounce_used) = $used ]"

# it may have another name now
sed -i "s/^$first\>/$ctrl/" "$tmp/settings"
sort -o "$tmp/settings" "$tmp/settings"
put_back_settings
check "settings are put back" diff "$tmp/settings" <(settings | sort)
echo 5 > /sys/module/nvme_core/parameters/max_retries
leaks_check "nothing is lost"
lockdep_on "lockdep is still on"
