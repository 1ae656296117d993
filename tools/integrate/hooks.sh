# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# The parts of integrate share their variables; "A && B || die" is no if-else.
# shellcheck disable=SC2154,SC2034,SC2015
#
# Applies kbuild lines and hooks in the scratch tree $w, and proves that they
# did what they say. spatch reports success for nearly everything it did not
# do, so nothing here trusts its exit status alone.
#
# Header lines of a hook:
#   // EXPECT <file> <lines> <fixed string>   lines of <file> that hold <string>
#                                             afterwards; 0: none may be left
#   // PROVIDED <file> <fixed string>         the kernel has it: not needed
#   // REQUIRES <file> [<fixed string>]       the kernel lacks it: not needed
#   // UNPARSED <file> <fixed string>         spatch cannot parse the definition
#                                             that holds it, nor need it
# and of <hook>.check.cocci:
#   // PLACE <n>                              places its '*' rules find in all
#
# Relies on: project.sh, state.sh (pristine), KDIR, w, tmp, with_kunit.

declare -A STATUS=()
declare -A PARSED=()
declare -A LAST_HOOK=()	# file -> the hook that changed it last
after_step=:	# called with the name of each step done; the series commits there

directive() { sed -n "s|^// $1 ||p" "$project/$2"; }
hook_files() { directive EXPECT "$1" | awk '!seen[$1]++ { print $1 }'; }

# fetch PATH: puts the kernel's own copy into the scratch tree, if not there yet
fetch() {
	local from

	[[ ! -f $w/$1 ]] || return 0
	from=$(pristine "$1")
	[[ -f $from ]] || return 1
	mkdir -p "$w/$(dirname "$1")" && cp -p "$from" "$w/$1"
}

# count STRING FILE: lines with it
count() { grep -cF -e "$1" -- "$2" || true; }

# Sets why, and fails, where the EXPECT lines of hook $1 do not hold in $w.
expect_holds() {
	local file want text n

	while read -r file want text; do
		n=$(count "$text" "$w/$file")
		[[ $n -ne $want ]] || continue
		why="$file: $n lines instead of $want hold: $text"
		return 1
	done < <(directive EXPECT "$1")
}

# Strings that a hook adds must not be there before: the tree was patched by
# other means, or in part.
expect_absent() {
	local file want text

	while read -r file want text; do
		[[ $want -gt 0 && $(count "$text" "$w/$file") -gt 0 ]] || continue
		why="$file: half patched tree, it has already: $text (restore the file, or use an unpacked tree that has no series applied)"
		return 1
	done < <(directive EXPECT "$1")
}

# What spatch cannot parse is what the hook says, all of that and nothing else.
unparsed_as_said() { # OUTPUT FILE HOOK
	local file text n=0

	while read -r file text; do
		[[ $file = "$2" ]] || continue
		grep -aF -e "$text" <<<"$1" | grep -qai '^bad:' || return 1
		n=$((n + 1))
	done < <(directive UNPARSED "$3")
	[[ $n -gt 0 && $(grep -ac '^BAD:!' <<<"$1") -eq $n ]]
}

# The same content is looked at once: it is before for one hook what it was
# after for another.
parses_whole() { # FILE WHEN HOOK
	local out s

	s=$(sum "$w/$1")
	[[ ! ${PARSED[$s]:-} ]] || return 0
	out=$(HOME=$tmp spatch --parse-c "$w/$1" 2>&1)
	if [[ $out = *'nb bad = 0 '* ]] || unparsed_as_said "$out" "$1" "$3"; then
		PARSED[$s]=1
		return 0
	fi
	why="$1: spatch cannot parse all of it $2: $(grep -a '^BAD' <<<"$out" | head -3)"
	return 1
}

# spatch_log FILE: sets why where spatch went on after skipping code
spatch_skipped() {
	local line

	line=$(grep -aE "^(FLOW: can't|EXN|ERROR|Fatal|([^ +-].*)?(already tagged|[Ee]xception|timeout))" "$1" | head -1)
	[[ $line ]] || return 1
	why="spatch skipped code: $line"
}

run_spatch() {
	local sp=$1 log=$2 out=$3
	shift 3
	# HOME: a .cocciconfig there would add options. Without smpl-spacing, the { of
	# an added function lands behind its parameters.
	(cd "$w" && HOME=$tmp spatch --debug --no-includes --smpl-spacing --timeout 120 "${in_place[@]}" \
		--sp-file "$sp" "$@") >"$out" 2>"$log" 9<&- ||
		{ why="spatch failed: $(grep -avE '^(-+)?$' "$log" | tail -3 | tr '\n' ' ')"; return 1; }
	cat "$out" >>"$log"
	! spatch_skipped "$log"
}

