// SPDX-License-Identifier: Apache-2.0
// A host as facts: physical CPUs, virtual machines with their virtual CPUs, and the scheduler's settings. One
// JSON format for estimates, simulations, recordings and tests; docs/host-reference.md describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::host {

/// What is wrong with a description, and where: `vms[3].vcpus[0].hard: CPU 64 does not exist`.
class description_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The most physical CPUs of a host, the most virtual CPUs of all its virtual machines, and the largest id of
/// either.
inline constexpr std::size_t most_pcpus = 1024, most_vcpus = 65536;
inline constexpr std::uint32_t most_id = 65535;
/// The largest weight of a virtual machine, as Xen's.
inline constexpr double most_weight = 65535;
/// The weight of what has its scheduler's default weight.
inline constexpr double default_weight = 256;

/// A physical CPU.
struct pcpu {
  std::uint32_t id = 0;
  std::optional<std::uint32_t> node, core;
  /// CPUs, 0 to 1: what is left of it for virtual machines after what the host itself used there.
  double capacity = 1;
  /// The members that this version does not know, a JSON object; empty if there are none.
  std::string unknown;
};

/// A virtual CPU. Times are in seconds, shares in CPUs.
struct vcpu {
  std::uint32_t id = 0;
  bool online = true;
  /// The ids of the pCPUs that it may use, ascending; empty: all.
  std::vector<std::uint32_t> hard;
  /// pCPUs that it prefers where that costs no other vCPU anything; empty: no preference.
  std::vector<std::uint32_t> soft;
  /// The most that it gets; none: 1.
  std::optional<double> cap;
  /// The most that it wants; none: all it can get.
  std::optional<double> demand;
  /// For how long it ran, and for how long it could run and waited for a CPU.
  std::optional<double> ran, waited;
  std::string unknown;
};

/// The owner of a weight: each vCPU has it (Xen's Credit and Credit2), or all vCPUs share it (libvirt's
/// machine slices).
enum class weight_owner { vcpu, vm };

/// A virtual machine.
struct vm {
  std::string name;
  std::optional<std::string> id;
  /// 0 to most_weight. Those with weight 0 get what the others leave.
  double weight = 256;
  /// None: the source does not know; an estimate needs it.
  std::optional<weight_owner> weight_of;
  /// The most that all its vCPUs get together, in CPUs.
  std::optional<double> cap;
  /// Which of its counts may be set; absent: none.
  std::optional<std::vector<std::string>> act;
  std::vector<vcpu> vcpus;
  std::string unknown;
};

/// A host at one moment. What parse_description returns keeps these promises: ids of pCPUs, names of VMs and
/// ids of a VM's vCPUs occur once each; every pCPU that a vCPU names exists; there is at least one pCPU.
struct description {
  /// Seconds since 1970.
  std::optional<double> taken;
  std::vector<pcpu> pcpus;
  std::vector<vm> vms;
  std::string unknown;
};

/// Reads the JSON format. Unknown members are kept.
/// \throws description_error if it is not JSON, or a member is wrong or missing
/// Takes linear time, times the logarithm of the number of pCPUs.
description parse_description(std::string_view text);

/// Writes the JSON format: what parse_description reads as the same. Takes linear time.
std::string description_text(const description& host);

/// Reads a list of CPUs as Linux writes it, `0-3,8`.
/// \returns the ids, ascending, each once \throws description_error if it is none, empty, or names an id
/// above most_id
std::vector<std::uint32_t> parse_cpu_list(std::string_view text);

/// Writes ascending ids as parse_cpu_list reads them.
std::string cpu_list_text(const std::vector<std::uint32_t>& ids);

}  // namespace sukima::host
