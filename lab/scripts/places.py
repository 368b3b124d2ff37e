# SPDX-License-Identifier: Apache-2.0
"""Places in which scripts measure programs: alone, beside busy loops, in copies, under a quota."""
import argparse
import contextlib
import fcntl
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path += [str(ROOT / "tests/clients"), str(ROOT / "scripts")]
from clean_environment import CLEAN  # noqa: E402, F401
from quota_group import QuotaGroup  # noqa: E402

KINDS = """alone, hogs:N (busy loops in the program's own group), apart:N (busy loops in another group of the same weight),
copies:N, quota:CPUS"""
CPUS = len(os.sched_getaffinity(0))


def numbers_from(least):
    """Makes a type for argparse: numbers from the least to 4096, separated by commas."""
    def numbers(text):
        words = text.split(",")
        if not all(re.fullmatch("[0-9]{1,4}", word) and least <= int(word) <= 4096 for word in words):
            raise argparse.ArgumentTypeError(f"'{text}': give numbers from {least} to 4096, with commas in between")
        return [int(word) for word in words]
    return numbers


numbers_of_workers = numbers_from(1)


def give_up(reason):
    """Ends this program with a sentence."""
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {reason}")


def check_place(parser, name):
    """Refuses a name that is not a place."""
    kind, _, number = name.partition(":")
    is_count = number.isascii() and number.isdecimal() and int(number) > 0
    is_share = re.fullmatch(r"[0-9]+(\.[0-9]+)?", number) and float(number) >= 0.01  # the kernel's least quota
    is_place = {"alone": name == kind, "quota": is_share, **dict.fromkeys(("hogs", "apart", "copies"), is_count)}
    if not is_place.get(kind):
        parser.error(f"'{name}' is not a place: choose one of {KINDS}")


def need_programs(folder, *names):
    """Gives up if a program is not in the folder of built programs."""
    for name in names:
        if not shutil.which(str(folder / name)):
            give_up(f"there is no {name} in {folder}: build it, or give --programs")


def run_copies(command, copies, environment, limit, enter):
    """Seconds until the last of the copies has ended, or the limit. At the limit, what a copy has started ends, too."""
    begin = time.monotonic()
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
                                preexec_fn=enter, start_new_session=True) for _ in range(copies)]
    codes = []
    try:
        for process in running:
            # Popen.wait with a limit looks every 50 ms only.
            end = os.pidfd_open(process.pid)
            ready, _, _ = select.select([end], [], [], max(limit - (time.monotonic() - begin), 0.001))
            os.close(end)
            if ready:
                codes.append(process.wait())
    finally:  # also if this script is interrupted, because the copies have process groups of their own
        for process in running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    seconds = min(time.monotonic() - begin, limit)
    wrong = [code for code in codes if code != 0]
    if wrong:
        give_up(f"{' '.join(map(str, command))} ended with code {wrong[0]}")
    return seconds


def _group(stack, cpus):
    group = stack.enter_context(QuotaGroup(cpus))
    if group.folder is None:
        give_up(f"no control group, because {group.why_not}")
    return group.enter


@contextlib.contextmanager
def place(name, programs):
    """Makes a place. Yields the number of copies, and a function that enters the group.

    `programs` is the folder of bench-hog.
    """
    kind, _, number = name.partition(":")
    hogs = []
    with contextlib.ExitStack() as stack:
        enter = _group(stack, float(number)) if kind == "quota" else _group(stack, None) if kind == "apart" else None
        if kind in ("hogs", "apart"):
            enter_of_hogs = _group(stack, None) if kind == "apart" else None
            hog = str(programs / "bench-hog")
            hogs = [subprocess.Popen([hog], stdout=subprocess.DEVNULL, preexec_fn=enter_of_hogs)
                    for _ in range(int(number))]
            time.sleep(0.3)
            if any(process.poll() is not None for process in hogs):
                give_up(f"{hog} does not run")
        try:
            yield int(number) if kind == "copies" else 1, enter
        finally:
            for process in hogs:
                process.kill()
                process.wait()


@contextlib.contextmanager
def locked(file):
    """Holds a lock of the file, so that several scripts measure in turns; no file, no lock."""
    if file is None:
        yield
        return
    with open(file, "a", encoding="utf-8") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    time.sleep(0.02)  # other waiting processes get it now
