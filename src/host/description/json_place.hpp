// SPDX-License-Identifier: Apache-2.0
// Parses the JSON of a host's description.
#pragma once

#include <base/shared/json_place.hpp>
#include <base/shared/parse_json.hpp>

#include "shared/description.hpp"

namespace sukima::host {

using nlohmann::json;

class place : public json_place<place, description_error> {
 public:
  place(const json& value, std::string where, const char* root = "the description")
      : json_place(value, std::move(where), root) {}

  /// The members with other names as the text of a JSON object; empty if there are none.
  std::string others(std::initializer_list<std::string_view> known) const {
    json rest = json::object();
    for (const auto& [name, content] : value().items()) {
      bool found = false;
      for (const std::string_view one : known) found = found || name == one;
      if (!found) rest[name] = content;
    }
    return rest.empty() ? std::string() : rest.dump();
  }
  std::uint32_t id() const { return static_cast<std::uint32_t>(whole(0, most_id)); }
  std::vector<std::uint32_t> cpus() const {
    try {
      return parse_cpu_list(text());
    } catch (const description_error& error) {
      const std::string problem = error.what();
      if (!value().is_string()) throw;
      fail(problem);
    }
  }
};

}  // namespace sukima::host
