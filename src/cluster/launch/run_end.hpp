// SPDX-License-Identifier: Apache-2.0
// The end of a run of several nodes: for which nodes the launcher waits, which nodes it ends and when, and
// the one sentence with the reason. Decisions only, without processes or a clock.
//
//   a node ends                        the others
//   well, or after it has met them     continue, as long as --grace allows: they may still write their files
//   by a signal, or with status 75     end by themselves; the launcher ends those that do not
//   with a failure before it met them  are ended
//   in any way before it met them      are ended once one of them waits for it in its first entry
//
// Under hierarchical omission the end of one node ends no other node, unless nodes report that their programs
// differ. Once a node has ended well, the others continue as long as --grace allows.
#pragma once

#include "protocol/report.hpp"
#include "shared/launch.hpp"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sukima::cluster {

class run_end {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// \param grace  nothing: the default, which is 5 s under hierarchical omission and else no limit
  run_end(unsigned nodes, bool hope, std::optional<std::chrono::seconds> grace);

  /// \returns whether the sentence of the report must be printed now
  bool on_report(unsigned node, const node_report& report, time_point now);
  /// \pre after all reports of that node
  void on_end(unsigned node, const node_end& how, time_point now);
  /// The nodes get this signal from outside, so their ends by it need no sentence.
  void on_signal(int signal) { passed_on_.insert(signal); }
  /// Ends the nodes, whatever the grace.
  void end_now(time_point now) {
    deadline_ = now;
    is_grace_ = false;
  }
  /// Gives nodes that would be ended now until that time.
  void postpone(time_point until) { deadline_ = until; }

  /// The time at which take() returns something; nothing: not before the next event.
  std::optional<time_point> next() const;
  bool ends_nodes(time_point now) const { return deadline_ && *deadline_ <= now; }
  struct step {
    int signal = 0;  ///< for all nodes that run; 0: none
    std::string notice{};  ///< one sentence for the user; empty: none
  };
  step take(time_point now);
  /// Whether the nodes, and the processes that they left behind, have used up their time.
  bool has_given_up() const noexcept { return has_given_up_; }

  struct conclusion {
    /// The node whose report must be printed, and its sentence.
    std::optional<unsigned> reporter{};
    std::string sentence{};  ///< of the launcher, unless a node is the reporter; empty: none
    std::optional<int> status{};  ///< of the run; nothing: node 0's
  };
  /// \pre all nodes have ended
  conclusion conclude() const;

 private:
  enum class progress : std::uint8_t { apart, meets, met };
  struct node {
    bool runs = true;
    bool was_asked_to_end = false;
    node_end end{};
    progress how_far = progress::apart;
    std::optional<node_report> failure{};
  };

  std::size_t running() const;
  void wait_for_others(unsigned ended, time_point now);
  void look_at_meeting(time_point now);
  /// A sentence about the nodes that still run, such as "node 1 still runs".
  std::string still_running() const;
  std::string end_of(unsigned n) const;
  const node* chosen_failure() const;
  int silent_failure() const;

  const bool hope_;
  const std::optional<std::chrono::seconds> grace_;
  std::vector<node> nodes_;
  std::set<std::string> said_;  ///< the sentences of reports that were printed
  std::optional<time_point> deadline_;  ///< for nodes that still run
  std::optional<time_point> notice_;
  std::optional<unsigned> waits_since_;  ///< the node that has ended, since when others are waited for
  bool is_grace_ = false;  ///< the deadline is that of the grace
  bool asked_to_end_ = false;
  std::set<int> passed_on_;  ///< signals that the nodes get from outside
  bool has_given_up_ = false;
  std::chrono::milliseconds pause_;  ///< until nodes are asked to end, and then until they are killed
  std::optional<int> status_of_difference_;  ///< nodes do not run the same program
  int first_failure_ = -1;  ///< the node other than 0 that failed first while node 0 ran
  int missing_ = -1;  ///< the node that others wait for in their first entry, and that has ended
  int waiting_ = -1;  ///< one that waits for it
};

}  // namespace sukima::cluster
