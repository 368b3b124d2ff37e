// SPDX-License-Identifier: Apache-2.0
// Searches for deadlocks: objects that wait for streams to which no living object will send, or from which
// none will receive.
//
// Every second the watch records which objects wait, and for which streams; a tenth of a second later it does
// so again. An object is suspected if it has waited during all that time, only for streams and without a time
// limit, and none of the streams was ready. Every other object is alive. An object is also alive if a living
// one can end its wait:
//   - it waits for a message of a stream, and a living object holds a sending end of that stream;
//   - it waits for room in a stream, and a living object holds a receiving end of that stream.
// But an object is not alive while a suspected one of its island waits inside thread_bound: that wait keeps
// the others of the island from running. This is repeated until no further object is found alive. The
// remaining ones are deadlocked: no object that could end their waits will ever run (find_deadlock.cpp).
//
// A living object may hold an end that no object has used yet. If no object lives, such an end is outside
// the objects, in a variable of main for example. Then the watch only reports the deadlock.
//
// If objects are processes, the parent begins a round and rings the doorbells. Each process answers for its
// objects. The round is complete when all have answered, so at some moment between two rounds all suspected
// objects were waiting. A process that does not answer counts as alive.
// Model: src/objects/model/deadlock.pml.
#include "deadlock/watch.hpp"

#include <runtime/shared/bad_setting.hpp>
#include <runtime/shared/start_thread.hpp>
#include <sukima/detail/own_thread.hpp>

#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "process/segment.hpp"
#include "program/program_core.hpp"

