#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests of integrate over made-up kernel trees and hooks in a temporary
# directory. Prints "ok" or "not ok" a test and "N passed, N failed" last.

set -u
export LC_ALL=C
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
top=$(mktemp -d) || exit 1
trap 'rm -rf "$top"' EXIT
passed=0 failed=0

ok() { passed=$((passed + 1)); echo "ok $((passed + failed)) - $1"; }
not_ok() {
	failed=$((failed + 1))
	echo "not ok $((passed + failed)) - $1"
	sed 's/^/#   /' "$top/out"
}
# is NAME COMMAND...: one test
is() {
	local name=$1
	shift
	if "$@"; then ok "$name"; else not_ok "$name"; fi
}

integrate() { "$here/integrate" --project "$P" "$@" >"$top/out" 2>&1; }
exits() {
	local want=$1
	shift
	integrate "$@"
	[[ $? -eq $want ]]
}
said() { grep -qF -e "$1" "$top/out"; }
# content and names of a tree, without integrate's own state
content() { (cd "$1" && find . -name .nvmetune -prune -o -print -type f -exec sha256sum {} + | sort); }
times() { (cd "$1" && find . -type f -printf '%p %T@ %i\n' | sort); }
same_tree() { [[ $(content "$1") = "$(content "$2")" ]]; }
pristine() { same_tree "$K" "$top/pristine" && [[ ! -e $K/.nvmetune ]]; }

kernel_tree() {
	local k=$1

	mkdir -p "$k/drivers/a" "$k/mm"
	printf 'VERSION = 9\nPATCHLEVEL = 8\nSUBLEVEL = 7\nEXTRAVERSION = -rc1\n' >"$k/Makefile"
	cat >"$k/drivers/a/a.c" <<-'C'
		#include "a.h"

		struct queue {
			int depth;
		};

		static int finish(struct queue *q, int n)
		{
			return n;
		}

		int handle(struct queue *q, int n)
		{
			if (n < 0)
				goto out;
			complete_all(q);
		out:
			return finish(q, n);
		}

		void suspend(struct queue *q)
		{
			stop(q);
		}
	C
	printf 'obj-y += a.o' >"$k/drivers/a/Makefile"	# no newline at the end
	# words that spatch's own messages have, too
	printf 'int pool(int n)\n{\n\t/* no timeout, no Exception */\n\treturn n;\n}\n' >"$k/mm/pool.c"
	chmod 755 "$k/mm/pool.c"
}

new_project() {
	P=$top/project
	rm -rf "$P"
	mkdir -p "$P/tools/integrate" "$P/drivers/a" "$P/drivers/own/sub" "$P/mm" "$P/kunit/drivers/a/tests"
	echo '/* ours */' >"$P/drivers/a/ours.h"
	echo 'int own;' >"$P/drivers/own/sub/own.c"
	echo 'int test;' >"$P/kunit/drivers/a/tests/a-test.c"
	printf '%s\n' '# a comment' drivers/a/ours.h drivers/own/sub/own.c >"$P/tools/integrate/files"
	printf '%s\n' kunit/drivers/a/tests/a-test.c >"$P/tools/integrate/files.kunit"
	# shellcheck disable=SC2016 # the dollar is make's
	printf '%s\n' 'drivers/a/Makefile obj-$(CONFIG_OWN) += own.o' >"$P/tools/integrate/kbuild.hooks"
	printf '%s\n' 'drivers/a/Makefile obj-y += tests/a-test.o' >"$P/tools/integrate/kbuild.kunit.hooks"
	cat >"$P/drivers/a/a-one.cocci" <<-'C'
		// Completions are deferred.
		// The worker does the rest.
		// EXPECT drivers/a/a.c 1 #include "ours.h"
		// EXPECT drivers/a/a.c 1 defer_all(
		// EXPECT drivers/a/a.c 0 complete_all(
		// EXPECT drivers/a/a.c 1 flush(q);
		@@
		@@
		 #include "a.h"
		+#include "ours.h"

		@@
		expression E;
		@@
		-complete_all(E)
		+defer_all(E)

		@@
		identifier q;
		@@
		 suspend(struct queue *q)
		 {
		 	...
		 	stop(q);
		+	flush(q);
		 }
	C
	cat >"$P/drivers/a/a-one.check.cocci" <<-'C'
		// PLACE 2
		@handle@
		@@
		 handle(...)
		 {
		 	<+...
		*	defer_all(...)
		 	...+>
		 }
		@suspend@
		@@
		 suspend(...)
		 {
		 	<+...
		*	flush(...)
		 	...+>
		 }
	C
	pool_hook 'return n + 1;'
}

