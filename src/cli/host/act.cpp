// SPDX-License-Identifier: Apache-2.0
// The actions of `sukima host` that change something; see act.hpp.
#include "host/act.hpp"

#include <fmt/format.h>
#include <base/shared/clock.hpp>
#include <base/shared/parse_number.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <host/shared/source.hpp>
#include <host/shared/steering.hpp>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "host/act_steps.hpp"
#include "shared/console.hpp"

namespace sukima::cli::host {
namespace {

using nlohmann::json;

/// Time between two checks whether an act took effect.
constexpr std::chrono::milliseconds between_looks{100};

/// Parses a number of CPUs or a weight: digits with at most one point.
double number_of(const std::string& text, double least, double most, const char* quantity) {
  const auto value = parse_number<double>(text, std::chars_format::fixed);
  if (!value || !(*value >= least && *value <= most))
    throw process::usage_error(
        fmt::format("'{}' is not a {}: give a number from {:g} to {:g}", text, quantity, least, most));
  return *value;
}

/// The setting that `act` must make.
struct requested_setting {
  model::act_kind kind = model::act_kind::cap;
  std::unique_ptr<model::actuator> by;
  std::string value;
};

/// \throws usage_error, act_error
requested_setting setting_of(const model::steering& how, const std::string& kind, const std::string& value) {
  if (kind == "plug") {
    // Only digits are allowed; number_of would also accept 2.0.
    const double count = number_of(value, how.least, how.most, "number of virtual CPUs in its bounds");
    if (value.find('.') != std::string::npos)
      throw process::usage_error(
          fmt::format("'{}' is not a number of virtual CPUs: give a whole number", value));
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

/// \throws act_error  the value cannot be set
void print_planned_value(const requested_setting& setting, const std::string& name,
                         const line_format& format) {
  const std::string target = setting.by->target();
  const auto present = setting.by->present();
  if (!present) throw model::act_error(fmt::format("{} does not exist", target));
  if (const model::feasibility found = setting.by->can(setting.value); !found.possible)
    throw model::act_error(found.why);
  print_line(format,
             {{"part", "host"},
              {"vm", name},
              {"what", model::name_of(setting.kind)},
              {"target", target},
              {"before", *present},
              {"after", setting.value},
              {"dry_run", true}},
             fmt::format("{}: {} is {} and would be {}; nothing was set", name,
                         setting.kind == model::act_kind::plug ? "the number of virtual CPUs" : target,
                         *present, setting.value));
}

/// Makes the setting, and waits for its proof up to the deadline of acts. \throws act_error
void set_and_prove(const requested_setting& setting, const std::string& name, model::journal& written,
                   const line_format& format) {
  model::actor one(written);
  const auto done = one.apply(*setting.by, name, setting.kind, setting.value, steady_seconds());
  model::proof found = one.verify(*setting.by, done, steady_seconds());
  for (; found == model::proof::waiting; found = one.verify(*setting.by, done, steady_seconds()))
    std::this_thread::sleep_for(between_looks);
  const bool plugs = setting.kind == model::act_kind::plug;
  if (found != model::proof::proved && plugs)
    throw model::act_error(
        fmt::format("{}: the virtual CPUs are plugged in, but the guest does not use them; write 1 to their "
                    "/sys/devices/system/cpu/cpuN/online in it, or let its udev do that",
                    name));
  if (found != model::proof::proved) {
    std::string trouble;
    const std::string outcome = one.undo(*setting.by, done.number, trouble, model::last_writer::sukima);
    throw model::act_error(fmt::format(
        "{} does not accept {}{}", setting.by->target(), setting.value,
        outcome == "undone" ? ""
                            : fmt::format(", and was not set back to {}: {}", done.change.before, trouble)));
  }
  print_line(format,
             {{"part", "host"},
              {"vm", name},
              {"what", model::name_of(setting.kind)},
              {"target", setting.by->target()},
              {"before", done.change.before},
              {"after", done.change.after}},
             plugs ? fmt::format("{}: the virtual CPUs were {} and are {} until it ends", name,
                                 done.change.before, done.change.after)
                   : fmt::format("{}: {} was {} and is {}; sukima host revert undoes it", name,
                                 setting.by->target(), done.change.before, done.change.after));
}

}  // namespace

int set_value(const act_options& options) {
  if (options.arguments.size() != 3)
    throw process::usage_error(
        "an act needs a virtual machine, a kind and a value: sukima host act VM cap 1.5");
  const std::string &name = options.arguments[0], &kind = options.arguments[1];
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
    const requested_setting setting = setting_of(how, kind, options.arguments[2]);
    if (options.dry_run) {
      print_planned_value(setting, name, options.format);
      return process::exit_success;
    }
    model::journal written = open_journal(options, model::journal_use::acting);
    set_and_prove(setting, name, written, options.format);
  } catch (const model::description_error& error) {
    throw process::usage_error(fmt::format("{}: {}", options.config, error.what()));
  } catch (const model::act_error& error) {
    complain(error.what());
    return process::exit_failure;
  }
  return process::exit_success;
}

int revert(const act_options& options) {
  std::error_code unknown;
  if (const auto kind = std::filesystem::status(options.journal, unknown).type();
      kind == std::filesystem::file_type::not_found) {
    // Opening the journal would create it and its folder.
    if (options.journal == model::default_journal && options.arguments.empty()) return process::exit_success;
    throw process::usage_error(
        fmt::format("there is no journal {}; nothing was undone, give another --journal", options.journal));
  }
  model::journal written = open_journal(options, model::journal_use::undoing);
  for (const std::string& name : options.arguments)
    if (std::ranges::none_of(written.in_effect(),
                             [&](const auto& one) { return one.second.change.vm == name; }))
      throw process::usage_error(fmt::format(
          "no act on '{}' is in effect; sukima host status lists those that are. Nothing was undone", name));
  return undo(written, options.format, options.arguments) ? process::exit_success : process::exit_failure;
}

}  // namespace sukima::cli::host
