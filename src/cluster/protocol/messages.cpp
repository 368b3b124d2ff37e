// SPDX-License-Identifier: Apache-2.0
#include "protocol/messages.hpp"

#include "protocol/entry_name.hpp"
#include "protocol/reader.hpp"

#include <sukima/cluster.hpp>

#include <cxxabi.h>

#include <algorithm>
#include <typeinfo>

namespace sukima::cluster {

namespace {

constexpr std::size_t longest_text = 4096;

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
      kind > static_cast<std::uint8_t>(message_kind::differs) ||
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

bytes write_exception(const std::exception_ptr& thrown, node_id node) {
  std::string type = "unknown";
  std::string what;
  std::uint32_t where = node;
  try {
    std::rethrow_exception(thrown);
  } catch (const remote_exception& e) {
    type = e.type();
    what = e.what();
    where = e.node();
  } catch (const std::exception& e) {
    type = demangled(typeid(e).name());
    what = e.what();
  } catch (...) {
    if (const std::type_info* const known = abi::__cxa_current_exception_type())
      type = demangled(known->name());
    what = type;
  }
  bytes to;
  byte_sink(to)
      .number(where)
      .text(std::string_view(type).substr(0, longest_text))
      .text(std::string_view(what).substr(0, longest_text));
  return to;
}

std::exception_ptr read_exception(byte_view from) {
  byte_source source(from);
  const node_id node = source.number<std::uint32_t>();
  const std::string type = source.text(longest_text);
  const std::string what = source.text(longest_text);
  return std::make_exception_ptr(remote_exception(type, what, node));
}

}  // namespace sukima::cluster
