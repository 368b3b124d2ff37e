// SPDX-License-Identifier: Apache-2.0
// When a node asks for a task, and whom: decisions only, without clock, messages or threads.
//
// The others are near or far, by the shortest round trip to each that was measured; a node is near until that
// is known. One request is under way to near ones and one to far ones, so no node waits for a far answer
// while a near node has work. On each side the node that gave the last task is asked first, then the others
// in an order drawn anew: more probably early if it has given tasks, and if it is near. A request that is not
// answered for a while is given up: the answer may come later, and a task is welcome then. After two requests
// in a row without a task no node of that side is asked any more. If that holds for both sides, the node
// waits at its lifelines (lifelines.hpp): at first with its partners, and if no task comes for a while, with
// all others. A task ends the silence, and so does the next entry. Source of the two sides: van Nieuwpoort et
// al., "Efficient load balancing for wide-area divide-and-conquer applications", PPoPP 2001.
//
// A lifeline stays registered with a node until a task comes from there, also one that this node does not
// need any more. So "it is registered there" is true here only if that node has the lifeline, or it is under
// way to that node, or a task is under way from it: no node waits for one that does not know of it. Partner:
// lifelines::remove, which is called for each task that is sent. Model: model/lifelines.pml.
#pragma once

#include "transport/transport.hpp"

#include <optional>
#include <random>
#include <vector>

namespace sukima::cluster {

class thief {
 public:
  static constexpr std::chrono::microseconds patience{5000};  ///< then another node is asked, or all
  static constexpr unsigned patient_round_trips = 4;  ///< or so many of them, if that is longer
  static constexpr unsigned most_refusals = 2;  ///< in a row; then no node of that side is asked
  static constexpr std::chrono::microseconds far_from{1000};  ///< the round trip of a far node

  struct request {
    node_id victim;
    std::uint64_t number;  ///< of no other request of this node; the answer `none` has it, too
  };

  thief(node_id self, unsigned nodes, std::uint64_t seed);

  /// A worker is idle, or none is.
  void set_hungry(bool hungry) noexcept { hungry_ = hungry; }
  bool is_hungry() const noexcept { return hungry_; }
  /// Returns the request to send now, which is under way then. Another one may follow. Nothing: none now.
  std::optional<request> next_request(clock::time_point now);
  void on_none(node_id from, std::uint64_t number, clock::time_point now);
  /// An answer to that request has come, a task or none: it shows how far that node is. \param number 0: of
  /// no request
  void measure(node_id from, std::uint64_t number, clock::time_point now);
  /// The shortest that was measured; 0: none was.
  clock::duration round_trip(node_id to) const { return others_[to].round_trip.value_or(clock::duration{0}); }
  /// Is a task from there kept? If not, no worker is idle any more, and it goes back. One that a far node was
  /// asked for is kept all the same: the next worker without work has it without a round trip.
  bool keeps_task(node_id from) const noexcept;
  /// A task has come, and is kept: no worker is idle, until set_hungry says so again.
  void on_task(node_id from);
  /// A task has come, and goes back.
  void on_surplus(node_id from);
  /// That node is gone.
  void forget(node_id node);
  /// A new entry begins: everybody may have work, and no lifeline is registered.
  void begin_entry();
  /// Returns the nodes with which lifelines must be registered now. They count as registered then. Mostly
  /// none.
  std::vector<node_id> take_lifelines(clock::time_point now);
  /// When next_request or take_lifelines will have another answer by itself; nothing: never.
  std::optional<clock::time_point> next_look() const noexcept;

 private:
  /// Another node; this one has a place among them, too, and is never there.
  struct other {
    bool is_there = false;
    bool has_lifeline = false;  ///< of this node
    std::uint64_t tasks = 0;  ///< that it gave; halved by each `none`
    std::optional<clock::duration> round_trip;
    std::uint64_t asked_number = 0;  ///< of the last request to it
    clock::time_point asked_at;
  };
  struct side {
    std::vector<node_id> round;  ///< still to be asked in this round, the next one last
    std::optional<node_id> asked;
    unsigned refusals = 0;  ///< in a row
  };

  bool is_far(node_id n) const noexcept;
  bool is_on(const side& s, node_id n) const noexcept;
  void begin_round(side& s);
  std::optional<node_id> next_victim(side& s);
  /// Takes one out. \pre not empty
  node_id draw(std::vector<node_id>& from);
  bool is_silent(const side& s) const noexcept;
  clock::time_point end_of_patience(node_id asked) const noexcept;
  void give_up_late_ones(clock::time_point now);
  /// Forgets what was asked, so that all is asked anew.
  void begin_asking();

  std::mt19937_64 draws_;
  node_id self_;
  std::vector<other> others_;  ///< by node
  side near_;
  side far_;
  bool hungry_ = false;
  std::uint64_t last_number_ = 0;
  std::optional<clock::time_point> waits_since_;  ///< at the lifelines of its partners
  std::optional<node_id> last_giver_;
};

}  // namespace sukima::cluster
