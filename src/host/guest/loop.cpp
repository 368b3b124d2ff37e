// SPDX-License-Identifier: Apache-2.0
// Runs the guest service with its port, its socket for programs, and its clock.
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <base/shared/clock.hpp>
#include <base/shared/descriptor.hpp>

#include <array>
#include <cerrno>
#include <iterator>
#include <map>
#include <system_error>

#include "guest/host_port.hpp"
#include "guest/program_reports.hpp"
#include "guest/unix_socket.hpp"
#include "shared/files.hpp"
#include "shared/guest.hpp"
#include "shared/paced_poll.hpp"

namespace sukima::host {
namespace {

/// The longest wait in milliseconds, after which the service checks its leases.
constexpr int longest_wait = 500;
/// Bytes that are read from one program at a time.
constexpr std::size_t one_read = 4096;

/// The socket over which programs report, and the connected programs.
class program_socket {
 public:
  program_socket(const guest_options& options, program_reports& reports)
      : user_(options.user), reports_(reports) {
    path_ = options.socket.empty() ? options.root / "run/sukima/guest.sock" : options.socket;
    std::error_code failed;
    if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path(), failed);
    if (failed) throw std::system_error(failed, path_.parent_path().string());
    const sockaddr_un address = unix_address(path_);
    // The queue of connections of a service that is busy may be full (EAGAIN).
    const int tried = connect_error(address);
    if (tried == 0 || tried == EAGAIN)
      throw std::system_error(EADDRINUSE, std::generic_category(), path_.string());
    remove_left_socket(tried);
    listening_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!listening_ ||
        ::bind(listening_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listening_.get(), 16) != 0)
      throw std::system_error(errno, std::generic_category(), path_.string());
    // Every user may connect. The kernel identifies the user, and connections of users that are not allowed
    // are closed.
    ::chmod(path_.c_str(), 0666);
  }
  ~program_socket() { ::unlink(path_.c_str()); }
  program_socket(const program_socket&) = delete;
  program_socket& operator=(const program_socket&) = delete;

  void add_to(std::vector<pollfd>& all) const {
    all.push_back({.fd = listening_.get(), .events = POLLIN, .revents = 0});
    for (const auto& [number, one] : programs_) all.push_back({.fd = number, .events = POLLIN, .revents = 0});
  }

  void serve(double now) {
    accept();
    std::array<char, one_read> bytes{};
    for (auto one = programs_.begin(); one != programs_.end();) {
      const ssize_t count = ::recv(one->first, bytes.data(), bytes.size(), MSG_DONTWAIT);
      const bool ended = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
      if (count > 0) reports_.feed(one->first, {bytes.data(), static_cast<std::size_t>(count)}, now);
      if (ended) reports_.closed(one->first);
      one = ended ? programs_.erase(one) : std::next(one);
    }
  }

 private:
  /// Removes a socket that a killed service has left.
  /// \param tried  the errno of a connection to it
  /// \throws std::system_error  the path names another file, which must stay
  void remove_left_socket(int tried) const {
    struct stat status{};
    if (::lstat(path_.c_str(), &status) != 0) return;
    if (!S_ISSOCK(status.st_mode))
      throw std::system_error(EEXIST, std::generic_category(), path_.string() + " is not a socket");
    if (tried != ECONNREFUSED) throw std::system_error(tried, std::generic_category(), path_.string());
    ::unlink(path_.c_str());
  }

  bool may_report(int program) const {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(program, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
    return peer.uid == 0 || peer.uid == ::geteuid() || (user_ && peer.uid == *user_);
  }

  void accept() {
    for (;;) {
      descriptor fresh(::accept4(listening_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!fresh) return;
      const int number = fresh.get();
      if (may_report(number) && reports_.opened(number)) programs_.emplace(number, std::move(fresh));
    }
  }

  std::optional<unsigned> user_;
  program_reports& reports_;
  std::filesystem::path path_;
  descriptor listening_;
  std::map<int, descriptor> programs_;
};

}  // namespace

std::optional<std::filesystem::path> find_guest_port(const std::filesystem::path& root) {
  std::error_code error;
  // Not every guest has udev, which would create /dev/virtio-ports.
  std::filesystem::directory_iterator ports(root / "sys/class/virtio-ports", error);
  if (error) return std::nullopt;
  for (const auto& one : ports)
    if (read_small_file(one.path() / "name") == guest_port_name) return root / "dev" / one.path().filename();
  return std::nullopt;
}

void run_guest(const guest_options& options, const std::atomic<bool>& stopped,
               const std::function<void(const std::string&)>& say) {
  guest_service service(options.root);
  program_socket programs(options, service.programs());
  host_port port(options);
  bool there = false;
  // Partner: stop in cli/guest/command.cpp, a signal handler. The signal ends the poll below, or this load
  // sees the value after the poll's timeout. Relaxed: no other data is published with it.
  while (!stopped.load(std::memory_order_relaxed)) {
    const double now = steady_seconds();
    if (port.open()) {
      const bool was_there = std::exchange(there, port.read(service, now));
      if (was_there && !there) service.host_closed();
    }
    programs.serve(now);
    port.write(service, now);
    for (const std::string& sentence : service.take_events()) say(sentence);
    std::vector<pollfd> all;
    programs.add_to(all);
    // poll would always return at once for a port whose other end is not connected.
    if (there) all.push_back({.fd = port.number(), .events = POLLIN, .revents = 0});
    paced_poll(all, longest_wait, stopped);
  }
  if (const auto problem = service.stop()) say(*problem);
}

}  // namespace sukima::host
