// SPDX-License-Identifier: Apache-2.0
// Sends the notes of a node to all others through mediators, and forwards notes of other nodes.
//
//     node ── up ──> its mediator ── across ──> the other mediators
//                        │                          │
//                       down                       down
//                        ▼                          ▼
//               its group's nodes          their groups' nodes
//
// Each of the three steps sends all notes since the last one, at most once per interval; only the first
// result of an entry is sent at once. So the number of messages depends on the number of nodes and the time,
// not on the number of notes: for n nodes at most 2.25 n messages per interval, instead of n per note.
// Mediators delete needless notes before they forward them.
//
// A node subscribes at its mediator to the tasks that it waits for and the places where it works. The
// mediator does not send it claims and results of other tasks, but keeps them. When the node subscribes to
// more, the mediator sends the kept notes about that at once. A subscription is a note in a bundle on its way
// up. It is complete and has a number, so a late one changes nothing. A new mediator does not know the
// subscriptions of its nodes in the entry, and forwards all notes to them. When a mediator is lost, the
// mediator of the next group sends its log to the successor, because each mediator receives all notes. A
// mediator that a joining node replaces sends its own log. So a lost subscription costs messages, and a lost
// mediator loses no note, unless others are lost at the same time. Model: model/subscriptions.pml.
//
// The loss of a mediator loses no recent note. Each node keeps the notes that it has sent to a mediator for a
// while. When that mediator is lost, the node sends them again to the successor, which may get notes twice.
// The way of a bundle determines what a node forwards; it does not matter whether the node considers itself a
// mediator. So nodes that know of different losses forward every note, and forward none endlessly. Model:
// model/mediation.pml.
//
// Source: cluster.md of the design, section 6; Hiraishi et al., message mediation.
#pragma once

#include "hope/counters.hpp"
#include "hope/mediation/bundle.hpp"
#include "hope/mediation/forwarding_queue.hpp"
#include "hope/mediation/groups.hpp"
#include "hope/mediation/interest.hpp"
#include "hope/mediation/note_log.hpp"
#include "transport/transport.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

namespace sukima::cluster::hope {

/// The shortest time between two bundles, per living node. So the number of messages per second hardly
/// depends on the number of nodes.
inline constexpr std::chrono::microseconds bundle_interval{1250};
/// How long a node keeps the bundles that it has sent to a mediator: longer than it takes to notice the loss
/// of a silent node, unless SUKIMA_CLUSTER_SILENCE is larger. In that case older notes are lost, which costs
/// time.
inline constexpr std::chrono::seconds kept_for_successor{8};

/// The part of one node in the mediation. Only one thread may use it.
class mediation {
 public:
  /// Sends a message to a node, unless that node is lost. \returns false: there is no room for it now
  using sender = std::function<bool(node_id, bytes&&)>;
  /// Returns the notes that this node needs now. The version in it is ignored.
  using subscriber = std::function<interest()>;

  /// \param gone      which nodes this node considers lost; must outlive this object
  /// \param interval  the shortest time between two bundles to one node
  mediation(const std::vector<bool>& gone, std::chrono::microseconds interval, sender send,
            subscriber subscribe, counters& counted);

  void set_interval(std::chrono::microseconds interval) noexcept { interval_ = interval; }
  /// Sets this node's number. Must be called once, before any other function.
  void begin(node_id self);
  /// Adds a note of this node for all others. It is sent with the next bundle.
  /// \pre the note is not longer than `longest_bundled`
  void post(bytes&& note, clock::time_point now);
  /// Takes a bundle, passes its notes to a function, and adds those to forward to the queue. Malformed
  /// bundles are dropped.
  /// \param take  called with the origin of each note, and the note
  void receive(node_id from, byte_view bundle, clock::time_point now,
               const std::function<void(node_id, byte_view)>& take);
  /// Records that a result was sent to all nodes in another way, so claims of its task are needless.
  void went_to_all(const note& n);
  /// Records that this node may need other notes than before. If so, it subscribes with its next bundle, or
  /// after two intervals if it sends none. \param at_once  whether the next send_if_due() subscribes
  void needs_other_notes(bool at_once);
  /// Discards the state of an entry that has ended: bundles kept for successors, and notes kept for
  /// subscriptions.
  void end_entry(std::uint64_t entry);
  /// Records that a node has joined. \pre the list of the constructor no longer marks it as gone
  void gain(node_id node, clock::time_point now);
  /// Records that a node is lost. \pre the list of the constructor marks it as gone
  void lose(node_id node, clock::time_point now);

