// SPDX-License-Identifier: Apache-2.0
#include "transport/tcp_connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/completion_condition.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <utility>

namespace sukima::cluster {

namespace asio = boost::asio;

tcp_connection::tcp_connection(asio::io_context& io, socket s, handshake with, events handlers)
    : io_(io),
      socket_(std::move(s)),
      handshake_(std::move(with)),
      handlers_(std::move(handlers)),
      patience_(io) {
  boost::system::error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
}

void tcp_connection::begin() {
  if (const auto first = handshake_.begin()) send(first->kind, first->content, most_queued);
  read();
}

void tcp_connection::begin_within(std::chrono::milliseconds time) {
  patience_.expires_after(time);
  patience_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    const auto self = weak.lock();
    if (!error && self != nullptr && !self->is_proved_) self->fail("it did not prove its identity in time");
  });
  begin();
}

void tcp_connection::read() {
  socket_.async_read_some(asio::buffer(chunk_),
                          [self = shared_from_this()](boost::system::error_code error, std::size_t size) {
                            if (error) {
                              self->fail(error == asio::error::eof ? "connection closed" : error.message());
                              return;
                            }
                            self->arrived(size);
                          });
}

void tcp_connection::arrived(std::size_t size) {
  try {
    handlers_.on_bytes(*this);
    reader_.feed(byte_view(chunk_).first(size));
    while (auto f = reader_.next()) {
      take(*f);
      const std::lock_guard hold(lock_);
      if (closed_ || is_last_queued_) return;
    }
  } catch (const frame_error& error) {
    refused_ = !open_;
    fail(error.what());
    return;
  }
  read();
}

void tcp_connection::take(const frame& f) {
  if (open_) {
    handlers_.on_frame(*this, f);
    return;
  }
  const handshake::step next = handshake_.take(f);
  for (const frame& answer : next.answers) send(answer.kind, answer.content, most_queued);
  if (next.is_refused) {
    refused_ = true;
    const std::lock_guard hold(lock_);
    is_last_queued_ = true;
  }
  if (next.is_proved) {
    is_proved_ = true;
    patience_.cancel();
    const std::lock_guard hold(lock_);
    handshake_.protect(queued_.writer(), reader_);
  }
  if (next.sealed) send(next.sealed->kind, next.sealed->content, most_queued);
  if (!next.done) return;
  reader_.allow(largest_message);
  open_ = true;
  if (!handlers_.on_open(*this)) close();
}

bool tcp_connection::send(frame_kind kind, byte_view content, std::size_t most) {
  return queue(kind, content, most);
}

bool tcp_connection::send(frame_kind kind, bytes&& content, std::size_t most) {
  return queue(kind, std::move(content), most);
}

template <class Content> bool tcp_connection::queue(frame_kind kind, Content&& content, std::size_t most) {
  {
    const std::lock_guard hold(lock_);
    if (closed_ || queued_.size() > most) return false;
    queued_.add(kind, std::forward<Content>(content));
    if (writing_) return true;
    writing_ = true;
  }
  asio::post(io_, [self = shared_from_this()] { self->write(); });
  return true;
}

void tcp_connection::write() {
  bool is_done = false;
  bool is_last = false;
  {
    const std::lock_guard hold(lock_);
    is_done = closed_ || queued_.empty();
    is_last = is_last_queued_;
    if (is_done) {
      writing_ = false;
    } else {
      queued_.take(sending_);
    }
  }
  if (is_done) {
    if (is_last) fail(another_token);
    return;
  }
  // Counts each part that was sent. The last part ends the operation without this function.
  const auto rest = [self = this, before = sent_](boost::system::error_code error, std::size_t size) {
    self->sent_ = before + size;
    return asio::transfer_all()(error, size);
  };
  asio::async_write(
      socket_, asio::buffer(sending_), rest,
      [self = shared_from_this(), before = sent_](boost::system::error_code error, std::size_t size) {
        self->sent_ = before + size;
        if (error)
          self->fail(error.message());
        else
          self->write();
      });
}

bool tcp_connection::is_sending() const {
  const std::lock_guard hold(lock_);
  return writing_ && !closed_;
}

bool tcp_connection::is_closed() const {
  const std::lock_guard hold(lock_);
  return closed_;
}

std::uint64_t tcp_connection::acknowledged() noexcept {
  int waiting = 0;  // bytes in the system's send queue that the other side has not acknowledged
  if (!is_closed() && ioctl(socket_.native_handle(), SIOCOUTQ, &waiting) == 0) {
    const auto left = static_cast<std::uint64_t>(std::max(waiting, 0));
    acknowledged_ = std::max(acknowledged_, sent_ - std::min(sent_, left));
  }
  return acknowledged_;
}

void tcp_connection::end_sending() noexcept {
  boost::system::error_code ignored;
  socket_.shutdown(socket::shutdown_send, ignored);
}

void tcp_connection::close() noexcept {
  {
    const std::lock_guard hold(lock_);
    closed_ = true;
  }
  patience_.cancel();
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void tcp_connection::fail(const std::string& why) {
  {
    const std::lock_guard hold(lock_);
    if (closed_) return;
  }
  close();
  handlers_.on_closed(*this, why);
}

std::string tcp_connection::address() const {
  boost::system::error_code error;
  const auto endpoint = socket_.remote_endpoint(error);
  return error ? std::string() : text_of(endpoint.address());
}

std::string text_of(const asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address.to_string();
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
}

}  // namespace sukima::cluster
