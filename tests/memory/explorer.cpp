// SPDX-License-Identifier: Apache-2.0
// The functions that the threads of a program call.
#include "explorer.hpp"

#include "scheduler.hpp"
#include "sites.hpp"

namespace sukima::memory {

outcome explore(const program& p, const std::optional<weakening>& weaker) {
  return the_explorer().explore(p, weaker);
}

void keep(thread_locals hooks) { the_explorer().locals = hooks; }

int running_thread() noexcept { return the_explorer().running(); }

void require(bool holds, const char* claim) {
  if (!holds) the_explorer().note_error(std::string("required, but not so: ") + claim);
}

void wait_for_change() {
  if (the_explorer().inside()) the_explorer().spin();
}

void end_thread() { the_explorer().end_thread(); }

unsigned timed_waits() { return the_explorer().timed_waits(); }

void fence(std::memory_order order, const std::source_location& where) {
  request r;
  r.kind = request_kind::fence;
  r.site = site_of(where, "fence", order);
  r.order = the_explorer().order_at(r.site, order);
  the_explorer().perform(r);
}

atomic_base::atomic_base(std::uint64_t first) : first_(first) { the_explorer().begin(*this); }

atomic_base::~atomic_base() { the_explorer().end(*this); }

std::uint64_t atomic_base::load(std::memory_order order, const std::source_location& where) const {
  explorer& e = the_explorer();
  if (!e.inside()) return e.last_value(*this);
  request r;
  r.kind = request_kind::load;
  r.location = e.locate(*this);
  r.site = site_of(where, "load", order);
  r.order = e.order_at(r.site, order);
  e.perform(r);
  return r.value;
}

void atomic_base::store(std::uint64_t value, std::memory_order order, const std::source_location& where) {
  explorer& e = the_explorer();
  if (!e.inside()) {
    if (!e.at_end()) first_ = value;
    return;
  }
  request r;
  r.kind = request_kind::store;
  r.location = e.locate(*this);
  r.site = site_of(where, "store", order);
  r.order = e.order_at(r.site, order);
  r.value = value;
  e.perform(r);
}

std::uint64_t atomic_base::change(const std::function<std::optional<std::uint64_t>(std::uint64_t)>& change,
                                  const char* operation, std::memory_order order, std::memory_order failure,
                                  const std::source_location& where) {
  explorer& e = the_explorer();
  if (!e.inside()) {
    const std::uint64_t before = e.last_value(*this);
    const std::optional<std::uint64_t> next = change(before);
    if (next && !e.at_end()) first_ = *next;
    return before;
  }
  request r;
  r.kind = request_kind::change;
  r.location = e.locate(*this);
  r.site = site_of(where, operation, order);
  r.order = e.order_at(r.site, order);
  // A compare-exchange that fails is as weak as one that succeeds.
  r.failure = acquires(r.order) ? failure : std::memory_order_relaxed;
  if (r.failure == std::memory_order_seq_cst && r.order != std::memory_order_seq_cst)
    r.failure = std::memory_order_acquire;
  r.change = &change;
  e.perform(r);
  return r.value;
}

int explorer::locate(const atomic_base& a) {
  if (a.generation_ != generation_) {
    a.generation_ = generation_;
    a.location_ = graph_.add_location(none, a.first_);
  } else if (graph_.ended(a.location_)) {
    fail("an access to an atomic object that has been destroyed");
  } else if (!graph_.knows_location(running_, a.location_)) {
    fail("a data race: an access to an atomic object that is not ordered after its making");
  }
  return a.location_;
}

void explorer::begin(atomic_base& a) {
  if (!inside()) return;
  a.generation_ = generation_;
  a.location_ = graph_.add_location(running_, a.first_);
}

void explorer::end(atomic_base& a) {
  if (!inside()) return;
  if (!graph_.end_location(running_, locate(a)))
    fail("a data race: an atomic object is destroyed while another thread may access it");
}

std::uint64_t explorer::last_value(const atomic_base& a) const {
  return a.generation_ == generation_ ? graph_[graph_.last_write(a.location_)].value : a.first_;
}

std::memory_order explorer::order_at(int site, std::memory_order written) {
  const auto i = static_cast<std::size_t>(site);
  if (i >= executed_.size()) executed_.resize(i + 1);
  executed_[i] = true;
  return weaker_ && weaker_->site == site ? weaker_->order : written;
}

void explorer::note_error(const std::string& error) {
  if (running_ != none) fail(error);
  if (!result_.error) result_.error = error + "\n" + describe(graph_);
}

void futex_wait(atomic_base& word, std::uint64_t expected, bool timed) {
  explorer& e = the_explorer();
  request r;
  r.kind = request_kind::begin_wait;
  r.location = e.locate(word);
  r.value = expected;
  r.timed = timed;
  e.perform(r);
}

void futex_wake(atomic_base& word) {
  explorer& e = the_explorer();
  if (!e.inside()) return;
  request r;
  r.kind = request_kind::wake;
  r.location = e.locate(word);
  e.perform(r);
}

void mutex::renew() {
  const std::uint32_t now = the_explorer().generation();
  if (generation_ == now) return;
  generation_ = now;
  held_ = false;
  changed_ = 0;
  released_ = {};
}

void mutex::lock() {
  explorer& e = the_explorer();
  if (!e.inside()) return;
  request r;
  r.kind = request_kind::lock;
  r.lock = this;
  e.perform(r);
}

void mutex::unlock() {
  if (the_explorer().inside()) the_explorer().unlock(*this);
}

bool mutex::try_lock() {
  the_explorer().note_error("try_lock is not explored");
  return false;
}

void explorer::unlock(mutex& m) {
  graph_.step(running_);
  m.released_ = graph_.known(running_);
  m.changed_ = graph_.next_stamp();
  m.held_ = false;
}

void plain_base::note_read() const {
  explorer& e = the_explorer();
  if (!e.inside()) return;
  const int t = e.running();
  const std::uint16_t now = e.events().step(t);
  if (generation_ != e.generation()) {
    generation_ = e.generation();
    writer_ = none;
    written_ = 0;
    read_ = {};
  }
  if (!e.events().known(t).covers(writer_, written_)) e.fail("a data race: a read beside a write");
  read_.steps[static_cast<unsigned>(t)] = now;
}

void plain_base::note_write() {
  explorer& e = the_explorer();
  if (!e.inside()) return;
  note_read();
  const int t = e.running();
  for (unsigned i = 0; i < max_threads; ++i)
    if (e.events().known(t).steps[i] < read_.steps[i]) e.fail("a data race: a write beside a read");
  writer_ = t;
  written_ = e.events().known(t).steps[static_cast<unsigned>(t)];
}

}  // namespace sukima::memory
