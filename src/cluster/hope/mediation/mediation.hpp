// SPDX-License-Identifier: Apache-2.0
// Sends the notes of a node to all others by way of mediators, and forwards those of other nodes.
//
//     node ── up ──> its mediator ── across ──> the other mediators
//                        │                          │
//                       down                       down
//                        ▼                          ▼
//               its group's nodes          their groups' nodes
//
// Each of the three steps carries all notes since the last one, and takes place at most once an interval;
// only the first result of an entry goes at once. So the number of messages follows from the number of nodes
// and the time, not from the number of notes: for n nodes at most 2.25 n each interval, instead of n each
// note. Mediators delete needless notes before they forward them.
//
// A node subscribes at its mediator to the tasks that it waits for and the places that it works in. Claims
// and results of other tasks do not go down to it; the mediator keeps them. When the node subscribes to more,
// the mediator sends the kept notes about that at once. A subscription is a note in a bundle on its way up.
// It states everything, and has a number, so one that comes late changes nothing. A mediator that knows no
// subscription of a node in an entry, because it has just become mediator, forwards everything to it. When a
// mediator is lost, the mediator of the next group sends its log to the successor, because each mediator
// receives everything. A mediator that a joining node replaces sends its own log. So a lost subscription
// costs messages, and a lost mediator loses no note, unless others are lost with it.
// (src/cluster/model/subscriptions.pml)
//
// The loss of a mediator loses no recent note. Each node keeps for a while the notes that it has sent to a
// mediator. When that mediator is lost, the node sends them again to the successor, which may get notes
// twice. The way of a bundle decides what a node forwards, not whether the node regards itself as a mediator.
// So nodes that know of different losses forward every note, and forward none for ever.
// (src/cluster/model/mediation.pml)
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

/// The shortest time between two bundles, for each living node: the number of messages in a second
/// then hardly depends on the number of nodes.
inline constexpr std::chrono::microseconds bundle_interval{1250};
/// How long a node keeps what it has sent to a mediator: longer than the loss of a silent node takes to be
/// noticed, unless SUKIMA_CLUSTER_SILENCE is set to more. Older notes are lost then, which costs time.
inline constexpr std::chrono::seconds kept_for_successor{8};

/// The part of one node in the mediation. One thread.
class mediation {
 public:
  /// Sends a message to a node, unless that is lost. \returns false: there is no room for it now
  using sender = std::function<bool(node_id, bytes&&)>;
  /// Returns what this node needs now. Its version does not count.
  using subscriber = std::function<interest()>;

  /// \param gone      the nodes that are lost, as this node knows it; it outlives this object
  /// \param interval  the shortest time between two bundles to one node
  mediation(const std::vector<bool>& gone, std::chrono::microseconds interval, sender send,
            subscriber subscribe, counters& counted);

  void set_interval(std::chrono::microseconds interval) noexcept { interval_ = interval; }
  /// Sets this node's number. Once, before anything else.
  void begin(node_id self);
  /// Adds a note of this node for all others. It is sent with the next bundle.
  /// \pre it is not longer than `longest_bundled`
  void post(bytes&& note, clock::time_point now);
  /// Takes a bundle, passes on its notes, and adds them to what this node forwards. Malformed ones are
  /// dropped.
  /// \param take  called with the origin of each note, and the note
  void receive(node_id from, byte_view bundle, clock::time_point now,
               const std::function<void(node_id, byte_view)>& take);
  /// Records that a result has gone to all nodes on another way: claims of its task are needless.
  void went_to_all(const note& n);
  /// Records that this node may need other notes than before. If so, it subscribes with its next bundle, or
  /// after two intervals if it sends none. \param at_once  it does that in the next send_if_due()
  void needs_other_notes(bool at_once);
  /// Forgets an entry that has ended: what was sent to mediators, and what was kept for later subscriptions.
  void end_entry(std::uint64_t entry);
  /// Records that a node has joined. \pre it is not gone in the list of the constructor
  void gain(node_id node, clock::time_point now);
  /// Records that a node is lost. \pre it is gone in the list of the constructor
  void lose(node_id node, clock::time_point now);

  /// Sends what waits, if its time has come.
  void send_if_due(clock::time_point now);
  /// Sends what waits.
  void send_now(clock::time_point now);
  /// When send_if_due() has something to send; the end of time: nothing waits.
  clock::time_point next() const noexcept;

 private:
  struct kept_bundle {
    clock::time_point sent;
    bundle_way way;
    bytes content;
  };
  /// A bundle that the transport has refused for lack of room.
  struct refused_bundle {
    node_id to;
    bundle_way way;
    bytes content;
  };
  /// What was sent to one mediator.
  struct kept_bundles {
    std::deque<kept_bundle> all;
    std::size_t size = 0;
  };

  bool is_mediator() const;
  /// Adds a subscription to the own notes if the mediator does not know it.
  void subscribe_if_needed(node_id mediator);
  /// Takes a node's subscription, and sends what it includes and the last one did not.
  void take_interest(node_id from, const note& n, clock::time_point now);
  /// Whether a node of the group, as far as this one knows, needs a note.
  bool needs(node_id member, const waiting_note& one) const;
  /// The mediator that hands its log over to the successor of that group's mediator; nothing: there is none.
  std::optional<node_id> keeper_for(unsigned group) const;
  void hand_log_over(node_id to, clock::time_point now);
  /// Forwards the notes of a bundle that was for the mediator of the group, which this node has become.
  void forward_own(byte_view bundle, clock::time_point now);
  /// Sends notes to the nodes of the group that need them, and all to its mediator if another node is that.
  void send_down(const std::vector<waiting_note>& notes, clock::time_point now);
  void add(waiting_note&& one, clock::time_point now);
  void forward(waiting_note&& one, clock::time_point now);
  /// Sends those of the notes that a function chooses. \param choose  bool(const waiting_note&)
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
  std::vector<waiting_note> own_;  ///< for the mediator, as this node is none
  forwarding_queue forwarded_;
  note_log log_;
  std::vector<std::optional<interest>> interests_;  ///< of other nodes
  std::uint64_t version_ = 0;  ///< of this node's last subscription; 0: there was none
  std::optional<interest> subscribed_;  ///< that one, if it was sent
  node_id subscribed_at_ = 0;  ///< the mediator that got it
  bool needs_others_ = false;  ///< this node may need other notes than its mediator was told
  bool subscribes_at_once_ = false;
  clock::time_point last_;  ///< when something was sent last
  std::vector<kept_bundles> kept_;  ///< by node
  std::vector<refused_bundle> refused_;
  std::size_t refused_size_ = 0;
};

}  // namespace sukima::cluster::hope
