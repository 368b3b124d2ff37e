// SPDX-License-Identifier: Apache-2.0
// Prepares the start of a program; see plan.hpp.
#include "run/plan.hpp"

#include <base/shared/assert.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <sstream>

#include <preload/shared/mpi_ranks.h>
#include <base/shared/descriptor.hpp>
#include <base/shared/executable.hpp>
#include "capacity/meter.hpp"
#include "capacity/topology.hpp"
#include "preload_place.hpp"
#include "shared/console.hpp"

namespace sukima::cli::run {
namespace {

namespace fs = std::filesystem;

/// The variable that lists the variables set by an outer `sukima run`. Those are not the user's.
constexpr const char* list_variable = "SUKIMA_RUN_VARIABLES";

/// If a hypervisor takes more than this part of the wanted time, it counts as taking CPU.
constexpr double noticeable_steal = 0.05;

const char* read_user_variable(const char* name) {
  const char* const list = std::getenv(list_variable);
  std::istringstream names(list != nullptr ? list : "");
  for (std::string one; names >> one;)
    if (one == name) return nullptr;
  return std::getenv(name);
}

/// Measures the available CPU for a moment.
cpu_supply measure_supply(bool also_neighbours) {
  const auto meter = std::make_shared<capacity_meter>();
  if (also_neighbours) meter->measure_briefly();
  const capacity_report report = meter->explain();
  const sukima_capacity_estimate all = meter->usable();
  cpu_supply supply;
  supply.cap = report->facts.cap;
  supply.limit = report->facts.usable;
  supply.usable = [meter](unsigned threads) { return meter->usable(threads).usable; };
  supply.stolen = meter->load().stolen > noticeable_steal;
  supply.reason = fmt::format("{} usable: {}",
                              cpus_text(all.usable) + (cpus_text(all.usable) == "1 CPU" ? " is" : " are"),
                              reason_for(*report, all));
  supply.limit_reason =
      all.usable >= supply.limit
          ? supply.reason
          : fmt::format("the limits allow {}: {}", cpus_text(supply.limit), reason_for_limits(*report));
  supply.basis = sukima_capacity_basis_name(all.basis);
  return supply;
}

/// Returns the path of the library that belongs to this program; empty if the file does not exist.
fs::path preload_library() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path library = (program.parent_path() / preload_place).lexically_normal();
  return fs::is_regular_file(library, ignored) ? library : fs::path();
}

/// Why this program's own file, which leads to the library, cannot be read: the end of the sentence "nothing
/// is preloaded, because …".
std::string trouble_with_own_file() {
  const descriptor own(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const int error = own ? 0 : errno;
  if (error == EMFILE) return "the limit on open files is reached (raise it with ulimit -n)";
  if (error == ENFILE) return "the system's limit on open files is reached (raise fs.file-max with sysctl)";
  return "/proc, which leads to the library, cannot be read";
}

void choose_library(run_plan& plan, const run_options& options, const std::string& program) {
  if (!options.preload) {
    plan.obstacle = "--no-preload was given";
    return;
  }
  if (!program.empty()) {
    const auto file = process::find_program(program, std::getenv("PATH"));
    if (!file) {
      plan.obstacle = "there is no such program";  // starting the program reports the details
      return;
    }
    const std::string loader = process::loader_of("/proc/self/exe");
    if (loader.empty()) {
      plan.obstacle = trouble_with_own_file();
      return;
    }
    plan.obstacle = process::obstacle_to_preloading(*file, loader);
    if (!plan.obstacle.empty()) return;
  }
  plan.library = preload_library();
  if (plan.library.empty()) plan.obstacle = "the library is not installed";
  // The loader separates names at blanks and colons.
  if (plan.library.string().find_first_of(" :") != std::string::npos) {
    plan.obstacle =
        fmt::format("the path of the library contains a blank or a colon: {}", plan.library.string());
    plan.library.clear();
  }
}

/// Decides how the library treats OpenMP's idle threads. Neighbours do not count at the start. The wait
/// monitor notices within 30 ms that threads wait for CPUs, but it takes a second to notice that they no
/// longer do. So a program that is disturbed for a moment while it starts would run for a second with
/// sleeping threads. A program with short regions would lose half of its speed in that second.
preload_waiting waiting_for(const start_decision& decision) {
  if (user_sets_waiting(read_user_variable)) return preload_waiting_untouched;
  if (decision.limits_allow_spinning) return preload_waiting_enough;
  return decision.stolen ? preload_waiting_asleep : preload_waiting_short;
}

std::string settings_for(const run_plan& plan, const run_options& options) {
  const bool may_resize =
      options.resize != preload_resize_unless_asked || !user_sets_openmp(read_user_variable);
  const thread_policy& policy = options.policy;
  preload_settings settings{};
  settings.threads = plan.decision.threads;
  settings.active = plan.decision.active;
  settings.minimum = policy.minimum;
  settings.maximum = policy.maximum.value_or(0);
  settings.rounding =
      policy.rounding.value_or(policy.reserve > 0 ? SUKIMA_CAPACITY_NEAREST : SUKIMA_CAPACITY_CEILING);
  settings.reserve_thousandths = static_cast<std::uint32_t>(std::lround(policy.reserve * 1000));
  settings.fixed = plan.decision.fixed ? 1 : 0;
  settings.resize = may_resize ? options.resize : preload_resize_never;
  settings.waiting = waiting_for(plan.decision);
  settings.cpus = plan.cap;
  settings.ranks = plan.ranks;
  settings.first = static_cast<std::uint32_t>(getpid() % 1000000);
  std::string text(preload_write_settings(&settings, nullptr, 0), '\0');
  preload_write_settings(&settings, text.data(), text.size() + 1);
  return text;
}

}  // namespace

run_plan make_plan(const run_options& options, const std::string& program) {
  run_plan plan;
  // The user's own number needs no measurement.
  const cpu_supply supply = measure_supply(!options.policy.threads);
  plan.cap = supply.cap;
  plan.basis = supply.basis;
  plan.decision = decide(options.policy, supply);
  plan.ranks = preload_count_ranks();
  if (plan.ranks > 1 && !plan.decision.fixed) {
    for (unsigned* const number : {&plan.decision.threads, &plan.decision.active, &plan.decision.slots})
      *number = std::max(*number / plan.ranks, options.policy.minimum);
    plan.decision.reason += fmt::format("; shared by {} MPI ranks", plan.ranks);
  }
  choose_library(plan, options, program);
  SUKIMA_ASSERT(plan.decision.threads >= 1 && plan.cap >= 1, "a program has a CPU and a thread");
  SUKIMA_ASSERT(plan.library.empty() != plan.obstacle.empty(),
                "a program gets the library unless something prevents it");
  plan.variables = plan_variables(plan.decision, !plan.library.empty(), read_user_variable);
  plan.settings = settings_for(plan, options);
  if (options.pin)
    plan.pinned = cpu_list_text(choose_cpus(read_topology(), allowed_cpus(), plan.decision.threads));
  return plan;
}

std::string preloaded_libraries(const run_plan& plan) {
  const char* const before = std::getenv("LD_PRELOAD");
  std::string libraries = before == nullptr ? "" : before;
  const std::string own = plan.library.string();
  std::string names = libraries;
  std::ranges::replace(names, ':', ' ');  // the loader separates names at both
  if ((" " + names + " ").find(" " + own + " ") == std::string::npos)
    libraries += (libraries.empty() ? "" : ":") + own;
  return libraries;
}

std::vector<std::string> changed_variables(const run_plan& plan, const std::string& log) {
  std::vector<std::string> all;
  std::string names;
  for (const variable& v : plan.variables.set) {
    all.push_back(v.name + "=" + v.value);
    // A variable that also contains a value of the user counts as the user's.
    if (read_user_variable(v.name.c_str()) == nullptr) names += (names.empty() ? "" : " ") + v.name;
  }
  all.push_back(fmt::format("{}={}", list_variable, names));
  if (!plan.library.empty()) {
    all.push_back("LD_PRELOAD=" + preloaded_libraries(plan));
    all.push_back(PRELOAD_VARIABLE "=" + plan.settings + (log.empty() ? "" : " log=" + log));
  }
  return all;
}

}  // namespace sukima::cli::run
