#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Reads what guest-demo.sh has left, prints the table of the demo, writes result.json.

  report.py line RUN             one line about one run
  report.py report [--strict] DIR

How each figure is measured: Documentation/dev-tools/nvmetune-demo.rst
"""

import argparse
import json
import pathlib
import re
import statistics
import sys
import textwrap

E_UNMET, E_INVALID = 1, 2
SCHEMA = 1
WIDTH = 100
USER_HZ = 100
LOADED = ("load", "warm-up")
CLOCK_PCT = 2  # by how much the guest's clock may differ from the host's


class Invalid(Exception):
    """A measurement that cannot be used."""


# Arithmetic


def percentile(histogram, percent, beyond=None):
    """Smallest value that PERCENT of the samples do not exceed.

    histogram maps a value to its number of samples. The key None stands for samples
    that are larger than all others; their value is `beyond`.
    """
    total = sum(histogram.values())
    if not total:
        return None
    need = total * percent / 100
    seen = 0
    for value in sorted(key for key in histogram if key is not None):
        seen += histogram[value]
        if seen >= need - 1e-9:
            return value
    return beyond


def summary(values):
    """Median and range of what was measured, None where nothing was."""
    present = [value for value in values if value is not None]
    if not present:
        return None
    return {
        "median": statistics.median(present),
        "min": min(present),
        "max": max(present),
        "n": len(present),
    }


def shares(before, after, cpus):
    """Hardirq and softirq time of some CPUs in per cent of the time that went by.

    before and after are (seconds, {cpu: (hardirq ticks, softirq ticks)}).
    """
    if not cpus:
        return None, None
    ticks = (after[0] - before[0]) * USER_HZ * len(cpus)
    if ticks <= 0:
        raise Invalid("no time has gone by between two looks at /proc/stat")
    return tuple(
        sum(after[1][cpu][i] - before[1][cpu][i] for cpu in cpus) * 100 / ticks
        for i in (0, 1)
    )


def ratio(value, base):
    """value / base, None if there is no such thing."""
    return value / base if value is not None and base else None


# Reading


def read_pairs(path):
    """A file of NAME=VALUE lines."""
    return dict(
        line.split("=", 1) for line in path.read_text().splitlines() if "=" in line
    )


def read_cpu_times(path):
    """Time and interrupt times of each CPU from a copy of /proc/stat."""
    when, cpus = None, {}
    for row in path.read_text().splitlines():
        words = row.split()
        if words[0] == "time":
            when = float(words[1])
        else:
            cpus[int(words[0][3:])] = (int(words[6]), int(words[7]))
    return when, cpus


def read_hist(path):
    """ftrace's hist file: ({µs: hits}, dropped hits)."""
    text = path.read_text()
    hist = {
        int(us): int(hits)
        for us, hits in re.findall(r"^\{ us: +(\d+) \} hitcount: +(\d+)", text, re.M)
    }
    total = re.search(r"^ +Hits: (\d+)", text, re.M)
    dropped = re.search(r"^ +Dropped: (\d+)", text, re.M)
    if not total or not dropped:
        raise Invalid(f"{path.name} is not a histogram of ftrace")
    return hist, int(dropped[1])


def read_wait(path):
    """cyclictest's JSON: the histogram with None for what lies beyond it, the maximum."""
    (thread,) = json.loads(path.read_text())["thread"].values()
    hist = {int(us): hits for us, hits in thread["histogram"].items()}
    beyond = thread["cycles"] - sum(hist.values())
    if beyond > 0:
        hist[None] = beyond
    return hist, thread["max"]


def read_counters(path):
    """Sums over the I/O queues of the engine's counters."""
    sums = {}
    for row in path.read_text().splitlines():
        _, name, value = row.split()
        if value.isdigit():
            sums[name] = sums.get(name, 0) + int(value)
    return sums


def read_clock(path):
    """Two clocks at the moment at which a file was written: the guest's, the host's."""
    found = re.search(r"^guest time (\S+)", path.read_text(), re.M)
    return float(found[1]), path.stat().st_mtime


def clock_error(first, last):
    """By how many per cent the guest's clock ran fast between two files of a case."""
    try:
        guest, host = (b - a for a, b in zip(read_clock(first), read_clock(last)))
        return (guest / host - 1) * 100
    except (OSError, TypeError, ZeroDivisionError):
        return None


