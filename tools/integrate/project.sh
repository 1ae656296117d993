# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# The parts of integrate share their variables; "A && B || die" is no if-else.
# shellcheck disable=SC2154,SC2034,SC2015
#
# What the project wants in the tree: NEW (path -> file of the project),
# KB_FILE/KB_LINE (kbuild lines), HOOKS (paths of semantic patches).
# Relies on: project, with_kunit, die, warn.

# Directories of a kernel tree in which everything the project has is meant for
# the kernel. tools/ and Documentation/ hold the project's own matters too.
KERNEL_DIRS=(arch block crypto drivers fs include init io_uring ipc kernel lib mm net security sound virt)

declare -A NEW=()
declare -a KB_FILE=() KB_LINE=() HOOKS=()

# lines FILE: its lines without comments and empty ones; none if it is missing
lines() {
	[[ ! -f $1 ]] || grep -vE '^[[:space:]]*(#|$)' "$1" || true
}

load_files() {
	local list=$1 prefix=$2 line path

	while IFS= read -r line; do
		path=${line#"$prefix"}
		[[ $line = "$prefix"* ]] ||
			die "${list#"$project"/}: $line does not start with $prefix"
		[[ $path != /* && /$path/ != */../* && $path != *[[:space:]]* ]] ||
			die "${list#"$project"/}: '$path' is no path in a kernel tree"
		[[ -f $project/$line ]] ||
			die "${list#"$project"/} lists $line, which the project does not have: add the file or drop the line"
		[[ ! ${NEW[$path]:-} ]] || die "${list#"$project"/}: $path is listed twice"
		NEW[$path]=$project/$line
	done < <(lines "$list")
}

load_kbuild() {
	local line

	while IFS= read -r line; do
		[[ $line = *' '* ]] || die "${1#"$project"/}: '$line' is not '<file> <line>'"
		KB_FILE+=("${line%% *}")
		KB_LINE+=("${line#* }")
	done < <(lines "$1")
}

# Finds the hooks, which are taken unless the third argument is empty. A file that is
# forgotten in the list would be missed only in a kernel build. Dot files and editors'
# backups are nobody's business.
take_hooks() {
	local root=$1 list=$2 hooks=$3 path dir bad='' dirs=()
	local -A listed=()

	for dir in "${KERNEL_DIRS[@]}"; do
		[[ ! -d $project/$root$dir ]] || dirs+=("$root$dir")
	done
	[[ ${#dirs[@]} -gt 0 ]] || return 0
	while IFS= read -r path; do listed[$path]=1; done < <(lines "$list")
	while IFS= read -r path; do
		[[ ! ${listed[$path]:-} ]] || continue
		if [[ $path = *.check.cocci ]]; then
			[[ -f $project/${path%.check.cocci}.cocci ]] ||
				die "$path: there is no hook ${path%.check.cocci}.cocci that it could check"
		elif [[ $path = *.cocci ]]; then
			[[ ! $hooks ]] || HOOKS+=("$path")
		else
			warn "$path: neither a hook nor listed in ${list#"$project"/}"
			bad=1
		fi
	done < <(cd "$project" && find "${dirs[@]}" -name '.*' -prune -o -type f ! -name '*~' -print | sort)
	[[ ! $bad ]] || die "list the files above or remove them"
}

load_project() {
	local dir=$project/tools/integrate

	load_files "$dir/files" ''
	load_kbuild "$dir/kbuild.hooks"
	take_hooks '' "$dir/files" hooks
	take_hooks kunit/ "$dir/files.kunit" "$with_kunit"
	[[ $with_kunit ]] || return 0
	load_files "$dir/files.kunit" kunit/
	load_kbuild "$dir/kbuild.kunit.hooks"
}
