// SPDX-License-Identifier: Apache-2.0
// Plugs in virtual CPUs while a session runs.
#pragma once

#include "act.hpp"
#include "calls.hpp"

namespace sukima::host {

/// Raises the number of virtual CPUs of a machine, and so the number that can be online at most. The number
/// never falls. Another actuator makes the calls, which take time, and none of these functions waits for
/// them: `look` begins a query, `apply` begins to plug in, and `verify` reports when the host's own counters
/// show the new virtual CPUs.
class vcpu_ceiling final : public actuator {
 public:
  /// \param by talks to the machine's monitor, or to libvirt
  /// \param through makes the calls of `by`
  vcpu_ceiling(std::shared_ptr<actuator> by, std::unique_ptr<caller> through);

  /// Whether a call is running.
  bool busy() const { return through_->busy(); }
  /// Begins to query the present number of virtual CPUs, and whether it can become `value`. \pre !busy()
  void look(const std::string& value);
  /// The value of the latest query; the answers of `can` and `present` are about it. Empty: there was no
  /// query, or `forget` was called since.
  const std::string& looked() const { return looked_; }
  /// Discards the answer because it is too old.
  void forget() { looked_.clear(); }
  /// Takes the number of virtual CPUs that the host's counters show.
  void record_count(unsigned there) { there_ = there; }

  std::string target() const override { return by_->target(); }
  /// The answer to `look`. \pre !busy() and `value` is looked()
  feasibility can(const std::string& value) const override;
  /// As `can`.
  std::optional<std::string> present() const override;
  /// Begins to plug in. \returns 0 always; `verify` reports later whether it worked. \pre !busy()
  int apply(const std::string& value, double now) override;
  std::string trouble() const override;
  /// Failed: the monitor or libvirt refused. Proved: the host's counters show at least as many.
  proof verify(const std::string& value, double now) override;

 private:
  /// The results of the calls. While a call runs, only the call may use it.
  struct answer {
    feasibility can;
    std::optional<std::string> present;
    std::string trouble;  ///< why plugging in failed; empty: it did not fail
  };

  std::shared_ptr<actuator> by_;
  std::shared_ptr<answer> found_ = std::make_shared<answer>();
  std::unique_ptr<caller> through_;
  std::string looked_;
  unsigned there_ = 0;
};

}  // namespace sukima::host
