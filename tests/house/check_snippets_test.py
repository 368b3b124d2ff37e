# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/check-snippets.py on small made-up trees: check_snippets_test.py SCRIPT"""
import pathlib
import sys
import tempfile
import unittest

import in_process

SCRIPT = sys.argv.pop()

EXAMPLE = "#include <a>\n\nint main() {\n  if (a) {\n    b();\n  }\n}\n"


class CheckSnippets(unittest.TestCase):
    def check(self, page, example=EXAMPLE, name="docs/page.md"):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in ((name, page), ("examples/a.cpp", example)):
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            done = in_process.run(SCRIPT, folder)
            return done.returncode, done.stdout + done.stderr

    def test_whole_example(self):
        code, output = self.check(f"Text\n```cpp\n{EXAMPLE}```\n", name="README.md")
        self.assertEqual((code, output), (0, "1 pieces of code in 1 pages are parts of examples\n"))

    def test_part_with_other_indentation(self):
        self.assertEqual(self.check("```c++\nif (a) {\n  b();\n}\n```\n")[0], 0)

    def test_changed_line(self):
        code, output = self.check("Text\n\n```cpp\nif (a) {\n  c();\n}\n```\n")
        self.assertEqual(code, 1)
        self.assertEqual(output, "docs/page.md:4: this code is in no file of examples/\n")

    def test_left_out_line(self):
        self.assertEqual(self.check("```cpp\nif (a) {\n}\n```\n")[0], 1)

    def test_other_languages_are_not_compiled(self):
        code, output = self.check("```\nc();\n```\n```text\nc();\n```\n")
        self.assertEqual(code, 0)
        self.assertIn("0 pieces", output)

    def test_code_after_another_language(self):
        self.assertEqual(self.check("```sh\nls\n```\n```c\nc();\n```\n")[0], 1)

    def test_no_pages(self):
        code, output = self.check("", name="elsewhere.md")
        self.assertEqual(code, 2)
        self.assertIn("has no README.md", output)


if __name__ == "__main__":
    unittest.main()
