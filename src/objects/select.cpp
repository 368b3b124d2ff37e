// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

namespace sukima::objects::detail {

namespace {

/// The object that uses the cases: the one that their ends belong to.
object_core& user_of_cases(select_case* const* cases, std::size_t count) {
  object_core* me = nullptr;
  for (std::size_t i = 0; i < count; ++i)
    if (cases[i]->stream != nullptr) me = &user_of(*cases[i]->stream, *cases[i]->owner, !cases[i]->receives);
  if (me == nullptr)
    throw usage_error("sukima: a select needs a stream; to pass time, sleep in sukima::blocking");
  return *me;
}

}  // namespace

std::size_t serve_one(select_case* const* cases, std::size_t count, bool in_order) {
  object_core& me = user_of_cases(cases, count);
  std::vector<wait_case> waits(count);
  for (;;) {
    const std::size_t begin = in_order ? 0 : me.next_case % count;
    std::size_t waiting = 0;
    bool receives = false;
    bool open = false;
    const clock::time_point* until = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = (begin + i) % count;
      select_case& c = *cases[at];
      me.room_wanted = 1;
      const select_case::outcome found = c.try_now();
      if (found == select_case::outcome::served) {
        if (!in_order) me.next_case = at + 1;
        if (c.stream == nullptr) count_message(me);  // time is no message, but a poll
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
    if (receives && !open) return none_served;
    wait(me, waits.data(), waiting, until);
  }
}

}  // namespace sukima::objects::detail
