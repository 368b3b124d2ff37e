// SPDX-License-Identifier: Apache-2.0
// `sukima host optimise`; see act.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <host/shared/discovery.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "host/act_steps.hpp"
#include "host/metrics.hpp"
#include "host/stop.hpp"
#include "shared/console.hpp"

namespace sukima::cli::host {
namespace {

using namespace std::chrono_literals;

/// Seconds between two searches for machines that started or ended.
constexpr double seconds_between_looks = 5;
/// A reading that takes longer is left for the next search, because guests wait for their numbers.
constexpr auto look_patience = 100ms;
/// The first reading may take longer, because it connects to libvirt.
constexpr auto first_patience = 5s;

bool may_be_optimised(const model::steering& how) { return how.threads || how.vcpus; }

/// Returns which machines are optimised.
std::vector<bool> chosen_of(const model::description& host, const std::vector<model::steering>& all,
                            const act_options& options) {
  std::vector<bool> chosen(all.size(), false);
  for (const std::string& name : options.arguments) {
    const std::size_t j = find_vm(host, name, options);
    if (!may_be_optimised(all[j]))
      throw process::usage_error(
          fmt::format("vms[{}].act: '{}' may not be acted on; add \"act\": [\"threads\"] in {}", j, name,
                      options.config));
    chosen[j] = true;
  }
  for (std::size_t j = 0; options.arguments.empty() && j < all.size(); ++j)
    chosen[j] = may_be_optimised(all[j]);
  if (std::ranges::count(chosen, true) == 0)
    throw process::usage_error(
        fmt::format("no virtual machine of {} has 'act': nothing may be optimised", options.config));
  return chosen;
}

/// \throws description_error
model::session_vm open_vm(const model::vm& described, const model::steering& how, bool chosen) {
  model::session_vm one{.how = how, .chosen = chosen};
  if (how.process) {
    // An unplugged vCPU has no thread. The description lists it as offline, and not only at the end.
    const auto offline = std::ranges::count(described.vcpus, false, &model::vcpu::online);
    one.counters = model::make_process_counters(*how.process, how.vcpu_threads, described.vcpus.size(),
                                                static_cast<std::size_t>(offline));
  }
  if (chosen) one.link = how.port.empty() ? model::make_file_link(how.file) : model::make_port_link(how.port);
  if (chosen && how.vcpus && !how.threads && how.plug)
    one.ceiling = std::make_unique<model::vcpu_ceiling>(plug_of(how), model::make_calling_thread());
  return one;
}

std::vector<model::session_vm> open_vms(const model::description& host, const act_options& options) {
  const auto all = model::steering_of(host);
  const auto chosen = chosen_of(host, all, options);
  std::vector<model::session_vm> vms;
  for (std::size_t j = 0; j < all.size(); ++j) {
    try {
      vms.push_back(open_vm(host.vms[j], all[j], chosen[j]));
    } catch (const model::description_error& error) {
      throw model::description_error(fmt::format("vms[{}].{}", j, error.what()));
    }
  }
  return vms;
}

/// Opens the destination of the metrics, and prints it. \returns null if no metrics are wanted
std::unique_ptr<model::metrics_output> open_metrics(const act_options& options) {
  if (options.metrics.empty()) return nullptr;
  auto output = open_metrics_at(options.metrics);
  print_line(options.format, {{"part", "host"}, {"metrics", output->place()}},
             fmt::format("metrics are at {}", output->place()));
  return output;
}

/// Finds the machines of libvirt, and updates the session when they change.
class found_machines {
 public:
  /// \throws usage_error
  explicit found_machines(const act_options& options) : options_(options) {
    try {
      finder_.emplace(model::open_libvirt(options.connect));
      first_ = *finder_->look(std::chrono::steady_clock::now() + first_patience);
    } catch (const model::source_error& error) {
      throw process::usage_error(error.what());
    }
    finder_->look_again();
  }

  /// Returns the pCPUs that were found. The session begins without machines; the first search adds them.
  model::description without_machines() const {
    model::description host = first_;
    host.vms.clear();
    return host;
  }

