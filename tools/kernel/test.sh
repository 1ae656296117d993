#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests of unpack and build with a made-up project, whose kernel is a Makefile
# that knows the few targets they use. Prints "ok" or "not ok" a test and
# "N passed, N failed" last.

set -u
export LC_ALL=C
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
top=$(mktemp -d) || exit 1
trap 'rm -rf "$top"' EXIT
passed=0 failed=0

is() {
	local name=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) - $name"
	else
		failed=$((failed + 1))
		echo "not ok $((passed + failed)) - $name"
		sed 's/^/#   /' "$top/out"
	fi
}
exits() {
	local want=$1
	shift
	"$@" >"$top/out" 2>&1
	[[ $? -eq $want ]]
}
said() { grep -qF -e "$1" "$top/out"; }

P=$top/project
build=$P/tools/kernel/build
src=$P/build/9.8/src out=$P/build/9.8/perf
mkdir -p "$P/tools/integrate" "$P/kernels/9.8" "$P/drivers/a" "$src/scripts/kconfig" "$src/drivers/a"
cp -r "$here" "$P/tools/kernel"
export CCACHE_DIR=$top/ccache

# The package that everything here pretends to come from is one that is installed.
cat >"$P/kernels/9.8/source" <<-S
	KERNEL_PACKAGE=bash
	KERNEL_TARBALL=$top/src.tar.xz
	KERNEL_TOPDIR=linux-source-9.8
S
printf 'CONFIG_SMP=y\n' >"$P/kernels/base.config"
printf 'CONFIG_FAST=y\n# CONFIG_SLOW is not set\n' >"$P/kernels/perf.config"
printf 'config OURS\n\tbool "x"\n' >"$P/drivers/a/Kconfig.ours"
printf 'drivers/a/Kconfig.ours\n' >"$P/tools/integrate/files"
printf '%s\n' CONFIG_SMP CONFIG_FAST >"$src/known"
echo 'int a;' >"$src/drivers/a/a.c"
cat >"$src/Makefile" <<-'M'
	.RECIPEPREFIX = >
	tinyconfig:
	>echo CONFIG_TINY=y >$(O)/.config
	olddefconfig:
	>echo olddefconfig >>$(O)/../../configured
	>grep -f known $(O)/.config >$(O)/.config.new; mv $(O)/.config.new $(O)/.config
	bzImage: $(O)/drivers/a/a.o
	>mkdir -p $(O)/arch/x86/boot && touch $(O)/arch/x86/boot/bzImage
	$(O)/drivers/a/a.o: drivers/a/a.c $(O)/.config
	>mkdir -p $(@D)
	>$(CC) -Wall -c $(CURDIR)/$< -o $@
	M
cat >"$src/scripts/kconfig/merge_config.sh" <<-'S'
	#!/bin/sh
	[ "$1 $2 $4" = "-m -O .config" ] || exit 1
	out=$3; shift 4
	cat "$@" >>"$out/.config"
	S
chmod +x "$src/scripts/kconfig/merge_config.sh"
configured() { wc -l <"$P/build/9.8/configured"; }

is 'unknown kernel' exits 1 "$build" 1.0 perf
is 'unknown image' exits 1 "$build" 9.8 none
is 'base is no image' exits 1 "$build" 9.8 base
is 'build' exits 0 "$build" 9.8 perf
is 'prints the image last' [ "$(tail -1 "$top/out")" = "$out/arch/x86/boot/bzImage" ]
before=$(stat -c '%Y %i' "$out/.config" "$out/drivers/a/a.o")
is 'second build' exits 0 "$build" 9.8 perf
is 'configures nothing' [ "$(configured)" = 1 ]
is 'compiles nothing' [ "$before" = "$(stat -c '%Y %i' "$out/.config" "$out/drivers/a/a.o")" ]
echo '# a comment' >>"$P/kernels/base.config"
is 'build after a change of a fragment' exits 0 "$build" 9.8 perf
is 'configures' [ "$(configured)" = 2 ]
is 'compiles nothing where it comes out the same' \
	[ "$before" = "$(stat -c '%Y %i' "$out/.config" "$out/drivers/a/a.o")" ]

echo 'CONFIG_MISSING=y' >"$P/kernels/9.8/base.config"
is 'a symbol that does not come out stops the build' exits 2 "$build" 9.8 perf
is 'and is named' said 'CONFIG_MISSING is not set instead of y'
echo '# absent: CONFIG_MISSING' >>"$P/kernels/9.8/base.config"
is 'unless it is absent in this kernel' exits 0 "$build" 9.8 perf
echo CONFIG_MISSING >>"$src/known"
echo '# one more' >>"$P/kernels/base.config"
is 'which must be true' exits 2 "$build" 9.8 perf
echo '# CONFIG_SMP is not set' >"$P/kernels/9.8/base.config"
is 'the last fragment decides' exits 2 "$build" 9.8 perf
is 'of a symbol not to be set, too' said 'CONFIG_SMP is y instead of not set'
echo CONFIG_OURS=y >"$P/kernels/9.8/base.config"
is 'a symbol of ours is not asked for where it is not integrated' exits 0 "$build" 9.8 perf
mkdir "$src/.nvmetune"
cp "$P/drivers/a/Kconfig.ours" "$src/drivers/a/"
printf '%s\n' 'new 1 - 1 drivers/a/Kconfig.ours' 'mod 1 2 - drivers/a/a.c' >"$src/.nvmetune/manifest"
is 'but where it is' exits 2 "$build" 9.8 perf
echo CONFIG_OURS >>"$src/known"
is 'and found' exits 0 "$build" 9.8 perf

echo 'static int unused;' >>"$src/drivers/a/a.c"
is 'a warning in a file of ours fails the build' exits 2 "$build" 9.8 perf
is 'and is shown' said 'defined but not used'
is 'again until it is mended' exits 2 "$build" 9.8 perf
echo 'new 1 - 1 drivers/a/Kconfig.ours' >"$src/.nvmetune/manifest"
is 'a warning elsewhere does not' exits 0 "$build" 9.8 perf
echo 'int a' >"$src/drivers/a/a.c"
is 'an error fails the build' exits 2 "$build" 9.8 perf
is 'and shows the log' said 'error:'

# --- unpack

unpack=$P/tools/kernel/unpack
version=$(dpkg-query -W -f '${Version}' bash)
mkdir -p "$top/linux-source-9.8"
echo new >"$top/linux-source-9.8/README"
is 'unpack without the package' exits 2 "$unpack" 9.8
tar -C "$top" -cJf "$top/src.tar.xz" linux-source-9.8
is 'unpack over an older version' exits 0 "$unpack" 9.8
is 'the tree is the new one' [ "$(ls "$src")" = README ]
is 'images of the old one are gone' test ! -e "$out"
is 'the version is noted' [ "$(cat "$P/build/9.8/src.version")" = "$version" ]
touch "$src/mark"
is 'second unpack' exits 0 "$unpack" 9.8
is 'does nothing' test -e "$src/mark"
rm "$P/build/9.8/src.version" "$src/mark"
printf 'VERSION = %s\nPATCHLEVEL = %s\n' "${version%%.*}" "$(v=${version#*.}; echo "${v%%-*}")" >"$src/Makefile"
is 'unpack over a tree unpacked by hand' exits 0 "$unpack" 9.8
is 'takes it over' test -e "$src/Makefile"

echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
