# SPDX-License-Identifier: Apache-2.0
"""The source archive for pip: sdist_test.py SOURCE [--build]

--build: also installs it with pip into a new virtual environment, without a network.
"""
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

SOURCE, BUILD = pathlib.Path(sys.argv[1]).resolve(), "--build" in sys.argv
CODE = "import sys; sys.path.insert(0, 'python'); sys.dont_write_bytecode = True; import backend; print(backend.{})"


def backend(folder, call):
    """Calls the backend in a process of its own, as pip does."""
    return subprocess.run([sys.executable, "-c", CODE.format(call)], cwd=folder, capture_output=True, text=True,
                          check=True).stdout.strip()


class Sdist(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.archive = folder / backend(SOURCE, f"build_sdist({str(folder)!r})")

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def unpack(self):
        with tarfile.open(self.archive) as archive:
            archive.extractall(self.folder / "unpacked")
        tree, = (self.folder / "unpacked").iterdir()
        return tree

    def test_has_the_sources_and_nothing_that_was_built(self):
        version = backend(SOURCE, "version()")
        self.assertEqual(self.archive.name, f"sukima-{version}.tar.gz")
        tree = self.unpack()
        self.assertEqual(tree.name, f"sukima-{version}")
        for name in ("pyproject.toml", "CMakeLists.txt", "CMakePresets.json", "LICENSE", "python/backend.py",
                     "include/sukima/sukima.hpp", "src/capacity/limits/limits.c", "packaging/aur/PKGBUILD.in"):
            self.assertEqual((tree / name).read_bytes(), (SOURCE / name).read_bytes(), name)
        self.assertIn(f"\nVersion: {version}\n", (tree / "PKG-INFO").read_text(encoding="utf-8"))
        self.assertFalse((tree / "build").exists() or (tree / ".git").exists())
        self.assertTrue(os.access(tree / "scripts" / "install-dependencies.sh", os.X_OK))

    def test_an_unpacked_archive_makes_the_same_archive(self):
        tree = self.unpack()
        again = self.folder / "again"
        again.mkdir()
        name = backend(tree, f"build_sdist({str(again)!r})")
        with tarfile.open(self.archive) as first, tarfile.open(again / name) as second:
            self.assertEqual(sorted(first.getnames()), sorted(second.getnames()))

    if BUILD:
        def test_pip_builds_and_installs_it(self):
            environment = self.folder / "environment"
            if subprocess.run([sys.executable, "-m", "venv", environment], capture_output=True, check=False).returncode != 0:
                self.skipTest("no virtual environment can be made here: install python3-venv")
            subprocess.run([environment / "bin" / "pip", "install", "--quiet", "--no-index", self.archive], check=True)
            said = subprocess.run([environment / "bin" / "python", "-c", "import sukima; print(sukima.usable_cpus())"],
                                  env={**os.environ, "SUKIMA_CPUS": "1.5"}, capture_output=True, text=True, check=True)
            self.assertEqual(said.stdout, "1.5\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
