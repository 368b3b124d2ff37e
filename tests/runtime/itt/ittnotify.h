// SPDX-License-Identifier: Apache-2.0
// What the runtime calls of ITT, with the names of Intel's header, for tests: a profiler that is played. The
// runtime with assertions and delays is compiled with this header; itt_test.cpp listens.
#pragma once

#include <atomic>
#include <cstddef>

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)

struct __itt_domain {
  const char* name;
};
struct __itt_string_handle {
  const char* name;
};
struct __itt_id {
  unsigned long long d1, d2, d3;
};
inline constexpr __itt_id __itt_null{0, 0, 0};
enum __itt_metadata_type { __itt_metadata_unknown, __itt_metadata_u32 = 3 };

/// What happened, to which task or thread, and with which argument; null: no test listens.
inline std::atomic<void (*)(const char* what, const char* name, unsigned argument)> played_itt{nullptr};

inline void play_itt(const char* what, const char* name, unsigned argument = 0) {
  if (auto* const listener = played_itt.load()) listener(what, name, argument);
}

inline __itt_domain* __itt_domain_create(const char* name) {
  static __itt_domain only{name};
  return &only;
}
inline __itt_string_handle* __itt_string_handle_create(const char* name) {
  static __itt_string_handle all[64];
  static std::size_t count = 0;
  all[count] = {name};
  return &all[count++];
}
inline void __itt_thread_set_name(const char* name) { play_itt("name", name); }
inline void __itt_task_begin(const __itt_domain* /*in*/, __itt_id /*id*/, __itt_id /*parent*/,
                             __itt_string_handle* name) {
  play_itt("begin", name->name);
}
inline void __itt_task_end(const __itt_domain* in) { play_itt("end", in->name); }
inline void __itt_metadata_add(const __itt_domain* /*in*/, __itt_id /*id*/, __itt_string_handle* key,
                               __itt_metadata_type /*type*/, std::size_t /*count*/, void* data) {
  play_itt("metadata", key->name, *static_cast<unsigned*>(data));
}

// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
