// SPDX-License-Identifier: Apache-2.0
// A schedule as a list of the choices that it made in a run, each at a step of a thread. A run that follows
// the list takes the same steps. A run that follows only a part of the list is still a possible run, so a
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

/// The most threads of a run whose choices are recorded.
inline constexpr std::uint32_t most_recorded_threads = 256;

struct choice {
  enum class kind : std::uint8_t {
    preempts,  ///< the thread `value` runs next, although this thread could continue
    follows,  ///< the thread `value` runs next, because this thread waits or has ended
    wakes,  ///< this thread wakes the thread `value`, and not another one that waits for the same object
    disturbs,  ///< the thread `value` wakes spuriously
    stops,  ///< this thread stops for `value` nanoseconds
    jumps  ///< the clock jumps ahead by `value` nanoseconds
  };
  kind type = kind::preempts;
  std::uint32_t thread = 0;  ///< the thread that chooses
  std::uint64_t step = 0;  ///< the number of steps that this thread had taken
  std::uint64_t value = 0;
  friend bool operator==(const choice&, const choice&) = default;
};
using choices = std::vector<choice>;

/// Returns the word for a kind in files and texts.
std::string_view word_of(choice::kind kind) noexcept;
std::optional<choice::kind> kind_of(std::string_view word) noexcept;
/// Describes a choice in a sentence.
std::string describe(const choice& c);

/// The choices that a run looks up.
class plan {
 public:
  explicit plan(const choices& all);
  /// Takes the choice of that kind that the thread has at this step, once.
  /// \returns its value; nothing: there is no such choice
  std::optional<std::uint64_t> take(std::uint32_t thread, std::uint64_t step, choice::kind kind) noexcept;

 private:
  struct of_thread {
    choices all;
    std::size_t next = 0;
  };
  std::vector<of_thread> threads_;
};

/// Shared memory for the choices of a run in another process.
class recording {
 public:
  recording();
  ~recording();
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;

  void add(const choice& c) noexcept;
  void set_steps(std::uint32_t thread, std::uint64_t steps) noexcept;
  void clear() noexcept;
  /// Returns the choices; nothing: there were more than fit.
  std::optional<choices> take() const;
  /// Returns the number of steps that each thread has taken.
  std::vector<std::uint64_t> steps() const;

 private:
  struct content;
  content* content_;
};

/// The result of a run with some choices.
struct trial {
  bool fails = false;
  std::vector<std::uint64_t> steps;  ///< by thread, as in recording::steps
};

/// Removes choices while a run with the remaining ones still fails, in the end one by one. Without some
/// choices a thread may take fewer or more steps. So the later choices are also tried that many steps earlier
/// or later.
/// \param run        runs with the given choices
/// \param most_runs  largest number of calls of `run`
choices shrink(choices all, const std::function<trial(const choices&)>& run, unsigned most_runs);

}  // namespace sukima::simulation
