// SPDX-License-Identifier: Apache-2.0
// Patients in a country whose hospitals form a tree: Health of the Barcelona OpenMP Tasks Suite, after the
// program of the Olden suite (A. Rogers et al., TOPLAS 1995). In each step every village treats its patients.
// The smaller villages come first, because a hospital may send a patient to the village above.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/harness.hpp"
#include "kernels/random.hpp"

namespace kernels {

inline constexpr int health_steps = 730;
inline constexpr int villages_below = 6;  // of each village that is not of the lowest level
inline constexpr int most_health_levels = 8;

struct patient {
  std::int32_t left;  ///< steps until the present treatment ends
  std::int32_t steps;  ///< since the illness began
  std::int32_t hospitals;  ///< that have seen the patient
};

/// The events in a village since the beginning.
struct health_counts {
  std::uint64_t ill = 0, healed = 0, sent = 0, steps = 0, hospitals = 0;
  health_counts& operator+=(const health_counts& other) {
    ill += other.ill, healed += other.healed, sent += other.sent;
    steps += other.steps, hospitals += other.hospitals;
    return *this;
  }
};

class village {
 public:
  /// \param level  0: the whole country \param number  of the village within its level
  village(int level, int levels, std::uint64_t number)
      : random_((static_cast<std::uint64_t>(level) << 32) + number),
        level_(level),
        people_(8 << (levels - 1 - level)),
        staff_(2 << (levels - 1 - level)),
        free_staff_(staff_) {
    if (level + 1 == levels) return;
    below_.reserve(villages_below);
    for (std::uint64_t i = 0; i < villages_below; ++i)
      below_.emplace_back(level + 1, levels, number * villages_below + i);
  }

  [[nodiscard]] int below() const { return static_cast<int>(below_.size()); }
  [[nodiscard]] village& below(int i) { return below_[static_cast<std::size_t>(i)]; }

  /// Runs one step of this village alone, after the steps of the villages below it.
  void treat() {
    for (village& v : below_) {
      for (const patient& p : v.sent_) arrive(p);
      v.sent_.clear();
    }
    end_treatments();
    end_assessments();
    assess_waiting();
    fall_ill();
  }

  /// Runs one step of this village and of all villages below it.
  void step_plainly() {
    for (village& v : below_) v.step_plainly();
    treat();
  }

  [[nodiscard]] health_counts counts() const {
    health_counts sum = counts_;
    for (const village& v : below_) sum += v.counts();
    return sum;
  }

  /// \throws bench::wrong_result if patients were lost
  void check() const {
    const auto here = waiting_.size() + assessed_.size() + treated_.size() + sent_.size();
    const auto busy = assessed_.size() + treated_.size();
    if (busy + static_cast<std::size_t>(free_staff_) != static_cast<std::size_t>(staff_))
      throw bench::wrong_result("a hospital's staff is not what it was");
    std::uint64_t came = counts_.ill;
    for (const village& v : below_) {
      came += v.counts_.sent - v.sent_.size();
      v.check();
    }
    if (came != counts_.healed + counts_.sent + here - sent_.size())
      throw bench::wrong_result("a hospital has lost patients");
  }

 private:
  static constexpr std::int32_t assessment_steps = 3, treatment_steps = 10;
  // Of a thousand: healthy people who fall ill, patients who are sent on, and patients who need a treatment.
  static constexpr std::uint32_t falls_ill = 10, is_sent = 300, is_treated = 500;

  bool happens(std::uint32_t of_a_thousand) { return random_.below(1000) < of_a_thousand; }

  void arrive(patient p) {
    ++p.hospitals;
    if (free_staff_ == 0) return waiting_.push_back(p);
    --free_staff_;
    p.left = assessment_steps;
    assessed_.push_back(p);
  }

  void heal(const patient& p) {
    ++free_staff_;
    ++counts_.healed;
    counts_.steps += static_cast<std::uint64_t>(p.steps);
    counts_.hospitals += static_cast<std::uint64_t>(p.hospitals);
  }

  /// Visits a list of patients, and keeps those whose treatment continues.
  template <class F>
  static void pass(std::vector<patient>& list, F ended) {
    std::size_t kept = 0;
    for (patient& p : list) {
      ++p.steps;
      if (--p.left > 0)
        list[kept++] = p;
      else
        ended(p);
    }
    list.resize(kept);
  }

  void end_treatments() {
    pass(treated_, [this](const patient& p) { heal(p); });
  }
  void end_assessments() {
    pass(assessed_, [this](patient& p) {
      if (level_ > 0 && happens(is_sent)) {
        ++free_staff_;
        ++counts_.sent;
        sent_.push_back(p);
      } else if (happens(is_treated)) {
        p.left = treatment_steps;
        treated_.push_back(p);
      } else {
        heal(p);
      }
    });
  }
  void assess_waiting() {
    std::size_t first = 0;
    for (; first < waiting_.size() && free_staff_ > 0; ++first) {
      --free_staff_;
      waiting_[first].left = assessment_steps;
      assessed_.push_back(waiting_[first]);
    }
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(first));
    for (patient& p : waiting_) ++p.steps;
  }
  void fall_ill() {
    for (int i = 0; i < people_; ++i)  // patients stay in this number, because others have moved in
      if (happens(falls_ill)) {
        ++counts_.ill;
        arrive({});
      }
  }

  random_numbers random_;
  int level_, people_, staff_, free_staff_;
  std::vector<village> below_;
  std::vector<patient> waiting_, assessed_, treated_;
  std::vector<patient> sent_;  ///< patients sent to the village above, which takes them in its step
  health_counts counts_;
};

/// A country with that many levels of villages.
struct health_problem {
  village country;

  explicit health_problem(int levels) : country(0, levels, 0) {}

  [[nodiscard]] std::string result() const {
    country.check();
    const health_counts c = country.counts();
    return std::to_string(c.ill) + " " + std::to_string(c.healed) + " " + std::to_string(c.sent) + " " +
           std::to_string(c.steps) + " " + std::to_string(c.hospitals);
  }
};

}  // namespace kernels
