#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of the arithmetic and of the words in report.py, without a measurement."""

import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import report  # pylint: disable=wrong-import-position

FTRACE = """# event histogram
#
# trigger info: hist:keys=us:vals=hitcount:sort=hitcount:size=32768 [active]
#

{{ us:        175 }} hitcount:          1
{{ us:      {longest:>5} }} hitcount:         {hits}

Totals:
    Hits: 10
    Entries: 2
    Dropped: {dropped}
"""


class Percentile(unittest.TestCase):
    """percentile()"""

    def test_known_values(self):
        """Nearest rank, as fio and cyclictest count."""
        hundred = {value: 1 for value in range(1, 101)}
        for percent, value in ((1, 1), (50, 50), (99, 99), (99.9, 100), (100, 100)):
            self.assertEqual(report.percentile(hundred, percent), value)

    def test_counts(self):
        """Many samples of one value."""
        self.assertEqual(report.percentile({10: 999, 500: 1}, 99.9), 10)
        self.assertEqual(report.percentile({10: 998, 500: 2}, 99.9), 500)

    def test_nothing(self):
        """No samples, no percentile."""
        self.assertIsNone(report.percentile({}, 50))

    def test_beyond(self):
        """What lies beyond the histogram counts as the largest."""
        self.assertEqual(report.percentile({1: 9, None: 1}, 50, 777), 1)
        self.assertEqual(report.percentile({1: 9, None: 1}, 99, 777), 777)


class Arithmetic(unittest.TestCase):
    """The other small functions"""

    def test_summary(self):
        """Median of an odd and an even number, None left out."""
        self.assertEqual(
            report.summary([3, 1, 2, None]), {"median": 2, "min": 1, "max": 3, "n": 3}
        )
        self.assertEqual(report.summary([1, 2])["median"], 1.5)
        self.assertIsNone(report.summary([None]))

    def test_shares(self):
        """Ticks of the chosen CPUs over the time that went by."""
        before = (100.0, {0: (0, 0), 1: (1000, 1000)})
        after = (102.0, {0: (20, 10), 1: (1100, 1000)})
        self.assertEqual(report.shares(before, after, [0]), (10, 5))
        self.assertEqual(report.shares(before, after, [1]), (50, 0))
        self.assertEqual(report.shares(before, after, [0, 1]), (30, 2.5))
        self.assertEqual(report.shares(before, after, []), (None, None))
        with self.assertRaises(report.Invalid):
            report.shares(before, before, [0])

    def test_ratio(self):
        """No ratio to nothing."""
        self.assertEqual(report.ratio(1, 2), 0.5)
        self.assertIsNone(report.ratio(1, 0))
        self.assertIsNone(report.ratio(None, 2))

    def test_number(self):
        """Three digits are enough."""
        for value, text in ((0.123, "0.12"), (12.345, "12.3"), (123.4, "123"), (9999, "9999")):
            self.assertEqual(report.number(value, 2), text)
        self.assertEqual(report.number(5, 0), "5")

    def test_direction(self):
        """Only what does not overlap differs."""
        one, two = {"min": 1, "max": 2}, {"min": 3, "max": 4}
        self.assertEqual(report.direction(one, two), 1)
        self.assertEqual(report.direction(two, one), -1)
        self.assertEqual(report.direction(one, {"min": 2, "max": 4}), 0)


# A demo as guest-demo.sh would leave it


DEFAULTS = {
    "iops": 1000.0,
    "hardirq": 100,
    "longest": 5000,
    "wait": 2000,
    "deferred": 0,
    "dropped": 0,
}


