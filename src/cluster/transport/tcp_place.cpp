// SPDX-License-Identifier: Apache-2.0
#include "transport/tcp_place.hpp"

#include "protocol/reader.hpp"
#include "transport/tcp_address.hpp"
#include "transport/tcp_connection.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace sukima::cluster {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

namespace {

constexpr std::size_t longest_reason = 1024;

/// One request for a place, on the requesting thread.
class question {
 public:
  question(const tcp_settings& chosen, clock::time_point deadline)
      : chosen_(chosen),
        own_(chosen.own),
        deadline_(deadline),
        name_(chosen.host + ":" + std::to_string(chosen.port)) {
    own_.omits = chosen.survives_losses;
  }

  place_answer ask() {
    connect();
    while (!answer_ && failure_.empty() && clock::now() < deadline_) io_.run_one_until(deadline_);
    if (connection_ != nullptr) connection_->close();
    io_.poll();
    if (answer_) return *answer_;
    throw start_failure(failure_.empty()
                            ? "no node answers at " + name_ + ": it may not have reached its first entry"
                            : failure_);
  }

 private:
  void connect() {
    const auto socket = std::make_shared<tcp::socket>(io_);
    asio::async_connect(*socket, addresses_of(io_, chosen_, chosen_.host, chosen_.port),
                        [this, socket](boost::system::error_code error, const tcp::endpoint&) {
                          if (error)
                            fail("no node can be reached at " + name_ + ": " + error.message() +
                                 "; give the address where node 0 of a run with --room listens");
                          else
                            begin(std::move(*socket));
                        });
  }
  void begin(tcp::socket socket) {
    keep_from_children(socket.native_handle());
    tcp_connection::events handlers;
    handlers.on_open = [this](tcp_connection& c) {
      if (!c.obstacle().empty()) fail(c.obstacle());
      return failure_.empty();
    };
    handlers.on_frame = [this](tcp_connection&, const frame& f) {
      if (f.kind == frame_kind::place) answer_ = read_place(f.content);
    };
    handlers.on_bytes = [](tcp_connection&) {};
    handlers.on_closed = [this](tcp_connection&, const std::string& why) {
      if (!answer_) fail("the node at " + name_ + ": " + why);
    };
    connection_ = std::make_shared<tcp_connection>(io_, std::move(socket),
                                                   handshake(handshake::role::connector, own_, chosen_.token),
                                                   std::move(handlers));
    connection_->begin();
  }
  void fail(const std::string& why) {
    if (failure_.empty()) failure_ = why;
  }

  const tcp_settings& chosen_;
  identity own_;
  const clock::time_point deadline_;
  const std::string name_;
  asio::io_context io_{1};
  std::shared_ptr<tcp_connection> connection_;
  std::optional<place_answer> answer_;
  std::string failure_;
};

}  // namespace

bytes write_place(const place_answer& answer) {
  bytes to;
  byte_sink sink(to);
  if (const auto* const reason = std::get_if<std::string>(&answer)) {
    sink.number(std::uint8_t{0}).text(*reason);
    return to;
  }
  const place& p = std::get<place>(answer);
  sink.number(std::uint8_t{1}).number(p.nodes).number(p.room).number(p.node).number(p.sponsor);
  return to;
}

place_answer read_place(byte_view from) {
  byte_source source(from);
  if (source.number<std::uint8_t>() == 0) {
    std::string reason = source.text(longest_reason);
    if (!source.ok() || !source.rest().empty()) throw frame_error("it sent a malformed refusal");
    return reason;
  }
  place p;
  p.nodes = source.number<std::uint32_t>();
  p.room = source.number<std::uint32_t>();
  p.node = source.number<std::uint32_t>();
  p.sponsor = source.number<std::uint32_t>();
  if (!source.ok() || !source.rest().empty() || p.nodes > most_nodes || p.room >= p.nodes ||
      p.node >= p.nodes || p.node < p.nodes - p.room || p.sponsor >= p.node)
    throw frame_error("it assigned an impossible node number");
  return p;
}

place ask_for_place(const tcp_settings& chosen, clock::time_point deadline) {
  const place_answer answer = question(chosen, deadline).ask();
  if (const auto* const reason = std::get_if<std::string>(&answer)) throw start_failure(*reason);
  return std::get<place>(answer);
}

}  // namespace sukima::cluster
