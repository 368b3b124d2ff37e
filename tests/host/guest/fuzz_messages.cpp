// SPDX-License-Identifier: Apache-2.0
// Takes any bytes as what a guest says, in pieces, and as what a host says: what is taken keeps the
// promises of its grammar, and is written and read again the same.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <host/shared/inbox.hpp>

namespace host = sukima::host;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void demand(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "the promise is broken: %s\n", promise);
  std::abort();
}

void check(const host::guest_message& message) {
  if (message.progress)
    demand(*message.progress >= 0 && *message.progress <= host::most_progress, "progress is a number");
  if (message.want) demand(*message.want >= 1, "want is a count");
  if (message.online) demand(!message.online->empty() && message.online->size() <= 1024, "online is short");
  const std::string text = host::text_of(message);
  const auto again = host::parse_guest_message(text);
  demand(again && host::text_of(*again) == text, "what is written is read as it was");
}

/// The first byte is the size of the pieces and the time between them.
void receive(const std::string& bytes) {
  host::guest_inbox inbox;
  const std::size_t piece = bytes.empty() ? 1 : 1 + static_cast<unsigned char>(bytes[0]) % 64;
  const double step = bytes.empty() ? 0 : (static_cast<unsigned char>(bytes[0]) / 64) * 0.01;
  double now = 1;
  std::uint64_t taken = 0;
  for (std::size_t at = 1; at < bytes.size(); at += piece, now += step) {
    inbox.feed(std::string_view(bytes).substr(at, piece), now);
    const auto messages = inbox.take();
    demand(messages.size() <= 10, "few messages wait");
    taken += messages.size();
    for (const auto& message : messages) check(message);
    inbox.complaint(now);
  }
  demand(static_cast<double>(taken) <= 10 + (now - 1) * 10 + 1e-6, "ten messages a second");
  demand(inbox.seen().taken == taken, "messages are counted");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  receive(bytes);
  if (const auto message = host::parse_host_message(bytes)) {
    demand(message->usable > 0 && std::isfinite(message->usable), "usable is a number");
    demand(message->valid > 0 && message->valid <= 86400, "valid is at most a day");
    demand(host::parse_host_message(host::text_of(*message)).has_value(), "what is written is read");
  }
  return 0;
}
