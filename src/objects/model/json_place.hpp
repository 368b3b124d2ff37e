// SPDX-License-Identifier: Apache-2.0
// Reading the JSON of descriptions and plans.
#pragma once

#include <json/shared/json_place.hpp>

#include "shared/description.hpp"

namespace sukima::objects::model {

using nlohmann::json;

/// \param what the text is, for messages \throws description_error if it is no JSON
inline json parse_json(std::string_view text, const std::string& what) {
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    throw description_error(what + " is no JSON: " + error.what());
  }
}

class place : public json_place<place, description_error> {
 public:
  place(const json& value, std::string where, const char* root = "the description")
      : json_place(value, std::move(where), root) {}
  void expect_members(std::initializer_list<const char*> known) const {
    expect_only(known, "docs/objects-planning.md");
  }
};

}  // namespace sukima::objects::model
