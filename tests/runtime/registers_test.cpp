// SPDX-License-Identifier: Apache-2.0
// The test that g++ inlines claims to change no register: the registers that its slow path must keep, and the
// state in which it must leave the vector unit.
#include "support.hpp"

#include <sukima/detail/loop.hpp>

#if defined(__x86_64__)

#include <cpuid.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace {

using sukima::context;

constexpr int bytes_each = 64;
struct alignas(64) registers {
  std::array<std::uint8_t, 32 * bytes_each> byte{};
  /// Different values in the first `width` bytes of the registers [0, count).
  void fill(int count, int width) {
    for (int n = 0; n < count; ++n)
      for (int i = 0; i < width; ++i)
        byte[static_cast<unsigned>(n * bytes_each + i)] = static_cast<std::uint8_t>(1 + n * 7 + i);
  }
};

#define SUKIMA_EACH16(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15)
#define SUKIMA_UPPER16(M) \
  M(16) M(17) M(18) M(19) M(20) M(21) M(22) M(23) M(24) M(25) M(26) M(27) M(28) M(29) M(30) M(31)
#define SUKIMA_LOAD_XMM(n) "movaps 64*" #n "(%%rsi), %%xmm" #n "\n"
#define SUKIMA_SAVE_XMM(n) "movaps %%xmm" #n ", 64*" #n "(%%rdi)\n"
#define SUKIMA_LOAD_YMM(n) "vmovdqa 64*" #n "(%%rsi), %%ymm" #n "\n"
#define SUKIMA_SAVE_YMM(n) "vmovdqa %%ymm" #n ", 64*" #n "(%%rdi)\n"
#define SUKIMA_LOAD_ZMM(n) "vmovdqa64 64*" #n "(%%rsi), %%zmm" #n "\n"
#define SUKIMA_SAVE_ZMM(n) "vmovdqa64 %%zmm" #n ", 64*" #n "(%%rdi)\n"
// The stack pointer moves below what the compiler keeps under it.
#define SUKIMA_SLOW_PATH                                      \
  "leaq 1f(%%rip), %%r11\n"                                   \
  "jmp *sukima_poll_slow_keeping_registers@GOTPCREL(%%rip)\n" \
  "1:\n"
#define SUKIMA_VECTOR_CLOBBERS                                                                               \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", \
      "xmm13", "xmm14", "xmm15"

void through_lower(sukima::detail::choice_point* r, const registers& from, registers& to) {
  register void* r10 asm("r10") = r;
  asm volatile(SUKIMA_EACH16(SUKIMA_LOAD_XMM) SUKIMA_SLOW_PATH SUKIMA_EACH16(SUKIMA_SAVE_XMM)
               : "+r"(r10)
               : "S"(&from), "D"(&to)
               : "memory", "cc", "r11", SUKIMA_VECTOR_CLOBBERS);
}
[[gnu::target("avx")]] void through_avx(sukima::detail::choice_point* r, const registers& from,
                                        registers& to) {
  register void* r10 asm("r10") = r;
  asm volatile(SUKIMA_EACH16(SUKIMA_LOAD_YMM) SUKIMA_SLOW_PATH SUKIMA_EACH16(SUKIMA_SAVE_YMM) "vzeroupper\n"
               : "+r"(r10)
               : "S"(&from), "D"(&to)
               : "memory", "cc", "r11", SUKIMA_VECTOR_CLOBBERS);
}
[[gnu::target("avx512bw")]] void through_avx512(sukima::detail::choice_point* r, const registers& from,
                                                registers& to) {
  register void* r10 asm("r10") = r;
  asm volatile(
      SUKIMA_EACH16(SUKIMA_LOAD_ZMM) SUKIMA_UPPER16(SUKIMA_LOAD_ZMM)
          SUKIMA_SLOW_PATH SUKIMA_EACH16(SUKIMA_SAVE_ZMM) SUKIMA_UPPER16(SUKIMA_SAVE_ZMM) "vzeroupper\n"
      : "+r"(r10)
      : "S"(&from), "D"(&to)
      : "memory", "cc", "r11", SUKIMA_VECTOR_CLOBBERS, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21",
        "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31");
}

