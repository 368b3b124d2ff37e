// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "program/program_core.hpp"

namespace sukima::objects::detail {

namespace {

/// Returns the object that uses the cases: the owner of their ends.
object_core& user_of_cases(select_case* const* cases, std::size_t count) {
  object_core* me = nullptr;
  for (std::size_t i = 0; i < count; ++i)
    if (cases[i]->stream != nullptr) me = &user_of(*cases[i]->stream, *cases[i]->owner, !cases[i]->receives);
  return me != nullptr ? *me : running_object("a select without streams");
}

/// The number of sets of cases that an object remembers: the last used ones.
constexpr std::size_t most_turns = 16;

/// Returns a hash of the cases (FNV-1a), because selects with different cases have turns of their own.
std::uint64_t hash_of(select_case* const* cases, std::size_t count) {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (std::size_t i = 0; i < count; ++i) {
    const stream_core* const s = cases[i]->stream;
    const std::uint64_t end = s == nullptr ? 0 : 2 * std::uint64_t{s->number} + (cases[i]->receives ? 1 : 2);
    hash = (hash ^ end) * 0x100'0000'01b3;
  }
  return hash;
}

}  // namespace

std::size_t select_turns::next(std::uint64_t cases) const {
  const auto found = std::ranges::find(kept_, cases, &turn::cases);
  return found == kept_.end() ? last_ : found->next;
}

void select_turns::set_next(std::uint64_t cases, std::size_t next) {
  last_ = next;
  if (!kept_.empty() && kept_.back().cases == cases) {
    kept_.back().next = next;
    return;
  }
  const auto found = std::ranges::find(kept_, cases, &turn::cases);
  if (found != kept_.end())
    kept_.erase(found);
  else if (kept_.size() == most_turns)
    kept_.erase(kept_.begin());
  kept_.push_back({cases, next});
}

std::size_t serve_one(select_case* const* cases, std::size_t count, bool in_order) {
  object_core& me = user_of_cases(cases, count);
  std::vector<wait_case> waits(count);
  const std::uint64_t cases_hash = in_order ? 0 : hash_of(cases, count);
  for (;;) {
    const std::size_t begin = in_order ? 0 : me.turns.next(cases_hash) % count;
    std::size_t waiting = 0;
    bool receives = false;
    bool open = false;
    const clock::time_point* until = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = (begin + i) % count;
      select_case& c = *cases[at];
      me.room_wanted = 1;
      const auto took_its_turn = [&] {
        if (!in_order) me.turns.set_next(cases_hash, at + 1);
      };
      select_case::outcome found{};
      try {
        found = c.try_now();
      } catch (...) {  // its stream has failed, or its function threw: the other cases come first now
        took_its_turn();
        throw;
      }
      if (found == select_case::outcome::served) {
        took_its_turn();
        if (c.stream == nullptr) count_message(me);  // the end of a wait counts as a poll
        return at;
      }
      receives |= c.receives;
      if (found == select_case::outcome::closed) continue;
      if (c.stream == nullptr) {
        if (until == nullptr || c.at < *until) until = &c.at;
        continue;
      }
      open = true;
      waits[waiting].stream = c.stream;
      waits[waiting].room = me.room_wanted;
      waits[waiting++].receives = c.receives;
    }
    if (receives && !open) {
      count_message(me);  // as a receive that finds the end
      return none_served;
    }
    wait(me, waits.data(), waiting, until);
  }
}

}  // namespace sukima::objects::detail
