// SPDX-License-Identifier: Apache-2.0
#include "isolated.hpp"

#include "seeded_machine.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

namespace sukima::simulation {

namespace {

using end = outcome::end;

/// The result that a child process leaves to its parent, in shared memory.
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
  std::atomic<std::uint64_t>& progress() noexcept { return left_->progress; }
  outcome take() const { return {left_->how, 0, std::string(left_->text, left_->length), left_->steps}; }

 private:
  struct content {
    std::atomic<std::uint64_t> progress;  ///< number of steps so far
    bool is_complete;
    end how;
    trace steps;
    std::size_t length;
    char text[32768];
  };
  content* left_;
};

/// While this object exists, SIGALRM interrupts the calling process every second.
class every_second {
 public:
  every_second() {
    struct sigaction interrupts{};
    interrupts.sa_handler = [](int) {};  // no SA_RESTART, so that system calls end
    sigaction(SIGALRM, &interrupts, &handler_before_);
    constexpr itimerval period{{1, 0}, {1, 0}};
    setitimer(ITIMER_REAL, &period, &timer_before_);
  }
  ~every_second() {
    setitimer(ITIMER_REAL, &timer_before_, nullptr);
    sigaction(SIGALRM, &handler_before_, nullptr);
  }
  every_second(const every_second&) = delete;
  every_second& operator=(const every_second&) = delete;

 private:
  struct sigaction handler_before_{};
  itimerval timer_before_{};
};

/// Waits for the end of a child. Kills the child if it has taken no step for that number of seconds, because
/// it then waits or loops outside the machine, which cannot end it.
/// \param status how the child ended
/// \returns whether it ended by itself
bool wait_for_end(pid_t child, unsigned patience, const std::atomic<std::uint64_t>& steps, int& status) {
  const every_second timer;
  std::uint64_t seen = 0;
  unsigned seconds = 0;
  bool by_itself = true;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::system_category(), "simulation: waitpid");
    if (const std::uint64_t now = steps.load(std::memory_order_relaxed); now != seen) {
      seen = now;
      seconds = 0;
    } else if (++seconds == patience) {
      kill(child, SIGKILL);
      by_itself = false;
    }
  }
  return by_itself;
}

/// Binds the process to one CPU: only one thread runs at a time, and switches are much faster on one CPU.
void stay_on_this_cpu() noexcept {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(std::max(0, sched_getcpu()), &one);
  sched_setaffinity(0, sizeof one, &one);  // if this is refused, the run only takes longer
}

end end_of(const std::string& error) noexcept { return error.empty() ? end::as_expected : end::wrong; }

[[noreturn]] void run_in_child(const machine_maker& make, const program& p, limits most, legacy& left) {
  stay_on_this_cpu();
  if (most.quiet && std::freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
  most.progress = &left.progress();
  const auto m = make(most, [&](const std::string& report) {
    left.leave(end::hanging, report, {});
    _exit(0);
  });
  std::string error;
  const trace steps = m->run([&] { error = p(); });
  left.leave(end_of(error), error, steps);
  _exit(0);
}

}  // namespace

machine_maker seeded(std::uint64_t seed) {
  return [seed](const limits& most, hang_handler hangs) {
    return std::make_unique<seeded_machine>(seed, most, std::move(hangs));
  };
}

outcome run_isolated(std::uint64_t seed, const program& p, const limits& most) {
  return run_isolated(seeded(seed), p, most);
}

outcome run_isolated(const machine_maker& make, const program& p, const limits& most) {
  legacy left;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::system_category(), "simulation: fork");
  if (child == 0) run_in_child(make, p, most, left);
  int status = 0;
  const bool by_itself = wait_for_end(child, most.patience, left.progress(), status);
  if (left.is_complete()) return left.take();
  if (!by_itself)
    return {end::hanging,
            0,
            "no step for " + std::to_string(most.patience) + " s, after " +
                std::to_string(left.progress().load()) +
                " steps: it waits or loops outside the simulated machine\n",
            {}};
  outcome died;
  died.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  died.text = died.signal != 0 ? std::string("died of signal ") + strsignal(died.signal)
                               : "ended with code " + std::to_string(WEXITSTATUS(status));
  return died;
}

outcome run_here(std::uint64_t seed, const program& p, const limits& most) {
  stay_on_this_cpu();
  seeded_machine m(seed, most, [](const std::string& report) {
    std::fprintf(stderr, "%s", report.c_str());
    std::abort();
  });
  outcome o;
  o.steps = m.run([&] { o.text = p(); });
  o.how = end_of(o.text);
  return o;
}

}  // namespace sukima::simulation
