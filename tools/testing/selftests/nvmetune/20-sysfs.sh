#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: settings by sysfs, debugfs and netlink: the same values, the same refusals; what wins
# vm: standard
# timeout: 150

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2030,SC2031,SC2034,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/testing/selftests/nvmetune/lib-ynl.sh
. "$(dirname "$0")/lib-ynl.sh"

readonly fronts='sysfs debugfs netlink'
readonly trace=/sys/kernel/tracing/instances/selftest

every_object
learn
remember_settings

# inherited_value KEY: sets value to how it reads when it is to inherit; at the top it is
# its default then
inherited_value() {
	value=inherit
	case $1 in
	nvme/* | vfio_type1/* | iommufd/*) value=${default_of[$1]} ;;
	esac
}

# The tables of the three

kinds=0 n=0 bad=''
others=$(others_expected)
for object in nvme "$ctrl" "$ctrl/q1" $others; do
	names=$(printf '%s\n' "${keys[@]}" | sed -n "s,^$object/\([^/]*\)\$,\1,p" | sort)
	kinds=$((kinds + 1)) n=$((n + $(wc -l <<< "$names")))
	[ "$(find "$tune/$object" -maxdepth 1 -type f -printf '%f\n' | sort)" = "$names" ] ||
		bad+="$tune/$object "
	[ "$(find "$debug/$object" -maxdepth 1 -type f -printf '%f\n' |
		grep -vxE 'params|stats|histograms|lanes' | sort)" = "$names" ] ||
		bad+="$debug/$object "
done
all_right "sysfs, debugfs and netlink have the same parameters, $n of $kinds kinds of objects" 'n > 40'
values sysfs "${settable[@]}"
bad='' n=${#settable[@]}
for key in "${settable[@]}"; do
	inherited_value "$key"
	[ "${own[$key]}" = "$value" ] || bad+="$key is ${own[$key]}. "
	[ "${force[$key]}" = "${default_of[$key]}" ] || bad+="$key in force: ${force[$key]}. "
done
# resched_bytes, and of type1 skip_contiguous
of_others=$(($(wc -w <<< "$others") + 1))
all_right "at first $n settings inherit, and the driver has its defaults" 'n == 13 + 3 * 13 + 7 * 7 + of_others'

# All settings of all objects, through each

declare -A want=() want_force=()

candidates() { # KEY: sets the array choice
	local key=$1

	case ${type_of[$key]} in
	enum) IFS=, read -ra choice <<< "${choices_of[$key]}" ;;
	bool) choice=(0 1) ;;
	*) choice=("${min_of[$key]}" "${max_of[$key]}"
		$((${min_of[$key]} + (${max_of[$key]} - ${min_of[$key]}) / 3))) ;;
	esac
}

another() { # KEY ROUND: sets value to one that it has not
	local i

	candidates "$1"
	for ((i = 0; i < ${#choice[@]}; i++)); do
		value=${choice[($2 + i) % ${#choice[@]}]}
		[ "$value" = "${want[$1]}" ] || return
	done
	die "$1 has only one value"
}

work_out_force() { # KEY...
	local key above

	for key; do
		above=${key%/*}
		[[ $above == */* ]] && above=${above%/*} || above=nvme
		want_force[$key]=${want[$key]}
		[ "${want[$key]}" != inherit ] || want_force[$key]=${want_force[$above/${key##*/}]}
		# takes a reset: 30-pools.sh
		[[ $key != */q*/pool ]] || want_force[$key]=${default_of[$key]}
	done
}

put_all() { # FRONT-END KEY...
	local front=$1 key request=()

	shift
	refused=''
	for key; do
		if [ "$front" = netlink ]; then
			request+=("${key%/*}:${key##*/}=${want[$key]}")
			continue
		fi
		put "$front" "$key" "${want[$key]}"
		[ -z "$error" ] || refused+="$key: $error "
	done
	[ "$front" = netlink ] || return 0
	nl set "${request[@]}" || refused+="$nl_error $nl_where $nl_text"
}

