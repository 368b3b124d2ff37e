#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nodes that make different entries: entries_test.py SUKIMA CLUSTER_ENTRIES_PROGRAM"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from nodes import Meeting, end, run_launcher

SUKIMA, PROGRAM = (str(Path(word).resolve()) for word in sys.argv[1:3])
del sys.argv[1:3]
LEAVES = "'long (anonymous namespace)::leaves(int)'"
HALF = "'double (anonymous namespace)::half(int)'"


def run(*calls, options=(), **variables):
    """Each node makes the entries that its argument names."""
    return run_launcher([SUKIMA, "cluster", "run", "-n", str(len(calls)), "--no-tags", *options, "--", PROGRAM, *calls],
                        stdin=subprocess.DEVNULL, capture_output=True, text=True, env={**os.environ, "SUKIMA_WORKERS": "1", **variables})


class entries(unittest.TestCase):
    def check(self, ended, sentence):
        self.assertEqual(ended.returncode, 2, ended)
        self.assertEqual(ended.stderr, f"sukima: the nodes' programs differ: {sentence}; each node must make the same entries "
                                       "in the same order\n")

    def test_that_are_the_same_have_their_results(self):
        for options in ([], ["--hope"]):
            ended = run(*["leaves,half,leaves"] * 3, options=options)
            self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("1024\n1.5\n1024\n", "", 0))

    def test_that_call_another_function_end_all_with_one_sentence(self):
        self.check(run("leaves", "half", "leaves"), f"entry 1 calls {LEAVES} at node 0 and {HALF} at node 1")
        self.check(run("leaves", "leaves", "half"), f"entry 1 calls {LEAVES} at node 0 and {HALF} at node 2")
        self.check(run("half,leaves", "leaves,half"), f"entry 1 calls {HALF} at node 0 and {LEAVES} at node 1")

    def test_that_one_node_makes_too_many_of_end_all(self):
        self.check(run("leaves,half,leaves,half", "leaves,leaves,half,leaves,half"),
                   f"entry 2 calls {HALF} at node 0 and {LEAVES} at node 1")

    def test_that_differ_end_nodes_without_a_launcher(self):
        calls = ["leaves,endless", "half,endless", "leaves,endless"]
        with Meeting(len(calls)) as meeting:
            ends = [end(node) for node in [meeting.start(node, PROGRAM, *calls) for node in range(len(calls))]]
        for _, errors, status in ends:
            self.assertEqual(status, 2, errors)
            self.assertIn(f"sukima: the nodes' programs differ: entry 1 calls {LEAVES} at node 0 and {HALF} at node 1;", errors)

    def test_that_differ_end_all_under_hierarchical_omission(self):
        # One node is in the middle of its entry, and one may have ended normally by then.
        ended = run("endless", "half", options=["--hope"])
        self.check(ended, f"entry 1 calls {LEAVES} at node 0 and {HALF} at node 1")

    def test_that_differ_among_nodes_with_mediators(self):
        ended = run(*["endless"] * 5, *["half"] * 7, options=["--hope"])
        self.assertEqual(ended.returncode, 2, ended)
        self.assertRegex(ended.stderr, "the nodes' programs differ: entry 1 calls .* at node [0-9]+ and .* at node [0-9]+")

    def test_with_a_result_that_one_node_cannot_decode_fail(self):
        ended = run(*["fragile:entry"] * 2)
        self.assertEqual((ended.stdout, ended.returncode), ("whole\n", 1), ended)
        self.assertEqual(ended.stderr, "sukima: node 1 cannot decode the result of entry 1 from node 0: the entry is damaged\n")

    def test_with_values_that_one_node_cannot_decode_end_that_node_under_hierarchical_omission(self):
        values = [("entry", "whole", "the result of entry 1 from node 0"), ("argument", "1 two!", "the arguments of a task"),
                  ("result", "1 two!", "the result of a task")]
        for kind, output, value in values:
            with self.subTest(kind), tempfile.TemporaryDirectory() as folder:
                ended = run(*[f"fragile:{kind},half"] * 2, options=["--hope"], FRAGILE_FILE=f"{folder}/found")
                self.assertEqual((ended.stdout, ended.returncode), (f"{output}\n1.5\n", 0), ended)
                self.assertEqual(ended.stderr, f"sukima: node 1 cannot decode {value}: the {kind} is damaged; the other nodes "
                                               "continue without it\n")


if __name__ == "__main__":
    unittest.main()
