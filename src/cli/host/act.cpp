// SPDX-License-Identifier: Apache-2.0
// The actions of `sukima host` that change something; see act.hpp.
#include "host/act.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <host/shared/source.hpp>
#include <host/shared/steering.hpp>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "host/input.hpp"
#include "shared/console.hpp"

namespace sukima::cli::host {
namespace {

namespace model = sukima::host;
using nlohmann::json;

std::atomic<bool> is_stopped = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

/// Between two looks for the proof of an act.
constexpr std::chrono::milliseconds between_looks{100};

void stop_session(int) { is_stopped = true; }

void print_line(const json& event, const std::string& text, bool as_json) {
  fmt::print("{}\n", as_json ? event.dump(-1, ' ', false, json::error_handler_t::replace) : text);
  std::fflush(stdout);
}

model::description read_config(const act_options& options) {
  const std::string text =
      read_input(options.config,
                 fmt::format("the description '{}' of the machines that may be acted on", options.config),
                 "give another --config");
  try {
    return model::parse_description(text);
  } catch (const model::description_error& error) {
    throw process::usage_error(fmt::format("{}: {}", options.config, error.what()));
  }
}

std::size_t find_vm(const model::description& host, const std::string& name, const act_options& options) {
  const auto found = std::ranges::find(host.vms, name, &model::vm::name);
  if (found == host.vms.end())
    throw process::usage_error(
        fmt::format("{} has no virtual machine '{}'; sukima host estimate {} lists them", options.config,
                    name, options.config));
  return static_cast<std::size_t>(found - host.vms.begin());
}

/// Which machines are optimised.
std::vector<bool> chosen_of(const model::description& host, const std::vector<model::steering>& all,
                            const act_options& options) {
  std::vector<bool> chosen(all.size(), false);
  const auto may = [&](std::size_t j) { return all[j].threads || all[j].vcpus; };
  for (const std::string& name : options.words) {
    const std::size_t j = find_vm(host, name, options);
    if (!may(j))
      throw process::usage_error(
          fmt::format("vms[{}].act: '{}' may not be acted on; add \"act\": [\"threads\"] in {}", j, name,
                      options.config));
    chosen[j] = true;
  }
  for (std::size_t j = 0; options.words.empty() && j < all.size(); ++j) chosen[j] = may(j);
  if (std::ranges::count(chosen, true) == 0)
    throw process::usage_error(
        fmt::format("no virtual machine of {} has 'act': nothing may be optimised", options.config));
  return chosen;
}

/// Whatever plugs virtual CPUs into this machine. \throws usage_error
std::unique_ptr<model::actuator> plug_of(const model::steering& how) {
  if (how.domain.empty()) return model::make_qmp_vcpus(how.monitor);
  try {
    return model::make_libvirt_vcpus(how.connect, how.domain);
  } catch (const model::source_error& error) {
    throw process::usage_error(error.what());
  }
}

std::vector<model::session_vm> open_vms(const model::description& host, const act_options& options) {
  const auto all = model::steering_of(host);
  const auto chosen = chosen_of(host, all, options);
  std::vector<model::session_vm> vms;
  for (std::size_t j = 0; j < all.size(); ++j) {
    model::session_vm one{.how = all[j], .chosen = chosen[j]};
    if (chosen[j])
      one.link =
          one.how.port.empty() ? model::make_file_link(one.how.file) : model::make_port_link(one.how.port);
    if (one.how.process) {
      try {
        one.counters = model::make_process_counters(*one.how.process, one.how.vcpu_threads,
                                                    host.vms[j].vcpus.size(), one.how.places);
      } catch (const model::description_error& error) {
        throw model::description_error(fmt::format("vms[{}].{}", j, error.what()));
      }
    }
    if (chosen[j] && one.how.vcpus && !one.how.threads && one.how.plug)
      one.ceiling = std::make_unique<model::vcpu_ceiling>(plug_of(one.how), model::make_calling_thread());
    vms.push_back(std::move(one));
  }
  return vms;
}

std::string sentence_of(const model::reverted& one) {
  const std::string what =
      fmt::format("{}: {} ({})", one.what.vm, model::name_of(one.what.kind), one.what.target);
  const std::string detail = one.detail.empty() ? "" : ": " + one.detail;
  if (one.outcome == "undone") return fmt::format("{} is {} again{}", what, one.what.before, detail);
  if (one.outcome == "left") return fmt::format("{} was left as it is{}", what, detail);
  if (one.outcome == "gone") return fmt::format("{} is gone", what);
  if (one.outcome == "ended") return fmt::format("{} has ended{}", what, detail);
  return fmt::format("{} could not be undone{}", what, detail);
}

/// Undoes what is in effect, and says so. \returns whether nothing is left, as far as the journal shows
/// \param vms  only of these machines; empty: of all
bool undo(model::journal& written, bool as_json, const std::vector<std::string>& vms = {}) {
  bool all = written.unreadable() == 0;
  if (!all)
    complain(
        fmt::format("{} of the lines of the journal {} cannot be understood, the first of them is line {}; "
                    "look whether it names a value that is still set, set the old one, and delete the line",
                    written.unreadable(), written.file().string(), written.first_unreadable()));
  std::string unwritten;
  for (const model::reverted& one : model::revert(written, {}, vms)) {
    all = all && one.outcome != "in effect" && one.unwritten.empty();
    if (!one.unwritten.empty()) unwritten = one.unwritten;
    print_line({{"part", "host"},
                {"vm", one.what.vm},
                {"what", model::name_of(one.what.kind)},
                {"target", one.what.target},
                {"before", one.what.after},
                {"after", one.what.before},
                {"outcome", one.outcome},
                {"reason", one.detail}},
               sentence_of(one), as_json);
  }
  if (!unwritten.empty()) complain(unwritten);
  return all;
}

model::journal open_journal(const act_options& options, model::journal_use use) {
  try {
    return model::journal(options.journal, use);
  } catch (const model::journal_error& error) {
    throw process::usage_error(error.what());
  }
}

void run(model::session& running, bool as_json) {
  struct sigaction action{};
  action.sa_handler = stop_session;  // without SA_RESTART: waiting ends
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  model::run_session(
      running, is_stopped,
      [&](const model::verdict& one) {
        print_line(model::json_of(one),
                   fmt::format("{}: {} {} -> {}: {}", one.vm, one.what, one.before, one.after, one.reason),
                   as_json);
      },
      [&](const std::string& sentence) {
        print_line({{"part", "host"}, {"reason", sentence}}, sentence, as_json);
      });
}

/// A number of CPUs or a weight, as digits with at most one point.
double number_of(const std::string& text, double least, double most, const char* what) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= least && value <= most))
    throw process::usage_error(
        fmt::format("'{}' is no {}: give a number from {:g} to {:g}", text, what, least, most));
  return value;
}

