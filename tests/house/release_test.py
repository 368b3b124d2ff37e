# SPDX-License-Identifier: Apache-2.0
"""Tests of the checks of scripts/release.sh on a small made-up repository: release_test.py SCRIPT"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop())
HEADER = "#define SUKIMA_VERSION_MAJOR 1\n#define SUKIMA_VERSION_MINOR 2\n#define SUKIMA_VERSION_PATCH 3\n"
CHANGES = "# Changes\n\n## Unreleased\n\n## 1.2.3\n\n- A change.\n"


class Release(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "a")
        self.git("config", "user.email", "a@example.invalid")
        (self.folder / "scripts").mkdir()
        shutil.copy(SCRIPT, self.folder / "scripts")

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.folder, check=True)

    def check(self, header=HEADER, changes=CHANGES, citation="version: 1.2.3\n"):
        """Exit status and output of `release.sh --check` after these files were committed."""
        for name, text in {"include/sukima/version.h": header, "CHANGELOG.md": changes, "CITATION.cff": citation}.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "Change")
        return self.run_script("--check")

    def run_script(self, *arguments):
        done = subprocess.run(["bash", self.folder / "scripts" / SCRIPT.name, *arguments], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stdout + done.stderr

    def test_a_new_version_can_be_released(self):
        self.assertEqual(self.check(), (0, "release.sh: version 1.2.3 can be released\n"))

    def test_refusals(self):
        for arguments, sentence in [
                ({"header": ""}, "include/sukima/version.h names no version"),
                ({"changes": "# Changes\n\n## Unreleased\n\n## 1.2.30\n"}, "CHANGELOG.md has no section '## 1.2.3'"),
                ({"changes": CHANGES.replace("Unreleased\n", "Unreleased\n\n- More.\n")}, "text under 'Unreleased'"),
                ({"citation": "version: 1.2.2\n"}, "CITATION.cff names another version than 1.2.3")]:
            with self.subTest(sentence):
                status, output = self.check(**arguments)
                self.assertEqual(status, 2)
                self.assertIn(sentence, output)

    def test_a_contact_that_does_not_exist(self):
        package = self.folder / "cmake" / "package.cmake"
        package.parent.mkdir()
        package.write_text('set(CONTACT "Maintainers <a@b.invalid>")\n', encoding="utf-8")
        status, output = self.check()
        self.assertEqual(status, 2)
        self.assertIn("the contact in cmake/package.cmake does not exist", output)
        package.write_text('set(CONTACT "Maintainers <a@b.example>")\n', encoding="utf-8")
        self.assertEqual(self.check()[0], 0)

    def test_a_version_is_released_once(self):
        self.check()
        self.git("tag", "v1.2.3")
        status, output = self.run_script("--check")
        self.assertEqual(status, 2)
        self.assertIn("the tag v1.2.3 is there already", output)

    def test_uncommitted_changes(self):
        self.check()
        (self.folder / "new").write_text("a", encoding="utf-8")
        status, output = self.run_script("--check")
        self.assertEqual(status, 2)
        self.assertIn("uncommitted changes", output)

    def test_unknown_arguments(self):
        status, output = self.run_script("--now")
        self.assertEqual(status, 2)
        self.assertEqual(output, "release.sh: unknown argument '--now'; give --check, --prepare, --url URL, or nothing\n")
        self.assertIn("'files' is not an address", self.run_script("--url", "files")[1])

    def test_prepares_the_section_of_a_version(self):
        self.check(changes="# Changes\n\n## Unreleased\n\n- A change.\n\n## 1.2.2\n\n- An old one.\n")
        self.assertEqual(self.run_script("--prepare"),
                         (0, "release.sh: CHANGELOG.md has a section '## 1.2.3'; commit it\n"))
        self.assertEqual((self.folder / "CHANGELOG.md").read_text(encoding="utf-8"),
                         "# Changes\n\n## Unreleased\n\n## 1.2.3\n\n- A change.\n\n## 1.2.2\n\n- An old one.\n")
        status, output = self.run_script("--prepare")
        self.assertEqual((status, output), (2, "release.sh: CHANGELOG.md has a section '## 1.2.3' already\n"))
        self.git("commit", "--quiet", "--all", "--message", "Prepare")
        self.assertEqual(self.run_script("--check"), (0, "release.sh: version 1.2.3 can be released\n"))


if __name__ == "__main__":
    unittest.main()
