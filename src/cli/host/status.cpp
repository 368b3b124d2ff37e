// SPDX-License-Identifier: Apache-2.0
// The acts in effect; see status.hpp.
#include "host/status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <host/shared/act.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "shared/console.hpp"

namespace sukima::cli::host {
namespace {

namespace model = sukima::host;
using nlohmann::json;

/// Returns the present value if this process can read it.
std::optional<std::string> present_value(const model::act& change) {
  if (change.kind != model::act_kind::cap && change.kind != model::act_kind::weight) return std::nullopt;
  return model::make_control_file(change.target)->present();
}

std::string line_of(const model::journal::entry& one, const std::optional<std::string>& now) {
  const model::act& change = one.change;
  std::string text = fmt::format("{}: {} ({}) was {} and is {}", change.vm, model::name_of(change.kind),
                                 change.target, change.before, now ? *now : change.after);
  const bool is_file = change.kind == model::act_kind::cap || change.kind == model::act_kind::weight;
  if (is_file && !now)
    return fmt::format("{}: {} ({}) is gone", change.vm, model::name_of(change.kind), change.target);
  if (now && *now != change.after) text += fmt::format("; it was set to {}", change.after);
  if (one.last == "begun") text += "; the host has not yet observed that it took effect";
  if (one.last == "failed") text += "; the host did not observe that it took effect";
  return text;
}

}  // namespace

int status(const act_options& options) {
  try {
    const model::journal written(options.journal, model::journal_use::looking);
    const bool is_in_use = written.is_in_use();
    json acts = json::array();
    std::string text;
    for (const auto& [number, one] : written.in_effect()) {
      if (!options.arguments.empty() &&
          std::ranges::find(options.arguments, one.change.vm) == options.arguments.end())
        continue;
      const auto now = present_value(one.change);
      acts.push_back({{"vm", one.change.vm},
                      {"what", model::name_of(one.change.kind)},
                      {"target", one.change.target},
                      {"before", one.change.before},
                      {"after", one.change.after},
                      {"present", now ? json(*now) : json(nullptr)},
                      {"state", one.last}});
      text += printable(line_of(one, now)) + "\n";
    }
    std::error_code unknown;
    if (options.journal != model::default_journal && !std::filesystem::exists(options.journal, unknown))
      text = fmt::format("Nothing is in effect: there is no journal {}.\n", printable(options.journal));
    if (text.empty()) {
      // A line that cannot be understood may belong to an act in effect.
      const char* const known = written.unreadable() == 0 ? "Nothing" : "Nothing that can be read";
      text = options.arguments.empty()
                 ? fmt::format("{} is in effect.\n", known)
                 : fmt::format("{} is in effect for {}.\n", known, printable(join_words(options.arguments)));
    }
    if (is_in_use) text += "Another sukima host acts now.\n";
    const json whole{{"acts", acts}, {"acting", is_in_use}, {"unreadable", written.unreadable()}};
    fmt::print("{}",
               options.format.json ? whole.dump(2, ' ', false, json::error_handler_t::replace) + "\n" : text);
    if (written.unreadable() == 0) return process::exit_success;
    complain(
        fmt::format("{} of the lines of the journal {} cannot be understood; the first of them is line {}",
                    written.unreadable(), written.file().string(), written.first_unreadable()));
    return process::exit_failure;
  } catch (const model::journal_error& error) {
    throw process::usage_error(error.what());
  }
}

}  // namespace sukima::cli::host
