// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>
#include <base/shared/descriptor.hpp>

#include <cstdlib>
#include <string>

#include "recording/run_time.hpp"

namespace sukima::objects::detail {

void write_run_time(std::chrono::nanoseconds time) noexcept {
  const char* const path = secure_getenv("SUKIMA_OBJECTS_TIME");
  if (path == nullptr || *path == '\0') return;
  const descriptor file(::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return;  // the process has already run a program of objects, or the caller will find no file
  const std::string text = std::to_string(time.count()) + "\n";
  static_cast<void>(!::write(file.get(), text.data(), text.size()));
}

}  // namespace sukima::objects::detail
