// SPDX-License-Identifier: Apache-2.0
// Kills a virtual machine at random moments while it is optimised, with fresh seeds: its neighbour gets all
// its CPUs, and nothing stays capped or in the journal. The machine is a process with threads as vCPUs and
// the guest service in it, so that a kill ends all of that at once, as QEMU's end does.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <base/shared/clock.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iostream>
#include <random>
#include <thread>

#include "fake_machine.hpp"
#include "shared/guest.hpp"
#include "shared/steering.hpp"
#include "sockets.hpp"

namespace {

using namespace sukima::host;
using sukima::descriptor;
using namespace std::chrono_literals;

constexpr int moments = 20;
constexpr unsigned vcpus = 2;
constexpr useconds_t longest_life = 2000000;

/// A vCPU: it is busy while it is online.
[[noreturn]] void run_vcpu(unsigned id, const std::atomic<bool>& online) {
  ::prctl(PR_SET_NAME, ("CPU " + std::to_string(id) + "/TCG").c_str());
  for (;;)
    if (!online) std::this_thread::sleep_for(20ms);
}

/// The process that is killed: it never returns.
[[noreturn]] void be_a_machine(guests::fake_machine& machine, const descriptor& listening, int ready) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::array<std::atomic<bool>, vcpus> online{true, true};
  for (unsigned i = 0; i < vcpus; ++i) std::thread(run_vcpu, i, std::cref(online[i])).detach();
  for (unsigned named = 0; named < vcpus; ::usleep(1000)) {
    named = 0;
    for (const auto& one : guests::fs::directory_iterator("/proc/self/task"))
      named += guests::text_in(one.path() / "comm").starts_with("CPU ");
  }
  if (::write(ready, "+", 1) != 1) ::_exit(1);
  guest_service service(machine.root());
  descriptor port;
  for (;;) {
    const double now = sukima::steady_seconds();
    pollfd waiting{.fd = listening.get(), .events = POLLIN, .revents = 0};
    if (!port && ::poll(&waiting, 1, 0) > 0) port = guests::accept_at(listening);
    std::array<char, 4096> bytes{};
    const ssize_t count = port ? ::recv(port.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) : -1;
    if (count > 0) service.from_host({bytes.data(), static_cast<std::size_t>(count)}, now);
    if (count == 0) {
      port = descriptor();
      service.host_closed();
    }
    const std::string said = service.step(now);
    if (port && !said.empty()) ::send(port.get(), said.data(), said.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    machine.settle();
    const auto on = machine.switched_on();
    for (unsigned i = 0; i < vcpus; ++i) online[i] = std::ranges::count(on, i) > 0;
    std::this_thread::sleep_for(20ms);
  }
}

class machine_process {
 public:
  explicit machine_process(std::string name) : name_(std::move(name)), machine_(vcpus) {
    const descriptor listening = guests::listen_at(port());
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    const descriptor ready(ends[0]), inside(ends[1]);
    process_ = ::fork();
    if (process_ == 0) be_a_machine(machine_, listening, inside.get());
    char byte = 0;
    EXPECT_EQ(::read(ready.get(), &byte, 1), 1);
  }
  ~machine_process() { kill(); }
  machine_process(const machine_process&) = delete;
  machine_process& operator=(const machine_process&) = delete;

  void kill() {
    if (process_ == 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(std::exchange(process_, 0), nullptr, 0);
  }
  std::string on() const { return machine_.on(); }
  guests::fs::path port() const { return machine_.root() / "port"; }
  pid_t process() const { return process_; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  guests::fake_machine machine_;
  pid_t process_ = 0;
};

/// The counters of a machine that has been up for long: a fresh one is left alone for half a minute.
class counters_of_an_old_machine final : public vm_counters {
 public:
  explicit counters_of_an_old_machine(pid_t process) : real_(make_process_counters(process, {}, vcpus)) {}
  std::optional<vm_times> read() override {
    auto times = real_->read();
    if (times) times->up += 1000;
    return times;
  }

 private:
  std::unique_ptr<vm_counters> real_;
};

/// A session that switches the virtual CPUs of both; they share two pCPUs.
std::unique_ptr<session> optimise(const std::vector<const machine_process*>& all, journal& written) {
  description host;
  for (unsigned p = 0; p < 2; ++p) host.pcpus.push_back({.id = p, .node = {}, .core = {}, .unknown = {}});
  std::vector<session_vm> vms;
  for (const machine_process* one : all) {
    vm described;
    described.name = one->name();
    described.weight_of = weight_owner::vm;
    described.act = {"vcpus"};
    for (unsigned i = 0; i < vcpus; ++i) {
      vcpu each;
      each.id = i;
      described.vcpus.push_back(each);
    }
    host.vms.push_back(std::move(described));
    session_vm steered;
    steered.how.vcpus = steered.chosen = true;
    steered.how.most = vcpus;
    steered.link = make_port_link(one->port());
    steered.counters = std::make_unique<counters_of_an_old_machine>(one->process());
    vms.push_back(std::move(steered));
  }
  return std::make_unique<session>(std::move(host), std::move(vms), session_options{}, &written);
}

TEST(kill, of_a_machine_leaves_nothing_behind_and_its_neighbour_gets_its_cpus) {
  const std::uint64_t seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  const guests::folder folder;
  const auto cap = folder.path / "cpu.max";
  guests::write(cap, "max 100000\n");
  const machine_process neighbour("b");
  int given_up = 0;
  for (int i = 0; i < moments; ++i) {
    journal written(folder.path / "journal");
    machine_process victim("a");
    actor one(written);
    const auto by = make_control_file(cap);
    one.verify(*by, one.apply(*by, "a", act_kind::cap, "50000 100000", 1), 1);
    auto running = optimise({&victim, &neighbour}, written);
    bool ended = false;
    const auto step = [&] {
      running->step(sukima::steady_seconds());
      for (const std::string& event : running->take_events()) ended = ended || event == "a: it has ended";
      std::this_thread::sleep_for(20ms);
    };
    if (i % 2 != 0)
      while (neighbour.on() != "0") step();  // a life that ends while virtual CPUs are off
    const double end = sukima::steady_seconds() + static_cast<double>(random() % longest_life) * 1e-6;
    while (sukima::steady_seconds() < end) step();
    given_up += neighbour.on() == "0";
    victim.kill();
    while (!ended) step();
    for (const auto& [number, entry] : written.in_effect())
      EXPECT_TRUE(entry.change.vm == "b" || entry.change.kind == act_kind::cap);
    // Now the neighbour may use both pCPUs, while the host goes on and after it.
    while (neighbour.on() != "0-1") step();
    running.reset();
    revert(written);
    EXPECT_TRUE(written.in_effect().empty());
    EXPECT_EQ(guests::text_in(cap), "max 100000\n");
  }
  std::cout << given_up << " of " << moments << " kills while the neighbour had one CPU\n";
}

}  // namespace
