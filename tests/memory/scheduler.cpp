// SPDX-License-Identifier: Apache-2.0
#include "scheduler.hpp"

#include "sites.hpp"

#include <algorithm>

namespace sukima::memory {

namespace fc = boost::context::detail;

namespace {

constexpr std::size_t stack_size = 256 * 1024;

}  // namespace

explorer& the_explorer() {
  static explorer e;
  return e;
}

outcome explorer::explore(const program& p, const std::optional<weakening>& weaker) {
  result_ = {};
  executed_.clear();
  weaker_ = weaker;
  program_ = &p;
  choices_.clear();
  do {
    switch (execute(p)) {
      case verdict::whole:
        ++result_.executions;
        break;
      case verdict::redundant:
        ++result_.redundant;
        break;
      case verdict::cut:
        ++result_.cut;
        break;
      case verdict::wrong:
        break;
    }
  } while (!result_.error && next_branch());
  for (std::size_t i = 0; i < executed_.size(); ++i)
    if (executed_[i]) result_.sites.insert(static_cast<int>(i));
  return result_;
}

std::size_t explorer::choose(std::size_t count) {
  if (count == 1) return 0;
  if (depth_ == choices_.size()) choices_.push_back({0, count});
  return choices_[depth_++].taken;
}

bool explorer::next_branch() {
  while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().count) choices_.pop_back();
  if (choices_.empty()) return false;
  ++choices_.back().taken;
  return true;
}

void explorer::thread_main(fc::transfer_t from) {
  explorer& self = the_explorer();
  self.scheduler_ = from.fctx;
  self.program_->threads[static_cast<std::size_t>(self.running_)]();
  self.end_thread();
}

void explorer::end_thread() {
  explored_thread& me = threads_[static_cast<std::size_t>(running_)];
  me.state = thread_state::ended;
  me.wanted = {};
  fc::jump_fcontext(scheduler_, nullptr);
}

unsigned explorer::timed_waits() const noexcept {
  const auto timed = [](const explored_thread& t) { return t.state == thread_state::timed; };
  return static_cast<unsigned>(std::count_if(threads_.begin(), threads_.begin() + count_, timed));
}

void explorer::start_threads(const program& p) {
  count_ = static_cast<unsigned>(p.threads.size());
  for (unsigned t = 0; t < count_; ++t) {
    explored_thread& thread = threads_[t];
    if (thread.stack == nullptr) thread.stack = std::make_unique<char[]>(stack_size);
    thread.at = fc::make_fcontext(thread.stack.get() + stack_size, stack_size, thread_main);
    thread.state = thread_state::runs;
    thread.wanted = {};
    thread.left_behind = 0;
    thread.accesses = 0;
    thread.locals = nullptr;
  }
}

void explorer::resume(int number) {
  explored_thread& thread = threads_[static_cast<std::size_t>(number)];
  running_ = number;
  if (locals.enter != nullptr) locals.enter(thread.locals);
  const fc::transfer_t back = fc::jump_fcontext(thread.at, nullptr);
  thread.at = back.fctx;
  if (locals.leave != nullptr) thread.locals = locals.leave();
  running_ = none;
}

void explorer::perform(request& r) {
  explored_thread& me = threads_[static_cast<std::size_t>(running_)];
  ++me.accesses;
  me.wanted = r;
  scheduler_ = fc::jump_fcontext(scheduler_, nullptr).fctx;
  r.value = threads_[static_cast<std::size_t>(running_)].wanted.value;
  threads_[static_cast<std::size_t>(running_)].wanted.kind = request_kind::nothing;
}

void explorer::spin() {
  threads_[static_cast<std::size_t>(running_)].state = thread_state::spinning;
  scheduler_ = fc::jump_fcontext(scheduler_, nullptr).fctx;
}

void explorer::fail(const std::string& error) {
  if (!result_.error) result_.error = error + "\n" + describe(graph_);
  if (running_ != none) fc::jump_fcontext(scheduler_, nullptr);
  std::abort();  // not reached: an execution with an error is not continued
}

event explorer::event_for(int number, access kind) const {
  const request& r = threads_[static_cast<std::size_t>(number)].wanted;
  event e;
  e.kind = kind;
  e.order = r.order;
  e.thread = number;
  e.location = r.location;
  e.value = r.value;
  e.site = r.site;
  return e;
}

