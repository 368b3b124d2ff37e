# SPDX-License-Identifier: Apache-2.0
"""Thread pools with as many threads as there are CPUs: by environment variables, and in libraries that are loaded."""
import dataclasses
import importlib
import os
import re
import shlex
import subprocess
import sys
from types import TracebackType
from typing import Any, Callable, Dict, List, Optional, Tuple, Type

from . import _capacity
from ._errors import ProgramError
from ._program import program, start

# Each JVM prints a line for this variable.
LEFT_OUT = {"JAVA_TOOL_OPTIONS"}

# The variable that says whether the user has chosen the number of a loaded library.
POOL_VARIABLES = {"openblas": "OPENBLAS_NUM_THREADS", "mkl": "MKL_NUM_THREADS", "blis": "BLIS_NUM_THREADS",
                  "openmp": "OMP_NUM_THREADS"}

# Modules with a function that changes their number of threads: its getter, its setter, and its variable.
MODULES = {
    "torch": ("get_num_threads", "set_num_threads", "OMP_NUM_THREADS"),
    "numexpr": ("get_num_threads", "set_num_threads", "NUMEXPR_NUM_THREADS"),
    "numba": ("get_num_threads", "set_num_threads", "NUMBA_NUM_THREADS"),
    "pyarrow": ("cpu_count", "set_cpu_count", "OMP_NUM_THREADS"),
    "cv2": ("getNumThreads", "setNumThreads", "OMP_NUM_THREADS"),
}

# Modules whose number of threads is fixed when they are imported, or when their first work begins.
FIXED_MODULES = {
    "polars": "its pool has been started: set the number before polars is imported",
    "tensorflow": "it has no variable: use tensorflow.config.threading before its first work",
    "jax": "its pool is started once: start the program with sukima run",
}

LOADED_POOL = re.compile(r"lib(openblas|scipy_openblas|mkl_rt|gomp|omp|iomp5|blis)[^/]*\.so")


@dataclasses.dataclass(frozen=True)
class Adjusted:
    """A library that was loaded already, and whose number of threads was changed."""

    name: str
    before: int
    threads: int


@dataclasses.dataclass(frozen=True)
class Unchanged:
    """A library that was loaded already, and whose number of threads cannot be changed any more."""

    name: str
    reason: str


