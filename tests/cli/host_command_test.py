#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program `sukima host` from outside: estimates, explanations, refusals.

host_command_test.py PROGRAM PAGE
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
PAGE = pathlib.Path(sys.argv.pop(1)).resolve()
FOLDER = tempfile.TemporaryDirectory()


def vm(name, *hard, **others):
    return {"name": name, "weight_of": "vcpu", **others, "vcpus": [{"id": i, "hard": h} for i, h in enumerate(hard)]}


def host(pcpus, *vms, **others):
    return {"sukima-host": 1, "pcpus": [{"id": p} for p in range(pcpus)], "vms": vms, **others}


FIGURE_14 = host(4, vm("a", "0-1", "0-1"), vm("b", "1-3", "1-3", "1-3"))
COUNTEREXAMPLE = host(4, *(vm(f"v{i}", h) for i, h in enumerate(["1", "0,2", "0,2-3", "0-2", "0,3", "1"])))


def run(*arguments, given=None):
    return subprocess.run([PROGRAM, "host", *arguments], capture_output=True, text=True, timeout=500,
                          input=json.dumps(given) if isinstance(given, dict) else given, cwd=FOLDER.name)


def answer(*arguments, given):
    done = run(*arguments, "--json", given=given)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return json.loads(done.stdout)


def counted(ran, waited, **others):
    one = host(1, vm("a", "0"), vm("b", "0"), **others)
    one["vms"][0]["vcpus"][0].update(ran=ran, waited=waited)
    return one


class Estimates(unittest.TestCase):
    def test_figure_14_by_each_method(self):
        for method in ("exact", "partition", "formula"):
            vms = answer("estimate", "-", "--method", method, given=FIGURE_14)["vms"]
            for one in vms:
                for each in one["vcpus"]:
                    self.assertAlmostEqual(each["share"], 0.8, msg=method)
            self.assertEqual("fit" in vms[0], method == "exact")

    def test_partition_beside_the_truth(self):
        self.assertAlmostEqual(answer("estimate", "-", "--method", "partition", given=COUNTEREXAMPLE)["vms"][0]["usable"], 2 / 3)
        self.assertAlmostEqual(answer("estimate", "-", given=COUNTEREXAMPLE)["vms"][0]["usable"], 1 / 2)

    def test_weight_of(self):
        usable = [one["usable"] for one in answer("estimate", "-", "--weight-of", "vm", given=FIGURE_14)["vms"]]
        self.assertAlmostEqual(usable[0], 2)
        self.assertAlmostEqual(usable[1], 2)

    def test_text(self):
        done = run("estimate", "-", given=FIGURE_14)
        self.assertEqual(done.returncode, 0)
        self.assertIn("b          2.40        3 of 3     3     2  others", done.stdout)

    def test_the_page_shows_what_is_printed(self):
        blocks = re.findall(r"^```console\n\$ cat (\S+)\n(.*?)\n\$ sukima host estimate \1\n(.*?)```", PAGE.read_text(),
                            re.MULTILINE | re.DOTALL)
        self.assertEqual(len(blocks), 1)
        for _, text, printed in blocks:
            self.assertEqual(run("estimate", "-", given=text).stdout, printed)


class Explanations(unittest.TestCase):
    def test_of_one_description(self):
        what = answer("explain", "a", "-", given=counted(30, 70))
        self.assertAlmostEqual(what["entitled"], 0.5)
        self.assertAlmostEqual(what["got"], 0.3)
        self.assertIn("Others got CPU of its share", what["reasons"][0])
        self.assertIn("a is entitled to 0.50 CPUs and got 0.30 while it could run.",
                      run("explain", "a", "-", given=counted(30, 70)).stdout)

    def test_of_an_interval(self):
        earlier = pathlib.Path(FOLDER.name, "earlier.json")
        earlier.write_text(json.dumps(counted(10, 5, taken=100)))
        what = answer("explain", "a", "-", "--since", str(earlier), given=counted(12, 5.02, taken=110))
        self.assertAlmostEqual(what["got"], 0.2)
        self.assertEqual(what["seconds"], 10)


class Refusals(unittest.TestCase):
    def refused(self, sentence, *arguments, given=None):
        done = run(*arguments, given=given)
        self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
        self.assertIn(sentence, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_are_one_sentence(self):
        self.refused("an estimate needs the description", "estimate")
        self.refused("one word too many", "estimate", "x", "y")
        self.refused("'/nonesuch' cannot be read", "estimate", "/nonesuch")
        self.refused("-: the description is no JSON", "estimate", "-", given="nothing")
        self.refused("vms[0].vcpus[0].hard: CPU 64 does not exist", "estimate", "-", given=host(1, vm("a", "64")))
        self.refused("vms[0].weight_of: is missing", "estimate", "-", given=host(1, vm("a", "0", weight_of=None)))
        self.refused("--since is for an explanation", "estimate", "x", "--since", "y")
        self.refused("an explanation needs a virtual machine", "explain", "a")
        self.refused("--method is for an estimate", "explain", "a", "x", "--method", "formula")
        self.refused("has no virtual machine 'c'", "explain", "c", "-", given=FIGURE_14)
        self.refused("vms[0].vcpus[0].ran: is missing", "explain", "a", "-", given=FIGURE_14)
        self.refused("--method", "estimate", "x", "--method", "guess")


if __name__ == "__main__":
    unittest.main()
