# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# For the tests of the tool nvmetune against the real kernel.

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly nvmetune=$VM_ROOT/build/nvmetune/nvmetune
[ -x "$nvmetune" ] || die "no $nvmetune: make -C tools/nvmetune"

# t ARG...: run the tool; sets out, err (what it has said) and status
t() {
	"$nvmetune" "$@" > "$tmp/out" 2> "$tmp/err"
	status=$?
	out=$(< "$tmp/out") err=$(< "$tmp/err")
}

# expect_t STATUS DESCRIPTION ARG...: run it, and see how it ends
expect_t() {
	local want=$1 what=$2

	shift 2
	t "$@"
	if [ "$status" = "$want" ]; then
		ok "$what"
	else
		not_ok "$what" "nvmetune $*: status $status, not $want: $err $out"
	fi
}

# says DESCRIPTION REGEX TEXT
says() {
	if grep -qE -- "$2" <<< "$3"; then
		ok "$1"
	else
		not_ok "$1" "no /$2/ in: $3"
	fi
}

# same DESCRIPTION WANTED TEXT
same() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "$(diff <(echo "$2") <(echo "$3"))"
	fi
}

# state: the own value of each setting of each object, a line each, not by the tool
state() {
	(cd "$tune" && find . -path '*/in_force/*' -printf '%P\n' | sort |
		while read -r file; do
			file=${file%in_force/*}${file##*/}
			echo "$file $(< "$file")"
		done)
}
