#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# what: netlink: all or none, what is wrong and where, notifications, dumps, statistics
# vm: standard
# timeout: 150

# shellcheck source=tools/testing/selftests/nvmetune/lib.sh disable=SC2016,SC2030,SC2031,SC2034,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/testing/selftests/nvmetune/lib-ynl.sh
. "$(dirname "$0")/lib-ynl.sh"

every_object
learn
remember_settings
nl subscribe || die "subscribe: $nl_error"
q1=$ctrl/q1 q2=$ctrl/q2

# The command line that comes with the kernel

reply=$(cli --do object-get --json '{"name": "nvme"}')
check "ynl: do: an object" grep -q '"name": "nvme", "class": "nvme-driver", "params": [0-9]*, "stats": 0' <<< "$reply"
reply=$(cli --dump param-get --json "{\"object\": \"$q1\"}")
n=$(grep -o '"object-id"' <<< "$reply" | wc -l)
total=$(find "$tune/$q1" -maxdepth 1 -type f | wc -l)
expect "ynl: dump: all parameters of a queue" 'n == total && n > 10'
reply=$(cli --do param-set --json \
	"{\"setting\": [{\"object\": \"$q1\", \"name\": \"defer_irq_share\", \"value\": 42}]}")
check "ynl: set" [ "$reply $(cat "$tune/$q1/defer_irq_share")" = "null 42" ]
reply=$(cli --do param-set --json \
	"{\"setting\": [{\"object\": \"$q1\", \"name\": \"defer_irq_share\", \"text\": \"many\"}]}")
status=$?
expect "ynl: a wrong value fails" 'status == 1'
check "ynl: it says what is wrong, and where" \
	grep -q "'msg': 'not a number', 'bad-attr': '.setting.text'" <<< "$reply"
# Who subscribes does nothing else: the library of 6.12 breaks when a notification comes
# before the acknowledgment of a request. What it shall see is set by who runs already:
# to start another client may take longer than it listens.
/usr/bin/python3 "$ynl_cli" --spec "$spec" --no-schema --output-json --subscribe config \
	--sleep 5 > "$tmp/subscriber" 2>&1 &
subscriber=$!
# the second of the sockets is the one; groups are a mask
subscribed() {
	awk -v pid=$subscriber '$2 == 16 && $3 == pid && $4 != "00000000" { n++ } END { exit !n }' /proc/net/netlink
}
soon 30 "ynl: subscribe" subscribed
nl set "$q1:defer_irq_share=43"
wait $subscriber
check "ynl: the subscriber has seen this, once" \
	[ "$(grep -o '"name": "param-ntf", "msg": {.*"name": "defer_irq_share".*"text": "43"' "$tmp/subscriber" |
		grep -o param-ntf | wc -l)" = 1 ]
nl set "$q1:defer_irq_share=inherit"
expect_ntf "another subscriber has seen the same" \
	"param-ntf|$q1|defer_irq_share|inherit|42|42" \
	"param-ntf|$q1|defer_irq_share|42|43|43" \
	"param-ntf|$q1|defer_irq_share|43|inherit|$(cat "$tune/$ctrl/in_force/defer_irq_share")"

# Objects and parameters

