// SPDX-License-Identifier: Apache-2.0
// Messages as JSON, for editors and other programs: -fdiagnostics-format=json.
#pragma once

#include <string>

#include <llvm/Support/JSON.h>

#include "source/clang.hpp"

namespace sukima::language {

/// The messages about one file, as gcc 12 writes them: an array with an object for each error and warning.
/// Its notes are its `children`.
class json_messages {
 public:
  /// \param place    if it is invalid or has no manager, the message has no location
  /// \param message  may end with an option as Clang prints it, such as ` [-Werror,-Wunused]`
  void add(clang::DiagnosticsEngine::Level level, const clang::FullSourceLoc& place, std::string message);
  /// Prints the array to stderr, on one line, also an empty one.
  void print();

 private:
  llvm::json::Array messages_;
};

}  // namespace sukima::language
