// SPDX-License-Identifier: Apache-2.0
// Which types can travel. The checks are made by the compiler.
#include <sukima/transfer.hpp>

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "text_codec.hpp"

namespace {

using sukima::can_be_copied;
using sukima::can_travel;

struct nothing {};
struct pair {
  int a;
  double b;
};
struct with_arrays {
  int a[3];
  double b;
  char name[300];
  int matrix[2][3];
};
struct nested {
  pair a;
  with_arrays b;
  std::array<int, 5> c;
  std::optional<pair> d;
  std::chrono::nanoseconds e{};
};
struct with_defaults {
  int a = 1;
  std::optional<int> b;
};
struct with_bits {
  unsigned a : 3;
  unsigned b : 5;
};
enum class colour { red };
static_assert(can_be_copied<int> && can_be_copied<colour> && can_be_copied<nothing> && can_be_copied<pair>);
static_assert(can_be_copied<with_arrays> && can_be_copied<nested> && can_be_copied<with_defaults>);
static_assert(can_be_copied<with_bits> && can_be_copied<std::array<char, 1000>> &&
              can_be_copied<std::complex<float>>);

struct with_pointer {
  int n;
  const char* text;
};
struct deep {
  int n;
  with_pointer inner;
};
struct with_pointers {
  int n;
  int* all[3];
};
struct with_reference {
  int& r;
};
struct with_function {
  void (*f)();
};
struct with_member {
  int pair::* p;
};
struct derived : pair {
  int c;
};
union either {
  int a;
  int* p;
};
struct with_union {
  int n;
  either e;
};
struct with_anonymous_union {
  int kind;
  union {
    int n;
    double x;
  };
};
struct only_anonymous_union {
  union {
    int n;
    int* p;
  };
};
struct around_anonymous_union {
  double x;
  with_anonymous_union inner;
};
struct with_wrapper {
  std::reference_wrapper<int> r;
};
struct with_seventeen {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q;
};
int some_number = 0;
struct with_default_reference {
  int a;
  int& r = some_number;
};
static_assert(!can_travel<int*> && !can_travel<with_pointer> && !can_travel<deep> &&
              !can_travel<with_pointers>);
static_assert(!can_travel<with_reference> && !can_travel<with_function> && !can_travel<with_member>);
static_assert(!can_travel<derived> && !can_travel<either> && !can_travel<with_union>);
static_assert(!can_travel<with_anonymous_union> && !can_travel<only_anonymous_union> &&
              !can_travel<around_anonymous_union>);
static_assert(!can_travel<with_wrapper> && !can_travel<with_seventeen> &&
              !can_travel<with_default_reference>);
static_assert(!can_travel<std::string_view> && !can_travel<std::string> && !can_travel<std::unique_ptr<int>>);
static_assert(!can_travel<std::array<int*, 3>> && !can_travel<std::optional<with_pointer>>);

class closed {
 public:
  closed() = default;

 private:
  [[maybe_unused]] int number_ = 0;
};
class vouched_for : closed {};
struct vouched_union {
  union {
    int n;
    float x;
  };
  int kind;
};
struct around_vouched {
  int n;
  vouched_union one;
  vouched_union more[2];
};
static_assert(!can_travel<closed>);

}  // namespace

template <> inline constexpr bool sukima::holds_no_pointers<vouched_for> = true;
template <> inline constexpr bool sukima::holds_no_pointers<vouched_union> = true;

namespace {

static_assert(can_be_copied<vouched_for> && can_be_copied<vouched_union> && can_be_copied<around_vouched>);
static_assert(can_travel<text> && !can_be_copied<text>);

TEST(transfer, a_codec_appends_and_reads_back) {
  std::vector<std::byte> bytes(3);
  sukima::codec<text>::encode({"words"}, bytes);
  ASSERT_EQ(bytes.size(), 8U);
  EXPECT_EQ(sukima::codec<text>::decode(std::span(bytes).subspan(3)).value, "words");
}

}  // namespace
