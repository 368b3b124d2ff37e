// SPDX-License-Identifier: Apache-2.0
// Running experiments; see runner.hpp.
#include "shared/runner.hpp"

#include <base/shared/assert.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "shared/benchmark_call.hpp"
#include "shared/expected_time.hpp"

namespace sukima::lab {
namespace {

using clock = std::chrono::steady_clock;

/// After this number of failures in a row, the machine cannot set such environments up.
constexpr int most_failures_in_a_row = 3;

/// A full disk is not an obstacle, because it can be cleared.
bool is_full_disk(const std::exception& error) {
  const auto* const known = dynamic_cast<const std::system_error*>(&error);
  if (known == nullptr) return false;
  const int reason = known->code().value();
  return reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
}

/// The state of one call of run_experiments.
class session {
 public:
  explicit session(run_request& request) : request_(request) { prepare(); }

  run_summary run() {
    for (const experiment& experiment : request_.experiments) {
      const measured known(experiment, before_);
      to_do& mine = to_do_.emplace_back(
          to_do{expected_times(experiment, request_.facts.choice, request_.facts.bed.cpus, before_), {}});
      for (const planned_run& one : plan_runs(experiment, request_.facts.choice)) {
        ++total_;
        if (is_done(experiment, known, one))
          ++done_;
        else
          mine.runs.push_back(one);
      }
    }
    for (; current_ < to_do_.size(); ++current_) run_all(request_.experiments[current_], to_do_[current_]);
    return summary_;
  }

 private:
  /// The missing runs of an experiment.
  struct to_do {
    expected_times times;
    std::vector<planned_run> runs;
    std::size_t next = 0;
  };

  void make_folder(const std::filesystem::path& folder) const {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
      throw experiment_error(fmt::format("'{}' cannot be made: {}; choose another --folder",
                                         request_.folder.string(), error.message()));
  }

  /// Creates the folder, or checks that it belongs to these runs.
  void prepare() {
    namespace fs = std::filesystem;
    std::error_code error;
    make_folder(request_.folder);
    if (!fs::exists(request_.folder / "machine.json", error) &&
        fs::file_size(request_.folder / "runs.jsonl", error) > 0 && !error)
      throw experiment_error(fmt::format(
          "'{}' has a runs.jsonl, and no machine.json that says what these runs are: choose another --folder",
          request_.folder.string()));
    // A folder that is refused gets no new file. Without runs no other process writes there.
    if (!fs::exists(request_.folder / "runs.jsonl", error)) static_cast<void>(earlier_runs(request_));
    file_.emplace(request_.folder / "runs.jsonl");  // from here on it is this process's
    if (const std::optional<recorded_runs> found = earlier_runs(request_)) {
      // The facts of earlier runs still hold for their records.
      request_.facts.bed.accelerator = found->facts.bed.accelerator;
      request_.facts.bed.obstacles = found->facts.bed.obstacles;
      request_.facts.versions.insert(found->facts.versions.begin(), found->facts.versions.end());
      request_.facts.machine = found->facts.machine;
      before_ = found->records;
    } else {
      make_folder(request_.folder / "experiments");  // first: a folder with a machine.json must have it
      write_text(request_.folder / "machine.json", facts_text(request_.facts));
    }
    for (const experiment& experiment : request_.experiments)
      write_text(request_.folder / "experiments" / (experiment.name + ".json"), experiment_text(experiment));
  }

  static bool is_done(const experiment& experiment, const measured& known, const planned_run& one) {
    return known.done(experiment.programs[one.cell.program].name, experiment.settings[one.cell.setting].name,
                      experiment.environments[one.cell.environment].name, one.round);
  }

  void run_all(const experiment& experiment, to_do& mine) {
    for (const record& one : before_)
      if (one.experiment == experiment.name && !one.result.empty())
        results_[experiment.name + "/" + one.program] = one.result;
    stage_.reset();
    std::optional<std::pair<std::size_t, unsigned>> staged;
    for (; mine.next < mine.runs.size(); ++mine.next) {
      const planned_run& one = mine.runs[mine.next];
      const environment& where = experiment.environments[one.cell.environment];
      if (given_up_.contains(name_of(where.kind)) ||
          given_up_.contains(place_name(experiment.name, where.name))) {
        leave_out();
        continue;
      }
      // Each round has fresh environments, so that a bad one spoils a single round.
      if (staged != std::pair(one.cell.environment, one.round)) stage_.reset();
      staged = {one.cell.environment, one.round};
      show(experiment, one.cell);
      run_in(experiment, one);
    }
    stage_.reset();
  }

