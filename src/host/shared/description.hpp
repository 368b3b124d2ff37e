// SPDX-License-Identifier: Apache-2.0
// Describes a host by facts: physical CPUs, virtual machines with their virtual CPUs, and the scheduler's
// settings. Estimates, simulations, recordings and tests use the same JSON format; see
// docs/host-reference.md.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::host {

/// An error in a description. The message says where it is and what is wrong: `vms[3].vcpus[0].hard: CPU 64
/// does not exist`.
class description_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The largest number of physical CPUs of a host, and of virtual CPUs of all its virtual machines together.
/// Below: the largest id of either.
inline constexpr std::size_t most_pcpus = 1024, most_vcpus = 65536;
inline constexpr std::uint32_t most_id = 65535;
/// The largest weight of a virtual machine; the same as Xen's.
inline constexpr double most_weight = 65535;
/// The weight of a machine that has its scheduler's default weight.
inline constexpr double default_weight = 256;

/// A physical CPU.
struct pcpu {
  std::uint32_t id = 0;
  std::optional<std::uint32_t> node, core;
  /// The part that the host itself leaves for virtual machines, in CPUs, 0 to 1.
  double capacity = 1;
  /// The members that this version does not know, as a JSON object; empty if there are none.
  std::string unknown;
};

/// A virtual CPU. Times are in seconds, shares in CPUs.
struct vcpu {
  std::uint32_t id = 0;
  bool online = true;
  /// The ids of the pCPUs that it may use, ascending; empty: all.
  std::vector<std::uint32_t> hard;
  /// The pCPUs that it prefers, if that costs no other vCPU anything; empty: no preference.
  std::vector<std::uint32_t> soft;
  /// The most that it may get; none: 1.
  std::optional<double> cap;
  /// The most that it would use; none: as much as it can get.
  std::optional<double> demand;
  /// How long it ran, and how long it could run but waited for a CPU.
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
  /// 0 to most_weight. Machines with weight 0 get what the others leave.
  double weight = 256;
  /// None: the source does not state it. An estimate needs it.
  std::optional<weight_owner> weight_of;
  /// The most that all its vCPUs may get together, in CPUs.
  std::optional<double> cap;
  /// The quantities that may be set; absent: none.
  std::optional<std::vector<std::string>> act;
  std::vector<vcpu> vcpus;
  std::string unknown;
};

/// A host at one moment. The result of parse_description satisfies: each id of a pCPU, each name of a VM, and
/// each id of a vCPU within its VM occurs once; every pCPU that a vCPU names exists; there is at least one
/// pCPU.
struct description {
  /// Seconds since 1970.
  std::optional<double> taken;
  std::vector<pcpu> pcpus;
  std::vector<vm> vms;
  std::string unknown;
};

/// Parses the JSON format. Keeps unknown members.
/// \throws description_error  the text is not JSON, or a member is wrong or missing
/// \par Complexity linear in the text, times the logarithm of the number of pCPUs
description parse_description(std::string_view text);

/// Writes the JSON format. parse_description reads the same description from it. Takes linear time.
std::string description_text(const description& host);

/// Parses a list of CPUs in Linux's format, such as `0-3,8`.
/// \returns the ids, ascending, each once
/// \throws description_error  the text is malformed or empty, or names an id above most_id
std::vector<std::uint32_t> parse_cpu_list(std::string_view text);

/// Writes ascending ids in the format that parse_cpu_list reads.
std::string cpu_list_text(const std::vector<std::uint32_t>& ids);

}  // namespace sukima::host