# The second hook; its text is what tests change.
pool_hook() {
	cat >"$P/mm/pool.cocci" <<-C
		// EXPECT mm/pool.c 1 $1
		@@
		identifier n;
		@@
		 pool(int n)
		 {
		-	return n;
		+	$1
		 }
	C
}

fresh() {
	new_project
	K=$top/kernel
	rm -rf "$K" "$top/pristine"
	kernel_tree "$K"
	cp -a "$K" "$top/pristine"
}

# --- use as intended

fresh
is 'help' exits 0 --help
is 'no command is wrong usage' exits 1
is 'unknown command is wrong usage' exits 1 mend "$K"
is 'missing directory is refused' exits 2 install "$top/nowhere"
is 'a directory that is no kernel is refused' exits 2 install "$P"
is 'revert of a pristine tree does nothing' exits 0 revert "$K"
is 'check of a pristine tree fails' exits 2 check "$K"
is 'install' exits 0 install "$K"
is 'install reports each hook' said 'mm/pool.cocci: applied'
is 'new file is there' cmp -s "$P/drivers/own/sub/own.c" "$K/drivers/own/sub/own.c"
is 'kunit overlay is not' test ! -e "$K/drivers/a/tests"
is 'kbuild line follows a file without a last newline' \
	[ "$(cat "$K/drivers/a/Makefile")" = "$(printf 'obj-y += a.o\nobj-%s += own.o' "\$(CONFIG_OWN)")" ]
is 'mode is kept' test -x "$K/mm/pool.c"
is 'check' exits 0 check "$K"
before=$(times "$K")
is 'second install' exits 0 install "$K"
is 'second install says so' said 'mm/pool.cocci: already applied'
is 'second install touches nothing' [ "$before" = "$(times "$K")" ]

sleep 0.02
echo '/* changed */' >>"$P/drivers/a/ours.h"
is 'check sees a changed project file' exits 2 check "$K"
before=$(times "$K" | grep -v -e '\.nvmetune' -e ours.h)
is 'install after a change of a project file' exits 0 install "$K"
is 'it is the only file written' [ "$before" = "$(times "$K" | grep -v -e '\.nvmetune' -e ours.h)" ]
is 'and is as in the project' cmp -s "$P/drivers/a/ours.h" "$K/drivers/a/ours.h"

pool_hook 'return n + 2;'
is 'check sees a changed hook' exits 2 check "$K"
before=$(times "$K" | grep -v -e '\.nvmetune' -e pool.c)
is 'install after a change of a hook' exits 0 install "$K"
is 'the hook starts from the original' grep -q 'return n + 2;' "$K/mm/pool.c"
is 'no other file is written' [ "$before" = "$(times "$K" | grep -v -e '\.nvmetune' -e pool.c)" ]

is 'install --with-kunit' exits 0 install "$K" --with-kunit
is 'kunit overlay is there' cmp -s "$P/kunit/drivers/a/tests/a-test.c" "$K/drivers/a/tests/a-test.c"
is 'check knows of kunit' exits 0 check "$K"
is 'install without kunit takes it out' exits 0 install "$K"
is 'with its directory' test ! -e "$K/drivers/a/tests"

