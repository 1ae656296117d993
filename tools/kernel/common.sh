# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What the scripts for kernels have in common: sets project, kernel and kbuild
# (build/<kernel>), and takes the lock of that kernel.

say() { printf '%s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 2; }
die_usage() { printf '%s: %s; see --help\n' "${0##*/}" "$*" >&2; exit 1; }

open_kernel() {
	project=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
	kernel=$1
	[[ $kernel && $kernel != */* && -f $project/kernels/$kernel/source ]] ||
		die_usage "no kernel '$kernel': known are $(cd "$project/kernels" && dirname -- */source | paste -sd' ')"
	# shellcheck source=/dev/null
	. "$project/kernels/$kernel/source"
	kbuild=$project/build/$kernel
	mkdir -p "$kbuild"
	exec 8>"$kbuild/.lock"
	if ! flock -n 8; then
		say "${0##*/}: waiting for another run on $kernel"
		flock 8
	fi
}
