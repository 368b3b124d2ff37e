// SPDX-License-Identifier: Apache-2.0
// The end of a run of several nodes: for which nodes the launcher waits, which nodes it ends and when, and
// which sentence states the reason. Decisions only, without processes or a clock.
//
//   a node ends                        the others
//   well, or after it has met them     continue, as long as --grace allows: they may still write their files
//   by a signal, or with status 75     end by themselves; the launcher ends those that do not
//   with a failure before it met them  are ended
//   in any way before it met them      are ended once one of them waits for it in its first entry
//   as node 0, once nothing can be     are ended after a while
//     printed any more
//
// Under hierarchical omission, the end of one node does not end other nodes, unless nodes report that their
// programs differ. Once a node has ended well, the others continue as long as --grace allows.
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

  /// \param grace  nothing: the default, which is 5 s under hierarchical omission, and no limit otherwise
  run_end(unsigned nodes, bool hope, std::optional<std::chrono::seconds> grace);

  /// \returns whether the sentence of the report must be printed now
  bool on_report(unsigned node, const node_report& report, time_point now);
  /// \pre all reports of that node were taken
  void on_end(unsigned node, const node_end& how, time_point now);
  /// Records that the output of the nodes cannot be printed any more. They continue until node 0 has ended.
  void on_unprintable_output(time_point now);
  /// Records a signal that the nodes receive from outside. Their ends by it need no sentence.
  void on_signal(int signal) { passed_on_.insert(signal); }
  /// Ends the nodes now, without the grace period.
  void end_now(time_point now) {
    deadline_ = now;
    is_grace_ = false;
  }
  /// Gives nodes that would be ended now more time, until then.
  void postpone(time_point until) { deadline_ = until; }

  /// The time at which take() returns something; nothing: not before the next event.
  std::optional<time_point> next() const;
  bool ends_nodes(time_point now) const { return deadline_ && *deadline_ <= now; }
  struct step {
    int signal = 0;  ///< signal for all running nodes; 0: none
    std::string notice{};  ///< one sentence for the user; empty: none
  };
  step take(time_point now);
  /// Whether the launcher, or a signal from outside, asked a node to end before it ended. If such a node ends
  /// with status 0, its output may nevertheless be unfinished. \pre the node has ended
  bool was_interrupted(unsigned n) const { return nodes_[n].was_interrupted; }
  /// Whether the nodes, and the processes that they left behind, have no time left.
  bool has_given_up() const noexcept { return has_given_up_; }

  struct conclusion {
    /// The node whose report must be printed; `sentence` is its sentence.
    std::optional<unsigned> reporter{};
    std::string sentence{};  ///< the reporter's sentence, or else the launcher's; empty: none
    std::optional<int> status{};  ///< the status of the run; nothing: that of node 0
    /// A signal from outside that ended another node, so that the launcher ended node 0; 0: none.
    int signal = 0;
  };
  /// \pre all nodes have ended
  conclusion conclude() const;

 private:
  enum class progress : std::uint8_t { apart, meets, met };
  struct node {
    bool runs = true;
    bool was_asked_to_end = false;
    bool was_interrupted = false;  ///< it was asked to end, or got a signal from outside that ends programs
    node_end end{};
    progress reached = progress::apart;
    std::optional<node_report> failure{};
  };

  std::size_t running() const;
  void wait_for_others(unsigned ended, time_point now);
  void look_at_meeting(time_point now);
  /// Returns a sentence about the nodes that still run, such as "node 1 still runs".
  std::string still_running() const;
  std::string end_of(unsigned n) const;
  bool is_from_outside(unsigned n) const;
  const node* chosen_failure() const;
  int silent_failure() const;

  const bool hope_;
  const std::optional<std::chrono::seconds> grace_;
  std::vector<node> nodes_;
  std::set<std::string> said_;  ///< the sentences of reports that were printed
  std::optional<time_point> deadline_;  ///< when the nodes that still run are ended
  std::optional<time_point> notice_;
  std::optional<unsigned> waits_since_;  ///< the node after whose end the launcher waits for the others
  bool is_grace_ = false;  ///< whether the deadline is the end of the grace period
  bool asked_to_end_ = false;
  bool is_output_unprintable_ = false;
  std::set<int> passed_on_;  ///< signals that the nodes receive from outside
  bool has_given_up_ = false;
  std::chrono::milliseconds pause_;  ///< time until nodes get SIGTERM, and then until they are killed
  std::optional<int> status_of_difference_;  ///< set if nodes do not run the same program
  int first_failure_ = -1;  ///< the first node other than 0 that failed while node 0 ran
  int missing_ = -1;  ///< a node that has ended while others wait for it in their first entry
  int waiting_ = -1;  ///< a node that waits for it
};

}  // namespace sukima::cluster