rm "$P/mm/pool.cocci"
is 'install after a hook is gone' exits 0 install "$K"
is 'restores its file' cmp -s "$K/mm/pool.c" "$top/pristine/mm/pool.c"
is 'revert' exits 0 revert "$K"
is 'revert restores the tree exactly' pristine

# --- refusals

fresh
echo 'int kernels_own;' >"$K/drivers/a/ours.h"
cp -a "$K/drivers/a/ours.h" "$top/pristine/drivers/a/"
is 'a file of the kernel is not overwritten' exits 2 install "$K"
is 'it is named' said 'drivers/a/ours.h: the kernel has a file'
is 'and nothing is written' pristine

fresh
rm "$P/drivers/own/sub/own.c"
is 'a listed file that is missing is refused' exits 2 install "$K"
fresh
echo 'int x;' >"$P/drivers/own/forgotten.c"
is 'a file that is not listed is refused' exits 2 install "$K"
is 'it is named' said drivers/own/forgotten.c
fresh
echo drivers/../../etc/x >>"$P/tools/integrate/files"
is 'a path out of the tree is refused' exits 2 install "$K"

# failing NAME MESSAGE: the second hook fails, the first must not stay
failing() {
	is "$1: refused" exits 2 install "$K"
	is "$1: says why" said "$2"
	is "$1: first hook rolled back" pristine
}

fresh
sed -i 's/pool(int n)/pond(int n)/' "$P/mm/pool.cocci"
failing 'hook that matches nothing' 'mm/pool.cocci: FAILED: mm/pool.c: 0 lines instead of 1'
fresh
sed -i 's/EXPECT mm.pool.c 1/EXPECT mm\/pool.c 2/' "$P/mm/pool.cocci"
failing 'wrong count' 'FAILED: mm/pool.c: 1 lines instead of 2'
fresh
echo '// EXPECT mm/none.c 1 x' >>"$P/mm/pool.cocci"
failing 'missing kernel file' 'FAILED: the kernel has no mm/none.c'
fresh
printf '@@\n@@\n broken(' >>"$P/mm/pool.cocci"
failing 'hook that does not parse' 'FAILED: spatch failed'
fresh
sed -i 's,^// EXPECT.*,,' "$P/mm/pool.cocci"
failing 'hook without EXPECT' 'no line'
fresh
cat >"$P/mm/pool.cocci" <<-'C'
	// EXPECT mm/pool.c 1 goto missing;
	@@
	identifier n;
	@@
	 pool(int n)
	 {
	+	if (n)
	+		goto missing;
	 	return n;
	 }
	@@
	identifier n;
	@@
	 pool(int n)
	 {
	 	...
	-	return n;
	+	return 2 * n;
	 }
C
failing 'goto to a missing label' "spatch skipped code: FLOW: can't jump to missing"
fresh
cat >"$P/mm/pool.cocci" <<-'C'
	// EXPECT mm/pool.c 1 static inline int twice(
	@@
	@@
	+static inline int twice(int n)
	+{
	+	return 2 * n;
	+}
	+
	 pool(...)
	 {
	 	...
	 }
C
is 'hook that adds a function' exits 0 install "$K"
is 'function added: its brace has a line of its own' \
	grep -qzF $'static inline int twice(int n)\n{\n\treturn 2 * n;\n}\n\n' "$K/mm/pool.c"
fresh
sed -i 's/suspend(struct/handle(struct/; s/stop(q);/defer_all(q);/' "$P/drivers/a/a-one.cocci"
sed -i 's/handle(struct queue \*q)/handle(struct queue *q, ...)/; s/^ \t\.\.\.$/ \t... when any/; s/^\(+\tflush.*\)/\1\n \t... when any/' "$P/drivers/a/a-one.cocci"
failing 'call in the wrong function' 'FAILED: misplaced: drivers/a/a-one.check.cocci finds no place for: suspend'
fresh
cat >"$P/drivers/a/a-two.cocci" <<-'C'
	// EXPECT drivers/a/a.c 1 defer_some(
	@@
	expression E;
	@@
	-defer_all(E)
	+defer_some(E)
