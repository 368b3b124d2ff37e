// SPDX-License-Identifier: Apache-2.0
// A host with synthetic guests: the session and the guest services are the real ones, connected by
// sockets; the scheduler, the programs and the clock are made up.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <sstream>
#include <utility>

#include "fake_machine.hpp"
#include "guest/program_reports.hpp"
#include "shared/guest.hpp"
#include "shared/steering.hpp"
#include "sockets.hpp"

namespace guests {

using namespace sukima::host;

/// The speed of a program with n threads that get c CPUs each as many as there are.
using speed = std::function<double(unsigned threads, double cpus)>;

/// Work that is divided evenly: nothing is lost by more threads.
inline double independent(unsigned, double cpus) { return 1000 * cpus; }
/// A barrier at which threads spin: more threads than CPUs ruin it.
inline double spinning(unsigned threads, double cpus) {
  return threads <= cpus + 1e-6 ? 1000.0 * threads : 1000 * cpus / (1 + 2 * (threads - cpus));
}
/// A lock: two threads are best, whatever there is.
inline double locked(unsigned threads, double cpus) {
  return 1000 * std::min<double>(2, std::min<double>(threads, cpus)) /
         (1 + 0.2 * (threads > 2 ? threads - 2 : 0));
}

/// A machine with a program that follows its number.
class synthetic_guest {
 public:
  synthetic_guest(unsigned vcpus, unsigned places, speed of, std::uint64_t seed)
      : machine(vcpus),
        service(std::make_unique<guest_service>(machine.root())),
        of_(std::move(of)),
        random_(seed) {
    auto [a, b] = connected_pair();
    host_end = std::move(a);
    port = std::move(b);
    service->programs().opened(1);
    times.vcpus.resize(vcpus);
    times.vcpus.resize(vcpus + places, {.there = false});
    times.up = 1000;
    look();
  }

  /// How many threads the program has: its number, rounded, at most the online CPUs.
  unsigned threads() const {
    const double number = follows ? number_ : there();
    return std::clamp(static_cast<unsigned>(std::lround(number)), 1U, online_);
  }
  /// The CPUs that it wants.
  double wants() const { return paused ? 0 : busy ? threads() : 0.01; }

  /// How many virtual CPUs it has, which need not be online.
  unsigned there() const {
    return static_cast<unsigned>(std::ranges::count(times.vcpus, true, &vcpu_time::there));
  }
  /// Another virtual CPU is plugged in: its thread starts, and the guest sees a CPU that is offline.
  void plug_in() {
    const unsigned number = there();
    times.vcpus.at(number) = {.ran = 1e-4};
    machine.plug(number, false);
  }

  /// Runs for a while with so many CPUs, and then talks with the host.
  void run(double seconds, double cpus, double now) {
    if (paused) return;
    const double noise = std::exp(noise_ * gaussian_(random_));
    const unsigned before = std::exchange(had_, threads());
    const bool stopped = stops_at_changes && before != had_;
    done += busy && !stopped ? of_(threads(), cpus) * seconds * noise : 0;
    const unsigned running = busy ? threads() : 1;
    const bool waits = cpus < wants() - 1e-9;
    for (unsigned i = 0; i < running; ++i) {
      times.vcpus[i].ran += cpus / running * seconds;
      times.vcpus[i].waited += waits ? seconds * (1 - cpus / running) : 0;
    }
    times.up += seconds;
    if (silent) return;
    if (reports) service->programs().feed(1, text_of(guest_message{.progress = done}), now);
    const std::string got = received(port);
    if (!deaf && !got.empty()) {
      service->from_host(got, now);
      look();
    }
    const std::string text = lie.empty() ? service->step(now) : lie;
    if (!text.empty()) ::send(port.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    look();
  }

  fake_machine machine;
  std::unique_ptr<guest_service> service;
  descriptor host_end, port;
  vm_times times;
  double done = 0;
  bool busy = true, follows = true, reports = true, silent = false, gone = false, deaf = false;
  bool paused = false;
  bool stops_at_changes = false;  ///< a change of the number of threads takes the program one step
  unsigned least = 1, most = 0;  ///< the bounds of its count; most 0: its vCPUs
  std::string lie;  ///< sent instead of what the service says

 private:
  /// Reads the files that the service writes; once a step, because that is what a step costs most.
  void look() {
    std::istringstream in(text_in(machine.number()));
    std::string word;
    number_ = there();
    while (in >> word)
      if (word == "usable") in >> number_;
    auto on = machine.switched_on();
    if (on != on_) machine.settle();
    online_ = static_cast<unsigned>(on.size());
    on_ = std::move(on);
  }

  double number_ = 0;  ///< the number that its programs can read
  std::vector<std::uint32_t> on_;  ///< its CPUs that are online
  unsigned online_ = 0, had_ = 0;
  speed of_;
  std::mt19937_64 random_;
  std::normal_distribution<double> gaussian_;
  double noise_ = 0.02;
};

class synthetic_counters final : public vm_counters {
 public:
  explicit synthetic_counters(const synthetic_guest& of) : of_(of) {}
  std::optional<vm_times> read() override { return of_.gone ? std::nullopt : std::optional(of_.times); }

