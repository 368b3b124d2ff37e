# SPDX-License-Identifier: Apache-2.0
"""How many CPUs can this process use, and why? And thread pools that fit.

>>> import sukima
>>> sukima.usable_cpus()            # a container with a quota of 1.5 CPUs on a machine with 64
1.5
>>> with sukima.limit_threads():    # numpy, OpenBLAS, MKL, joblib, torch, polars, ...
...     import numpy

Everything here is for Linux, starts no thread, and needs no other package. `limit_threads` uses threadpoolctl
where it is installed.
"""
from ._capacity import Explanation, Limit, Note, explain, threads, usable_cpus
from ._errors import Error, OverrideError, ProgramError
from ._limit_threads import Adjusted, Unchanged, limit_threads
from ._program import program, run
from ._version import __version__

__all__ = [
    "Adjusted",
    "Error",
    "Explanation",
    "Limit",
    "Note",
    "OverrideError",
    "ProgramError",
    "Unchanged",
    "__version__",
    "explain",
    "limit_threads",
    "program",
    "run",
    "threads",
    "usable_cpus",
]