C
is 'hook that breaks an earlier one: refused' exits 2 install "$K"
is 'hook that breaks an earlier one: says why' said 'a-one.cocci: does not hold any more'
is 'hook that breaks an earlier one: nothing stays' pristine
fresh
sed -i 's,^// PLACE.*,// PLACE 3,' "$P/drivers/a/a-one.check.cocci"
failing 'number of places' 'finds 2 places instead of 3'
fresh
sed -i 's/complete_all(q);/defer_all(q);/' "$K/drivers/a/a.c"
cp -a "$K/drivers/a/a.c" "$top/pristine/drivers/a/"
failing 'half patched tree' 'half patched tree, it has already: defer_all('
fresh
echo 'obj-y += nothing.o' >>"$K/mm/Makefile"
cp -a "$K/mm/Makefile" "$top/pristine/mm/"
echo 'mm/Makefile obj-y += nothing.o' >>"$P/tools/integrate/kbuild.hooks"
is 'kbuild line that is there already is refused' exits 2 install "$K"
is 'and nothing is written' pristine
fresh
echo 'int f( { ' >>"$K/mm/pool.c"
cp -a "$K/mm/pool.c" "$top/pristine/mm/"
failing 'kernel file that spatch cannot parse' 'spatch cannot parse all of it before'
fresh
echo 'int f( { ' >>"$K/mm/pool.c"
cp -a "$K/mm/pool.c" "$top/pristine/mm/"
sed -i '1i// UNPARSED mm/pool.c int g( {' "$P/mm/pool.cocci"
failing 'UNPARSED: another place' 'spatch cannot parse all of it before'
sed -i 's/int g( {/int f( {/' "$P/mm/pool.cocci"
is 'UNPARSED: that place' exits 0 install "$K"
integrate revert "$K"
echo 'int h( { ' >>"$K/mm/pool.c"
cp -a "$K/mm/pool.c" "$top/pristine/mm/"
failing 'UNPARSED: one more' 'spatch cannot parse all of it before'

# --- lines that a hook continues

fresh
cat >"$P/mm/pool.cocci" <<-'C'
	// EXPECT mm/pool.c 1 return longer(n,
	@@
	identifier n;
	@@
	 pool(int n)
	 {
	 	...
	-	return n;
	+	return longer(n,
	+                     n);
	 }
C
is 'a continued line: install' exits 0 install "$K"
is 'a continued line has tabs' grep -qx $'\t\t     n);' "$K/mm/pool.c"

# --- hooks that come with the tests

fresh
mkdir -p "$P/kunit/mm" "$P/kernels/9.8"
mv "$P/mm/pool.cocci" "$P/kunit/mm/"
printf 'drivers/a/a-one.cocci applied\nkunit/mm/pool.cocci applied\n' >"$P/kernels/9.8/hooks"
is 'hook of the tests: install without them' exits 0 install "$K"
is 'hook of the tests: file left alone' cmp -s "$K/mm/pool.c" "$top/pristine/mm/pool.c"
is 'hook of the tests: install with them' exits 0 install "$K" --with-kunit
is 'hook of the tests: applied' said 'kunit/mm/pool.cocci: applied'
is 'hook of the tests: check' exits 0 check "$K"
is 'hook of the tests: taken out again' exits 0 install "$K"
is 'hook of the tests: file as it was' cmp -s "$K/mm/pool.c" "$top/pristine/mm/pool.c"
rm -r "$P/kunit/mm" "$P/kernels"

# --- hooks that a kernel does not need

