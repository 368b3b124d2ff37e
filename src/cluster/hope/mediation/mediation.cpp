// SPDX-License-Identifier: Apache-2.0
#include "hope/mediation/mediation.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <utility>

namespace sukima::cluster::hope {

namespace {

/// The size after which a bundle ends.
constexpr std::size_t full_bundle = std::size_t{256} << 10;
/// Bytes that are kept for the successor of one mediator.
constexpr std::size_t most_kept = std::size_t{1} << 20;
/// Bytes of bundles that wait for room. What is more is dropped.
constexpr std::size_t most_refused = std::size_t{4} << 20;

}  // namespace

mediation::mediation(const std::vector<bool>& gone, std::chrono::microseconds interval, sender send,
                     counters& counted)
    : gone_(gone),
      interval_(interval),
      send_(std::move(send)),
      counters_(counted),
      groups_(static_cast<unsigned>(gone.size())),
      kept_(gone.size()) {}

void mediation::begin(node_id self) { self_ = self; }

bool mediation::is_mediator() const { return groups_.mediator(groups_.of(self_), gone_) == self_; }

void mediation::post(bytes&& note, clock::time_point now) {
  SUKIMA_ASSERT(note.size() <= longest_bundled, "a longer note is sent to each node");
  add({.origin = self_, .from = self_, .for_all = true, .content = std::move(note)}, now);
}

void mediation::add(waiting_note&& one, clock::time_point now) {
  const auto n = read_note(one.content);
  const bool is_urgent = n && n->kind == note_kind::entry_result && !forwarded_.has_ended(n->entry);
  if (one.from == self_ && !is_mediator())
    own_.push_back(std::move(one));
  else
    counters_.add(&counts::deleted, forwarded_.add(std::move(one)));
  if (is_urgent) send_now(now);
}

void mediation::receive(node_id from, byte_view bundle, clock::time_point now,
                        const std::function<void(node_id, byte_view)>& take) {
  static_cast<void>(
      read_bundle(bundle, static_cast<unsigned>(gone_.size()), [&](bundle_way way, const carried_note& one) {
        if (one.origin == self_) return;
        if (way != bundle_way::down)
          add({.origin = one.origin,
               .from = from,
               .for_all = way == bundle_way::up,
               .content = bytes(one.content.begin(), one.content.end())},
              now);
        take(one.origin, one.content);
      }));
}

void mediation::went_to_all(const note& n) {
  std::erase_if(own_, [&n](const waiting_note& w) {
    const auto old = read_note(w.content);
    return old && old->kind == note_kind::claim && old->task == n.task;
  });
  counters_.add(&counts::deleted, forwarded_.went_to_all(n));
}

void mediation::forget_kept() {
  for (kept_bundles& kept : kept_) kept = {};
}

void mediation::lose(node_id node, clock::time_point now) {
  const std::optional<node_id> successor = groups_.mediator(groups_.of(node), gone_);
  for (kept_bundle& kept : std::exchange(kept_[node], {}).all) {
    if (now - kept.sent > kept_for_successor || !successor) continue;
    if (*successor != self_) {
      dispatch(*successor, kept.way, std::move(kept.content), now);
      continue;
    }
    // This node has sent them up, and is the mediator now.
    static_cast<void>(read_bundle(kept.content, static_cast<unsigned>(gone_.size()),
                                  [&](bundle_way, const carried_note& one) {
                                    add({.origin = one.origin,
                                         .from = self_,
                                         .for_all = true,
                                         .content = bytes(one.content.begin(), one.content.end())},
                                        now);
                                  }));
  }
}

clock::time_point mediation::next() const noexcept {
  const bool is_empty = own_.empty() && forwarded_.empty() && refused_.empty();
  return is_empty ? clock::time_point::max() : last_ + interval_;
}

void mediation::send_if_due(clock::time_point now) {
  if (now >= next()) send_now(now);
}

void mediation::send_now(clock::time_point now) {
  last_ = now;
  send_refused(now);
  const unsigned group = groups_.of(self_);
  const std::optional<node_id> mediator = groups_.mediator(group, gone_);
  std::vector<waiting_note> own = std::exchange(own_, {});
  if (mediator == self_) {  // since it has become so
    for (waiting_note& one : own) counters_.add(&counts::deleted, forwarded_.add(std::move(one)));
  } else if (mediator) {
    send_bundles(*mediator, bundle_way::up, own, now, [](const waiting_note&) { return true; });
  }
  const std::vector<waiting_note> notes = forwarded_.take();
  if (notes.empty()) return;
  for (unsigned other = 0; other < groups_.count(); ++other)
    if (const auto to = other != group ? groups_.mediator(other, gone_) : std::nullopt)
      send_bundles(*to, bundle_way::across, notes, now, [](const waiting_note& n) { return n.for_all; });
  for (node_id to = groups_.first(group); to < groups_.end(group); ++to)
    if (to != self_)
      send_bundles(to, bundle_way::down, notes, now,
                   [to](const waiting_note& n) { return n.origin != to && n.from != to; });
  counters_.add(&counts::forwarded, static_cast<std::uint64_t>(std::ranges::count_if(
                                        notes, [this](const waiting_note& n) { return n.origin != self_; })));
}

template <class Choose>
void mediation::send_bundles(node_id to, bundle_way way, const std::vector<waiting_note>& notes,
                             clock::time_point now, Choose choose) {
  bytes bundle;
  for (const waiting_note& n : notes) {
    if (!choose(n)) continue;
    if (bundle.empty()) bundle = begin_bundle(way);
    put_note(bundle, {.origin = n.origin, .content = n.content});
    if (bundle.size() >= full_bundle) dispatch(to, way, std::exchange(bundle, {}), now);
  }
  if (!bundle.empty()) dispatch(to, way, std::move(bundle), now);
}

void mediation::dispatch(node_id to, bundle_way way, bytes&& bundle, clock::time_point now) {
  if (gone_[to]) return;
  bytes copy = bundle;  // the transport may take it and refuse it
  if (!send_(to, std::move(bundle))) {
    if (refused_size_ + copy.size() > most_refused) return;
    refused_size_ += copy.size();
    refused_.push_back({to, way, std::move(copy)});
  } else if (way != bundle_way::down) {
    keep(to, {now, way, std::move(copy)});
  }
}

void mediation::send_refused(clock::time_point now) {
  refused_size_ = 0;
  for (refused_bundle& r : std::exchange(refused_, {})) {
    std::optional<node_id> to = r.to;
    if (gone_[r.to] && r.way != bundle_way::down) to = groups_.mediator(groups_.of(r.to), gone_);
    if (to && *to != self_) dispatch(*to, r.way, std::move(r.content), now);
  }
}

void mediation::keep(node_id mediator, kept_bundle&& one) {
  kept_bundles& kept = kept_[mediator];
  const clock::time_point now = one.sent;
  kept.size += one.content.size();
  kept.all.push_back(std::move(one));
  while (kept.size > most_kept || now - kept.all.front().sent > kept_for_successor) {
    kept.size -= kept.all.front().content.size();
    kept.all.pop_front();
  }
}

}  // namespace sukima::cluster::hope
