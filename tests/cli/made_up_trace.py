# SPDX-License-Identifier: Apache-2.0
"""A made-up trace for tests of the page of `sukima explain --html`."""
import json

REASON = 'a <b>"reason"</b> & more'


def worker(number):
    return {"ph": "M", "name": "thread_name", "tid": 10000 + number,
            "args": {"name": f"worker {number}", "runtime": 1, "full": False}}


def during(number, name, begin, end):
    """A state of a worker, in seconds."""
    cpu = {"cat": "cpu", "args": {"worker": number}} if name == "no CPU" else {}
    return {"ph": "X", "name": name, "tid": 10000 + number + (5000 if cpu else 0), "ts": begin * 1e6,
            "dur": (end - begin) * 1e6, **cpu}


# Four seconds: worker 0 works, without a CPU in the second one; worker 1 searches, steals, works, sleeps and leaves.
EVENTS = [worker(0), during(0, "working", 0, 4), during(0, "no CPU", 1, 2),
          worker(1), during(1, "searching", 0, 1), {"ph": "i", "name": "steal", "tid": 10001, "ts": 1e6, "args": {"victim": 0}},
          during(1, "working", 1, 2), during(1, "sleeping", 2, 3),
          {"ph": "i", "cat": "decision", "name": "workers: 2 to 1", "tid": 10000, "ts": 2e6,
           "args": {"what": "workers", "before": 2, "after": 1, "reason": REASON}}]


def write_trace(file):
    """Writes the trace as a program leaves it."""
    file.write_text(json.dumps({"traceEvents": [{"pid": 1, **event} for event in EVENTS]}), encoding="utf-8")