fresh
sed -i '1i// PROVIDED mm/pool.c return n;' "$P/mm/pool.cocci"
is 'PROVIDED: install' exits 0 install "$K"
is 'PROVIDED: not needed' said 'mm/pool.cocci: not needed: kernel has in mm/pool.c: return n;'
is 'PROVIDED: file left alone' cmp -s "$K/mm/pool.c" "$top/pristine/mm/pool.c"
is 'PROVIDED: check' exits 0 check "$K"
is 'PROVIDED: second install' exits 0 install "$K"
is 'PROVIDED: still not needed' said 'mm/pool.cocci: not needed: kernel has'
fresh
sed -i '1i// REQUIRES mm/other.c' "$P/mm/pool.cocci"
is 'REQUIRES: install' exits 0 install "$K"
is 'REQUIRES: not needed' said 'mm/pool.cocci: not needed: kernel has no mm/other.c'
sed -i 's,^// REQUIRES .*,// REQUIRES mm/pool.c return n;,' "$P/mm/pool.cocci"
is 'REQUIRES with a string: install' exits 0 install "$K"
is 'REQUIRES with a string: the kernel has it' said 'mm/pool.cocci: applied'
integrate revert "$K"
sed -i 's,^// REQUIRES .*,// REQUIRES mm/pool.c no such thing,' "$P/mm/pool.cocci"
is 'REQUIRES with a string: install without it' exits 0 install "$K"
is 'REQUIRES with a string: not needed' said 'mm/pool.cocci: not needed: kernel has not in mm/pool.c: no such thing'
mkdir -p "$P/kernels/9.8"
printf 'drivers/a/a-one.cocci applied\nmm/pool.cocci applied\n' >"$P/kernels/9.8/hooks"
is 'expected status: a difference is refused' exits 2 install "$K"
is 'expected status: says so' said 'mm/pool.cocci: not needed, but kernels/9.8/hooks says: applied'
sed -i 's/pool.cocci applied/pool.cocci not needed/' "$P/kernels/9.8/hooks"
is 'expected status: holds' exits 0 install "$K"

# --- edits by the user

fresh
integrate install "$K"
echo '/* mine */' >>"$K/mm/pool.c"
before=$(content "$K")
is 'install refuses an edited file' exits 2 install "$K"
is 'and names it' said 'mm/pool.c: edited'
is 'revert refuses an edited file' exits 2 revert "$K"
is 'check reports it' exits 2 check "$K"
is 'nothing was touched' [ "$before" = "$(content "$K")" ]
is 'install --force' exits 0 install "$K" --force
is 'check is content again' exits 0 check "$K"
echo '/* mine */' >>"$K/drivers/a/ours.h"
is 'revert refuses an edited file of ours' exits 2 revert "$K"
is 'revert --force' exits 0 revert "$K" --force
is 'restores all' pristine
integrate install "$K"
cp "$top/pristine/mm/pool.c" "$K/mm/pool.c"
rm "$K/drivers/a/ours.h"
is 'files put back by hand are integrated again' exits 0 install "$K"
is 'as before' exits 0 check "$K"
sed -i 's/SUBLEVEL = 7/SUBLEVEL = 8/' "$K/Makefile"
is 'another kernel in the same place is refused' exits 2 install "$K" --force
is 'by revert too' exits 2 revert "$K" --force

# --- one at a time

# hold FOR: have the lock of $K in another process
hold() {
	coproc exec flock --no-fork "$K" sh -c "echo held; exec sleep $1"
	read -r <&"${COPROC[0]}"
}
fresh
hold 1
is 'what a killed run had started is waited for' exits 0 install "$K"
wait
hold 60
is 'another that is at work is not' exits 2 revert "$K"
is 'says so' said 'another integrate is at work'
kill "$COPROC_PID"
wait
is 'nothing was touched' exits 0 check "$K"

# --- killed half way
#
# mv is what each step that counts ends with. A mv of our own kills integrate
# before its first, then after its n-th, for every n, until a run gets through.

mkdir "$top/bin"
cat >"$top/bin/mv" <<-'S'
	#!/bin/bash
	[[ $KILL_AT -ne 0 ]] || { kill -KILL $PPID; exit 1; }
	/bin/mv "$@" || exit
	n=$(($(<"$KILL_COUNT") + 1))
	echo $n >"$KILL_COUNT"
	[[ $n -ne $KILL_AT ]] || kill -KILL $PPID
