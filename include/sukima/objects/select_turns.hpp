// SPDX-License-Identifier: Apache-2.0
// The cases with which an object's selects begin, chosen so that none of them starves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sukima::objects::detail {

/// The turns of an object's selects. Each set of cases has a turn of its own; the last used turns are kept.
class select_turns {
 public:
  /// Returns the case with which a select begins. \param cases a hash of its cases
  std::size_t next(std::uint64_t cases) const;
  /// Sets the case with which the next select of these cases begins.
  void set_next(std::uint64_t cases, std::size_t next);

 private:
  struct turn {
    std::uint64_t cases;
    std::size_t next;
  };
  std::vector<turn> kept_;  ///< the last used turn is at the end
  std::size_t last_ = 0;  ///< for sets of cases that are not kept
};

}  // namespace sukima::objects::detail
