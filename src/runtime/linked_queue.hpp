// SPDX-License-Identifier: Apache-2.0
// A queue whose elements are linked through a member of their own, so that nothing is ever allocated.
#pragma once

#include <utility>

namespace sukima::detail {

/// First in, first out. An element is in one queue at a time of those that link it by the same member.
/// Complexity: constant, but take_first, which looks at those that do not suit.
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
  /// Takes the first one out that suits; null: none does.
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
  /// The same among the first ones. Complexity: linear in `most`.
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
  T** end_ = &first_;  ///< where the address of the next one goes
};

}  // namespace sukima::detail
