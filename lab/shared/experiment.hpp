// SPDX-License-Identifier: Apache-2.0
// Experiments as files: which programs run with which settings in which environments, and what is claimed.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sukima::lab {

/// A file of the lab that is wrong: one sentence with the place in it.
class experiment_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A benchmark of `sukima bench`, or any command.
struct program {
  std::string name;
  std::string benchmark;  ///< empty: a command
  std::string system = "sukima";  ///< whose program of the benchmark
  std::optional<std::int64_t> size, quick_size;
  std::vector<std::string> command;  ///< words; {workers} stands for the number of workers
  /// About how long a run takes where it has the CPUs for itself, for the expected time of a plan; of the
  /// sizes for --quick, too. Nothing: the time limit.
  std::optional<double> seconds, quick_seconds;
  bool quick = true;  ///< also with --quick
};

/// How a program runs.
struct setting {
  std::string name;
  std::vector<std::pair<std::string, std::string>> variables;  ///< of the environment; {workers} as above
  double workers_per_cpu = 1;  ///< for each CPU that the environment shows, or
  bool cpus_left = false;  ///< for each that it leaves the program: the papers' static rule
  std::vector<std::string> through;  ///< a command that starts the program: "sukima run --"
  unsigned least_cpus = 1;  ///< left out on a machine with fewer
  bool quick = true;
};

enum class environment_kind {
  machine,  ///< the bare machine
  cap,  ///< a control group with a quota
  fewer,  ///< some of the CPUs
  share,  ///< copies at once, each in a control group of its own
  vms,  ///< copies at once, each in a virtual machine of its own
};

/// Where a program runs.
struct environment {
  std::string name;
  environment_kind kind = environment_kind::machine;
  double part = 1;  ///< cap, fewer: of this machine's CPUs, above 0 up to 1
  /// cap: the time that the quota is for. A program that takes no longer sees all of the quota, or nothing.
  unsigned period_ms = 100;
  unsigned copies = 1;  ///< share, vms
  std::vector<int> weights;  ///< share: one for each copy, 1 to 100; empty: all 1
  std::optional<unsigned> vcpus;  ///< vms: of each; nothing: as many as this machine has CPUs
  unsigned memory_mib = 256;  ///< vms: of each
  /// The environment whose times make the target times: one copy that has all CPUs. Empty: there are none.
  std::string baseline;
  unsigned least_cpus = 1;  ///< as above
  bool quick = true;
};

/// What is compared.
enum class measure {
  time,  ///< seconds, the mean over the copies
  converted,  ///< the mean over the copies / the number of copies (Yoda et al., section 6.1)
  relative,  ///< measured / target time (Takayama and Kourai, section 3.1)
};

/// Which of several settings counts.
enum class taking {
  best,  ///< the fastest
  worst,  ///< the slowest
  /// The one that the CPU use tells, count by count: where it stops growing or falling, and the first one
  /// where it does neither (Takayama and Kourai, figure 13). Settings have growing numbers of workers.
  use,
};

/// One side of a comparison. The compared cell has what it leaves open.
struct side {
  std::vector<std::string> settings;
  std::string environment;  ///< empty: each of the claim's
  /// Of the right side of a claim that compares worst relative times: the environments of which the worst
  /// counts.
  std::vector<std::string> environments;
  taking take = taking::best;  ///< of several settings
};

/// A sentence that runs can bear out: left / right is above or below a bound.
struct claim {
  std::string name, text;
  std::string figure;  ///< of a paper, such as "Yoda et al., figure 5"
  std::string found;  ///< what the paper has there
  measure of = measure::time;
  side left;
  std::optional<side> right;  ///< for measure::relative only if `worst` compares two kinds of environments
  std::vector<std::string> programs, environments;  ///< not empty
  bool above = true;  ///< or below
  double bound = 1;
  double in = 1;  ///< the part of the programs × environments in which it must hold
  /// Only the worst environment of each program counts, as in Takayama and Kourai's figures 2 to 7; for
  /// measure::relative.
  bool worst = false;
  /// With fewer CPUs it cannot be shown: both sides would be the same, or one CPU would have to do for
  /// several.
  unsigned least_cpus = 1;
  std::string needs;  ///< "kvm", or empty
  std::string missing;  ///< why no experiment shows it, and then it compares nothing; or empty
};

struct experiment {
  std::string name, title, source;
  std::optional<unsigned> paper_cpus;  ///< of the paper's machine
  measure shown = measure::time;  ///< in tables and plots
  std::vector<program> programs;
  std::vector<setting> settings;
  std::vector<environment> environments;
  unsigned repetitions = 22, quick_repetitions = 5;
  double limit_seconds = 60;  ///< then a run is stopped
  std::vector<claim> claims;
};

/// The limits of a file, so that no run takes years.
inline constexpr std::size_t most_entries = 256;

/// Reads an experiment. O(text).
/// \throws experiment_error with the place: what is unknown, missing, of another type, outside its range,
///   named twice, or names something that is not there
experiment parse_experiment(std::string_view text);

/// The same as text; parse_experiment reads what this wrote. Members with their defaults are left out.
std::string experiment_text(const experiment& what);

const char* name_of(environment_kind kind);
const char* name_of(measure what);
const char* name_of(taking which);

/// The name of one environment of an experiment, for what says why it cannot be set up.
std::string place_name(const std::string& experiment, const std::string& environment);

/// The CPUs that a program sees in an environment. \param cpus of this machine, at least 1
unsigned visible_cpus(const environment& where, unsigned cpus);
/// The CPUs that one copy gets if all of them need CPU, rounded up: what VCPU-Bal and pCPU-Est's other
/// works give a virtual machine (Takayama and Kourai, section 2). At least 1.
unsigned cpus_left(const environment& where, unsigned cpus);
/// The number of workers, at least 1.
unsigned workers_of(const setting& how, const environment& where, unsigned cpus);
/// The CPUs that an environment of the kind `fewer` leaves, at least 1.
unsigned remaining_cpus(const environment& where, unsigned cpus);
/// The target time over the time in the baseline: VMs for T(1) · VMs, full / cap for T(full) · full / cap,
/// all / n for T(all) · all / n (Takayama and Kourai, section 3.1). Of a share with weights it is the mean
/// over the copies, where who has ended leaves its share to the others. O(copies log copies).
double target_factor(const environment& where, unsigned cpus);

}  // namespace sukima::lab