def fio_figures(path):
    """IOPS and latencies of the one group of jobs."""
    text = path.read_text()
    job = json.loads(text[text.index("{"):])["jobs"][0]
    read = job["read"]
    if job["error"] or not read["total_ios"]:
        raise Invalid(f"fio: error {job['error']}, {read['total_ios']} reads")
    clat = read["clat_ns"]["percentile"]
    return {
        "iops": read["iops"],
        "p50_ms": clat["50.000000"] / 1e6,
        "p99_ms": clat["99.000000"] / 1e6,
        "p999_ms": clat["99.900000"] / 1e6,
    }


def engine_figures(run):
    """What the engine did in a run."""
    before = read_counters(run / "counters.0")
    after = read_counters(run / "counters.1")

    def delta(*names):
        return sum(after[name] - before[name] for name in names)

    deferred = delta("irq_deferred", "softirq_deferred")
    seen = deferred + delta("irq_inline", "softirq_inline")
    queue_work = delta("irq_queue_work", "softirq_queue_work")
    return {
        "deferred": deferred,
        "queue_work": queue_work,
        "deferred_pct": 100 * deferred / seen if seen else 0.0,
        "queue_work_per_request": queue_work / seen if seen else 0.0,
        "pressure": delta("irq_pressure", "softirq_pressure"),
    }


def share_figures(run):
    """Interrupt shares of the CPUs that take the interrupts, and of the others."""
    before = read_cpu_times(run / "cpu.0")
    after = read_cpu_times(run / "cpu.1")
    text = (run.parent / "interrupt_cpus").read_text()
    taking = [int(cpu) for cpu in text.split()]
    others = [cpu for cpu in before[1] if cpu not in taking]
    hard, soft = shares(before, after, taking)
    other_hard, other_soft = shares(before, after, others)
    if hard + soft == 0:
        raise Invalid("the interrupt share is 0 under load: no IRQ time accounting?")
    return {
        "hardirq_pct": hard,
        "softirq_pct": soft,
        "interrupt_pct": hard + soft,
        "other_hardirq_pct": other_hard,
        "other_softirq_pct": other_soft,
        "excess_points": hard + soft - other_hard - other_soft if others else None,
        "interrupt_cpus": taking,
    }


def duration_figures(run):
    """How long the handler and the BLOCK softirq ran at a stretch, and who waited."""
    figures = {}
    for name in ("handler", "block"):
        hist, dropped = read_hist(run / name)
        figures[f"{name}_runs"] = sum(hist.values()) + dropped
        figures[f"{name}_dropped"] = dropped
        figures[f"{name}_p999_ms"] = scaled(percentile(hist, 99.9), 1e-3)
        figures[f"{name}_max_ms"] = scaled(max(hist, default=None), 1e-3)
    if not figures["handler_runs"]:
        raise Invalid("the handler did not run")
    hist, longest = read_wait(run / "wait.json")
    if not hist:
        raise Invalid("the waiting task never ran")
    figures["wait_samples"] = sum(hist.values())
    for name, percent in (("p99", 99), ("p999", 99.9)):
        figures[f"wait_{name}_ms"] = percentile(hist, percent, longest) * 1e-3
    figures["wait_max_ms"] = longest * 1e-3
    return figures


def scaled(value, factor):
    """value * factor, None if there is none."""
    return None if value is None else value * factor


def read_run(run):
    """All figures of a run. The directory's name says what it is."""
    kind, repeat, label = run.name.split(".", 2)
    result = {"kind": kind, "repeat": int(repeat), "variant": label}
    settings = read_pairs(run / "settings")
    result["mode"] = settings["mode"]
    result["settings"] = settings
    try:
        figures = fio_figures(run / "fio.json")
        figures.update(engine_figures(run))
        if kind in LOADED:
            figures.update(share_figures(run))
            figures.update(duration_figures(run))
    except (Invalid, OSError, KeyError, ValueError) as error:
        result["invalid"] = str(error) or repr(error)
        figures = {}
    result["figures"] = figures
    return result


