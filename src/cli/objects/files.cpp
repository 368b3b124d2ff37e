// SPDX-License-Identifier: Apache-2.0
// Reads and writes files; see files.hpp.
#include "objects/files.hpp"

#include <capacity/shared/output_file.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <optional>
#include <utility>

#include <base/shared/read_text.hpp>
#include "capacity/profile.hpp"
#include "shared/console.hpp"

namespace sukima::cli::objects {

namespace {

/// Maximum length of a file in bytes. The description of a thousand objects takes a third of a MiB.
constexpr std::size_t longest_file = std::size_t{64} << 20;

}  // namespace

std::string read_file(const std::string& path, const std::string& role) {
  std::optional<std::string> text =
      path == "-" ? read_all(std::cin, longest_file) : read_file_text(path, longest_file);
  if (!text)
    throw process::usage_error(
        fmt::format("{} '{}' cannot be read: {}; give another file", role, path, read_error()));
  if (text->size() > longest_file)
    throw process::usage_error(fmt::format("{} '{}' is longer than 64 MiB; give another file", role, path));
  return *std::move(text);
}

std::string read_profile(const std::string& path) {
  std::string error(512, '\0');
  const profile_file profile(sukima_capacity_profile_read(path.c_str(), error.data(), error.size()));
  if (!profile) throw process::usage_error(error.c_str());
  const sukima_capacity_profile_state state = sukima_capacity_profile_check(profile.get());
  if (state != SUKIMA_CAPACITY_PROFILE_VALID)
    throw process::usage_error(fmt::format("the profile {} {}", path, state_text(state)));
  return read_file(path, "the machine profile");
}

model::cost_table costs_in(const std::string& profile, const std::string& path) {
  try {
    return model::parse_costs(profile);
  } catch (const model::costs_error& error) {
    throw model::costs_error(fmt::format("{}: {}", path, error.what()));
  }
}

model::cost_table read_costs() {
  const std::string path = profile_path();
  model::cost_table costs = costs_in(read_profile(path), path);
  if (costs.messages.empty())
    throw process::usage_error(fmt::format(
        "the profile {} does not say what messages cost: measure it with sukima objects calibrate", path));
  return costs;
}

void replace_file(const std::string& path, const std::string& text) {
  cap_output_file file;
  int error = cap_output_open(&file, path.c_str());
  if (error == 0) {
    std::fwrite(text.data(), 1, text.size(), file.stream);
    error = cap_output_close(&file, true);
  }
  if (error != 0)
    throw process::usage_error(
        fmt::format("'{}' cannot be written: {}; choose another file", path, std::strerror(error)));
}

}  // namespace sukima::cli::objects
