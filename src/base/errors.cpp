// SPDX-License-Identifier: Apache-2.0
#include "shared/errors.hpp"

#include <cerrno>
#include <cstring>

namespace sukima::process {

start_error::start_error(const std::string& program, int error)
    : std::runtime_error(
          "'" + program + "' cannot be started: " +
          (error == ENOENT ? "there is no such program; check its name and PATH" : std::strerror(error))),
      code_(error == ENOENT ? exit_not_found : exit_not_startable) {}

}  // namespace sukima::process
