#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: systemd and udev apply the profile "boot" to a controller that appears, to no other
# vm: standard
# alone: systemd runs in it
# timeout: 300

# shellcheck source=tools/testing/selftests/nvmetune/lib-tool.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib-tool.sh"

use two
other=$ctrl
use four
pci=$(nvme_pci "$ctrl")
first=$(state)

# The tool as it is installed, and the boot profile.
make -s -C "$VM_ROOT/tools/nvmetune" install DESTDIR= > "$tmp/install" 2>&1 ||
	die "cannot install: $(tail -n 3 "$tmp/install")"
check "the unit is valid" systemd-analyze verify /lib/systemd/system/nvmetune-apply@.service
mkdir -p /etc/nvmetune/profiles.d
cat > /etc/nvmetune/profiles.d/boot.conf <<-END
	[nvme[0-9]*]
	defer_lanes = 4
	[nvme[0-9]*/q*]
	defer_inline_bytes = 64K
END

# systemd as the first process of its own PID namespace, with what any service needs
# and udev. That takes its time here.
mkdir -p /sys/fs/cgroup
mountpoint -q /sys/fs/cgroup || mount -t cgroup2 cgroup /sys/fs/cgroup || die "no cgroup2"
mkdir -p /run/systemd/system
cat > /run/systemd/system/selftest.target <<-END
	[Unit]
	Requires=basic.target systemd-udevd.service
	After=basic.target systemd-udevd.service
	AllowIsolate=yes
END
unshare --pid --fork --mount-proc --kill-child=KILL \
	/lib/systemd/systemd --system --unit=selftest.target --log-target=kmsg > "$tmp/systemd" 2>&1 &
systemd=$!

# inside COMMAND...: systemd talks to nobody whose PID it does not see. The guest's
# root is not that of its mount namespace.
inside() {
	nsenter --target "$(pgrep -P $systemd)" --pid --mount --root -- "$@"
}

up() {
	inside systemctl is-active --quiet selftest.target 2> /dev/null
}

wait_for 150 up || die "systemd does not come up: $(tail -n 5 "$tmp/systemd")"
ok "systemd and udevd run"

remove() {
	echo 1 > "/sys/bus/pci/devices/$pci/remove"
	wait_for 20 "[ ! -e $tune/$ctrl ]" || die "$ctrl does not go"
}

appear() {
	echo 1 > /sys/bus/pci/rescan
	use four
	wait_for 20 "[ -e $tune/$ctrl/q4 ]" || die "$ctrl does not come back"
}

# applied: of the controller and of each of its queues
applied() {
	local file

	[ "$(< "$tune/$ctrl/defer_lanes")" = 4 ] || return 1
	for file in "$tune/$ctrl"/q*/defer_inline_bytes; do
		[ "$(< "$file")" = 65536 ] || return 1
	done
}

check "nothing is applied to what was there before udev" [ "$(state)" = "$first" ]
echo 5 > "$tune/$other/defer_lanes"
kept=$(state | grep "^$other/")
remove
appear
soon 30 "the controller that appears has its settings, and its queues" applied
same "another controller is left as it was" "$kept" "$(state | grep "^$other/")"
inside systemctl --no-pager list-units --all 'nvmetune-apply@*' | sed 's/^/# /' | head -n 5

# What an operator sets later stays, and a second appearance brings the profile again.
echo 3 > "$tune/$ctrl/defer_lanes"
pause 1
check "what is set later stays" grep -qx 3 "$tune/$ctrl/defer_lanes"
remove
appear
soon 30 "once more, when it appears again" applied

# What was there before: by the instance "all".
echo inherit > "$tune/$other/defer_lanes"
check "the instance for all starts" inside systemctl start nvmetune-apply@all
check "and reaches what was there before" grep -qx 4 "$tune/$other/defer_lanes"

kill -KILL $systemd
wait $systemd 2> /dev/null
t reset 'nvme[0-9]*/q*'
t reset 'nvme[0-9]*'
same "as at first" "$first" "$(state)"
