// SPDX-License-Identifier: Apache-2.0
// An HTTP server for one text; see server.hpp.
#include "metrics/server.hpp"

#include <fmt/format.h>

#include <boost/asio.hpp>
#include <chrono>
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

#include "metrics/http_request.hpp"

namespace sukima::host {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using failure = boost::system::error_code;

constexpr std::chrono::seconds patience{5};
constexpr std::size_t most_connections = 16;
/// The most bytes that are discarded after the response, before the connection is closed. Closing a
/// connection with unread bytes would reset it, and the client would lose the response.
constexpr std::size_t most_discarded = 65536;

/// The text to serve. The session replaces it while the server's thread reads it.
class shared_text {
 public:
  void set(const std::string& text) {
    const std::lock_guard hold(guard_);
    text_ = text;
  }
  std::string get() const {
    const std::lock_guard hold(guard_);
    return text_;
  }

 private:
  mutable std::mutex guard_;
  std::string text_;
};

/// One connection. It exists as long as one of its operations, or its timer, is pending.
class connection : public std::enable_shared_from_this<connection> {
 public:
  connection(tcp::socket socket, const shared_text& text, std::function<void()> ended)
      : socket_(std::move(socket)), timer_(socket_.get_executor()), text_(text), ended_(std::move(ended)) {}
  ~connection() { ended_(); }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  void begin() {
    timer_.expires_after(patience);
    timer_.async_wait([self = shared_from_this()](failure error) {
      if (!error) self->close();
    });
    asio::async_read_until(
        socket_, asio::dynamic_buffer(head_, longest_request), "\r\n\r\n",
        [self = shared_from_this()](failure error, std::size_t size) { self->answer(error, size); });
  }

 private:
  void answer(failure error, std::size_t size) {
    if (!error)
      response_ = http_response(judge_request(std::string_view(head_).substr(0, size)), text_.get());
    else if (error == asio::error::not_found)
      response_ = http_response({.status = status_too_long}, {});
    else
      return close();
    asio::async_write(socket_, asio::buffer(response_),
                      [self = shared_from_this()](failure failed, std::size_t) {
                        if (failed) return self->close();
                        failure ignored;
                        self->socket_.shutdown(tcp::socket::shutdown_send, ignored);
                        self->discard();
                      });
  }

  /// Discards bytes until the client closes the connection, too.
  void discard() {
    head_.resize(longest_request);
    socket_.async_read_some(asio::buffer(head_),
                            [self = shared_from_this()](failure error, std::size_t size) {
                              self->discarded_ += size;
                              if (error || self->discarded_ >= most_discarded) return self->close();
                              self->discard();
                            });
  }

  void close() {
    failure ignored;
    socket_.close(ignored);
    timer_.cancel();
  }

  tcp::socket socket_;
  asio::steady_timer timer_;
  const shared_text& text_;
  std::function<void()> ended_;
  std::string head_, response_;
  std::size_t discarded_ = 0;
};

class metrics_server final : public metrics_output {
 public:
  explicit metrics_server(const tcp::endpoint& at) : acceptor_(context_, at) {
    accept();
    // The thread that waits for the guests must handle all signals.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { context_.run(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~metrics_server() override {
    context_.stop();
    thread_.join();
    is_ending_ = true;
  }

  std::optional<std::string> publish(const std::string& text) override {
    text_.set(text);
    return std::nullopt;
  }

  std::string place() const override {
    const tcp::endpoint at = acceptor_.local_endpoint();
    const std::string address = at.address().to_string();
    return fmt::format("http://{}:{}/metrics", at.address().is_v6() ? "[" + address + "]" : address,
                       at.port());
  }

 private:
  void accept() {
    accepts_ = true;
    acceptor_.async_accept([this](failure error, tcp::socket socket) {
      accepts_ = false;
      if (!error) {
        ++connections_;
        std::make_shared<connection>(std::move(socket), text_, [this] { ended(); })->begin();
      }
      // If no descriptor is left, accepting fails at once. Then accept again only when a connection has
      // ended, or after a pause if there is none.
      if (connections_ < most_connections && (!error || connections_ == 0)) retry(error);
    });
  }

  /// Accepts the next connection; after a failure, it first waits for a second.
  void retry(failure error) {
    if (!error) return accept();
    pause_.expires_after(std::chrono::seconds(1));
    pause_.async_wait([this](failure cancelled) {
      if (!cancelled && !accepts_) accept();
    });
  }

  void ended() {
    --connections_;
    if (!accepts_ && !is_ending_) accept();
  }

  shared_text text_;
  std::size_t connections_ = 0;
  bool accepts_ = false;
  bool is_ending_ = false;  ///< true during destruction, so that an ending connection accepts no other one
  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer pause_{context_};
  std::thread thread_;
};

}  // namespace

std::unique_ptr<metrics_output> serve_metrics(const std::string& address, std::uint16_t port) {
  failure error;
  const auto parsed = asio::ip::make_address(address, error);
  if (error) throw metrics_error(fmt::format("'{}' is not an IP address; give one, or only a port", address));
  try {
    return std::make_unique<metrics_server>(tcp::endpoint(parsed, port));
  } catch (const boost::system::system_error& failed) {
    throw metrics_error(fmt::format("metrics cannot be served on port {} of {}: {}; choose another port",
                                    port, address, failed.code().message()));
  }
}

}  // namespace sukima::host