/// Stores and fences, which wait for nothing. \return false: there was none
bool explorer::do_at_once() {
  for (unsigned i = 0; i < count_; ++i) {
    const int t = static_cast<int>(i);
    explored_thread& thread = threads_[i];
    if (thread.state != thread_state::runs) continue;
    if (thread.wanted.kind == request_kind::fence) {
      graph_.add_fence(event_for(t, access::fence));
    } else if (thread.wanted.kind == request_kind::store) {
      const event e = event_for(t, access::store);
      std::vector<std::size_t> places = graph_.places(t, e.location);
      std::erase_if(places, [&](std::size_t p) { return !graph_.sc_allows_store(e, p); });
      graph_.add_store(e, places[choose(places.size())]);
    } else if (thread.wanted.kind != request_kind::nothing) {
      continue;
    }
    resume(t);
    return true;
  }
  return false;
}

bool explorer::is_new(int number, std::uint32_t stamp) const noexcept {
  const std::uint32_t after = threads_[static_cast<std::size_t>(number)].left_behind;
  return after == 0 || stamp > after;
}

void explorer::collect_reads(int number, bool as_change) {
  const explored_thread& thread = threads_[static_cast<std::size_t>(number)];
  const request& r = thread.wanted;
  const clock* const also = r.kind == request_kind::compare ? &thread.kernel : nullptr;
  for (const int w : graph_.readable(number, r.location, also)) {
    if (!is_new(number, graph_[w].stamp)) continue;
    const std::optional<std::uint64_t> next = as_change ? (*r.change)(graph_[w].value) : std::nullopt;
    event e = event_for(number, next ? access::rmw : access::load);
    if (next) {
      e.value = *next;
      if (!graph_.may_consume(w) || !graph_.sc_allows_rmw(e, w)) continue;
    } else {
      if (as_change) e.order = r.failure;
      if (!graph_.sc_allows_load(e, w)) continue;
    }
    options_.push_back({number, w});
  }
}

void explorer::collect_options() {
  options_.clear();
  for (unsigned i = 0; i < count_; ++i) {
    const int t = static_cast<int>(i);
    const explored_thread& thread = threads_[i];
    if (thread.state != thread_state::runs) continue;
    switch (thread.wanted.kind) {
      case request_kind::load:
      case request_kind::compare:
        collect_reads(t, false);
        break;
      case request_kind::change:
        collect_reads(t, true);
        break;
      case request_kind::lock:
        thread.wanted.lock->renew();
        if (!thread.wanted.lock->held_ && is_new(t, thread.wanted.lock->changed_))
          options_.push_back({t, none});
        break;
      case request_kind::begin_wait:
      case request_kind::wake:
        if (is_new(t, futexes_[thread.wanted.location].changed)) options_.push_back({t, none});
        break;
      case request_kind::nothing:
      case request_kind::store:
      case request_kind::fence:
        break;
    }
  }
}

void explorer::take_futex_call(int number) {
  explored_thread& thread = threads_[static_cast<std::size_t>(number)];
  futex_queue& queue = futexes_[thread.wanted.location];
  queue.known.join(graph_.known(number));
  queue.changed = graph_.next_stamp();
  if (thread.wanted.kind == request_kind::begin_wait) {
    thread.kernel = queue.known;
    queue.waiter = number;
    queue.woken = false;
    thread.wanted.kind = request_kind::compare;
    return;
  }
  if (queue.waiter != none) {
    explored_thread& sleeper = threads_[static_cast<std::size_t>(queue.waiter)];
    if (sleeper.state == thread_state::runs)
      queue.woken = true;
    else {
      sleeper.state = thread_state::runs;
      queue.waiter = none;
    }
  }
  resume(number);
}

void explorer::finish_compare(int number, std::uint64_t value) {
  explored_thread& thread = threads_[static_cast<std::size_t>(number)];
  futex_queue& queue = futexes_[thread.wanted.location];
  const bool sleeps = value == thread.wanted.value && !queue.woken;
  thread.wanted.kind = request_kind::nothing;
  if (sleeps)
    thread.state = thread.wanted.timed ? thread_state::timed : thread_state::blocked;
  else
    queue.waiter = none;
}

void explorer::take(const option& o) {
  // Those before it wait for something that is not there yet: see the top of explorer.hpp.
  for (int t = 0; t < o.thread; ++t) {
    explored_thread& before = threads_[static_cast<std::size_t>(t)];
    if (before.state == thread_state::runs) before.left_behind = graph_.now();
  }
  explored_thread& thread = threads_[static_cast<std::size_t>(o.thread)];
  thread.left_behind = 0;
  request& r = thread.wanted;
  switch (r.kind) {
    case request_kind::lock:
      r.lock->held_ = true;
      r.lock->changed_ = graph_.next_stamp();
      graph_.learn(o.thread, r.lock->released_);
      break;
    case request_kind::begin_wait:
    case request_kind::wake:
      take_futex_call(o.thread);
      return;
    case request_kind::compare: {
      event e = event_for(o.thread, access::load);
      e.order = std::memory_order_relaxed;
      graph_.add_load(e, o.write);
      finish_compare(o.thread, graph_[o.write].value);
      return;
    }
    case request_kind::change: {
      const std::uint64_t read = graph_[o.write].value;
      const std::optional<std::uint64_t> next = (*r.change)(read);
      event e = event_for(o.thread, next ? access::rmw : access::load);
      if (next) {
        e.value = *next;
        graph_.add_rmw(e, o.write);
      } else {
        e.order = r.failure;
        graph_.add_load(e, o.write);
      }
      r.value = read;
      break;
    }
    default:
      r.value = graph_[o.write].value;
      graph_.add_load(event_for(o.thread, access::load), o.write);
      break;
  }
  resume(o.thread);
}

