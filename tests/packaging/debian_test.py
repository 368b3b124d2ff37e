#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the packages that scripts/finish-deb.sh makes: debian_test.py SOURCE"""
import gzip
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
FINISH = SOURCE / "scripts" / "finish-deb.sh"
CONTROL = """Package: {name}
Version: 0.1.0-1
Architecture: amd64
Maintainer: Some One <some.one@example.org>
Installed-Size: 4000
Description: a made-up package
 It is like those of CPack.
"""
LDCONFIG = "#!/bin/sh\nset -e\nif [ \"$1\" = configure ]; then ldconfig; fi\n"
TIME = "1700000000"  # 2023-11-14 22:13:20 in UTC


class Package(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def make(self, name, files, scripts=()):
        """The .deb file of a package with these files."""
        tree = self.folder / f"{name}-tree"
        for path, text in {"DEBIAN/control": CONTROL.format(name=name), **files}.items():
            file = tree / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        for script in scripts:
            (tree / "DEBIAN" / script).write_text(LDCONFIG, encoding="utf-8")
            (tree / "DEBIAN" / script).chmod(0o755)
        package = self.folder / f"{name}.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "--build", tree, package], check=True, capture_output=True)
        return package

    def finish(self, package):
        """Runs the script. Returns the folder with the resulting package's files."""
        subprocess.run([FINISH, package], check=True, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "SOURCE_DATE_EPOCH": TIME})
        tree = self.folder / f"{package.stem}-finished"
        subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
        return tree

    def test_library_has_a_trigger_instead_of_scripts(self):
        package = self.make("libmadeup", {"usr/lib/libmadeup.so.0.1": "code"}, scripts=("postinst", "postrm"))
        tree = self.finish(package)
        self.assertEqual((tree / "DEBIAN/triggers").read_text(), "activate-noawait ldconfig\n")
        self.assertFalse((tree / "DEBIAN/postinst").exists() or (tree / "DEBIAN/postrm").exists())

    def test_program_has_neither(self):
        package = self.make("madeup", {"usr/lib/madeup/libplugin.so": "code"}, scripts=("postinst", "postrm"))
        self.assertEqual({file.name for file in (self.finish(package) / "DEBIAN").iterdir()}, {"control", "md5sums"})

    def test_documents_are_those_that_policy_demands(self):
        tree = self.finish(self.make("madeup", {"usr/share/man/man1/madeup.1": ".TH made-up",
                                                "usr/share/doc/madeup/copyright": "the whole licence"}))
        self.assertEqual([file.name for file in (tree / "usr/share/man/man1").iterdir()], ["madeup.1.gz"])
        self.assertEqual(gzip.decompress((tree / "usr/share/man/man1/madeup.1.gz").read_bytes()), b".TH made-up")
        documents = tree / "usr/share/doc/madeup"
        self.assertEqual((documents / "copyright").read_bytes(), (SOURCE / "packaging/debian/copyright").read_bytes())
        changes = gzip.decompress((documents / "changelog.Debian.gz").read_bytes()).decode()
        self.assertTrue(changes.startswith("madeup (0.1.0-1) unstable; urgency=medium\n"), changes)
        self.assertTrue(changes.endswith(" -- Some One <some.one@example.org>  Tue, 14 Nov 2023 22:13:20 +0000\n"), changes)

    def test_pkgconfig_files_are_where_cross_compilers_look(self):
        tree = self.finish(self.make("libmadeup-dev", {"usr/lib/pkgconfig/madeup.pc":
                                                       "prefix=${pcfiledir}/../..\nlibdir=${prefix}/lib\n"}))
        multiarch = subprocess.run(["gcc", "-print-multiarch"], capture_output=True, text=True, check=True).stdout.strip()
        moved = tree / "usr/lib" / multiarch / "pkgconfig/madeup.pc"
        self.assertEqual(moved.read_text(), "prefix=/usr\nlibdir=${prefix}/lib\n")
        self.assertFalse((tree / "usr/lib/pkgconfig").exists())

    def test_sums_and_size_are_those_of_the_files(self):
        tree = self.finish(self.make("madeup", {"usr/share/man/man1/madeup.1": ".TH made-up", "usr/bin/made up": "x" * 9000}))
        subprocess.run(["md5sum", "--check", "--quiet", "--strict", "DEBIAN/md5sums"], cwd=tree, check=True)
        summed = [line.split("  ", 1)[1] for line in (tree / "DEBIAN/md5sums").read_text().splitlines()]
        self.assertEqual(summed, sorted(str(file.relative_to(tree)) for file in tree.rglob("*")
                                        if file.is_file() and "DEBIAN" not in file.parts))
        size = next(line for line in (tree / "DEBIAN/control").read_text().splitlines() if line.startswith("Installed-Size: "))
        self.assertLess(9, int(size.split()[1]))
        self.assertLess(int(size.split()[1]), 4000)

    def test_overrides_have_reasons(self):
        files = sorted((SOURCE / "packaging/debian").glob("*lintian-overrides"))
        self.assertTrue(files)
        for file in files:
            lines = file.read_text(encoding="utf-8").splitlines()
            for before, line in zip([""] + lines, lines):
                self.assertTrue(line.startswith("# ") or before.startswith("# "), f"{file.name}: {line}")
        tree = self.finish(self.make("sukima-lab", {"usr/bin/madeup": "x"}))
        installed = (tree / "usr/share/lintian/overrides/sukima-lab").read_text(encoding="utf-8")
        self.assertEqual(installed, "".join((SOURCE / "packaging/debian" / name).read_text(encoding="utf-8")
                                            for name in ("lintian-overrides", "sukima-lab.lintian-overrides")))

    def test_same_package_twice_is_the_same_file(self):
        package = self.make("madeup", {"usr/share/man/man1/madeup.1": ".TH made-up"})
        again = self.folder / "again.deb"
        again.write_bytes(package.read_bytes())
        self.finish(package)
        self.finish(again)
        self.assertEqual(package.read_bytes(), again.read_bytes())

    def test_no_package_is_wrong_use(self):
        done = subprocess.run([FINISH], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (2, "finish-deb.sh: no package is named; give the .deb files\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
