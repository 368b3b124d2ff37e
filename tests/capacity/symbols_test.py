#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which symbols the libraries define: symbols_test.py NM INCLUDE CAPACITY.a [LIBSUKIMA.so]

Public C functions begin with sukima_ and are declared in a header of include/sukima. The capacity part's internal
functions begin with cap_ and are hidden, so that no shared library with the part inside exports them.
"""
import pathlib
import re
import subprocess
import sys
import unittest

NM, INCLUDE, STATIC, *SHARED = [argument for argument in sys.argv[1:] if argument]
sys.argv = sys.argv[:1]
HEADERS = {path: path.read_text(encoding="utf-8")
           for path in sorted(pathlib.Path(INCLUDE, "sukima").rglob("*")) if path.suffix in {".h", ".hpp"}}


def names(*arguments):
    """The names of the defined symbols that nm lists."""
    text = subprocess.run([NM, *arguments], capture_output=True, text=True, check=True).stdout
    return {fields[2] for fields in map(str.split, text.splitlines()) if len(fields) == 3}


def declared(pattern):
    """The names that a pattern finds in the public headers."""
    return {name for text in HEADERS.values() for name in re.findall(pattern, text)}


class Capacity(unittest.TestCase):
    public = declared(r"SUKIMA_CAPACITY_API[^;]*?\b(sukima_\w+)\(")
    symbols = names("--extern-only", "--defined-only", STATIC)

    def test_defines_exactly_the_public_functions(self):
        self.assertEqual({name for name in self.symbols if name.startswith("sukima_")}, self.public)

    def test_its_other_functions_have_the_internal_prefix(self):
        self.assertEqual([name for name in self.symbols - self.public if not name.startswith("cap_")], [])

    def test_public_headers_name_nothing_internal(self):
        self.assertEqual(declared(r"\bcap_\w+"), set())

    def test_only_public_functions_are_visible(self):
        text = subprocess.run(["readelf", "--wide", "--symbols", STATIC], capture_output=True, text=True,
                              check=True).stdout
        rows = [fields[4:] for fields in map(str.split, text.splitlines()) if len(fields) == 8]
        visible = {name for binding, visibility, section, name in rows
                   if (binding, visibility) == ("GLOBAL", "DEFAULT") and section != "UND"}
        self.assertEqual(visible, self.public)


@unittest.skipUnless(SHARED, "there is no shared library in this build")
class SharedLibrary(unittest.TestCase):
    exported = names("--dynamic", "--defined-only", *SHARED)

    def test_exports_all_of_the_capacity_interface(self):
        self.assertEqual(Capacity.public - self.exported, set())

    def test_its_c_functions_are_declared_in_public_headers(self):
        everything = declared(r"\b(sukima_\w+)")
        c_names = {name for name in self.exported if not name.startswith("_Z")}
        self.assertEqual(sorted(c_names - everything), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