explorer::verdict explorer::execute(const program& p) {
  ++generation_;
  at_end_ = false;
  graph_.clear();
  futexes_.clear();
  depth_ = 0;
  timeouts_left_ = p.timeouts;
  if (p.set_up) p.set_up();
  start_threads(p);
  for (;;) {
    if (result_.error) return verdict::wrong;
    const auto over = [&](const explored_thread& t) { return t.accesses > p.accesses_per_thread; };
    if (std::any_of(threads_.begin(), threads_.begin() + count_, over)) return verdict::cut;
    if (do_at_once()) continue;
    collect_options();
    if (!options_.empty()) {
      take(options_[choose(options_.size())]);
      continue;
    }
    const auto runs = [](const explored_thread& t) { return t.state == thread_state::runs; };
    // Left behind, and what it waits for never came.
    if (std::any_of(threads_.begin(), threads_.begin() + count_, runs)) return verdict::redundant;
    for (unsigned t = 0; t < count_; ++t)
      if (threads_[t].state == thread_state::spinning) {
        const verdict v = probe(static_cast<int>(t));
        if (v != verdict::whole) return v;
      }
    if (time_out(p)) continue;
    return finish(p);
  }
}

/// One more turn of a waiting loop, in which every load reads the last write. If it waits again it is stuck;
/// if not, the execution in which it read that write at once is another branch.
explorer::verdict explorer::probe(int number) {
  explored_thread& thread = threads_[static_cast<std::size_t>(number)];
  thread.state = thread_state::runs;
  thread.wanted = {};
  resume(number);
  while (thread.state == thread_state::runs) {
    if (result_.error) return verdict::wrong;
    if (!fulfil_latest(number)) return verdict::redundant;
    resume(number);
  }
  if (thread.state != thread_state::spinning) return verdict::redundant;
  thread.state = thread_state::stuck;
  return verdict::whole;
}

/// \return false: it does more than read
bool explorer::fulfil_latest(int number) {
  request& r = threads_[static_cast<std::size_t>(number)].wanted;
  if (r.kind != request_kind::load && r.kind != request_kind::change) return false;
  const int write = graph_.last_write(r.location);
  const std::uint64_t read = graph_[write].value;
  if (r.kind == request_kind::change && (*r.change)(read)) return false;
  event e = event_for(number, access::load);
  if (r.kind == request_kind::change) e.order = r.failure;
  graph_.add_load(e, write);
  r.value = read;
  return true;
}

bool explorer::time_out(const program& p) {
  for (unsigned t = 0; t < count_ && timeouts_left_ > 0; ++t) {
    if (threads_[t].state != thread_state::timed) continue;
    at_end_ = true;
    if (p.at_stall) p.at_stall();
    at_end_ = false;
    if (result_.error) return true;
    --timeouts_left_;
    for (auto& [location, queue] : futexes_)
      if (queue.waiter == static_cast<int>(t)) queue.waiter = none;
    threads_[t].state = thread_state::runs;
    for (explored_thread& other : threads_)
      if (other.state == thread_state::stuck) other.state = thread_state::spinning;
    return true;
  }
  return false;
}

explorer::verdict explorer::finish(const program& p) {
  bool all_ended = true;
  for (unsigned t = 0; t < count_; ++t) {
    all_ended &= threads_[t].state == thread_state::ended;
    // With no time-outs left: the rest is like what was seen.
    if (threads_[t].state == thread_state::timed && p.timeouts > 0) return verdict::cut;
  }
  at_end_ = true;
  if (!all_ended) {
    std::string waiting;
    for (unsigned t = 0; t < count_; ++t)
      if (threads_[t].state != thread_state::ended) waiting += " " + std::to_string(t);
    result_.error = "these threads wait for ever:" + waiting + "\n" + describe(graph_);
  } else if (p.at_end) {
    p.at_end();
  }
  return result_.error ? verdict::wrong : verdict::whole;
}

}  // namespace sukima::memory
