# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For scripts that run inside the guest: . "$VM_LIB"
#
# Relies on what tools/vm/init mounts. $VM_OUT is the directory shared with the
# host.

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

die() {
	echo "$(basename -- "$0"): $*" >&2
	exit 1
}

# wait_for SECONDS CONDITION: until the shell condition holds; fails after SECONDS
wait_for() {
	local end=$((${EPOCHREALTIME/./} + $1 * 1000000))

	until eval "$2"; do
		[ "${EPOCHREALTIME/./}" -lt "$end" ] || return 1
		sleep 0.05
	done
}

# nvme_by_serial SERIAL: controllers are probed asynchronously, so nvme0 need not
# be the first that was asked for
nvme_by_serial() {
	local dir serial

	for dir in /sys/class/nvme/nvme*; do
		{ read -r serial < "$dir/serial"; } 2> /dev/null || continue
		if [ "$serial" = "$1" ]; then
			basename "$dir"
			return 0
		fi
	done
	return 1
}

# nvme_pci nvme0: its PCI address
nvme_pci() {
	basename "$(readlink -f "/sys/class/nvme/$1/device")"
}

# nvme_irqs nvme0: the interrupts of its I/O queues, as "QUEUE IRQ" lines
nvme_irqs() {
	local dir queue

	for dir in /proc/irq/*/"$1"q*; do
		[ -d "$dir" ] || continue
		queue=${dir##*q}
		dir=${dir%/*}
		[ "$queue" = 0 ] || echo "$queue ${dir##*/}"
	done | sort -n
}

# expand_cpus 0-2,5: 0 1 2 5, a line each
expand_cpus() {
	local part

	for part in ${1//,/ }; do
		seq "${part%-*}" "${part#*-}"
	done
}

# irq_cpus nvme0: the CPUs on which its I/O queues' interrupts arrive, a line each
irq_cpus() {
	local irq

	nvme_irqs "$1" | while read -r _ irq; do
		expand_cpus "$(cat "/proc/irq/$irq/effective_affinity_list")"
	done | sort -nu
}

# dmesg_mark; …; dmesg_since: what the kernel has printed in between
dmesg_mark() {
	VM_MARK="vm: mark $$ ${EPOCHREALTIME/./}"
	echo "<6>$VM_MARK" > /dev/kmsg
}

dmesg_since() {
	dmesg | sed "1,/${VM_MARK:?dmesg_mark first}\$/d"
}

# qmp COMMAND [KEY=VALUE]...: to QEMU, from inside; needs run's --guest-qmp
qmp() {
	"$VM_ROOT/tools/vm/qmp" "${VM_QMP:?needs --guest-qmp}" "$@"
}
