# SPDX-License-Identifier: Apache-2.0
"""The Python package, installed with pip: its numbers are those of `sukima probe`, and bad input is refused."""
import ctypes
import enum
import json
import math
import os
import pathlib
import subprocess
import sys
import types
import unittest
from unittest import mock

import sukima
from quota_group import QuotaGroup

NATIVE = pathlib.Path(sukima.__file__).parent / "native"
STATIC_KINDS = ("online", "affinity", "cpuset", "quota", "weight", "override")


def python(code, **options):
    """The output of a piece of Python."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=500, check=False,
                          **options)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout.strip()


def probe(*arguments, **options):
    """The answer of `sukima probe --json`."""
    done = subprocess.run([str(sukima.program()), "probe", "--json", *arguments], capture_output=True, text=True,
                          timeout=500, check=True, **options)
    return json.loads(done.stdout)


class Numbers(unittest.TestCase):
    def check_same(self, explanation, answer):
        """The package and the program give the same answer, except about the neighbours."""
        self.assertEqual(explanation["cap"], answer["cap"])
        limits = [limit for limit in answer["limits"] if limit["kind"] in STATIC_KINDS]
        self.assertEqual(len(explanation["limits"]), len(limits))
        for ours, theirs in zip(explanation["limits"], limits):
            for name in ("kind", "text", "file", "level"):
                self.assertEqual(ours[name], theirs[name])
            value = ours["value"] if math.isfinite(ours["value"]) else None
            self.assertEqual(value, theirs["value"])
        binding = [limit for limit in explanation["limits"] if limit["is_binding"]]
        self.assertEqual([limit["kind"] for limit in binding], [explanation["binding"]])
        self.assertEqual(explanation["usable"], binding[0]["value"])
        self.assertLessEqual(answer["usable"], explanation["usable"] + 1e-9)

    CODE = ("import dataclasses, json, sukima; e = sukima.explain();"
            "print(json.dumps({**dataclasses.asdict(e), 'threads': sukima.threads(),"
            " 'again': sukima.usable_cpus()}))")

    def test_equal_to_probe(self):
        self.check_same(json.loads(python(self.CODE)), probe())

    def test_equal_to_probe_under_a_quota(self):
        with QuotaGroup(0.4) as group:
            if group.folder is None:
                self.skipTest(group.why_not)
            ours = json.loads(python(self.CODE, preexec_fn=group.enter))
            self.check_same(ours, probe(preexec_fn=group.enter))
            self.assertEqual((ours["usable"], ours["again"]), (0.4, 0.4))
            self.assertEqual((ours["threads"], ours["binding"]), (1, "quota"))

    def test_another_process(self):
        with QuotaGroup(0.4) as group:
            if group.folder is None:
                self.skipTest(group.why_not)
            with subprocess.Popen(["sleep", "infinity"], preexec_fn=group.enter) as child:
                try:
                    self.assertEqual(sukima.usable_cpus(pid=child.pid), 0.4)
                finally:
                    child.kill()

    def test_override(self):
        with mock.patch.dict(os.environ, SUKIMA_CPUS="1.5"):
            self.assertEqual(sukima.usable_cpus(), 1.5)
            self.assertEqual(probe()["usable"], 1.5)
            self.assertEqual(sukima.usable_cpus(neighbours=True), 1.5)
            self.assertEqual(sukima.explain().binding, "override")
            self.assertEqual(sukima.threads(), 2)
            self.assertEqual(sukima.threads(rounding="floor"), 1)
            self.assertEqual(sukima.threads(reserve=0.6), 1)
            self.assertEqual(sukima.threads(minimum=5), 5)
            self.assertEqual(sukima.threads(minimum=5, maximum=3), 3)
        with mock.patch.dict(os.environ, SUKIMA_CPUS="1.4"):
            self.assertEqual((sukima.threads(), sukima.threads(rounding="ceil")), (1, 2))

    def test_neighbours(self):
        with_neighbours = sukima.usable_cpus(neighbours=True)
        self.assertGreater(with_neighbours, 0)
        self.assertLessEqual(with_neighbours, sukima.usable_cpus())

    def test_text(self):
        with mock.patch.dict(os.environ, SUKIMA_CPUS="1"):
            text = str(sukima.explain())
        self.assertTrue(text.startswith("1 CPU usable, because "), text)
        self.assertIn("* override", text)

    def test_bad_input(self):
        with mock.patch.dict(os.environ, SUKIMA_CPUS="many"):
            for function in (sukima.usable_cpus, sukima.explain, sukima.threads, sukima.limit_threads):
                with self.assertRaisesRegex(sukima.OverrideError, "SUKIMA_CPUS: 'many' is not a number"):
                    function()
        for pid, error in ((0, ValueError), (-1, ValueError), ("1", TypeError), (True, TypeError),
                           (2**31 - 1, ProcessLookupError)):
            with self.assertRaises(error):
                sukima.usable_cpus(pid=pid)
        for number in (1.0, "1", True):
            with self.assertRaisesRegex(TypeError, f"minimum is {number!r}; give a whole number"):
                sukima.threads(minimum=number)
        for arguments in ({"rounding": "up"}, {"minimum": 0}, {"maximum": 0}, {"reserve": -1}, {"reserve": math.nan}):
            with self.assertRaises(ValueError):
                sukima.threads(**arguments)
        with self.assertRaisesRegex(TypeError, "reserve is '1'; give a number of CPUs"):
            sukima.threads(reserve="1")
        for threads, error in ((0, ValueError), (-2, ValueError), (1.5, TypeError), ("2", TypeError)):
            with self.assertRaises(error):
                sukima.limit_threads(threads)


    def test_whole_numbers_of_other_types(self):
        """numpy's integers are such numbers. In Python 3.9 and 3.10 the text of Several.THREE is its name."""
        class Three:
            def __index__(self):
                return 3

        class Several(enum.IntEnum):
            THREE = 3

        class Own:
            def __index__(self):
                return os.getpid()

        for three in (Three(), Several.THREE):
            self.assertEqual(sukima.threads(minimum=three, maximum=three), 3)
            done = sukima.run(Programs.SHOW, threads=three, capture_output=True, text=True)
            self.assertEqual(done.stdout.split()[0], "3", done.stderr)
            with sukima.limit_threads(three) as limits:
                self.assertEqual((limits.threads, os.environ["OMP_NUM_THREADS"]), (3, "3"))
                self.assertIs(type(limits.threads), int)
        self.assertEqual(sukima.usable_cpus(pid=Own()), sukima.usable_cpus())


