# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/check-papers.py on the page and the experiments of this tree, with changes: check_papers_test.py SCRIPT"""
import json
import pathlib
import sys
import tempfile
import unittest

import in_process

SCRIPT = pathlib.Path(sys.argv.pop())
ROOT = SCRIPT.resolve().parent.parent
PAGE = (ROOT / "docs/papers.md").read_text(encoding="utf-8")


class CheckPapers(unittest.TestCase):
    def check(self, page, claims=()):
        """Exit code and lines of output for this page, and an experiment `made-up` with these claims."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "lab/experiments").mkdir(parents=True)
            (root / "docs/papers.md").write_text(page, encoding="utf-8")
            (root / "lab/experiments/made-up.json").write_text(json.dumps({"claims": list(claims)}), encoding="utf-8")
            done = in_process.run(SCRIPT, folder)
            return done.returncode, done.stdout.splitlines()

    def without(self, begin):
        """The page without the row that begins with this text."""
        rows = [line for line in PAGE.splitlines() if line.startswith(begin)]
        self.assertEqual(len(rows), 1, begin)
        return PAGE.replace(rows[0] + "\n", "")

    def test_the_page_of_this_tree(self):
        self.assertEqual(self.check(PAGE), (0, ["every figure and table has a row"]))

    def test_a_missing_row(self):
        self.assertEqual(self.check(self.without("| 7 | the same with the pause")),
                         (1, ["docs/papers.md: figure 7 of Yoda and others is missing"]))
        self.assertEqual(self.check(self.without("| table 5, figures 6, 7 |")),
                         (1, ["docs/papers.md: figure 6 of Aoyagi and others is missing",
                              "docs/papers.md: figure 7 of Aoyagi and others is missing",
                              "docs/papers.md: table 5 of Aoyagi and others is missing"]))

    def test_a_missing_paper(self):
        code, lines = self.check(PAGE.replace("## Toyama,", "## Tojama,"))
        self.assertEqual(code, 1)
        self.assertEqual(len(lines), 10, lines)

    def test_a_figure_that_the_paper_does_not_have(self):
        code, lines = self.check(PAGE.replace("| 20 | the same with shared CPUs", "| 20, 21 | the same with shared CPUs"))
        self.assertEqual(code, 1)
        self.assertRegex("\n".join(lines), r"^docs/papers.md:\d+: Takayama and others have no figure 21$")

    def test_a_row_without_a_verdict(self):
        code, lines = self.check(PAGE.replace("| holds for BT and LU |", "| |"))
        self.assertEqual(code, 1)
        self.assertRegex(lines[0], r"^docs/papers.md:\d+: the row has not 5 cells with text$")

    def test_a_claim_whose_figure_does_not_name_its_experiment(self):
        claim = {"name": "new", "figure": "Yoda et al., figure 5, in control groups"}
        self.assertEqual(self.check(PAGE, [claim]), (1, ["docs/papers.md: the row of Yoda's figure 5 does not name `made-up`"]))
        self.assertEqual(self.check(PAGE, [{**claim, "figure": "Takayama and Kourai, section 3.2"}])[0], 0)
        self.assertEqual(self.check(PAGE, [{**claim, "figure": "Unknown et al., figure 1"}]),
                         (1, ["made-up.json: the claim 'new' is about 'Unknown et al., figure 1', which is not a paper of docs/papers.md"]))


if __name__ == "__main__":
    unittest.main()
