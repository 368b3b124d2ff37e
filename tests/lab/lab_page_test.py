#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `sukima lab report --html`, read by parsers of HTML and XML: lab_page_test.py PROGRAM EXPERIMENTS

Its runs are made up: of every installed experiment, on a machine with 16 CPUs, with some that were stopped and some that failed.
"""
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
EXPERIMENTS = pathlib.Path(sys.argv[2]).resolve()
VOID = {"br", "meta"}
SVG = "{http://www.w3.org/2000/svg}"
CHARACTER = 6.6  # the widest average of a character in 11 pixels


def write_runs(folder):
    """A folder as a run leaves it. The times follow from the cell's number: the same in each test."""
    (folder / "experiments").mkdir(parents=True)
    facts = {"sukima-lab-runs": 1, "machine": [["cpu", "made <up> & 'quoted'"]], "versions": {}, "cpus": 16, "obstacles": {},
             "quick": False}
    (folder / "machine.json").write_text(json.dumps(facts))
    number = 0
    with open(folder / "runs.jsonl", "w", encoding="utf-8") as runs:
        for file in sorted(EXPERIMENTS.glob("*.json")):
            shutil.copy(file, folder / "experiments")
            experiment = json.loads(file.read_text())
            for program in experiment["programs"]:
                for setting in experiment["settings"]:
                    for environment in experiment["environments"]:
                        number += 1
                        for turn in range(5):
                            record = {"experiment": experiment["name"], "program": program["name"], "setting": setting["name"],
                                      "environment": environment["name"], "round": turn, "wall_seconds": 1}
                            copies = environment.get("copies", 1)
                            seconds = round((0.3 + 40 * (number % 7 == 3) + number % 5) * (1 + turn / 10), 3)
                            if number % 31 == 1:
                                record["failure"] = "it <failed>"
                            else:
                                record["seconds"] = [None if number % 29 == 1 else seconds] * copies
                            runs.write(json.dumps(record) + "\n")


class strict(html.parser.HTMLParser):
    """Notes elements, and what is wrong: one that is not closed, or not in its order; a name that is given twice."""

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.names, self.tables, self.addresses = [], [], set(), [], []
        self.unwrapped = 0

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        if len(named) != len(attributes):
            self.wrong.append(f"{tag} has an attribute twice")
        if named.get("id") in self.names:
            self.wrong.append(f"the id {named['id']} is there twice")
        self.names.add(named.get("id", self))
        self.addresses += [value for name, value in attributes if name in ("href", "src", "xlink:href", "srcset", "action")]
        if tag == "table":
            self.tables.append([])
            self.unwrapped += "wide" not in [dict(one).get("class") for _, one in self.open]
        if tag == "tr":
            self.tables[-1].append(0)
        if tag in ("td", "th"):
            self.tables[-1][-1] += 1
        if tag not in VOID:
            self.open.append((tag, attributes))

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()}")
        else:
            self.open.pop()


def boxes(svg):
    """About where each text is that is not turned: (left, top, right, bottom, text)."""
    found = []
    for text in svg.iter(SVG + "text"):
        if "transform" in text.attrib:
            continue
        width = CHARACTER * len(text.text)
        part = {"start": 0, "middle": 0.5, "end": 1}[text.get("text-anchor", "start")]
        left, base = float(text.get("x")) - part * width, float(text.get("y"))
        found.append((left, base - 9, left + width, base + 2, text.text))
    return found


class page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="sukima-lab-test-"))
        write_runs(cls.folder / "runs")
        file = cls.folder / "page.html"
        report = subprocess.run([PROGRAM, "lab", "report", "--folder", cls.folder / "runs", "--html", file, "--json"], check=True,
                                capture_output=True, text=True)
        cls.report, cls.text = json.loads(report.stdout), file.read_text()
        cls.plots = [xml.etree.ElementTree.fromstring(one) for one in re.findall("<svg.*?</svg>", cls.text, re.DOTALL)]

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_is_html_in_which_all_is_closed_and_named_once(self):
        parser = strict()
        parser.feed(self.text)
        parser.close()
        self.assertEqual(parser.wrong, [])
        self.assertEqual(parser.open, [])
        self.assertEqual(parser.addresses, [], "it needs no other file")
        self.assertNotIn("url(", self.text)
        self.assertNotIn("@import", self.text)
        self.assertIn("made &lt;up&gt; &amp; &#39;quoted&#39;", self.text)
        self.assertTrue(self.text.startswith("<!DOCTYPE html>\n"))

    def test_has_tables_that_are_rectangles_and_scroll_on_a_narrow_screen(self):
        parser = strict()
        parser.feed(self.text)
        self.assertGreaterEqual(len(parser.tables), 2 * len(self.report["experiments"]))
        for table in parser.tables:
            self.assertEqual(len(set(table)), 1, table)
        self.assertEqual(parser.unwrapped, 0)
        self.assertIn(".wide { overflow-x: auto; }", self.text)
        self.assertIn('<meta name="viewport" content="width=device-width, initial-scale=1">', self.text)

    def test_has_plots_whose_texts_are_readable_and_apart(self):
        self.assertGreater(len(self.plots), 40)
        for svg in self.plots:
            width, height = float(svg.get("width")), float(svg.get("height"))
            self.assertEqual(svg.get("viewBox"), f"0 0 {svg.get('width')} {svg.get('height')}")
            self.assertGreaterEqual(float(svg.get("font-size")), 11)
            name, texts = svg.find(SVG + "title").text, boxes(svg)
            for one in texts:
                self.assertGreaterEqual(one[0], 0, f"{name}: {one}")
                self.assertLessEqual(one[2], width, f"{name}: {one}")
                self.assertTrue(0 <= one[1] and one[3] <= height, f"{name}: {one}")
            for i, a in enumerate(texts):
                for b in texts[:i]:
                    apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
                    self.assertTrue(apart, f"{name}: {a} and {b}")

    def test_has_settings_of_one_colour_each(self):
        for svg in self.plots:
            legend = [one.get("fill") + one.get("fill-opacity") for one in svg.iter(SVG + "rect") if one.get("width") == "10"]
            self.assertEqual(len(legend), len(set(legend)))

    def test_has_the_worst_relative_times_and_the_failures(self):
        for experiment in self.report["experiments"]:
            start = self.text.index(f"<h2 id=\"{experiment['name']}\">")
            part = self.text[start:self.text.find("<h2", start + 1)]
            if experiment["failures"] > 0:
                self.assertIn(f"<p>{experiment['failures']} runs failed.</p>", part)
            self.assertEqual(part.count("<th>worst of</th>"), 1 if experiment["worst"] else 0)
            for one in experiment["worst"]:
                of = f"<td>{one['program']}</td><td>{one['setting']}</td><td>{one['of']}</td><td>{one['environment']}</td>"
                self.assertIn(of, part)
        self.assertGreater(sum(len(one["worst"]) for one in self.report["experiments"]), 50)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
