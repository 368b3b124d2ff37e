// SPDX-License-Identifier: Apache-2.0
// The SC axiom of RC11:
//   scb      = sb ∪ sb|≠loc ; hb ; sb|≠loc ∪ hb|loc ∪ mo ∪ fr
//   psc_base = ([SC access] ∪ [SC fence] ; hb?) ; scb ; ([SC access] ∪ hb? ; [SC fence])
//   psc_F    = [SC fence] ; (hb ∪ hb ; eco ; hb) ; [SC fence]
//   psc_base ∪ psc_F is acyclic
// Without SC fences an edge of psc begins and ends at SC accesses, and none comes to be between two events
// that were there before: so edges are kept, and only a new SC access is looked at. With SC fences the
// definition is evaluated.
#include "graph.hpp"

#include <algorithm>

namespace sukima::memory {

void graph::undo_last() {
  const event gone = events_.back();
  const int id = size() - 1;
  if (gone.location != none) {
    location_state& l = locations_[at(gone.location)];
    l.accesses.pop_back();
    if (gone.writes()) {
      l.order.erase(l.order.begin() + static_cast<std::ptrdiff_t>(gone.place));
      for (std::size_t p = gone.place; p < l.order.size(); ++p) events_[at(l.order[p])].place = p;
    }
    if (gone.kind == access::rmw) events_[at(gone.reads)].consumed = false;
  }
  in_thread_[at(gone.thread)].pop_back();
  events_.pop_back();
  sc_after_.pop_back();
  if (!sc_events_.empty() && sc_events_.back() == id) {
    sc_events_.pop_back();
    for (const int s : sc_events_) sc_after_[at(s)].reset(at(id));
  }
}

template <class Add> bool graph::sc_allows(const event& e, Add add) {
  // An access that is not SC closes no cycle unless there are SC fences.
  if (!e.is_sc() && !has_sc_fence_) return true;
  const thread_state thread = threads_[at(e.thread)];
  const clock accessed = locations_[at(e.location)].accessed;
  const int id = add();
  const bool fine = has_sc_fence_ ? sc_holds() : !reaches(sc_after_[at(id)], id);
  undo_last();
  threads_[at(e.thread)] = thread;
  locations_[at(e.location)].accessed = accessed;
  --stamp_;
  return fine;
}

bool graph::sc_allows_load(const event& e, int write) {
  return sc_allows(e, [&] { return add_load(e, write); });
}

bool graph::sc_allows_store(const event& e, std::size_t place) {
  return sc_allows(e, [&] { return add_store(e, place); });
}

bool graph::sc_allows_rmw(const event& e, int write) {
  return sc_allows(e, [&] { return add_rmw(e, write); });
}

bool graph::reaches(const set& from, int to) const {
  if (from.none()) return false;
  set seen = from;
  std::vector<int> next;
  for (const int s : sc_events_)
    if (from[at(s)]) next.push_back(s);
  while (!next.empty()) {
    const int s = next.back();
    next.pop_back();
    if (s == to) return true;
    for (const int after : sc_events_)
      if (sc_after_[at(s)][at(after)] && !seen[at(after)]) {
        seen.set(at(after));
        next.push_back(after);
      }
  }
  return false;
}

void graph::link_sc(int id) {
  const event& e = events_[at(id)];
  if (!e.is_sc()) return;
  for (const int s : sc_events_) {
    const event& other = events_[at(s)];
    if (scb(other, e)) sc_after_[at(s)].set(at(id));
    if (scb(e, other)) sc_after_[at(id)].set(at(s));
  }
  sc_events_.push_back(id);
}

bool graph::happens_before(const event& a, const event& b) const noexcept {
  return &a != &b && b.known.covers(a.thread, a.step) && b.thread != none;
}

/// The place of the write that an event reads; −1: it reads nothing.
long graph::read_place(const event& e) const noexcept {
  return e.reads == none ? -1 : static_cast<long>(events_[at(e.reads)].place);
}

/// eco = (rf ∪ mo ∪ fr)⁺ of two accesses of one location.
bool graph::extended_coherence(const event& a, const event& b) const noexcept {
  if (a.location == none || a.location != b.location || &a == &b) return false;
  const long a_reads = read_place(a);
  const long b_reads = read_place(b);
  const long a_writes = a.writes() ? static_cast<long>(a.place) : -1;
  const long b_writes = b.writes() ? static_cast<long>(b.place) : -1;
  if (a_writes >= 0 && b_writes >= 0 && a_writes < b_writes) return true;
  if (a_writes >= 0 && b_reads >= 0 && a_writes <= b_reads) return true;
  if (a_reads >= 0 && b_writes >= 0 && a_reads < b_writes) return true;
  return a_reads >= 0 && b_reads >= 0 && a_reads < b_reads;
}

/// sb|≠loc ; hb ; sb|≠loc
bool graph::different_location_path(const event& start, const event& e) const {
  if (start.kind == access::first || e.kind == access::first) return false;
  const auto differ = [](const event& a, const event& b) {
    return a.location == none || a.location != b.location;
  };
  // The last event before e at another location knows most.
  const std::vector<int>& before_e = in_thread_[at(e.thread)];
  std::size_t y = e.index;
  while (y > 0 && !differ(events_[at(before_e[y - 1])], e)) --y;
  if (y == 0) return false;
  const clock& known = events_[at(before_e[y - 1])].known;
  // The first event after start at another location is known soonest.
  const std::vector<int>& after_s = in_thread_[at(start.thread)];
  std::size_t c = start.index + 1;
  while (c < after_s.size() && !differ(events_[at(after_s[c])], start)) ++c;
  return c < after_s.size() && known.covers(start.thread, events_[at(after_s[c])].step);
}

bool graph::scb(const event& a, const event& b) const {
  if (&a == &b) return false;
  if (a.thread == b.thread && a.step < b.step) return true;
  const bool same = a.location != none && a.location == b.location;
  if (same && happens_before(a, b)) return true;
  if (same) {
    if (a.writes() && b.writes() && a.place < b.place) return true;
    const long reads = read_place(a);
    if (reads >= 0 && b.writes() && reads < static_cast<long>(b.place)) return true;
  }
  return different_location_path(a, b);
}

bool graph::psc(const event& a, const event& b) const {
  const bool from_fence = a.kind == access::fence;
  const bool to_fence = b.kind == access::fence;
  if (from_fence && to_fence && happens_before(a, b)) return true;
  for (const event& x : events_) {
    if (&x != &a && !(from_fence && happens_before(a, x))) continue;
    for (const event& y : events_) {
      if (&y != &b && !(to_fence && happens_before(y, b))) continue;
      if (scb(x, y)) return true;
      if (from_fence && to_fence && &x != &a && &y != &b && extended_coherence(x, y)) return true;
    }
  }
  return false;
}

bool graph::sc_holds() const {
  std::vector<const event*> nodes;
  for (const event& e : events_)
    if (e.is_sc()) nodes.push_back(&e);
  const std::size_t n = nodes.size();
  std::vector<std::vector<bool>> after(n, std::vector<bool>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) after[i][j] = i != j && psc(*nodes[i], *nodes[j]);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; after[i][k] && j < n; ++j)
        if (after[k][j]) after[i][j] = true;
  for (std::size_t i = 0; i < n; ++i)
    if (after[i][i]) return false;
  return true;
}

}  // namespace sukima::memory