# Each rule of the check file must find a place, all together as many as PLACE
# says: a call in the wrong function then shows, though the counts are right.
placed() {
	local check=${1%.cocci}.check.cocci want got missed files
	local in_place=()

	[[ -f $project/$check ]] || return 0
	want=$(directive PLACE "$check")
	want=${want%%[!0-9]*}
	[[ $want ]] || { why="$check: no line '// PLACE <number>'"; return 1; }
	mapfile -t files < <(hook_files "$1")
	run_spatch "$project/$check" "$tmp/place.log" "$tmp/place" "${files[@]}" || return 1
	missed=$(awk '/ = $/ { rule = $0; sub(/ = $/, "", rule); n[rule] += 0 }
		/with rule_elem: / { n[rule]++ }
		END { for (r in n) if (!n[r]) print r }' "$tmp/place" | sort | head -3 | paste -sd, -)
	[[ -z $missed ]] || { why="misplaced: $check finds no place for: $missed"; return 1; }
	# The diff follows the log; '---' starts its headers and spatch's rulers.
	got=$(sed '1,/^Finished$/d' "$tmp/place" | grep -cE '^-($|[^-]|-[^-])' || true)
	[[ $got -eq $want ]] || { why="misplaced: $check finds $got places instead of $want"; return 1; }
}

# Of tabs that an added line starts with inside a statement, spatch makes a blank each.
# Such lines are written with blanks in hooks, and get their tabs here.
retab() { # BEFORE FILE
	local out=$tmp/retab

	diff --unchanged-line-format='%L' --old-line-format='' --new-line-format=$'\001%L' "$1" "$2" |
		awk '{ added = sub(/^\001/, "") }
			added { for (tabs = ""; sub(/^        /, ""); ) tabs = tabs "\t"; $0 = tabs $0 }
			{ print }' >"$out"
	cat "$out" >"$2"
}

verify_hook() {
	local f

	expect_holds "$1" || return 1
	while IFS= read -r f; do
		parses_whole "$f" afterwards "$1" || return 1
	done < <(hook_files "$1")
	placed "$1"
}

# Why hook $1 is not needed, or nothing
not_needed() {
	local file text from

	while read -r file text; do
		from=$(pristine "$file")
		[[ -e $from ]] || { printf 'kernel has no %s' "$file"; return; }
		[[ -z $text ]] || grep -qF -e "$text" -- "$from" ||
			{ printf 'kernel has not in %s: %s' "$file" "$text"; return; }
	done < <(directive REQUIRES "$1")
	while read -r file text; do
		from=$(pristine "$file")
		[[ -f $from ]] && grep -qF -e "$text" -- "$from" || continue
		printf 'kernel has in %s: %s' "$file" "$text"
		return
	done < <(directive PROVIDED "$1")
}

apply_hook() {
	local h=$1 f files blank
	local in_place=(--in-place)

	mapfile -t files < <(hook_files "$h")
	[[ ${#files[@]} -gt 0 ]] || { why="$h: no line '// EXPECT <file> <lines> <string>'"; return 1; }
	if directive EXPECT "$h" | grep -qvE '^[^ ]+ [0-9]+ .'; then
		why="$h: an EXPECT line is not '// EXPECT <file> <lines> <string>'"
		return 1
	fi
	for f in "${files[@]}"; do
		fetch "$f" || { why="the kernel has no $f"; return 1; }
		parses_whole "$f" before "$h" || return 1
	done
	expect_absent "$h" || return 1
	rm -rf "$tmp/before"
	for f in "${files[@]}"; do
		mkdir -p "$tmp/before/$(dirname "$f")"
		cp -p "$w/$f" "$tmp/before/$f"
	done
	run_spatch "$project/$h" "$tmp/log" "$tmp/out" "${files[@]}" || return 1
	for f in "${files[@]}"; do
		chmod --reference="$tmp/before/$f" "$w/$f"
		retab "$tmp/before/$f" "$w/$f"
		# A blank line added after a brace-less if gets a stray tab.
		blank=$(diff "$tmp/before/$f" "$w/$f" | grep -nE '^> .*[ 	]$' | head -1)
		[[ -z $blank ]] || { why="$f: stray blanks at the end of an added line: ${blank#*> }"; return 1; }
	done
	verify_hook "$h" || return 1
	for f in "${files[@]}"; do LAST_HOOK[$f]=$h; done
}

# Leaves the scratch tree as it was where the hook failed, so that the others
# are still reported.
apply_or_undo() {
	local f

	rm -rf "$tmp/before"
	why=
	apply_hook "$1" && return 0
	if [[ -d $tmp/before ]]; then
		while IFS= read -r f; do
			[[ ! -f $tmp/before/$f ]] || cp -p "$tmp/before/$f" "$w/$f"
		done < <(hook_files "$1")
	fi
	return 1
}

# Appended at the end, where neither a kernel's own changes nor the order of
# the lines can get in the way.
apply_kbuild() {
	local i file line

	for i in "${!KB_FILE[@]}"; do
		file=${KB_FILE[i]} line=${KB_LINE[i]}
		# A file taken over from the integrated tree has its lines already.
		[[ ! ${KEPT[$file]:-} ]] || continue
		if ! fetch "$file"; then
			warn "kbuild line for $file: the kernel has no such file"
			return 1
		fi
		if grep -qxF -e "$line" -- "$w/$file"; then
			warn "$file: half patched tree, it has already: $line"
			return 1
		fi
		[[ -z $(tail -c1 "$w/$file") ]] || echo >>"$w/$file"
		printf '%s\n' "$line" >>"$w/$file"
	done
}

copy_new() {
	local path

	for path in "${!NEW[@]}"; do
		if [[ -e $(pristine "$path") ]]; then
			warn "$path: the kernel has a file of this name that integrate did not install: not overwritten"
			return 1
		fi
		mkdir -p "$w/$(dirname "$path")"
		cp "${NEW[$path]}" "$w/$path" || return 1
	done
}

# All that decides what hooks and kbuild lines make of the kernel's files
hooks_key() {
	local h file

	{
		printf '%s\n' "$KVERSION" "${KB_FILE[@]/%/ k}" "${KB_LINE[@]}"
		cat "$here/hooks.sh"
		for h in "${HOOKS[@]}"; do
			printf 'hook %s\n' "$h"
			cat "$project/$h"
			[[ ! -f $project/${h%.cocci}.check.cocci ]] || cat "$project/${h%.cocci}.check.cocci"
			while read -r file; do
				printf '%s %s\n' "$file" "$(sum_or_none "$(pristine "$file")")"
			done < <(sed -nE 's,^// (EXPECT|PROVIDED|REQUIRES|UNPARSED) ([^ ]+).*,\2,p' "$project/$h")
		done
		for file in "${KB_FILE[@]}"; do
			printf '%s %s\n' "$file" "$(sum_or_none "$(pristine "$file")")"
		done
	} | sha256sum | cut -d' ' -f1
}

# Compares with kernels/<version>/hooks, so that a hook which a kernel update
# turned into "not needed" does not go unnoticed.
compare_expected() {
	local list h status bad=''
	local -A expected=()

	list=$project/kernels/$(cut -d. -f1,2 <<<"$KVERSION")/hooks
	[[ -f $list ]] || return 0
	while read -r h status; do
		[[ $h != kunit/* || $with_kunit ]] || continue
		expected[$h]=$status
		[[ ${STATUS[$h]:-} ]] || { warn "${list#"$project"/} names $h, which is no hook"; bad=1; }
	done < <(lines "$list")
	for h in "${HOOKS[@]}"; do
		status=${STATUS[$h]%%:*}
		[[ ${expected[$h]:-} != "$status" && $status != FAILED ]] || continue
		warn "$h: $status, but ${list#"$project"/} says: ${expected[$h]:-nothing}"
		bad=1
	done
	[[ ! $bad ]]
}

# Whether a later hook has changed a file of hook $1
disturbed() {
	local f

	while IFS= read -r f; do
		[[ ${LAST_HOOK[$f]} = "$1" ]] || return 0
	done < <(hook_files "$1")
	return 1
}

# Fills the scratch tree with everything as it shall be.
compute() {
	local h path ok=1 reuse=''

	[[ ${#NEW[@]} -gt 0 || ${#HOOKS[@]} -gt 0 ]] || { warn "the project lists no files and has no hooks"; return 1; }
	command -v spatch >/dev/null || { warn "spatch is missing: run make setup, or install coccinelle"; return 1; }
	key=$(hooks_key)
	declare -gA KEPT=()
	copy_new || return 1
	if mod_files_intact && [[ $after_step = : && $key = "$(cat "$state/key" 2>/dev/null)" ]]; then
		reuse=1
		load_statuses
		for path in "${!M_KIND[@]}"; do
			[[ ${M_KIND[$path]} = mod ]] || continue
			KEPT[$path]=1
			mkdir -p "$w/$(dirname "$path")" && cp -p "$KDIR/$path" "$w/$path"
		done
	fi
	apply_kbuild || return 1
	$after_step new
	for h in "${HOOKS[@]}"; do
		if [[ $reuse ]]; then
			STATUS[$h]=${OLD_STATUS[$h]}
			say "$h: ${STATUS[$h]/#applied/already applied}"
			continue
		fi
		why=$(not_needed "$h")
		if [[ $why ]]; then
			STATUS[$h]="not needed: $why"
		elif apply_or_undo "$h"; then
			STATUS[$h]=applied
			$after_step "$h"
		else
			STATUS[$h]="FAILED: $why"
			ok=
		fi
		say "$h: ${STATUS[$h]}"
	done
	compare_expected || ok=
	[[ $ok ]] || return 1
	[[ ! $reuse ]] || return 0
	for h in "${HOOKS[@]}"; do
		[[ ${STATUS[$h]} = applied ]] && disturbed "$h" || continue
		verify_hook "$h" ||
			{ warn "$h: does not hold any more after the later hooks: $why"; return 1; }
	done
}
