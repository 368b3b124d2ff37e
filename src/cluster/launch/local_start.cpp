// SPDX-License-Identifier: Apache-2.0
#include "launch/local_start.hpp"

#include "entry/environment.hpp"

#include <utility>

namespace sukima::cluster {

local_start::local_start(const launch_request& request, std::string token, std::string report_mark,
                         const ended_nodes* ended)
    : request_(request),
      token_(std::move(token)),
      report_mark_(std::move(report_mark)),
      ended_(ended),
      place_(request.ports) {
  report_address(request_, place_.address);
}

child_start local_start::node(unsigned number) const {
  child_start how;
  how.program = request_.program;
  how.report_mark = report_mark_;
  if (request_.variables) how.variables = request_.variables(number);
  const auto set = [&](const char* name, const std::string& value) {
    how.variables.push_back(std::string(name) + "=" + value);
  };
  set(variable_nodes, std::to_string(request_.nodes));
  set(variable_node, std::to_string(number));
  set(variable_room, std::to_string(request_.room));
  set(variable_address, place_.address);
  set(variable_token, token_);
  if (request_.ports) set(variable_port, write_ports(*request_.ports));
  set(variable_hope, request_.hope ? "1" : "0");
  const auto inherit = [&](const char* name, int descriptor) {
    set(name, std::to_string(descriptor));
    how.inherited.push_back(descriptor);
  };
  if (number == 0) inherit(variable_listen, place_.socket.get());
  if (ended_ != nullptr) inherit(variable_ended, ended_->get());
  return how;
}

}  // namespace sukima::cluster
