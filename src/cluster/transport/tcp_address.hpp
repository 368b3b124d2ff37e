// SPDX-License-Identifier: Apache-2.0
// Where nodes listen, and where the others find them.
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

/// Programs that this process starts do not get the socket.
void keep_from_children(int socket) noexcept;

/// The addresses of a host, perhaps from the name service, the best one first: at least one.
/// \throws start_failure it is not known, or without a token not of the loopback device
std::vector<boost::asio::ip::tcp::endpoint> addresses_of(boost::asio::io_context& io,
                                                         const tcp_settings& chosen, const std::string& host,
                                                         std::uint16_t port);
/// Calls found(addresses) with the same ones, or with none, and does not wait for the name service. `by` and
/// `chosen` outlive the search.
void find_addresses(boost::asio::ip::tcp::resolver& by, const tcp_settings& chosen, const std::string& host,
                    std::uint16_t port,
                    std::function<void(std::vector<boost::asio::ip::tcp::endpoint>)> found);
/// The first one of them.
boost::asio::ip::tcp::endpoint address_of(boost::asio::io_context& io, const tcp_settings& chosen,
                                          const std::string& host, std::uint16_t port);

/// Lets a node listen: node 0 where its settings say, the others on one of their ports that is free. The
/// port's number is put into `chosen.own`.
/// \throws start_failure
void listen_at(boost::asio::io_context& io, boost::asio::ip::tcp::acceptor& by, tcp_settings& chosen);

/// Where a node listens. Port 0: it is lost.
struct member {
  std::string host;
  std::uint16_t port = 0;
};

/// Where the others find a node that has connected to this one.
member member_of(const tcp_settings& chosen, const tcp_connection& node);

/// The list of all nodes but node 0, which that sends round.
bytes write_members(const std::vector<member>& list);
/// \throws frame_error it is not a list of so many nodes
std::vector<member> read_members(byte_view from, unsigned count);

}  // namespace sukima::cluster
