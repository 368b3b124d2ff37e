// SPDX-License-Identifier: Apache-2.0
// Lists of CPUs in Linux's format: 0-3,8.
#include <algorithm>
#include <charconv>

#include "shared/description.hpp"

namespace sukima::host {
namespace {

[[noreturn]] void refuse(std::string_view text) {
  throw description_error("'" + std::string(text.substr(0, 40)) + "' is not a list of CPUs such as '0-3,8'");
}

/// Removes a number from the front of `text` and returns it.
std::uint32_t take_id(std::string_view& text, std::string_view whole) {
  std::uint32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error == std::errc::result_out_of_range || (error == std::errc() && id > most_id))
    throw description_error("CPUs above " + std::to_string(most_id) + " are not supported");
  if (error != std::errc()) refuse(whole);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return id;
}

}  // namespace

std::vector<std::uint32_t> parse_cpu_list(std::string_view text) {
  std::vector<std::uint32_t> ids;
  std::string_view rest = text;
  for (;;) {
    const std::uint32_t first = take_id(rest, text);
    std::uint32_t last = first;
    if (rest.starts_with('-')) {
      rest.remove_prefix(1);
      last = take_id(rest, text);
    }
    // A list with more ids than exist repeats some of them, and would only use memory.
    if (last < first || ids.size() + (last - first) > 2 * std::size_t{most_id}) refuse(text);
    for (std::uint32_t id = first; id <= last; ++id) ids.push_back(id);
    if (rest.empty()) break;
    if (!rest.starts_with(',')) refuse(text);
    rest.remove_prefix(1);
  }
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  return ids;
}

std::string cpu_list_text(const std::vector<std::uint32_t>& ids) {
  std::string text;
  for (std::size_t i = 0; i < ids.size();) {
    std::size_t last = i;
    while (last + 1 < ids.size() && ids[last + 1] == ids[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(ids[i]);
    if (last > i) text += '-' + std::to_string(ids[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace sukima::host
