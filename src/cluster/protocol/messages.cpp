// SPDX-License-Identifier: Apache-2.0
#include "protocol/messages.hpp"

#include "protocol/reader.hpp"

namespace sukima::cluster {

namespace {

bool has_content(message_kind kind) noexcept {
  return kind == message_kind::task || kind == message_kind::result || kind == message_kind::entry ||
         kind == message_kind::differs;
}
bool has_solutions(message_kind kind) noexcept {
  return kind == message_kind::result || kind == message_kind::entry || kind == message_kind::best;
}

}  // namespace

bytes write_message(const message& m) {
  bytes to;
  to.reserve(34 + m.solutions.size() + m.content.size());
  byte_sink sink(to);
  sink.number(static_cast<std::uint8_t>(m.kind))
      .number(static_cast<std::uint8_t>(m.how))
      .number(m.entry)
      .number(m.function)
      .number(m.id)
      .number(m.request)
      .number(m.round_trip);
  if (has_solutions(m.kind)) sink.number(static_cast<std::uint32_t>(m.solutions.size())).raw(m.solutions);
  sink.raw(m.content);
  return to;
}

std::optional<message> read_message(byte_view from) {
  byte_source source(from);
  const auto kind = source.number<std::uint8_t>();
  const auto how = source.number<std::uint8_t>();
  message m;
  m.entry = source.number<std::uint32_t>();
  m.function = source.number<std::uint32_t>();
  m.id = source.number<std::uint64_t>();
  m.request = source.number<std::uint64_t>();
  m.round_trip = source.number<std::uint32_t>();
  if (!source.ok() || kind < static_cast<std::uint8_t>(message_kind::request) ||
      kind > static_cast<std::uint8_t>(message_kind::missing) ||
      how > static_cast<std::uint8_t>(outcome::aborted))
    return {};
  m.kind = static_cast<message_kind>(kind);
  m.how = static_cast<outcome>(how);
  if (has_solutions(m.kind)) m.solutions = source.raw(source.number<std::uint32_t>());
  if (!source.ok()) return {};
  m.content = source.rest();
  if (!m.content.empty() && !has_content(m.kind)) return {};
  return m;
}

}  // namespace sukima::cluster