def read_case(path):
    """A case: its description, its runs in the order in which they were made."""
    case = read_pairs(path / "case")
    result = {
        "name": path.name,
        "title": case["title"],
        "cpus": int(case["cpus"]),
        "queues": int(case["queues"]),
        "scheduler": case["scheduler"],
        "kernel_release": (path / "release").read_text().strip(),
        "kernel_version": (path / "version").read_text().strip(),
        "kernel_arguments": (path / "cmdline").read_text().strip(),
        "host_others_pct": float(case["host_others_pct"]),
        "boots": int(case.get("boots", 1)),
        "fio": {
            file.name[4:]: file.read_text().split() for file in path.glob("fio.*")
        },
        "defaults": read_pairs(path / "defaults"),
    }
    names = [line.split()[0] for line in (path / "plan").read_text().splitlines()]
    runs = [read_run(path / name) for name in names]
    result["runs"] = [run for run in runs if run["kind"] != "warm-up"]
    result["clock_error_pct"] = clock_error(
        path / names[0] / "counters.0", path / names[-1] / "counters.1"
    )
    result["interrupt_cpus"] = [
        int(cpu) for cpu in (path / "interrupt_cpus").read_text().split()
    ]
    return result


def median_of_runs(case, kind):
    """{variant: {figure: summary}} of one kind of run."""
    variants = {}
    for run in case["runs"]:
        if run["kind"] == kind:
            variants.setdefault(run["variant"], []).append(run["figures"])
    return {
        label: {
            name: summary([figures.get(name) for figures in runs])
            for name in sorted({name for figures in runs for name in figures})
            if name != "interrupt_cpus"
        }
        for label, runs in variants.items()
    }


# Targets


def by_repeat(case, kind, label, name):
    """{repeat: figure} of a variant."""
    return {
        run["repeat"]: run["figures"].get(name)
        for run in case["runs"]
        if run["kind"] == kind and run["variant"] == label
    }


class Targets:
    """Compares variants with the one that is off."""

    def __init__(self, case, kind, variants):
        self.case, self.kind = case, kind
        self.modes = variants
        self.medians = median_of_runs(case, kind)
        self.off = next((label for label in variants if variants[label] == "off"), None)
        self.found = []

    def median(self, label, name):
        """A variant's median of a figure, None if it was not measured."""
        figure = self.medians.get(label, {}).get(name)
        return figure["median"] if figure else None

    def add(self, label, value, spread, target):
        """Notes a target and whether it is met."""
        at_least = "at_least" in target
        bound = target["at_least"] if at_least else target["at_most"]
        self.found.append(
            {
                "case": self.case["name"],
                "title": self.case["title"],
                "variant": label,
                "what": target["what"],
                "value": value,
                "spread": spread,
                "bound": bound,
                "at_least": at_least,
                "unit": target["unit"],
                "met": value >= bound if at_least else value <= bound,
            }
        )

    def absolute(self, label, name, what, unit="", **bound):
        """Bounds a figure itself."""
        figure = self.medians.get(label, {}).get(name)
        if figure:
            spread = [figure["min"], figure["max"]]
            self.add(label, figure["median"], spread, {"what": what, "unit": unit, **bound})

    def relative(self, label, name, what, **bound):
        """Bounds a figure's median in relation to that of off."""
        value = ratio(self.median(label, name), self.median(self.off, name))
        if value is None:
            return
        own = by_repeat(self.case, self.kind, label, name)
        base = by_repeat(self.case, self.kind, self.off, name)
        pairs = [ratio(own[repeat], base.get(repeat)) for repeat in own]
        pairs = [pair for pair in pairs if pair is not None]
        spread = [min(pairs), max(pairs)] if pairs else None
        self.add(label, value, spread, {"what": what, "unit": "x off", **bound})

    def excess(self, label, mode):
        """Interrupt share beyond that of the other CPUs."""
        what = "interrupt CPUs above the others"
        if mode == "on":
            self.absolute(label, "excess_points", what, "points", at_most=10)
        else:
            self.absolute(label, "excess_points", what, "points", at_most=20)
            self.relative(label, "excess_points", what, at_most=0.5)

    def load(self):
        """What is asked of the load that the demo is about."""
        for label, mode in self.modes.items():
            if mode == "off":
                continue
            if self.case["name"] == "2-cpus":
                if mode == "on":
                    self.relative(label, "handler_p999_ms", "handler p99.9", at_most=0.2)
                continue
            self.excess(label, mode)
            self.relative(label, "iops", "IOPS", at_least=0.93)
            self.relative(label, "p99_ms", "latency p99", at_most=1.15)
            if mode == "auto" and self.case["name"] == "mq-deadline":
                self.relative(label, "wait_max_ms", "longest wait of the task", at_most=0.5)
        return self.found

    def small(self):
        """What is asked of reads too small for their copy to matter."""
        for label, mode in self.modes.items():
            if mode == "auto":
                self.relative(label, "iops", "4 KiB reads, QD 64 x 4: IOPS", at_least=0.95)
        return self.found

    def one(self):
        """One 4 KiB read at a time is never deferred in auto."""
        for label, mode in self.modes.items():
            for name in ("deferred", "queue_work"):
                if mode == "auto":
                    self.absolute(label, name, f"4 KiB reads, QD 1: {name}", at_most=0)
        return self.found


