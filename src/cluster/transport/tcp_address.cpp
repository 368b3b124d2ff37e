// SPDX-License-Identifier: Apache-2.0
#include "transport/tcp_address.hpp"

#include "protocol/frame.hpp"
#include "protocol/reader.hpp"
#include "shared/hosts.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/v6_only.hpp>

#include <base/shared/limit_advice.hpp>

#include <fcntl.h>

#include <utility>

namespace sukima::cluster {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

namespace {

constexpr std::size_t longest_host = 256;

/// Opens a socket for all addresses, of IPv6 and IPv4 if the machine has both.
/// \pre the socket is not open
void open_everywhere(tcp::acceptor& by, tcp::endpoint& here, std::uint16_t port, error_code& error) {
  here = tcp::endpoint(tcp::v6(), port);
  by.open(here.protocol(), error);
  if (!error) by.set_option(asio::ip::v6_only(false), error);
  if (!error) return;
  error_code ignored;
  by.close(ignored);
  here = tcp::endpoint(tcp::v4(), port);
  by.open(here.protocol(), error);
}

/// Opens the socket of a node whose address the others know. That name may resolve to the loopback device on
/// the node's own host.
void open_known(asio::io_context& io, const tcp_settings& chosen, tcp::acceptor& by, tcp::endpoint& here,
                std::uint16_t port, error_code& error) {
  const std::string& own = chosen.addresses[chosen.own.node];
  if (!is_loopback(own) && !chosen.token.empty()) {
    open_everywhere(by, here, port, error);
    return;
  }
  here = address_of(io, chosen, own, port);
  by.open(here.protocol(), error);
}

/// Opens the socket and listens.
/// \pre the socket is not open
/// \post the socket is not open if there is an error
error_code listen_on(asio::io_context& io, tcp::acceptor& by, const tcp_settings& chosen,
                     std::uint16_t port) {
  error_code error;
  tcp::endpoint here;
  if (!chosen.addresses.empty()) {
    open_known(io, chosen, by, here, port, error);
  } else {
    // Nodes announce where they listen, so a node other than 0 may listen on all of its addresses.
    here = address_of(io, chosen, chosen.host, port);
    if (chosen.own.node != 0 && !here.address().is_loopback())
      open_everywhere(by, here, port, error);
    else
      by.open(here.protocol(), error);
  }
  if (!error) by.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) by.bind(here, error);
  if (!error) by.listen(asio::socket_base::max_listen_connections, error);
  error_code ignored;
  if (error) by.close(ignored);
  return error;
}

/// The ports on which a node may listen. Port 0: any free port.
port_range ports_of(const tcp_settings& chosen) {
  return chosen.own.node == 0 ? port_range{chosen.port, chosen.port} : chosen.ports.value_or(port_range());
}

std::string sentence_of(const tcp_settings& chosen, const error_code& error) {
  const std::string reason = error.message() + std::string(advice_on_limit(error.value()));
  const std::string begin = "node " + std::to_string(chosen.own.node) + " cannot listen on ";
  if (chosen.own.node == 0)
    return begin + "port " + std::to_string(chosen.port) + " of " + chosen.host + ": " + reason;
  if (!chosen.ports) return begin + "any port: " + reason;
  return begin + "any of the ports " + write_ports(*chosen.ports) + ": " + error.message() +
         ": give others by --port or SUKIMA_CLUSTER_PORT";
}

bool is_allowed(const tcp_settings& chosen, const tcp::endpoint& place) {
  return !chosen.token.empty() || place.address().is_loopback();
}

}  // namespace

void keep_from_children(int socket) noexcept { fcntl(socket, F_SETFD, FD_CLOEXEC); }

std::vector<tcp::endpoint> addresses_of(asio::io_context& io, const tcp_settings& chosen,
                                        const std::string& host, std::uint16_t port) {
  error_code error;
  tcp::resolver resolver(io);
  const auto found = resolver.resolve(host, std::to_string(port), error);
  if (error || found.empty()) throw start_failure("the host '" + host + "' is not known: " + error.message());
  std::vector<tcp::endpoint> all;
  for (const auto& one : found)
    if (is_allowed(chosen, one.endpoint())) all.push_back(one.endpoint());
  if (all.empty())
    throw start_failure("without a token nodes use the loopback device only, not " + host +
                        ": set SUKIMA_CLUSTER_TOKEN");
  return all;
}

void find_addresses(tcp::resolver& by, const tcp_settings& chosen, const std::string& host,
                    std::uint16_t port, std::function<void(std::vector<tcp::endpoint>)> found) {
  error_code is_name;
  if (const tcp::endpoint known(asio::ip::make_address(host, is_name), port); !is_name) {
    found(is_allowed(chosen, known) ? std::vector{known} : std::vector<tcp::endpoint>{});
    return;
  }
  const auto resolved = [&chosen, found = std::move(found)](error_code error,
                                                            const tcp::resolver::results_type& of_name) {
    if (error == asio::error::operation_aborted) return;
    std::vector<tcp::endpoint> all;
    for (const auto& one : of_name)
      if (is_allowed(chosen, one.endpoint())) all.push_back(one.endpoint());
    found(std::move(all));
  };
  by.async_resolve(host, std::to_string(port), resolved);
}

tcp::endpoint address_of(asio::io_context& io, const tcp_settings& chosen, const std::string& host,
                         std::uint16_t port) {
  return addresses_of(io, chosen, host, port).front();
}

void listen_at(asio::io_context& io, tcp::acceptor& by, tcp_settings& chosen) {
  error_code error;
  if (chosen.listening >= 0) {
    by.assign(tcp::v4(), chosen.listening, error);
  } else {
    const port_range ports = ports_of(chosen);
    unsigned port = ports.first;
    do {
      error = listen_on(io, by, chosen, static_cast<std::uint16_t>(port));
    } while (error == asio::error::address_in_use && port++ < ports.last);
  }
  if (error) throw start_failure(sentence_of(chosen, error));
  keep_from_children(by.native_handle());
  chosen.own.port = by.local_endpoint().port();
}

member member_of(const tcp_settings& chosen, const tcp_connection& node) {
  const identity& other = node.peer();
  const bool is_known = other.node < chosen.addresses.size();  // a node that joined has no entry in the list
  return {is_known ? chosen.addresses[other.node] : node.address(), other.port};
}

bytes write_members(const std::vector<member>& list) {
  bytes to;
  byte_sink sink(to);
  for (const member& m : list) sink.text(m.host).number(m.port);
  return to;
}

std::vector<member> read_members(byte_view from, unsigned count) {
  byte_source source(from);
  std::vector<member> list(count);
  for (member& m : list) {
    m.host = source.text(longest_host);
    m.port = source.number<std::uint16_t>();
  }
  if (!source.ok()) throw frame_error("it sent a malformed list of nodes");
  return list;
}

}  // namespace sukima::cluster
