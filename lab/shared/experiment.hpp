// SPDX-License-Identifier: Apache-2.0
// Experiments as files: programs, settings, environments, and claims.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sukima::lab {

/// A mistake in a file of the lab: one sentence with its place.
class experiment_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A benchmark of `sukima bench`, or any command.
struct program {
  std::string name;
  std::string benchmark;  ///< empty: a command
  std::string system = "sukima";  ///< the system for which the benchmark's program is written
  std::optional<std::int64_t> size, quick_size;
  std::vector<std::string> command;  ///< words; {workers} is replaced by the number of workers
  /// Approximate seconds of a run that has all CPUs, for the expected time of a plan. The second one is for
  /// the sizes of --quick. Nothing: the time limit.
  std::optional<double> seconds, quick_seconds;
  bool quick = true;  ///< also with --quick
};

/// How a program runs.
struct setting {
  std::string name;
  std::vector<std::pair<std::string, std::string>> variables;  ///< of the environment; {workers} as above
  double workers_per_cpu = 1;  ///< for each CPU that the program sees
  bool cpus_left = false;  ///< for each CPU that is left, not for each visible one: the papers' static rule
  std::vector<std::string> through;  ///< a command that starts the program: "sukima run --"
  std::vector<std::string> arguments;  ///< words that follow the program's own; {workers} as above
  std::string unit = "s";  ///< unit of the values that the programs measure with this setting
  unsigned least_cpus = 1;  ///< left out on a machine with fewer CPUs
  bool quick = true;
};

enum class environment_kind {
  machine,  ///< the bare machine
  cap,  ///< a control group with a quota
  fewer,  ///< some of the CPUs
  share,  ///< copies at once, each in a control group of its own
  vms,  ///< copies at once, each in a virtual machine of its own
};

/// The environment in which a program runs.
struct environment {
  std::string name;
  environment_kind kind = environment_kind::machine;
  double part = 1;  ///< cap, fewer: of this machine's CPUs, above 0 up to 1
  /// cap: the period of the quota. A program that ends within a period gets all of the quota, or nothing.
  unsigned period_ms = 100;
  unsigned copies = 1;  ///< share, vms
  std::vector<int> weights;  ///< share: one for each copy, 1 to 100; empty: all 1
  std::optional<unsigned> vcpus;  ///< vms: of each; nothing: as many as this machine has CPUs
  unsigned memory_mib = 256;  ///< vms: of each
  /// The environment from which target times are computed: one copy with all CPUs. Empty: no target times.
  std::string baseline;
  unsigned least_cpus = 1;  ///< left out on a machine with fewer CPUs
  bool quick = true;
};

/// The compared quantity.
enum class measure {
  time,  ///< seconds, the mean over the copies
  converted,  ///< the mean over the copies / the number of copies (Yoda et al., section 6.1)
  relative,  ///< measured / target time (Takayama and Kourai, section 3.1)
};

/// The rule that chooses one of several settings.
enum class taking {
  best,  ///< the fastest
  worst,  ///< the slowest
  /// The setting predicted from the CPU use: the one at which the use stops growing or falling, otherwise the
  /// first one (Takayama and Kourai, figure 13). The settings have growing numbers of workers.
  use,
};

/// One side of a comparison. The compared cell supplies the rest.
struct side {
  std::vector<std::string> settings;
  std::string environment;  ///< empty: each of the claim's
  /// On the right side of a claim about worst relative times: the environments among which the worst counts.
  std::vector<std::string> environments;
  taking take = taking::best;  ///< the rule if there are several settings
};

/// A sentence that runs can confirm: left / right is above or below a bound.
struct claim {
  std::string name, text;
  std::string figure;  ///< of a paper, such as "Yoda et al., figure 5"
  std::string found;  ///< the paper's finding
  measure of = measure::time;
  side left;
  std::optional<side> right;  ///< for measure::relative only if `worst` compares two kinds of environments
  std::vector<std::string> programs, environments;  ///< not empty
  bool above = true;  ///< if false, below
  double bound = 1;
  double in = 1;  ///< the part of the programs × environments in which it must hold
  /// Only the worst environment of each program counts, as in Takayama and Kourai's figures 2 to 7; for
  /// measure::relative.
  bool worst = false;
  /// With fewer CPUs the claim cannot be shown, because both sides would be the same or CPUs would be
  /// missing.
  unsigned least_cpus = 1;
  std::string needs;  ///< "kvm", or empty
  std::string missing;  ///< why no experiment shows the claim, which then compares nothing; or empty
};

struct experiment {
  std::string name, title, source;
  std::optional<unsigned> paper_cpus;  ///< number of CPUs of the paper's machine
  measure shown = measure::time;  ///< the measure in tables and plots
  std::vector<program> programs;
  std::vector<setting> settings;
  std::vector<environment> environments;
  unsigned repetitions = 22, quick_repetitions = 5;
  double limit_seconds = 60;  ///< the time limit of a run
  std::vector<claim> claims;
};

/// The limits of a file, so that no run takes years.
inline constexpr std::size_t most_entries = 256;

/// Reads an experiment. O(text).
/// \throws experiment_error with the place of a value that is unknown, missing, of another type, out of
/// range, named twice, or names something that does not exist
experiment parse_experiment(std::string_view text);

/// Writes an experiment in the format of parse_experiment. Omits members that have their defaults.
std::string experiment_text(const experiment& experiment);

const char* name_of(environment_kind kind);
const char* name_of(measure measure);
const char* name_of(taking which);

/// Returns the name of one environment of an experiment, for obstacles.
std::string place_name(const std::string& experiment, const std::string& environment);

/// Returns the CPUs that a program sees in an environment. \param cpus of this machine, at least 1
unsigned visible_cpus(const environment& where, unsigned cpus);
/// Returns the CPUs that one copy gets if all copies need CPU, rounded up, at least 1. VCPU-Bal gives a
/// virtual machine the same number (Takayama and Kourai, section 2).
unsigned cpus_left(const environment& where, unsigned cpus);
/// Returns the number of workers, at least 1.
unsigned workers_of(const setting& how, const environment& where, unsigned cpus);
/// Returns the CPUs that an environment of the kind `fewer` leaves, at least 1.
unsigned remaining_cpus(const environment& where, unsigned cpus);
/// Returns the target time divided by the time in the baseline: VMs for T(1) · VMs, full / cap for T(full) ·
/// full / cap, all / n for T(all) · all / n (Takayama and Kourai, section 3.1). For a share with weights, it
/// is the mean over the copies; a copy that has ended leaves its share to the others. O(copies log copies).
double target_factor(const environment& where, unsigned cpus);

}  // namespace sukima::lab
