#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of the arithmetic and the verdicts in pools-report, without a measurement."""

import importlib.machinery
import importlib.util
import pathlib
import unittest

PATH = str(pathlib.Path(__file__).parent / "pools-report")
LOADER = importlib.machinery.SourceFileLoader("pools_report", PATH)
SPEC = importlib.util.spec_from_loader("pools_report", LOADER)
report = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(report)


def line(load, choice, contended, ops=1000000, failed=0):
    has = " ".join(f"{k}={v}" for k, v in load.items())
    return (f"pools {has} choice={choice} threads=8 ops={ops} ns=1000000000 "
            f"failed={failed} acquired={2 * ops} contended={contended} bytes=8192\n")


def lines(contended, **more):
    return [line(load, choice, contended[choice], **more)
            for _, load in report.LOADS for choice in report.CHOICES]


FEWER = {"device": 100, "node": 40, "private": 3}


class Figures(unittest.TestCase):
    def test_units(self):
        result = report.evaluate(lines(FEWER), 2)
        f = result[report.LOADS[0][0]]["device"]
        self.assertEqual(f["kops"], [1000])
        self.assertEqual(f["us"], [2])          # two CPUs, a million in a second
        self.assertEqual(f["acquired"], [2])
        self.assertEqual(f["contended"], [100])
        self.assertEqual(f["kib"], [8])

    def test_per_million(self):
        result = report.evaluate(lines(FEWER, ops=500000), 2)
        self.assertEqual(result[report.LOADS[3][0]]["node"]["contended"], [80])

    def test_fewer_threads_than_cpus(self):
        result = report.evaluate(lines(FEWER), 64)
        self.assertEqual(result[report.LOADS[0][0]]["node"]["us"], [8])

    def test_all_repeats(self):
        result = report.evaluate(lines(FEWER) + lines(FEWER), 2)
        self.assertEqual(len(result[report.LOADS[2][0]]["private"]["kops"]), 2)


class Refused(unittest.TestCase):
    def refuses(self, runs):
        with self.assertRaises(report.Invalid):
            report.evaluate(runs, 2)

    def test_missing(self):
        for i in range(len(lines(FEWER))):
            some = lines(FEWER)
            del some[i]
            self.refuses(some)
        self.refuses([])

    def test_nothing_done(self):
        self.refuses(lines(FEWER, ops=0))

    def test_lost(self):
        self.refuses(lines(FEWER, failed=1))


class Targets(unittest.TestCase):
    def reached(self, contended):
        return [r for _, r in report.targets(report.evaluate(lines(contended), 2))]

    def test_reached(self):
        self.assertEqual(self.reached(FEWER), [True] * 4)
        self.assertEqual(self.reached({"device": 100, "node": 50, "private": 50}), [True] * 4)

    def test_node_not(self):
        self.assertEqual(self.reached({"device": 100, "node": 51, "private": 3}),
                         [False, True] * 2)

    def test_private_not(self):
        self.assertEqual(self.reached({"device": 100, "node": 40, "private": 41}),
                         [True, False] * 2)

    def test_no_contention_shows_nothing(self):
        self.assertEqual(self.reached({"device": 0, "node": 0, "private": 0}), [False] * 4)


if __name__ == "__main__":
    unittest.main()