/// Calls f with the choice point of a loop that runs.
template <class F> void with_choice_point(F f) {
  sukima::runtime one(support::with_workers(1));
  one.run([&](context c) {
    sukima::parallel_for(c, 0, 1, [&](context below, int) {
      f(reinterpret_cast<sukima::detail::choice_point*>(below.top - sizeof(sukima::detail::loop_point)));
    });
  });
}

void expect_kept(void (*through)(sukima::detail::choice_point*, const registers&, registers&), int count,
                 int width) {
  registers before;
  registers after;
  before.fill(count, width);
  with_choice_point([&](sukima::detail::choice_point* r) { through(r, before, after); });
  EXPECT_EQ(before.byte, after.byte);
}

TEST(slow_path, keeps_the_lower_halves_of_vector_registers) { expect_kept(through_lower, 16, 16); }

TEST(slow_path, keeps_whole_registers_of_avx) {
  if (!__builtin_cpu_supports("avx")) GTEST_SKIP() << "no AVX here";
  expect_kept(through_avx, 16, 32);
  expect_kept(through_avx, 16, 16);
}

TEST(slow_path, keeps_whole_registers_of_avx512) {
  if (!__builtin_cpu_supports("avx512bw")) GTEST_SKIP() << "no AVX-512 here";
  for (const int width : {16, 32, 48, 64}) expect_kept(through_avx512, 32, width);
  expect_kept(through_avx512, 16, 64);
}

/// All eight places of the x87 unit's stack are used, and are empty again at the end: what a slow path may
/// do.
long double use_the_x87_stack() noexcept {
  long double sum = 0;
  asm volatile(
      "fld1\nfld1\nfld1\nfld1\nfld1\nfld1\nfld1\nfld1\n"
      "faddp\nfaddp\nfaddp\nfaddp\nfaddp\nfaddp\nfaddp\n"
      : "=t"(sum));
  return sum;
}

TEST(slow_path, is_called_with_an_empty_x87_stack) {
  sukima::runtime two(support::with_workers(2));
  std::atomic<int> asked{0};
  std::atomic<int> wrong{0};
  // The guard is asked in a poll at which the compiler would like to keep values in the x87 unit.
  two.run([&](context c) {
    sukima::parallel_for(
        c, 0, 2,
        [&](context below, int) {
          auto* r =
              reinterpret_cast<sukima::detail::choice_point*>(below.top - sizeof(sukima::detail::loop_point));
          long double first = 1.5L;
          long double second = 2.5L;
          while (asked < 20) {
            asm volatile("" : "+t"(first), "+u"(second));
            sukima::detail::poll(r);
            asm volatile("" : "+t"(first), "+u"(second));
            if (!(first == 1.5L) || !(second == 2.5L)) ++wrong;
          }
        },
        sukima::guard([&] {
          ++asked;
          if (!(use_the_x87_stack() == 8)) ++wrong;
          return 0.0;
        }));
  });
  EXPECT_EQ(wrong, 0);
}

/// Whether the CPU counts the upper halves of the vector registers as used. (XGETBV with ECX = 1: the states
/// in use.)
bool upper_halves_in_use() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
  return (low & 4) != 0;
}

/// Whether it has XGETBV with ECX = 1. A virtual machine may hide that and show the rest.
bool cpu_reports_state_in_use() {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  std::uint32_t d = 0;
  return __get_cpuid_count(0xD, 1, &a, &b, &c, &d) != 0 && (a & 4) != 0;
}

TEST(slow_path, leaves_clean_upper_halves_to_code_without_avx) {
  if (!__builtin_cpu_supports("avx") || !cpu_reports_state_in_use())
    GTEST_SKIP() << "this CPU does not report it";
  registers before;
  registers after;
  before.fill(16, 16);
  int clean_before = 0;
  int clean_after = 0;
  // Another program's turn in between may leave them marked; the slow path would do so each time.
  for (int i = 0; i < 10 && clean_after == 0; ++i)
    with_choice_point([&](sukima::detail::choice_point* r) {
      asm volatile("vzeroupper" ::: "memory");
      clean_before += !upper_halves_in_use();
      through_lower(r, before, after);
      clean_after += !upper_halves_in_use();
    });
  if (clean_before == 0) GTEST_SKIP() << "this CPU always says that they are used";
  EXPECT_GT(clean_after, 0);
}

}  // namespace

#endif
