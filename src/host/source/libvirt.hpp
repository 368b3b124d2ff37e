// SPDX-License-Identifier: Apache-2.0
// libvirt as an interface of blocking calls, which tests replace by recordings.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "shared/source.hpp"
#include "source/domains.hpp"

namespace sukima::host {

/// The data from one reading of libvirt.
struct libvirt_answer {
  std::vector<domain_record> domains;
  /// The ids of the host's CPUs if the host is another machine; empty: it is this machine.
  std::vector<std::uint32_t> pcpus;
  double read_at = 0;
  std::vector<std::string> notes;
};

class libvirt_calls {
 public:
  virtual ~libvirt_calls() = default;
  /// Reads everything; may block for as long as libvirt does. \throws source_error  libvirt cannot be read
  virtual libvirt_answer read() = 0;
};

/// Loads the library at run time.
/// \throws source_error  this build was made without libvirt's headers, or this machine has no libvirt
std::unique_ptr<libvirt_calls> load_libvirt(const std::string& uri);

/// The present number of a domain's virtual CPUs, and the largest possible number.
struct domain_vcpus {
  unsigned present = 0, most = 0;
  /// Seconds that each of the present virtual CPUs ran, by their numbers, which may have gaps.
  std::map<unsigned, double> ran;
};

/// One running domain, over a connection that may change it. Each call may block for as long as libvirt does.
class libvirt_domain {
 public:
  virtual ~libvirt_domain() = default;
  /// \throws source_error  libvirt cannot be reached, or the domain does not run
  virtual domain_vcpus vcpus() = 0;
  /// Plugs in virtual CPUs until there are `count`. Changes only the running domain, not its stored
  /// configuration.
  /// \throws source_error  libvirt refuses
  virtual void plug(unsigned count) = 0;
};

/// Returns the domain with that name or UUID. The first call looks for it; later calls use the same run of
/// the same domain. So the domain may be renamed, and if it has ended, another domain with its name is not
/// used instead.
/// \throws source_error  as load_libvirt
std::unique_ptr<libvirt_domain> load_libvirt_domain(const std::string& uri, const std::string& name);

/// Makes a source from these calls, which it makes in a thread of their own.
std::unique_ptr<source> make_libvirt_source(std::unique_ptr<libvirt_calls> calls, const std::string& root);

}  // namespace sukima::host
