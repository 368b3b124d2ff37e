// SPDX-License-Identifier: Apache-2.0
#include "choice/known_steps.hpp"

#include <algorithm>

namespace sukima::detail {

std::size_t known_steps::look_through(char* from, char* to) {
  if (end_ != nullptr) drop_from(to);
  char* at = end_;
  if (at == nullptr || from < begin_ || from > at) {
    forget();
    begin_ = at = from;
  }
  slack_ = 0;
  std::size_t looked_at = 0;
  try {
    while (at < to) {
      auto* const r = reinterpret_cast<choice_point*>(at);
      const choice_point_kind* const kind = kind_of(r);
      if (kind->undo != nullptr) steps_.push_back(r);
      at += kind->size;
      ++looked_at;
      if (++unmarked_ == between_marks) {
        marks_.push_back(at);
        unmarked_ = 0;
      }
    }
  } catch (...) {
    forget();
    throw;
  }
  end_ = marks_.size() * between_marks < fewest ? nullptr : at;
  return looked_at;
}

std::size_t known_steps::first_at(const choice_point* from) const noexcept {
  return static_cast<std::size_t>(std::lower_bound(steps_.begin(), steps_.end(), from) - steps_.begin());
}

void known_steps::forget_from(const char* at) noexcept {
  if (end_ == nullptr || at >= end_) return;
  drop_from(at);
  // The next joins below are fast, twice as many as before.
  marks_.resize(marks_.size() - std::min(slack_, marks_.size()));
  slack_ = 2 * slack_ + 1;
  if (marks_.empty()) {
    end_ = nullptr;
    return;
  }
  drop_from(marks_.back());
}

/// Back to the last mark that is not above `at`.
void known_steps::drop_from(const char* at) noexcept {
  if (at >= end_ && end_ != nullptr) return;
  while (!marks_.empty() && marks_.back() > at) marks_.pop_back();
  if (marks_.empty()) {
    end_ = nullptr;
    return;
  }
  end_ = marks_.back();
  unmarked_ = 0;
  steps_.erase(std::lower_bound(steps_.begin(), steps_.end(), reinterpret_cast<choice_point*>(end_)),
               steps_.end());
}

void known_steps::forget_all() noexcept {
  begin_ = end_ = nullptr;
  steps_.clear();
  marks_.clear();
  unmarked_ = 0;
}

void known_steps::release() noexcept {
  forget();
  std::vector<choice_point*>().swap(steps_);
  std::vector<char*>().swap(marks_);
}

}  // namespace sukima::detail
