// SPDX-License-Identifier: Apache-2.0
// Where an object's selects begin, so that none of their cases starves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sukima::objects::detail {

/// Selects with other cases have turns of their own, of which the last used ones are kept.
class select_turns {
 public:
  /// The case that a select begins with. \param cases a hash of its cases
  std::size_t next(std::uint64_t cases) const;
  void set_next(std::uint64_t cases, std::size_t next);

 private:
  struct turn {
    std::uint64_t cases;
    std::size_t next;
  };
  std::vector<turn> kept_;  ///< what was used last at the end
  std::size_t last_ = 0;  ///< for what is not kept
};

}  // namespace sukima::objects::detail
