# SPDX-License-Identifier: Apache-2.0
"""How many CPUs this process, or another one, may use, and why."""
import ctypes
import dataclasses
import numbers
import operator
import os
from typing import Any, Iterable, Optional, Tuple

from . import _native
from ._errors import Error, OverrideError

MEASURING_SECONDS = 0.5
"""As long as `sukima probe` measures."""


@dataclasses.dataclass(frozen=True)
class Limit:
    """One limit, or one fact that matters."""

    kind: str
    """"online", "affinity", "cpuset", "quota", "weight" or "override"."""
    value: float
    """CPUs; a weight is relative to the kernel's default; infinite if there is no limit."""
    text: str
    """One sentence in English."""
    file: str
    """The file, system call or variable that it comes from."""
    level: int
    """0 is the process's own control group, 1 the group above it, and so on."""
    period_seconds: float
    """A quota's period, otherwise 0."""
    is_binding: bool
    """Whether `Explanation.usable` comes from this limit."""
    units: str = ""
    """Of a quota: the same in the units of Docker, Kubernetes and systemd."""
    periods: int = 0
    """Of a quota: periods since the group was made in which it wanted CPU; 0 is unknown."""
    throttled_periods: int = 0
    """Of these, those in which the quota held it back."""


@dataclasses.dataclass(frozen=True)
class Note:
    """A file that could not be read or understood, so the numbers ignore it."""

    file: str
    text: str


@dataclasses.dataclass(frozen=True)
class Explanation:
    """A number of CPUs with its reasons. `str()` of it, and `print`, give the text."""

    usable: float
    """CPU time a second that the process may use, in CPUs; above 0, at most `cap`."""
    cap: int
    """How many of its threads may run at the same moment."""
    binding: str
    """The kind of limit that `usable` comes from."""
    limits: Tuple[Limit, ...]
    notes: Tuple[Note, ...]

    @property
    def reason(self) -> str:
        """The sentence of the limit that `usable` comes from."""
        return next((limit.text for limit in self.limits if limit.is_binding), f"of the kind '{self.binding}'")

    def __str__(self) -> str:
        lines = [f"{_cpus(self.usable)} usable, because {self.reason}.",
                 f"Threads that may run at the same moment: {self.cap}.", ""]
        for limit in self.limits:
            lines.append(f"{'*' if limit.is_binding else ' '} {limit.kind:<9} {limit.text} ({limit.file})")
            if limit.units:
                lines.append(f"            {limit.units}{_throttling(limit)}")
        lines.extend(f"  note      {note.file} {note.text}" for note in self.notes)
        return "\n".join(lines)


def explain(*, pid: Optional[int] = None) -> Explanation:
    """Why `usable_cpus()` is what it is: every limit, with the file that it comes from.

    Args:
        pid: the process to look at; None is this one.

    Raises:
        OverrideError: SUKIMA_CPUS is not a number of CPUs.
        ProcessLookupError: there is no process `pid`.
    """
    library = _native.library()
    options = _options(pid)
    pointer = library.sukima_capacity_explain(ctypes.byref(options))
    if not pointer:
        raise Error("there is no memory for the explanation")
    try:
        report = pointer.contents
        if report.error:
            raise OverrideError(_text(report.error))
        return Explanation(
            usable=report.facts.usable,
            cap=report.facts.cap,
            binding=_kind(library, report.facts.binding),
            limits=tuple(_limit(library, report.limits[k]) for k in range(report.limit_count)),
            notes=tuple(Note(_text(report.notes[k].file), _text(report.notes[k].text))
                        for k in range(report.note_count)),
        )
    finally:
        library.sukima_capacity_report_free(pointer)


def usable_cpus(*, neighbours: bool = False, pid: Optional[int] = None) -> float:
    """Returns how many CPUs this process may use: a fraction such as 1.5 under a quota.

    The smallest of: CPUs switched on, affinity mask, cpuset, and the CPU quotas of the process's control group and of
    all visible groups above it (cgroup versions 1 and 2). The variable SUKIMA_CPUS overrides them all.

    Args:
        neighbours: also take off what other programs on the machine use, and what a hypervisor takes. Measures for
            half a second. Without it the answer takes about 0.1 ms.
        pid: the process to look at; None is this one.

    Raises:
        OverrideError: SUKIMA_CPUS is not a number of CPUs.
        ProcessLookupError: there is no process `pid`.
    """
    limit = explain(pid=pid).usable
    if not neighbours:
        return limit
    estimate = _native.Estimate()
    options = _options(pid)
    code = _native.library().sukima_capacity_estimate_once(
        ctypes.byref(options), 0.0, MEASURING_SECONDS, ctypes.byref(estimate))
    if code != 0:
        raise Error(f"the CPUs cannot be measured: {os.strerror(code)}")
    return float(estimate.usable)