def write_run(run, **changes):
    """A run of 2 s on 4 CPUs of which CPU 1 takes the interrupts."""
    what = {**DEFAULTS, **changes}
    run.mkdir(parents=True)
    clat = {"50.000000": 1e6, "99.000000": 2e6, "99.900000": 3e6}
    read = {"iops": what["iops"], "total_ios": 9, "clat_ns": {"percentile": clat}}
    job = {"error": 0, "read": read}
    (run / "fio.json").write_text("fio: a message\n" + json.dumps({"jobs": [job]}))
    for when, ticks in ((0, 0), (1, what["hardirq"])):
        lines = [f"time {100 + 2 * when}.5"]
        lines += [f"cpu{cpu} 1 2 3 4 5 {ticks if cpu == 1 else 0} 0 0 0 0" for cpu in range(4)]
        (run / f"cpu.{when}").write_text("\n".join(lines) + "\n")
        deferred = what["deferred"] * when
        count = {"deferred": deferred, "inline": 100 * when - deferred, "queue_work": 0}
        lines = [
            f"q1 {by}_{name} {value}" for by in ("irq", "softirq") for name, value in count.items()
        ]
        lines += ["q1 mode auto", "q1 irq_pressure 0", "q1 softirq_pressure 0"]
        (run / f"counters.{when}").write_text("\n".join(lines) + "\n")
    for name, dropped in (("handler", what["dropped"]), ("block", 0)):
        text = FTRACE.format(hits=9, longest=what["longest"], dropped=dropped)
        (run / name).write_text(text)
    thread = {"histogram": {"100": 8}, "cycles": 10, "max": what["wait"]}
    (run / "wait.json").write_text(json.dumps({"thread": {"0": thread}}))
    (run / "settings").write_text("mode=auto\nlanes=2\n")


def write_demo(out, repeats=3, **auto):
    """off takes 50 % of CPU 1's time, 1000 IOPS, 2 ms wait; auto as said."""
    case = out / "mq-deadline"
    plan = ["warm-up.0.any warm-up"]
    write_run(case / "warm-up.0.any")
    for repeat in range(1, repeats + 1):
        for label in ("off", "auto"):
            plan.append(f"load.{repeat}.{label} load mode={label}")
            run = case / f"load.{repeat}.{label}"
            write_run(run, **({} if label == "off" else auto))
    for name, text in (
        ("plan", "\n".join(plan) + "\n"),
        (
            "case",
            "title=mq-deadline\ncpus=4\nqueues=2\nscheduler=mq-deadline\n"
            "host_others_pct=1.5\nboots=1\n",
        ),
        ("fio.load", "--bs=128k\n"),
        ("defaults", "mode=auto\n"),
        ("interrupt_cpus", "1\n"),
        ("release", "6.12\n"),
        ("version", "#1\n"),
        ("cmdline", "quiet\n"),
    ):
        (case / name).write_text(text)
    (out / "variants").write_text("off mode=off\nauto  mode=auto\n")
    (out / "conditions").write_text(
        "cases=mq-deadline\nacceleration=tcg\ncommit=none\ndirty=no\ndate=today\nqemu=7\n"
        f"host_cpus=2\nrepeats={repeats}\nseconds=2\n"
    )