class limit_threads:  # pylint: disable=invalid-name
    """Gives the thread pools of numpy and others as many threads as there are CPUs for this process.

    >>> with sukima.limit_threads() as limits:
    ...     import numpy

    It acts at once, and `restore()` or the end of the `with` statement undoes it. Two things happen:

    - Environment variables are set for libraries that are imported from now on and for processes that are started
      from now on: OpenMP, OpenBLAS, MKL, BLIS, numexpr, numba, polars, joblib (loky), rayon, and all others of
      `sukima run`.
    - Libraries that are loaded already get the number by their own functions: torch, numexpr, numba, pyarrow and
      OpenCV, and OpenBLAS, MKL, BLIS and OpenMP (so numpy, scipy and scikit-learn) if threadpoolctl is installed.

    What cannot be changed:

    - A library reads its variables once. A library that is imported inside the `with` statement keeps the number
      afterwards, unless `limit_threads` calls functions of that library.
    - The pool of polars (rayon's) gets its size at the import. `unchanged` names this and other such libraries.
    - joblib takes the number where it is asked for all CPUs: n_jobs=-1.
    - The size of a pool that you made yourself, such as multiprocessing.Pool(8): use `sukima.threads()` for it.
    - The variables belong to the whole process: don't use it in several threads at the same time.

    Without a number, what the user has set wins: a variable that is set stays as it is, and a loaded library never
    gets more threads than it had. With a number, all get that number; variables that hold something else, such as
    OMP_WAIT_POLICY, still stay as they are, and NODE_OPTIONS keeps its other options.

    Args:
        threads: the number of threads; None is `sukima.threads()`.

    Attributes:
        threads: the number of threads.
        variables: the variables that were set, with their values.
        adjusted: the loaded libraries whose number was changed.
        unchanged: the loaded libraries whose number cannot be changed.

    Raises:
        OverrideError: SUKIMA_CPUS is not a number of CPUs.
        ProgramError: the program sukima, which knows the variables, cannot be started.
    """

    threads: int
    variables: Dict[str, str]
    adjusted: Tuple[Adjusted, ...]
    unchanged: Tuple[Unchanged, ...]

    def __init__(self, threads: Optional[int] = None) -> None:
        self._exact = threads is not None
        self.threads = _capacity.threads() if threads is None else _capacity.whole_number("threads", threads)
        self.variables = (_variables_by_force if self._exact else _variables)(self.threads)
        self._before = {name: os.environ.get(name) for name in self.variables}
        self._undo: List[Callable[[], Any]] = []
        self._adjusted: List[Adjusted] = []
        self._unchanged: List[Unchanged] = []
        os.environ.update(self.variables)
        try:
            self._adjust_pools()
            self._adjust_modules()
        except BaseException:
            self.restore()
            raise
        self.adjusted = tuple(self._adjusted)
        self.unchanged = tuple(self._unchanged)

    def __enter__(self) -> "limit_threads":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.restore()

    def restore(self) -> None:
        """Gives the variables and the loaded libraries what they had before. A second call does nothing."""
        try:
            while self._undo:
                self._undo.pop()()
        finally:
            if self._undo:  # the library above has refused; the others still get their numbers
                self.restore()
            for name, value in self._before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
            self._before = {}

    def _adjust(self, name: str, before: int, variable: str, setter: Callable[[int], Any]) -> None:
        """Gives a loaded library its number, unless the user has chosen one."""
        if not self._exact and (variable not in self.variables or before <= self.threads):
            return
        if before == self.threads:
            return
        setter(self.threads)
        self._undo.append(lambda: setter(before))
        self._adjusted.append(Adjusted(name, before, self.threads))

    def _adjust_pools(self) -> None:
        try:
            threadpoolctl = importlib.import_module("threadpoolctl")
        except ImportError:
            for name in _loaded_pools():
                self._unchanged.append(Unchanged(name, "it needs the package threadpoolctl, which is not installed"))
            return
        for pool in threadpoolctl.ThreadpoolController().lib_controllers:
            variable = POOL_VARIABLES.get(pool.internal_api)
            before = pool.num_threads
            if variable is not None and before is not None:
                self._adjust(f"{pool.internal_api} ({pool.filepath})", before, variable, pool.set_num_threads)

    def _adjust_modules(self) -> None:
        for name, (getter, setter, variable) in MODULES.items():
            module = sys.modules.get(name)
            get, change = getattr(module, getter, None), getattr(module, setter, None)
            if not callable(get) or not callable(change):  # not imported, or being imported
                continue
            try:
                self._adjust(name, get(), variable, change)
            except (RuntimeError, ValueError) as error:
                reason = str(error).strip() or f"it raised {type(error).__name__} without a reason"
                self._unchanged.append(Unchanged(name, reason.splitlines()[0]))
        for name, reason in FIXED_MODULES.items():
            if name in sys.modules:
                self._unchanged.append(Unchanged(name, reason))


def _variables_by_force(threads: int) -> Dict[str, str]:
    """The same, but the number replaces those that the user has set."""
    alone = _variables(threads, {})
    others = {name: os.environ[name] for name, value in alone.items()
              if value != str(threads) and name in os.environ}
    return _variables(threads, others) if others else alone


def _variables(threads: int, environment: Optional[Dict[str, str]] = None) -> Dict[str, str]:
    """The variables that `sukima run` sets in this environment; None is that of this process."""
    done = start([program(), "run", "--dry-run", "--no-preload", "--threads", str(threads)], env=environment,
                 stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        said = os.fsdecode(done.stderr).strip()
        raise ProgramError(said or f"the program '{program()}' ended with {done.returncode}")
    # A value that the user has set may have several lines, and bytes of another encoding.
    words = shlex.split(os.fsdecode(done.stdout), comments=True)
    pairs = (word.split("=", 1) for word in words if "=" in word)
    return {name: value for name, value in pairs if name not in LEFT_OUT}


def _loaded_pools() -> List[str]:
    """The names of the loaded libraries with a thread pool."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            return sorted({found.group(0) for found in LOADED_POOL.finditer(maps.read())})
    except OSError:
        return []
