// SPDX-License-Identifier: Apache-2.0
// Kernels with pages of 16 and 64 KiB, which aarch64 has: this program's own memory functions do what such a
// kernel does, with larger pages than the real kernel's.
//
// Each runtime runs in a child process, because a process asks for the size of its pages once.
#include "support.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace {

/// The size of the pages of the kernel that is pretended; 0: the real one answers.
std::size_t pretended = 0;
/// Calls with an address that is not the beginning of a page.
std::atomic<int> misaligned{0};

std::size_t whole_pages(std::size_t size) {
  return pretended == 0 ? size : (size + pretended - 1) / pretended * pretended;
}
bool begins_a_page(const void* address) {
  if (pretended == 0 || reinterpret_cast<std::uintptr_t>(address) % pretended == 0) return true;
  ++misaligned;
  errno = EINVAL;
  return false;
}
int answer(long result) { return static_cast<int>(result); }

}  // namespace

extern "C" {

long __sysconf(int name);  // the C library's own name of it
long sysconf(int name) noexcept {
  if (pretended != 0 && name == _SC_PAGESIZE) return static_cast<long>(pretended);
  return __sysconf(name);
}

int munmap(void* begin, std::size_t size) noexcept {
  return begins_a_page(begin) ? answer(syscall(SYS_munmap, begin, whole_pages(size))) : -1;
}

void* mmap(void* wanted, std::size_t size, int protection, int flags, int file, off_t offset) noexcept {
  const std::size_t all = whole_pages(size) + pretended;
  auto* const begin =
      reinterpret_cast<char*>(syscall(SYS_mmap, wanted, all, protection, flags, file, offset));
  if (pretended == 0 || begin == MAP_FAILED) return begin;
  char* const aligned = begin + (pretended - reinterpret_cast<std::uintptr_t>(begin) % pretended) % pretended;
  char* const end = aligned + whole_pages(size);
  if (aligned > begin) syscall(SYS_munmap, begin, aligned - begin);
  if (begin + all > end) syscall(SYS_munmap, end, begin + all - end);
  return aligned;
}

int mprotect(void* begin, std::size_t size, int protection) noexcept {
  return begins_a_page(begin) ? answer(syscall(SYS_mprotect, begin, whole_pages(size), protection)) : -1;
}

int madvise(void* begin, std::size_t size, int advice) noexcept {
  return begins_a_page(begin) ? answer(syscall(SYS_madvise, begin, whole_pages(size), advice)) : -1;
}
}

namespace {

using sukima::context;
using support::fib;
using support::with_workers;

class pages_of : public testing::TestWithParam<unsigned> {
 protected:
  /// The exit code of a process on such a kernel: what f returns; 90 if an address was misaligned, 91 if f
  /// threw.
  template <class F> int on_such_a_kernel(F f) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(500);
      pretended = std::size_t{GetParam()} << 10;
      try {
        const int code = f();
        _exit(misaligned == 0 ? code : 90);
      } catch (const std::exception& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        _exit(91);
      }
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
};
INSTANTIATE_TEST_SUITE_P(kilobytes, pages_of, testing::Values(4u, 16u, 64u),
                         testing::PrintToStringParamName());

/// Uses so much C stack, every page of it.
[[gnu::noinline]] long use_stack(context c, long bytes) {
  volatile char frame[1024];
  for (volatile char& byte : frame) byte = 1;
  return bytes <= 0 ? frame[0] : use_stack(c, bytes - 1024) + frame[1] - 1;
}

long deep(context c, long depth) {
  if (depth == 0) return 0;
  auto [a, b] = sukima::fork2(c, [=](context below) { return deep(below, depth - 1); }, [] { return 1L; });
  return a + b;
}

TEST_P(pages_of, programs_run) {
  EXPECT_EQ(on_such_a_kernel([] {
              sukima::runtime r(with_workers(4));
              return r.run([](context c) { return fib(c, 15); }) == 610 ? 0 : 1;
            }),
            0);
}

TEST_P(pages_of, the_smallest_stacks_suffice) {
  EXPECT_EQ(on_such_a_kernel([] {
              sukima::settings s = with_workers(2);
              s.choices = 16 * 1024;
              s.stack = 65 * 1024;
              sukima::runtime large(s);
              if (large.run([](context c) { return fib(c, 15); }) != 610) return 1;
              s.stack = 16 * 1024;
              sukima::runtime small(s);
              return small.run([](context c) { return fib(c, 15); }) == 610 ? 0 : 2;
            }),
            0);
}

TEST_P(pages_of, an_overflow_names_the_setting) {
  for (const std::size_t stack : {std::size_t{64} << 10, std::size_t{1} << 20}) {
    const auto run = [=](long bytes) {
      sukima::settings s = with_workers(1);
      s.stack = stack;
      sukima::runtime r(s);
      return r.run([=](context c) { return use_stack(c, bytes); }) == 1 ? 0 : 1;
    };
    const auto size = static_cast<long>(stack);
    EXPECT_EQ(on_such_a_kernel([&] { return run(size * 3 / 4); }), 0) << stack;
    EXPECT_EQ(on_such_a_kernel([&] { return run(size + 1024); }), 70) << stack;
  }
  EXPECT_EQ(on_such_a_kernel([] {
              sukima::settings s = with_workers(1);
              s.choices = 256 * 1024;
              sukima::runtime r(s);
              return r.run([](context c) { return deep(c, 1'000'000); }) == 1'000'000 ? 0 : 1;
            }),
            70);
}

/// Most memory of a fiber that was used to the end goes back to the kernel; small fibers stay in one piece.
TEST_P(pages_of, memory_is_given_back) {
  if (!support::private_bytes()) GTEST_SKIP() << "this kernel does not say how much memory a process has";
  EXPECT_EQ(on_such_a_kernel([] {
              sukima::runtime r(with_workers(1));
              r.run([](context c) { return use_stack(c, 1024); });
              const std::size_t before = *support::private_bytes();
              r.run([](context c) { return use_stack(c, 64L << 20) + deep(c, 100'000); });
              return *support::private_bytes() < before + (std::size_t{4} << 20) ? 0 : 1;
            }),
            0);
}

TEST_P(pages_of, small_fibers_do_not_touch_each_other) {
  EXPECT_EQ(on_such_a_kernel([] {
              sukima::settings s = with_workers(2);
              s.stack = 32 * 1024;
              sukima::runtime r(s);
              constexpr int count = 300;
              std::atomic<int> waiting{0};
              std::vector<sukima::resumer> resumers(count);
              std::thread other([&] {
                support::sleep_until([&] { return waiting == count; });
                for (sukima::resumer& one : resumers) one.resume();
              });
              r.run([&](context c) {
                sukima::parallel_for(c, 0, count, [&](context below, int i) {
                  volatile char mine[16 * 1024];
                  for (volatile char& byte : mine) byte = static_cast<char>(i);
                  sukima::suspend(below, [&, i](sukima::resumer one) {
                    resumers[static_cast<std::size_t>(i)] = one;
                    ++waiting;
                  });
                  for (const volatile char& byte : mine)
                    if (byte != static_cast<char>(i)) _exit(2);
                });
              });
              other.join();
              return 0;
            }),
            0);
}

}  // namespace
