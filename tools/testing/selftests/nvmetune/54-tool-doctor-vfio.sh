#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: nvmetune doctor: who gives a device much memory in small pages
# vm: vfio
# timeout: 120

# shellcheck source=tools/testing/selftests/nvmetune/lib-tool.sh disable=SC2016,SC2034,SC2154
. "$(dirname "$0")/lib-tool.sh"
# shellcheck source=tools/testing/selftests/nvmetune/lib-vfio.sh
. "$(dirname "$0")/lib-vfio.sh"

# found: the objects of what the rule has found
found() {
	t -j doctor vfio-small-pages
	jq -r '.findings[].object' <<< "$out"
}

# holding API MEMORY MIB: starts a process, $holder, that has that mapped for a device
holding() {
	rm -f "$tmp/holder"
	setpriv --pdeathsig KILL -- "$vfiomap" --api "$1" --memory "$2" --size "$3" --hold "$spare" \
		> "$tmp/holder" 2> "$tmp/holder.err" &
	holder=$!
	wait_for 60 "grep -q mapped $tmp/holder" || die "not mapped: $(< "$tmp/holder.err")"
}

let_go() {
	kill -9 "$holder"
	wait "$holder" 2> /dev/null
}

take_drives
same "nobody has a device: nothing is found" "" "$(found)"
for api in $(apis); do
	holding "$api" 4k 1100
	same "vfio-small-pages: $api, 1100 MiB in small pages" "process $holder, vfiomap" "$(found)"
	let_go
	same "vfio-small-pages: $api, nothing once it has ended" "" "$(found)"
done
holding type1 4k 256
same "vfio-small-pages: nothing with little memory" "" "$(found)"
let_go
huge_pages 1100
holding type1 huge 1100
same "vfio-small-pages: nothing with huge pages" "" "$(found)"
let_go
huge_pages 0
give_drives
