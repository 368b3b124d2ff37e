// SPDX-License-Identifier: Apache-2.0
#include "schedule/stacks.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "program/program_core.hpp"

namespace sukima::objects::detail {

namespace {

/// Bytes of stack that functions need beside messages, and the number of copies of a message that their
/// frames may have. Messages of 1 KiB fit the default exactly.
constexpr std::size_t frames = 8 * 1024, copies = 8, most_small = 1024;
/// Each large stack takes two or three of the 65,530 mappings that a process may have.
constexpr std::size_t most_large_stacks = 4096;

/// Returns the size of the largest message of the streams whose ends are not all known: any object may have
/// captured these ends.
std::size_t largest_hidden_message(const program_core& of) {
  std::vector<std::size_t> known(of.streams.size());
  for (const auto& o : of.objects)
    for (const held_end& e : o->ends) ++known[e.stream->number];
  std::size_t largest = 0;
  for (const auto& s : of.streams)  // before its objects run no other thread changes the counts
    if (known[s->number] <
        std::size_t{s->outs.load(std::memory_order_relaxed)} + s->ins.load(std::memory_order_relaxed))
      largest = std::max(largest, s->message_size);
  return largest;
}

}  // namespace

void choose_stacks(program_core& of) {
  const std::size_t hidden = largest_hidden_message(of);
  std::vector<std::pair<object_core*, std::size_t>> larger;
  for (const auto& o : of.objects) {
    if (o->stack != 0) continue;
    std::size_t largest = hidden;
    for (const held_end& e : o->ends) largest = std::max(largest, e.stream->message_size);
    if (largest > most_small) larger.emplace_back(o.get(), frames + copies * largest);
  }
  if (larger.size() > most_large_stacks) return;
  for (const auto& [o, bytes] : larger) o->stack = bytes;
}

}  // namespace sukima::objects::detail
