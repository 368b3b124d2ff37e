// SPDX-License-Identifier: Apache-2.0
#include "join.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <cluster/shared/ports.hpp>

#include <cerrno>
#include <cstdlib>

#include <base/shared/errors.hpp>
#include <base/shared/start_program.hpp>

namespace sukima::cli::cluster {

namespace {

bool is_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos || colon == 0 || text.front() == '-') return false;
  const auto port = sukima::cluster::read_ports(std::string_view(text).substr(colon + 1));
  return port && port->size() == 1;
}

}  // namespace

void join(const join_request& request) {
  if (!is_address(request.address))
    throw process::usage_error(
        fmt::format("'{}' is not an address: give HOST:PORT of node 0, as sukima cluster join "
                    "127.0.0.1:21000 -- PROGRAM ARGUMENT...",
                    request.address));
  const char* const token = std::getenv("SUKIMA_CLUSTER_TOKEN");
  if (token == nullptr || *token == 0)
    throw process::usage_error("SUKIMA_CLUSTER_TOKEN is not set: give it the token of the run");
  // Removes the variables of the run to which this process itself belongs.
  for (const char* const name :
       {"SUKIMA_CLUSTER_NODES", "SUKIMA_CLUSTER_ENDED", "SUKIMA_CLUSTER_REPORT", "SUKIMA_CLUSTER_OUTPUT"})
    unsetenv(name);
  std::vector<std::string> changed{"SUKIMA_CLUSTER_JOIN=" + request.address,
                                   fmt::format("SUKIMA_CLUSTER_HOPE={}", request.hope ? 1 : 0)};
  if (request.port) changed.push_back("SUKIMA_CLUSTER_PORT=" + *request.port);
  std::vector<std::string> program = request.program;
  std::vector<std::string> environment = process::environment_with(changed);
  execvpe(program[0].c_str(), process::pointers_to(program).data(), process::pointers_to(environment).data());
  throw process::start_error(program[0], errno);
}

}  // namespace sukima::cli::cluster
