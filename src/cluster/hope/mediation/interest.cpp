// SPDX-License-Identifier: Apache-2.0
#include "hope/mediation/interest.hpp"

#include "protocol/reader.hpp"

#include <algorithm>

namespace sukima::cluster::hope {

namespace {

void put_keys(byte_sink& sink, const std::vector<task_key>& keys) {
  sink.number(static_cast<std::uint32_t>(keys.size()));
  for (const task_key& key : keys) sink.number(key.high).number(key.low);
}

bool get_keys(byte_source& source, std::vector<task_key>& keys) {
  const auto count = source.number<std::uint32_t>();
  if (!source.ok() || count > interest::most) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto high = source.number<std::uint64_t>();
    keys.push_back({.high = high, .low = source.number<std::uint64_t>()});
  }
  return source.ok();
}

}  // namespace

void interest::normalise() {
  is_all = is_all || tasks.size() + places.size() > most;
  if (is_all) {
    tasks.clear();
    places.clear();
  }
  std::ranges::sort(tasks);
  std::ranges::sort(places);
}

bool interest::includes(const task_key& task, const task_key& within) const {
  return is_all || std::ranges::binary_search(tasks, task) || std::ranges::binary_search(places, within);
}

bool is_about_a_task(note_kind kind) noexcept {
  return kind == note_kind::claim || kind == note_kind::result;
}

bytes write_interest(const interest& one) {
  bytes to;
  byte_sink sink(to);
  sink.number(one.version).number(static_cast<std::uint8_t>(one.is_all));
  put_keys(sink, one.tasks);
  put_keys(sink, one.places);
  return to;
}

std::optional<interest> read_interest(const note& n) {
  byte_source source(n.content);
  interest one;
  one.entry = n.entry;
  one.version = source.number<std::uint64_t>();
  const auto all = source.number<std::uint8_t>();
  one.is_all = all == 1;
  if (all > 1 || !get_keys(source, one.tasks) || !get_keys(source, one.places) || !source.rest().empty())
    return {};
  one.normalise();
  return one;
}

}  // namespace sukima::cluster::hope
