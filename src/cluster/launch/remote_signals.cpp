// SPDX-License-Identifier: Apache-2.0
#include "launch/remote_signals.hpp"

#include <sys/wait.h>

namespace sukima::cluster {

remote_signals::~remote_signals() {
  for (const signaller& s : all_) end_child(s.shell);
}

void remote_signals::send(const remote_start& start, unsigned node, pid_t program, int signal) {
  child_start how;
  how.program = start.signal_command(node, program, signal);
  how.own_session = true;
  how.mask = mask_;
  all_.push_back({start_child(how), {node, signal}});
  all_.back().shell.input.reset();
}

std::vector<remote_signals::failure> remote_signals::take_ended() {
  std::vector<failure> failures;
  std::erase_if(all_, [&](const signaller& s) {
    int status = 0;
    if (waitpid(s.shell.pid, &status, WNOHANG) != s.shell.pid) return false;
    if (WIFEXITED(status) && WEXITSTATUS(status) == status_unreachable) failures.push_back(s.report);
    return true;
  });
  return failures;
}

}  // namespace sukima::cluster
