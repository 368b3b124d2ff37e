// SPDX-License-Identifier: Apache-2.0
// Chooses the counts to try, and their order.
#pragma once

#include <optional>
#include <set>

namespace sukima::host {

/// First the estimate. Then the neighbours of the best count so far, in steps that double while they improve,
/// first upward, then downward. Then the count two away, to cross a dent, because the use of some programs
/// oscillates. Each count is tried once, so a search ends.
class candidates {
 public:
  /// \param highest, lowest the bounds of the counts to try, at least 1; `best`, the present count of the VM,
  /// may be above `highest`
  candidates(unsigned best, unsigned estimate, unsigned highest, unsigned lowest = 1);

  /// Returns the next count; empty: the search has ended. O(log counts).
  /// \pre the verdict on the previous one is known
  std::optional<unsigned> next();
  /// Takes the verdict on the count that `next` returned.
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
  unsigned candidate_ = 0;  ///< the count on trial; 0: none
  int sign_ = 1;
  long step_ = 1;
  bool again_ = false;  ///< whether a better count was found in this round of both directions
  friend struct test_access;
};

}  // namespace sukima::host
