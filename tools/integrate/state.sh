# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# The parts of integrate share their variables; "A && B || die" is no if-else.
# shellcheck disable=SC2154,SC2153,SC2034,SC2015
#
# What integrate remembers of a tree, in KDIR/.nvmetune/:
#
#   manifest   a line a file: new|mod, checksum as installed, of the kernel's
#              own copy, of the project's file ('-': none), path; and a line
#              a directory that was made: dir - - - path
#   orig/      the kernel's own copies of the files that were modified
#   hooks      status of each hook; key: what the hooks were computed from
#   version    of the kernel; options: --with-kunit or not
#   stage/     the next transaction while it is put together
#   journal/   the transaction once it is complete
#
# A transaction is prepared in stage/ and begins to count when that is renamed
# to journal/. Killed before: the next run throws stage/ away, the tree was not
# touched. Killed after: the next run goes on; each step is a rename that
# can be done again. Files of the tree are replaced by rename only.
#
# Relies on: KDIR, KVERSION, state, w, say, warn, die, sum.

declare -A M_KIND=() M_SUM=() M_ORIG=() M_SRC=() OLD_STATUS=()
declare -a M_DIRS=()
nr_written=0 nr_removed=0 staged=''

load_manifest() {
	local kind s orig src path

	M_KIND=() M_SUM=() M_ORIG=() M_SRC=() M_DIRS=()
	[[ -f $state/manifest ]] || return 0
	while read -r kind s orig src path; do
		if [[ $kind = dir ]]; then
			M_DIRS+=("$path")
			continue
		fi
		M_KIND[$path]=$kind
		M_SUM[$path]=$s
		M_ORIG[$path]=$orig
		M_SRC[$path]=$src
	done <"$state/manifest"
}

load_statuses() {
	local h status

	OLD_STATUS=()
	[[ -f $state/hooks ]] || return 0
	while read -r h status; do OLD_STATUS[$h]=$status; done <"$state/hooks"
}

# pristine PATH: where the kernel's own copy is; nothing for a file of ours
pristine() {
	case ${M_KIND[$1]:-} in
	new)	;;
	mod)	printf '%s' "$state/orig/$1" ;;
	*)	printf '%s' "$KDIR/$1" ;;
	esac
}

# Saved originals belong to one kernel: never put into another one.
refuse_other_version() {
	local old

	[[ -f $state/version ]] || return 0
	old=$(<"$state/version")
	[[ $old = "$KVERSION" ]] ||
		die "$KDIR was integrated as $old and is $KVERSION now: put a clean tree there (unpack again, or git checkout and git clean), remove $state and install again"
}

# A file that is as it was before integration, or one of ours that is gone,
# loses nothing when it is written again.
refuse_edits() {
	local path cur bad=''

	for path in "${!M_KIND[@]}"; do
		cur=$(sum_or_none "$KDIR/$path")
		[[ $cur != "${M_SUM[$path]}" && $cur != "${M_ORIG[$path]}" ]] || continue
		warn "$path: edited since it was integrated"
		bad=1
	done
	[[ ! $bad ]] || die "$KDIR was left as it is: take your changes out of the files named, or give --force to lose them"
}

mod_files_intact() {
	local path

	for path in "${!M_KIND[@]}"; do
		[[ ${M_KIND[$path]} = new || $(sum_or_none "$KDIR/$path") = "${M_SUM[$path]}" ]] || return 1
	done
}

copy_integrated() {
	local path

	for path in "${!M_KIND[@]}"; do
		[[ -f $KDIR/$path ]] || continue
		mkdir -p "$w/$(dirname "$path")" && cp -p "$KDIR/$path" "$w/$path"
	done
}

begin_stage() {
	stage=$state/stage
	mkdir -p "$stage/new" "$stage/state" "$stage/orig" || die "cannot write to $KDIR"
	printf '%s\n' "$1" >"$stage/kind"
	: >"$stage/plan"
}

# plan_write PATH FROM
plan_write() {
	mkdir -p "$stage/new/$(dirname "$1")" && cp -p "$2" "$stage/new/$1" ||
		die "cannot write to $stage: disk full?"
	printf 'write %s %s %s\n' "$(sum_or_none "$KDIR/$1")" "$(sum "$2")" "$1" >>"$stage/plan"
}

plan_remove() {
	[[ -e $KDIR/$1 ]] || return 0
	printf 'remove %s - %s\n' "$(sum_or_none "$KDIR/$1")" "$1" >>"$stage/plan"
}

# Directories that will be made, so that revert knows which to remove
new_dirs() {
	local path dir

	printf '%s\n' "${M_DIRS[@]}"
	for path in "${!NEW[@]}"; do
		dir=$(dirname "$path")
		while [[ $dir != . && ! -d $KDIR/$dir ]]; do
			printf '%s\n' "$dir"
			dir=$(dirname "$dir")
		done
	done
}

