#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: a controller is unplugged under load and plugged in again
# vm: standard
# timeout: 120
# full-timeout: 300
# alone: lockdep is off after the report below
# allow: pciehp_unconfigure_device|has pending DMA allocations while released from device \[count=2\]|DMA-API: Mapped at

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/testing/selftests/nvmetune/lib-remove.sh
. "$(dirname "$0")/lib-remove.sh"

# The reports that are allowed are of the stock kernel: its PCIe hotplug driver takes
# two of its locks in either order; 6.1's NVMe driver frees its two shadow doorbell
# buffers after the device is released.

use four
before=$(bounce_used)
rounds=1
full && rounds=5
for ((i = 0; i < rounds; i++)); do
	round unplug "qmp device_del id=four > /dev/null" \
		"qmp device_add driver=nvme id=four drive=four-n1 serial=four bus=port-four > /dev/null"
done
soon 10 "no bounce buffer is left in use" "[ \$(bounce_used) = $before ]"