nl objects
mapfile -t lines < <(printf '%s\n' "${nl_out[@]}" | cut -d'|' -f1 | sort)
check "object-get: the ${#lines[@]} objects that sysfs has" [ "${lines[*]}" = "$(objects_expected | tr '\n' ' ' | sed 's/ $//')" ]
declare -A id=()
bad=''
while IFS='|' read -r object i above class n_params n_stats; do
	id[$object]=$i
	files=("$tune/$object"/*)
	entries=0
	for file in "${files[@]}"; do
		[ ! -f "$file" ] || entries=$((entries + 1))
	done
	[ "$n_params" = $entries ] || bad+="$object: $n_params parameters. "
	lines=()
	[ ! -e "$debug/$object/stats" ] || mapfile -t lines < "$debug/$object/stats"
	[ "$n_stats" = ${#lines[@]} ] || bad+="$object: $n_stats statistics. "
	case $class:$object:$above in
	nvme-queue:nvme*/q*:"${id[${object%/*}]}" | nvme-pools:nvme*/pools:"${id[${object%/*}]}" | \
		nvme-pool:nvme*/pools/*:"${id[${object%/*}]}" | nvme-controller:nvme[0-9]*: | nvme-driver:nvme: | \
		vfio-type1:vfio_type1: | iommufd:iommufd:) ;;
	*) bad+="$object: class $class, parent $above. " ;;
	esac
done < <(printf '%s\n' "${nl_out[@]}")
all_right "they are described rightly"

declare -A line_of=()
nl params
for line in "${nl_out[@]}"; do
	IFS='|' read -r object name _ <<< "$line"
	line_of[$object/$name]=$line
done
bad='' n=0
for key in "${keys[@]}"; do
	[[ $key == nvme/* || $key == "$ctrl"/* ]] || continue
	nl get "${key%/*}" "${key##*/}"
	[ "${nl_out[0]}" = "${line_of[$key]}" ] || bad+="$key "
	n=$((n + 1))
done
all_right "param-get: one by one as in the dump" 'n > 50'
nl params "$q2"
bad='' n=0
for line in "${nl_out[@]}"; do
	IFS='|' read -r object name _ <<< "$line"
	[ "$object:$line" = "$q2:${line_of[$object/$name]}" ] || bad+="$object/$name "
	n=$((n + 1))
done
all_right "param-get: a dump of one object has the same" 'n == total'

# asked DESCRIPTION ERROR WHERE COMMAND: refused, with a sentence
asked() {
	local what=$1 want="$2 $3"

	shift 3
	nl "$@"
	if [ "$nl_error $nl_where" = "$want" ] && [ ${#nl_text} -gt 5 ]; then
		ok "$what: $want $nl_text"
	else
		not_ok "$what: $want" "is ${nl_error:-accepted} $nl_where $nl_text"
	fi
}

asked "object-get without a name" EINVAL '!name' raw object-get
asked "object-get, unknown" ENODEV name raw object-get '{"name": "nvme77"}'
asked "object-get, half a path" ENODEV name raw object-get "{\"name\": \"$ctrl/\"}"
asked "param-get without an object" EINVAL '!object' raw param-get '{"name": "qid"}'
asked "param-get without a name" EINVAL '!name' raw param-get "{\"object\": \"$q1\"}"
asked "param-get, unknown object" ENODEV object get nvme77 qid
asked "param-get, unknown parameter" ENOENT name get "$q1" qids
# An error that ends a dump: 6.1 has the sentence for it and no place.
case $(uname -r) in
6.1.*)	where=- ;;
*)	where=object ;;
esac
asked "param-get, dump of an unknown object" ENODEV "$where" params nvme77
asked "stats-get without an object" EINVAL '!object' raw stats-get
asked "stats-get, unknown object" ENODEV object stats nvme77
asked "stats-reset without an object" EINVAL '!object' raw stats-reset
asked "stats-reset, unknown object" ENODEV object reset "$q1/q1"

# Several settings: all or none, the third of four wrong

mode on "$ctrl"
nl ntf
four=("$q1:defer_mode=off" "$ctrl:defer_lanes#3" '' "nvme:defer_irq_share=55")

before=$(everything)

unchanged() { # DESCRIPTION
	nl ntf
	check "$1: nothing has changed, nobody is told" \
		[ "$(everything)|${#nl_out[@]}" = "$before|0" ]
}

third() { # DESCRIPTION ERROR WHERE SETTING
	four[2]=$4
	asked "third of four: $1" "$2" "$3" set "${four[@]}"
	unchanged "third of four: $1"
}