 private:
  const synthetic_guest& of_;
};

/// The whole: pCPUs that all guests share evenly, one weight for each machine.
class synthetic_host {
 public:
  explicit synthetic_host(unsigned pcpus) : pcpus_(pcpus) {}

  /// \param places so many virtual CPUs can be plugged in
  synthetic_guest& add(unsigned vcpus, speed of, unsigned places = 0) {
    guests_.push_back(std::make_unique<synthetic_guest>(vcpus, places, std::move(of), 7 + guests_.size()));
    vcpus_.push_back(vcpus + places);
    places_.push_back(places);
    return *guests_.back();
  }
  synthetic_guest& operator[](std::size_t j) { return *guests_[j]; }

  description described(const std::vector<std::string>& act, weight_owner owner = weight_owner::vm) const {
    description host;
    for (unsigned p = 0; p < pcpus_; ++p)
      host.pcpus.push_back({.id = p, .node = {}, .core = {}, .unknown = {}});
    for (std::size_t j = 0; j < vcpus_.size(); ++j) {
      vm one;
      one.name = std::string(1, static_cast<char>('a' + j));
      one.weight_of = owner;
      one.act = act;
      for (unsigned i = 0; i < vcpus_[j]; ++i) {
        vcpu each;
        each.id = i;
        each.online = i + places_[j] < vcpus_[j];
        one.vcpus.push_back(each);
      }
      host.vms.push_back(std::move(one));
    }
    return host;
  }

  /// Begins to optimise all of them.
  void begin(const std::string& quantity, const session_options& options, journal* written) {
    const description host = described({quantity});
    std::vector<session_vm> vms;
    for (std::size_t j = 0; j < guests_.size(); ++j) {
      session_vm one;
      one.how.threads = quantity == "threads";
      one.how.vcpus = quantity == "vcpus";
      one.how.least = guests_[j]->least;
      one.how.most = guests_[j]->most != 0 ? guests_[j]->most : vcpus_[j];
      one.chosen = true;
      one.link = make_port_link(::dup(guests_[j]->host_end.get()));
      one.counters = std::make_unique<synthetic_counters>(*guests_[j]);
      one.how.places = places_[j];
      if (plugs.size() > j) one.ceiling = std::move(plugs[j]);
      vms.push_back(std::move(one));
    }
    running = std::make_unique<session>(host, std::move(vms), options, written);
  }

  /// Lets everything run for so long, in steps of a quarter of a second.
  void run(double seconds, const std::function<void()>& look = {}) {
    for (const double end = now + seconds; now < end;) {
      now += 0.25;
      share_out();
      running->step(now);
      for (const verdict& one : running->take_verdicts()) verdicts.push_back(one);
      for (const std::string& one : running->take_events()) events.push_back(one);
      if (look) look();
    }
  }

  std::vector<std::unique_ptr<vcpu_ceiling>> plugs;  ///< of the guests, in their order, or fewer
  std::unique_ptr<session> running;
  double now = 1000;
  double foreign = 0;  ///< CPUs that processes outside the machines take first
  std::vector<verdict> verdicts;
  std::vector<std::string> events;

 private:
  /// Max-min fair shares of equal weights.
  void share_out() {
    std::vector<double> got(guests_.size(), 0);
    double left = pcpus_ - foreign;
    std::vector<std::size_t> open;
    for (std::size_t j = 0; j < guests_.size(); ++j)
      if (!guests_[j]->gone) open.push_back(j);
    std::ranges::sort(open, {}, [&](std::size_t j) { return guests_[j]->wants(); });
    for (std::size_t k = 0; k < open.size(); ++k) {
      got[open[k]] = std::min(guests_[open[k]]->wants(), left / static_cast<double>(open.size() - k));
      left -= got[open[k]];
    }
    for (const std::size_t j : open) guests_[j]->run(0.25, got[j], now);
  }

  unsigned pcpus_;
  std::vector<std::unique_ptr<synthetic_guest>> guests_;
  std::vector<unsigned> vcpus_, places_;
};

}  // namespace guests
