// SPDX-License-Identifier: Apache-2.0
#include "deadlock/find_deadlock.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "program/program_core.hpp"

namespace sukima::objects::detail {

namespace {

/// Whether a stream is ready for the waiting object. A stream within an island never is during a wait.
bool is_ready(stream_core& s, bool receives, std::uint64_t room) {
  // If this was an old value, the count of the wait has changed. pairs with: become_shared in
  // division_steps.cpp
  if (!std::atomic_ref(s.shared).load(std::memory_order_relaxed)) return false;
  // The caller then checks by is_suspended that this state was read during the wait.
  // pairs with: close_end in stream.cpp; close_party in remote.cpp
  const std::uint32_t state = s.words->state.load(std::memory_order_seq_cst);
  return receives ? s.has_message() || (state & stream_core::closed) != 0
                  : s.has_room(room) || (state & stream_core::broken) != 0;
}

/// Reads the wait of an object. \returns false if the object runs, has ended, is being resumed, or its wait
/// can end without a stream
/// Acquire: a thread that reads a word of a later wait also sees the count of that wait, which differs.
bool read_wait(const object_core& o, observed_object& found) {
  found.count = o.wait_count.load(std::memory_order_acquire);
  if (found.count % 2 == 0 || o.has_ended.load(std::memory_order_acquire)) return false;
  const std::uint32_t waits = o.waits.load(std::memory_order_acquire);
  if (waits > object_core::most_waits) return false;
  const std::uint64_t number = o.suspension.load(std::memory_order_acquire);
  std::uintptr_t words[object_core::most_waits];
  std::uint64_t rooms[object_core::most_waits];
  for (std::uint32_t i = 0; i < waits; ++i) {
    words[i] = o.waits_for[i].load(std::memory_order_acquire);
    rooms[i] = o.rooms[i].load(std::memory_order_acquire);
  }
  if (o.wait_count.load(std::memory_order_acquire) != found.count) return false;
  bool ready = false;
  for (std::uint32_t i = 0; i < waits; ++i) {
    auto& s = *reinterpret_cast<stream_core*>(words[i] & ~std::uintptr_t{1});
    const bool receives = (words[i] & 1) != 0;
    ready = ready || is_ready(s, receives, rooms[i]);
    // Read before the tail, so that the fill is not below 0. pairs with: move in core.hpp
    const std::uint64_t head = s.words->head.load(std::memory_order_seq_cst);
    found.waits.push_back({s.number, receives, s.words->tail.load(std::memory_order_seq_cst) - head});
  }
  // Read last: if the resumption was not claimed yet, the streams were read during the wait.
  const bool in_place = o.kept_by.load(std::memory_order_acquire) == &o;
  return !ready && (number == 0 || sukima::detail::is_suspended(*o.self, number, in_place)) &&
         o.wait_count.load(std::memory_order_acquire) == found.count;
}

/// The objects that wait for each stream.
struct waiting_objects {
  std::vector<std::size_t> receivers, senders;
};

std::string names_of(const std::vector<std::string_view>& all) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), most); ++i)
    text.append(i == 0 ? "" : i + 1 == all.size() ? " and " : ", ").append(all[i]);
  if (all.size() > most) text += " and " + std::to_string(all.size() - most) + " more";
  return text;
}

/// Says which of the objects wait inside thread_bound and keep others of them from running.
std::string describe_keepers(const program_core& p, const observation& seen,
                             std::span<const std::size_t> dead) {
  std::string text;
  for (const std::size_t by : dead) {
    if (seen.objects[by].kept_by != by) continue;
    std::vector<std::string_view> kept;
    for (const std::size_t i : dead)
      if (i != by && seen.objects[i].kept_by == by) kept.push_back(p.objects[i]->name);
    if (!kept.empty())
      text += ". " + p.objects[by]->name + " waits inside thread_bound and so keeps " + names_of(kept) +
              " from running; let it wait outside";
  }
  return text;
}

std::string fill_of(const stream_core& s, std::uint64_t fill) {
  const bool in_bytes = s.remote != nullptr && s.to_processes == stream_core::journey::encoded;
  const std::uint64_t unit = in_bytes ? s.slot_size : 1;
  return " (" + std::to_string(std::min(fill, s.capacity) * unit) + " of " +
         std::to_string(s.capacity * unit) + (in_bytes ? " bytes)" : ")");
}

}  // namespace

observed_object observe(const object_core& o) {
  observed_object found;
  found.has_ended = o.has_ended.load(std::memory_order_acquire);  // pairs with: run_object in program.cpp
  for (const held_end& e : o.ends) found.ends.push_back({e.stream->number, e.is_out});
  if (!read_wait(o, found)) {
    found.count = 0;
    found.waits.clear();
  }
  // Read after the count of a wait. pairs with: keep_island in stream.cpp
  if (const object_core* const by = o.kept_by.load(std::memory_order_acquire); by != nullptr) {
    const auto& all = o.program->objects;
    const auto at = std::find_if(all.begin(), all.end(), [by](const auto& one) { return one.get() == by; });
    found.kept_by = static_cast<std::uint32_t>(at - all.begin());
  }
  return found;
}

