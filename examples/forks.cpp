// SPDX-License-Identifier: Apache-2.0
// Forks of several branches, the grain of a loop, and the version of the library.
#include <sukima/version.h>
#include <sukima/sukima.hpp>

#include <atomic>
#include <cstdio>
#include <string>

static_assert(SUKIMA_VERSION_NUMBER >= 100, "this program needs Sukima 0.1.0 or newer");

int main() {
  sukima::run([](sukima::context c) {
    std::atomic<int> noted{0};
    // The results come in the order of the branches; a branch without a result gives std::monostate.
    auto [number, text, nothing] = sukima::fork(
        c, [] { return 6 * 7; }, [] { return std::string("three branches"); }, [&noted] { ++noted; });
    static_cast<void>(nothing);
    std::printf("%d, %s, %d\n", number, text.c_str(), noted.load());

    // The loop polls after 100 iterations. Usually it finds such a number itself.
    std::atomic<long> sum{0};
    sukima::parallel_for(c, 0, 1000, [&sum](int i) { sum += i; }, sukima::grain(100));
    std::printf("%ld\n", sum.load());
  });
  std::fprintf(stderr, "Sukima %d.%d.%d\n", SUKIMA_VERSION_MAJOR, SUKIMA_VERSION_MINOR, SUKIMA_VERSION_PATCH);
}
