#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks -MJ: database_test.py SUKIMA SOURCE: the command in the entry must produce the same object."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

SUKIMA, SOURCE = (str(Path(word).resolve()) for word in sys.argv[1:])


def main():
    with tempfile.TemporaryDirectory() as work:
        command = [SUKIMA, "cc", "-O1", "-MJ", "entry.json", "-c", "-o", "one.o", SOURCE]
        subprocess.run(command, check=True, cwd=work, timeout=500)
        first = (Path(work) / "one.o").read_bytes()
        (Path(work) / "one.o").unlink()
        text = (Path(work) / "entry.json").read_text()
        entries = json.loads("[" + text.rstrip().removesuffix(",") + "]")
        assert len(entries) == 1 and text.endswith(",\n"), text
        entry = entries[0]
        assert Path(entry["directory"]).resolve() == Path(work).resolve() and entry["file"] == SOURCE, text
        assert entry["output"] == "one.o" and entry["arguments"][:2] == ["sukima", "cc"], text
        subprocess.run([SUKIMA, *entry["arguments"][1:]], check=True, cwd=entry["directory"], timeout=500)
        assert (Path(work) / entry["output"]).read_bytes() == first, "the object differs"
        assert not list(Path(work).glob("-MJ*"))
    print("the entry produces the same object")
    return 0


sys.exit(main())
