// SPDX-License-Identifier: Apache-2.0
#include "shared/errors.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace sukima::process {

start_error::start_error(const std::string& program, int error)
    : std::runtime_error(fmt::format(
          "'{}' cannot be started: {}", program,
          error == ENOENT ? "there is no such program; check its name and PATH" : std::strerror(error))),
      code_(error == ENOENT ? exit_not_found : exit_not_startable) {}

}  // namespace sukima::process
