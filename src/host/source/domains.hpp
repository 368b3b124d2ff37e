// SPDX-License-Identifier: Apache-2.0
// What libvirt says of its domains, as texts, and what that means.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "shared/source.hpp"

namespace sukima::host {

/// Where a vCPU of a domain runs.
struct domain_vcpu {
  std::uint32_t id = 0;
  std::optional<std::uint32_t> last_pcpu;
  std::vector<std::uint32_t> hard;  ///< empty: unknown
};

/// One domain. Names of statistics and parameters are libvirt's: "vcpu.0.time", "cpu_shares".
struct domain_record {
  std::string name;
  std::string uuid;  ///< empty: unknown
  std::string run;  ///< libvirt's number of the running domain; empty: unknown
  std::map<std::string, std::string> statistics;
  std::string scheduler;  ///< "posix", "credit", …; empty: unknown
  std::map<std::string, std::string> parameters;
  std::vector<domain_vcpu> vcpus;
  std::string port;  ///< the Unix socket of the guest service's port; empty: unknown, or there is none
};

/// Reads what virsh prints: `virsh domstats` for one domain or several and, after a domain's own, if there
/// are, `virsh schedinfo`, `virsh vcpuinfo` and `virsh dominfo`. Lines that it does not know are left out.
/// Takes linear time.
/// \throws source_error if a line of a domain's statistics is malformed, with its number, or there are too
/// many
std::vector<domain_record> parse_domains(std::string_view text);

/// What a domain's record says of a machine.
/// \param default_shares the `cpu_shares` of a domain without a setting: 1024 with control groups of
/// version 1, 100 with version 2
/// \returns none if the domain is not active, or its counters are missing. `read_at` is not set.
std::optional<observed_vm> observe_domain(const domain_record& record, double default_shares);

}  // namespace sukima::host
