#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sukima probe --prometheus` on a recorded container, and the dashboard for Grafana: prometheus_test.py PROGRAM SOURCE"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
TREE = SOURCE / "tests" / "capacity" / "zoo" / "docker-v2-quota.tree"
DASHBOARD = SOURCE / "packaging" / "grafana" / "sukima.json"
# Without variables that cause warnings of the program.
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith(("SUKIMA_", "OMP_", "OPENBLAS_", "MKL_", "GO"))}
SAMPLE = re.compile(r'([a-z_]+)(?:{([a-z_]+)="((?:[^"\\\n]|\\[\\"n])*)"})? (-?[0-9.]+(?:e[+-]?[0-9]+)?)')


def unpack(tree, folder):
    """Makes the files of a recorded tree: each begins with `== PATH`."""
    for part in re.split(r"^== ", tree.read_text(encoding="utf-8"), flags=re.MULTILINE)[2:]:
        name, _, text = part.partition("\n")
        file = folder / name.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def parse(text):
    """({(metric, label, value of the label): number}, {metric: type}) of a text, which must obey all rules of the format."""
    samples, types, helped = {}, {}, set()
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name = line.split(" ", 3)[2]
            assert name not in helped, line
            helped.add(name)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name in helped and name not in types and kind in ("gauge", "counter"), line
            types[name] = kind
        else:
            match = SAMPLE.fullmatch(line)
            assert match and list(types)[-1] == match[1] and match.group(1, 2, 3) not in samples, line
            samples[match.group(1, 2, 3)] = float(match[4])
    return samples, types


class Prometheus(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        unpack(TREE, self.folder)

    def probe(self, *options):
        return subprocess.run([PROGRAM, "probe", "--root", self.folder, *options], capture_output=True, text=True,
                              check=False, env=ENVIRONMENT)

    def metrics(self):
        done = self.probe("--prometheus")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.endswith("\n"))
        return parse(done.stdout)

    def test_has_the_numbers_of_a_container_with_a_quota(self):
        samples, types = self.metrics()
        for key, value in {("sukima_usable_cpus", None, None): 1.4, ("sukima_limit_cpus", None, None): 1.4,
                           ("sukima_cap_threads", None, None): 16, ("sukima_threads", None, None): 2,
                           ("sukima_online_cpus", None, None): 16, ("sukima_quota_cpus", "level", "0"): 1.4,
                           ("sukima_quota_periods_total", "level", "0"): 10,
                           ("sukima_quota_throttled_periods_total", "level", "0"): 2,
                           ("sukima_binding_info", "kind", "quota"): 1,
                           ("sukima_warning_info", "name", "threads"): 1}.items():
            self.assertEqual(samples.get(key), value, key)
        # A plain copy of the files has no measurements, so unknown values have no sample.
        self.assertFalse({name for name in types if name.endswith("_ratio") or name.endswith("used_cpus")})
        self.assertEqual({name for name, kind in types.items() if kind == "counter"},
                         {name for name in types if name.endswith("_total")})

    def test_agrees_with_the_json(self):
        samples, _ = self.metrics()
        answer = json.loads(self.probe("--json").stdout)
        for metric, field in (("usable_cpus", "usable"), ("usable_cpus_low", "low"), ("usable_cpus_high", "high"),
                              ("threads", "threads"), ("cap_threads", "cap"), ("online_cpus", "online")):
            self.assertAlmostEqual(samples[f"sukima_{metric}", None, None], answer[field], msg=metric)
        self.assertEqual([answer[field] for field in ("now", "others", "stolen", "throttled", "pressure")], [None] * 5)
        self.assertEqual({key[2] for key in samples if key[0] == "sukima_warning_info"},
                         {warning["name"] for warning in answer["warnings"]})

    def test_counts_warnings_of_one_name(self):
        done = subprocess.run([PROGRAM, "probe", "--prometheus"], capture_output=True, text=True, check=True,
                              env={**ENVIRONMENT, "SUKIMA_CPUS": "1.5", "OMP_NUM_THREADS": "8", "GOMAXPROCS": "8"})
        self.assertEqual(parse(done.stdout)[0].get(("sukima_warning_info", "name", "variable")), 2)

    def test_measures_the_running_machine(self):
        done = subprocess.run([PROGRAM, "probe", "--prometheus"], capture_output=True, text=True, check=True,
                              env={**ENVIRONMENT, "SUKIMA_CPUS": "1.5"})
        samples, types = parse(done.stdout)
        self.assertEqual(samples["sukima_usable_cpus", None, None], 1.5)
        self.assertEqual(samples["sukima_binding_info", "kind", "override"], 1)
        self.assertIn("sukima_used_cpus", types)

    def test_refuses_other_forms_of_the_answer(self):
        for option in ("--json", "--watch", "--pairs", "--threads", "--runtimes"):
            done = subprocess.run([PROGRAM, "probe", "--prometheus", option], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""), option)
            self.assertIn("--prometheus prints metrics: leave out --json", done.stderr)

    def test_the_dashboard_shows_metrics_that_exist(self):
        dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
        panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        sources = [SOURCE / "src" / "cli" / "probe" / "metrics.cpp", SOURCE / "src" / "host" / "metrics" / "text.cpp"]
        text = "".join(path.read_text(encoding="utf-8") for path in sources)
        known = set(re.findall(r'"(sukima_[a-z_]+)"', text))
        labels = {"instance", *re.findall(r'(?<=metric_label\(")\w+|\w+(?==\\")', text)}
        queries = [variable["query"]["query"] for variable in dashboard["templating"]["list"] if variable["type"] == "query"]
        self.assertTrue(queries)
        for panel in panels:
            self.assertTrue(panel["title"] and panel["targets"], panel["id"])
            for target in panel["targets"]:
                queries.append(target["expr"])
                used = re.findall(r"(?<={{)\w+(?=}})|\w+(?==~?\")", target["legendFormat"] + target["expr"])
                self.assertLessEqual(set(used), labels)
        shown = {name for query in queries for name in re.findall(r"\bsukima_[a-z_]+", query)}
        self.assertLessEqual(shown, known)
        self.assertIn("sukima_usable_cpus", shown)
        self.assertIn("sukima_vm_usable_cpus", shown)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
