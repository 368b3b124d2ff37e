// SPDX-License-Identifier: Apache-2.0
// A queue that links its elements through one of their members, so that it never allocates.
#pragma once

#include <utility>

namespace sukima::detail {

/// First in, first out. An element may be in only one of the queues that link it by the same member.
/// Complexity: constant, except for take_first, which checks the elements that do not suit.
template <class T, T* T::* Next> class linked_queue {
 public:
  linked_queue() = default;
  linked_queue(const linked_queue&) = delete;
  linked_queue& operator=(const linked_queue&) = delete;
  bool empty() const noexcept { return first_ == nullptr; }
  void push_back(T* one) noexcept {
    one->*Next = nullptr;
    *end_ = one;
    end_ = &(one->*Next);
  }
  void push_front(T* one) noexcept {
    one->*Next = first_;
    if (first_ == nullptr) end_ = &(one->*Next);
    first_ = one;
  }
  /// Takes out the first element that suits; null: none does.
  template <class Suits> T* take_first(Suits suits) noexcept {
    for (T** place = &first_; *place != nullptr; place = &((*place)->*Next)) {
      T* const one = *place;
      if (!suits(*one)) continue;
      *place = std::exchange(one->*Next, nullptr);
      if (*place == nullptr) end_ = place;
      return one;
    }
    return nullptr;
  }
  /// The same among the first `most` elements. Complexity: linear in `most`.
  template <class Suits> T* take_among(int most, Suits suits) noexcept {
    T** place = &first_;
    for (int i = 0; i < most && *place != nullptr; ++i, place = &((*place)->*Next)) {
      T* const one = *place;
      if (!suits(*one)) continue;
      *place = std::exchange(one->*Next, nullptr);
      if (*place == nullptr) end_ = place;
      return one;
    }
    return nullptr;
  }
  template <class Visit> void for_each(Visit visit) const {
    for (const T* one = first_; one != nullptr; one = one->*Next) visit(*one);
  }

 private:
  T* first_ = nullptr;
  T** end_ = &first_;  ///< where the address of the next element goes
};

}  // namespace sukima::detail
