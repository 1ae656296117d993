# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# The parts of integrate share their variables; "A && B || die" is no if-else.
# shellcheck disable=SC2154,SC2034,SC2015
#
# The change to a tree as a git format-patch series: one commit for the new
# files with their kbuild lines, then one a hook. The repository it is made in
# holds the touched files only and is thrown away.
#
# Relies on: hooks.sh (after_step), state.sh, project.sh.

# The user's git configuration must not leak into the patches.
series_git() {
	GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null \
	GIT_DIR=$tmp/git GIT_WORK_TREE=$w \
	GIT_AUTHOR_NAME='nvmetune developers' GIT_AUTHOR_EMAIL='nvmetune@localhost' \
	GIT_COMMITTER_NAME='nvmetune developers' GIT_COMMITTER_EMAIL='nvmetune@localhost' \
	GIT_AUTHOR_DATE="$series_date" GIT_COMMITTER_DATE="$series_date" \
		git "$@"
}

series_commit() {
	series_git add -A -f . && series_git commit -q --allow-empty -F - ||
		die "git could not make the series"
}

# The comment that a hook starts with is its description: the first line the
# subject, which gets the directory before it, the rest the body.
hook_message() {
	local dir=${1%/*}

	sed -nE '/^\/\/ ?(EXPECT|PROVIDED|REQUIRES|UNPARSED|SPDX)/d; /^\/\//!q; s,^// ?,,p' "$project/$1" |
		awk -v h="$1" -v dir="${dir#drivers/}" '
			NR == 1 { sub(/^Hook[^:]*: /, ""); sub(/\.$/, ""); print dir ": " $0 "\n"; next }
			NF { print gap $0; gap = ""; body = 1; next }
			body { gap = gap "\n" }
			END { if (!NR) print dir ": hook\n"
			      if (body) print ""
			      print "Made from the semantic patch " h "." }'
}

# Called by compute() after each step, with the scratch tree as of then.
series_step() {
	local path

	if [[ $1 = new ]]; then
		# The kernel's own copies of all that is touched come first, under
		# what copy_new and apply_kbuild have made of them.
		series_base
		series_commit <<-M
			nvmetune: add the new files and their kbuild lines

			Nothing calls them yet; the patches that follow do.
		M
	else
		series_commit < <(hook_message "$1")
	fi
}

series_base() {
	local path now=$tmp/now

	mv "$w" "$now" && mkdir "$w"
	while IFS= read -r path; do
		[[ ${NEW[$path]:-} ]] || fetch "$path"
	done < <( (cd "$now" && find . -type f -printf '%P\n')
		for path in "${HOOKS[@]}"; do hook_files "$path"; done)
	series_commit <<<'base'
	series_git tag base
	cp -rpT "$now" "$w"
}

cmd_series() {
	local out=$1

	[[ ! -e $state/journal ]] ||
		die "$KDIR: an integration was interrupted: run install or revert first"
	load_manifest
	refuse_other_version
	make_scratch
	series_date=$(git -C "$project" log -1 --format=%cI 2>/dev/null)
	[[ $series_date ]] || series_date=$(date -Is)
	mkdir -p "$out" || die "cannot make $out"
	out=$(realpath "$out")
	series_git init -q
	after_step=series_step
	compute || die "no series was made"
	rm -f "$out"/*.patch
	series_git format-patch -q --zero-commit --no-signature -n -o "$out" base..HEAD ||
		die "git format-patch failed"
	say "$(find "$out" -name '*.patch' | wc -l) patches for $KVERSION in $out"
}
