# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# For the tests that take the controller "four" away under load.

# Jobs that fail end by themselves. Those that only read would go on for ever: of a
# device that is gone, the block layer says it has no size, not that there is an error.
# Such a read gives nothing, so that the one who verifies may complain, too.
load_ends() { # DESCRIPTION
	kill -INT "$load_pid" 2> /dev/null
	soon 60 "$1: fio ends" "! kill -0 $load_pid 2> /dev/null"
	wait "$load_pid" 2> /dev/null
	load_pid=
	fio_result "$tmp/load" > "$tmp/messages"
	sort -u "$tmp/messages" | tail -n 2
	expect "$1: fio sees errors" 'fio_error > 0'
}

all_gone() { # DESCRIPTION CONTROLLER
	soon 10 "$1: no workqueue is left" "[ -z \"\$(echo $wqs/$2q*-defer | grep -v '\\*')\" ]"
	soon 10 "$1: no rescuer is left" "! rescuers $2 > /dev/null"
	soon 10 "$1: its debugfs directory is gone" "[ ! -d $debug/$2 ]"
}

back_again() { # DESCRIPTION
	use four
	mode on "$ctrl"
	mark "$ctrl"
	check "$1: written again" fill "$dev" 0 16m
	check "$1: verified again" verify "$dev" 0 16m
	soon 20 "$1: nothing is left in the lanes" "settled $ctrl"
	tally
	expect "$1: defers again" 'deferred > 100 && worker_requests == deferred'
}

# round DESCRIPTION COMMAND COMMAND: the first takes the controller away under load,
# the second brings it back
round() {
	local name=$1 gone=$ctrl

	mode on "$ctrl"
	load_start "$dev"
	eval "$2"
	# QEMU and the hotplug driver leave 5 s for second thoughts
	soon 30 "$name: the controller is gone" "! nvme_by_serial four > /dev/null 2>&1"
	load_ends "$name"
	all_gone "$name" "$gone"
	# QEMU may not be done with the old device when the guest is, and says so
	soon 30 "$name: it comes back" "$3 2> /dev/null"
	back_again "$name"
}
