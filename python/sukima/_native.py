# SPDX-License-Identifier: Apache-2.0
"""The C library of this package, <sukima/capacity.h>, by ctypes."""
import ctypes
import functools
import pathlib
import sys

from ._errors import Error

FOLDER = pathlib.Path(__file__).resolve().parent / "native"
"""Holds bin/sukima and the libraries, as in an installed tree."""


class Options(ctypes.Structure):
    """sukima_capacity_options"""

    _fields_ = [
        ("root", ctypes.c_char_p),
        ("override_text", ctypes.c_char_p),
        ("pid", ctypes.c_int),
        ("affinity", ctypes.c_int),
    ]


class Facts(ctypes.Structure):
    """sukima_capacity_facts"""

    _fields_ = [
        ("usable", ctypes.c_double),
        ("quota", ctypes.c_double),
        ("weight", ctypes.c_double),
        ("quota_period_us", ctypes.c_uint64),
        ("generation", ctypes.c_uint64),
        ("cap", ctypes.c_uint32),
        ("online", ctypes.c_uint32),
        ("affinity", ctypes.c_uint32),
        ("cpuset", ctypes.c_uint32),
        ("note_count", ctypes.c_uint32),
        ("ancestors_hidden", ctypes.c_uint32),
        ("binding", ctypes.c_int),
    ]


class LimitRecord(ctypes.Structure):
    """sukima_capacity_limit"""

    _fields_ = [
        ("kind", ctypes.c_int),
        ("value", ctypes.c_double),
        ("period_us", ctypes.c_uint64),
        ("level", ctypes.c_uint32),
        ("is_binding", ctypes.c_uint32),
        ("file", ctypes.c_char_p),
        ("text", ctypes.c_char_p),
        ("periods", ctypes.c_uint64),
        ("throttled_periods", ctypes.c_uint64),
    ]


class NoteRecord(ctypes.Structure):
    """sukima_capacity_note"""

    _fields_ = [("file", ctypes.c_char_p), ("text", ctypes.c_char_p)]


class Report(ctypes.Structure):
    """sukima_capacity_report"""

    _fields_ = [
        ("facts", Facts),
        ("limit_count", ctypes.c_size_t),
        ("limits", ctypes.POINTER(LimitRecord)),
        ("note_count", ctypes.c_size_t),
        ("notes", ctypes.POINTER(NoteRecord)),
        ("error", ctypes.c_char_p),
    ]


class Policy(ctypes.Structure):
    """sukima_capacity_policy"""

    _fields_ = [("rounding", ctypes.c_int), ("minimum", ctypes.c_uint32), ("reserve", ctypes.c_double)]


class Estimate(ctypes.Structure):
    """sukima_capacity_estimate"""

    _fields_ = [
        ("usable", ctypes.c_double),
        ("low", ctypes.c_double),
        ("high", ctypes.c_double),
        ("threads", ctypes.c_double),
        ("basis", ctypes.c_int),
    ]


ROUNDINGS = {"ceil": 0, "floor": 1, "nearest": 2}
"""sukima_capacity_rounding"""


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The loaded library."""
    if not sys.platform.startswith("linux"):
        raise Error(f"sukima is for Linux; this is {sys.platform}")
    file = FOLDER / "lib" / "libsukima-capacity.so"
    try:
        loaded = ctypes.CDLL(str(file))
    except OSError as error:
        raise Error(f"the library '{file}' cannot be loaded: {error}; install sukima again") from error
    loaded.sukima_capacity_explain.argtypes = [ctypes.POINTER(Options)]
    loaded.sukima_capacity_explain.restype = ctypes.POINTER(Report)
    loaded.sukima_capacity_report_free.argtypes = [ctypes.POINTER(Report)]
    loaded.sukima_capacity_report_free.restype = None
    loaded.sukima_capacity_kind_name.argtypes = [ctypes.c_int]
    loaded.sukima_capacity_kind_name.restype = ctypes.c_char_p
    loaded.sukima_capacity_operator_units.argtypes = [ctypes.c_double, ctypes.c_char_p, ctypes.c_size_t]
    loaded.sukima_capacity_operator_units.restype = ctypes.c_size_t
    loaded.sukima_capacity_threads.argtypes = [ctypes.c_double, ctypes.POINTER(Policy)]
    loaded.sukima_capacity_threads.restype = ctypes.c_uint32
    loaded.sukima_capacity_estimate_once.argtypes = [
        ctypes.POINTER(Options), ctypes.c_double, ctypes.c_double, ctypes.POINTER(Estimate)]
    loaded.sukima_capacity_estimate_once.restype = ctypes.c_int
    return loaded
