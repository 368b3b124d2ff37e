// SPDX-License-Identifier: Apache-2.0
// Places for virtual CPUs of a synthetic guest, and calls that are made at once, or hang.
#pragma once

#include <cerrno>
#include <utility>

#include "shared/calls.hpp"
#include "synthetic_host.hpp"

namespace guests {

/// Plugs virtual CPUs into a synthetic guest, instead of a monitor.
class fake_plug final : public actuator {
 public:
  explicit fake_plug(synthetic_guest& of) : of_(of) {}

  std::string target() const override { return "the fake monitor"; }
  feasibility can(const std::string& value) const override {
    ++asked;
    if (std::stoul(value) > of_.times.vcpus.size()) return {false, "there is no room"};
    return refusal.empty() ? feasibility{true, {}} : feasibility{false, refusal};
  }
  std::optional<std::string> present() const override { return std::to_string(of_.there()); }
  std::string trouble() const override { return trouble_; }
  int apply(const std::string& value, double) override {
    if (before_it) before_it();
    trouble_ = broken;
    if (!broken.empty()) return EPROTO;
    while (!loses_it && of_.there() < std::stoul(value)) of_.plug_in();
    return 0;
  }
  /// A session proves it by its own counters.
  proof verify(const std::string&, double) override { return proof::failed; }

  mutable unsigned asked = 0;
  std::string refusal;  ///< why nothing can be plugged in
  std::string broken;  ///< how it fails
  bool loses_it = false;  ///< it says that it worked, and nothing happens
  std::function<void()> before_it;  ///< called before anything is plugged in

 private:
  synthetic_guest& of_;
  std::string trouble_;
};

/// Makes each call at once, unless it should hang.
class direct_calls final : public caller {
 public:
  void begin(std::function<void()> call) override {
    if (left == 0) {
      hung_ = std::move(call);
      return;
    }
    --left;
    call();
  }
  bool busy() const override { return hung_ != nullptr; }
  bool wait(std::chrono::steady_clock::time_point) override { return !busy(); }
  /// The call that hangs goes on, and ends.
  void release() { std::exchange(hung_, nullptr)(); }

  unsigned left = 1000;  ///< so many calls do not hang

 private:
  std::function<void()> hung_;
};

}  // namespace guests
