// SPDX-License-Identifier: Apache-2.0
#include "failing_run.hpp"

#include <istream>
#include <optional>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace sukima::simulation {

namespace {

constexpr unsigned schedules_each = 24;  ///< schedules that are tried with a simpler program
constexpr unsigned most_runs = 4000;     ///< limit for shrinking the choices

/// Returns the text before its first digit, because numbers differ from run to run.
std::string beginning(const std::string& text) { return text.substr(0, text.find_first_of("0123456789")); }

bool fails_like(const outcome& a, const outcome& b) {
  return a.how == b.how && a.signal == b.signal && beginning(a.text) == beginning(b.text);
}

class runs {
 public:
  runs(const outcome& original, const support::made_up_machine& places, shrink_report& report)
      : original_(original), places_(places), report_(report) {}

  /// Searches a schedule with which the program fails. Tries that seed first.
  std::optional<std::uint64_t> failing_schedule(const subject& tested, std::uint64_t first) {
    const program p = simulated_program(tested, places_);
    for (unsigned i = 0; i < schedules_each; ++i)
      if (const std::uint64_t schedule = first + i * 0x9E3779B9u; fails(schedule, p, {})) return schedule;
    return std::nullopt;
  }
  /// Returns the choices of the schedule of a failing run.
  choices recorded(const failing_run& run) {
    limits most;
    most.record = &record_;
    record_.clear();
    if (!fails(run.schedule, simulated_program(run.tested, places_), most))
      throw std::runtime_error("the run does not fail again");
    if (auto plan = record_.take()) return *std::move(plan);
    throw std::runtime_error("the schedule has too many choices to be shrunk");
  }
  trial try_plan(const failing_run& run, const choices& plan) {
    limits most;
    most.plan = &plan;
    most.record = &record_;
    record_.clear();
    const bool failed = fails(run.schedule, simulated_program(run.tested, places_), most);
    return {failed, record_.steps()};
  }

 private:
  bool fails(std::uint64_t schedule, const program& p, limits most) {
    ++report_.runs;
    most.quiet = true;
    return fails_like(run_isolated(schedule, p, most), original_);
  }

  const outcome& original_;
  const support::made_up_machine& places_;
  shrink_report& report_;
  recording record_;
};

}  // namespace

failing_run shrink_run(const subject& tested, const outcome& original, const support::made_up_machine& places,
                       shrink_report& report) {
  runs s(original, places, report);
  failing_run run{tested, tested.seed, {}};
  if (const auto whole = program_tree(tested, places)) {
    report.nodes_before = size_of(*whole->root);
    run.tested.simpler = simplest(*whole, [&](const simplifications& simpler) {
      subject changed = tested;
      changed.simpler = simpler;
      const auto found = s.failing_schedule(changed, run.schedule);
      if (found) run.schedule = *found;
      return found.has_value();
    });
    report.nodes = size_of(*program_tree(run.tested, places)->root);
  }
  run.plan = s.recorded(run);
  report.choices_before = run.plan.size();
  if (!s.try_plan(run, run.plan).fails) throw std::runtime_error("a run with the same choices does not fail");
  run.plan = shrink(run.plan, [&](const choices& some) { return s.try_plan(run, some); }, most_runs);
  return run;
}

void write_run(std::ostream& to, const failing_run& run) {
  to << "program " << run.tested.seed << ' ' << run.tested.size << ' ' << (run.tested.broken ? 1 : 0)
     << "\nschedule " << run.schedule << '\n';
  for (const simplification& one : run.tested.simpler)
    to << (one.change == simplification::kind::cut ? "cut " : "once ") << one.node << '\n';
  for (const choice& c : run.plan)
    to << word_of(c.type) << ' ' << c.thread << ' ' << c.step << ' ' << c.value << '\n';
}

failing_run read_run(std::istream& from) {
  failing_run run;
  std::string line;
  for (unsigned number = 1; std::getline(from, line); ++number) {
    std::istringstream in(line);
    std::string word;
    in >> word;
    if (word == "program") {
      in >> run.tested.seed >> run.tested.size >> run.tested.broken;
    } else if (word == "schedule") {
      in >> run.schedule;
    } else if (word == "cut" || word == "once") {
      simplification one{word == "cut" ? simplification::kind::cut : simplification::kind::once, 0};
      in >> one.node;
      run.tested.simpler.push_back(one);
    } else if (const auto kind = kind_of(word)) {
      choice c{*kind, 0, 0, 0};
      in >> c.thread >> c.step >> c.value;
      if (in && c.thread >= most_recorded_threads)
        throw std::runtime_error("line " + std::to_string(number) + " names thread " +
                                 std::to_string(c.thread) + ": give a thread below " +
                                 std::to_string(most_recorded_threads));
      run.plan.push_back(c);
    } else {
      in.setstate(std::ios::failbit);
    }
    if (!in) throw std::runtime_error("line " + std::to_string(number) + " is not of a failing run");
  }
  return run;
}

}  // namespace sukima::simulation
