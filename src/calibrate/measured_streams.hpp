// SPDX-License-Identifier: Apache-2.0
// The streams whose costs are measured: a ring in memory shared with a forked process, and a pipe.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <base/shared/descriptor.hpp>
#include <base/shared/system_failure.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#include "message_ring.hpp"

namespace sukima::calibrate_detail {

struct ring_remover {
  std::size_t size;
  void operator()(message_ring* ring) const { munmap(ring, size); }
};
using shared_ring = std::unique_ptr<message_ring, ring_remover>;

inline shared_ring make_ring(std::size_t bytes) {
  const std::size_t capacity = default_capacity(bytes), size = message_ring::size_of(bytes, capacity);
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) process::fail_by_errno("memory for messages is refused");
  return {new (memory) message_ring(bytes, capacity), ring_remover{size}};
}

/// A stream of messages. `send` and `receive` move one message, or return false if they would have to wait.
/// Each process calls `only_sends` or `only_receives` to declare its side.
struct ring_stream {
  explicit ring_stream(std::size_t bytes)
      : ring(make_ring(bytes)), out(bytes), in(bytes), batch(default_capacity(bytes)) {}
  bool send() { return ring->send(out.data()); }
  bool receive() { return ring->receive(in.data()); }
  void only_sends() {}
  void only_receives() {}
  shared_ring ring;
  std::vector<char> out, in;
  std::size_t batch;  ///< the number of messages that fit
};

struct pipe_stream {
  explicit pipe_stream(std::size_t bytes)
      : out(bytes), in(bytes), batch(std::min<std::size_t>(64, room() / bytes)) {
    if (batch == 0)
      throw std::runtime_error(
          "a pipe has no room for 64 KiB, because this user has very many pipes: close some, or raise "
          "fs.pipe-user-pages-soft with sysctl");
  }
  bool send() {
    return write(ends.write_end.get(), out.data(), out.size()) == static_cast<ssize_t>(out.size());
  }
  bool receive() {
    std::size_t got = 0;
    while (got < in.size()) {
      const ssize_t part = read(ends.read_end.get(), in.data() + got, in.size() - got);
      if (part <= 0) return false;
      got += static_cast<std::size_t>(part);
    }
    return true;
  }
  /// The bytes that fit. The kernel gives new pipes of a user with very many of them less than the usual 64
  /// KiB. One thread that fills and empties the pipe in turn would wait forever.
  std::size_t room() const {
    const int bytes = fcntl(ends.write_end.get(), F_GETPIPE_SZ);
    return bytes > 0 ? static_cast<std::size_t>(std::min(bytes, 65536)) : 0;
  }
  void only_sends() { ends.read_end.reset(); }
  void only_receives() { ends.write_end.reset(); }
  pipe_ends ends = make_pipe("a pipe is refused");
  std::vector<char> out, in;
  std::size_t batch;
};

/// The number of messages with which the slowest stream, 64 KiB through a pipe, takes about 20 ms.
inline std::size_t stream_length(std::size_t bytes) { return bytes > 4096 ? 500 : 20'000; }

}  // namespace sukima::calibrate_detail