S
chmod +x "$top/bin/mv"
export KILL_COUNT=$top/count KILL_AT

# killed COMMAND...: true if the run was killed
killed() {
	echo 0 >"$KILL_COUNT"
	(PATH=$top/bin:$PATH exec "$here/integrate" --project "$P" "$@") >"$top/out" 2>&1
	[[ $? -eq 137 ]]
}

# kill_everywhere NAME PREPARE COMMAND RECOVERY VERIFY
kill_everywhere() {
	local bad='' runs=0

	for ((KILL_AT = 0; KILL_AT < 100; KILL_AT++)); do
		"$2"
		killed "$3" "$K" || break
		runs=$((runs + 1))
		{ exits 0 "$4" "$K" && "$5"; } || bad+=" $KILL_AT"
	done
	is "$1: killed at $runs points" test "$runs" -ge 4
	is "$1: recovers from each$bad" test -z "$bad"
}

prepare_fresh() { rm -rf "$K"; cp -a "$top/pristine" "$K"; }
prepare_installed() { rm -rf "$K"; cp -a "$top/installed" "$K"; }
# As wanted, and remembered as such: check would find it well.
verify_installed() {
	same_tree "$K" "$top/wanted" && [[ ! -e $K/.nvmetune/journal ]] &&
		cmp -s "$K/.nvmetune/manifest" "$top/wanted/.nvmetune/manifest"
}

fresh
integrate install "$K"
cp -a "$K" "$top/wanted"
kill_everywhere 'install, then install' prepare_fresh install install verify_installed
kill_everywhere 'install, then revert' prepare_fresh install revert pristine
cp -a "$top/wanted" "$top/installed"
kill_everywhere 'revert, then revert' prepare_installed revert revert pristine
kill_everywhere 'revert, then install' prepare_installed revert install verify_installed
pool_hook 'return n + 3;'
echo 'int own_too;' >>"$P/drivers/own/sub/own.c"
rm "$P/drivers/a/ours.h"
sed -i /ours.h/d "$P/tools/integrate/files"
prepare_installed
integrate install "$K"
rm -rf "$top/wanted"
cp -a "$K" "$top/wanted"
kill_everywhere 'update, then install' prepare_installed install install verify_installed
kill_everywhere 'update, then revert' prepare_installed install revert pristine

prepare_fresh
KILL_AT=3
killed install "$K"
is 'check reports an interruption' exits 2 check "$K"
is 'and what to do' said 'run install or revert'
echo '/* mine */' >>"$K/mm/pool.c"
is 'an edit between kill and recovery is refused' exits 2 install "$K"
is 'and named' said 'mm/pool.c: edited since'

# --- series

fresh
is 'series' exits 0 series "$K" "$top/series"
is 'a patch for the files, one a hook' [ "$(find "$top/series" -name '*.patch' | wc -l)" = 3 ]
is 'series leaves the tree alone' pristine
is 'a hook describes its patch' grep -q 'Subject: \[PATCH 2/3\] a: Completions are deferred$' "$top/series"/0002*
cp -a "$K" "$top/am"
(cd "$top/am" && git init -q && git add -A && git -c user.name=x -c user.email=x@x commit -qm base &&
	git -c user.name=x -c user.email=x@x am -q "$top/series"/*.patch) >"$top/out" 2>&1
rm -rf "$top/am/.git"
integrate install "$K"
is 'applied series equals integration' same_tree "$top/am" "$K"
is 'series from an integrated tree' exits 0 series "$K" "$top/series2"
is 'is the same' [ "$(cat "$top/series"/* | grep -v ^Date)" = "$(cat "$top/series2"/* | grep -v ^Date)" ]
is 'integrating a tree with the series is refused' exits 2 install "$top/am"

echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