# The array wrong: what is not as wanted, by parameter
compare() { # KEY...
	local front key

	declare -gA wrong=()
	for front in $fronts; do
		values "$front" "$@"
		for key; do
			[ "${own[$key]}" = "${want[$key]}" ] ||
				wrong[${key##*/}]+="$front: $key is ${own[$key]}, not ${want[$key]}. "
			[ "${force[$key]}" = "${want_force[$key]}" ] ||
				wrong[${key##*/}]+="$front: $key in force: ${force[$key]}, not ${want_force[$key]}. "
		done
	done
}

names_of() { # KEY...: each once
	printf '%s\n' "${@##*/}" | sort -u
}

through() { # FRONT-END ROUND KEY...
	local front=$1 round=$2 key name value

	shift 2
	for key; do
		another "$key" "$round"
		want[$key]=$value
	done
	work_out_force "$@"
	put_all "$front" "$@"
	compare "$@"
	for name in $(names_of "$@"); do
		if [ -z "$refused${wrong[$name]:-}" ]; then
			ok "$name: set through $front, read through all"
		else
			not_ok "$name: set through $front, read through all" "$refused${wrong[$name]:-}"
		fi
	done

	for key; do
		want[$key]=inherit
	done
	put_all "$front" "$@"
	for key; do
		inherited_value "$key"
		want[$key]=$value
	done
	work_out_force "$@"
	compare "$@"
	if [ -z "$refused${wrong[*]}" ]; then
		ok "inherit: set through $front, read through all"
	else
		not_ok "inherit: set through $front, read through all" "$refused${wrong[*]}"
	fi
}

each_front() { # KEY...
	local front key round=0

	values sysfs "$@"
	for key; do
		want[$key]=${own[$key]}
	done
	for front in $fronts; do
		through "$front" $((round++)) "$@"
	done
}

mapfile -t some < <(printf '%s\n' "${settable[@]}" | grep -v '/workqueue$')
each_front "${some[@]}"
put_back_settings

# What is refused

# refuses FRONT-END KEY ERROR VALUE...: adds to bad what is not so
refuses() {
	local front=$1 key=$2 want_error=$3 before now value

	shift 3
	read -r before < "$tune/$key"
	for value; do
		put "$front" "$key" "$value"
		[ "$error" = "$want_error" ] || bad+="$key=$value: ${error:-taken}, not $want_error. "
		read -r now < "$tune/$key"
		[ "$now" = "$before" ] || bad+="$key=$value made it $now. "
		tried=$((tried + 1))
	done
}

refuses_wrong() { # FRONT-END KEY
	local key=$2

	refuses "$1" "$key" EINVAL '' x inheritt
	case ${type_of[$key]} in
	enum)
		refuses "$1" "$key" EINVAL 0 1 "${choices_of[$key]%%,*}x" "${choices_of[$key]}"
		return ;;
	bool)
		refuses "$1" "$key" EINVAL 2 -1
		return ;;
	esac
	refuses "$1" "$key" EINVAL -1 +1 0x10 1.5 1x
	[ "${type_of[$key]}" = bytes ] || refuses "$1" "$key" EINVAL 1K
	refuses "$1" "$key" ERANGE $((${max_of[$key]} + 1)) 99999999999
	[ "${max_of[$key]}" -ge 4294967296 ] || refuses "$1" "$key" ERANGE 4294967296
	[ "${min_of[$key]}" = 0 ] || refuses "$1" "$key" ERANGE $((${min_of[$key]} - 1))
}

for front in $fronts; do
	before=$(everything)
	tried=0 bad=''
	for key in "${settable[@]}"; do
		case $key in
		nvme/* | vfio_type1/* | iommufd/* | "$ctrl/q1"/*) refuses_wrong "$front" "$key" ;;
		"$ctrl"/q*) ;;
		"$ctrl"/*) refuses_wrong "$front" "$key" ;;
		esac
	done
	all_right "$tried wrong values: EINVAL and ERANGE through $front" 'tried > 200'
	check "all values are as they were" [ "$(everything)" = "$before" ]
done

mode on "$ctrl"
before=$(everything)
bad='' tried=0
for front in $fronts; do
	refuses "$front" "$ctrl/workqueue" EBUSY queue controller auto inherit
done
all_right "workqueue of a controller that has some: EBUSY" 'tried == 12'
check "all values are as they were" [ "$(everything)" = "$before" ]

bad='' tried=0
for key in "${keys[@]}"; do
	[[ " ${settable[*]} " != *" $key "* ]] || continue
	[[ $key == "$ctrl"/* && $key != "$ctrl"/q[2-9]* ]] || continue
	# these words by what the kernel does: the file cannot be opened for writing, or
	# can be by root and not written
	refuses sysfs "$key" EACCES 1
	refuses debugfs "$key" EPERM 1
	refuses netlink "$key" EPERM 1
done
all_right "facts: EACCES and EPERM" 'tried == (3 + 11 + 1 + 2 * 4) * 3'
check "all values are as they were" [ "$(everything)" = "$before" ]
put_back_settings

# Root without CAP_SYS_ADMIN may open the files, and still not write them.
before=$(everything)
setpriv --bounding-set -sys_admin bash -c '
	for file in $(find "$@" -maxdepth 3 -type f -perm -u=w); do
		read -r value < "$file"
		{ printf "%s\n" "$value" > "$file"; } 2>&1
	done' bash "$tune" "$debug/nvme" "$debug/$ctrl" > "$tmp/uncapable"
n=$(grep -c . "$tmp/uncapable") denied=$(grep -c 'Operation not permitted$' "$tmp/uncapable")
total=$(find "$tune" "$debug/nvme" "$debug/$ctrl" -type f -perm -u=w | wc -l)
expect "root without CAP_SYS_ADMIN: EPERM for each file" 'total > 100 && n == total && denied == total'
check "all values are as they were" [ "$(everything)" = "$before" ]

# What wins, seen by what it does

armed_queues() { # sets $armed to one of 00 01 10 11
	local a b

	read -r a < "$tune/$ctrl/q1/armed"
	read -r b < "$tune/$ctrl/q2/armed"
	armed=$a$b
}

# wins DRIVER CONTROLLER QUEUE-1 QUEUE-2 ARMED
wins() {
	put sysfs nvme/defer_mode "$1"
	put sysfs "$ctrl/defer_mode" "$2"
	put sysfs "$ctrl/q1/defer_mode" "$3"
	put sysfs "$ctrl/q2/defer_mode" "$4"
	soon 10 "driver $1, controller $2, queues $3 and $4: armed are $5" \
		"armed_queues; [ \$armed = $5 ]"
}

wins off inherit inherit inherit 00
wins on inherit inherit inherit 11
wins on off inherit inherit 00
wins on off on inherit 10
wins off on inherit off 10
wins off inherit inherit on 01
wins auto on on off 10
wins on off off auto 01

echo N > $params/force_bounce_swiotlb_wq
check "force_bounce_swiotlb_wq=N: the driver has auto" [ "$(cat $tune/nvme/defer_mode)" = auto ]
check "and all of $(echo $tune/*/defer_mode $tune/*/q*/defer_mode | wc -w) others inherit it" \
	[ "$(cat $tune/nvme[0-9]*/defer_mode $tune/*/q*/defer_mode | sort -u)" = inherit ]
wins auto off off inherit 00
echo Y > $params/force_bounce_swiotlb_wq
check "force_bounce_swiotlb_wq=Y: the driver has on" [ "$(cat $tune/nvme/defer_mode)" = on ]
soon 10 "and so have the queues" 'armed_queues; [ $armed = 11 ]'
check "force_bounce_swiotlb_wq reads Y" [ "$(cat $params/force_bounce_swiotlb_wq)" = Y ]

# The module parameters and the driver's object

bad='' n=0
for file in "$params"/defer_* "$params/pool"; do
	p=${file##*/}
	key=nvme/$p
	[ -e "$tune/$key" ] || key=nvme/${p#defer_}
	read -r "want[$key]" < "$tune/$key"
	another "$key" 0
	put module "$p" "$value"
	[ "$(cat "$tune/$key")" = "$value" ] || bad+="$p=$value: $key is $(cat "$tune/$key"). "
	want[$key]=$value
	another "$key" 1
	put sysfs "$key" "$value"
	[ "$(cat "$file")" = "$value" ] || bad+="$key=$value: $p is $(cat "$file"). "
	put module "$p" inherit
	[ "$(cat "$tune/$key" "$file" | sort -u)" = "${default_of[$key]}" ] || bad+="$p=inherit: $key is $(cat "$tune/$key"). "
	n=$((n + 1))
done
total=$(find $tune/nvme -maxdepth 1 -type f | wc -l)
all_right "$n module parameters are the values of the object nvme" 'n == total'
put_back_settings

# workqueue, where there are none

mode off
soon 20 "off: no workqueue" '[ "$(cat $tune/*/q*/wq_name | sort -u)" = none ]'
mapfile -t some < <(printf '%s\n' "${settable[@]}" | grep '/workqueue$')
each_front "${some[@]}"
put_back_settings
mode auto "$ctrl"

# An operator's loops

mapfile -t lines < <(sh -eu -c '
	cd /sys/kernel/nvmetune
	for q in nvme[0-9]*/q*; do
		echo on > $q/defer_mode
		echo 64K > $q/defer_inline_bytes
	done
	for q in nvme[0-9]*/q*; do
		echo $q $(cat $q/defer_mode) $(cat $q/in_force/defer_inline_bytes) $(cat $q/in_force/defer_irq_share)
	done')
want_lines=$(cd $tune && for q in nvme*/q*; do echo "$q on 65536 $(cat nvme/defer_irq_share)"; done)
check "a loop in sh sets and reads all ${#lines[@]} queues" \
	[ "${#lines[@]} $(printf '%s\n' "${lines[@]}")" = "7 $want_lines" ]
put_back_settings

# A reset

put sysfs "$ctrl/defer_mode" on
put sysfs "$ctrl/defer_lanes" 5
put sysfs "$ctrl/q1/defer_mode" off
put sysfs "$ctrl/q1/resched_bytes" 12345
put sysfs "$ctrl/q2/defer_irq_share" 77
soon 10 "own values: queue 2 alone is armed" 'armed_queues; [ $armed = 01 ]'
before=$(settings)
nl objects
objects=${nl_out[*]}
reset_controller "$ctrl"
soon 20 "reset: the controller lives" "live $ctrl"
check "reset: values are what they were" [ "$(settings)" = "$before" ]
soon 10 "reset: queue 2 alone is armed" 'armed_queues; [ $armed = 01 ]'
nl objects
check "reset: the objects are the same ones" [ "${nl_out[*]}" = "$objects" ]
put_back_settings

# Links

bad='' n=0
for dir in /sys/class/nvme/nvme*; do
	name=${dir##*/}
	[ "$(readlink -f "$tune/$name/device")" = "$(readlink -f "$dir/device")" ] || bad+="$name/device "
	[ "$(readlink -f "$dir/device/nvmetune")" = "$tune/$name" ] || bad+="$dir/device/nvmetune "
	n=$((n + 1))
done
all_right "links from and to each device" 'n == 3'

# The tracepoint

mkdir $trace || die "no tracefs"
echo 1 > $trace/events/nvmetune/nvmetune_param/enable
put sysfs "$ctrl/q1/defer_mode" on
put debugfs "$ctrl/q1/defer_mode" off
put netlink "$ctrl/defer_max_age_ms" 7
put module defer_irq_share 99
put sysfs "$ctrl/q1/defer_mode" inherit
# none of these changes anything
put sysfs "$ctrl/q1/defer_mode" inherit
put sysfs "$ctrl/q1/defer_mode" nonsense
put module defer_irq_share 99
put netlink "$ctrl/q1/qid" 3
echo 0 > $trace/tracing_on
check "tracepoint: once a change, with what was changed" \
	[ "$(sed -n 's/^.*: nvmetune_param: //p' $trace/trace)" = \
	"$ctrl/q1 defer_mode: inherit -> on, in force: on
$ctrl/q1 defer_mode: on -> off, in force: off
$ctrl defer_max_age_ms: inherit -> 7, in force: 7
nvme defer_irq_share: $(sed -n 's,^nvme defer_irq_share ,,p' "$tmp/settings") -> 99, in force: 99
$ctrl/q1 defer_mode: off -> inherit, in force: auto" ]
rmdir $trace

put_back_settings
check "at the end all settings are as at first" diff "$tmp/settings" <(settings)
