// SPDX-License-Identifier: Apache-2.0
// Which counts are tried, and in which order.
#pragma once

#include <optional>
#include <set>

namespace sukima::host {

/// The estimate; then the neighbours of the best count so far, in steps that double while it gets better, up
/// first, then down; and two away, over a dent (programs whose use oscillates). Each count once, so a search
/// ends.
class candidates {
 public:
  /// \param highest, lowest the bounds of what may be tried, at least 1; `best`, where the VM is now, may lie
  /// above
  candidates(unsigned best, unsigned estimate, unsigned highest, unsigned lowest = 1);

  /// The next count; empty: the search has ended. O(log counts).
  /// \pre the verdict on the last one is known
  std::optional<unsigned> next();
  /// The verdict on what `next` returned.
  void judged(bool better);
  unsigned best() const { return best_; }
  /// The first invariant that does not hold, as a sentence; null: all hold.
  const char* violated_invariant() const;

 private:
  enum class place { estimate, step, dent, turn };

  bool may_try(long count);
  std::optional<unsigned> at_place();

  unsigned best_, estimate_, highest_, lowest_;
  std::set<unsigned> tried_;
  place place_ = place::estimate;
  unsigned candidate_ = 0;  ///< on trial; 0: none
  int sign_ = 1;
  long step_ = 1;
  bool again_ = false;  ///< something was found in this round of both directions
  friend struct test_access;
};

}  // namespace sukima::host