/// The setting that `act` makes.
struct wanted_act {
  model::act_kind kind = model::act_kind::cap;
  std::unique_ptr<model::actuator> by;
  std::string value;
};

/// \throws usage_error, act_error
wanted_act find_act(const model::steering& how, const std::string& kind, const std::string& value) {
  if (kind == "plug") {
    // Only digits: number_of would take 2.0, too.
    const double count = number_of(value, how.least, how.most, "number of virtual CPUs in its bounds");
    if (value.find('.') != std::string::npos)
      throw process::usage_error(fmt::format("'{}' is no number of virtual CPUs: give a whole one", value));
    return {model::act_kind::plug, plug_of(how), std::to_string(static_cast<unsigned>(count))};
  }
  if (kind == "weight" && value.find('.') != std::string::npos)
    throw process::usage_error(fmt::format("'{}' is not a weight: give a whole number", value));
  const auto setting =
      kind == "cap"
          ? model::cap_setting(how.cgroup, value == "none"
                                               ? std::nullopt
                                               : std::optional(number_of(value, 0.01, 65536, "cap in CPUs")))
          : model::weight_setting(how.cgroup, static_cast<unsigned>(number_of(value, 1, 262144, "weight")));
  return {kind == "cap" ? model::act_kind::cap : model::act_kind::weight,
          model::make_control_file(setting.file), setting.value};
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// \throws act_error  it cannot be set
void say_what_would_be_set(const wanted_act& wanted, const std::string& name, bool as_json) {
  const std::string target = wanted.by->target();
  const auto present = wanted.by->present();
  if (!present) throw model::act_error(fmt::format("{} is not there", target));
  if (const model::reach found = wanted.by->can(wanted.value); !found.possible)
    throw model::act_error(found.why);
  print_line({{"part", "host"},
              {"vm", name},
              {"what", model::name_of(wanted.kind)},
              {"target", target},
              {"before", *present},
              {"after", wanted.value},
              {"dry_run", true}},
             fmt::format("{}: {} is {} and would be {}; nothing was set", name,
                         wanted.kind == model::act_kind::plug ? "the number of virtual CPUs" : target,
                         *present, wanted.value),
             as_json);
}

/// Does it, and waits for the proof, up to the deadline of acts. \throws act_error
void set_and_prove(const wanted_act& wanted, const std::string& name, model::journal& written, bool as_json) {
  model::actor one(written);
  const auto done = one.apply(*wanted.by, name, wanted.kind, wanted.value, seconds_now());
  model::proof found = one.verify(*wanted.by, done, seconds_now());
  for (; found == model::proof::waiting; found = one.verify(*wanted.by, done, seconds_now()))
    std::this_thread::sleep_for(between_looks);
  const bool plugs = wanted.kind == model::act_kind::plug;
  if (found != model::proof::proved && plugs)
    throw model::act_error(
        fmt::format("{}: the virtual CPUs are plugged in, but the guest does not use them; write 1 to their "
                    "/sys/devices/system/cpu/cpuN/online in it, or let its udev do that",
                    name));
  if (found != model::proof::proved) {
    std::string trouble;
    const std::string outcome = one.undo(*wanted.by, done.number, trouble, model::setter::us);
    throw model::act_error(fmt::format(
        "{} does not take {}{}", wanted.by->target(), wanted.value,
        outcome == "undone" ? ""
                            : fmt::format(", and was not set back to {}: {}", done.what.before, trouble)));
  }
  print_line({{"part", "host"},
              {"vm", name},
              {"what", model::name_of(wanted.kind)},
              {"target", wanted.by->target()},
              {"before", done.what.before},
              {"after", done.what.after}},
             plugs ? fmt::format("{}: the virtual CPUs were {} and are {} until it ends", name,
                                 done.what.before, done.what.after)
                   : fmt::format("{}: {} was {} and is {}; sukima host revert undoes it", name,
                                 wanted.by->target(), done.what.before, done.what.after),
             as_json);
}

}  // namespace

