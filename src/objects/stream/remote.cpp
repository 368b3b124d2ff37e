// SPDX-License-Identifier: Apache-2.0
// Streams between processes. A waiting object is in the list of its own process; `waiting` shows that some
// process has such an object. A process that moves an index and finds `waiting` set clears it, and rings all
// processes of that side. Each of these wakes as many of its objects as can continue, and sets `waiting`
// again for the others.
#include "stream/remote.hpp"

#include "program/program_core.hpp"
#include "stream/pipe.hpp"
#include "stream/waiting.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace sukima::objects::detail {

namespace {

std::span<party> parties(const segment& memory, const shared_stream& s, bool out) noexcept {
  return out ? memory.senders(s) : memory.receivers(s);
}

/// Rings the doorbells of the processes of that side.
void ring(const segment& memory, const shared_stream& s, std::size_t index, std::uint32_t side) noexcept {
  for (const party& p : parties(memory, s, side == stream_core::senders_wait))
    memory.bell(p.process).ring(bit_of(index, side));
}

/// Closes a process's ends on this side. The process that closes the last end finds all others closed,
/// because each process stores its own word before it reads any, and the words are sequentially consistent.
/// Model: src/objects/model/close.pml.
void close_party(const segment& memory, shared_stream& s, std::size_t index, std::uint32_t process,
                 bool out) noexcept {
  const std::span<party> all = parties(memory, s, out);
  for (party& p : all)
    // Before all are read. pairs with: close_party
    if (p.process == process) p.open.store(0, std::memory_order_seq_cst);
  if (std::any_of(all.begin(), all.end(),
                  [](const party& p) { return p.open.load(std::memory_order_seq_cst) != 0; }))
    return;
  // Before the ring. pairs with: wait_for_others, is_ready in stream.cpp
  s.state.fetch_or(out ? stream_core::closed : stream_core::broken, std::memory_order_seq_cst);
  ring(memory, s, index, out ? stream_core::receivers_wait : stream_core::senders_wait);
}

/// Marks a stream as failed, unless another process has done so.
/// \param state the stream's state from now on
/// \param is_dead whether the process is dead: it may have begun this function itself
void fail(shared_stream& s, std::uint32_t process, const std::string& text, std::uint32_t state,
          bool is_dead) noexcept {
  std::uint32_t writer = 0;
  // Only the first process writes the text. A dead process writes nothing more. pairs with: fail
  if (!s.failing.compare_exchange_strong(writer, process + 1, std::memory_order_seq_cst) &&
      !(is_dead && writer == process + 1 &&
        (s.state.load(std::memory_order_seq_cst) & stream_core::failed) == 0))
    return;
  const std::size_t size = std::min(text.size(), shared_stream::most_text - 1);
  std::memcpy(s.failure, text.data(), size);
  s.failure[size] = '\0';
  s.state.fetch_or(state, std::memory_order_seq_cst);  // after the text; pairs with: now in core.hpp
}

}  // namespace

void wake_here(stream_core& core, std::uint32_t side) noexcept {
  const std::lock_guard hold(core.lists_lock);
  wait_list& list = side == stream_core::receivers_wait ? core.receivers : core.senders;
  const std::uint32_t over = side == stream_core::receivers_wait ? stream_core::closed : stream_core::broken;
  // A mover of an index has rung, or will find `waiting` set by the store below.
  // pairs with: close_party; move in core.hpp
  const auto can_go_on = [&]() noexcept -> std::uint64_t {
    if ((core.words->state.load(std::memory_order_seq_cst) & over) != 0) return ~std::uint64_t{0};
    const std::uint64_t messages =
        core.words->tail.load(std::memory_order_seq_cst) - core.words->head.load(std::memory_order_seq_cst);
    return side == stream_core::receivers_wait ? messages : core.capacity - messages;
  };
  while (list.first != nullptr) {
    for (std::uint64_t count = can_go_on(); count != 0 && list.first != nullptr;) {
      wait_case& c = *list.first;
      list.remove(c);
      if (claim(*c.wait)) --count;
    }
    if (list.first == nullptr) return;
    // Before the stream is checked again. pairs with: move in core.hpp
    core.words->waiting.fetch_or(side, std::memory_order_seq_cst);
    // Objects that wait for several slots check the room themselves.
    if (can_go_on() < std::max<std::uint64_t>(list.first->room, 1)) return;
  }
}

