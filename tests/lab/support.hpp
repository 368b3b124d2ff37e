// SPDX-License-Identifier: Apache-2.0
// A small experiment, and made-up runs.
#pragma once

#include <lab/shared/record.hpp>

#include <string>
#include <vector>

namespace sukima::lab::test {

/// One program with two settings, on the bare machine and with two and four copies. The claim: `slow` is
/// slower than `fast`.
inline const std::string small_experiment = R"({
  "sukima-lab": 1, "name": "small", "title": "A small one", "repetitions": 5, "quick_repetitions": 2,
  "programs": [{"name": "work", "benchmark": "fib", "size": 30, "quick_size": 20}],
  "settings": [{"name": "fast", "variables": {"SUKIMA_WAIT": "block", "OMP_NUM_THREADS": "{workers}"}},
               {"name": "slow", "workers_per_cpu": 2}],
  "environments": [{"name": "one", "kind": "machine"},
                   {"name": "two", "kind": "share", "copies": 2, "baseline": "one"},
                   {"name": "four", "kind": "vms", "copies": 4, "vcpus": 3, "baseline": "one",
                    "quick": false}],
  "claims": [{"name": "slower", "text": "It is slower.", "left": {"settings": ["slow"]},
              "right": {"settings": ["fast"]}, "programs": ["work"], "environments": ["one", "two"],
              "relation": "above", "bound": 1.1}]
})";

/// Adds runs of one cell, one for each round.
inline void add_runs(std::vector<record>& to, const std::string& setting, const std::string& environment,
                     const std::vector<double>& seconds) {
  for (std::size_t round = 0; round < seconds.size(); ++round) {
    record one;
    one.experiment = "small";
    one.program = "work";
    one.setting = setting;
    one.environment = environment;
    one.round = static_cast<unsigned>(round);
    one.seconds = {seconds[round]};
    to.push_back(one);
  }
}

}  // namespace sukima::lab::test
