#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sukima probe --root` gives the same answer for a recording as `sukima probe --record` gave beside a busy loop. The two
may see different programs if programs start and end in between.

recorded_answer_test.py PROGRAM
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(("SUKIMA_", "OMP_"))}


def answer(*arguments, **variables):
    return json.loads(subprocess.run([PROGRAM, "probe", "--json", *arguments], capture_output=True, text=True, timeout=500,
                                     env={**ENVIRONMENT, **variables}).stdout)


class Recorded(unittest.TestCase):
    def test_a_recorded_tree_gives_the_same_answer(self):
        place = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "place")
        with subprocess.Popen(["sh", "-c", "while :; do :; done"], env=ENVIRONMENT) as hog:
            try:
                here = answer("--record", str(place))
            finally:
                hog.kill()
        again = answer("--root", str(place), SUKIMA_CPUS="9")
        self.assertEqual(here["places"][0]["name"], "machine")
        for name in ("binding", "basis", "threads", "places"):
            self.assertEqual(again[name], here[name], name)
        for name in ("usable", "low", "high", "now", "others", "stolen", "throttled"):
            self.assertAlmostEqual(again[name], here[name], delta=0.02, msg=name)
        for kind in ("online", "affinity", "cpuset", "quota", "weight", "neighbour"):
            here_and_again = ([limit for limit in each["limits"] if limit["kind"] == kind] for each in (here, again))
            for one, other in zip(*here_and_again, strict=True):
                self.assertEqual((one["binding"], one["text"]), (other["binding"], other["text"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
