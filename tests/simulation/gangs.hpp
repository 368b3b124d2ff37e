// SPDX-License-Identifier: Apache-2.0
// Co-scheduling: all virtual CPUs (vCPUs) of a guest run at the same time, in turns. In each turn, as many
// guests run as fit (a row of Ousterhout's matrix). pCPUs that their vCPUs leave idle run other vCPUs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace sukima::simulation {

class gangs {
 public:
  /// \param turn  length of a turn in nanoseconds
  gangs(std::size_t pcpus, std::uint64_t turn) : pcpus_(pcpus), turn_(turn) {}

  /// Adds the next guest.
  void add(unsigned vcpus, unsigned weight) { all_.push_back({vcpus, weight}); }
  /// The time at which the turn ends.
  std::uint64_t end() const noexcept { return end_; }
  bool has_turn(std::size_t guest) const noexcept { return all_[guest].has_turn; }
  /// Gives the next turn to guests that want to run, those with the least weighted time first. A guest with
  /// more vCPUs than there are pCPUs runs alone.
  void begin_turn(std::uint64_t at, const std::function<bool(std::size_t)>& wants);

 private:
  struct gang {
    unsigned vcpus;
    unsigned weight;
    bool has_turn = false;
    std::uint64_t rank = 0;  ///< weighted time of its turns so far
  };

  const std::size_t pcpus_;
  const std::uint64_t turn_;
  std::vector<gang> all_;
  std::uint64_t floor_ = 0;  ///< rank that all guests that want a turn have reached
  std::uint64_t end_ = 0;
};

}  // namespace sukima::simulation
