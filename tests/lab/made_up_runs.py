# SPDX-License-Identifier: Apache-2.0
"""Made-up runs for tests of the page of `sukima lab report --html`."""
import json
import shutil

# What the left side of the claims of `heat` takes in each round, in seconds; the right side takes one, and so does the left one
# in `one`. None was stopped, a text is a failure.
HEAT_SECONDS = {("work", "two"): [2] * 5, ("work", "four"): [0.5] * 5,
                ("even", "two"): [1] * 5, ("even", "four"): [None] * 5,
                ("few", "two"): ["it <failed> & \"so\""] * 5, ("few", "four"): [1] * 3,
                ("close", "two"): [1, 1.2, 1, 1.2, 1.1], ("close", "four"): [1.5] * 5}
HEAT_CLAIM = {"name": "each", "text": "Left takes <longer>.", "left": {"settings": ["left"]}, "right": {"settings": ["right"]},
              "programs": ["work", "even", "few", "close"], "environments": ["two", "four"], "relation": "above", "bound": 1.1}
HEAT = {
    "sukima-lab": 1, "name": "heat", "title": "Ratios that are known",
    "programs": [{"name": name, "command": ["true"]} for name in HEAT_CLAIM["programs"]],
    "settings": [{"name": "left"}, {"name": "right"}],
    "environments": [{"name": "one", "kind": "machine"}, {"name": "two", "kind": "share", "copies": 2, "baseline": "one"},
                     {"name": "four", "kind": "share", "copies": 4, "baseline": "one"}],
    "claims": [HEAT_CLAIM, {**HEAT_CLAIM, "name": "two-cells", "programs": ["work"]},
               {"name": "worst", "text": "Left takes as long as it should.", "measure": "relative", "judge": "worst",
                "left": {"settings": ["left"]}, "programs": HEAT_CLAIM["programs"], "environments": ["two", "four"],
                "relation": "below", "bound": 1.2}],
}


def write_facts(folder):
    (folder / "experiments").mkdir(parents=True)
    facts = {"sukima-lab-runs": 1, "machine": [["cpu", "made <up> & 'quoted'"]], "versions": {}, "cpus": 16, "obstacles": {},
             "quick": False}
    (folder / "machine.json").write_text(json.dumps(facts))


def write_heat(folder):
    """A folder with the runs of `heat` only."""
    write_facts(folder)
    (folder / "experiments/heat.json").write_text(json.dumps(HEAT))
    with open(folder / "runs.jsonl", "w", encoding="utf-8") as runs:
        for program in HEAT_CLAIM["programs"]:
            for setting in ("left", "right"):
                for environment in ("one", "two", "four"):
                    values = HEAT_SECONDS.get((program, environment), [1] * 5) if setting == "left" else [1] * 5
                    for turn, value in enumerate(values):
                        end = {"failure": value} if isinstance(value, str) else {"seconds": [value]}
                        runs.write(json.dumps({"experiment": "heat", "program": program, "setting": setting,
                                               "environment": environment, "round": turn, "wall_seconds": 1, **end}) + "\n")


def write_runs(folder, experiments):
    """Writes a folder like that of a run of EXPERIMENTS, a folder. The times follow from the cell's number, so they are the same
    in each test."""
    write_facts(folder)
    number = 0
    with open(folder / "runs.jsonl", "w", encoding="utf-8") as runs:
        for file in sorted(experiments.glob("*.json")):
            shutil.copy(file, folder / "experiments")
            experiment = json.loads(file.read_text())
            for program in experiment["programs"]:
                for setting in experiment["settings"]:
                    for environment in experiment["environments"]:
                        number += 1
                        for turn in range(5):
                            record = {"experiment": experiment["name"], "program": program["name"], "setting": setting["name"],
                                      "environment": environment["name"], "round": turn, "wall_seconds": 1}
                            copies = environment.get("copies", 1)
                            seconds = round((0.3 + 40 * (number % 7 == 3) + number % 5) * (1 + turn / 10), 3)
                            if number % 31 == 1:
                                record["failure"] = "it <failed>"
                            else:
                                record["seconds"] = [None if number % 29 == 1 else seconds] * copies
                            runs.write(json.dumps(record) + "\n")