third "no number" EINVAL 'setting[2].text' "$q2:defer_irq_share=x"
third "text out of range" ERANGE 'setting[2].text' "$q2:defer_irq_share=101"
third "value out of range" ERANGE 'setting[2].value' "$q2:defer_irq_share#101"
third "value below the range" ERANGE 'setting[2].value' "$ctrl:defer_chunk_bytes#4095"
third "value that 32 bits do not hold" ERANGE 'setting[2].value' "$q2:defer_irq_share#4294967297"
third "no such choice" EINVAL 'setting[2].text' "$q2:defer_mode=sometimes"
third "no such index" ERANGE 'setting[2].value' "$q2:defer_mode#3"
third "no bool" ERANGE 'setting[2].value' "$q2:measure#2"
third "unknown object" ENODEV 'setting[2].object' "$ctrl/q9:defer_mode=on"
third "unknown parameter" ENOENT 'setting[2].name' "$q2:defer_lanes=1"
third "read-only" EPERM 'setting[2].name' "$q2:qid#7"
third "read-only text" EPERM 'setting[2].name' "$q2:cpus=0"
third "the first one again" EINVAL 'setting[2]' "$q1:defer_mode=on"
third "busy" EBUSY 'setting[2]' "$ctrl:workqueue=controller"

# json SETTING: a request as those above, with this third one
json() {
	echo "{\"setting\": [
		{\"object\": \"$q1\", \"name\": \"defer_mode\", \"text\": \"off\"},
		{\"object\": \"$ctrl\", \"name\": \"defer_lanes\", \"value\": 3}, $1,
		{\"object\": \"nvme\", \"name\": \"defer_irq_share\", \"value\": 55}]}" | tr -d '\n\t'
}

third_json() { # DESCRIPTION ERROR WHERE SETTING
	asked "third of four: $1" "$2" "$3" "raw param-set $(json "$4")"
	unchanged "third of four: $1"
}

third_json "value and text" EINVAL 'setting[2].text' \
	"{\"object\": \"$q2\", \"name\": \"defer_irq_share\", \"value\": 1, \"text\": \"1\"}"
third_json "neither" EINVAL '!setting[2].value' \
	"{\"object\": \"$q2\", \"name\": \"defer_irq_share\"}"
third_json "no object" EINVAL '!setting[2].object' '{"name": "defer_irq_share", "value": 1}'
third_json "no name" EINVAL '!setting[2].name' "{\"object\": \"$q2\", \"value\": 1}"
third_json "an empty one" EINVAL '!setting[2].object' '{}'
third_json "a name that is too long" EINVAL 'setting[2].name' \
	"{\"object\": \"$q2\", \"name\": \"$(printf 'x%.0s' {1..32})\", \"value\": 1}"
asked "nothing to set" EINVAL '!setting' raw param-set '{}'
many=$(printf "$q1:defer_irq_share#7 %.0s" {1..1025})
asked "1025 settings" E2BIG - "set $many"
unchanged "1025 settings"

four[2]="$q2:resched_bytes=1M"
nl set "${four[@]}"
check "four that are right: accepted" [ -z "$nl_error" ]
check "all four are there" [ "$(cat "$tune/$q1/defer_mode" "$tune/$ctrl/defer_lanes" \
	"$tune/$q2/resched_bytes" "$tune/nvme/defer_irq_share" | tr '\n' ' ')" = "off 3 1048576 55 " ]
share=$(sed -n 's/^nvme defer_irq_share //p' "$tmp/settings")
expect_ntf "a notification for each, in order" \
	"param-ntf|$q1|defer_mode|inherit|off|0" \
	"param-ntf|$ctrl|defer_lanes|inherit|3|3" \
	"param-ntf|$q2|resched_bytes|inherit|1048576|1048576" \
	"param-ntf|nvme|defer_irq_share|$share|55|55"
put_back_settings
nl ntf

# Notifications: who changes it does not matter

told() { # DESCRIPTION FRONT-END KEY VALUE LINE...
	local what=$1 front=$2 key=$3 value=$4

	shift 4
	put "$front" "$key" "$value"
	[ -z "$error" ] || not_ok "$what" "$key=$value: $error"
	expect_ntf "$what" "$@"
}

told "told once: sysfs" sysfs "$q1/defer_small_bytes" 4K "param-ntf|$q1|defer_small_bytes|inherit|4096|4096"
told "not told: sysfs, the same" sysfs "$q1/defer_small_bytes" 4096
told "told once: debugfs" debugfs "$q1/defer_small_bytes" 5 "param-ntf|$q1|defer_small_bytes|4096|5|5"
told "not told: debugfs, the same" debugfs "$q1/defer_small_bytes" 5
told "told once: netlink" netlink "$q1/defer_small_bytes" 6 "param-ntf|$q1|defer_small_bytes|5|6|6"
told "not told: netlink, the same" netlink "$q1/defer_small_bytes" 6
told "told once: module parameter" module defer_small_bytes 8192 \
	"param-ntf|nvme|defer_small_bytes|16384|8192|8192"
told "not told: module parameter, the same" module defer_small_bytes 8192
told "told once: inherit" sysfs "$q1/defer_small_bytes" inherit \
	"param-ntf|$q1|defer_small_bytes|6|inherit|8192"
told "not told: inherit, the same" sysfs "$q1/defer_small_bytes" inherit
told "told once: the driver's default" sysfs nvme/defer_small_bytes inherit \
	"param-ntf|nvme|defer_small_bytes|8192|16384|16384"
told "not told: the driver's default, the same" sysfs nvme/defer_small_bytes inherit
put module defer_small_bytes 8192
nl ntf
told "told: a value of its own, though the same holds" sysfs "$q1/defer_small_bytes" 8192 \
	"param-ntf|$q1|defer_small_bytes|inherit|8192|8192"
put sysfs "$q1/defer_small_bytes" nonsense
put debugfs "$q1/defer_small_bytes" 4G
put sysfs "$q1/qid" 5
put module defer_small_bytes 8
put sysfs nvme/defer_small_bytes 16384
expect_ntf "not told: what is refused" \
	"param-ntf|nvme|defer_small_bytes|8192|8|8" "param-ntf|nvme|defer_small_bytes|8|16384|16384"
put sysfs nvme/defer_mode on
put sysfs "$q2/defer_mode" on
put sysfs "$ctrl/defer_mode" off
nl ntf
told "told: all that force_bounce_swiotlb_wq makes inherit" module force_bounce_swiotlb_wq N \
	"param-ntf|nvme|defer_mode|1|auto|2" "param-ntf|$ctrl|defer_mode|0|inherit|2" \
	"param-ntf|$q2|defer_mode|1|inherit|2"
told "not told: the same again" module force_bounce_swiotlb_wq N
reset_controller "$ctrl"
wait_for 20 "live $ctrl"
wait_for 10 "[ \$(armed $ctrl) = 2 ]"
expect_ntf "not told: a reset, after which all is as before"
put_back_settings
nl ntf

# Objects that go and come

collect() { # adds what has come to the array ntfs
	nl ntf
	ntfs+=("${nl_out[@]}")
}

pci=$(nvme_pci "$ctrl")
driver=$(readlink -f "/sys/bus/pci/devices/$pci/driver")
old=$ctrl
put sysfs "$q1/defer_irq_share" 33
nl ntf
echo "$pci" > "$driver/unbind"
pools=$ctrl/pools
expect_ntf "unbind: its objects have gone, those below before it" \
	"object-del-ntf|$pools/device|${id[$pools/device]}" "object-del-ntf|$pools/node0|${id[$pools/node0]}" \
	"object-del-ntf|$pools|${id[$pools]}" \
	"object-del-ntf|$q1|${id[$q1]}" "object-del-ntf|$q2|${id[$q2]}" "object-del-ntf|$ctrl|${id[$ctrl]}"
check "unbind: they are not in sysfs, not in debugfs" eval '[ ! -e "$tune/$ctrl" ] && [ ! -e "$debug/$ctrl" ]'
asked "unbind: nor over netlink" ENODEV object get "$q1" qid
check "unbind: the others are there" [ -e "$tune/nvme/defer_mode" ]
ntfs=()
echo "$pci" > "$driver/bind"
use two
q1=$ctrl/q1 q2=$ctrl/q2 pools=$ctrl/pools
soon 20 "bind: the last objects have come" \
	"collect; [[ \" \${ntfs[*]}\" == *' object-add-ntf|$q2|'* && \" \${ntfs[*]}\" == *' object-add-ntf|$pools/node0|'* ]]"
# queues and pools come by themselves, in any order
check "bind: a notification for each" \
	[ "$(printf '%s\n' "${ntfs[@]%|*}" | sort | sed 's/.*|//' | paste -sd' ')" = \
	"$ctrl $pools $pools/device $pools/node0 $q1 $q2" ]
bad='' seen=' '
for ntf in "${ntfs[@]%|*}"; do
	object=${ntf#*|}
	[[ $object != */* || $seen == *" ${object%/*} "* ]] || bad+="$object came before what is above it. "
	seen+="$object "
done
n=${#ntfs[@]}
all_right "bind: those above before it" 'n == 6'
nl objects
bad=''
while IFS='|' read -r object i _; do
	case $object in
	"$ctrl" | "$ctrl"/*) [ "$i" -gt "${id[$q2]:-0}" ] || bad+="$object $i. " ;;
	*) [ "$i" = "${id[$object]}" ] || bad+="$object $i. " ;;
	esac
done < <(printf '%s\n' "${nl_out[@]}")
all_right "bind: they have new ids, the others theirs"
check "bind: values begin anew" [ "$(cat "$tune/$q1/defer_irq_share")" = inherit ]
check "bind: it has a name, was $old, is $ctrl, in both trees" \
	eval '[ -e "$tune/$ctrl/defer_mode" ] && [ -e "$debug/$ctrl/params" ]'

# Dumps in parts

dumped() { # VARIABLES messages, different, flagged, parts
	nl rest || die "rest: $nl_error $nl_text"
	IFS='|' read -r _ messages different flagged parts <<< "${nl_out[0]}"
}

n_all=${#keys[@]}
nl begin param-get 4000 || die "begin: $nl_error"
dumped
expect "a dump in parts: complete, each once, not flagged" \
	'messages == n_all && different == n_all && flagged == 0 && parts > 5'
nl begin param-get 4000
put sysfs nvme/defer_max_age_ms 77
dumped
expect "a value changes meanwhile: flagged" \
	'messages == n_all && different == n_all && flagged > 0 && flagged < messages'
nl begin param-get 4000
put sysfs nvme/defer_max_age_ms 77
put sysfs nvme/defer_max_age_ms 0
dumped
expect "nothing changes meanwhile: not flagged" 'messages == n_all && flagged == 0'
nl begin param-get 4000
echo "$pci" > "$driver/unbind"
dumped
expect "objects go meanwhile: flagged, each of the others once" \
	'messages > 20 && messages < n_all && different == messages && flagged > 0'
nl begin param-get 4000
echo "$pci" > "$driver/bind"
use two
wait_for 20 "[ -e $tune/$ctrl/q2/qid ]"
dumped
expect "objects come meanwhile: flagged, each once" 'different == messages && flagged > 0'
put_back_settings

# Statistics

q1=$ctrl/q1 q2=$ctrl/q2
mode on "$ctrl"
check "load: written" fill "$dev" 0 8m
check "load: verified" verify "$dev" 0 8m
settle "$ctrl"

of_others=$(others_expected | wc -l)

# same_stats: the dump has what debugfs has, and a single request the same
same_stats() {
	local object name value line lines
	local -A stat=() by_dump=()

	nl stats
	for line in "${nl_out[@]}"; do
		IFS='|' read -r _ object name _ value <<< "$line"
		by_dump[$object]+="$line "
		[[ $line != stat* ]] || stat[$object]+="$name $value,"
	done
	n=0 bad=''
	for object in "${!stat[@]}"; do
		mapfile -t lines < "$debug/$object/stats"
		printf -v line '%s,' "${lines[@]}"
		[ "${stat[$object]}" = "$line" ] || bad+="$object: ${stat[$object]} not $line. "
		nl stats "$object"
		[ "${nl_out[*]} " = "${by_dump[$object]}" ] || bad+="$object: ${nl_out[*]}. "
		n=$((n + 1))
	done
}

same_stats
all_right "stats-get: as in debugfs, all queues, pools and others" 'n == 7 + 3 * 2 + of_others'
deferred=$(count "$ctrl" deferred)
expect "something was counted" 'deferred > 50'
nl stats "$ctrl"
check "stats-get: a controller has none" [ "$nl_error${#nl_out[@]}" = 0 ]
others=$(cat "$debug/$q2/stats")
nl reset "$q1"
check "stats-reset: counters and maxima start from 0" [ -z "$(grep -v ' 0$' "$debug/$q1/stats")" ]
check "stats-reset: another queue's do not" [ "$(cat "$debug/$q2/stats")" = "$others" ]
nl ntf
mark "$ctrl"
check "load: verified" verify "$dev" 0 8m
settle "$ctrl"
tally
expect "counted from there: all was deferred" 'deferred > 50 && worker_requests == deferred'
same_stats
all_right "stats-get: as in debugfs, all queues, pools and others" 'n == 7 + 3 * 2 + of_others'

# Histograms

# hists: the sums of the two, over the queues of the controller, in handler and delay
hists() {
	local object name buckets bucket

	handler=0 delay=0 off=0
	for object in $q1 $q2; do
		nl stats "$object"
		while IFS='|' read -r _ _ name buckets; do
			if [ "$buckets" = off ]; then
				off=$((off + 1))
				continue
			fi
			for bucket in ${buckets//,/ }; do
				case $name in
				handler_ns) handler=$((handler + ${bucket#*=})) ;;
				delay_ns) delay=$((delay + ${bucket#*=})) ;;
				esac
			done
		done < <(printf '%s\n' "${nl_out[@]}" | grep '^hist|')
	done
}

debugfs_sum() { # sum of all buckets in debugfs
	cat "$debug/$q1/histograms" "$debug/$q2/histograms" | awk '/: [0-9]+$/ { n += $NF } END { print n + 0 }'
}

one_by_one() { # reads of 4 KiB, one at a time
	run_fio --name=one --direct=1 --ioengine=libaio --iodepth=1 --rw=randread --bs=4k \
		--filename="$dev" --size=8m --io_size=1m
}

hists
expect "histograms are off" 'off == 4 && handler + delay == 0'
put sysfs "$ctrl/measure" 1
soon 10 "they are switched on" 'hists; [ $off = 0 ]'
nl begin stats-get 65536
check "a dump with histograms: its first part holds an object" [ -z "$nl_error" ]
if [ -z "$nl_error" ]; then
	dumped
	expect "a dump with histograms: all queues, pools and others, not flagged" \
		'messages == 7 + 3 * 2 + of_others && different == messages && flagged == 0'
fi
hists
expect "before the load: empty" 'handler + delay == 0'
mark "$ctrl"
check "load: one at a time" one_by_one
settle "$ctrl"
tally
hists
expect "one at a time: a value for each interrupt, one for each deferred request" \
	'deferred == 256 && handler == deferred && delay == deferred'
total=$(debugfs_sum)
expect "debugfs shows the same sum" 'total == handler + delay'
nl reset "$q1"
nl reset "$q2"
hists
expect "stats-reset: they are empty and on" 'handler + delay + off == 0'
mark "$ctrl"
check "load: many at a time" verify "$dev" 0 8m
settle "$ctrl"
tally
hists
expect "many at a time: a value for each deferred request, no more for interrupts" \
	'deferred > 100 && delay == worker_requests && handler > 0 && handler <= deferred + inline'
before=$handler,$delay
put sysfs "$ctrl/measure" inherit
check "switched off: load" one_by_one
settle "$ctrl"
hists
check "switched off: they stay as they were" [ "$handler,$delay" = "$before" ]
put sysfs "$q2/measure" 1
check "on again, one queue: load" one_by_one
settle "$ctrl"
hists
# which queue the reads take is the scheduler's to say
mark "$ctrl"
check "on again, both: load" eval 'put sysfs "$q1/measure" 1; one_by_one'
settle "$ctrl"
tally
was=$handler
hists
expect "on again: they go on from there" 'deferred == 256 && handler == was + 256'

put_back_settings
check "at the end all settings are as at first" diff "$tmp/settings" <(settings)