namespace sukima::objects::detail {

namespace {

/// Returns the answer about an object of another process; empty if the answer is malformed.
std::optional<observed_object> read_answer(const program_core& p, const segment& memory, std::size_t number) {
  object_waits& from = memory.waits(number);
  const std::span<const std::uint32_t> ends = memory.ends(from);
  if (from.waits > object_core::most_waits || from.ends > ends.size()) return std::nullopt;
  observed_object found;
  found.count = from.count;
  found.has_ended = from.has_ended != 0;
  found.kept_by = from.kept_by;
  for (std::uint32_t i = 0; i < from.waits; ++i) {
    if (from.all[i].stream >= p.streams.size()) return std::nullopt;
    found.waits.push_back({from.all[i].stream, from.all[i].receives != 0, from.all[i].fill});
  }
  for (const std::uint32_t end : ends.first(from.ends)) {
    if (end / 2 >= p.streams.size()) return std::nullopt;
    found.ends.push_back({end / 2, end % 2 != 0});
  }
  return found;
}

}  // namespace

bool does_deadlock_of_some_end() {
  const char* const wish = std::getenv("SUKIMA_DEADLOCK");
  if (wish == nullptr || *wish == '\0') return false;
  if (std::strcmp(wish, "end") != 0)
    sukima::detail::throw_bad_setting("SUKIMA_DEADLOCK=" + std::string(wish) + ": it must be end, or unset");
  return true;
}

void answer_watch(program_core& p, const segment& memory, std::uint32_t process) noexcept {
  process_words& mine = memory.process(process);
  // After the ring. pairs with: ask_processes
  const std::uint32_t round = memory.header().watch_round.load(std::memory_order_seq_cst);
  if (mine.answered.load(std::memory_order_relaxed) == round) return;  // only this thread stores it
  {
    const std::lock_guard hold(p.ends_lock);
    for (std::size_t i = 0; i < p.objects.size(); ++i) {
      if (p.objects[i]->process != process) continue;
      const observed_object seen = detail::observe(*p.objects[i]);
      object_waits& to = memory.waits(i);
      to.count = seen.count;
      to.has_ended = seen.has_ended ? 1 : 0;
      to.kept_by = seen.kept_by;
      to.waits = static_cast<std::uint32_t>(seen.waits.size());
      for (std::size_t k = 0; k < seen.waits.size(); ++k)
        to.all[k] = {seen.waits[k].stream, seen.waits[k].receives ? 1U : 0U, seen.waits[k].fill};
      const std::span<std::uint32_t> ends = memory.ends(to);
      to.ends = static_cast<std::uint32_t>(std::min(seen.ends.size(), ends.size()));
      for (std::uint32_t k = 0; k < to.ends; ++k)
        ends[k] = seen.ends[k].stream * 2 + (seen.ends[k].is_out ? 1U : 0U);
    }
  }
  mine.answered.store(round, std::memory_order_seq_cst);  // after the answers; pairs with: ask_processes
}

deadlock_watch::deadlock_watch(program_core& of) : of_(of) {
  const sukima::detail::signals_blocked here;
  thread_ = sukima::detail::start_thread("the detection of deadlocks", [this] { run(); });
}

deadlock_watch::~deadlock_watch() {
  {
    const std::lock_guard hold(lock_);
    ends_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

bool deadlock_watch::sleep(std::chrono::milliseconds time) {
  std::unique_lock hold(lock_);
  return !ended_.wait_for(hold, time, [this] { return ends_; });
}

void deadlock_watch::run() {
  pthread_setname_np(pthread_self(), "sukima-watch");
  while (sleep(std::chrono::milliseconds(1000))) look();
}

std::optional<observation> deadlock_watch::observe() {
  if (of_.memory != nullptr) return ask_processes();
  return observe_all(of_);
}

std::optional<observation> deadlock_watch::ask_processes() {
  const segment& memory = *of_.memory;
  const std::uint32_t processes = memory.header().processes;
  // Relaxed: only this thread stores it. The store comes before the ring. pairs with: answer_watch
  const std::uint32_t round = memory.header().watch_round.load(std::memory_order_relaxed) + 1;
  memory.header().watch_round.store(round, std::memory_order_seq_cst);
  memory.ring_all();
  std::vector<bool> gone(processes);
  auto pause = std::chrono::milliseconds(1);
  for (std::uint32_t i = 0; i < processes; ++i) {
    // A process that does not answer counts as alive, so the search waits for it.
    // pairs with: answer_watch; run_islands in program.cpp; run_as_parent in process_roles.cpp;
    // close_ends_of_dead_process in remote.cpp
    while (!(gone[i] = memory.process(i).gone.load(std::memory_order_seq_cst) != 0) &&
           memory.process(i).answered.load(std::memory_order_seq_cst) != round) {
      if (!sleep(pause)) return std::nullopt;
      pause = std::min(2 * pause, std::chrono::milliseconds(100));
    }
  }
  observation all;
  all.unknown_outs.resize(of_.streams.size());  // each end is an argument of its object: share_streams
  all.unknown_ins.resize(of_.streams.size());
  for (std::size_t i = 0; i < of_.objects.size(); ++i) {
    const std::uint32_t home = memory.homes()[i].process;
    if (home < processes && gone[home]) {
      all.objects.emplace_back().has_ended = true;
      continue;
    }
    std::optional<observed_object> seen = read_answer(of_, memory, i);
    if (!seen) return std::nullopt;
    all.objects.push_back(*std::move(seen));
  }
  return all;
}

void deadlock_watch::look() {
  if (of_.abort_began()) return;
  const std::optional<observation> before = observe();
  if (!before || std::none_of(before->objects.begin(), before->objects.end(),
                              [](const observed_object& o) { return o.count != 0; }))
    return;
  if (!sleep(std::chrono::milliseconds(100))) return;
  const std::optional<observation> now = observe();
  if (!now) return;
  const found_deadlock found = find_dead(*before, *now);
  if (found.dead.empty()) return;
  std::size_t ended = 0;
  for (const observed_object& o : now->objects) ended += o.has_ended ? 1 : 0;
  const bool all = found.dead.size() + ended == of_.objects.size();
  const std::string text = std::string("sukima: ") + (all ? "all" : "some") +
                           " objects wait for one another: " + describe_deadlock(of_, *now, found);
  // A thread outside the objects may still release an unused end.
  if ((all && found.unused.empty()) || of_.deadlock_of_some_ends) {
    of_.note_error(std::make_exception_ptr(deadlock(text)), text, false);
    of_.abort();
  } else if (text != reported_) {
    std::fprintf(stderr, "%s\n", text.c_str());
    reported_ = text;
  }
}

}  // namespace sukima::objects::detail
