// SPDX-License-Identifier: Apache-2.0
#include "simulated_program.hpp"

#include "../runtime/random/execute.hpp"
#include "../runtime/random/program.hpp"
#include "../runtime/random/resizer.hpp"
#include "../runtime/random/verdict.hpp"
#include "machine.hpp"
#include "rest/at_rest.hpp"

#include <memory>
#include <optional>

namespace sukima::simulation {

namespace {

using namespace random_programs;

/// Half of the programs may use all steal protocols, and as many may have few fibers.
configuration configuration_of(std::uint64_t seed) { return configure(seed, seed % 2 == 0, seed % 4 < 2); }

sukima::settings settings_of_other() {
  sukima::settings s;
  s.workers = 2;
  s.elastic = false;
  s.stack = std::size_t{1} << 20;
  return s;
}

std::string run_program(const random_programs::program& p, const configuration& c,
                        const expectation& expected, std::uint64_t seed) {
  outsider agent;
  sukima::runtime other(settings_of_other());
  sukima::runtime runtime(settings_of(c));
  std::optional<resizer> changes;
  if (seed % 3 == 0) {
    changes.emplace(runtime, seed);
    if (seed % 2 == 0) changes->next();
  }
  observations seen;
  const result r = execute(p, runtime, other, agent, seen);
  changes.reset();
  std::string problem = check(p, c, expected, r, seen);
  if (problem.empty()) {
    the_machine().end_spurious_wake_ups();  // the check waits until all workers sleep at the same time
    sukima::detail::check_at_rest(runtime);
  }
  return problem;
}

}  // namespace

program random_program(std::uint64_t seed, std::size_t size) {
  const auto p = std::make_shared<random_programs::program>(generate(seed, size));
  return [p, seed, c = configuration_of(seed), expected = expect(*p)] {
    return run_program(*p, c, expected, seed);
  };
}

std::string describe_program(std::uint64_t seed, std::size_t size) {
  return "(" + describe(configuration_of(seed)) + ")\n" + describe(*generate(seed, size).root);
}

}  // namespace sukima::simulation