void remote_deleter::operator()(remote_stream* r) const noexcept { delete r; }

void attach_streams(program_core& p, const segment& memory, std::uint32_t process) {
  for (std::size_t i = 0; i < p.streams.size(); ++i) {
    shared_stream* const at = memory.stream(i);
    if (at == nullptr) continue;
    stream_core& s = *p.streams[i];
    s.remote.reset(new remote_stream{memory, *at, i, process});
    s.words = at;
    s.shared = true;
    s.capacity = at->facts.capacity;
    s.slot_size = at->facts.slot_size;
    s.piped = at->facts.pipe_in >= 0;
    s.in_records = s.piped || s.to_processes == stream_core::journey::encoded;
    if (s.piped) s.many_in = s.many_out = s.many_in || s.many_out;  // see lock_piped
    ::operator delete(std::exchange(s.slots, memory.slots(*at)), std::align_val_t{s.slot_alignment});
  }
}

void lock_remote(stream_core& s, bool out) {
  if (s.piped) {
    if (!lock_piped(s.remote->at, out)) return;
    // The dead process would have rung after it had moved its index.
    wake_remote(s, stream_core::senders_wait);
    wake_remote(s, stream_core::receivers_wait);
    return;
  }
  pthread_mutex_t& lock = out ? s.remote->at.out_lock : s.remote->at.in_lock;
  // The dead holder moved the index or did not; in both cases the index is correct.
  if (pthread_mutex_lock(&lock) == EOWNERDEAD) pthread_mutex_consistent(&lock);
}

void unlock_remote(stream_core& s, bool out) noexcept {
  pthread_mutex_unlock(out ? &s.remote->at.out_lock : &s.remote->at.in_lock);
}

void wake_remote(stream_core& s, std::uint32_t side) noexcept {
  const remote_stream& r = *s.remote;
  // If this process dies after this step, only the parent rings for it. The partners set the bit and then
  // check the stream once more. pairs with: wake_here; enlist in stream.cpp
  if ((s.words->waiting.fetch_and(~side, std::memory_order_seq_cst) & side) == 0) return;
  for (const party& p : parties(r.memory, r.at, side == stream_core::senders_wait)) {
    if (p.process == r.process)
      wake_here(s, side);
    else
      r.memory.bell(p.process).ring(bit_of(r.index, side));
  }
}

void close_remote(stream_core& s, bool out) noexcept {
  const remote_stream& r = *s.remote;
  const std::span<party> all = parties(r.memory, r.at, out);
  // A process that drops the objects of other processes closes no end of these.
  if (std::any_of(all.begin(), all.end(), [&](const party& p) { return p.process == r.process; }))
    close_party(r.memory, r.at, r.index, r.process, out);
}

void fail_remote(stream_core& s, const std::string& text, std::uint32_t state) noexcept {
  fail(s.remote->at, s.remote->process, text, state, false);
}

const char* failure_of(const stream_core& s) noexcept {
  return s.remote ? s.remote->at.failure : s.failure.c_str();
}

void close_ends_of_dead_process(const program_core& p, const segment& memory, std::uint32_t process,
                                const std::string& failure) {
  for (std::size_t i = 0; i < p.streams.size(); ++i) {
    shared_stream* const s = memory.stream(i);
    if (s == nullptr) continue;
    bool had_end = false;
    for (const bool out : {true, false})
      for (const party& one : parties(memory, *s, out)) {
        if (one.process != process) continue;
        had_end = true;
        // That process is dead. pairs with: close_party
        if (out && one.open.load(std::memory_order_seq_cst) != 0 && !failure.empty())
          fail(*s, process, "sukima: stream " + p.streams[i]->name + ": " + failure, stream_core::failed,
               true);
        close_party(memory, *s, i, process, out);
      }
    if (!had_end) continue;
    for (const std::uint32_t side : {stream_core::receivers_wait, stream_core::senders_wait})
      for (const party& one : parties(memory, *s, side == stream_core::senders_wait))
        memory.bell(one.process).ring_and_wake(bit_of(i, side));
  }
  memory.process(process).gone.store(1, std::memory_order_seq_cst);  // its ends are closed
}

}  // namespace sukima::objects::detail
