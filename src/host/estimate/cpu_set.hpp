// SPDX-License-Identifier: Apache-2.0
// A set of pCPUs, numbered by their positions in the host.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "shared/description.hpp"

namespace sukima::host {

/// All sets of one problem are made for the same number of pCPUs. Operations process only that many bits.
class cpu_set {
 public:
  cpu_set() = default;
  /// The empty set for positions below `size`, which is at most most_pcpus.
  explicit cpu_set(std::size_t size) : words_(static_cast<std::uint32_t>((size + 63) / 64)) {}

  void add(std::size_t p) { bits_[p / 64] |= std::uint64_t{1} << (p % 64); }
  bool has(std::size_t p) const { return (bits_[p / 64] >> (p % 64) & 1) != 0; }
  bool empty() const {
    std::uint64_t any = 0;
    for (std::uint32_t k = 0; k < words_; ++k) any |= bits_[k];
    return any == 0;
  }
  bool operator==(const cpu_set& other) const = default;
  /// A total order of sets, without further meaning.
  bool operator<(const cpu_set& other) const {
    return std::lexicographical_compare(bits_.begin(), bits_.begin() + words_, other.bits_.begin(),
                                        other.bits_.begin() + other.words_);
  }
  std::uint32_t count() const {
    std::uint32_t n = 0;
    for (std::uint32_t k = 0; k < words_; ++k) n += static_cast<std::uint32_t>(std::popcount(bits_[k]));
    return n;
  }
  std::uint32_t count_in(const cpu_set& other) const {
    std::uint32_t n = 0;
    for (std::uint32_t k = 0; k < words_; ++k)
      n += static_cast<std::uint32_t>(std::popcount(bits_[k] & other.bits_[k]));
    return n;
  }
  bool within(const cpu_set& other) const {
    std::uint64_t outside = 0;
    for (std::uint32_t k = 0; k < words_; ++k) outside |= bits_[k] & ~other.bits_[k];
    return outside == 0;
  }
  bool meets(const cpu_set& other) const {
    std::uint64_t both = 0;
    for (std::uint32_t k = 0; k < words_; ++k) both |= bits_[k] & other.bits_[k];
    return both != 0;
  }
  cpu_set operator&(const cpu_set& other) const {
    cpu_set result = *this;
    for (std::uint32_t k = 0; k < words_; ++k) result.bits_[k] &= other.bits_[k];
    return result;
  }
  cpu_set minus(const cpu_set& other) const {
    cpu_set result = *this;
    for (std::uint32_t k = 0; k < words_; ++k) result.bits_[k] &= ~other.bits_[k];
    return result;
  }
  cpu_set& operator|=(const cpu_set& other) {
    words_ = std::max(words_, other.words_);
    for (std::uint32_t k = 0; k < words_; ++k) bits_[k] |= other.bits_[k];
    return *this;
  }
  /// Calls `take` with each position in ascending order.
  template <class Take>
  void each(Take take) const {
    for (std::uint32_t k = 0; k < words_; ++k)
      for (std::uint64_t rest = bits_[k]; rest != 0; rest &= rest - 1)
        take(std::size_t{k} * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
  }
  /// Calls `take` with each position that is in this set and in `other` but not in `without`.
  template <class Take>
  void each_of(const cpu_set& other, const cpu_set& without, Take take) const {
    for (std::uint32_t k = 0; k < words_; ++k)
      for (std::uint64_t rest = bits_[k] & other.bits_[k] & ~without.bits_[k]; rest != 0; rest &= rest - 1)
        take(std::size_t{k} * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
  }

 private:
  std::uint32_t words_ = 0;
  std::array<std::uint64_t, most_pcpus / 64> bits_{};
};

}  // namespace sukima::host