def all_targets(cases, variants):
    """The targets of all cases that were measured."""
    found = []
    for case in cases:
        found += Targets(case, "load", variants).load()
        found += Targets(case, "one", variants).one()
        found += Targets(case, "small", variants).small()
    return found


# Printing

# label, unit, figure, factor, digits
ROWS = (
    ("reads a second (IOPS)", "1000/s", "iops", 1e-3, 1),
    ("latency of a read: p50", "ms", "p50_ms", 1, 1),
    ("                   p99", "ms", "p99_ms", 1, 1),
    ("                   p99.9", "ms", "p999_ms", 1, 1),
    ("interrupt CPUs: in hardirq", "% time", "hardirq_pct", 1, 1),
    ("                in softirq", "% time", "softirq_pct", 1, 1),
    ("other CPUs:     in hardirq", "% time", "other_hardirq_pct", 1, 1),
    ("                in softirq", "% time", "other_softirq_pct", 1, 1),
    ("interrupt CPUs above the others", "points", "excess_points", 1, 1),
    ("a run of nvme_irq: p99.9", "ms", "handler_p999_ms", 1, 2),
    ("                   longest", "ms", "handler_max_ms", 1, 2),
    ("a run of BLOCK softirq: p99.9", "ms", "block_p999_ms", 1, 2),
    ("                   longest", "ms", "block_max_ms", 1, 2),
    ("wait of a task pinned there: p99", "ms", "wait_p99_ms", 1, 1),
    ("                   p99.9", "ms", "wait_p999_ms", 1, 1),
    ("                   longest", "ms", "wait_max_ms", 1, 1),
    ("requests deferred", "%", "deferred_pct", 1, 0),
)
SMALL_ROWS = (
    ("4 KiB reads, QD 64 x 4: IOPS", "1000/s", "iops", 1e-3, 1),
    ("                   p99", "ms", "p99_ms", 1, 2),
)
ONE_ROWS = (
    ("4 KiB reads, QD 1: IOPS", "1000/s", "iops", 1e-3, 2),
    ("                   deferred", "", "deferred", 1, 0),
    ("                   queue_work calls", "", "queue_work", 1, 0),
)
LABEL, UNIT, COLUMN = 33, 7, 19


def number(value, digits):
    """So many digits behind the point, fewer where the number is large."""
    large = (abs(value) >= 100) + (abs(value) >= 10)
    return f"{value:.{max(0, min(digits, 2 - large))}f}"


def spread_text(figure, factor, digits):
    """median (lowest-highest)"""
    if not figure:
        return "-"
    text, low, high = (
        number(figure[name] * factor, digits) for name in ("median", "min", "max")
    )
    return f"{text} ({low}-{high})" if figure["n"] > 1 else text


def print_rows(rows, medians, labels):
    """Some rows of a table; those of which no variant has a figure are left out."""
    for label, unit, name, factor, digits in rows:
        figures = [medians.get(one, {}).get(name) for one in labels]
        if not any(figures):
            continue
        cells = "".join(
            f" {spread_text(figure, factor, digits):>{COLUMN}}" for figure in figures
        )
        print(f"{label:<{LABEL}}{unit:<{UNIT}}{cells}".rstrip())


def print_case(case, labels):
    """The table of a case, as many variants beside each other as fit."""
    plural = "" if case["queues"] == 1 else "s"
    cpus = ", ".join(str(cpu) for cpu in case["interrupt_cpus"])
    print(
        f"{case['title'].upper()}: {case['cpus']} virtual CPUs, {case['queues']} hardware"
        f" queue{plural}, interrupts on CPU {cpus}"
    )
    load, small, one = (case["medians"][kind] for kind in ("load", "small", "one"))
    fit = (WIDTH - LABEL - UNIT) // (COLUMN + 1)
    for first in range(0, len(labels), fit):
        some = labels[first:first + fit]
        heads = "".join(f" {label[:COLUMN]:>{COLUMN}}" for label in some)
        print(f"{'median (lowest-highest)':<{LABEL}}{'':<{UNIT}}{heads}")
        print_rows(ROWS, load, some)
        print_rows(SMALL_ROWS, small, some)
        print_rows(ONE_ROWS, one, some)
        print()


