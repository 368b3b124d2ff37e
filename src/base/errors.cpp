// SPDX-License-Identifier: Apache-2.0
#include "shared/errors.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "shared/executable.hpp"
#include "shared/limit_advice.hpp"

namespace sukima::process {
namespace {

std::string reason_of(const std::string& program, int error) {
  if (error != ENOENT) return std::strerror(error) + std::string(advice_on_limit(error));
  if (const auto file = find_program(program, std::getenv("PATH"))) return trouble_with_interpreter(*file);
  return "there is no such program; check its name and PATH";
}

}  // namespace

start_error::start_error(const std::string& program, int error)
    : std::runtime_error("'" + program + "' cannot be started: " + reason_of(program, error)),
      code_(error == ENOENT ? exit_not_found : exit_not_startable) {}

}  // namespace sukima::process
