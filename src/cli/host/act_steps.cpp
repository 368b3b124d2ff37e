// SPDX-License-Identifier: Apache-2.0
// Steps of the actions of `sukima host` that change something; see act_steps.hpp.
#include "host/act_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <host/shared/source.hpp>
#include <nlohmann/json.hpp>

#include "host/input.hpp"
#include "shared/console.hpp"

namespace sukima::cli::host {
namespace {

std::string sentence_of(const model::reverted& one) {
  const std::string subject =
      fmt::format("{}: {} ({})", one.change.vm, model::name_of(one.change.kind), one.change.target);
  const std::string detail = one.detail.empty() ? "" : ": " + one.detail;
  if (one.outcome == "undone") return fmt::format("{} is {} again{}", subject, one.change.before, detail);
  if (one.outcome == "left") return fmt::format("{} was left as it is{}", subject, detail);
  if (one.outcome == "gone") return fmt::format("{} is gone", subject);
  if (one.outcome == "ended") return fmt::format("{} has ended{}", subject, detail);
  return fmt::format("{} could not be undone{}", subject, detail);
}

}  // namespace

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

std::unique_ptr<model::actuator> plug_of(const model::steering& how) {
  if (how.domain.empty()) return model::make_qmp_vcpus(how.monitor);
  try {
    return model::make_libvirt_vcpus(how.connect, how.domain);
  } catch (const model::source_error& error) {
    throw process::usage_error(error.what());
  }
}

model::journal open_journal(const act_options& options, model::journal_use use) {
  try {
    return model::journal(options.journal, use);
  } catch (const model::journal_error& error) {
    throw process::usage_error(error.what());
  }
}

bool undo(model::journal& written, const line_format& format, const std::vector<std::string>& vms) {
  bool all = written.unreadable() == 0;
  if (!all)
    complain(fmt::format(
        "{} of the lines of the journal {} cannot be understood; the first of them is line {}; "
        "check whether it names a value that is still set, restore the old value, and delete the line",
        written.unreadable(), written.file().string(), written.first_unreadable()));
  std::string unwritten;
  for (const model::reverted& one : model::revert(written, {}, vms)) {
    all = all && one.outcome != "in effect" && one.unwritten.empty();
    if (!one.unwritten.empty()) unwritten = one.unwritten;
    print_line(format,
               {{"part", "host"},
                {"vm", one.change.vm},
                {"what", model::name_of(one.change.kind)},
                {"target", one.change.target},
                {"before", one.change.after},
                {"after", one.change.before},
                {"outcome", one.outcome},
                {"reason", one.detail}},
               sentence_of(one));
  }
  if (!unwritten.empty()) complain(unwritten);
  return all;
}

}  // namespace sukima::cli::host
