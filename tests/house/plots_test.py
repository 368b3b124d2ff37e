# SPDX-License-Identifier: Apache-2.0
"""Tests of lab/scripts/plots.py: plots_test.py FOLDER_OF_THE_SCRIPTS"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = sys.argv.pop()
# A figure that needs no matplotlib, and may fail in the middle of a file.
PROGRAM = """
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import plots
class figure:
    def savefig(self, path, format, dpi, metadata):
        with open(path, "w") as file:
            file.write(f"{format} {metadata}")
            if format == sys.argv[3]:
                raise OSError(28, "No space left on device")
plots.save(figure(), sys.argv[2])
"""


class Plots(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "draw.py").write_text(PROGRAM)

    def run_program(self, prefix, failing, code):
        done = subprocess.run([sys.executable, self.folder / "draw.py", SCRIPTS, prefix, failing], capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        return done.stderr

    def test_both_files_are_written(self):
        self.assertEqual(self.run_program(self.folder / "a", "", 0), "")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["a.png", "a.svg", "draw.py"])
        self.assertEqual((self.folder / "a.svg").read_text(), "svg {'Date': None}")

    def test_a_plot_that_cannot_be_finished_leaves_the_old_file(self):
        (self.folder / "a.svg").write_text("old")
        self.assertEqual(self.run_program(self.folder / "a", "svg", 1),
                         f"draw.py: cannot write '{self.folder}/a.svg': No space left on device\n")
        self.assertEqual((self.folder / "a.svg").read_text(), "old")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["a.png", "a.svg", "draw.py"])

    def test_a_folder_that_is_not_there(self):
        self.assertEqual(self.run_program("/no/such/folder/a", "", 1),
                         "draw.py: cannot write '/no/such/folder/a.png': No such file or directory\n")


if __name__ == "__main__":
    unittest.main()
