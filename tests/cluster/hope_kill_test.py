#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nodes die under --hope, up to all but one, at seeded moments and steps. The others compute the sequential result, and
the merged output is the sequential one: hope_kill_test.py SUKIMA HOPE_PROGRAM RUNS [fresh]

`fresh`: half of the runs have a seed from the clock, which is printed.
"""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from nodes import go_on_if_stopped

SUKIMA, PROGRAM = (str(Path(word).resolve()) for word in sys.argv[1:3])
RUNS = int(sys.argv[3])
FRESH = sys.argv[4:5] == ["fresh"]
del sys.argv[1:5]
NODES = 4
PROGRAMS = 4
# The most that each step is counted to; `time` in microseconds.
STEPS = {"time": 250000, "send": 60, "receive": 60, "entry": 3, "task": 30, "print": 6}
# The steps at which a node begins, meets, works, prints and ends. Node 0 has more, because it knows all addresses.
FIXED = ["0:send:1", "0:receive:1", "0:send:5", "0:entry:1", "3:send:1", "1:receive:3", "0:print:1,1:print:2,2:print:3",
         "0:task:3,1:task:3,2:task:3"]
CERTAIN = 7  # these deaths happen whatever the nodes do
ENVIRONMENT = {**os.environ, "SUKIMA_WORKERS": "1"}


def run(words, environment):
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env={**ENVIRONMENT, **environment})


class kills(unittest.TestCase):
    known = {}

    @classmethod
    def alone(cls, seed):
        if seed not in cls.known:
            ended = run([PROGRAM, str(seed), "3"], {})
            cls.known[seed] = (ended.stdout, ended.stderr.split()[1])
        return cls.known[seed]

    def together(self, seed, dies):
        """Runs the program. Returns the nodes that died, and how many units the others omitted."""
        output, result = self.alone(seed)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "ends.json"
            ended = run([SUKIMA, "cluster", "run", "--hope", "--grace", "3600", "-n", str(NODES), "--json", str(file),
                         "--", PROGRAM, str(seed), "3"], {"HOPE_PROGRAM_DIES": dies})
            where = f"program {seed}, {dies}: {ended.stderr}"
            self.assertEqual(ended.returncode, 0, where)
            self.assertTrue(ended.stdout == output, where)
            ends = json.loads(file.read_text())["nodes"]
        doomed = {int(one.split(":")[0]) for one in dies.split(",") if one}
        died = [end["node"] for end in ends if end["signal"] == signal.SIGKILL]
        self.assertLessEqual(set(died), doomed, where)
        self.assertFalse([end for end in ends if end["node"] not in died and (end["exit_code"], end["signal"]) != (0, 0)])
        # LeakSanitizer prints this if its node is killed during its check.
        lines = [line.split() for line in ended.stderr.splitlines() if "==Unable to get registers" not in line]
        self.assertLessEqual({f"[{n}]" for n in range(NODES) if n not in died}, {line[0] for line in lines}, where)
        for line in lines:
            self.assertEqual(line[1:3], ["result", result], where)
        return died, sum(int(line[3]) for line in lines)

    def test_leave_the_sequential_result(self):
        seed = time.time_ns() % 10**9
        deaths = 0
        for i in range(RUNS):
            draws = random.Random(seed + i if FRESH and i % 2 == 1 else i)
            if i < len(FIXED):
                dies = FIXED[i]
            else:
                nodes = draws.sample(range(NODES), draws.randint(1, NODES - 1))
                steps = [draws.choice(list(STEPS)) for _ in nodes]
                dies = ",".join(f"{n}:{step}:{draws.randint(1, STEPS[step])}" for n, step in zip(nodes, steps))
            deaths += len(self.together(i % PROGRAMS, dies)[0])
        print(f"{RUNS} runs, {deaths} nodes died" + (f", seed {seed}" if FRESH else ""))
        self.assertGreaterEqual(deaths, CERTAIN)

    def test_nodes_omit_what_others_have_computed(self):
        while self.together(0, "")[1] == 0:
            pass

    def stand_still(self):
        """Three of four nodes stop, and continue when the fourth one has its result, whether it has counted them as lost or not."""
        for i in range(10):
            output, result = self.alone(i % PROGRAMS)
            step = list(STEPS)[1 + i % (len(STEPS) - 1)]
            words = [SUKIMA, "cluster", "run", "--hope", "--grace", "3600", "-n", str(NODES), "--", PROGRAM,
                     str(i % PROGRAMS), "3"]
            # Not during the meeting, which waits for all nodes.
            count = 40 if step in ("send", "receive") else 2 + i // 5
            dies = ",".join(f"{n}:{step}:{count}" for n in range(NODES) if n != i % NODES)
            with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env={**ENVIRONMENT, "SUKIMA_CLUSTER_SILENCE": "1",
                                       "HOPE_PROGRAM_DIES": dies, "HOPE_PROGRAM_STOPS": "1"}) as running:
                seen = running.stdout.read(len(output))
                while running.poll() is None:  # some may not have reached their step yet
                    for n in Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split():
                        go_on_if_stopped(int(n))
                    time.sleep(0.01)
                self.assertTrue(seen + running.stdout.read() == output, dies)
                errors = [line.split() for line in running.stderr.read().splitlines()]
            self.assertEqual(running.returncode, 0, (dies, errors))
            self.assertEqual([line[1:3] for line in errors], [["result", result]] * NODES, dies)


if FRESH:  # long
    kills.test_leave_the_sequential_result_when_they_only_stand_still = kills.stand_still

if __name__ == "__main__":
    unittest.main()
