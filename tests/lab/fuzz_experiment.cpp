// SPDX-License-Identifier: Apache-2.0
// Takes any bytes as an experiment and as records of its runs: they are refused by a sentence, or what is
// read is written and read again the same, is planned, and is judged.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <lab/shared/verdict.hpp>

namespace lab = sukima::lab;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void demand(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "the promise is broken: %s\n", promise);
  std::abort();
}

void judge(const lab::experiment& experiment) {
  const std::size_t cells =
      experiment.programs.size() * experiment.settings.size() * experiment.environments.size();
  demand(lab::plan_runs(experiment, {.quick = false, .repetitions = 2}).size() == 2 * cells,
         "every cell is run each round");
  for (const lab::environment& where : experiment.environments) {
    demand(lab::target_factor(where, 2) >= 1, "less CPU takes longer");
    demand(lab::remaining_cpus(where, 2) >= 1, "a CPU is left");
  }
  for (const lab::judged_claim& one : lab::judge(experiment, {}, lab::measured(experiment, {}), {})) {
    demand(one.outcome != lab::verdict::holds && one.outcome != lab::verdict::does_not_hold,
           "no runs decide nothing");
    demand(!one.reason.empty(), "what is not decided has a reason");
  }
}

void read_as_records(const std::string& text) {
  try {
    for (const lab::record& one : lab::parse_records(text, "the file")) {
      const std::string line = lab::record_line(one);
      demand(lab::record_line(lab::parse_record(line)) == line, "a record is read as it was written");
    }
  } catch (const lab::experiment_error& error) {
    if (*error.what() == '\0') std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read_as_records(text);
  try {
    const lab::experiment first = lab::parse_experiment(text);
    const std::string written = lab::experiment_text(first);
    demand(lab::experiment_text(lab::parse_experiment(written)) == written,
           "what is written is read as it was");
    if (first.programs.size() * first.settings.size() * first.environments.size() < 1000) judge(first);
  } catch (const lab::experiment_error& error) {
    if (*error.what() == '\0') std::abort();
  }
  return 0;
}
