#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens the pages that Sukima generates in a headless Chromium: pages_test.py PROGRAM EXPERIMENTS REFERENCE

No page may have an error, at a width of 400 or 1,400 pixels, light or dark. Each text must be legible, and the page must not be
wider than the window. The keyboard must reach all parts that scroll, and a screen reader must have a name for each element. PROGRAM is sukima,
EXPERIMENTS the folder lab/experiments, and REFERENCE the folder in which Doxygen writes HTML. With SUKIMA_PICTURES=FOLDER the
windows are written there as pictures, for people.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "cli"), str(HERE.parent / "lab")]

import browser  # noqa: E402
from made_up_runs import write_runs  # noqa: E402
from made_up_trace import write_trace  # noqa: E402

SKIPPED = 77
WIDTHS = (400, 1400)
LEGIBILITY = (HERE / "legibility.js").read_text(encoding="utf-8")
# Roles for which a screen reader needs a name.
NAMED = {"button", "checkbox", "combobox", "image", "link", "region", "searchbox", "textbox"}
# Elements that had no focus: those that had it are marked by `reached`.
UNREACHED = """[...document.querySelectorAll('*')].filter((element) => !element.reached &&
  (element.matches('a[href]') || (/auto|scroll/.test(getComputedStyle(element).overflowX) &&
                                  element.scrollWidth > element.clientWidth + 1)) &&
  element.checkVisibility()).map((element) => element.outerHTML.slice(0, 100))"""


def reference_pages(folder):
    """The main page, the lists, and the largest page of each other kind, because it has most parts."""
    largest = {}
    for page in sorted(folder.glob("*.html")):
        kind = re.match(r"class|struct|concept|group_|md_|namespace|dir_|.*_source|.*_8h(?=[.p])", page.stem)
        kind = kind.group() if kind else page.stem
        kind = re.sub(r".*(_source|_8h)$", r"\1", kind)
        kind = re.sub(r"^(functions|globals|namespacemembers)_.*", r"\1", kind)
        if kind not in largest or page.stat().st_size > largest[kind].stat().st_size:
            largest[kind] = page
    return sorted(largest.values())


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        cls.folder = folder
        cls.browser = browser.Browser(folder / "profile")
        cls.addClassCleanup(cls.browser.close)

    def show(self, page, dark=False):
        """Loads a page at each width, and lists what is wrong with it."""
        for width in WIDTHS:
            with self.subTest(page=page.name, width=width, dark=dark):
                self.browser.open(page.as_uri(), width, dark=dark)
                self.write_picture(f"{page.stem}-{width}{'-dark' if dark else ''}.png")
                self.assertEqual(self.browser.errors(), [])
                self.assertEqual(self.browser.evaluate(LEGIBILITY), [])
                self.assertEqual([role for role, name in self.browser.spoken() if role in NAMED and not name.strip()], [])

    def write_picture(self, name):
        folder = os.environ.get("SUKIMA_PICTURES")
        if folder:
            self.browser.picture(pathlib.Path(folder) / name)

    def reach_all_by_tab(self, page):
        """Presses Tab until the focus is where it was, in a narrow window."""
        self.browser.open(page.as_uri(), WIDTHS[0])
        mark = "(() => { const e = document.activeElement, again = !!e.reached; e.reached = true; return again; })()"
        for _ in range(10000):
            self.browser.press_tab()
            if self.browser.evaluate(mark):
                break
        self.assertEqual(self.browser.evaluate(UNREACHED), [])

    def explained(self):
        page, trace = self.folder / "explain.html", self.folder / "trace.json"
        write_trace(trace)
        subprocess.run([PROGRAM, "explain", "--html", page, trace], check=True, stdout=subprocess.DEVNULL)
        return page

    def reported(self):
        page, runs = self.folder / "report.html", self.folder / "runs"
        if not page.exists():
            write_runs(runs, EXPERIMENTS)
            subprocess.run([PROGRAM, "lab", "report", "--folder", runs, "--html", page], check=True, stdout=subprocess.DEVNULL)
        return page

    def test_explanation_can_be_read(self):
        self.show(self.explained())
        self.show(self.explained(), dark=True)
        self.reach_all_by_tab(self.explained())

    def test_report_can_be_read(self):
        self.show(self.reported())
        self.show(self.reported(), dark=True)
        self.reach_all_by_tab(self.reported())

    def test_reference_can_be_read(self):
        pages = reference_pages(REFERENCE)
        self.assertGreater(len(pages), 15)
        for page in pages:
            self.show(page)

    def test_broken_page_is_noticed(self):
        page = self.folder / "broken.html"
        page.write_text("""<!DOCTYPE html><title>broken</title><body><img src="nonesuch.png">
          <p style="font-size: 8px">small</p><p style="color: #ccc">pale</p><p style="width: 2000px">wide</p>
          <script>nonesuch();</script>""", encoding="utf-8")
        self.browser.open(page.as_uri(), WIDTHS[0])
        errors = "\n".join(self.browser.errors())
        self.assertIn("nonesuch is not defined", errors)
        self.assertIn("nonesuch.png", errors)
        problems = "\n".join(self.browser.evaluate(LEGIBILITY))
        for expected in ("letters of 8.0", "contrast of 1.6", "pixels wide"):
            self.assertIn(expected, problems)
        self.assertIn(("image", ""), self.browser.spoken())


if __name__ == "__main__":
    PROGRAM, EXPERIMENTS, REFERENCE = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    if not browser.program():
        print("no browser is here: apt-get install chromium")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1], verbosity=2)