int optimise(const act_options& options) {
  const model::description host = read_config(options);
  model::session_options how;
  how.dry_run = options.dry_run;
  how.by = options.by == "use" ? model::optimise_by::use : model::optimise_by::progress;
  how.seed = std::random_device()();
  try {
    std::optional<model::journal> written;
    // First, so that a second command leaves the ports and files of the first one alone.
    if (!options.dry_run) written.emplace(open_journal(options, model::journal_use::acting));
    auto vms = open_vms(host, options);
    if (written) undo(*written, options.json);  // what a killed one has left
    model::session running(host, std::move(vms), how, written ? &*written : nullptr);
    run(running, options.json);
  } catch (const model::description_error& error) {
    throw process::usage_error(fmt::format("{}: {}", options.config, error.what()));
  }
  return process::exit_success;
}

int set_value(const act_options& options) {
  if (options.words.size() != 3)
    throw process::usage_error(
        "an act needs a virtual machine, a kind and a value: sukima host act VM cap 1.5");
  const std::string &name = options.words[0], &kind = options.words[1];
  if (kind != "cap" && kind != "weight" && kind != "plug")
    throw process::usage_error(fmt::format("'{}' cannot be set: choose cap, weight or plug", kind));
  const model::description host = read_config(options);
  const std::size_t j = find_vm(host, name, options);
  try {
    const model::steering how = model::steering_of(host)[j];
    if (!(kind == "cap" ? how.cap : kind == "weight" ? how.weight : how.plug))
      throw process::usage_error(
          fmt::format("vms[{}].act: {} of '{}' may not be set; add \"{}\" to its act in {}", j,
                      kind == "plug" ? "the virtual CPUs" : "the " + kind, name, kind, options.config));
    const wanted_act wanted = find_act(how, kind, options.words[2]);
    if (options.dry_run) {
      say_what_would_be_set(wanted, name, options.json);
      return process::exit_success;
    }
    model::journal written = open_journal(options, model::journal_use::acting);
    set_and_prove(wanted, name, written, options.json);
  } catch (const model::description_error& error) {
    throw process::usage_error(fmt::format("{}: {}", options.config, error.what()));
  } catch (const model::act_error& error) {
    complain(error.what());
    return process::exit_failure;
  }
  return process::exit_success;
}

int revert(const act_options& options) {
  model::journal written = open_journal(options, model::journal_use::undoing);
  for (const std::string& name : options.words)
    if (std::ranges::none_of(written.in_effect(),
                             [&](const auto& one) { return one.second.what.vm == name; }))
      throw process::usage_error(fmt::format(
          "no act on '{}' is in effect; sukima host status lists those that are. Nothing was undone", name));
  return undo(written, options.json, options.words) ? process::exit_success : process::exit_failure;
}

}  // namespace sukima::cli::host
