// SPDX-License-Identifier: Apache-2.0
#include "isolated.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace sukima::simulation {

namespace {

using end = outcome::end;

/// What a child process leaves to its parent, in memory that both share.
class legacy {
 public:
  legacy()
      : left_(static_cast<content*>(
            mmap(nullptr, sizeof(content), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    if (left_ == MAP_FAILED) throw std::system_error(errno, std::system_category(), "simulation: mmap");
  }
  ~legacy() { munmap(left_, sizeof(content)); }
  legacy(const legacy&) = delete;
  legacy& operator=(const legacy&) = delete;

  void leave(end how, const std::string& text, const trace& steps) noexcept {
    left_->how = how;
    left_->steps = steps;
    left_->length = std::min(text.size(), sizeof left_->text);
    std::memcpy(left_->text, text.data(), left_->length);
    left_->is_complete = true;
  }
  bool is_complete() const noexcept { return left_->is_complete; }
  outcome take() const { return {left_->how, 0, std::string(left_->text, left_->length), left_->steps}; }

 private:
  struct content {
    bool is_complete;
    end how;
    trace steps;
    std::size_t length;
    char text[32768];
  };
  content* left_;
};

/// One thread runs at a time, and one CPU passes the turn on much faster than two.
void stay_on_this_cpu() noexcept {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(std::max(0, sched_getcpu()), &one);
  sched_setaffinity(0, sizeof one, &one);  // where that is refused, the run only takes longer
}

end end_of(const std::string& error) noexcept { return error.empty() ? end::as_expected : end::wrong; }

[[noreturn]] void run_in_child(std::uint64_t seed, const program& p, const limits& most, legacy& left) {
  stay_on_this_cpu();
  machine m(seed, most, [&](const std::string& report) {
    left.leave(end::hanging, report, {});
    _exit(0);
  });
  std::string error;
  const trace steps = m.run([&] { error = p(); });
  left.leave(end_of(error), error, steps);
  _exit(0);
}

}  // namespace

outcome run_isolated(std::uint64_t seed, const program& p, const limits& most) {
  legacy left;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::system_category(), "simulation: fork");
  if (child == 0) run_in_child(seed, p, most, left);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::system_error(errno, std::system_category(), "simulation: waitpid");
  if (left.is_complete()) return left.take();
  outcome died;
  died.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  died.text = died.signal != 0 ? std::string("died of signal ") + strsignal(died.signal)
                               : "ended with code " + std::to_string(WEXITSTATUS(status));
  return died;
}

outcome run_here(std::uint64_t seed, const program& p, const limits& most) {
  stay_on_this_cpu();
  machine m(seed, most, [](const std::string& report) {
    std::fprintf(stderr, "%s", report.c_str());
    std::abort();
  });
  outcome o;
  o.steps = m.run([&] { o.text = p(); });
  o.how = end_of(o.text);
  return o;
}

}  // namespace sukima::simulation