def print_targets(targets):
    """A line a target."""
    print("TARGETS, from the medians (in brackets: lowest and highest of the repeats)")
    title = None
    for target in targets:
        if target["title"] != title:
            title = target["title"]
            print(f"{title}:")
        digits = 2 if target["unit"] == "x off" else 1
        value = number(target["value"], digits)
        if target["spread"]:
            low, high = (number(one, digits) for one in target["spread"])
            value += f" ({low}-{high})"
        verdict = "met" if target["met"] else "NOT met"
        bound = f"{'at least' if target['at_least'] else 'at most'} {target['bound']:g}"
        what = f"{target['variant']}: {target['what']}"
        print(f"  {verdict:<8}{what:<42}{value:>18}   {bound} {target['unit']}".rstrip())
    print()


def print_conditions(result):
    """What was measured on what."""
    host, case = result["conditions"], result["cases"][0]
    accel = "KVM" if host["acceleration"].startswith("kvm") else "TCG: no KVM, all CPUs emulated"
    dirty = ", with uncommitted changes" if host["dirty"] == "yes" else ""
    lines = (
        f"Linux {case['kernel_release']}, nvmetune {host['commit'][:12]}{dirty}, {host['date']}",
        f"QEMU {host['qemu']} ({accel}) on {host['host_cpus']} CPUs;"
        " a disk that answers at once; all DMA bounces (swiotlb=force)",
        f"load: fio {' '.join(case['fio']['load'])}",
        f"{host['repeats']} interleaved repeats of {', '.join(result['variants'])};"
        f" {host['seconds']} s of each measured",
    )
    for one in lines:
        print(wrapped(one))
    print()


# What the numbers mean


def direction(off, other):
    """-1 or 1 if all repeats are below or above those of off, 0 if they overlap."""
    if other["max"] < off["min"]:
        return -1
    return 1 if other["min"] > off["max"] else 0


def listed(titles):
    """a, b and c"""
    return " and ".join(filter(None, [", ".join(titles[:-1]), titles[-1]]))


def between(values, unit):
    """The range of some numbers in words."""
    low, high = number(min(values), 1), number(max(values), 1)
    return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"


class Comparison:
    """Puts into words how a variant differs from off. Nothing is said but by the numbers."""

    def __init__(self, cases, off, other):
        self.cases, self.off, self.other = cases, off, other

    def figures(self, label, name):
        """Summaries of a figure, a case each."""
        return [case["medians"]["load"][label][name] for case in self.cases]

    def where(self, name, below, above):
        """In which cases a figure is below and above that of off, beyond all doubt."""
        found = {-1: [], 1: [], 0: []}
        pairs = zip(self.cases, self.figures(self.off, name), self.figures(self.other, name))
        for case, off, other in pairs:
            found[direction(off, other)].append(case["title"])
        parts = []
        same = "no different within the spread of the repeats"
        for key, word in ((-1, below), (1, above), (0, same)):
            if len(found[key]) == len(self.cases):
                return word if len(self.cases) == 1 else f"{word} in all cases"
            if found[key]:
                parts.append(f"{word} in the case {listed(found[key])}")
        return ", ".join(parts)

    def against(self, name, unit):
        """(medians against those of off)"""
        other, off = (
            between([figure["median"] for figure in self.figures(label, name)], unit)
            for label in (self.other, self.off)
        )
        return f"({other} against {off})"

    def change(self, name):
        """The change of the medians in per cent."""
        pairs = zip(self.figures(self.other, name), self.figures(self.off, name))
        changes = [(ratio(a["median"], b["median"]) - 1) * 100 for a, b in pairs]
        low, high = (f"{value:+.0f}" for value in (min(changes), max(changes)))
        return f"({low} %)" if low == high else f"({low} to {high} %)"


