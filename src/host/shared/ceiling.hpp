// SPDX-License-Identifier: Apache-2.0
// Plugging virtual CPUs in while a session goes on.
#pragma once

#include "act.hpp"
#include "calls.hpp"

namespace sukima::host {

/// How many virtual CPUs a machine has, and thereby how many can be online at most: upward only. Another
/// actuator asks and plugs in, which takes its time; here nothing waits: `look` begins to ask, `apply` begins
/// to plug in, and `verify` says when the host's own counters show it.
class vcpu_ceiling final : public actuator {
 public:
  /// \param by asks the machine's monitor, or libvirt \param through makes these calls
  vcpu_ceiling(std::shared_ptr<actuator> by, std::unique_ptr<caller> through);

  /// A call is under way.
  bool busy() const { return through_->busy(); }
  /// Begins to ask how many there are, and whether there can be so many. Precondition: !busy()
  void look(const std::string& value);
  /// What was asked last; it is the value that `can` and `present` know about. Empty: nothing yet, or
  /// `forget`.
  const std::string& looked() const { return looked_; }
  /// The answer is too old to count.
  void forget() { looked_.clear(); }
  /// How many virtual CPUs the host's counters have.
  void seen(unsigned there) { there_ = there; }

  std::string target() const override { return by_->target(); }
  /// The answer to `look`. Precondition: !busy() and `value` is looked()
  reach can(const std::string& value) const override;
  /// As `can`.
  std::optional<std::string> present() const override;
  /// Begins to plug in. \returns 0: whether it works is seen later. Precondition: !busy()
  int apply(const std::string& value, double now) override;
  std::string trouble() const override;
  /// Failed: it was refused. Proved: the host's counters have as many.
  proof verify(const std::string& value, double now) override;

 private:
  /// What the calls found; theirs while one is under way.
  struct answer {
    reach can;
    std::optional<std::string> present;
    std::string trouble;  ///< why plugging in failed; empty: it did not
  };

  std::shared_ptr<actuator> by_;
  std::shared_ptr<answer> found_ = std::make_shared<answer>();
  std::unique_ptr<caller> through_;
  std::string looked_;
  unsigned there_ = 0;
};

}  // namespace sukima::host
