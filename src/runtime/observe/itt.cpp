// SPDX-License-Identifier: Apache-2.0
#include "observe/itt.hpp"

#if defined(SUKIMA_ITT)

#include "observe/trace.hpp"

#include <ittnotify.h>

#include <array>
#include <cstddef>
#include <cstdlib>

namespace sukima::detail {

namespace {

/// The names that the profiler shows. Made at the first event, when the profiler's library is loaded.
struct itt_names {
  itt_names() noexcept {
    for (std::size_t i = 0; i < kinds.size(); ++i)
      kinds[i] = __itt_string_handle_create(name_of(static_cast<trace_kind>(i)));
  }
  __itt_domain* domain = __itt_domain_create("sukima");
  std::array<__itt_string_handle*, trace_kinds> kinds{};
  __itt_string_handle* argument = __itt_string_handle_create("argument");
};

const itt_names& the_names() noexcept {
  static const itt_names all;
  return all;
}

}  // namespace

bool itt_listens() noexcept {
  static const bool listens = [] {
    const char* const library = std::getenv("INTEL_LIBITTNOTIFY64");
    return library != nullptr && *library != '\0';
  }();
  return listens;
}

void itt_names_thread(const char* name) noexcept {
  if (itt_listens()) __itt_thread_set_name(name);
}

void itt_worker::shows(trace_kind kind, std::uint32_t argument) noexcept {
  const itt_names& all = the_names();
  __itt_string_handle* const name = all.kinds[static_cast<std::size_t>(kind)];
  if (kind <= trace_kind::outside) {
    if (is_in_task_) __itt_task_end(all.domain);
    is_in_task_ = kind != trace_kind::outside;
    if (is_in_task_) __itt_task_begin(all.domain, __itt_null, __itt_null, name);
    return;
  }
  __itt_task_begin(all.domain, __itt_null, __itt_null, name);
  __itt_metadata_add(all.domain, __itt_null, all.argument, __itt_metadata_u32, 1, &argument);
  __itt_task_end(all.domain);
}

}  // namespace sukima::detail

#endif
