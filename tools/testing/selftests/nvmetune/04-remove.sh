#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: a controller goes and comes back under load: unbind, remove
# vm: standard
# timeout: 150
# full-timeout: 600
# allow: has pending DMA allocations while released from device \[count=2\]|DMA-API: Mapped at

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/testing/selftests/nvmetune/lib-remove.sh
. "$(dirname "$0")/lib-remove.sh"

# The report that is allowed is of 6.1's own driver: it frees its two shadow doorbell
# buffers after the device is released.

use four
pci=$(nvme_pci "$ctrl")
driver=/sys/bus/pci/drivers/nvme

before=$(bounce_used)
rounds=1
full && rounds=10
for ((i = 0; i < rounds; i++)); do
	round unbind "echo $pci > $driver/unbind" "echo $pci > $driver/bind"
	round remove "echo 1 > /sys/bus/pci/devices/$pci/remove" \
		"echo 1 > /sys/bus/pci/rescan"
done
soon 10 "no bounce buffer is left in use" "[ \$(bounce_used) = $before ]"
