# SPDX-License-Identifier: GPL-2.0
# scan.awk SPLATS LOG: see tools/vm/scan. Plain awk: mawk has no intervals.
#
# Lines belong to reports, so that an expected one covers its own back trace and no
# other. A report ends at its end marker; those without one after LONGEST lines.

function add(kind, pattern) {
	match_of[kind] = match_of[kind] (kind in match_of && match_of[kind] != "" ? "|" : "") "(" pattern ")"
}

function begin_report(is_cut) {
	end_report()
	open = 1
	cut = is_cut
	first = FNR_log
	lines = 0
	expected = 0
}

function end_report() {
	if (!open)
		return
	open = 0
	if (expected) {
		n_expected++
		return
	}
	n_bad++
	if (n_bad == 1)
		first_bad = first
}

function look_for_allowed(line,    i) {
	for (i = 1; i <= n_allow; i++) {
		if (line ~ allow[i]) {
			expected = 1
			seen[i] = 1
		}
	}
}

function scan_line(line) {
	if (line ~ match_of["harmless"])
		return
	if (index(line, "---[ cut here ]---"))
		begin_report(1)
	else if (line ~ match_of["begin"]) {
		if (!open || !cut)
			begin_report(0)
	} else if (line ~ match_of["within"]) {
		if (!open)
			begin_report(0)
	}
	if (!open)
		return
	look_for_allowed(line)
	lines++
	# a report after "cut here" has a marker of its own after its back trace
	if (line ~ (cut ? "---\\[ end " : match_of["end"]) || lines > LONGEST)
		end_report()
}

function print_bad(    i, to) {
	to = first_bad + 40
	printf "%d report(s) in the kernel log%s; the first:\n", n_bad, n_expected ? " beside " n_expected " expected" : ""
	for (i = first_bad > 5 ? first_bad - 5 : 1; i <= to && i <= FNR_log; i++)
		print "  " text[i]
}

BEGIN {
	LONGEST = 120
	until = ENVIRON["SCAN_UNTIL"]
	n = split(ENVIRON["SCAN_ALLOW"], all, "\n")
	for (i = 1; i <= n; i++)
		if (all[i] != "")
			allow[++n_allow] = all[i]
}

# the patterns
NR == FNR {
	if (/^#/ || /^[ \t]*$/)
		next
	kind = $1
	sub(/^[a-z]+[ \t]+/, "")
	add(kind, $0)
	next
}

{
	if (until != "" && $0 ~ until)
		exit
	FNR_log = FNR
	sub(/\r+$/, "")
	text[FNR] = $0
	sub(/^(\[[ 0-9.TC]+\] ?)+/, "")
	scan_line($0)
}

END {
	end_report()
	if (n_bad) {
		print_bad()
		exit 1
	}
	for (i = 1; i <= n_allow; i++) {
		if (!(i in seen)) {
			print "expected in the kernel log, but not there: " allow[i]
			missing = 1
		}
	}
	exit missing ? 2 : 0
}
