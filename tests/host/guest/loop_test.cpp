// SPDX-License-Identifier: Apache-2.0
// The guest service as it runs: its port is a Unix socket of the test, which plays the host and the programs.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <mutex>
#include <system_error>
#include <thread>

#include "fake_machine.hpp"
#include "shared/guest.hpp"
#include "sockets.hpp"

namespace {

using namespace sukima::host;
using guests::fake_machine;

/// Waits until the switch of this CPU says so.
void wait_for_switch(const fake_machine& machine, unsigned cpu, const std::string& text) {
  while (guests::text_in(machine.switch_of(cpu)) != text) ::usleep(1000);
}

class running_service {
 public:
  explicit running_service(guest_options options)
      : thread_([this, options = std::move(options)] {
          run_guest(options, stopped_, [](const std::string&) {});
        }) {}
  ~running_service() { end(); }
  void end() {
    stopped_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

TEST(guest_loop, carries_numbers_in_and_progress_out) {
  fake_machine machine(3);
  const auto path = machine.root() / "port";
  const auto listening = guests::listen_at(path);
  running_service service({.root = machine.root(), .port = path});
  const auto host = guests::accept_at(listening);
  guests::wait_for(host, "online 0-2\n");
  guests::send_to(host, text_of(host_message{.usable = 1.5, .vcpus = 2}));
  wait_for_switch(machine, 2, "0\n");
  EXPECT_EQ(guests::text_in(machine.number()), text_of(host_message{.usable = 1.5}));
  const auto program = guests::connect_to(machine.root() / "run/sukima/guest.sock");
  guests::send_to(program, "sukima-guest 1\nprogress 5\nend\nsukima-guest 1\nprogress 12\nend\n");
  const std::string got = guests::wait_for(host, "progress 7.000\n");
  EXPECT_NE(got.find("progress 7.000\n"), std::string::npos);
  service.end();
  EXPECT_EQ(guests::text_in(machine.switch_of(2)), "1\n");
  EXPECT_FALSE(guests::fs::exists(machine.root() / "run/sukima/guest.sock"));
}

TEST(guest_loop, brings_cpus_back_when_the_port_closes_and_connects_again) {
  fake_machine machine(2);
  const auto path = machine.root() / "port";
  const auto listening = guests::listen_at(path);
  running_service service({.root = machine.root(), .port = path});
  for (int i = 0; i < 2; ++i) {
    const auto host = guests::accept_at(listening);
    guests::send_to(host, text_of(host_message{.usable = 1, .vcpus = 1}));
    wait_for_switch(machine, 1, "0\n");
    ::shutdown(host.get(), SHUT_RDWR);
    wait_for_switch(machine, 1, "1\n");
    machine.settle();
  }
}

TEST(guest_loop, only_one_service_runs) {
  fake_machine machine(1);
  const auto path = machine.root() / "port";
  const auto listening = guests::listen_at(path);
  running_service service({.root = machine.root(), .port = path});
  const auto host = guests::accept_at(listening);
  guests::wait_for(host, "end\n");
  const std::atomic<bool> stopped = true;
  EXPECT_THROW(run_guest({.root = machine.root(), .port = path}, stopped, [](const std::string&) {}),
               std::system_error);
}

TEST(guest_loop, a_busy_service_keeps_its_socket) {
  const fake_machine machine(1);
  const auto path = machine.root() / "run/sukima/guest.sock";
  guests::fs::create_directories(path.parent_path());
  const auto listening = guests::listen_at(path);
  ASSERT_EQ(::listen(listening.get(), 1), 0);
  std::vector<sukima::descriptor> waiting;  // the service accepts none of them
  const sockaddr_un address = guests::address_of(path);
  do {
    waiting.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  } while (::connect(waiting.back().get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  ASSERT_EQ(errno, EAGAIN);
  const std::atomic<bool> stopped = true;
  EXPECT_THROW(run_guest({.root = machine.root()}, stopped, [](const std::string&) {}), std::system_error);
  EXPECT_TRUE(guests::fs::is_socket(path));
}

TEST(guest_loop, removes_no_socket_of_another_kind) {
  const fake_machine machine(1);
  const auto path = machine.root() / "log";
  const sukima::descriptor log(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = guests::address_of(path);
  ASSERT_EQ(::bind(log.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const std::atomic<bool> stopped = true;
  EXPECT_THROW(run_guest({.root = machine.root(), .socket = path}, stopped, [](const std::string&) {}),
               std::system_error);
  EXPECT_TRUE(guests::fs::is_socket(path));
}

TEST(guest_loop, removes_no_file_that_is_not_a_socket) {
  const fake_machine machine(1);
  const auto path = machine.root() / "notes";
  guests::write(path, "precious");
  const std::atomic<bool> stopped = true;
  EXPECT_THROW(run_guest({.root = machine.root(), .socket = path}, stopped, [](const std::string&) {}),
               std::system_error);
  EXPECT_EQ(guests::text_in(path), "precious");
}

TEST(guest_loop, what_a_killed_service_left_off_the_next_one_brings_back) {
  fake_machine machine(4);
  const auto path = machine.root() / "port";
  const auto listening = guests::listen_at(path);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::atomic<bool> stopped = false;
    run_guest({.root = machine.root(), .port = path}, stopped, [](const std::string&) {});
    ::_exit(0);
  }
  const auto host = guests::accept_at(listening);
  guests::send_to(host, text_of(host_message{.usable = 1, .vcpus = 1}));
  for (unsigned cpu = 1; cpu < 4; ++cpu) wait_for_switch(machine, cpu, "0\n");
  ::kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(machine.on(), "0");
  const guest_service next(machine.root());
  EXPECT_EQ(machine.on(), "0-3");
}

TEST(guest_port, is_found_by_its_name) {
  const guests::folder root;
  EXPECT_FALSE(find_guest_port(root.path));
  guests::write(root.path / "sys/class/virtio-ports/vport1p1/name", "org.qemu.guest_agent.0\n");
  EXPECT_FALSE(find_guest_port(root.path));
  guests::write(root.path / "sys/class/virtio-ports/vport1p2/name", "org.sukima.guest.0\n");
  EXPECT_EQ(find_guest_port(root.path), root.path / "dev/vport1p2");
}

}  // namespace
