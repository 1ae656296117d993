# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # the options are set by tools/vm/run
# Turns run's options into QEMU's command line, in the array "qemu".

need_size() { # OPTION VALUE
	numfmt --from=iec "$2" > /dev/null 2>&1 || fail "$1: not a size: $2"
}

# QEMU's -blockdev takes plain numbers only
bytes() {
	numfmt --from=iec "$1"
}

# Sets spec[KEY] from a comma separated list.
parse_nvme() { # INDEX LIST
	local item items

	spec=([id]=nvme$1 [backend]=null [namespaces]=1 [detached]=0 [extra]='')
	IFS=, read -ra items <<< "$2"
	for item in "${items[@]}"; do
		case $item in
		extra=*) spec[extra]+=",${item#extra=}" ;;
		hotplug | detached) spec[$item]=1 ;;
		file=*) spec[backend]=file spec[file]=${item#file=} ;;
		id=* | serial=* | queues=* | backend=* | size=* | latency-us=* | \
		iops=* | namespaces=* | inject=* | hotplug=* | detached=* | node=* | msix=*)
			spec[${item%%=*}]=${item#*=} ;;
		*) fail "--nvme: what is '$item'? See --help" ;;
		esac
	done
	check_nvme
}

check_nvme() {
	local key

	for key in queues namespaces msix iops; do
		[ -z "${spec[$key]+x}" ] || need_number "--nvme: $key" "${spec[$key]}"
	done
	[ -z "${spec[size]:-}" ] || need_size "--nvme: size" "${spec[size]}"
	[[ ${spec[backend]} =~ ^(null|mem|file)$ ]] || fail "--nvme: no such backend: ${spec[backend]}"
	[ "${spec[backend]}" = null ] || [ -z "${spec[latency-us]:-}" ] ||
		fail "--nvme: latency-us goes with backend=null"
	[ -z "${spec[inject]:-}" ] || [ -r "${spec[inject]}" ] ||
		fail "--nvme: no such file: ${spec[inject]}"
	[ "${spec[backend]}" != file ] || [ $((spec[namespaces] + spec[detached])) = 1 ] ||
		fail "--nvme: file= goes with one namespace"
	[ -z "${spec[node]:-}" ] || [ "${spec[node]}" -lt "$numa" ] ||
		fail "--nvme: node=${spec[node]} needs a larger --numa"
}

# The file of a drive that keeps data. Sparse, on tmpfs unless the user names it.
data_file() { # NODE-NAME
	local file=${spec[file]:-}

	if [ "${spec[backend]}" = mem ]; then
		mem_dir=${mem_dir:-$(mktemp -d "/dev/shm/nvmetune-vm.$$.XXXXXX")}
		file=$mem_dir/$1
	fi
	if [ ! -e "$file" ]; then
		truncate -s "$(bytes "${spec[size]:-1G}")" "$file" || fail "cannot make $file"
	fi
	backing_file=$(realpath "$file")
}

# What holds the data, below the filters that are asked for; the topmost has NODE-NAME.
add_blockdev() { # NODE-NAME
	local name=$1 below

	[ -z "${spec[inject]:-}${spec[iops]:-}" ] || name=$1-data
	if [ "${spec[backend]}" = null ]; then
		qemu+=(-blockdev "driver=null-co,node-name=$name,read-zeroes=off,size=$(bytes "${spec[size]:-64G}")${spec[latency-us]:+,latency-ns=$((spec[latency-us] * 1000))}")
	else
		data_file "$1"
		qemu+=(-blockdev "driver=file,node-name=$name-file,filename=$backing_file,discard=unmap")
		qemu+=(-blockdev "driver=raw,node-name=$name,file=$name-file,discard=unmap")
	fi
	if [ -n "${spec[inject]:-}" ]; then
		below=$name
		name=$1${spec[iops]:+-errors}
		qemu+=(-blockdev "driver=blkdebug,node-name=$name,config=$(realpath "${spec[inject]}"),image=$below")
	fi
	if [ -n "${spec[iops]:-}" ]; then
		qemu+=(-object "throttle-group,id=$1-limit,x-iops-total=${spec[iops]}")
		qemu+=(-blockdev "driver=throttle,node-name=$1,throttle-group=$1-limit,file=$name")
	fi
}

# A controller without a subsystem has its one namespace built in; several, or one
# that can be attached later, need a subsystem of their own.
add_nvme() { # INDEX LIST
	local -A spec
	local id device

	parse_nvme "$@"
	id=${spec[id]}
	device=nvme,id=$id,serial=${spec[serial]:-$id}
	device+=${spec[queues]:+,max_ioqpairs=${spec[queues]}}
	device+=${spec[msix]:+,msix_qsize=${spec[msix]}}
	device+=${spec[extra]}
	add_port "$1"
	if [ $((spec[namespaces] + spec[detached])) = 1 ] && [ "${spec[detached]}" = 0 ]; then
		add_blockdev "$id-n1"
		qemu+=(-device "$device,drive=$id-n1")
	else
		qemu+=(-device "nvme-subsys,id=$id-subsys,nqn=$id")
		qemu+=(-device "$device,subsys=$id-subsys")
		add_namespaces "$id"
	fi
}

# Where the controller sits; appends its bus to $device.
add_port() { # INDEX
	local bus=pcie.0

	if [ -n "${spec[node]:-}" ]; then
		bus=pxb-${spec[id]}
		qemu+=(-device "pxb-pcie,id=$bus,bus=pcie.0,bus_nr=$((64 + 8 * $1)),numa_node=${spec[node]}")
	elif [ -z "${spec[hotplug]:-}" ]; then
		device+=,bus=$bus
		return 0
	fi
	qemu+=(-device "pcie-root-port,id=port-${spec[id]},bus=$bus,chassis=$(($1 + 1)),slot=$(($1 + 1))")
	device+=,bus=port-${spec[id]}
}