class Programs(unittest.TestCase):
    SHOW = [sys.executable, "-c", "import os; print(os.environ['OMP_NUM_THREADS'], os.cpu_count())"]

    def test_run(self):
        done = sukima.run(self.SHOW, threads=1, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.split(), ["1", "1"])
        done = sukima.run(self.SHOW, threads=1, preload=False, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.split(), ["1", str(os.cpu_count())])

    def test_run_passes_errors_on(self):
        self.assertEqual(sukima.run([sys.executable, "-c", "import sys; sys.exit(5)"]).returncode, 5)
        with self.assertRaises(subprocess.CalledProcessError):
            sukima.run(["false"], check=True)
        done = sukima.run(["some_absent_program"], capture_output=True, text=True)
        self.assertIn("some_absent_program", done.stderr)

    def test_run_refuses(self):
        for arguments, options, error in (("ls", {}, TypeError), ([], {}, ValueError),
                                          (["ls"], {"shell": True}, TypeError), (["ls"], {"threads": 0}, ValueError)):
            with self.assertRaises(error):
                sukima.run(arguments, **options)
        for options, error, sentence in (
                ({"rounding": "up"}, ValueError, "rounding is 'up'; give one of 'ceil', 'floor', 'nearest'"),
                ({"resize": "often"}, ValueError, "resize is 'often'; give one of 'never', 'unless-asked', 'always'"),
                ({"reserve": math.nan}, ValueError, "reserve is nan; give a number of CPUs from 0 to 65536"),
                ({"reserve": "1"}, TypeError, "reserve is '1'; give a number of CPUs"),
                ({"minimum": 3, "maximum": 2}, ValueError, "minimum is 3, more than maximum, 2; give a smaller minimum"),
                ({"pin": "no"}, TypeError, "pin is 'no'; give True or False"),
                ({"preload": 0}, TypeError, "preload is 0; give True or False")):
            with self.assertRaises(error) as raised:
                sukima.run(["true"], **options)
            self.assertEqual(str(raised.exception), sentence)

    def test_commands(self):
        for command in ([sys.executable, "-m", "sukima"], ["sukima"]):
            done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=500, check=True)
            self.assertIn(sukima.__version__, done.stdout)
        done = subprocess.run(["sukima", "probe", "--nonsense"], capture_output=True, check=False)
        self.assertEqual(done.returncode, 2)

    def test_brings_its_libraries(self):
        """Only the C library comes from the system."""
        files = [sukima.program(), *(NATIVE / "lib").rglob("*.so*")]
        self.assertGreater(len(files), 3)
        for file in (sukima.program(), NATIVE / "lib" / "libsukima-capacity.so"):
            shown = subprocess.run(["ldd", str(file)], capture_output=True, text=True, check=True).stdout
            for line in shown.splitlines():
                name = pathlib.Path(line.split()[0]).name
                if not name.startswith(("linux-vdso.", "ld-linux", "libc.so", "libm.so", "libdl.so")):
                    self.assertIn(str(NATIVE), line)

    def test_is_typed(self):
        self.assertTrue((NATIVE.parent / "py.typed").exists())


