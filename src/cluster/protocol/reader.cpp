// SPDX-License-Identifier: Apache-2.0
#include "protocol/reader.hpp"

namespace sukima::cluster {

// Not inlined, because g++ 12 otherwise reports overflows in the code of std::vector.
byte_sink& byte_sink::raw(byte_view view) {
  to_.insert(to_.end(), view.begin(), view.end());
  return *this;
}

}  // namespace sukima::cluster
