// SPDX-License-Identifier: Apache-2.0
#include "choices.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace sukima::simulation {

namespace {

constexpr std::array<std::string_view, 6> words{"preempts", "follows", "wakes", "disturbs", "stops", "jumps"};

/// They take 240 MB of address space.
constexpr std::size_t most_recorded = 10'000'000;

}  // namespace

std::string_view word_of(choice::kind kind) noexcept { return words[static_cast<std::size_t>(kind)]; }

std::optional<choice::kind> kind_of(std::string_view word) noexcept {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return std::nullopt;
  return static_cast<choice::kind>(found - words.begin());
}

std::string describe(const choice& c) {
  const std::string thread = "thread " + std::to_string(c.thread);
  const std::string value = std::to_string(c.value);
  const std::string when = "after step " + std::to_string(c.step) + " of " + thread;
  switch (c.type) {
    case choice::kind::preempts:
      return when + " thread " + value + " preempts it";
    case choice::kind::follows:
      return when + ", which waits or ends, thread " + value + " follows";
    case choice::kind::wakes:
      return when + " it wakes thread " + value;
    case choice::kind::disturbs:
      return when + " thread " + value + " wakes for no reason";
    case choice::kind::stops:
      return when + " it stops for " + value + " ns";
    case choice::kind::jumps:
      return when + " the clock jumps by " + value + " ns";
  }
  return {};
}

plan::plan(const choices& all) {
  for (const choice& c : all) {
    if (c.thread >= threads_.size()) threads_.resize(c.thread + 1);
    threads_[c.thread].all.push_back(c);
  }
}

std::optional<std::uint64_t> plan::take(std::uint32_t thread, std::uint64_t step,
                                        choice::kind kind) noexcept {
  if (thread >= threads_.size()) return std::nullopt;
  of_thread& its = threads_[thread];
  while (its.next < its.all.size() && its.all[its.next].step < step) ++its.next;
  for (std::size_t i = its.next; i < its.all.size() && its.all[i].step == step; ++i)
    if (its.all[i].type == kind) {
      its.next = i + 1;
      return its.all[i].value;
    }
  return std::nullopt;
}

struct recording::content {
  std::size_t count;
  std::uint64_t steps[most_recorded_threads];
  choice all[most_recorded];
};

recording::recording()
    : content_(static_cast<content*>(mmap(nullptr, sizeof(content), PROT_READ | PROT_WRITE,
                                          MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
  if (content_ == MAP_FAILED) throw std::system_error(errno, std::system_category(), "simulation: mmap");
}
recording::~recording() { munmap(content_, sizeof(content)); }

void recording::add(const choice& c) noexcept {
  if (content_->count < most_recorded) content_->all[content_->count] = c;
  ++content_->count;
}
void recording::set_steps(std::uint32_t thread, std::uint64_t steps) noexcept {
  if (thread < most_recorded_threads) content_->steps[thread] = steps;
}
void recording::clear() noexcept {
  content_->count = 0;
  std::ranges::fill(content_->steps, 0);
}
std::vector<std::uint64_t> recording::steps() const {
  return {content_->steps, content_->steps + most_recorded_threads};
}

std::optional<choices> recording::take() const {
  if (content_->count > most_recorded) return std::nullopt;
  return choices(content_->all, content_->all + content_->count);
}

namespace {

class shrinker {
 public:
  shrinker(choices all, const std::function<trial(const choices&)>& run, unsigned most_runs)
      : all_(std::move(all)), run_(run), left_(most_runs) {}

  choices shrink() {
    steps_ = tried(all_).steps;
    std::size_t part = all_.size();
    while (part != 0 && left_ != 0) {
      const bool removed = remove_parts(part);
      // In the end each choice is tried alone, until none can be removed.
      if (part > 1)
        part = (part + 1) / 2;
      else if (!removed)
        part = 0;
    }
    return std::move(all_);
  }

 private:
  trial tried(const choices& some) {
    if (left_ == 0) return {};
    --left_;
    return run_(some);
  }
  bool keep_if_it_fails(choices fewer, const trial& t) {
    if (!t.fails) return false;
    all_ = std::move(fewer);
    steps_ = t.steps;
    return true;
  }
  /// Removes the last parts first, because the parts before them then keep their positions.
  bool remove_parts(std::size_t part) {
    bool removed = false;
    for (std::size_t end = all_.size(); end != 0;) {
      const std::size_t begin = end > part ? end - part : 0;
      removed = remove(begin, end) || removed;
      end = begin;
    }
    return removed;
  }
  bool remove(std::size_t begin, std::size_t end) {
    choices fewer(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(begin));
    fewer.insert(fewer.end(), all_.begin() + static_cast<std::ptrdiff_t>(end), all_.end());
    const trial without = tried(fewer);
    if (keep_if_it_fails(fewer, without)) return true;
    choices moved = fewer;
    for (std::size_t i = begin; i < moved.size(); ++i)
      if (const std::uint32_t thread = moved[i].thread; thread < without.steps.size())
        moved[i].step += without.steps[thread] - steps_[thread];
    return moved != fewer && keep_if_it_fails(moved, tried(moved));
  }

  choices all_;
  std::vector<std::uint64_t> steps_;
  const std::function<trial(const choices&)>& run_;
  unsigned left_;
};

}  // namespace

choices shrink(choices all, const std::function<trial(const choices&)>& run, unsigned most_runs) {
  return shrinker(std::move(all), run, most_runs).shrink();
}

}  // namespace sukima::simulation
