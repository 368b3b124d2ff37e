// SPDX-License-Identifier: Apache-2.0
// libvirt as blocking calls, so that tests can put recordings in its place.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "shared/source.hpp"
#include "source/domains.hpp"

namespace sukima::host {

/// What libvirt says in one reading.
struct libvirt_answer {
  std::vector<domain_record> domains;
  /// The ids of the host's CPUs, if it is not this machine; empty: it is.
  std::vector<std::uint32_t> pcpus;
  double read_at = 0;
  std::vector<std::string> notes;
};

class libvirt_calls {
 public:
  virtual ~libvirt_calls() = default;
  /// Asks for everything; may block for as long as libvirt does. \throws source_error if it cannot
  virtual libvirt_answer read() = 0;
};

/// The library, loaded when the program runs.
/// \throws source_error if this build was made without its headers, or this machine has no library
std::unique_ptr<libvirt_calls> load_libvirt(const std::string& uri);

/// How many virtual CPUs a domain has, and how many it can have.
struct domain_vcpus {
  unsigned present = 0, most = 0;
  std::vector<double> ran;  ///< seconds that each of those that are present ran, by their numbers
};

/// One running domain, over a connection that may change it. Each call may block for as long as libvirt does.
class libvirt_domain {
 public:
  virtual ~libvirt_domain() = default;
  /// \throws source_error  libvirt cannot be reached, or the domain does not run
  virtual domain_vcpus vcpus() = 0;
  /// Plugs virtual CPUs in until there are so many, in the running domain only: its configuration stays.
  /// \throws source_error  libvirt refuses
  virtual void plug(unsigned count) = 0;
};

/// The domain of that name or UUID. It is looked for at the first call, and from then on it is the same one:
/// when it was renamed, and not when it has ended and another one has its name.
/// \throws source_error as load_libvirt
std::unique_ptr<libvirt_domain> load_libvirt_domain(const std::string& uri, const std::string& name);

/// The source over these calls, which are made in a thread of their own.
std::unique_ptr<source> make_libvirt_source(std::unique_ptr<libvirt_calls> calls, const std::string& root);

}  // namespace sukima::host