# Compares the scratch tree with KDIR. Sets staged where anything is to do.
stage_install() {
	local path cur orig src kind dir h

	begin_stage install
	while IFS= read -r path; do
		orig=$(pristine "$path")
		if [[ ${NEW[$path]:-} ]]; then
			kind='new' src=$(sum "${NEW[$path]}") orig=-
		else
			! cmp -s "$w/$path" "$orig" || continue
			kind='mod' src=-
			if [[ ${M_KIND[$path]:-} != mod ]]; then
				mkdir -p "$stage/orig/$(dirname "$path")" && cp -p "$orig" "$stage/orig/$path" ||
					die "cannot write to $stage: disk full?"
			fi
			orig=$(sum "$orig")
		fi
		cur=$(sum "$w/$path")
		printf '%s %s %s %s %s\n' "$kind" "$cur" "$orig" "$src" "$path" >>"$stage/state/manifest"
		[[ $(sum_or_none "$KDIR/$path") = "$cur" ]] || plan_write "$path" "$w/$path"
	done < <(cd "$w" && find . -type f -printf '%P\n' | sort)
	for path in "${!M_KIND[@]}"; do
		! grep -qxE "[^ ]+ [^ ]+ [^ ]+ [^ ]+ ${path//./\\.}" "$stage/state/manifest" || continue
		if [[ ${M_KIND[$path]} = new ]]; then plan_remove "$path"
		elif ! cmp -s "$KDIR/$path" "$state/orig/$path"; then plan_write "$path" "$state/orig/$path"; fi
	done
	while IFS= read -r dir; do
		[[ ! $dir ]] || printf 'dir - - - %s\n' "$dir" >>"$stage/state/manifest"
	done < <(new_dirs | sort -u)
	for h in "${HOOKS[@]}"; do printf '%s %s\n' "$h" "${STATUS[$h]}"; done >"$stage/state/hooks"
	printf '%s\n' "$key" >"$stage/state/key"
	printf '%s\n' "$KVERSION" >"$stage/state/version"
	printf '%s\n' "$with_kunit" >"$stage/state/options"

	if [[ -s $stage/plan ]] || ! same_state; then
		staged=1
	else
		rm -rf "$stage"
	fi
}

same_state() {
	local f

	for f in manifest hooks key version options; do
		cmp -s "$stage/state/$f" "$state/$f" || return 1
	done
}

stage_revert() {
	local path

	begin_stage revert
	for path in "${!M_KIND[@]}"; do
		if [[ ${M_KIND[$path]} = new ]]; then plan_remove "$path"
		elif ! cmp -s "$KDIR/$path" "$state/orig/$path"; then plan_write "$path" "$state/orig/$path"; fi
	done
	printf '%s\n' "${M_DIRS[@]}" | sort -r >"$stage/dirs"
}

# Carries out the transaction in stage/, or the rest of the one in journal/.
replay() {
	local what before after path cur dir journal=$state/journal

	[[ -d $journal ]] || mv -T "$stage" "$journal" || die "cannot write to $state"
	# First look at all, then touch: somebody may have edited in between.
	while read -r what before after path; do
		cur=$(sum_or_none "$KDIR/$path")
		[[ $cur = "$before" || $cur = "$after" || $force ]] ||
			die "$path: edited since the integration was interrupted: take your change out, or give --force to lose it"
	done <"$journal/plan"

	while IFS= read -r path; do
		mkdir -p "$state/orig/$(dirname "$path")" &&
			mv -fT "$journal/orig/$path" "$state/orig/$path" || die "cannot write to $state"
	done < <(find "$journal/orig" -type f -printf '%P\n')

	while read -r what before after path; do
		if [[ $what = remove ]]; then
			rm -f "$KDIR/$path" || die "cannot remove $path: run the same command again"
			nr_removed=$((nr_removed + 1))
		elif [[ -f $journal/new/$path ]]; then
			# make must see restored files as changed too.
			touch "$journal/new/$path"
			mkdir -p "$KDIR/$(dirname "$path")" &&
				mv -fT "$journal/new/$path" "$KDIR/$path" ||
				die "cannot write $path: mend that and run the same command again"
			nr_written=$((nr_written + 1))
		fi
	done <"$journal/plan"

	if [[ $(<"$journal/kind") = revert ]]; then
		while IFS= read -r dir; do
			[[ ! $dir || ! -d $KDIR/$dir ]] || rmdir --ignore-fail-on-non-empty "$KDIR/$dir"
		done <"$journal/dirs"
		mv -T "$state" "$state.trash" && rm -rf "$state.trash"
		return
	fi
	prune_dirs
	# The manifest last: it is what makes the rest count.
	for path in hooks key version options manifest; do
		[[ ! -f $journal/state/$path ]] || mv -fT "$journal/state/$path" "$state/$path"
	done
	load_manifest
	while IFS= read -r path; do
		[[ ${M_KIND[$path]:-} = mod ]] || rm -f "$state/orig/$path"
	done < <(find "$state/orig" -type f -printf '%P\n' 2>/dev/null)
	mv -T "$journal" "$state/trash" && rm -rf "$state/trash"
}

# Removes directories of ours that the files removed have left empty.
prune_dirs() {
	local path dir

	while IFS= read -r path; do
		dir=$(dirname "$path")
		while [[ $dir != . ]] && printf '%s\n' "${M_DIRS[@]}" | grep -qxF -e "$dir"; do
			[[ ! -d $KDIR/$dir ]] || rmdir "$KDIR/$dir" 2>/dev/null || break
			dir=$(dirname "$dir")
		done
	done < <(sed -n 's/^remove [^ ]* - //p' "$state/journal/plan")
}

recover() {
	rm -rf "$state.trash" "$state/trash" "$state/stage"
	if [[ -d $state/journal ]]; then
		load_manifest
		warn "$KDIR: the last run was interrupted ($(<"$state/journal/kind")): completing it"
		replay
		nr_written=0 nr_removed=0
	elif [[ -d $state && ! -f $state/manifest ]]; then
		# Killed before its first transaction counted: nothing is in it.
		rmdir "$state" 2>/dev/null ||
			die "$state has lost its manifest: put a clean tree there, remove $state and install again"
	fi
}
