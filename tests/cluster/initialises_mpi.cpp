// SPDX-License-Identifier: Apache-2.0
// A program that initialises MPI by itself, at the level of threads that its argument names, and ends it, in
// main or `late`, when static objects have been destroyed: node 0 prints the result. `queued`: its last
// result waits for room behind a large one when node 0 comes to the end.
#include <sukima/cluster.hpp>

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace programs {

struct filler {
  std::size_t size;
};

}  // namespace programs

template <> struct sukima::codec<programs::filler> {
  static void encode(const programs::filler& value, std::vector<std::byte>& to) {
    to.resize(to.size() + value.size);
  }
  static programs::filler decode(std::span<const std::byte> from) { return {from.size()}; }
};

namespace programs {

filler large() { return {std::size_t{64} << 20}; }
long small() { return 1; }

long fib(sukima::context c, int n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(c, sukima::call<fib>(n - 1), sukima::call<fib>(n - 2));
  return a + b;
}

}  // namespace programs

int main(int argc, char** argv) {
  const bool enough = argc > 1 && std::strcmp(argv[1], "multiple") == 0;
  int level = 0;
  MPI_Init_thread(&argc, &argv, enough ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  const bool late = argc > 2 && std::strcmp(argv[2], "late") == 0;
  if (late)
    std::atexit([] { MPI_Finalize(); });  // before the first entry, so it is called after its node's end
  const long result = sukima::cluster::run(sukima::call<programs::fib>(27));
  if (sukima::cluster::this_node() == 0) std::printf("%ld\n", result);
  if (argc > 2 && std::strcmp(argv[2], "queued") == 0) {
    static_cast<void>(sukima::cluster::run(sukima::call<programs::large>()));
    static_cast<void>(sukima::cluster::run(sukima::call<programs::small>()));
  }
  if (!late) MPI_Finalize();
}