  /// Sets the environment up, unless it exists. An environment that fails again and again is given up by
  /// itself, because sixteen machines may be too many although four are not. \returns whether it exists
  bool set_up(const experiment& experiment, const environment& where, record& into) {
    if (stage_) return true;
    const std::string name = place_name(experiment.name, where.name);
    try {
      stage_ = request_.make_stage(where);
    } catch (const obstacle& error) {
      note_obstacle(name_of(where.kind), error.what());
      return false;
    } catch (const experiment_error&) {
      throw;
    } catch (const std::exception& error) {
      if (is_full_disk(error)) throw;
      into.failure = fmt::format("the environment could not be set up: {}", error.what());
      if (++failures_in_a_row_[name] >= most_failures_in_a_row) note_obstacle(name, into.failure);
      return false;
    }
    failures_in_a_row_[name] = 0;
    request_.facts.bed.obstacles.erase(name_of(where.kind));
    request_.facts.bed.obstacles.erase(name);
    store_facts();
    return true;
  }

  /// \param name the kind, or the environment of an experiment, that cannot be set up
  void note_obstacle(const std::string& name, const std::string& why) {
    std::string line = why.substr(0, 1000);
    std::ranges::replace_if(
        line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
    request_.facts.bed.obstacles[name] = line;
    given_up_.insert(name);
    store_facts();
  }

  /// Stores facts that became known when environments were set up.
  void store_facts() {
    const std::string text = facts_text(request_.facts);
    if (text == stored_facts_) return;
    write_text(request_.folder / "machine.json", text);
    stored_facts_ = text;
  }

  void run_in(const experiment& experiment, const planned_run& one) {
    const program& of = experiment.programs[one.cell.program];
    const setting& how = experiment.settings[one.cell.setting];
    const environment& where = experiment.environments[one.cell.environment];
    record result;
    const auto start = clock::now();
    if (set_up(experiment, where, result)) {
      SUKIMA_ASSERT(stage_ != nullptr, "a run needs its environment");
      const job words =
          job_of(of, how, where, request_.facts.bed.cpus, request_.facts.choice.quick, request_.find);
      std::string& known = results_[experiment.name + "/" + of.name];
      try {
        const std::vector<copy_end> ends =
            stage_->run(words, std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::duration<double>(experiment.limit_seconds)));
        result = record_of(ends, words.prints_seconds, known);
      } catch (const std::exception& error) {
        result.failure = error.what();
      }
      if (result.failure.empty() && known.empty()) known = result.result;
      if (!result.failure.empty() || !stage_->usable()) stage_.reset();
    } else if (result.failure.empty()) {
      leave_out();
      return;
    }
    result.experiment = experiment.name;
    result.program = of.name;
    result.setting = how.name;
    result.environment = where.name;
    result.round = one.round;
    result.wall_seconds = std::chrono::duration<double>(clock::now() - start).count();
    file_->append(result);
    ++summary_.ran;
    ++done_;
    if (result.failure.empty())
      to_do_[current_].times.add(one.cell, result.wall_seconds);
    else
      ++summary_.failed;
  }

  void leave_out() {
    ++summary_.left_out;
    --total_;
    SUKIMA_ASSERT(done_ <= total_, "a run is either done or left out");
  }

  /// O(runs left).
  double seconds_left() const {
    double seconds = 0;
    for (std::size_t i = current_; i < to_do_.size(); ++i)
      for (std::size_t run = to_do_[i].next; run < to_do_[i].runs.size(); ++run)
        seconds += to_do_[i].times.of(to_do_[i].runs[run].cell);
    return seconds;
  }

  void show(const experiment& experiment, const cell& of) const {
    if (!request_.observe) return;
    request_.observe({done_, total_, seconds_left(), &experiment, of});
  }

  run_request& request_;
  std::optional<record_file> file_;
  std::vector<record> before_;
  std::map<std::string, std::string> results_;  ///< by experiment/program
  std::unique_ptr<stage> stage_;
  std::map<std::string, int> failures_in_a_row_;  ///< by place_name
  std::set<std::string> given_up_;  ///< in this call: kinds, and environments by place_name
  std::vector<to_do> to_do_;  ///< of each experiment
  std::size_t current_ = 0;  ///< the experiment that runs
  std::size_t done_ = 0, total_ = 0;
  std::string stored_facts_;  ///< as this process wrote them last
  run_summary summary_;
};

/// The part of an experiment that determines its runs: all except the claims, which each report judges again.
std::string runs_text(experiment experiment) {
  experiment.claims.clear();
  return experiment_text(experiment);
}

}  // namespace

std::optional<recorded_runs> earlier_runs(const run_request& request) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!fs::exists(request.folder / "machine.json", ignored)) return std::nullopt;
  recorded_runs found = read_folder(request.folder);
  if (const std::string why = difference(found.facts, request.facts); !why.empty())
    throw experiment_error(
        fmt::format("'{}' is of other runs: {}; or choose another --folder", request.folder.string(), why));
  for (const experiment& experiment : request.experiments) {
    const fs::path file = request.folder / "experiments" / (experiment.name + ".json");
    const bool is_known = fs::exists(file, ignored);
    if (!is_known &&
        std::ranges::find(found.records, experiment.name, &record::experiment) != found.records.end())
      throw experiment_error(
          fmt::format("'{}' has runs of '{}', and no file that says what these are: choose another --folder",
                      request.folder.string(), experiment.name));
    if (is_known && runs_text(parse_experiment(read_text(file))) != runs_text(experiment))
      throw experiment_error(fmt::format("'{}' has another version of '{}': choose another --folder",
                                         request.folder.string(), experiment.name));
  }
  return found;
}

