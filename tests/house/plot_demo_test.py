# SPDX-License-Identifier: Apache-2.0
"""Tests of the drawings and texts of lab/scripts/plot-demo.py, without matplotlib: plot_demo_test.py FOLDER_OF_THE_SCRIPTS"""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
SCRIPTS = pathlib.Path(sys.argv.pop())
sys.path.insert(0, str(SCRIPTS))
SPEC = importlib.util.spec_from_file_location("plot_demo", SCRIPTS / "plot-demo.py")
plot_demo = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(plot_demo)

PEERS = """# cpu: made up
benchmark,system,compiler,scenario,workers,seconds_median
pentomino,sequential,gcc,alone,1,0.6
pentomino,sukima,gcc,alone,1,0.62
pentomino,sukima,gcc,alone,2,0.40
pentomino,sukima,clang,alone,2,{own}
pentomino,tbb,gcc,alone,2,0.62
pentomino,tbb-tuned,gcc,alone,2,0.30
pentomino,openmp-gcc,gcc,alone,2,4.5
pentomino,sukima,gcc,overworked,8,0.1
grav,sukima,gcc,alone,2,0.2
"""
OPENMP = """program,programs,setting,runs,seconds_median
CG A,3,sukima run,3,{helped}
CG A,3,plain,1,3
CG A,1,plain,3,0.36
CG A,1,sukima run,3,0.37
"""


class PlotDemo(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def rows(self, text, wanted=frozenset({"seconds_median"})):
        path = self.folder / "rows.csv"
        path.write_text(text, encoding="utf-8")
        return plot_demo.read_rows(path, wanted)

    def test_bars_are_sorted_and_of_all_cpus(self):
        benchmark, workers, bars = plot_demo.search_bars(self.rows(PEERS.format(own=0.32)))
        self.assertEqual((benchmark, workers), ("pentomino", 2))
        self.assertEqual([label for _, label, _ in bars], ["TBB, tuned cut-off", "Sukima", "TBB", "OpenMP"])
        self.assertEqual([seconds for seconds, _, _ in bars], [0.30, 0.32, 0.62, 4.5])
        self.assertEqual([colour for _, _, colour in bars],
                         [plot_demo.TUNED, plot_demo.OWN, plot_demo.UNTUNED, plot_demo.UNTUNED])

    def test_an_outlier_is_cut(self):
        _, _, bars = plot_demo.search_bars(self.rows(PEERS.format(own=0.32)))
        self.assertEqual(plot_demo.longest_shown(bars), 0.62)

    def test_the_title_states_the_result_whatever_it_is(self):
        for own, title in [(0.24, "1.25 times as fast as the best tuned peer"), (0.305, "as fast as the best tuned peer"),
                           (0.33, "10 % behind the best tuned peer")]:
            benchmark, _, bars = plot_demo.search_bars(self.rows(PEERS.format(own=own)))
            self.assertEqual(plot_demo.search_title(benchmark, bars), f"pentomino without tuning: {title}")

    def test_openmp(self):
        programs, runs, bars = plot_demo.openmp_bars(self.rows(OPENMP.format(helped=1)))
        self.assertEqual((programs, runs), ("CG A, 3 at once", "of the runs"))
        self.assertEqual([label for _, label, _ in bars],
                         ["alone (3 runs)", "alone, with sukima run (3 runs)", "3 at once (1 run)",
                          "3 at once, with sukima run (3 runs)"])
        self.assertIn("3.0 times as fast with sukima run", plot_demo.openmp_title(programs, bars))
        programs, _, bars = plot_demo.openmp_bars(self.rows(OPENMP.format(helped=3.3)))
        self.assertIn("1.10 of the time with sukima run", plot_demo.openmp_title(programs, bars))

    def test_openmp_says_once_how_many_runs_all_bars_have(self):
        _, runs, bars = plot_demo.openmp_bars(self.rows(OPENMP.format(helped=1).replace("plain,1,", "plain,3,")))
        self.assertEqual(runs, "of 3 runs")
        self.assertEqual([label for _, label, _ in bars],
                         ["alone", "alone, with sukima run", "3 at once", "3 at once, with sukima run"])

    def test_bad_input_is_one_sentence(self):
        (self.folder / "peers.csv").write_text("a,b\n1,2\n")
        for arguments, sentence in [
                (["one"], "plot-demo.py: give the CSV file of the peers, that of OpenMP, and a folder\n"),
                ([self.folder / "peers.csv", "b", "c"], f"plot-demo.py: '{self.folder}/peers.csv' has no rows with benchmark, "
                                                        "scenario, seconds_median, system, workers\n"),
                (["/no/such/file", "b", "c"], "plot-demo.py: [Errno 2] No such file or directory: '/no/such/file'\n")]:
            done = subprocess.run([sys.executable, SCRIPTS / "plot-demo.py", *arguments], capture_output=True, text=True,
                                  check=False)
            self.assertEqual((done.returncode, done.stderr), (2, sentence))
        with self.assertRaises(ValueError):
            plot_demo.search_bars(self.rows(PEERS.format(own=0.3).replace("tbb-tuned", "tbb")))


if __name__ == "__main__":
    unittest.main()
