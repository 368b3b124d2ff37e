// SPDX-License-Identifier: Apache-2.0
// Plugs virtual CPUs into a domain of libvirt, and proves the change.
#include <fmt/format.h>

#include <cerrno>

#include "act/vcpu_count.hpp"
#include "shared/act.hpp"
#include "source/libvirt.hpp"

namespace sukima::host {
namespace {

class libvirt_vcpus final : public actuator {
 public:
  libvirt_vcpus(std::unique_ptr<libvirt_domain> domain, std::string name)
      : domain_(std::move(domain)), name_(std::move(name)) {}

  std::string target() const override { return "the domain " + name_; }

  feasibility can(const std::string& value) const override {
    const auto count = vcpu_count(value);
    if (!count) return {false, fmt::format("'{}' is not a number of virtual CPUs", value)};
    try {
      const domain_vcpus now = domain_->vcpus();
      if (*count < now.present) return {false, none_is_unplugged(now.present)};
      if (*count > now.most)
        return {false, fmt::format("the machine has {} virtual CPUs and room for {}; raise its maximum to {} "
                                   "(virsh setvcpus --maximum --config) and restart it",
                                   now.present, now.most, *count)};
    } catch (const source_error& error) {
      return {false, error.what()};
    }
    return {true, {}};
  }

  std::optional<std::string> present() const override {
    try {
      return std::to_string(domain_->vcpus().present);
    } catch (const source_error&) {
      return std::nullopt;
    }
  }

  std::string trouble() const override { return trouble_; }

  int apply(const std::string& value, double /*now*/) override {
    const auto count = vcpu_count(value);
    if (!count) return EINVAL;
    try {
      before_ = domain_->vcpus();
      // Never reduce the number, even if it has changed since `can`.
      if (*count < before_.present) {
        trouble_ = none_is_unplugged(before_.present);
        return EPERM;
      }
      domain_->plug(*count);
      new_ = domain_->vcpus();
    } catch (const source_error& error) {
      trouble_ = error.what();
      return EPROTO;
    }
    return 0;
  }

  /// Proved if each new virtual CPU has run since it was plugged in, by the time that the host of libvirt
  /// counted.
  proof verify(const std::string& value, double /*now*/) override {
    try {
      const domain_vcpus now = domain_->vcpus();
      if (std::to_string(now.present) != value) return proof::waiting;
      // A new virtual CPU may have the number of one that was unplugged before.
      std::size_t running = before_.present;
      for (const auto& [number, ran] : now.ran) {
        if (before_.ran.contains(number)) continue;
        const auto began = new_.ran.find(number);
        if (ran < (began == new_.ran.end() ? 0 : began->second) + running_seconds) return proof::waiting;
        ++running;
      }
      if (running < now.present) return proof::waiting;
    } catch (const source_error&) {
      return proof::failed;
    }
    return proof::proved;
  }

 private:
  std::unique_ptr<libvirt_domain> domain_;
  std::string name_, trouble_;
  domain_vcpus before_, new_;  // before the last act, and right after it
};

}  // namespace

std::unique_ptr<actuator> make_libvirt_vcpus(std::unique_ptr<libvirt_domain> domain, std::string name) {
  return std::make_unique<libvirt_vcpus>(std::move(domain), std::move(name));
}

std::unique_ptr<actuator> make_libvirt_vcpus(const std::string& uri, const std::string& name) {
  return make_libvirt_vcpus(load_libvirt_domain(uri, name), name);
}

}  // namespace sukima::host
