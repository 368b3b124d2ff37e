// SPDX-License-Identifier: Apache-2.0
#include "hope/mediation/mediation.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <utility>

namespace sukima::cluster::hope {

namespace {

/// The size in bytes after which a bundle ends.
constexpr std::size_t full_bundle = std::size_t{256} << 10;
/// Most bytes that are kept for the successor of one mediator.
constexpr std::size_t most_kept = std::size_t{1} << 20;
/// Most bytes of bundles that wait for room. Further bundles are dropped.
constexpr std::size_t most_refused = std::size_t{4} << 20;
/// Most bytes of notes that are kept for later subscriptions.
constexpr std::size_t most_logged = std::size_t{32} << 20;
/// Number of intervals that a subscription waits for other notes.
constexpr int intervals_of_subscription = 2;

}  // namespace

mediation::mediation(const std::vector<bool>& gone, std::chrono::microseconds interval, sender send,
                     subscriber subscribe, counters& counted)
    : gone_(gone),
      interval_(interval),
      send_(std::move(send)),
      subscribe_(std::move(subscribe)),
      counters_(counted),
      groups_(static_cast<unsigned>(gone.size())),
      log_(most_logged),
      interests_(gone.size()),
      kept_(gone.size()) {}

void mediation::begin(node_id self) { self_ = self; }

bool mediation::is_mediator() const { return groups_.mediator(groups_.of(self_), gone_) == self_; }

void mediation::post(bytes&& note, clock::time_point now) {
  SUKIMA_ASSERT(note.size() <= longest_bundled, "a longer note is sent to each node");
  add({.origin = self_, .from = self_, .for_all = true, .content = std::move(note)}, now);
}

void mediation::add(waiting_note&& one, clock::time_point now) {
  const auto n = read_note(one.content);
  if (n && n->kind == note_kind::interest) return;  // it was sent to the mediator that this node succeeds
  const bool is_urgent = n && n->kind == note_kind::entry_result && !forwarded_.has_ended(n->entry);
  if (one.from == self_ && !is_mediator())
    own_.push_back(std::move(one));
  else
    forward(std::move(one), now);
  if (is_urgent) send_now(now);
}

void mediation::forward(waiting_note&& one, clock::time_point now) {
  if (const auto n = read_note(one.content)) log_.add(one.origin, *n, one.content, now);
  counters_.add(&counts::deleted, forwarded_.add(std::move(one)));
}

void mediation::needs_other_notes(bool at_once) {
  if (is_mediator()) return;  // a mediator receives all notes
  needs_others_ = true;
  subscribes_at_once_ = subscribes_at_once_ || at_once;
}

void mediation::subscribe_if_needed(node_id mediator) {
  interest now = subscribe_();
  now.normalise();
  now.version = version_;
  if (subscribed_at_ == mediator && subscribed_ == now) return;
  if (version_ == 0 && now.is_all) return;  // every mediator assumes this
  now.version = ++version_;
  const bytes content = write_interest(now);
  own_.push_back(
      {.origin = self_,
       .from = self_,
       .for_all = false,
       .content = write_note({.kind = note_kind::interest, .entry = now.entry, .content = content})});
  subscribed_ = std::move(now);
  subscribed_at_ = mediator;
}

void mediation::take_interest(node_id from, const note& n, clock::time_point now) {
  auto later = read_interest(n);
  if (!later) return;
  const std::optional<interest> before = std::exchange(interests_[from], {});
  if (before && before->version >= later->version) {
    interests_[from] = before;
    return;
  }
  interests_[from] = std::move(later);
  // A node whose subscription was unknown, or included all notes, has received all notes.
  if (!before || before->entry != interests_[from]->entry || before->is_all) return;
  std::vector<waiting_note> kept;
  log_.replay(*interests_[from], *before, now, [&](node_id origin, bytes&& content) {
    if (origin != from) kept.push_back({.origin = origin, .from = self_, .content = std::move(content)});
  });
  send_bundles(from, bundle_way::down, kept, now, [](const waiting_note&) { return true; });
}

std::optional<node_id> mediation::keeper_for(unsigned group) const {
  for (unsigned step = 1; step < groups_.count(); ++step)
    if (const auto keeper = groups_.mediator((group + step) % groups_.count(), gone_)) return keeper;
  return {};
}

void mediation::hand_log_over(node_id to, clock::time_point now) {
  std::vector<waiting_note> kept;
  log_.hand_over(now, [&](node_id origin, bytes&& content) {
    kept.push_back({.origin = origin, .from = self_, .content = std::move(content)});
  });
  send_bundles(to, bundle_way::log, kept, now, [to](const waiting_note& n) { return n.origin != to; });
}

bool mediation::needs(node_id member, const waiting_note& one) const {
  const std::optional<interest>& known = interests_[member];
  const auto n = read_note(one.content);
  if (!known || !n || !is_about_a_task(n->kind) || n->entry != known->entry) return true;
  if (!log_.takes(n->entry)) return true;  // the log will not keep it
  return known->includes(n->task, n->within);
}

void mediation::receive(node_id from, byte_view bundle, clock::time_point now,
                        const std::function<void(node_id, byte_view)>& take) {
  std::vector<waiting_note> handed_over;
  static_cast<void>(
      read_bundle(bundle, static_cast<unsigned>(gone_.size()), [&](bundle_way way, const carried_note& one) {
        if (one.origin == self_) return;
        const auto n = read_note(one.content);
        if (n && n->kind == note_kind::interest) {
          if (one.origin == from && way == bundle_way::up) take_interest(from, *n, now);
          return;
        }
        if (way != bundle_way::down) {
          waiting_note copy{.origin = one.origin,
                            .from = from,
                            .for_all = way == bundle_way::up,
                            .content = bytes(one.content.begin(), one.content.end())};
          if (way != bundle_way::log) {
            add(std::move(copy), now);
          } else if (n) {
            log_.add(one.origin, *n, one.content, now);
            handed_over.push_back(std::move(copy));
          }
        }
        take(one.origin, one.content);
      }));
  send_down(handed_over, now);
}

void mediation::went_to_all(const note& n) {
  std::erase_if(own_, [&n](const waiting_note& w) {
    const auto old = read_note(w.content);
    return old && old->kind == note_kind::claim && old->task == n.task;
  });
  log_.went_to_all(n);
  counters_.add(&counts::deleted, forwarded_.went_to_all(n));
}

void mediation::end_entry(std::uint64_t entry) {
  for (kept_bundles& kept : kept_) kept = {};
  log_.end_entry(entry);
}

void mediation::gain(node_id node, clock::time_point now) {
  const unsigned group = groups_.of(node);
  if (group != groups_.of(self_) || groups_.mediator(group, gone_) != node) return;
  std::vector<bool> before = gone_;
  before[node] = true;
  if (groups_.mediator(group, before) == self_) hand_log_over(node, now);
  needs_other_notes(false);
}

void mediation::lose(node_id node, clock::time_point now) {
  interests_[node].reset();
  log_.lose(node);
  if (node == subscribed_at_) needs_other_notes(false);
  const std::optional<node_id> successor = groups_.mediator(groups_.of(node), gone_);
  const bool was_mediator = successor && node < *successor;
  if (was_mediator && keeper_for(groups_.of(node)) == self_) hand_log_over(*successor, now);
  for (kept_bundle& kept : std::exchange(kept_[node], {}).all) {
    if (now - kept.sent > kept_for_successor || !successor) continue;
    if (*successor == self_)
      forward_own(kept.content, now);
    else
      dispatch(*successor, kept.way, std::move(kept.content), now);
  }
}

void mediation::forward_own(byte_view bundle, clock::time_point now) {
  static_cast<void>(
      read_bundle(bundle, static_cast<unsigned>(gone_.size()), [&](bundle_way, const carried_note& one) {
        add({.origin = one.origin,
             .from = self_,
             .for_all = true,
             .content = bytes(one.content.begin(), one.content.end())},
            now);
      }));
}

clock::time_point mediation::next() const noexcept {
  if (subscribes_at_once_) return clock::time_point::min();
  if (!own_.empty() || !forwarded_.empty() || !refused_.empty()) return last_ + interval_;
  return needs_others_ ? last_ + intervals_of_subscription * interval_ : clock::time_point::max();
}

void mediation::send_if_due(clock::time_point now) {
  if (now >= next()) send_now(now);
}

void mediation::send_now(clock::time_point now) {
  last_ = now;
  send_refused(now);
  const unsigned group = groups_.of(self_);
  const std::optional<node_id> mediator = groups_.mediator(group, gone_);
  if (mediator && mediator != self_ && (needs_others_ || !own_.empty())) subscribe_if_needed(*mediator);
  needs_others_ = subscribes_at_once_ = false;
  std::vector<waiting_note> own = std::exchange(own_, {});
  if (mediator == self_) {  // this node has become the mediator since
    for (waiting_note& one : own) forward(std::move(one), now);
  } else if (mediator) {
    send_bundles(*mediator, bundle_way::up, own, now, [](const waiting_note&) { return true; });
  }
  const std::vector<waiting_note> notes = forwarded_.take();
  if (notes.empty()) return;
  for (unsigned other = 0; other < groups_.count(); ++other)
    if (const auto to = other != group ? groups_.mediator(other, gone_) : std::nullopt)
      send_bundles(*to, bundle_way::across, notes, now, [](const waiting_note& n) { return n.for_all; });
  send_down(notes, now);
  counters_.add(&counts::forwarded, static_cast<std::uint64_t>(std::ranges::count_if(
                                        notes, [this](const waiting_note& n) { return n.origin != self_; })));
}

void mediation::send_down(const std::vector<waiting_note>& notes, clock::time_point now) {
  const unsigned group = groups_.of(self_);
  const std::optional<node_id> mediator = groups_.mediator(group, gone_);
  for (node_id to = groups_.first(group); to < groups_.end(group); ++to)
    if (to != self_)
      send_bundles(to, to == mediator ? bundle_way::log : bundle_way::down, notes, now,
                   [&](const waiting_note& n) {
                     if (n.origin == to || n.from == to) return false;
                     if (to == mediator || needs(to, n)) return true;
                     counters_.add(&counts::withheld);
                     return false;
                   });
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
  bytes copy = bundle;  // the transport may move from the bundle even if it refuses it
  if (!send_(to, std::move(bundle))) {
    if (refused_size_ + copy.size() > most_refused) {
      subscribed_.reset();  // the dropped bundle may contain the subscription
      needs_other_notes(false);
      return;
    }
    refused_size_ += copy.size();
    refused_.push_back({to, way, std::move(copy)});
  } else if (way == bundle_way::up || way == bundle_way::across) {
    keep(to, {now, way, std::move(copy)});
  }
}

void mediation::send_refused(clock::time_point now) {
  refused_size_ = 0;
  for (refused_bundle& r : std::exchange(refused_, {})) {
    std::optional<node_id> to = r.to;
    if (gone_[r.to] && r.way != bundle_way::down) to = groups_.mediator(groups_.of(r.to), gone_);
    if (to && *to != self_)
      dispatch(*to, r.way, std::move(r.content), now);
    else if (to && r.way == bundle_way::up)
      forward_own(r.content, now);
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
