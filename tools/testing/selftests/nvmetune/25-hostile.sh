#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: mutated netlink messages change nothing that a valid request does not
# vm: standard
# timeout: 400
# full-timeout: 900

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2030,SC2031,SC2034,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/testing/selftests/nvmetune/lib-nl.sh
. "$(dirname "$0")/lib-nl.sh"

count=100000
full && count=300000

run_fuzz() {
	"$(program nlfuzz)" "$SELFTEST_SEED" $count > "$tmp/fuzz"
	local status=$?

	grep -v '^changed' "$tmp/fuzz"
	return $status
}

controller one > /dev/null
controller two > /dev/null
use four
soon 30 "all objects are there" objects_right
remember_settings
leaks_mark

now start
check "$count mutated messages: no state changed that was not a valid request" \
	run_fuzz
now end
read -r sent < <(sed -n 's/^# seed [0-9]*, \([0-9]*\) messages.*/\1/p' "$tmp/fuzz")
expect "all were sent" 'sent >= count'
echo "# $((end - start)) ms"

# The program's own account against what sysfs shows, for which it has not asked.
sed -n 's/^changed //p' "$tmp/fuzz" | sort > "$tmp/told"
settings | diff "$tmp/settings" - | sed -n 's/^> //p' | sort > "$tmp/seen"
# What was changed and changed back is told and not seen.
different=$(comm -13 "$tmp/told" "$tmp/seen")
back=$(comm -23 "$tmp/told" "$tmp/seen" | comm -23 - <(sort "$tmp/settings"))
if [ -z "$different$back" ]; then
	ok "sysfs shows the changes of valid requests, $(wc -l < "$tmp/seen"), and no other"
else
	not_ok "sysfs shows the changes of valid requests and no other" \
		"not told: $different"$'\n'"not seen: $back"
fi

check "the objects are there as before" objects_right
put_back_settings
check "settings are put back" diff "$tmp/settings" <(settings)
check "the drive works: written" fill "$dev" 0 8m
check "the drive works: verified" verify "$dev" 0 8m
leaks_check "nothing is lost"
lockdep_on "lockdep is still on"
