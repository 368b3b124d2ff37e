# SPDX-License-Identifier: Apache-2.0
"""numpy with OpenBLAS, and joblib, use as many threads as sukima.limit_threads says."""
import os
import pathlib
import subprocess
import sys
import unittest

from quota_group import QuotaGroup

# Prints the number of OpenBLAS's threads, and how many threads of the process worked while it multiplied.
MULTIPLY = """
def cpu_times():
    times = {}
    for task in pathlib.Path("/proc/self/task").iterdir():
        times[task.name] = int((task / "schedstat").read_text().split()[0])
    return times

def multiply():
    before = cpu_times()
    matrix = numpy.ones((1500, 1500))
    matrix @ matrix
    pools = [one["num_threads"] for one in threadpoolctl.threadpool_info() if one["internal_api"] == "openblas"]
    times = [time - before.get(task, 0) for task, time in cpu_times().items()]
    return pools[0], sum(time > max(times) / 3 for time in times)  # an idle thread spins for a moment
"""
HEAD = "import pathlib, sukima, threadpoolctl\n" + MULTIPLY


def python(code, **options):
    """The words that a piece of Python prints."""
    environment = {**os.environ, **options.pop("env", {})}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False,
                          env=environment, **options)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout.split()


class Pools(unittest.TestCase):
    def test_numpy_imported_inside(self):
        for threads in range(1, min(os.cpu_count() or 1, 3) + 1):  # OpenBLAS starts no more threads than CPUs
            pool, worked = python(HEAD + f"with sukima.limit_threads({threads}):\n"
                                  "    import numpy\n    print(*multiply())")
            self.assertEqual((int(pool), int(worked)), (threads, threads))

    def test_numpy_imported_before(self):
        code = HEAD + """
import numpy
print(*multiply())
with sukima.limit_threads(1) as limits:
    print(*multiply(), len(limits.adjusted), len(limits.unchanged))
print(multiply()[0])
"""
        if (os.cpu_count() or 1) < 2:
            self.skipTest("OpenBLAS starts no more threads than there are CPUs")
        words = python(code, env={"OPENBLAS_NUM_THREADS": "2"})
        self.assertEqual(words, ["2", "2", "1", "1", "1", "0", "2"])

    def test_numpy_under_a_quota(self):
        with QuotaGroup(1) as group:
            if group.folder is None:
                self.skipTest(group.why_not)
            pool, worked = python(HEAD + "with sukima.limit_threads():\n    import numpy\n    print(*multiply())",
                                  preexec_fn=group.enter)
            self.assertEqual((pool, worked), ("1", "1"))

    def test_joblib(self):
        code = """
import os, time, joblib, sukima
def worker(_):
    time.sleep(0.2)
    return os.getpid(), os.environ["OMP_NUM_THREADS"]
if __name__ == "__main__":
    with sukima.limit_threads({threads}):
        results = joblib.Parallel(n_jobs=-1)(joblib.delayed(worker)(k) for k in range(8))
        print(joblib.cpu_count(), len({{pid for pid, _ in results}}), *sorted({{omp for _, omp in results}}))
    print(os.environ.get("LOKY_MAX_CPU_COUNT"))
"""
        for threads in (1, min(2, os.cpu_count() or 1)):
            script = pathlib.Path(f"joblib_{threads}.py")
            script.write_text(code.format(threads=threads), encoding="utf-8")
            words = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120,
                                   check=True).stdout.split()
            self.assertEqual(words[:2], [str(threads), str(threads)])
            self.assertEqual(words[-1], "None")

    def test_run(self):
        code = "import pathlib, threadpoolctl, numpy\n" + MULTIPLY + "print(*multiply())"
        pool, worked = python("import sukima, sys\n"
                              f"sukima.run([sys.executable, '-c', {code!r}], threads=1, check=True)")
        self.assertEqual((pool, worked), ("1", "1"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
