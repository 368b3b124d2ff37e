// SPDX-License-Identifier: Apache-2.0
// Domains as texts from libvirt, and their interpretation.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/source.hpp"

namespace sukima::host {

/// The pCPUs of a domain's vCPU.
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
  bool hides_limits = false;  ///< libvirt failed to report its scheduler or its parameters
  std::vector<domain_vcpu> vcpus;
  std::string port;  ///< the Unix socket of the guest service's port; empty: unknown, or there is none
};

/// Parses the output of virsh: `virsh domstats` for one or more domains. After a domain's statistics there
/// may be its `virsh schedinfo`, `virsh vcpuinfo` and `virsh dominfo`. Unknown lines are skipped. Takes
/// linear time.
/// \throws source_error  a line of a domain's statistics is malformed, with the line's number, or there are
///   too many lines or domains
std::vector<domain_record> parse_domains(std::string_view text);

/// Describes which of the domains hide their weights and caps. \param uri of libvirt
/// \returns nothing if none does. Linear time
std::optional<std::string> note_on_limits(const std::vector<domain_record>& domains, const std::string& uri);

/// Interprets a domain's record as a machine.
/// \param default_shares the `cpu_shares` of a domain without a setting: 1024 with control groups of version
/// 1, 100 with version 2
/// \returns nothing if the domain is not active, or its counters are missing. `read_at` is not set.
std::optional<observed_vm> observe_domain(const domain_record& record, double default_shares);

}  // namespace sukima::host