  /// Passes the present machines to the session if a search is due.
  void follow(model::session& running, double now, const std::function<void(const std::string&)>& say) {
    if (looked_at_ && now - *looked_at_ < seconds_between_looks) return;
    looked_at_ = now;
    const auto host = finder_->look(std::chrono::steady_clock::now() + look_patience);
    for (const std::string& note : finder_->take_notes()) say(note);
    if (!host) return;
    std::erase_if(failures_, [&](const auto& one) {
      return std::ranges::find(host->vms, one.first, &model::vm::name) == host->vms.end();
    });
    const auto all = model::steering_of(*host);
    running.replace(*host, all, [&](std::size_t j) { return open(host->vms[j], all[j], say); }, now);
  }

 private:
  model::session_vm open(const model::vm& described, const model::steering& how,
                         const std::function<void(const std::string&)>& say) {
    const bool wanted = options_.arguments.empty() ||
                        std::ranges::find(options_.arguments, described.name) != options_.arguments.end();
    const bool chosen = may_be_optimised(how) && wanted;
    try {
      auto opened = open_vm(described, how, chosen);
      failures_.erase(described.name);
      say(fmt::format(
          "{}: {}", described.name,
          chosen ? "it is optimised from now on" : "it is not optimised, but what it uses counts"));
      return opened;
    } catch (const model::description_error& error) {
      // Its process may have just started or ended; the next search shows which.
      finder_->look_again();
      if (++failures_[described.name] == 2)
        say(fmt::format("{}: it cannot be measured: {}", described.name, error.what()));
      return {.how = how};
    }
  }

  const act_options& options_;
  std::optional<model::discovery> finder_;
  model::description first_;
  std::optional<double> looked_at_;
  std::map<std::string, unsigned> failures_;  ///< how often each machine could not be opened, by its name
};

/// \param found  null: the machines are those of the description
void run(model::session& running, const line_format& format, model::metrics_output* metrics,
         found_machines* found) {
  const auto say = [&](const std::string& sentence) {
    print_line(format, {{"part", "host"}, {"reason", sentence}}, sentence);
  };
  model::session_watch watch;
  watch.decided = [&](const model::verdict& one) {
    print_line(format, model::json_of(one),
               fmt::format("{}: {} {} -> {}: {}", one.vm, one.quantity, one.before, one.after, one.reason));
  };
  watch.said = say;
  if (metrics != nullptr)
    watch.cycled = [&](double seconds) {
      model::host_metrics now = running.metrics();
      now.cycle_seconds = seconds;
      if (const auto failed = metrics->publish(model::metrics_text(now))) say(*failed);
    };
  if (found != nullptr) watch.begins = [&](double now) { found->follow(running, now, say); };
  model::run_session(running, catch_stop_signals(), watch);
}

}  // namespace

int optimise(const act_options& options) {
  std::optional<found_machines> found;
  if (!options.connect.empty()) found.emplace(options);
  const model::description host = found ? found->without_machines() : read_config(options);
  model::session_options how;
  how.dry_run = options.dry_run;
  how.by = options.by == "use" ? model::optimise_by::use : model::optimise_by::progress;
  how.seed = std::random_device()();
  how.waits_for_machines = found.has_value();
  try {
    std::optional<model::journal> written;
    // Opens the journal first, so that a second command leaves the ports and files of the first one alone.
    if (!options.dry_run) written.emplace(open_journal(options, model::journal_use::acting));
    // Catches signals before it prints the first line: the reader of that line may send a signal, which must
    // end the session in order.
    catch_stop_signals();
    const auto metrics = open_metrics(options);
    auto vms = found ? std::vector<model::session_vm>() : open_vms(host, options);
    if (written) undo(*written, options.format);  // acts that a killed command has left
    model::session running(host, std::move(vms), how, written ? &*written : nullptr);
    run(running, options.format, metrics.get(), found ? &*found : nullptr);
  } catch (const model::description_error& error) {
    throw process::usage_error(fmt::format("{}: {}", found ? "libvirt" : options.config, error.what()));
  }
  return process::exit_success;
}

}  // namespace sukima::cli::host