run_summary run_experiments(run_request& request) { return session(request).run(); }

job job_of(const program& program, const setting& how, const environment& where, unsigned cpus, bool quick,
           const program_finder& find) {
  const unsigned workers = workers_of(how, where, cpus);
  const marked_values values{{"{workers}", std::to_string(workers)}};
  job result;
  if (const std::optional<lab::program> starter = starter_of(how)) {
    result.arguments.push_back(find(*starter).string());
    result.arguments.insert(result.arguments.end(), how.through.begin() + 1, how.through.end());
  }
  result.arguments.push_back(find(program).string());
  if (program.benchmark.empty()) {
    for (std::size_t i = 1; i < program.command.size(); ++i)
      result.arguments.push_back(fill_in(program.command[i], values));
  } else {
    result.prints_seconds = true;
    const std::optional<std::int64_t> size = quick && program.quick_size ? program.quick_size : program.size;
    const std::vector<std::string> words = benchmark_arguments(program.benchmark, size, workers, 1);
    result.arguments.insert(result.arguments.end(), words.begin(), words.end());
  }
  for (const std::string& word : how.arguments) result.arguments.push_back(fill_in(word, values));
  for (const auto& [name, value] : how.variables) result.variables.emplace_back(name, fill_in(value, values));
  return result;
}

std::optional<program> starter_of(const setting& how) {
  if (how.through.empty()) return std::nullopt;
  program starter;
  starter.name = how.name;
  starter.command = how.through;
  return starter;
}

printed read_output(std::string_view output) {
  printed last;
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    const nlohmann::json line = nlohmann::json::parse(output.substr(0, end), nullptr, false);
    output.remove_prefix(std::min(end + 1, output.size()));
    if (!line.is_object()) continue;
    last = {};
    if (const auto found = line.find("seconds"); found != line.end() && found->is_number()) {
      const auto seconds = found->get<double>();
      if (seconds >= 0 && std::isfinite(seconds)) last.seconds = seconds;
    }
    if (const auto found = line.find("result"); found != line.end())
      last.result = on_one_line(found->is_string() ? found->get<std::string>() : found->dump());
  }
  return last;
}

record record_of(const std::vector<copy_end>& ends, bool prints_seconds, const std::string& known) {
  record result;
  std::string expected = known;
  for (const copy_end& one : ends) {
    if (one.use) result.use.push_back(*one.use);
    if (one.stopped) {
      result.seconds.push_back(std::numeric_limits<double>::infinity());
      continue;
    }
    const printed read = read_output(one.output);
    if (result.failure.empty() && !one.failure.empty()) result.failure = one.failure;
    if (result.failure.empty() && read.seconds.value_or(0) > longest_time)
      result.failure = fmt::format("its 'seconds' are above {}", longest_time);
    if (result.failure.empty() && read.seconds == 0.0) result.failure = "its 'seconds' are 0";
    if (result.failure.empty() && prints_seconds && !read.seconds)
      result.failure = "it printed no line of JSON with its 'seconds'";
    if (result.failure.empty() && !expected.empty() && read.result != expected)
      result.failure = fmt::format("it gave the result '{}', and '{}' before", read.result, expected);
    expected = read.result;
    result.seconds.push_back(read.seconds.value_or(one.seconds));
  }
  if (ends.empty()) result.failure = "no copy was started";
  if (!result.failure.empty()) result.seconds.clear();
  if (result.use.size() != result.seconds.size()) result.use.clear();
  result.result = result.failure.empty() ? expected : "";
  SUKIMA_ASSERT(result.failure.empty() ? result.seconds.size() == ends.size() : result.seconds.empty(),
                "a run has a time for each copy, or a failure");
  return result;
}

}  // namespace sukima::lab