  /// Sends the waiting bundles, if it is time.
  void send_if_due(clock::time_point now);
  /// Sends the waiting bundles.
  void send_now(clock::time_point now);
  /// The time at which send_if_due() has something to send; the end of time: nothing waits.
  clock::time_point next() const noexcept;

 private:
  struct kept_bundle {
    clock::time_point sent;
    bundle_way way;
    bytes content;
  };
  /// A bundle that the transport has refused because it had no room.
  struct refused_bundle {
    node_id to;
    bundle_way way;
    bytes content;
  };
  /// The bundles sent to one mediator.
  struct kept_bundles {
    std::deque<kept_bundle> all;
    std::size_t size = 0;
  };

  bool is_mediator() const;
  /// Adds a subscription to the own notes if the mediator does not know it.
  void subscribe_if_needed(node_id mediator);
  /// Takes a node's subscription, and sends the kept notes that it includes and the last one did not.
  void take_interest(node_id from, const note& n, clock::time_point now);
  /// Whether a node of the group needs a note, as far as this node knows.
  bool needs(node_id member, const waiting_note& one) const;
  /// Returns the mediator that sends its log to the successor of that group's mediator; nothing: there is
  /// none.
  std::optional<node_id> keeper_for(unsigned group) const;
  void hand_log_over(node_id to, clock::time_point now);
  /// Forwards the notes of a bundle for the mediator of the group, after this node has become the mediator.
  void forward_own(byte_view bundle, clock::time_point now);
  /// Sends notes to the nodes of the group that need them. If another node is the mediator, it gets all
  /// notes.
  void send_down(const std::vector<waiting_note>& notes, clock::time_point now);
  void add(waiting_note&& one, clock::time_point now);
  void forward(waiting_note&& one, clock::time_point now);
  /// Sends the notes that a function selects. \param choose  bool(const waiting_note&)
  template <class Choose>
  void send_bundles(node_id to, bundle_way way, const std::vector<waiting_note>& notes, clock::time_point now,
                    Choose choose);
  void dispatch(node_id to, bundle_way way, bytes&& bundle, clock::time_point now);
  void send_refused(clock::time_point now);
  void keep(node_id mediator, kept_bundle&& one);

  const std::vector<bool>& gone_;
  std::chrono::microseconds interval_;
  const sender send_;
  const subscriber subscribe_;
  counters& counters_;
  const node_groups groups_;
  node_id self_ = 0;
  std::vector<waiting_note> own_;  ///< notes for the mediator, if this node is not one
  forwarding_queue forwarded_;
  note_log log_;
  std::vector<std::optional<interest>> interests_;  ///< subscriptions of other nodes
  std::uint64_t version_ = 0;  ///< version of this node's last subscription; 0: there was none
  std::optional<interest> subscribed_;  ///< the last subscription, if it was sent
  node_id subscribed_at_ = 0;  ///< the mediator that received it
  bool needs_others_ = false;  ///< this node may need other notes than those that it has subscribed to
  bool subscribes_at_once_ = false;
  clock::time_point last_;  ///< the time of the last send_now()
  std::vector<kept_bundles> kept_;  ///< by node
  std::vector<refused_bundle> refused_;
  std::size_t refused_size_ = 0;
};

}  // namespace sukima::cluster::hope
