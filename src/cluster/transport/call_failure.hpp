// SPDX-License-Identifier: Apache-2.0
// Classifies failed attempts to connect to another node. Decisions only.
#pragma once

#include <boost/asio/error.hpp>

#include <cstdint>

namespace sukima::cluster {

/// Reasons in ascending order of precedence: if the attempts at several addresses of a node fail, the last
/// reason in this order decides. So the node is not considered gone if no program listens at one address,
/// but the node may listen at another one.
enum class call_failure : std::uint8_t {
  no_protocol,  ///< this machine does not have that kind of address
  refused,      ///< no program listens there: the node is gone
  no_way,       ///< no answer, or no route there: missing heartbeats decide whether the node is lost
  no_means,     ///< this machine has no descriptor, memory or port left, or no name service
};

inline call_failure failure_of(const boost::system::error_code& error) noexcept {
  namespace asio_error = boost::asio::error;
  namespace errc = boost::system::errc;
  if (error == asio_error::address_family_not_supported) return call_failure::no_protocol;
  if (error == asio_error::connection_refused) return call_failure::refused;
  const bool is_no_way = error == asio_error::host_unreachable || error == asio_error::network_unreachable ||
                         error == asio_error::network_down || error == asio_error::timed_out ||
                         error == asio_error::connection_reset || error == asio_error::connection_aborted ||
                         error == asio_error::access_denied || error == errc::operation_not_permitted ||
                         error == asio_error::operation_aborted;  // the attempt took too long
  return is_no_way ? call_failure::no_way : call_failure::no_means;
}

}  // namespace sukima::cluster
