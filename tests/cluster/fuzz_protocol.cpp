// SPDX-License-Identifier: Apache-2.0
// Takes any bytes as what another node, or a stranger, sends: it is refused by a sentence or understood;
// nothing is allocated for a length that only promises.
#include "protocol/exceptions.hpp"
#include "protocol/handshake.hpp"
#include "protocol/messages.hpp"

#include <sukima/cluster.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

using namespace sukima::cluster;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void demand(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "the promise is broken: %s\n", promise);
  std::abort();
}

/// Frames up to the first that is refused, and with them a handshake. Without a token it may succeed.
void take_stream(byte_view stream, handshake::role side, const char* token) {
  handshake shaken(side, {.version = "0.1", .build_id = "abc", .nodes = 4, .node = 1}, token);
  frame_reader reader;
  std::size_t taken = 0;
  try {
    for (std::size_t at = 0; at < stream.size(); at += 7) {
      reader.feed(stream.subspan(at, std::min<std::size_t>(7, stream.size() - at)));
      while (const auto f = reader.next()) {
        taken += f->content.size();
        demand(taken <= stream.size(), "frames hold no more than what came");
        if (shaken.take(*f).done) {
          demand(*token == 0, "no node gets in without the token");
          demand(shaken.peer().node < shaken.peer().nodes, "a node has a number below their count");
          return;
        }
      }
    }
  } catch (const frame_error& error) {
    demand(*error.what() != 0, "a refusal has a reason");
  }
}

void take_message(byte_view bytes_of_message) {
  if (const auto m = read_message(bytes_of_message)) {
    const bytes again = write_message(*m);
    demand(std::equal(again.begin(), again.end(), bytes_of_message.begin(), bytes_of_message.end()),
           "a message is written as it was read");
    try {
      std::rethrow_exception(read_exception(m->content));
    } catch (const remote_exception& e) {
      demand(std::string(e.what()).size() <= bytes_of_message.size(), "a text is no longer than what came");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const byte_view rest = std::as_bytes(std::span(data, size)).subspan(1);
  switch (data[0] % 4) {
    case 0:
      take_stream(rest, handshake::role::acceptor, "");
      break;
    case 1:
      take_stream(rest, handshake::role::connector, "");
      break;
    case 2:
      take_stream(rest, handshake::role::acceptor, "secret");
      break;
    default:
      take_message(rest);
      break;
  }
  return 0;
}
