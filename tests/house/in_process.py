# SPDX-License-Identifier: Apache-2.0
"""Runs a script of scripts/ many times in this process: most of a run's time would be the start of an interpreter."""
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
    """The script as a module. It finds its own modules beside it."""
    path = pathlib.Path(script)
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem.replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(script, *arguments):
    """As subprocess.run with captured text. What the script keeps in its module from run to run is its own fault."""
    out, err = io.StringIO(), io.StringIO()
    with mock.patch.object(sys, "argv", [script, *map(str, arguments)]), contextlib.redirect_stdout(out), \
            contextlib.redirect_stderr(err):
        try:
            code = module_of(script).main()
        except SystemExit as end:
            code = end.code
    return subprocess.CompletedProcess(sys.argv, int(code or 0), out.getvalue(), err.getvalue())