add_namespaces() { # CONTROLLER
	local n detached

	for ((n = 1; n <= spec[namespaces] + spec[detached]; n++)); do
		add_blockdev "$1-n$n"
		detached=
		[ $n -le "${spec[namespaces]}" ] || detached=,detached=on
		qemu+=(-device "nvme-ns,bus=$1,drive=$1-n$n,nsid=$n$detached")
	done
}

# All nodes alike; what does not divide is refused, as a test would rely on it.
add_numa() {
	local node each size with memdev

	[ $((cpus % numa)) = 0 ] || fail "--numa: $cpus CPUs do not divide by $numa"
	each=$((cpus / numa)) with=$((numa - ${memoryless:-0}))
	size=$(($(bytes "$mem") / with))
	for ((node = 0; node < numa; node++)); do
		memdev=
		if [ $node -lt $with ]; then
			qemu+=(-object "memory-backend-ram,id=mem$node,size=$size")
			memdev=,memdev=mem$node
		fi
		qemu+=(-numa "node,nodeid=$node,cpus=$((node * each))-$(((node + 1) * each - 1))$memdev")
	done
}

# PCIe ports, bridges of a node and the IOMMU exist on q35 only. QEMU's older machine
# would do for the others, but works out its table of interrupts in ACPI's byte code:
# without KVM, enabling a PCI device took a second there, and each reset does that.
add_machine() {
	local machine=q35

	# the ports' own hotplug; ACPI's is QEMU's default and another driver
	qemu+=(-global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off)
	[ -z "$iommu" ] || [[ $accel != kvm* ]] || machine+=,kernel-irqchip=split
	qemu+=(-machine "$machine")
	[ -z "$iommu" ] || qemu+=(-device "intel-iommu,intremap=on,caching-mode=on")
}

# TCG runs "rep movsb" byte by byte; without erms every kernel copies by a loop.
add_cpu() {
	if [[ $accel == kvm* ]]; then
		qemu+=(-cpu "${cpu:-host}")
	else
		qemu+=(-cpu "${cpu:-max,-erms}")
	fi
	# a socket a node: the kernel warns of CPUs that share a cache across nodes
	qemu+=(-smp "$cpus,sockets=$numa" -m "$(($(bytes "$mem") / 1048576))M")
	[ -z "$memoryless" ] || [ "$numa" -gt 1 ] || fail "--memoryless: needs --numa 2 or more"
	[ "$numa" = 1 ] || add_numa
}

add_shares() {
	qemu+=(-virtfs "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap")
	qemu+=(-virtfs "local,path=$tmp/ctl,mount_tag=ctl,security_model=none")
	qemu+=(-virtfs "local,path=$out,mount_tag=out,security_model=none,multidevs=remap")
}

# The guest's second serial port: a shell, or QMP. A monitor needs a character
# device and so does the port; a socket of QEMU to itself joins them.
add_channels() {
	qemu+=(-serial "file:$log")
	if [ -n "$shell" ]; then
		qemu+=(-chardev "stdio,id=shell,signal=off" -serial chardev:shell)
	elif [ -n "$guest_qmp" ]; then
		qemu+=(-chardev "socket,id=monitor,path=$tmp/qmp,server=on,wait=off")
		qemu+=(-mon "chardev=monitor,mode=control")
		qemu+=(-chardev "socket,id=port,path=$tmp/qmp,server=off" -serial chardev:port)
	fi
	[ -z "$qmp" ] || qemu+=(-qmp "unix:$qmp,server=on,wait=off")
}

# printk: at level 7, as the stacks of hung tasks come at KERN_INFO. Writing is
# synchronous, so the log is whole when the guest panics.
#
# Soft lock-ups: reported after twice watchdog_thresh. With several guests on a
# small host a virtual CPU may be off its CPU for long; the kernel's own 20 s
# (watchdog_thresh=10) would be seen there now and then, 40 s is not. A loop that
# never ends is seen all the same, and RCU stalls keep their 21 s.
#
# DMA_API_DEBUG switches itself off quietly when its entries run out.
#
# Without tsc_early_khz a guest's clock may run several times too fast: see tsc-khz.
kernel_args() {
	local args="console=ttyS0 loglevel=7 printk.time=1 log_buf_len=1M panic=-1" khz

	args+=" tsc=reliable no_timer_check dma_debug_entries=262144"
	if [[ $accel != kvm* ]]; then
		args+=" watchdog_thresh=20"
		if khz=$("$here/tsc-khz"); then
			args+=" tsc_early_khz=$khz"
		else
			say "the TSC's frequency is not known: the guest's clock may be wrong"
		fi
	fi
	[ -z "$iommu" ] || args+=" intel_iommu=on"
	echo "$args ${append[*]}"
}

build_qemu() {
	local i args

	args=$(kernel_args)
	# the kernel cuts the rest off without a word
	[ ${#args} -lt 2048 ] || fail "more than 2047 characters of kernel arguments"
	qemu=(qemu-system-x86_64 -accel "$accel" -nodefaults -no-user-config
		-display none -no-reboot)
	add_machine
	add_cpu
	add_shares
	add_channels
	for i in "${!nvme[@]}"; do
		add_nvme "$i" "${nvme[$i]}"
	done
	qemu+=(-kernel "$kernel" -initrd "$tmp/initrd.cpio" -append "$args")
	qemu+=("${extra[@]}")
}
