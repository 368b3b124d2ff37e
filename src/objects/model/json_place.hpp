// SPDX-License-Identifier: Apache-2.0
// Reads the JSON of descriptions and plans.
#pragma once

#include <base/shared/json_place.hpp>
#include <base/shared/parse_json.hpp>

#include "shared/description.hpp"

namespace sukima::objects::model {

using nlohmann::json;

/// The largest capacity of a stream that a file may name, in messages.
inline constexpr double most_capacity = 4294967296.0;

/// A place in a description or a plan, which names itself in errors.
class place : public json_place<place, description_error> {
 public:
  place(const json& value, std::string where, const char* root = "the description")
      : json_place(value, std::move(where), root) {}
  void expect_members(std::initializer_list<const char*> known) const {
    expect_only(known, "docs/objects-planning.md");
  }
};

}  // namespace sukima::objects::model
