#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of the arithmetic and the verdicts in unmap-report, without a measurement."""

import importlib.machinery
import importlib.util
import pathlib
import unittest

PATH = str(pathlib.Path(__file__).parent / "unmap-report")
LOADER = importlib.machinery.SourceFileLoader("unmap_report", PATH)
SPEC = importlib.util.spec_from_loader("unmap_report", LOADER)
report = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(report)


def line(how, api, memory, setting, unmap=1000, wait=50, locked=0):
    longest = 0 if setting == "stock" else 40
    wait = f"wait_ns={wait} " if how == "timed" else ""
    return (f"unmap image=x how={how} api={api} memory={memory} setting={setting} mib=64 "
            f"map_ns=2000 unmap_ns={unmap} {wait}locked_kb={locked} pinned_kb=0 "
            f"longest_ns={longest} points=3\n")


def lines(**special):
    """All runs; special: SETTING's figures, by "stock" or by "ours" """
    found = []
    for how in ("timed", "counted"):
        for api, settings in report.SETTINGS.items():
            for memory in report.MEMORY:
                for setting in settings:
                    more = special.get("stock" if setting == "stock" else "ours", {})
                    found.append(line(how, api, memory, setting, **more))
    return found


TOLD = ["scheduler image=stock reports=1 of_unmap=1\n", "scheduler image=perf reports=0 of_unmap=0\n"]


class Figures(unittest.TestCase):
    def test_all_repeats(self):
        result = report.evaluate(lines() + lines())
        self.assertEqual(result["timed"]["type1"]["thp"]["32M"]["unmap_ns"], [1000, 1000])

    def test_stock_has_no_stretch(self):
        result = report.evaluate(lines())
        self.assertEqual(report.spread(result["timed"]["type1"]["4k"]["stock"], "longest_ns", 1, 0), "-")
        self.assertEqual(report.spread(result["timed"]["type1"]["4k"]["32M"], "longest_ns", 1, 0),
                         "40 (40..40)")

    def test_table_has_all(self):
        rows = report.table(report.evaluate(lines())).splitlines()
        runs = sum(len(s) for s in report.SETTINGS.values()) * len(report.MEMORY) * 2
        self.assertEqual(len([r for r in rows if r.startswith("  ")]), runs + 2)


class Refused(unittest.TestCase):
    def refuses(self, runs):
        with self.assertRaises(report.Invalid):
            report.evaluate(runs)

    def test_missing(self):
        runs = lines()
        for i in range(len(runs)):
            self.refuses(runs[:i] + runs[i + 1:])

    def test_locked(self):
        self.refuses(lines(ours={"locked": 4}))

    def test_nothing_done(self):
        self.refuses(lines(ours={"unmap": 0}))

    def test_scheduler_not_asked(self):
        with self.assertRaises(report.Invalid):
            report.reports(TOLD[:1])


class Targets(unittest.TestCase):
    def missed(self, told=None, **special):
        found = report.targets(report.evaluate(lines(**special)), report.reports(told or TOLD))
        return [text for text, reached in found if not reached]

    def test_reached(self):
        self.assertEqual(self.missed(stock={"wait": 100}), [])

    def test_one_percent(self):
        self.assertEqual(self.missed(stock={"wait": 100}, ours={"unmap": 1010}), [])
        self.assertEqual(len(self.missed(stock={"wait": 100}, ours={"unmap": 1011})), 10)

    def test_wait(self):
        self.assertEqual(len(self.missed(stock={"wait": 50})), 2)

    def test_scheduler(self):
        silent = ["scheduler image=stock reports=0 of_unmap=0\n"] + TOLD[1:]
        self.assertEqual(len(self.missed(silent, stock={"wait": 100})), 1)
        loud = TOLD + ["scheduler image=perf reports=1 of_unmap=1\n"]
        self.assertEqual(len(self.missed(loud, stock={"wait": 100})), 1)

    def test_scheduler_reports_something_else(self):
        other = TOLD + ["scheduler image=perf reports=1 of_unmap=0\n"]
        self.assertEqual(self.missed(other, stock={"wait": 100}), [])
        none = TOLD[:1] + ["scheduler image=perf reports=1 of_unmap=0\n"]
        self.assertEqual(len(self.missed(none, stock={"wait": 100})), 1)


if __name__ == "__main__":
    unittest.main()
