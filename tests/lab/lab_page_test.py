#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `sukima lab report --html`, read by parsers of HTML and XML: lab_page_test.py PROGRAM EXPERIMENTS

The runs are made up, for every installed experiment, on a machine with 16 CPUs. Some were stopped, and some failed.
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

from made_up_runs import write_heat, write_runs

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
EXPERIMENTS = pathlib.Path(sys.argv[2]).resolve()
VOID = {"br", "meta"}
SVG = "{http://www.w3.org/2000/svg}"
CHARACTER = 6.6  # the widest average of a character in 11 pixels


def report_of(folder, file):
    """The report about the runs of a folder: as JSON, and as the text of a page."""
    report = subprocess.run([PROGRAM, "lab", "report", "--folder", folder, "--html", file, "--json"], check=True,
                            capture_output=True, text=True)
    return json.loads(report.stdout), file.read_text()


def heat_maps(text, experiment, claim):
    """The heat maps in the row of a claim, with blanks for the ends of lines in their cells."""
    start = text.index(f"<tr id=\"{experiment}/{claim}\">")
    tables = re.findall("<table class=\"heat\">.*?</table>", text[start:text.index("</tr>\n", start)])
    return [xml.etree.ElementTree.fromstring(one.replace("<br>", " ")) for one in tables]


class strict(html.parser.HTMLParser):
    """Records elements and errors: elements that are not closed, or closed in the wrong order, and duplicate names."""

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.names, self.tables, self.addresses = [], [], set(), [], []
        self.inner = []  # the tables that are open, the innermost last
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
            self.inner.append(self.tables[-1])
            self.unwrapped += "wide" not in [dict(one).get("class") for _, one in self.open]
        if tag == "tr":
            self.inner[-1].append(0)
        if tag in ("td", "th"):
            self.inner[-1][-1] += 1
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
            if tag == "table":
                self.inner.pop()


def boxes(svg):
    """The approximate place of each text that is not rotated: (left, top, right, bottom, text)."""
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
        write_runs(cls.folder / "runs", EXPERIMENTS)
        cls.report, cls.text = report_of(cls.folder / "runs", cls.folder / "page.html")
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
        self.assertEqual([one for one in parser.addresses if not one.startswith("#")], [], "it needs no other file")
        for one in parser.addresses:
            self.assertIn(f'id="{one[1:]}"', self.text, "a link within the page has a target")
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

    def test_has_a_heat_map_of_each_claim_with_three_cells_or_more(self):
        count = 0
        for experiment in self.report["experiments"]:
            of_it = 0
            for claim in experiment["claims"]:
                found = heat_maps(self.text, experiment["name"], claim["name"])
                self.assertEqual(len(found), 1 if len(claim["cells"]) >= 3 else 0, claim["name"])
                of_it += len(found)
                for one in found:
                    cells = [cell for cell in one.iter("td") if cell.text]
                    self.assertEqual(len(cells), len(claim["cells"]), claim["name"])
                    framed = sum(cell.get("class") == "fails" for cell in cells)
                    self.assertEqual(framed, sum(cell["verdict"] == "does not hold" for cell in claim["cells"]), claim["name"])
            start = self.text.index(f"<h2 id=\"{experiment['name']}\">")
            part = self.text[start:self.text.find("<h2", start + 1)]
            self.assertEqual(part.count("<p class=\"legend\">"), 1 if of_it else 0, experiment["name"])
            count += of_it
        self.assertGreater(count, 10)


class heat(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="sukima-lab-test-"))
        write_heat(cls.folder / "runs")
        _, cls.text = report_of(cls.folder / "runs", cls.folder / "page.html")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def rows(self, claim):
        """A heat map's texts, colours and classes, row by row."""
        table, = heat_maps(self.text, "heat", claim)
        return [[(one.text, (one.get("style") or "").removeprefix("background: "), one.get("class") or "") for one in row]
                for row in table.iter("tr")]

    def test_map_has_ratios_with_their_colours_marks_and_frames(self):
        self.assertEqual(self.rows("each"), [
            [("program", "", ""), ("two", "", ""), ("four", "", "")],
            [("work", "", ""), ("2", "#e69f00", ""), ("0.5 ×", "#56b4e9", "fails")],
            [("even", "", ""), ("1 ×", "#ffffff", "fails"), ("infinite", "#e69f00", "")],
            [("few", "", ""), ("–", "", ""), ("?", "", "")],
            [("close", "", ""), ("1.1 ?", "#fcf2dc", ""), ("1.5", "#f0c76a", "")]])

    def test_map_of_the_worst_names_it_in_each_cell(self):
        self.assertEqual(self.rows("worst"), [
            [("program", "", ""), ("worst of 2", "", "")],
            [("work", "", ""), ("1 two", "#ffffff", "")],
            [("even", "", ""), ("infinite × four", "#e69f00", "fails")],
            [("few", "", ""), ("–", "", "")],
            [("close", "", ""), ("0.55 two", "#6dbeec", "")]])

    def test_cell_says_why(self):
        table, = heat_maps(self.text, "heat", "each")
        self.assertEqual(table.find("caption").text, "Ratios, to be above 1.1")
        self.assertEqual([one.get("title") for one in table.iter("td")], [
            "holds, 2 to 2", "does not hold, 0.5 to 0.5",
            "does not hold, 1 to 1", "holds, infinite to infinite",
            "cannot be shown here: it <failed> & \"so\"", "undecided: only 3 of at least 5 rounds were run",
            "undecided, 1 to 1.2: the interval contains the bound", "holds, 1.5 to 1.5"])

    def test_claim_over_two_cells_has_none(self):
        self.assertEqual(heat_maps(self.text, "heat", "two-cells"), [])

    def test_legend_has_each_mark_and_the_strongest_colours(self):
        legend, = re.findall("<p class=\"legend\">.*?</p>", self.text)
        for text in ("No mark: holds; ", "; with a frame and ×: does not hold; ", "; ?: undecided; ", "; –: cannot be shown here.",
                     "<span class=\"shade\" style=\"background: #56b4e9\">0.5 or less</span>",
                     "<span class=\"shade\" style=\"background: #ffffff\">1</span>",
                     "<span class=\"shade\" style=\"background: #e69f00\">2 or more</span>"):
            self.assertIn(text, legend)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
