// SPDX-License-Identifier: Apache-2.0
#include "protocol/reader.hpp"

namespace sukima::cluster {

// Not inlined: g++ 12 then sees overflows in std::vector's own code.
byte_sink& byte_sink::raw(byte_view view) {
  to_.insert(to_.end(), view.begin(), view.end());
  return *this;
}

}  // namespace sukima::cluster
