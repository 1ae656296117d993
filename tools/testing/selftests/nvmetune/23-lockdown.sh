#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: lockdown=confidentiality: sysfs and netlink set and read, debugfs reads 0444 files only
# vm: standard --append lockdown=confidentiality
# timeout: 90

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2030,SC2031,SC2034,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/testing/selftests/nvmetune/lib-ynl.sh
. "$(dirname "$0")/lib-ynl.sh"

mount -t securityfs securityfs /sys/kernel/security
check "the kernel is locked down" grep -q '\[confidentiality\]' /sys/kernel/security/lockdown

every_object
learn
remember_settings

opened=0 bad=''
while read -r file; do
	cat "$file" > "$tmp/text" 2>&1 && [ -s "$tmp/text" ] || bad+="${file#"$debug/"} "
	opened=$((opened + 1))
done < <(find "$debug" -type f -perm 444)
all_right "debugfs: files with 0444 can be read" 'opened > 70'
for name in params stats histograms lanes qid wq_name; do
	check "debugfs: $name is one of them" grep -q . "$debug/$ctrl/q1/$name"
done
error=$( { echo 1 > "$debug/$ctrl/q1/qid"; } 2>&1)
check "debugfs: they cannot be opened to write" [ "${error##*: }" = 'Operation not permitted' ]

opened=0 tried=0 bad=''
while read -r file; do
	tried=$((tried + 1))
	for error in "$( { read -r _ < "$file"; } 2>&1)" "$( { echo 1 > "$file"; } 2>&1)" \
		"$( { : >> "$file"; } 2>&1)"; do
		[ "${error##*: }" = 'Operation not permitted' ] || bad+="${file#"$debug/"}: '$error' "
	done
done < <(find "$debug" -type f ! -perm 444)
n=${#settable[@]}
all_right "debugfs: the others cannot be opened at all" 'tried == n && tried > 50'
check "and nothing has changed" diff "$tmp/settings" <(settings)

# Setting, through sysfs and netlink, with effect
mode off "$ctrl"
put sysfs "$ctrl/q1/defer_mode" on
check "sysfs: set" [ -z "$error" ]
nl get "$ctrl/q1" defer_mode
check "netlink: reads it" [ "${nl_out[0]##*|}" = on ]
soon 10 "it has effect" "[ \$(armed $ctrl) = 1 ]"
nl set "$ctrl/q2:defer_mode=on" "$ctrl:defer_irq_share#55"
check "netlink: set" [ -z "$nl_error" ]
check "sysfs: reads it" [ "$(cat "$tune/$ctrl/q2/defer_mode" "$tune/$ctrl/defer_irq_share")" = "on
55" ]
soon 10 "it has effect" "[ \$(armed $ctrl) = 2 ]"
check "debugfs: params shows it" grep -qE '^defer_irq_share +inherit \(55\)' "$debug/$ctrl/q1/params"

mark "$ctrl"
check "written" fill "$dev" 0 4m
check "verified" verify "$dev" 0 4m
settle "$ctrl"
tally
expect "debugfs: stats count" 'deferred > 20 && worker_requests == deferred'
nl stats "$ctrl/q1"
check "netlink: the same statistics" \
	[ "$(printf '%s\n' "${nl_out[@]}" | sed -n 's/^stat|[^|]*|\([^|]*\)|[^|]*|/\1 /p')" = "$(cat "$debug/$ctrl/q1/stats")" ]
nl reset "$ctrl/q1"
check "netlink: statistics are reset" [ -z "$(grep -v ' 0$' "$debug/$ctrl/q1/stats")" ]
put_back_settings
check "at the end all settings are as at first" diff "$tmp/settings" <(settings)
