// SPDX-License-Identifier: Apache-2.0
// Plugs virtual CPUs into a virtual machine of QEMU, and proves the change.
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>

#include "act/plug_dialogue.hpp"
#include "act/vcpu_count.hpp"
#include "shared/act.hpp"
#include "source/qmp_sockets.hpp"
#include "source/threads.hpp"

namespace sukima::host {
namespace {

using clock = std::chrono::steady_clock;

class qmp_vcpus final : public actuator {
 public:
  qmp_vcpus(std::filesystem::path socket, std::chrono::milliseconds longest)
      : path_(std::move(socket)), longest_(longest) {}

  std::string target() const override { return "the monitor " + path_.string(); }

  feasibility can(const std::string& value) const override {
    const auto count = vcpu_count(value);
    if (!count) return {false, fmt::format("'{}' is not a number of virtual CPUs", value)};
    const qmp_answer answer = ask();
    if (answer.result == qmp_answer::outcome::failed) return {false, answer.failure};
    if (answer.result == qmp_answer::outcome::late)
      return {false,
              fmt::format("{} is in use: QEMU serves one connection at a time; end the other one, or start "
                          "QEMU with a second -qmp socket",
                          target())};
    const std::size_t now = answer.machine.vcpus.size(), most = now + answer.machine.pluggable;
    if (*count < now) return {false, none_is_unplugged(now)};
    if (*count > most)
      return {false, fmt::format("the machine has {} virtual CPUs and room for {}; start QEMU with -smp "
                                 "{},maxcpus={}",
                                 now, most, now, *count)};
    return {true, {}};
  }

  std::optional<std::string> present() const override {
    const qmp_answer answer = ask();
    if (answer.result != qmp_answer::outcome::answered) return std::nullopt;
    return std::to_string(answer.machine.vcpus.size());
  }

  std::string trouble() const override { return trouble_; }

  int apply(const std::string& value, double) override {
    const auto count = vcpu_count(value);
    if (!count) return EINVAL;
    trouble_.clear();
    const qmp_answer before = ask();
    if (before.result != qmp_answer::outcome::answered) {
      // Without the old threads each thread would count as new, and an old one that is idle would never prove
      // the act.
      trouble_ = before.failure;
      return before.result == qmp_answer::outcome::late ? ETIMEDOUT : EPROTO;
    }
    seen_.clear();
    threads_.clear();
    plug_dialogue dialogue(*count);
    if (const int error = converse(dialogue); error != 0) return error;
    if (!dialogue.failure().empty()) {
      trouble_ = dialogue.failure();
      return EPROTO;
    }
    for (const long thread : dialogue.threads())
      if (std::ranges::none_of(before.machine.vcpus,
                               [&](const qmp_vcpu& one) { return one.thread == thread; }))
        threads_.push_back(thread);
    look();
    return 0;
  }

  /// Proved if each new vCPU has run since it was plugged in, which shows that the guest has switched it on.
  /// The thread of a vCPU that the guest ignores stops after its first moments.
  proof verify(const std::string&, double) override {
    for (const long thread : threads_) {
      const auto facts = read_thread("", thread);
      if (!facts) return proof::failed;
      if (facts->ran < seen_[thread] + running_seconds) return proof::waiting;
    }
    return proof::proved;
  }

 private:
  void look() {
    for (const long thread : threads_)
      if (const auto facts = read_thread("", thread)) seen_[thread] = facts->ran;
  }

  qmp_answer ask() const { return ask_monitors({path_.string()}, clock::now() + longest_).front(); }

  /// \returns 0, or an errno
  int converse(plug_dialogue& dialogue) const {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    const std::string name = path_.string();
    if (name.size() >= sizeof address.sun_path) return ENAMETOOLONG;
    std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
    const descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      return errno;
    const auto end = clock::now() + longest_;
    char bytes[16384];
    while (!dialogue.ended()) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now()).count();
      pollfd one{.fd = socket.get(), .events = POLLIN, .revents = 0};
      if (left <= 0 || ::poll(&one, 1, static_cast<int>(left)) == 0) return ETIMEDOUT;
      const ssize_t count = ::recv(socket.get(), bytes, sizeof bytes, 0);
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (count <= 0) return count == 0 ? ECONNRESET : errno;
      dialogue.receive({bytes, static_cast<std::size_t>(count)});
      const std::string next = dialogue.take_commands();
      // A command is far smaller than the socket's buffer, which is empty because the previous command was
      // answered.
      if (next.empty()) continue;
      const ssize_t sent = ::send(socket.get(), next.data(), next.size(), MSG_NOSIGNAL);
      if (sent < 0) return errno;
      if (sent != static_cast<ssize_t>(next.size())) return ENOBUFS;
    }
    return 0;
  }

  std::filesystem::path path_;
  std::chrono::milliseconds longest_;  ///< the longest duration of a dialogue
  std::string trouble_;
  std::vector<long> threads_;  // the threads of the vCPUs that were plugged in
  std::map<long, double> seen_;  // how long each had run when it was new
};

}  // namespace

std::unique_ptr<actuator> make_qmp_vcpus(std::filesystem::path socket, std::chrono::milliseconds longest) {
  return std::make_unique<qmp_vcpus>(std::move(socket), longest);
}

}  // namespace sukima::host
