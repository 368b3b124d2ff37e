// SPDX-License-Identifier: Apache-2.0
// Reads files that the user names; see input.hpp.
#include "host/input.hpp"

#include <fmt/format.h>

#include <base/shared/errors.hpp>
#include <base/shared/read_text.hpp>
#include <host/shared/files.hpp>
#include <iostream>
#include <utility>

namespace sukima::cli::host {

std::string read_input(const std::string& path, const std::string& name, const std::string& advice) {
  using sukima::host::longest_input;
  auto text = path == "-" ? read_all(std::cin, longest_input) : read_file_text(path, longest_input);
  if (!text) throw process::usage_error(fmt::format("{} cannot be read: {}; {}", name, read_error(), advice));
  if (text->size() > longest_input)
    throw process::usage_error(
        fmt::format("{} is longer than {}; {}", name, sukima::host::longest_input_text, advice));
  return *std::move(text);
}

}  // namespace sukima::cli::host
