# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# For the tests that look at the control plane from outside: its front ends side by
# side, and netlink by the kernel's own library in Python, see nl.py.

# shellcheck source=tools/testing/selftests/nvmetune/lib-nl.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib-nl.sh"

readonly nl_py=$VM_ROOT/tools/testing/selftests/nvmetune/nl.py
readonly ynl_cli=$VM_ROOT/build/6.12/src/tools/net/ynl/cli.py
readonly spec=$VM_ROOT/Documentation/netlink/specs/nvmetune.yaml
[ -r "$ynl_cli" ] || die "no $ynl_cli: make build/6.12/src"

nl_start() {
	coproc NL { exec "$nl_py" 2>&1; }
	# it ends with its input
	disown "$NL_PID"
}

# nl COMMAND: to nl.py, which runs beside the test; fails if the kernel refuses. Sets
# nl_out, lines, and nl_error, nl_where and nl_text. Not in a subshell.
nl() {
	local line

	[ -n "${NL_PID:-}" ] || nl_start
	nl_out=() nl_error='' nl_where='' nl_text=''
	printf '%s\n' "$*" >&"${NL[1]}"
	while read -rt 60 -u "${NL[0]}" line; do
		case $line in
		ok)
			return 0 ;;
		'error '*)
			read -r _ nl_error nl_where nl_text <<< "$line"
			return 1 ;;
		*)
			nl_out+=("$line") ;;
		esac
	done
	die "nl.py, asked for $*, says: ${nl_out[*]}"
}

# cli ARG...: the command that comes with the kernel
cli() {
	timeout 60 /usr/bin/python3 "$ynl_cli" --spec "$spec" --no-schema --output-json "$@"
}

# learn: what parameters there are, as netlink has it: keys are OBJECT/NAME, with those
# above before those below. settable is those that can be set. Values are as they are
# read.
learn() {
	local object name type access inherits min max default choices key

	declare -ga keys=() settable=()
	declare -gA type_of=() min_of=() max_of=() choices_of=() may_inherit=() default_of=()
	nl params || die "no parameters: $nl_error"
	while IFS='|' read -r object name type access inherits min max default choices _; do
		key=$object/$name
		keys+=("$key")
		type_of[$key]=$type min_of[$key]=$min max_of[$key]=$max
		choices_of[$key]=$choices may_inherit[$key]=$inherits default_of[$key]=$default
		[ "$access" = ro ] || settable+=("$key")
	done < <(printf '%s\n' "${nl_out[@]}")
}

# values FRONT-END KEY...: fills own and force with what it shows of settings
values() {
	local front=$1

	shift
	declare -gA own=() force=()
	"values_$front" "$@"
}

values_sysfs() {
	local key

	for key; do
		read -r "own[$key]" < "$tune/$key"
		force[$key]=${own[$key]}
		[ "${may_inherit[$key]}" = - ] ||
			read -r "force[$key]" < "$tune/${key%/*}/in_force/${key##*/}"
	done
}

values_debugfs() {
	local key line lines object=''
	local -A shown=()

	for key; do
		if [ "$object" != "${key%/*}" ]; then
			object=${key%/*}
			mapfile -t lines < "$debug/$object/params"
			for line in "${lines[@]}"; do
				[[ $line =~ ^([a-z0-9_]+)\ +[^\ ]+\ \(([^\)]*)\) ]] || continue
				shown[$object/${BASH_REMATCH[1]}]=${BASH_REMATCH[2]}
			done
		fi
		read -r "own[$key]" < "$debug/$key"
		force[$key]=${shown[$key]:-${own[$key]}}
	done
}

values_netlink() {
	local key object name in_force value

	nl params || die "no parameters: $nl_error"
	while IFS='|' read -r object name _ _ _ _ _ _ _ in_force value; do
		own[$object/$name]=$value force[$object/$name]=$in_force
	done < <(printf '%s\n' "${nl_out[@]}")
}

# everything: all values, own and in force, as sysfs has them
everything() {
	grep -r '' "$tune" | sort
}

# put FRONT-END KEY VALUE: sets error to nothing or the name of the error
put() {
	local file message

	case $1 in
	netlink)
		nl set "${2%/*}:${2##*/}=$3" || true
		error=$nl_error
		return ;;
	sysfs) file=$tune/$2 ;;
	debugfs) file=$debug/$2 ;;
	module) file=$params/$2 ;;
	esac
	: > "$tmp/error"
	{ printf '%s\n' "$3" > "$file"; } 2> "$tmp/error"
	message=''
	read -r message < "$tmp/error"
	error_name "$message"
}

error_name() { # MESSAGE: sets error
	case $1 in
	*'Invalid argument') error=EINVAL ;;
	*'out of range') error=ERANGE ;;
	*'Device or resource busy') error=EBUSY ;;
	*'Operation not permitted') error=EPERM ;;
	*'Permission denied') error=EACCES ;;
	*'No such device') error=ENODEV ;;
	*) error=$1 ;;
	esac
}

# expect_ntf DESCRIPTION LINE...: these notifications have come since the last look,
# and no other
expect_ntf() {
	local what=$1 want

	shift
	printf -v want '%s\n' "$@"
	[ $# != 0 ] || want=''
	nl ntf || die "ntf: $nl_error"
	if [ "$(printf '%s\n' "${nl_out[@]}")" = "${want%$'\n'}" ]; then
		ok "$what"
	else
		not_ok "$what" "want: ${want:-none}"$'\n'"have: $(printf '%s\n' "${nl_out[@]}")"
	fi
}

# all_right DESCRIPTION [EXPRESSION]: there is nothing in bad, and as expect
all_right() {
	if [ -z "$bad" ]; then
		expect "$1" "${2:-1}"
	else
		not_ok "$1" "$bad"
	fi
}

# live CONTROLLER
live() {
	[ "$(cat "/sys/class/nvme/$1/state")" = live ]
}

# every_object: waits for all objects of the drives that the machine "standard" has
every_object() {
	controller one > /dev/null
	controller two > /dev/null
	controller four > /dev/null
	use two
	wait_for 30 "[ \$(echo $tune/nvme*/q*/qid | wc -w) = 7 ]" || die "objects are missing"
}
