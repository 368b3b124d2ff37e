// SPDX-License-Identifier: Apache-2.0
// Takes any bytes as a description: it is refused by a sentence, or what is read is written and read
// again the same.
#include <objects/shared/description.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace model = sukima::objects::model;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const model::description first = model::parse_description(text);
    const std::string written = model::description_text(first);
    const model::description second = model::parse_description(written);
    if (model::description_text(second) != written) {
      std::fputs("the promise is broken: what is written is read as it was\n", stderr);
      std::abort();
    }
    for (const double count : model::flow_of(first).activations) {
      if (!(count >= 0)) {
        std::fputs("the promise is broken: nothing happens less than zero times\n", stderr);
        std::abort();
      }
    }
  } catch (const model::description_error& error) {
    if (*error.what() == '\0') std::abort();
  }
  return 0;
}
