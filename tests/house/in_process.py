# SPDX-License-Identifier: Apache-2.0
"""Runs a script of scripts/ many times in this process, because starting an interpreter takes longer than a run."""
import contextlib
import functools
import importlib.util
import io
import pathlib
import subprocess
import sys
from unittest import mock

sys.dont_write_bytecode = True


@functools.cache
def module_of(script):
    """The script as a module. It finds its own modules in its folder."""
    path = pathlib.Path(script)
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem.replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(script, *arguments):
    """Like subprocess.run with captured text. A script must not rely on values in its module from an earlier run."""
    out, err = io.StringIO(), io.StringIO()
    with mock.patch.object(sys, "argv", [script, *map(str, arguments)]), contextlib.redirect_stdout(out), \
            contextlib.redirect_stderr(err):
        try:
            code = module_of(script).main()
        except SystemExit as end:
            code = end.code
    return subprocess.CompletedProcess(sys.argv, int(code or 0), out.getvalue(), err.getvalue())