class Demo(unittest.TestCase):
    """Everything from the raw files on"""

    def setUp(self):
        # pylint: disable-next=consider-using-with
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.out = pathlib.Path(self.directory.name)

    def report(self, strict=False):
        """What it prints, its exit code and the JSON."""
        with contextlib.redirect_stdout(io.StringIO()) as text:
            status = report.report(self.out, strict)
        return text.getvalue(), status, json.loads((self.out / "result.json").read_text())

    def verdicts(self, result):
        """{what: met}"""
        return {(one["what"], one["unit"]): one["met"] for one in result["targets"]}

    def test_figures(self):
        """Each figure out of its file."""
        write_demo(self.out, repeats=1, hardirq=50, deferred=25)
        _, status, result = self.report()
        self.assertEqual(status, 0)
        self.assertEqual(result["schema"], 1)
        runs = result["cases"][0]["runs"]
        self.assertEqual([run["variant"] for run in runs], ["off", "auto"])
        figures = runs[1]["figures"]
        expected = {
            "iops": 1000,
            "p99_ms": 2,
            "hardirq_pct": 25,
            "other_hardirq_pct": 0,
            "excess_points": 25,
            "handler_max_ms": 5,
            "wait_max_ms": 2,
            "wait_p99_ms": 2,
            "wait_samples": 10,
            "deferred": 50,
            "deferred_pct": 25,
        }
        for name, value in expected.items():
            self.assertAlmostEqual(figures[name], value, msg=name)

    def test_met(self):
        """auto relieves the CPU at no cost."""
        write_demo(self.out, hardirq=20, wait=900)
        text, status, result = self.report(strict=True)
        self.assertEqual(status, 0)
        self.assertTrue(all(self.verdicts(result).values()))
        self.assertEqual(len(result["targets"]), 5)
        self.assertNotIn("NOT met", text)
        self.assertIn("interrupts is lower (", result["sentences"][0])
        self.assertIn("is shorter (", result["sentences"][0])
        self.assertIn("IOPS are no different", result["sentences"][1])
        self.assertIn("5 of 5 targets", result["sentences"][1])

    def test_not_met(self):
        """auto does harm: said, marked, an error only with --strict."""
        write_demo(self.out, hardirq=180, wait=9000, iops=800)
        text, status, result = self.report()
        self.assertEqual(status, 0)
        self.assertFalse(self.verdicts(result)[("IOPS", "x off")])
        self.assertFalse(self.verdicts(result)[("interrupt CPUs above the others", "points")])
        self.assertFalse(self.verdicts(result)[("longest wait of the task", "x off")])
        self.assertIn("NOT met", text)
        self.assertIn("interrupts is higher (", result["sentences"][0])
        self.assertIn("IOPS are lower (", result["sentences"][1])
        self.assertEqual(self.report(strict=True)[1], report.E_UNMET)

    def test_width(self):
        """Nothing is wider than a terminal of 100 columns."""
        write_demo(self.out, hardirq=180, wait=123456789, iops=123456.0, longest=99999)
        text, _, _ = self.report()
        self.assertLessEqual(max(map(len, text.replace(str(self.out), "").splitlines())), 100)

    def test_invalid(self):
        """No interrupt time under load is no measurement."""
        write_demo(self.out, hardirq=0)
        text, status, result = self.report()
        self.assertEqual(status, report.E_INVALID)
        self.assertFalse(result["valid"])
        self.assertEqual(len(result["problems"]), 3)
        self.assertIn("the interrupt share is 0", text)
        self.assertEqual(result["sentences"], [])
        line = report.run_line(self.out / "mq-deadline" / "load.1.auto")
        self.assertIn("NOT VALID", line)

    def test_missing_file(self):
        """A run that left a file out is invalid, not a crash."""
        write_demo(self.out)
        (self.out / "mq-deadline" / "load.2.auto" / "wait.json").unlink()
        _, status, result = self.report()
        self.assertEqual(status, report.E_INVALID)
        self.assertIn("auto, repeat 2", result["problems"][0])

    def test_clock(self):
        """A guest whose clock is wrong measured nothing."""
        write_demo(self.out)
        case = self.out / "mq-deadline"
        for run, when, guest in (("warm-up.0.any", 0, 1000), ("load.3.auto", 1, 1103)):
            path = case / run / f"counters.{when}"
            path.write_text(f"guest time {guest}.5\n" + path.read_text())
            os.utime(path, (5000 + 100 * when, 5000 + 100 * when))
        text, status, result = self.report()
        self.assertAlmostEqual(result["cases"][0]["clock_error_pct"], 3)
        self.assertEqual(status, report.E_INVALID)
        self.assertIn("clock was off by +3 %", text)

    def test_dropped(self):
        """What ftrace could not count is said."""
        write_demo(self.out, dropped=3)
        text, _, _ = self.report()
        self.assertIn("ftrace dropped 9 durations", text)

    def test_line(self):
        """The progress of one run."""
        write_demo(self.out)
        line = report.run_line(self.out / "mq-deadline" / "load.3.off")
        self.assertIn("off", line)
        self.assertIn("1000 IOPS", line)
        self.assertIn("interrupts  50 %", line)


if __name__ == "__main__":
    unittest.main()
