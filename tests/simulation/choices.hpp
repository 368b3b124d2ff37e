// SPDX-License-Identifier: Apache-2.0
// A schedule as a list: the choices that a run's schedule made, each at a step of a thread. A run that
// follows the list takes the same steps. A run that follows a part of it is still a possible run, so a
// failing schedule can be shrunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::simulation {

struct choice {
  enum class kind : std::uint8_t {
    preempts,  ///< the thread `value` runs next, though this one could
    follows,  ///< the thread `value` runs next, because this one waits or has ended
    wakes,  ///< this thread wakes the thread `value`, and not another one that waits for the same
    disturbs,  ///< the thread `value` wakes for no reason
    stops,  ///< this thread stops for `value` nanoseconds
    jumps  ///< the clock jumps ahead by `value` nanoseconds
  };
  kind type = kind::preempts;
  std::uint32_t thread = 0;  ///< that chooses
  std::uint64_t step = 0;  ///< the number of steps that it had taken
  std::uint64_t value = 0;
  friend bool operator==(const choice&, const choice&) = default;
};
using choices = std::vector<choice>;

/// The word of a kind in files and in texts.
std::string_view word_of(choice::kind kind) noexcept;
std::optional<choice::kind> kind_of(std::string_view word) noexcept;
/// A choice as a sentence.
std::string describe(const choice& c);

/// Choices that a run looks up.
class plan {
 public:
  explicit plan(const choices& all);
  /// Whether the thread has such a choice at this step. It gives each choice once.
  /// \returns its value
  std::optional<std::uint64_t> take(std::uint32_t thread, std::uint64_t step, choice::kind kind) noexcept;

 private:
  struct of_thread {
    choices all;
    std::size_t next = 0;
  };
  std::vector<of_thread> threads_;
};

/// Memory for the choices of a run in another process.
class recording {
 public:
  recording();
  ~recording();
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;

  void add(const choice& c) noexcept;
  void set_steps(std::uint32_t thread, std::uint64_t steps) noexcept;
  void clear() noexcept;
  /// Nothing: there were more than it can hold.
  std::optional<choices> take() const;
  /// The steps that each thread has taken.
  std::vector<std::uint64_t> steps() const;

 private:
  struct content;
  content* content_;
};

/// What a run with some choices did.
struct trial {
  bool fails = false;
  std::vector<std::uint64_t> steps;  ///< of each thread, as recording::steps
};

/// Removes choices as long as a run with the others fails, each by itself in the end. Without some choices a
/// thread may take fewer steps or more. So the later choices are also tried as many steps earlier or later.
/// \param run        runs with these choices
/// \param most_runs  calls of `run`, at most
choices shrink(choices all, const std::function<trial(const choices&)>& run, unsigned most_runs);

}  // namespace sukima::simulation
