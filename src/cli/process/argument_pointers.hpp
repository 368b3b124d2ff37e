// SPDX-License-Identifier: Apache-2.0
// Arguments and environments in the form that exec and posix_spawn want.
#pragma once

#include <string>
#include <vector>

namespace sukima::cli {

/// The texts' addresses and a null pointer at the end; valid as long as the texts are there and unchanged.
inline std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace sukima::cli
