#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests tools/vm/scan against the recorded logs in tools/vm/snippets. Boots nothing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0

report() { # STATUS NAME: ok if the status is 0
	if [ "$1" = 0 ]; then
		passed=$((passed + 1))
		echo "ok - scan: $2"
	else
		failed=$((failed + 1))
		echo "not ok - scan: $2"
	fi
}

# scans EXPECTED-EXIT-CODE NAME ARG...
scans() {
	local expected=$1 name=$2 code=0

	shift 2
	"$here/scan" "$@" > "$tmp/found" 2>&1 || code=$?
	report "$((code != expected))" "$name"
}

# snippets FILE: a file in $tmp for each, prints their names
snippets() {
	awk -v dir="$tmp" '/^=== / { file = dir "/" $2; print $2; next } file { print > file }' \
		"$here/snippets/$1"
}

snippet() { # NAME: one of those split before
	cat "$tmp/$1"
}

test_found() {
	local name bad=''

	for name in $(snippets found.log); do
		# nothing but the clean beginning of a boot before it
		{ head -n 20 "$here/snippets/clean.log"; snippet "$name"; } > "$tmp/log"
		scans 1 "finds $name" "$tmp/log"
		# printed is the report itself, from its first line on
		grep -qF -- "$(head -n 1 "$tmp/$name")" "$tmp/found" || bad+=" $name"
	done
	[ -z "$bad" ] || echo "# not printed:$bad"
	report "${#bad}" "prints each"
}

test_clean() {
	local name

	for name in $(snippets clean.log); do
		scans 0 "finds nothing in $name" "$tmp/$name"
	done
}

# A pattern that matches no snippet may be misspelt.
test_patterns() {
	local kind pattern unused=''

	sed -E 's/^(\[[ 0-9.TC]+\] ?)+//' "$here"/snippets/*.log > "$tmp/all"
	while read -r kind pattern; do
		case $kind in '' | \#*) continue ;; esac
		grep -qE -- "$pattern" "$tmp/all" || unused+=" $kind $pattern;"
	done < "$here/splats"
	[ -z "$unused" ] || echo "# no snippet for:$unused"
	report "${#unused}" "each pattern has a snippet"
}

test_allowed() {
	local flush='WQ_MEM_RECLAIM .* is flushing'

	snippets found.log > /dev/null
	cp "$tmp/workqueue-flush" "$tmp/one"
	scans 0 "an expected report is fine" --allow "$flush" "$tmp/one"
	scans 2 "an expected report is missing" --allow "$flush" --allow nonsense "$tmp/one"
	scans 1 "another one is not expected" --allow nonsense "$tmp/one"
	cat "$tmp/workqueue-flush" "$tmp/oops" > "$tmp/two"
	scans 1 "an expected report covers no other" --allow "$flush" "$tmp/two"
	grep -q 'NULL pointer' "$tmp/found"
	report $? "the other one is printed"
	cat "$tmp/dma-api-off" "$tmp/warn-once" > "$tmp/two"
	scans 1 "nor one that follows at once" --allow 'DMA-API: debugging out' "$tmp/two"
	cat "$tmp/hung-task" "$tmp/trace-alone" > "$tmp/two"
	scans 1 "nor a later back trace" --allow 'blocked for more' "$tmp/two"
	sed 's/$/\r/' "$tmp/one" > "$tmp/crlf"
	scans 0 "carriage returns" --allow "$flush" "$tmp/crlf"
	scans 0 "nothing behind --until" --until 'WQ_MEM_RECLAIM|cut here' "$tmp/one"
}

test_found
test_clean
test_patterns
test_allowed
scans 3 "no log" "$tmp/none"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
