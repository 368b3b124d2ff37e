// SPDX-License-Identifier: Apache-2.0
#include "entry/environment.hpp"

#include "entry/inherited.hpp"
#include "protocol/token.hpp"

#include <base/shared/parse_number.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <string_view>

namespace sukima::cluster {

namespace {

/// \throws start_failure the text is not a whole number in [least, most]
std::uint32_t number_of(const char* name, std::string_view text, std::uint32_t least, std::uint32_t most) {
  const auto value = parse_number<std::uint32_t>(text);
  if (value && *value >= least && *value <= most) return *value;
  const std::string command = name == std::string_view(variable_join) ? "join" : "run";
  throw start_failure(std::string(name) + "=" + std::string(text) + " is wrong: give a whole number from " +
                      std::to_string(least) + " to " + std::to_string(most) +
                      ", or start the program with sukima cluster " + command);
}

/// Returns SUKIMA_CLUSTER_SILENCE in heartbeats, rounded up.
/// \throws start_failure the text is neither 0 nor an accepted number of seconds
unsigned silent_beats_of(std::string_view text, std::chrono::milliseconds period) {
  constexpr double shortest = 0.5;
  constexpr double longest = 3600;
  const auto seconds = parse_number<double>(text, std::chars_format::fixed);
  if (!seconds || !(*seconds == 0 || (*seconds >= shortest && *seconds <= longest)))
    throw start_failure(std::string(variable_silence) + "=" + std::string(text) +
                        " is wrong: give a number of seconds from 0.5 to 3600, or 0 so that no silent node "
                        "is lost");
  return static_cast<unsigned>(std::ceil(*seconds / std::chrono::duration<double>(period).count()));
}

/// \throws start_failure the text does not have one address for each node
std::vector<std::string> addresses_of(std::string_view text, unsigned nodes) {
  std::vector<std::string> all;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    all.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  const bool is_whole = all.size() == nodes &&
                        std::none_of(all.begin(), all.end(), [](const std::string& a) { return a.empty(); });
  if (!is_whole)
    throw start_failure(std::string(variable_addresses) + "=" + std::string(text) + " is wrong: give " +
                        std::to_string(nodes) + " addresses, separated by commas");
  return all;
}

/// \throws start_failure the address is not HOST:PORT
void take_address(tcp_settings& into, const char* name, const std::string& address,
                  std::uint32_t least_port) {
  constexpr std::uint32_t most_port = 65535;
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0)
    throw start_failure(std::string(name) + "=" + address + " is wrong: give HOST:PORT of node 0");
  into.host = address.substr(0, colon);
  // An IPv6 address may be in brackets, as in a URL.
  if (into.host.size() > 2 && into.host.front() == '[' && into.host.back() == ']')
    into.host = into.host.substr(1, into.host.size() - 2);
  into.port = static_cast<std::uint16_t>(
      number_of(name, std::string_view(address).substr(colon + 1), least_port, most_port));
}

/// Returns a descriptor of the launcher, or -1 if it was closed.
/// \throws start_failure the text is not a descriptor, or that of the files is malformed
int descriptor_of(const char* name, const char* text, const char* files) {
  const auto inherited = inherited_descriptor::read(text, files != nullptr ? files : "");
  if (inherited) return inherited->keep() ? inherited->number() : -1;
  const bool is_number = inherited_descriptor::read(text, "").has_value();
  throw start_failure(
      (is_number ? std::string(variable_files) + "=" + files : std::string(name) + "=" + text) +
      " is wrong: leave it out, or start the program with sukima cluster run");
}

}  // namespace

std::optional<tcp_settings> read_environment(const char* (*variable)(const char* name)) {
  const char* const nodes = variable(variable_nodes);
  const char* const joins = nodes == nullptr ? variable(variable_join) : nullptr;
  if (nodes == nullptr && joins == nullptr) return {};
  tcp_settings s;
  if (joins != nullptr) {
    take_address(s, variable_join, joins, 1);
  } else {
    const std::uint32_t started = number_of(variable_nodes, nodes, 1, most_nodes);
    const char* const node = variable(variable_node);
    s.own.node = number_of(variable_node, node != nullptr ? node : "", 0, started - 1);
    if (const char* const room = variable(variable_room))
      s.room = number_of(variable_room, room, 0, most_nodes - started);
    s.own.nodes = started + s.room;
    const char* const address = variable(variable_address);
    take_address(s, variable_address, address != nullptr ? address : "", 0);
    if (const char* const all = variable(variable_addresses)) s.addresses = addresses_of(all, started);
  }
  if (const char* const token = variable(variable_token)) s.token = token;
  if (const std::string_view obstacle = obstacle_of_token(s.token); !s.token.empty() && !obstacle.empty())
    throw start_failure(std::string(obstacle));
  if (const char* const ports = variable(variable_port)) {
    s.ports = read_ports(ports);
    if (!s.ports)
      throw start_failure(std::string(variable_port) + "=" + ports +
                          " is wrong: give a port from 1 to 65535, or two of them as FIRST-LAST");
  }
  if (const char* const silence = variable(variable_silence))
    s.heartbeat.silent_beats = silent_beats_of(silence, s.heartbeat.period);
  if (const char* const hope = variable(variable_hope))
    s.survives_losses = number_of(variable_hope, hope, 0, 1) == 1;
  if (const char* const ended = variable(variable_ended);
      ended != nullptr && joins == nullptr && s.survives_losses)
    s.ended_nodes = descriptor_of(variable_ended, ended, variable(variable_files));
  if (const char* const listen = variable(variable_listen);
      listen != nullptr && joins == nullptr && s.own.node == 0) {
    s.listening = descriptor_of(variable_listen, listen, variable(variable_files));
    if (s.listening < 0)
      throw start_failure(
          "the listening socket of node 0 was closed before the program began: a script that starts the "
          "program must leave descriptors open, as subprocess.run(..., close_fds=False) does in Python");
  }
  return s;
}

}  // namespace sukima::cluster
