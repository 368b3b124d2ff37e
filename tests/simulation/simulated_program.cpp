// SPDX-License-Identifier: Apache-2.0
#include "simulated_program.hpp"

#include "../runtime/random/execute.hpp"
#include "../runtime/random/program.hpp"
#include "../runtime/random/resizer.hpp"
#include "../runtime/random/verdict.hpp"
#include "machine.hpp"
#include "scene.hpp"

#include "invariants/at_rest.hpp"
#include "place/made_up_machine.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <thread>

namespace sukima::simulation {

namespace {

using namespace random_programs;

/// One third of the seeds are scenes.
bool is_scene(std::uint64_t seed) { return mix(seed, 5) % 3 == 0; }

/// Half of the programs run on a made-up machine, with hints.
bool has_places(std::uint64_t seed) { return mix(seed, 6) % 2 == 0; }

/// Half of the programs may use all steal protocols, and half may have few fibers. Some scenes need more
/// fibers.
configuration configuration_of(std::uint64_t seed) {
  return configure(seed, seed % 2 == 0, seed % 4 < 2 && !is_scene(seed));
}

/// A thread changes the number of workers of every third runtime.
bool is_resized(std::uint64_t seed) {
  return seed % 3 == 0 && !(is_scene(seed) && scene_of(seed).needs_its_workers);
}

sukima::settings settings_of_other() {
  sukima::settings s;
  s.workers = 2;
  s.elastic = false;
  s.stack = std::size_t{1} << 20;
  return s;
}

/// Places each worker on another CPU every few milliseconds.
int wandering_cpu(unsigned worker) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto turn = static_cast<std::uint64_t>(now / std::chrono::milliseconds(1)) + worker * 5u;
  return static_cast<int>(mix(worker, turn / 16) % 8);
}

/// Calls the function with a runtime, and then checks that the runtime is at rest. \returns the function's
/// error
template <class F> std::string with_runtime(std::uint64_t seed, F f) {
  sukima::runtime runtime(settings_of(configuration_of(seed)));
  std::optional<resizer> changes;
  if (is_resized(seed)) {
    changes.emplace(runtime, seed);
    if (seed % 2 == 0) changes->next();
  }
  std::string problem = f(runtime);
  changes.reset();
  if (problem.empty()) {
    the_machine().end_spurious_wake_ups();  // the check waits until all workers sleep at the same time
    sukima::detail::check_at_rest(runtime);
  }
  return problem;
}

std::string run_program(const random_programs::program& p, const expectation& expected, std::uint64_t seed) {
  outsider agent;
  sukima::runtime other(settings_of_other());
  return with_runtime(seed, [&](sukima::runtime& runtime) {
    observations seen;
    const result r = execute(p, runtime, other, agent, seen);
    return check(p, configuration_of(seed), expected, r, seen);
  });
}

std::string run_scene(std::uint64_t seed, int places) {
  return with_runtime(seed, [&](sukima::runtime& runtime) {
    stage s{runtime, random_programs::numbers(mix(seed, 7)), places};
    scene_of(seed).play(s);
    return s.error;
  });
}

/// Loses an addition if another thread runs between its two halves.
std::string lose_an_addition() {
  detail::atomic<int> number{0};
  const auto add = [&] { number.store(number.load() + 1); };
  std::thread other(add);
  add();
  other.join();
  return number.load() == 2 ? "" : "an addition was lost";
}

}  // namespace

/// Without hints, this is the same program as that of sukima-random-programs.
std::optional<random_programs::program> program_tree(const subject& tested,
                                                     const support::made_up_machine& places) {
  if (is_scene(tested.seed)) return std::nullopt;
  random_programs::program p = generate(tested.seed, tested.size);
  if (has_places(tested.seed)) add_places(p, tested.seed, sukima_place_table_count(&places.table()));
  simplify(p, tested.simpler);
  return p;
}

program simulated_program(const subject& tested, const support::made_up_machine& places) {
  const std::uint64_t seed = tested.seed;
  const auto with_machine = [seed, broken = tested.broken, &places](const auto& run) {
    const sukima::detail::made_up_machine made_up{&places.table(), wandering_cpu};
    if (has_places(seed)) sukima::detail::make_up_machine(&made_up);
    std::string error = run();
    return error.empty() && broken ? lose_an_addition() : error;
  };
  if (is_scene(seed)) {
    const int count = has_places(seed) ? static_cast<int>(sukima_place_table_count(&places.table())) : 0;
    return [=] { return with_machine([&] { return run_scene(seed, count); }); };
  }
  const auto p = std::make_shared<random_programs::program>(*program_tree(tested, places));
  return [=, expected = expect(*p)] { return with_machine([&] { return run_program(*p, expected, seed); }); };
}

std::string describe_program(const subject& tested, const support::made_up_machine& places) {
  const std::string settings =
      "(" + describe(configuration_of(tested.seed)) + (is_resized(tested.seed) ? ", resized" : "") + ")\n";
  if (const auto p = program_tree(tested, places)) return settings + describe(*p->root);
  return settings + "scene: " + scene_of(tested.seed).name + "\n";
}

}  // namespace sukima::simulation
