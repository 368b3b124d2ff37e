// SPDX-License-Identifier: Apache-2.0
// sukima-simulated-programs: runs random programs on the simulated machine, each with its own schedule.
#include "../options/test_options.hpp"
#include "failing_run.hpp"
#include "isolated.hpp"
#include "simulated_program.hpp"

#include <unistd.h>

#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>

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
  bool broken = false;
  std::string shrunk;  ///< file for the shrunk run of a failing seed; empty: do not shrink
  std::string replayed;  ///< file with a run to replay; empty: run seeds
};

subject subject_of(std::uint64_t seed, const options& o) { return {seed, o.size, {}, o.broken}; }

constexpr char program_name[] = "sukima-simulated-programs";

/// Returns the command that runs a seed again.
std::string command_for(const subject& tested) {
  return "SUKIMA_SIMULATION_SEED=" + std::to_string(tested.seed) + ' ' + program_name + " --size " +
         std::to_string(tested.size) + (tested.broken ? " --broken" : "");
}
/// Returns the command that replays the failing run in a file.
std::string command_for(const std::string& file) { return std::string(program_name) + " --replay " + file; }

/// \param command  the command that runs it again
void print_failure(const subject& tested, const std::string& text, const made_up_machine& places,
                   const std::string& command) {
  std::fprintf(stderr, "seed %" PRIu64 ": %s\n%sTo run it again, also under gdb: %s\n", tested.seed,
               text.c_str(), describe_program(tested, places).c_str(), command.c_str());
}

void print_trace(std::uint64_t seed, const trace& t) {
  std::printf("seed %" PRIu64 ": %" PRIu64 " steps, %" PRIu64
              " switches, %.6f simulated seconds, hash %016" PRIx64 "\n",
              seed, t.steps, t.switches, static_cast<double>(t.nanoseconds) * 1e-9, t.hash);
}

/// Runs one seed.
outcome run_seed(const subject& tested, const options& o, const made_up_machine& places, trace& all) {
  const program p = simulated_program(tested, places);
  outcome first = run_isolated(tested.seed, p);
  if (o.each) print_trace(tested.seed, first.steps);
  if (first.how != outcome::end::as_expected) return first;
  if (o.twice && run_isolated(tested.seed, p).steps != first.steps) {
    first.how = outcome::end::wrong;
    first.text = "a second run took other steps";
  }
  all.steps += first.steps.steps;
  all.switches += first.steps.switches;
  all.hash ^= first.steps.hash;
  return first;
}

/// Shrinks the run of a seed, and writes it to a file.
void shrink_to_file(const subject& tested, const outcome& failed, const options& o,
                    const made_up_machine& places) {
  shrink_report report;
  const failing_run run = shrink_run(tested, failed, places, report);
  std::ofstream file(o.shrunk);
  write_run(file, run);
  file.close();
  if (!file) throw std::runtime_error("cannot write " + o.shrunk);
  if (report.nodes_before != 0)
    std::printf("The program has %zu of %zu parts:\n", report.nodes, report.nodes_before);
  std::printf(
      "%sThe schedule has %zu of %zu choices; all others are those of a machine that preempts no "
      "thread:\n",
      describe_program(run.tested, places).c_str(), run.plan.size(), report.choices_before);
  for (const choice& c : run.plan) std::printf("  %s\n", describe(c).c_str());
  std::printf("Found by %u runs. To replay it, also under gdb: %s\n", report.runs,
              command_for(o.shrunk).c_str());
}

/// Runs all seeds. \returns the number of seeds that failed
std::uint64_t run_all(const options& o, const made_up_machine& places) {
  trace all;
  std::uint64_t failures = 0;
  for (std::uint64_t i = 0; i < o.count; ++i) {
    const subject tested = subject_of(o.seed + i, o);
    const outcome result = run_seed(tested, o, places, all);
    if (result.how == outcome::end::as_expected) continue;
    print_failure(tested, result.text, places, command_for(tested));
    if (!o.shrunk.empty()) shrink_to_file(tested, result, o, places);
    if (++failures == o.most_failures || !o.shrunk.empty()) return failures;
  }
  std::printf("%" PRIu64 " schedules, seeds from %" PRIu64 ", %" PRIu64 " steps, %" PRIu64
              " switches, hash %016" PRIx64 ": %s\n",
              o.count, o.seed, all.steps, all.switches, all.hash,
              failures == 0 ? "all as expected" : "not all as expected");
  return failures;
}

/// Returns the number in a variable; nothing: the variable is not set. Ends the program if it is not a
/// number.
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

/// Runs it in this process. \param command  the command for another such run \returns the exit code
int replay(const failing_run& run, bool has_plan, const made_up_machine& places, const std::string& command) {
  limits most;
  most.trap_at = number_in("SUKIMA_SIMULATION_STOP").value_or(never);
  if (has_plan) most.plan = &run.plan;
  const outcome again = run_here(run.schedule, simulated_program(run.tested, places), most);
  print_trace(run.tested.seed, again.steps);
  if (again.how != outcome::end::as_expected) print_failure(run.tested, again.text, places, command);
  return again.how == outcome::end::as_expected ? 0 : 1;
}

/// Ends the process at once, because threads of the machine may still exist.
[[noreturn]] void leave(int code) {
  std::fflush(nullptr);
  _exit(code);
}

int run_main(const options& o) {
  const made_up_machine places;
  if (!o.replayed.empty()) {
    std::ifstream file(o.replayed);
    if (!file) throw std::runtime_error("cannot read " + o.replayed);
    leave(replay(read_run(file), true, places, command_for(o.replayed)));
  }
  if (const auto seed = number_in("SUKIMA_SIMULATION_SEED")) {
    const subject tested = subject_of(*seed, o);
    leave(replay({tested, *seed, {}}, false, places, command_for(tested)));
  }
  return run_all(o, places) == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  options o;
  sukima_test::test_options line(
      "Runs random programs on a simulated machine. The seed of each decides its program and which thread "
      "runs at each "
      "step. Ends with code 1 and the seeds of wrong results, hangs and crashes.");
  line.add("--count", &o.count, "Number of programs");
  line.add("--seed", &o.seed, "Seed of the first one; the next ones follow");
  line.add("--size", &o.size, "Leaves of a program, about", 1, 1'000'000);
  line.add("--most-failures", &o.most_failures, "End after so many failures");
  line.add("--twice", &o.twice, "Run each seed twice and compare the steps");
  line.add("--each", &o.each, "Print the length and the hash of each run");
  line.add("--fresh", &o.fresh, "Begin with a seed that is another one each time, and print it");
  line.exclude("--fresh", "--seed");
  line.add("--shrink", &o.shrunk, "Shrink the run of the first seed that fails, and write it to this file");
  line.add("--replay", &o.replayed, "Run what such a file describes, in this process");
  line.exclude("--replay", "--shrink");
  line.add("--broken", &o.broken, "Lose an addition after each program: for tests of --shrink");
  line.read_or_exit(count, arguments);
  if (o.fresh) {
    o.seed = std::uint64_t{std::random_device{}()} << 16;
    std::printf("seeds from %" PRIu64 "\n", o.seed);
  }
  try {
    return run_main(o);
  } catch (const std::exception& e) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: %s\n", program_name, e.what());
    return 2;
  }
}