def threads(*, rounding: str = "nearest", minimum: int = 1, maximum: Optional[int] = None, reserve: float = 0.0,
            neighbours: bool = False) -> int:
    """How many threads, or processes, to start: `usable_cpus()` as a whole number, at least one.

    Args:
        rounding: "nearest" (1.4 gives 1, 1.5 gives 2), "ceil" (uses all of a quota, and is throttled at times) or
            "floor" (is never throttled, and leaves a part of a quota unused).
        minimum: not fewer than this, unless `maximum` is less.
        maximum: never more than this.
        reserve: CPUs to leave to others, taken off first.
        neighbours: as for `usable_cpus`.
    """
    policy = _native.Policy(_native.ROUNDINGS[one_of("rounding", rounding, _native.ROUNDINGS)],
                            whole_number("minimum", minimum), cpus_to_reserve(reserve))
    count = int(_native.library().sukima_capacity_threads(usable_cpus(neighbours=neighbours), ctypes.byref(policy)))
    return count if maximum is None else max(min(count, whole_number("maximum", maximum)), 1)


def whole_number(name: str, value: int) -> int:
    """`value`, if it is a number of threads."""
    number = _integer(value)
    if number is None:
        raise TypeError(f"{name} is {value!r}; give a whole number")
    if not 1 <= number <= 65536:
        raise ValueError(f"{name} is {number}; give a number from 1 to 65536")
    return number


def one_of(name: str, value: str, words: Iterable[str]) -> str:
    """`value`, if it is one of the words."""
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} is {value!r}; give one of {', '.join(map(repr, words))}")
    return value


def cpus_to_reserve(value: float) -> float:
    """`value`, if it is a number of CPUs."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"reserve is {value!r}; give a number of CPUs")
    if not 0 <= value <= 65536:
        raise ValueError(f"reserve is {value!r}; give a number of CPUs from 0 to 65536")
    return float(value)


def _integer(value: Any) -> Optional[int]:
    """The number as an int, also if it is one of numpy's integers or of an enumeration; None if it is not whole."""
    try:
        return None if isinstance(value, bool) else int(operator.index(value))
    except TypeError:
        return None


def _options(pid: Optional[int]) -> _native.Options:
    options = _native.Options()
    if pid is not None:
        number = _integer(pid)
        if number is None:
            raise TypeError(f"pid is {pid!r}; give the number of a process")
        if number <= 0:
            raise ValueError(f"pid is {number}; give the number of a process, 1 or more")
        if not os.path.exists(f"/proc/{number}"):
            raise ProcessLookupError(f"there is no process {number}")
        options.pid = number
    return options


def _limit(library: ctypes.CDLL, record: _native.LimitRecord) -> Limit:
    kind = _kind(library, record.kind)
    return Limit(kind=kind, value=record.value, text=_text(record.text),
                 file=_text(record.file), level=record.level, period_seconds=record.period_us / 1e6,
                 is_binding=bool(record.is_binding), units=_units(library, record) if kind == "quota" else "",
                 periods=record.periods, throttled_periods=record.throttled_periods)


def _units(library: ctypes.CDLL, record: _native.LimitRecord) -> str:
    text = ctypes.create_string_buffer(128)
    library.sukima_capacity_operator_units(record.value, text, len(text))
    return _text(text.value)


def _cpus(number: float) -> str:
    """As `sukima probe` writes it."""
    text = f"{number:.2f}".rstrip("0").rstrip(".")
    if text == "0" and number > 0:
        text = "less than 0.01"
    return f"{text} {'CPU' if text == '1' else 'CPUs'}"


def _throttling(limit: Limit) -> str:
    if limit.periods == 0:
        return ""
    percent = 100 * limit.throttled_periods / limit.periods
    return f"; held back in {limit.throttled_periods} of {limit.periods} periods ({percent:.1f} %)"


def _kind(library: ctypes.CDLL, kind: int) -> str:
    return _text(library.sukima_capacity_kind_name(kind))


def _text(text: Optional[bytes]) -> str:
    return (text or b"").decode(errors="replace")
