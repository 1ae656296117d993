#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: parameters take what is valid and refuse the rest, unchanged, with the right error
# vm: standard
# timeout: 90

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"

value() { # PARAMETER: sets $value
	read -r value < "$params/$1"
}

is() { # DESCRIPTION PARAMETER VALUE
	value "$2"
	check "$1" [ "$value" = "$3" ]
}

put() { # PARAMETER VALUE: prints the error, if any
	local message

	message=$( { printf '%s\n' "$2" > "$params/$1"; } 2>&1)
	case $message in
	'') ;;
	*'Invalid argument') echo EINVAL ;;
	*'out of range') echo ERANGE ;;
	*) echo "$message" ;;
	esac
}

takes() { # PARAMETER VALUE [AS IT IS READ BACK]
	local error

	error=$(put "$1" "$2")
	if [ -n "$error" ]; then
		not_ok "$1 takes $2" "$error"
	else
		is "$1 takes $2${3:+ and reads $3}" "$1" "${3:-$2}"
	fi
}

refuses() { # PARAMETER ERROR VALUE...: each, and keeps what it has
	local name=$1 want=$2 error before bad='' v

	shift 2
	value "$name"
	before=$value
	for v; do
		error=$(put "$name" "$v")
		[ "$error" = "$want" ] || bad+="'$v': ${error:-taken}. "
		value "$name"
		[ "$value" = "$before" ] || bad+="'$v' made it $value. "
	done
	if [ -z "$bad" ]; then
		ok "$name: $want for${*/#/ }, unchanged"
	else
		not_ok "$name: $want for${*/#/ }, unchanged" "$bad"
	fi
}

# Remembers all of them, so that the end puts them back.
for file in "$params"/defer_*; do
	set_defer "${file##*/defer_}" "$(cat "$file")"
done
readonly garbage=('' ' ' x -1 +1 0x10 1x '1 2' 1.5 '1 K' K 1KB 1Ki 1T 1E)

numbers=0
# name, takes bytes, least, most
while read -r name bytes min max; do
	p=defer_$name
	numbers=$((numbers + 1))
	takes "$p" "$min"
	takes "$p" "$max"
	refuses "$p" EINVAL "${garbage[@]}"
	refuses "$p" ERANGE $((max + 1)) 4294967295 4294967296 18446744073709551616 99999999999999999999999
	[ "$min" = 0 ] || refuses "$p" ERANGE $((min - 1)) 0 00
	if [ "$bytes" = yes ]; then
		takes "$p" 64K 65536
		takes "$p" 64k 65536
		takes "$p" 3M 3145728
		takes "$p" 1G 1073741824
		refuses "$p" ERANGE 2G 1048577K 9999999999G
	else
		refuses "$p" EINVAL 1K 1M 1G
		# decimal all the same
		takes "$p" 008 8
	fi
done <<-'END'
	inline_bytes	yes	0	1073741824
	irq_share	no	0	100
	small_bytes	yes	0	1073741824
	lanes		no	1	8
	chunk_bytes	yes	4096	1073741824
	lane_bytes	yes	0	1073741824
	backlog_bytes	yes	65536	1073741824
	max_age_ms	no	1	60000
	resched_bytes	yes	0	1073741824
END
put_back

takes defer_measure 1
takes defer_measure n 0
refuses defer_measure EINVAL 2 '' maybe
put_back

# mode and workqueue are the names among them, measure a switch
all=$(find $params/ -name 'defer_*' | wc -l)
expect "no parameter was forgotten" 'all == numbers + 3'
for v in off on auto; do
	takes defer_mode $v
done
for v in queue controller auto; do
	takes defer_workqueue $v
done
refuses defer_mode EINVAL '' On ON 0 1 2 'on off' on, onx
refuses defer_workqueue EINVAL '' Queue ctrl 0 1 'queue queue'

force=force_bounce_swiotlb_wq
is "$force reads N in auto" $force N
takes $force Y
is "$force=Y sets defer_mode on" defer_mode on
takes $force N
is "$force=N sets defer_mode auto" defer_mode auto
takes $force 1 Y
takes defer_mode off
is "$force reads N in off" $force N
takes $force 0 N
is "$force=0 sets defer_mode auto" defer_mode auto
takes defer_mode on
is "$force reads Y in on" $force Y
refuses $force EINVAL x 2 '' maybe
is "and defer_mode is unchanged" defer_mode on
