// SPDX-License-Identifier: Apache-2.0
#include "hope/messages.hpp"

#include "protocol/reader.hpp"

#include <algorithm>

namespace sukima::cluster::hope {

namespace {

constexpr std::chrono::microseconds longest_time = std::chrono::hours(1);

void put_key(byte_sink& sink, const task_key& key) { sink.number(key.high).number(key.low); }
task_key get_key(byte_source& source) noexcept {
  task_key key;
  key.high = source.number<std::uint64_t>();
  key.low = source.number<std::uint64_t>();
  return key;
}

bool has_task(note_kind kind) noexcept {
  return kind == note_kind::claim || kind == note_kind::unclaim || kind == note_kind::result ||
         kind == note_kind::missing;
}
bool has_time(note_kind kind) noexcept { return kind == note_kind::claim || kind == note_kind::result; }
bool has_type(note_kind kind) noexcept { return kind == note_kind::given; }
bool has_place(note_kind kind) noexcept { return has_time(kind) || kind == note_kind::given; }
bool has_content(note_kind kind) noexcept {
  return kind == note_kind::result || kind == note_kind::entry_result || kind == note_kind::given ||
         kind == note_kind::differs || kind == note_kind::interest;
}

bool has_solutions(note_kind kind) noexcept {
  return kind == note_kind::result || kind == note_kind::entry_result || kind == note_kind::best;
}

}  // namespace

bytes write_note(const note& n) {
  constexpr std::size_t most_before_content = 1 + 8 + 16 + 16 + 4 + 4;
  bytes to;
  to.reserve(most_before_content + n.solutions.size() + n.content.size());
  byte_sink sink(to);
  sink.number(static_cast<std::uint8_t>(n.kind)).number(n.entry);
  if (has_task(n.kind)) put_key(sink, n.task);
  if (has_place(n.kind)) put_key(sink, n.within);
  const auto time = std::clamp(n.time, std::chrono::microseconds(0), longest_time);
  static_assert(longest_time.count() <= UINT32_MAX);
  if (has_time(n.kind)) sink.number(static_cast<std::uint32_t>(time.count()));
  if (has_type(n.kind)) sink.number(n.type);
  if (has_solutions(n.kind)) sink.number(static_cast<std::uint32_t>(n.solutions.size())).raw(n.solutions);
  if (has_content(n.kind)) sink.raw(n.content);
  return to;
}

std::optional<note> read_note(byte_view from) {
  byte_source source(from);
  const auto kind = source.number<std::uint8_t>();
  if (kind < static_cast<std::uint8_t>(note_kind::claim) ||
      kind > static_cast<std::uint8_t>(note_kind::interest))
    return {};
  note n;
  n.kind = static_cast<note_kind>(kind);
  n.entry = source.number<std::uint64_t>();
  if (has_task(n.kind)) n.task = get_key(source);
  if (has_place(n.kind)) n.within = get_key(source);
  if (has_time(n.kind)) n.time = std::chrono::microseconds(source.number<std::uint32_t>());
  if (has_type(n.kind)) n.type = source.number<std::uint32_t>();
  if (has_solutions(n.kind)) n.solutions = source.raw(source.number<std::uint32_t>());
  if (!source.ok() || n.entry == 0 || n.time > longest_time) return {};
  if (has_content(n.kind))
    n.content = source.rest();
  else if (!source.rest().empty())
    return {};
  return n;
}

}  // namespace sukima::cluster::hope
