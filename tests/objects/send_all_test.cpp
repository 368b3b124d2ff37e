// SPDX-License-Identifier: Apache-2.0
// send_all: ranges whose iterators wait. Messages whose constructors throw or fork.
#include "support.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <ranges>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace support;

class send_all_test : public models {};
INSTANTIATE_TEST_SUITE_P(models, send_all_test, all_models(), name_of_model);

/// A container whose forward iterators receive a message at each step.
class received_numbers {
 public:
  received_numbers(in<int>& from, std::vector<int> tens) : from_(from), tens_(std::move(tens)) {}
  class iterator {
   public:
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    using reference = const int&;
    using pointer = const int*;
    using iterator_category = std::forward_iterator_tag;
    iterator() = default;
    iterator(received_numbers& of, std::size_t at) : of_(&of), at_(at) {}
    reference operator*() const { return of_->tens_[at_]; }
    iterator& operator++() {
      if (++at_ < of_->tens_.size()) of_->tens_[at_] += of_->from_.receive().value_or(0);
      return *this;
    }
    iterator operator++(int) {
      const iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const iterator& other) const { return at_ == other.at_; }

   private:
    received_numbers* of_ = nullptr;
    std::size_t at_ = 0;
  };
  iterator begin() { return {*this, 0}; }
  iterator end() { return {*this, tens_.size()}; }

 private:
  in<int>& from_;
  std::vector<int> tens_;
};
static_assert(std::ranges::forward_range<received_numbers> && !std::ranges::view<received_numbers>);

// During such a wait other senders use the stream, in the same island or in another one.
TEST_P(send_all_test, may_wait_in_the_iterators_of_a_container_and_in_its_end) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{4});
  auto next = p.stream<int>("next", capacity{4});
  p.object(
      "all",
      [](out<int> to, in<int> from) {
        received_numbers numbers(from, {10, 20, 30});
        to.send_all(numbers);
        const std::vector<int> tens{40, 50, 60};  // their iterators are contiguous
        to.send_all(tens | std::views::take_while([&](int) { return from.receive() != 5; }));
      },
      s.out(), next.in());
  p.object(
      "single",
      [](out<int> to, out<int> gives) {
        for (int i = 1; i <= 5; ++i) {
          to.send(100 * i);
          gives.send(i);
        }
      },
      s.out(), next.out());
  std::vector<int> got;
  p.object(
      "sink",
      [&](in<int> from) {
        for (const int i : from) got.push_back(i);
      },
      s.in());
  p.run();
  std::ranges::sort(got);
  EXPECT_EQ(got, (std::vector<int>{10, 21, 32, 40, 50, 100, 200, 300, 400, 500}));
}

/// Cannot be copied if it is negative.
struct throws_if_negative {
  int number = 0;
  explicit throws_if_negative(int value) : number(value) {}
  throws_if_negative(const throws_if_negative& other) : number(other.number) {
    if (number < 0) throw std::domain_error("negative");
  }
};

TEST_P(send_all_test, sends_the_elements_before_one_whose_copy_throws) {
  program p(runtime);
  auto s = p.stream<throws_if_negative>("s", capacity{4});
  p.object(
      "source",
      [](out<throws_if_negative> to) {
        std::vector<throws_if_negative> some;
        some.reserve(3);
        for (const int i : {1, 2, -3}) some.emplace_back(i);
        for (int i = 0; i < 3; ++i) EXPECT_THROW(to.send_all(some), std::domain_error);
        to.send_all(std::vector<throws_if_negative>());
        EXPECT_THROW(to.emplace(some.back()), std::domain_error);
      },
      s.out());
  std::vector<int> got;
  p.object(
      "sink",
      [&](in<throws_if_negative> from) {
        for (const throws_if_negative& one : from) got.push_back(one.number);
      },
      s.in());
  p.run();
  EXPECT_EQ(got, (std::vector<int>{1, 2, 1, 2, 1, 2}));
}

/// Its copies fork, and wait.
struct forking_message {
  forking_message() = default;
  forking_message(const forking_message&) { fork_and_wait(); }
};

// During that wait another object of the group could send, into the same slot.
TEST_P(send_all_test, constructors_of_messages_may_fork) {
  constexpr int count = 10;
  program p(runtime);
  auto s = p.stream<forking_message>("s", capacity{4});
  for (const char* name : {"one by one", "together"})
    p.object(
         name,
         [together = *name == 't'](out<forking_message> to) {
           const std::vector<forking_message> some(2);
           for (int i = 0; i < count; i += 2)
             if (together)
               to.send_all(some);
             else
               for (const forking_message& one : some) to.send(one);
         },
         s.out())
        .group("senders");
  int got = 0;
  p.object(
      "sink",
      [&](in<forking_message> from) {
        while (from.receive()) ++got;
      },
      s.in());
  p.run();
  EXPECT_EQ(got, 2 * count);
}

}  // namespace
