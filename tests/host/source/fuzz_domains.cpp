// SPDX-License-Identifier: Apache-2.0
// Takes any bytes as what virsh printed: it is refused by a sentence, or becomes a description that can be
// read.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <host/shared/observer.hpp>

#include "source/domain_channel.hpp"
#include "source/domains.hpp"

namespace host = sukima::host;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    // The same bytes as the XML of a domain.
    if (const std::string path = host::channel_path(text); !path.empty() && path[0] != '/') std::abort();
    host::snapshot now;
    now.pcpus.emplace_back();
    std::size_t vcpus = 0;
    for (const host::domain_record& record : host::parse_domains(text))
      if (const auto one = host::observe_domain(record, 1024)) {
        vcpus += one->now.vcpus.size();
        now.vms.push_back(*one);
      }
    if (vcpus > 500) return 0;  // larger ones take long, and find nothing else
    host::observer seen;
    seen.update(now);
    now.clock = 1;
    for (host::observed_vm& one : now.vms) one.read_at = 1;
    const std::string written = host::description_text(seen.update(now));
    if (host::description_text(host::parse_description(written)) != written) {
      std::fprintf(stderr, "what is written is not read as it was\n");
      std::abort();
    }
  } catch (const host::source_error& error) {
    if (*error.what() == '\0') std::abort();
  }
  return 0;
}
