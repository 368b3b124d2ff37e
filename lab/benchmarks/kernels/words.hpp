// SPDX-License-Identifier: Apache-2.0
// Counts words: a hash table from words to the number of their occurrences, and the sum of two tables.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/system_text.hpp"

namespace kernels {

/// The number of occurrences of each word. It refers to the words in the text, which must outlive it, with
/// system_text::padding readable bytes after it. Upper and lower case differ.
class word_counts {
 public:
  word_counts() : slots_(std::size_t{1} << least_bits) {}
  explicit word_counts(const text_piece& piece) : word_counts() { add(piece); }

  /// Counts the words that begin in the piece.
  void add(const text_piece& piece) {
    const char* at = piece.first;
    if (in_word(at - 1))
      while (in_word(at)) ++at;
    for (;;) {
      while (at < piece.last && !in_word(at)) ++at;
      if (at >= piece.last) return;
      const char* word = at;
      while (in_word(at)) ++at;
      const auto length = static_cast<std::uint32_t>(at - word);
      add({hash(word, length), word, length, 1});
    }
  }

  /// Adds the counts of another table.
  void add(word_counts other) {
    if (slots_.size() < other.slots_.size()) std::swap(*this, other);
    for (const slot& s : other.slots_)
      if (s.count > 0) add(s);
  }

  /// Returns how often the word occurs.
  [[nodiscard]] std::uint32_t count(std::string_view word) const {
    for (const slot& s : slots_)
      if (s.count > 0 && std::string_view(s.word, s.length) == word) return s.count;
    return 0;
  }
  [[nodiscard]] std::size_t distinct() const { return distinct_; }

  /// Returns the number of words and of distinct ones, and a hash of all counts that does not depend on any
  /// order.
  [[nodiscard]] std::string result() const {
    std::uint64_t words = 0, sum = 0;
    for (const slot& s : slots_) {
      words += s.count;
      if (s.count > 0) sum += mixed(s.hash ^ mixed(s.count));
    }
    return std::to_string(words) + " " + std::to_string(distinct_) + " " + std::to_string(sum);
  }

 private:
  static constexpr int least_bits = 12;

  struct slot {
    std::uint64_t hash = 0;
    const char* word = nullptr;
    std::uint32_t length = 0;
    std::uint32_t count = 0;  // 0: free
  };

  static std::uint64_t mixed(std::uint64_t x) {
    x *= 0x9e37'79b9'7f4a'7c15U;
    x ^= x >> 32;
    x *= 0xd6e8'feb8'6659'fd93U;
    return x ^ x >> 32;
  }
  static std::uint64_t hash(const char* word, std::uint32_t length) {
    std::uint64_t h = length, bytes;
    for (; length > 8; length -= 8, word += 8) {
      std::memcpy(&bytes, word, 8);
      h = mixed(h ^ bytes);
    }
    std::memcpy(&bytes, word, 8);  // length is at least 1; bytes after the word are shifted out
    const unsigned others = 64 - 8 * length;
    return mixed(h ^ (std::endian::native == std::endian::little ? bytes << others : bytes >> others));
  }

  void add(const slot& s) {
    for (std::size_t i = s.hash >> shift_;; i = (i + 1) & (slots_.size() - 1)) {
      slot& found = slots_[i];
      if (found.count == 0) {
        found = s;
        if (2 * ++distinct_ > slots_.size()) grow();
        return;
      }
      if (found.hash == s.hash && found.length == s.length && same(found.word, s.word, s.length)) {
        found.count += s.count;
        return;
      }
    }
  }
  static bool same(const char* a, const char* b, std::uint32_t length) {
    return std::memcmp(a, b, length) == 0;
  }

  void grow() {
    const std::vector<slot> old = std::exchange(slots_, std::vector<slot>(slots_.size() * 2));
    --shift_;
    for (const slot& s : old) {
      if (s.count == 0) continue;
      std::size_t i = s.hash >> shift_;
      while (slots_[i].count > 0) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = s;
    }
  }

  std::vector<slot> slots_;  // by the highest bits of the hash, or the next free slot
  int shift_ = 64 - least_bits;
  std::size_t distinct_ = 0;
};

}  // namespace kernels
