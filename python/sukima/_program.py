# SPDX-License-Identifier: Apache-2.0
"""The program sukima, which comes with this package."""
import os
import pathlib
import subprocess
import sys
from typing import Any, List, Optional, Sequence, Union

from . import _native
from ._capacity import cpus_to_reserve, one_of, whole_number
from ._errors import ProgramError

Argument = Union[str, "os.PathLike[str]"]


def program() -> pathlib.Path:
    """The path of the program sukima."""
    return _native.FOLDER / "bin" / "sukima"


def run(args: Sequence[Argument], *, threads: Optional[int] = None, minimum: Optional[int] = None,
        maximum: Optional[int] = None, reserve: Optional[float] = None, rounding: Optional[str] = None,
        resize: Optional[str] = None, pin: bool = False, preload: bool = True,
        **options: Any) -> "subprocess.CompletedProcess[Any]":
    """Runs a program with as many threads as there are CPUs for it, as `sukima run` does.

    >>> sukima.run(["./solver", "12"], check=True)

    The program gets environment variables that OpenMP, BLAS libraries, Python, Rust, Go, Java, .NET, Julia and others
    read, and a small library that answers questions about the number of CPUs. Variables that are set already win.

    Args:
        args: the program and its arguments.
        threads: exactly this number of threads.
        minimum: never fewer threads than this.
        maximum: never more threads than this.
        reserve: CPUs to leave to others, such as 0.5.
        rounding: how a fraction of a CPU counts: "floor", "ceil" or "nearest".
        resize: whether OpenMP programs may change their number of threads between regions, which OpenMP does not
            allow: "never" (as by default), "unless-asked" or "always".
        pin: also pin the program to that many CPUs.
        preload: whether to load the small library into the program; without it only variables are set.
        options: as for subprocess.run, such as check, capture_output, env or timeout.

    Returns:
        The result of subprocess.run. Its `args` are those of the program sukima.

    Raises:
        subprocess.CalledProcessError, subprocess.TimeoutExpired: as subprocess.run does.
    """
    if isinstance(args, (str, bytes)) or not isinstance(args, Sequence):
        raise TypeError(f"args is {args!r}; give a list: the program and its arguments")
    if not args:
        raise ValueError("args is empty; give a program and its arguments")
    for taken in ("shell", "executable"):
        if taken in options:
            raise TypeError(f"run() takes no argument '{taken}'")
    command: List[str] = [os.fspath(program()), "run"]
    for name, count in (("threads", threads), ("min", minimum), ("max", maximum)):
        if count is not None:
            command += [f"--{name}", str(whole_number(name, count))]
    if minimum is not None and maximum is not None and minimum > maximum:
        raise ValueError(f"minimum is {minimum}, more than maximum, {maximum}; give a smaller minimum")
    if reserve is not None:
        command += ["--reserve", str(cpus_to_reserve(reserve))]
    if rounding is not None:
        command += ["--round", one_of("rounding", rounding, _native.ROUNDINGS)]
    if resize is not None:
        command += ["--resize", one_of("resize", resize, ("never", "unless-asked", "always"))]
    for name, flag in (("pin", pin), ("preload", preload)):
        if not isinstance(flag, bool):
            raise TypeError(f"{name} is {flag!r}; give True or False")
    command += ["--pin"] * pin + ["--no-preload"] * (not preload)
    return start([*command, "--", *(os.fspath(word) for word in args)], **options)


def start(command: Sequence[Argument], **options: Any) -> "subprocess.CompletedProcess[Any]":
    """subprocess.run with an error that says what to do if the program sukima is missing."""
    if not os.access(program(), os.X_OK):
        raise ProgramError(f"the program '{program()}' is missing or not executable; install sukima again")
    return subprocess.run(command, **options)  # pylint: disable=subprocess-run-check


def main() -> None:
    """Becomes the program sukima, with the same arguments."""
    file = os.fspath(program())
    try:
        os.execv(file, ["sukima", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"sukima: cannot start '{file}': {error.strerror}; install sukima again")