class Limits(unittest.TestCase):
    def setUp(self):
        self.before = dict(os.environ)

    def tearDown(self):
        self.assertEqual(dict(os.environ), self.before)

    def test_variables(self):
        with sukima.limit_threads(3) as limits:
            for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS",
                         "POLARS_MAX_THREADS", "RAYON_NUM_THREADS", "LOKY_MAX_CPU_COUNT"):
                self.assertEqual((os.environ[name], limits.variables[name]), ("3", "3"))
            self.assertNotIn("JAVA_TOOL_OPTIONS", limits.variables)
            with sukima.limit_threads(1):
                self.assertEqual(os.environ["OMP_NUM_THREADS"], "1")
            self.assertEqual(os.environ["OMP_NUM_THREADS"], "3")
        limits.restore()  # does nothing

    def test_default_is_the_usable_number(self):
        with mock.patch.dict(os.environ, SUKIMA_CPUS="1.5"):
            with sukima.limit_threads() as limits:
                self.assertEqual((limits.threads, os.environ["OMP_NUM_THREADS"]), (2, "2"))

    def test_the_users_own_variables(self):
        with mock.patch.dict(os.environ, OMP_NUM_THREADS="7"):
            with sukima.limit_threads():
                self.assertEqual(os.environ["OMP_NUM_THREADS"], "7")
            with sukima.limit_threads(2):
                self.assertEqual(os.environ["OMP_NUM_THREADS"], "2")
            self.assertEqual(os.environ["OMP_NUM_THREADS"], "7")

    def test_a_number_replaces_numbers_only(self):
        own = {"OMP_NUM_THREADS": "7", "OMP_WAIT_POLICY": "active", "NODE_OPTIONS": "--max-old-space-size=99"}
        with mock.patch.dict(os.environ, own):
            with sukima.limit_threads(2):
                self.assertEqual(os.environ["OMP_NUM_THREADS"], "2")
                self.assertEqual(os.environ["OMP_WAIT_POLICY"], "active")
                self.assertEqual(os.environ["NODE_OPTIONS"], "--max-old-space-size=99 --v8-pool-size=2")
            self.assertEqual({name: os.environ[name] for name in own}, own)

    def test_restores_after_an_exception(self):
        with self.assertRaises(KeyError):
            with sukima.limit_threads(2):
                raise KeyError

    @staticmethod
    def loaded(threads):
        """Replaces torch: a module with a number of threads."""
        module = types.ModuleType("torch")
        module.threads = threads
        module.get_num_threads = lambda: module.threads
        module.set_num_threads = lambda number: setattr(module, "threads", number)
        return module

    def test_loaded_modules(self):
        module = self.loaded(8)
        with mock.patch.dict(sys.modules, torch=module, polars=types.ModuleType("polars")):
            with mock.patch.dict(os.environ, SUKIMA_CPUS="2"), sukima.limit_threads() as limits:
                self.assertEqual(module.threads, 2)
                self.assertEqual(limits.adjusted, (sukima.Adjusted("torch", 8, 2),))
                self.assertIn("polars", [one.name for one in limits.unchanged])
            self.assertEqual(module.threads, 8)
            module.threads = 1
            with mock.patch.dict(os.environ, SUKIMA_CPUS="2"), sukima.limit_threads():
                self.assertEqual(module.threads, 1)  # never more than it had
            with sukima.limit_threads(2):
                self.assertEqual(module.threads, 2)
            module.threads = 8
            with mock.patch.dict(os.environ, OMP_NUM_THREADS="8", SUKIMA_CPUS="2"), sukima.limit_threads():
                self.assertEqual(module.threads, 8)  # the user said so

    def test_a_module_that_refuses(self):
        module = self.loaded(8)

        def refuse(_):
            raise RuntimeError("not after the first work\nmore words")

        module.set_num_threads = refuse
        with mock.patch.dict(sys.modules, torch=module), sukima.limit_threads(2) as limits:
            self.assertIn(sukima.Unchanged("torch", "not after the first work"), limits.unchanged)

    def test_a_module_that_refuses_without_a_reason(self):
        module = self.loaded(8)
        module.set_num_threads = mock.Mock(side_effect=RuntimeError)
        with mock.patch.dict(sys.modules, torch=module), sukima.limit_threads(2) as limits:
            self.assertIn(sukima.Unchanged("torch", "it raised RuntimeError without a reason"), limits.unchanged)

    def test_restores_the_rest_if_a_module_refuses_its_former_number(self):
        torch, numba = self.loaded(8), self.loaded(8)

        def refuse(number):
            if number != 2:
                raise RuntimeError("not after the first work")
            numba.threads = number

        numba.set_num_threads = refuse
        with mock.patch.dict(sys.modules, torch=torch, numba=numba):
            limits = sukima.limit_threads(2)
            self.assertEqual((torch.threads, numba.threads), (2, 2))
            with self.assertRaisesRegex(RuntimeError, "not after the first work"):
                limits.restore()
            self.assertEqual(torch.threads, 8)
            self.assertEqual(dict(os.environ), self.before)
            limits.restore()  # does nothing

    def test_the_users_variables_with_several_lines_or_other_bytes(self):
        for value in ("-Da=b\n", "-Da=b\nX=c", "-Da=it's \udcff"):
            with mock.patch.dict(os.environ, JAVA_TOOL_OPTIONS=value, MKL_NUM_THREADS=value):
                with sukima.limit_threads() as limits:
                    self.assertIn("OMP_NUM_THREADS", limits.variables)
                    self.assertFalse({"JAVA_TOOL_OPTIONS", "MKL_NUM_THREADS", "X"} & set(limits.variables))

    def test_names_what_needs_threadpoolctl(self):
        try:
            ctypes.CDLL("libgomp.so.1")
        except OSError:
            self.skipTest("libgomp is not installed")
        with sukima.limit_threads(2) as limits:
            self.assertIn("libgomp.so", [one.name for one in limits.unchanged])


if __name__ == "__main__":
    unittest.main(verbosity=2)