def sentences(result):
    """Two sentences on what the numbers mean, made from them alone."""

    def first_of(mode):
        found = (label for label, one in result["variants"].items() if one["mode"] == mode)
        return next(found, None)

    off, other = first_of("off"), first_of("auto") or first_of("on")
    if off is None or other is None:
        return []
    cases = [case for case in result["cases"] if case["name"] != "2-cpus"]
    words = Comparison(cases or result["cases"], off, other)
    met = sum(target["met"] for target in result["targets"])
    return [
        f"With {other} instead of {off}, the time that interrupt CPUs spend in interrupts is"
        f" {words.where('interrupt_pct', 'lower', 'higher')}"
        f" {words.against('interrupt_pct', '%')}, and the longest wait of a task pinned to one"
        f" of them is {words.where('wait_max_ms', 'shorter', 'longer')}"
        f" {words.against('wait_max_ms', 'ms')}.",
        f"IOPS are {words.where('iops', 'lower', 'higher')} {words.change('iops')}, the p99"
        f" latency of a read is {words.where('p99_ms', 'lower', 'higher')}"
        f" {words.change('p99_ms')}; {met} of {len(result['targets'])} targets are met.",
    ]


def wrapped(text):
    """Broken into lines that fit."""
    return "\n".join(textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False))


# Commands


def run_line(run):
    """One line about one run."""
    result = read_run(run)
    figures = result["figures"]
    head = f"{result['kind']:<8} {result['variant']:<12} repeat {result['repeat']}:"
    if "invalid" in result:
        return f"{head} NOT VALID: {result['invalid']}"
    text = f"{head} {figures['iops']:6.0f} IOPS, p99 {figures['p99_ms']:6.1f} ms"
    if "hardirq_pct" in figures:
        text += (
            f", interrupts {figures['interrupt_pct']:3.0f} %,"
            f" wait {figures['wait_max_ms']:4.0f} ms"
        )
    return text


def collect(out):
    """Everything in result.json."""
    conditions = read_pairs(out / "conditions")
    variants = {}
    for one in (out / "variants").read_text().splitlines():
        label, *pairs = one.split()
        settings = dict(pair.split("=", 1) for pair in pairs)
        variants[label] = {"mode": settings.get("mode", "auto"), "settings": settings}
    cases = [read_case(out / name) for name in conditions["cases"].split()]
    for case in cases:
        case["medians"] = {
            kind: median_of_runs(case, kind) for kind in ("load", "small", "one")
        }
    problems = [
        f"{case['title']}, {run['kind']} {run['variant']}, repeat {run['repeat']}: {run['invalid']}"
        for case in cases
        for run in case["runs"]
        if "invalid" in run
    ]
    problems += [
        f"{case['title']}: the guest's clock was off by {case['clock_error_pct']:+.0f} %"
        " (measured at boot, on a machine that was busy then): all its figures are off"
        for case in cases
        if abs(case["clock_error_pct"] or 0) > CLOCK_PCT
    ]
    modes = {label: one["mode"] for label, one in variants.items()}
    return {
        "schema": SCHEMA,
        "valid": not problems,
        "problems": problems,
        "conditions": conditions,
        "variants": variants,
        "cases": cases,
        "targets": all_targets(cases, modes),
    }


def warnings(result):
    """What the reader should know before believing the figures."""
    found = [f"not valid: {problem}" for problem in result["problems"]]
    for case in result["cases"]:
        if case["host_others_pct"] > 5:
            found.append(
                f"{case['title']}: other programs took {case['host_others_pct']:.0f} % of this"
                " machine meanwhile: the figures are noisy"
            )
        dropped = sum(
            run["figures"].get(name, 0)
            for run in case["runs"]
            for name in ("handler_dropped", "block_dropped")
        )
        if dropped:
            found.append(f"{case['title']}: ftrace dropped {dropped} durations")
    return found


def report(out, strict):
    """Prints all, writes result.json."""
    result = collect(out)
    result["sentences"] = sentences(result) if result["valid"] else []
    path = out / "result.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    print_conditions(result)
    for case in result["cases"]:
        print_case(case, list(result["variants"]))
    if result["targets"]:
        print_targets(result["targets"])
    for warning in warnings(result):
        print(wrapped(f"WARNING: {warning}"))
    for sentence in result["sentences"]:
        print(wrapped(sentence))
    print(f"\nAll figures: {path}")
    if not result["valid"]:
        return E_INVALID
    unmet = any(not target["met"] for target in result["targets"])
    return E_UNMET if strict and unmet else 0


def main(arguments):
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("line")
    command.add_argument("run", type=pathlib.Path)
    command = commands.add_parser("report")
    command.add_argument("--strict", action="store_true")
    command.add_argument("out", type=pathlib.Path)
    options = parser.parse_args(arguments)
    if options.command == "line":
        print(run_line(options.run))
        return 0
    return report(options.out, options.strict)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
