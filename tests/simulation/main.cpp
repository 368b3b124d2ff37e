// SPDX-License-Identifier: Apache-2.0
// sukima-simulated-programs: random programs on the simulated machine, each with a schedule of its own.
#include "isolated.hpp"
#include "simulated_program.hpp"

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <system_error>
#include <utility>

namespace {

using namespace sukima::simulation;

using support::made_up_machine;

struct options {
  std::uint64_t count = 1000;
  std::uint64_t seed = 1;
  std::size_t size = 40;
  std::uint64_t most_failures = 1;
  bool twice = false;
  bool fresh = false;
  bool each = false;
};

void print_failure(std::uint64_t seed, const std::string& text, const options& o,
                   const made_up_machine& places) {
  std::fprintf(stderr,
               "seed %" PRIu64
               ": %s\n%s"
               "To run it again, also under gdb: SUKIMA_SIMULATION_SEED=%" PRIu64
               " sukima-simulated-programs --size %zu\n",
               seed, text.c_str(), describe_program(seed, o.size, places).c_str(), seed, o.size);
}

void print_trace(std::uint64_t seed, const trace& t) {
  std::printf("seed %" PRIu64 ": %" PRIu64 " steps, %" PRIu64
              " switches, %.6f simulated seconds, hash %016" PRIx64 "\n",
              seed, t.steps, t.switches, static_cast<double>(t.nanoseconds) * 1e-9, t.hash);
}

/// Runs one seed. Returns the error; empty: none.
std::string error_of(std::uint64_t seed, const options& o, const made_up_machine& places, trace& all) {
  const program p = random_program(seed, o.size, places);
  const outcome first = run_isolated(seed, p);
  if (o.each) print_trace(seed, first.steps);
  if (first.how != outcome::end::as_expected) return first.text;
  if (o.twice && run_isolated(seed, p).steps != first.steps) return "a second run took other steps";
  all.steps += first.steps.steps;
  all.switches += first.steps.switches;
  all.hash ^= first.steps.hash;
  return {};
}

/// Returns the number of seeds that failed.
std::uint64_t run_all(const options& o, const made_up_machine& places) {
  trace all;
  std::uint64_t failures = 0;
  for (std::uint64_t i = 0; i < o.count; ++i) {
    const std::uint64_t seed = o.seed + i;
    const std::string error = error_of(seed, o, places, all);
    if (error.empty()) continue;
    print_failure(seed, error, o, places);
    if (++failures == o.most_failures) return failures;
  }
  std::printf("%" PRIu64 " schedules, seeds from %" PRIu64 ", %" PRIu64 " steps, %" PRIu64
              " switches, hash %016" PRIx64 ": %s\n",
              o.count, o.seed, all.steps, all.switches, all.hash,
              failures == 0 ? "all as expected" : "not all as expected");
  return failures;
}

/// The number in a variable; nothing: it is not set. Ends the program if it is not a number.
std::optional<std::uint64_t> number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = text + std::strlen(text);
  if (const auto [rest, error] = std::from_chars(text, end, number); error == std::errc() && rest == end)
    return number;
  std::fprintf(stderr, "%s is '%s': give it a number\n", variable, text);
  std::exit(2);
}

/// Returns the exit code.
int replay(std::uint64_t seed, const options& o, const made_up_machine& places) {
  limits most;
  most.trap_at = number_in("SUKIMA_SIMULATION_STOP").value_or(never);
  const outcome again = run_here(seed, random_program(seed, o.size, places), most);
  print_trace(seed, again.steps);
  if (again.how != outcome::end::as_expected) print_failure(seed, again.text, o, places);
  return again.how == outcome::end::as_expected ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  options o;
  CLI::App app(
      "Runs random programs on a simulated machine. The seed of each decides its program and which thread "
      "runs "
      "at each step. Ends with code 1 and the seeds of wrong results, hangs and crashes.");
  app.add_option("--count", o.count, "Number of programs")->capture_default_str();
  const auto seed =
      app.add_option("--seed", o.seed, "Seed of the first one; the next ones follow")->capture_default_str();
  app.add_option("--size", o.size, "Leaves of a program, about")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--most-failures", o.most_failures, "End after so many failures")->capture_default_str();
  app.add_flag("--twice", o.twice, "Run each seed twice and compare the steps");
  app.add_flag("--each", o.each, "Print the length and the hash of each run");
  app.add_flag("--fresh", o.fresh, "Begin with a seed that is another one each time, and print it")
      ->excludes(seed);
  CLI11_PARSE(app, count, arguments);
  std::optional<made_up_machine> places(std::in_place);
  if (const auto replayed = number_in("SUKIMA_SIMULATION_SEED")) {
    const int code = replay(*replayed, o, *places);
    places.reset();
    std::fflush(nullptr);
    _exit(code);  // threads of the machine may be left
  }
  if (o.fresh) {
    o.seed = std::uint64_t{std::random_device{}()} << 16;
    std::printf("seeds from %" PRIu64 "\n", o.seed);
  }
  return run_all(o, *places) == 0 ? 0 : 1;
}
