#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest of tools/kunit/run: the suites are built in and have run by
# now. Their results in debugfs are cut on some kernels, the kernel log is not.
set -euo pipefail

# shellcheck source=tools/vm/guest.sh
. "$VM_LIB" || exit

[ -d /sys/kernel/debug/kunit ] || die "no KUnit in this kernel: is it build/KERNEL/test?"
find /sys/kernel/debug/kunit -mindepth 1 -maxdepth 1 -type d -printf '%f\n' |
	sort > "$VM_OUT/suites"
dmesg > "$VM_OUT/dmesg"
# What the tests have left behind shows a moment later.
for dir in /sys/bus/workqueue/devices/nvme9*; do
	[ ! -e "$dir" ] || die "a workqueue of a test is still there: $dir"
done
