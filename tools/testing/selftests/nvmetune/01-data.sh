#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: all reads return the right data, by every path that a completion takes
# vm: standard
# timeout: 300
# full-timeout: 1800

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"

declare -A serial=([1]=one [2]=two [4]=four)
values=('off on auto' 'none mq-deadline' '1 2 4' '1 2' 'libaio io_uring passthrough')

# Pairs of two columns' values that no row has.
missing_pairs() { # ROWS
	printf '%s\n' "${values[@]}" | awk '
		NR == FNR { n = split($0, v, " "); for (i = 1; i <= n; i++) value[NR, i] = v[i]; size[NR] = n; next }
		{ for (a = 1; a <= 5; a++) for (b = a + 1; b <= 5; b++) seen[a, $a, b, $b] = 1 }
		END {
			for (a = 1; a <= 5; a++) for (b = a + 1; b <= 5; b++)
				for (i = 1; i <= size[a]; i++) for (j = 1; j <= size[b]; j++)
					if (!((a, value[a, i], b, value[b, j]) in seen))
						print value[a, i], value[b, j]
		}' - <(echo "$1")
}

matrix() {
	local mode scheduler queues affinity engine

	for mode in ${values[0]}; do for scheduler in ${values[1]}; do
	for queues in ${values[2]}; do for affinity in ${values[3]}; do
	for engine in ${values[4]}; do
		echo "$mode $scheduler $queues $affinity $engine"
	done; done; done; done; done
}

# What the counters have to say of a row's reads and writes.
check_counts() { # ROW MODE QUEUES
	local completed

	tally
	requests "${dev#/dev/}"
	completed=$((requests - before))
	echo "# $1: $deferred deferred, $inline inline, $pressure of them by pressure"
	if [ "$2" = off ]; then
		expect "$1: nothing is counted" 'deferred + inline + worker_requests == 0'
		return
	fi
	expect "$1: workers complete what is deferred" 'worker_requests == deferred'
	case $2 in
	on)
		expect "$1: all is deferred, but for pressure" 'deferred > 0 && inline == pressure'
		expect "$1: no detour by a softirq" 'in_softirq == 0' ;;
	auto)
		expect "$1: some is deferred, some not" 'deferred > 0 && inline > 0'
		# blk-mq sends all of one hardware queue there
		[ "$3" != 1 ] || expect "$1: all of it in softirq" 'in_softirq == deferred + inline' ;;
	esac
	# the block layer does not count passthrough
	[ "$completed" = 0 ] ||
		expect "$1: each request is counted once" 'deferred + inline == completed'
}

run_row() { # MODE SCHEDULER QUEUES RQ_AFFINITY ENGINE
	local row="$1, $2, $3 queues, rq_affinity $4, $5" size=32m before

	use "${serial[$3]}"
	echo "$2" > "/sys/class/block/${dev#/dev/}/queue/scheduler"
	echo "$4" > "/sys/class/block/${dev#/dev/}/queue/rq_affinity"
	mode "$1" "$ctrl"
	mark "$ctrl"
	requests "${dev#/dev/}"
	before=$requests
	# at a place of its own: no data of another row can be taken for this one's
	check "$row: written" fill "$dev" "$offset" $size "$5"
	check "$row: verified" verify "$dev" "$offset" $size "$5"
	soon 20 "$row: nothing is left in the lanes" "settled $ctrl"
	check_counts "$row" "$1" "$3"
	offset=$(((offset + 33554432) % 1006632960))
}

rows=$(grep -v '^#' "${0%.sh}.rows")
missing=$(missing_pairs "$rows")
check "the table is pairwise complete${missing:+, but for $missing}" [ -z "$missing" ]
full && rows=$(matrix)

offset=0
while read -r row; do
	# shellcheck disable=SC2086 # columns
	run_row $row
done <<< "$rows"
check "bounce buffers are free again" [ "$(bounce_used)" = 0 ]
