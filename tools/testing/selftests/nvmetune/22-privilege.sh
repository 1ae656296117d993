#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: who may not set can read; another network namespace has nothing
# vm: standard
# timeout: 120

# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
# user namespaces are for those who are not in a chroot
if [ -n "${VM_LIB:-}" ] && [ -z "${unchrooted:-}" ]; then
	unchrooted=1 exec unshare -m -- "$(dirname "$0")/unchroot" bash "$0"
fi

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/testing/selftests/nvmetune/lib-ynl.sh
. "$(dirname "$0")/lib-ynl.sh"

readonly nobody='setpriv --reuid 65534 --regid 65534 --clear-groups --'

every_object
mode on "$ctrl"
q1=$ctrl/q1
check "something to count" eval 'fill "$dev" 0 4m && verify "$dev" 0 4m'
settle "$ctrl"
readonly asks="objects
params $q1
stats $q1
subscribe
set $q1:defer_irq_share=42
set nvme:defer_lanes#7
set nvme:defer_lanes#99
set $q1:qid#1
reset $q1
raw stats-reset {}
params $q1
stats $q1"

answers() { # COMMAND...: of nl.py, started by it; ok and errors only, each a line
	"$@" "$nl_py" <<< "$asks" > "$tmp/answers" 2>&1
	grep -E '^(ok|error)' "$tmp/answers" | cut -d' ' -f1-3
}

everything() {
	grep -r '' $tune | sort
	cat "$debug/$q1/stats"
}

# What root is told, who may
before=$(everything)
readonly asks_root="objects
params $q1
stats $q1
params $q1
stats $q1"
reads=$("$nl_py" <<< "$asks_root" | grep -c '|')
expect "root reads" 'reads > 50'

# may_read_only DESCRIPTION COMMAND...
may_read_only() {
	local what=$1 got

	shift
	got=$(answers "$@")
	if [ "$got" = "ok
ok
ok
ok
error EPERM -
error EPERM -
error EPERM -
error EPERM -
error EPERM -
error EPERM -
ok
ok" ]; then
		ok "$what: reads and subscribes; EPERM for sets and resets, right or wrong"
	else
		not_ok "$what: reads and subscribes; EPERM for sets and resets, right or wrong" "$(cat "$tmp/answers")"
	fi
	n=$(grep -c '|' "$tmp/answers")
	expect "$what: reads as much as root" 'n == reads'
	check "$what: is told what it takes" [ "$(grep -c 'needs CAP_SYS_ADMIN in the initial' "$tmp/answers")" = 6 ]
	check "$what: nothing has changed, statistics were not reset" [ "$(everything)" = "$before" ]
}

# shellcheck disable=SC2086 # options
{
	may_read_only "nobody" $nobody
	may_read_only "root without CAP_SYS_ADMIN" setpriv --bounding-set -sys_admin --
	may_read_only "nobody as root of a user namespace" $nobody unshare -Ur --
	may_read_only "root of a user namespace, who is root outside" unshare -Ur --
}

# The file may be opened by its owner, who is root in the user namespace, too.
writes() { # COMMAND...: the last word of the error for each of three files
	"$@" bash -c 'for f; do { echo 7 > "$f"; } 2>&1; done' bash \
		"$tune/$q1/defer_irq_share" "$tune/nvme/defer_lanes" "$tune/$q1/qid" |
		sed 's/.*: //' | tr '\n' ','
}

reads_file() { # COMMAND...
	"$@" cat "$tune/$q1/defer_irq_share" "$tune/$q1/in_force/defer_irq_share" "$tune/$q1/qid" |
		tr '\n' ,
}

want=$(reads_file env)
denied='Permission denied' eperm='Operation not permitted'
sysfs_case() { # DESCRIPTION ERROR COMMAND...
	local what=$1 error=$2 got

	shift 2
	got=$(writes "$@")
	# a fact cannot be opened for writing by anybody
	check "$what: sysfs: $error" [ "$got" = "$error,$error,$denied," ]
	check "$what: sysfs can be read" [ "$(reads_file "$@")" = "$want" ]
}

# shellcheck disable=SC2086 # options
{
	sysfs_case "nobody" "$denied" $nobody
	sysfs_case "root without CAP_SYS_ADMIN" "$eperm" setpriv --bounding-set -sys_admin --
	sysfs_case "nobody as root of a user namespace" "$denied" $nobody unshare -Ur --
	sysfs_case "root of a user namespace, who is root outside" "$eperm" unshare -Ur --
}
check "nothing has changed" [ "$(everything)" = "$before" ]
# shellcheck disable=SC2086 # options
check "nobody: debugfs is closed" eval "! $nobody cat $debug/$q1/stats 2> /dev/null"

# shellcheck disable=SC2086 # options
for who in "unshare -n --" "$nobody unshare -Urn --"; do
	answers $who > "$tmp/only"
	check "${who% --}: no such family" \
		[ "$(sort -u "$tmp/answers")" = "error ENOENT - no such family" ]
	n=$(grep -c . "$tmp/answers")
	expect "${who% --}: for each command" 'n == 12'
done
check "nothing has changed" [ "$(everything)" = "$before" ]
