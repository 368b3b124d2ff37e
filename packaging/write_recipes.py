#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the recipes of package managers for a release: write_recipes.py ARCHIVE URL FOLDER

ARCHIVE is the release's source archive, URL the address where it will be published. The files *.in of this folder are
copied to FOLDER with the version, the address and the archive's checksums.
"""
import argparse
import hashlib
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT / "python"))
from backend import version  # pylint: disable=wrong-import-position

# A package has the libraries, and the commands that need no large libraries.
LEFT_OUT = ("CLUSTER", "HOST", "JAVA", "LAB", "LANGUAGE", "OBJECTS", "TESTS")


def description():
    return re.search(r'^  DESCRIPTION "(.*)"$', (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.MULTILINE)[1]


def values(archive, url):
    """The text that replaces each @NAME@."""
    content = archive.read_bytes()
    libraries = [f"SUKIMA_BUILD_{part}" for part in (*LEFT_OUT, "CLI")]
    return {
        "VERSION": version(),
        "DESCRIPTION": description(),
        "URL": url,
        "HOMEPAGE": url.rsplit("/", 1)[0],
        "SHA256": hashlib.sha256(content).hexdigest(),
        "SHA512": hashlib.sha512(content).hexdigest(),
        "OPTIONS": " ".join(f"-DSUKIMA_BUILD_{part}=OFF" for part in LEFT_OUT),
        "LIBRARY_OPTIONS": " ".join(f"-D{name}=OFF" for name in libraries),
        "LIBRARY_OPTION_NAMES": " ".join(libraries),
    }


def write(archive, url, folder):
    known = values(archive, url)
    for template in sorted(HERE.rglob("*.in")):
        text = re.sub(r"@([A-Z0-9_]+)@", lambda match: known[match[1]], template.read_text(encoding="utf-8"))
        path = folder / template.relative_to(HERE).with_suffix("")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=pathlib.Path)
    parser.add_argument("url")
    parser.add_argument("folder", type=pathlib.Path)
    given = parser.parse_args()
    if not given.archive.is_file():
        parser.error(f"'{given.archive}' is not a file; give the source archive of the release")
    if not re.fullmatch(r"[a-z]+://[^\s\"'$`\\]+", given.url):
        parser.error(f"'{given.url}' is not an address; give one such as https://example.org/sukima-{version()}.tar.gz")
    write(given.archive, given.url, given.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
