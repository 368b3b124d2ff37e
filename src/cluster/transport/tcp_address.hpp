// SPDX-License-Identifier: Apache-2.0
// Determines where nodes listen, and where the others reach them.
#pragma once

#include "transport/tcp.hpp"
#include "transport/tcp_connection.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sukima::cluster {

/// Prevents programs that this process starts from inheriting the socket.
void keep_from_children(int socket) noexcept;

/// Returns the addresses of a host, the preferred one first. There is at least one. May query the name
/// service.
/// \throws start_failure the host is unknown, or there is no token and the host is not the loopback device
std::vector<boost::asio::ip::tcp::endpoint> addresses_of(boost::asio::io_context& io,
                                                         const tcp_settings& chosen, const std::string& host,
                                                         std::uint16_t port);
/// Like addresses_of, but calls found(addresses) and does not wait for the name service. If there are no
/// addresses, the list is empty. `by` and `chosen` must outlive the search.
void find_addresses(boost::asio::ip::tcp::resolver& by, const tcp_settings& chosen, const std::string& host,
                    std::uint16_t port,
                    std::function<void(std::vector<boost::asio::ip::tcp::endpoint>)> found);
/// Returns the first address of addresses_of.
boost::asio::ip::tcp::endpoint address_of(boost::asio::io_context& io, const tcp_settings& chosen,
                                          const std::string& host, std::uint16_t port);

/// Makes a node listen: node 0 at the address of its settings, the others on a free port of their range.
/// Stores the port's number in `chosen.own`.
/// \throws start_failure the node cannot listen there
void listen_at(boost::asio::io_context& io, boost::asio::ip::tcp::acceptor& by, tcp_settings& chosen);

/// The address where a node listens. Port 0: the node is lost.
struct member {
  std::string host;
  std::uint16_t port = 0;
};

/// Returns where the others reach a node that has connected to this one.
member member_of(const tcp_settings& chosen, const tcp_connection& node);

/// Writes the list of all nodes except node 0, which node 0 sends to them.
bytes write_members(const std::vector<member>& list);
/// \throws frame_error the bytes are not a list of that many nodes
std::vector<member> read_members(byte_view from, unsigned count);

}  // namespace sukima::cluster
