// SPDX-License-Identifier: Apache-2.0
// Takes any bytes as a description of a host: it is refused by a sentence, or what is read is written and
// read again the same, and estimates of it keep their promises.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <host/shared/estimate.hpp>

namespace host = sukima::host;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void demand(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "the promise is broken: %s\n", promise);
  std::abort();
}

void estimate(const host::description& given) {
  for (const host::weight_owner owner : {host::weight_owner::vcpu, host::weight_owner::vm}) {
    const host::estimator exact(given, owner);
    demand(exact.defect().empty(), "an estimate has its certificate");
    double sum = 0, room = 0;
    for (const host::pcpu& one : given.pcpus) room += one.capacity;
    for (std::size_t j = 0; j < given.vms.size(); ++j) sum += exact.usable(j);
    demand(sum >= 0 && sum <= room + 1e-6, "shares fit the pCPUs");
    for (const auto method : {host::estimate_method::partition, host::estimate_method::formula})
      for (const host::vm_estimate& one : host::estimate_shares(given, {method, owner}))
        demand(one.usable >= 0 && one.usable <= 1e6, "an estimate is a number");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const host::description first = host::parse_description(text);
    const std::string written = host::description_text(first);
    demand(host::description_text(host::parse_description(written)) == written,
           "what is written is read as it was");
    estimate(first);
  } catch (const host::description_error& error) {
    if (*error.what() == '\0') std::abort();
  }
  return 0;
}
