// SPDX-License-Identifier: Apache-2.0
// libvirt as one blocking call, so that tests can put recordings in its place.
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

/// The source over these calls, which are made in a thread of their own.
std::unique_ptr<source> make_libvirt_source(std::unique_ptr<libvirt_calls> calls, const std::string& root);

}  // namespace sukima::host