observation observe_all(program_core& p) {
  observation all;
  std::vector<std::uint32_t> outs(p.streams.size()), ins(p.streams.size());
  const std::lock_guard hold(p.ends_lock);
  for (const auto& o : p.objects) {
    all.objects.push_back(observe(*o));
    for (const observed_end& e : all.objects.back().ends) ++(e.is_out ? outs : ins)[e.stream];
  }
  for (std::size_t i = 0; i < p.streams.size(); ++i) {
    // An object first lowers the count of ends, and then erases its end under this lock. Relaxed, because the
    // lock orders a count before the erased end. pairs with: close_end in stream.cpp
    all.unknown_outs.push_back(p.streams[i]->outs.load(std::memory_order_relaxed) > outs[i]);
    all.unknown_ins.push_back(p.streams[i]->ins.load(std::memory_order_relaxed) > ins[i]);
  }
  return all;
}

found_deadlock find_dead(const observation& before, const observation& now) {
  const std::size_t count = before.objects.size();
  std::vector<waiting_objects> at(before.unknown_outs.size());
  std::vector<bool> suspected(count), kept(count);
  std::vector<std::vector<std::size_t>> kept_by(count);
  std::vector<std::size_t> alive, others;
  for (std::size_t i = 0; i < count; ++i) {
    const observed_object& seen = before.objects[i];
    suspected[i] = seen.count != 0 && now.objects[i].count == seen.count;
    if (!suspected[i]) {
      others.push_back(i);
      continue;
    }
    for (const observed_wait& w : seen.waits)
      (w.receives ? at[w.stream].receivers : at[w.stream].senders).push_back(i);
  }
  // An object of which both observations show the same keeper was kept during the whole wait of the keeper
  // that was suspected: islands are divided, but never united.
  const auto go_on = [&](std::size_t i) {
    const std::uint32_t by = before.objects[i].kept_by;
    kept[i] = by < count && by != i && by == now.objects[i].kept_by && suspected[by] &&
              before.objects[by].kept_by == by;
    (kept[i] ? kept_by[by] : alive).push_back(i);
  };
  for (const std::size_t i : others) go_on(i);
  const auto free = [&](std::vector<std::size_t>& waiting) {
    for (const std::size_t i : std::exchange(waiting, {}))
      if (suspected[i]) {
        suspected[i] = false;
        go_on(i);
      }
  };
  const bool any_lives =
      std::any_of(others.begin(), others.end(), [&](std::size_t i) { return !before.objects[i].has_ended; });
  for (std::size_t s = 0; any_lives && s < at.size(); ++s) {
    if (before.unknown_outs[s]) free(at[s].receivers);
    if (before.unknown_ins[s]) free(at[s].senders);
  }
  while (!alive.empty()) {
    const std::size_t living = alive.back();
    const observed_object& o = before.objects[living];
    alive.pop_back();
    for (const std::size_t i : std::exchange(kept_by[living], {})) go_on(i);
    for (const observed_end& e : o.ends) free(e.is_out ? at[e.stream].receivers : at[e.stream].senders);
  }
  found_deadlock found;
  for (std::size_t i = 0; i < count; ++i)
    if (suspected[i] || (kept[i] && !now.objects[i].has_ended)) found.dead.push_back(i);
  const auto is_dead = [&](std::size_t i) { return suspected[i]; };
  for (std::uint32_t s = 0; s < at.size(); ++s) {
    if (before.unknown_outs[s] && std::ranges::any_of(at[s].receivers, is_dead))
      found.unused.push_back({s, true});
    if (before.unknown_ins[s] && std::ranges::any_of(at[s].senders, is_dead))
      found.unused.push_back({s, false});
  }
  return found;
}

std::string describe_deadlock(const program_core& p, const observation& seen, const found_deadlock& found) {
  const std::span<const std::size_t> dead(found.dead);
  constexpr std::size_t most = 20;
  std::string text;
  std::string larger;
  for (const std::size_t i : dead.first(std::min(dead.size(), most))) {
    for (const observed_wait& w : seen.objects[i].waits) {
      const stream_core& s = *p.streams[w.stream];
      std::vector<std::string_view> others;
      for (std::size_t k = 0; k < p.objects.size(); ++k)
        for (const observed_end& e : seen.objects[k].ends)
          if (k != i && e.stream == w.stream && e.is_out == w.receives &&
              (others.empty() || others.back() != p.objects[k]->name))
            others.push_back(p.objects[k]->name);
      text.append(text.empty() ? "" : "; ").append(p.objects[i]->name);
      text.append(w.receives ? " waits for a message from " : " waits for room in ").append(s.name);
      text += fill_of(s, w.fill);
      if (!others.empty())
        text.append(w.receives ? ", which is sent by " : ", which is emptied by ").append(names_of(others));
      if (!w.receives && larger.empty()) larger = s.name;
    }
  }
  if (dead.size() > most) text += "; and " + std::to_string(dead.size() - most) + " more";
  text += describe_keepers(p, seen, dead);
  if (!larger.empty()) text += ". With a larger capacity of " + larger + " its sender could continue";
  if (!found.unused.empty()) {
    const observed_end& end = found.unused.front();
    text.append(". No object has used ").append(end.is_out ? "a sending" : "a receiving").append(" end of ");
    text.append(p.streams[end.stream]->name).append("; if a variable outside the objects still has it, ");
    text.append("move it into its object");
  }
  return text;
}

}  // namespace sukima::objects::detail
