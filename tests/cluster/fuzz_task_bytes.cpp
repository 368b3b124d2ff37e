// SPDX-License-Identifier: Apache-2.0
// Takes any bytes as a task of the language from another node, or as its result: they are refused or
// understood; what is understood is written again as it was read, and nothing is lost or freed twice.
#include "language/task_bytes.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

using namespace sukima::cluster;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void demand(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "the promise is broken: %s\n", promise);
  std::abort();
}

/// task sample { in short n; in int values[n]; out char room[n]; out unsigned char m; out double late[m]; }
struct sample {
  short n;
  int* values;
  char* room;
  unsigned char m;
  double* late;
};
const sukima_member members[] = {
    SUKIMA_MEMBER(SUKIMA_IN, sample, n),
    SUKIMA_ARRAY_MEMBER(SUKIMA_IN | SUKIMA_SIGNED, sample, values, n),
    SUKIMA_ARRAY_MEMBER(SUKIMA_OUT | SUKIMA_SIGNED, sample, room, n),
    SUKIMA_MEMBER(SUKIMA_OUT, sample, m),
    SUKIMA_ARRAY_MEMBER(SUKIMA_OUT | SUKIMA_LATE, sample, late, m),
};
const sukima_travelling type = SUKIMA_TRAVELLING("task sample", nullptr, sample, members, 5);

/// A byte that says whether there is an array is written as 0 or 1, and read as 0 or not.
std::size_t different(const bytes& again, byte_view came) {
  std::size_t count = again.size() == came.size() ? 0 : came.size();
  for (std::size_t i = 0; i < std::min(again.size(), came.size()); ++i)
    if (again[i] != came[i] && again[i] != std::byte{1}) ++count;
  return count;
}

void read_as_task(byte_view came) {
  try {
    const received_object object(type, came);
    bytes again;
    put_task(type, object.get(), again);
    demand(different(again, came) == 0, "a task is written as it was read");
  } catch (const std::length_error&) {
  }
}

void read_as_result(byte_view came) {
  char room[300];
  const std::size_t length = came.empty() ? 0 : std::to_integer<std::size_t>(came[0]);
  sample task{.n = static_cast<short>(length), .values = nullptr, .room = room, .m = 0, .late = nullptr};
  try {
    for (auto& array : get_result(type, &task, came)) static_cast<void>(array.release());
  } catch (const std::length_error&) {
  }
  demand(task.room == room, "a result comes to the room that is there");
  std::free(task.late);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const byte_view came = std::as_bytes(std::span(data, size));
  read_as_task(came);
  read_as_result(came);
  return 0;
}
