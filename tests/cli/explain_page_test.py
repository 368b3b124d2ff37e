#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `sukima explain --html`: explain_page_test.py PROGRAM"""
import html.parser
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from made_up_trace import REASON, write_trace

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
COLUMNS = 800
VOID = {"meta", "link", "br"}


class Page(html.parser.HTMLParser):
    """The elements of a page as (tag, attributes, text), whose tags must match."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append([tag, dict(attrs), ""])
        if tag not in VOID:
            self.open.append(self.elements[-1])

    def handle_startendtag(self, tag, attrs):
        self.elements.append([tag, dict(attrs), ""])

    def handle_endtag(self, tag):
        assert self.open and self.open.pop()[0] == tag, tag

    def handle_data(self, data):
        for element in self.open:
            element[2] += data

    def all(self, tag):
        return [element for element in self.elements if element[0] == tag]


class ExplainPage(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.trace = self.folder / "a&b.json"
        write_trace(self.trace)

    def explain(self, *arguments):
        return subprocess.run([PROGRAM, "explain", *arguments], capture_output=True, text=True, check=False)

    def page(self):
        file = self.folder / "page.html"
        done = self.explain("--html", file, self.trace)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return file.read_text(encoding="utf-8"), done.stdout

    def test_draws_what_took_most_of_each_column(self):
        text, _ = self.page()
        rows = re.findall(r'aria-label="worker (\d):[^>]*>(.*?)</svg>', text)
        drawn = {number: [(kind, int(x), int(width)) for kind, x, width in
                          re.findall(r'<rect class="([a-z-]+)" x="(\d+)" width="(\d+)"', row)] for number, row in rows}
        quarter = COLUMNS // 4
        self.assertEqual(drawn, {
            "0": [("working", 0, quarter), ("no-cpu", quarter, quarter), ("working", 2 * quarter, 2 * quarter)],
            "1": [("searching", 0, quarter), ("working", quarter, quarter), ("sleeping", 2 * quarter, quarter)]})

    def test_has_the_figures_and_the_whole_report(self):
        text, report = self.page()
        page = Page(text)
        rows = [re.findall(r">([^<>]+)</t", row) for row in re.findall(r"<tr>(.*?)</tr>", text)]
        self.assertEqual(rows[1], ["0", "75.0 %", "0.0 %", "0.0 %", "25.0 %", "0.0 %", "0", "0"])
        self.assertEqual(rows[2], ["1", "25.0 %", "25.0 %", "25.0 %", "0.0 %", "25.0 %", "1", "0"])
        self.assertEqual(page.all("pre")[0][2], report)
        self.assertIn(REASON, report)

    def test_is_one_file_that_can_be_read_by_keyboard_and_aloud(self):
        text, _ = self.page()
        page = Page(text)
        self.assertTrue(text.startswith("<!DOCTYPE html>\n"))
        self.assertFalse([element for element in page.elements if element[0] in ("script", "link", "img", "iframe", "b")])
        self.assertNotRegex(text, r"https?://|\bon\w+=|url\(")
        self.assertEqual(page.all("html")[0][1], {"lang": "en"})
        self.assertEqual(page.all("title")[0][2], f"sukima explain {self.trace}")
        self.assertIn("width=device-width", [meta[1].get("content", "").split(",")[0] for meta in page.all("meta")])
        for svg in page.all("svg"):
            self.assertTrue(svg[1].get("aria-label") or svg[1].get("aria-hidden") == "true")
        for element in page.elements:
            if "scrolls" in element[1].get("class", ""):
                self.assertEqual((element[1]["tabindex"], element[1]["role"]), ("0", "region"))
                self.assertTrue(element[1]["aria-label"])

    def test_a_page_that_cannot_be_written_is_an_error(self):
        for place, reason in ((self.folder / "nonesuch" / "page.html", "No such file or directory"),
                              (self.folder, "Is a directory")):
            done = self.explain("--html", place, self.trace)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr, f"sukima: the page cannot be written to '{place}': {reason}; give --html another "
                                          "file\n")
        done = self.explain("--html", "/dev/full", self.trace)
        self.assertEqual(done.returncode, 1)  # that shows only at the end
        self.assertIn("the page cannot be written to '/dev/full': No space left on device", done.stderr)
        # If that shows only at the end, the exit code is still the program's.
        done = self.explain("--html", "/dev/full", "--", "sh", "-c",
                            f"cp '{self.trace}' \"$SUKIMA_TRACE\"; exit 7")
        self.assertEqual(done.returncode, 7)
        self.assertIn("the page cannot be written to '/dev/full': No space left on device", done.stderr)
        for option, sentence in (("--html", "the page cannot be written to '/dev/full': No space left on device"),
                                 ("--keep", "the trace cannot be kept as '/dev/full': No space left on device")):
            done = self.explain(option, "/dev/full", "--", "sh", "-c", f"cp '{self.trace}' \"$SUKIMA_TRACE\"")
            self.assertEqual(done.returncode, 74)
            self.assertIn(f"sukima: {sentence}\n", done.stderr)

    def test_the_trace_is_not_replaced_by_its_page(self):
        trace = self.folder / "only.json"
        trace.write_bytes(pathlib.Path(self.trace).read_bytes())
        done = self.explain("--html", self.folder / "." / "only.json", trace)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("the page would replace the trace", done.stderr)
        self.assertEqual(trace.read_bytes(), pathlib.Path(self.trace).read_bytes())

    def test_an_explanation_without_a_reader_is_a_failure_and_leaves_the_page(self):
        file = self.folder / "unread.html"
        reader, writer = os.pipe()
        os.close(reader)
        try:
            done = subprocess.run([PROGRAM, "explain", "--html", file, "--", "sh", "-c",
                                   f"cp '{self.trace}' \"$SUKIMA_TRACE\""], stderr=writer)
        finally:
            os.close(writer)
        self.assertEqual(done.returncode, 74)
        self.assertEqual(len(Page(file.read_text(encoding="utf-8")).all("title")), 1)

    def test_a_program_gets_a_page(self):
        file = self.folder / "page.html"
        done = self.explain("--html", file, "--", "sh", "-c", f"cp '{self.trace}' \"$SUKIMA_TRACE\"")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(Page(file.read_text(encoding="utf-8")).all("title")[0][2], "sukima explain -- sh")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
