// SPDX-License-Identifier: Apache-2.0
// What follows futures: then, when_all, when_any, promises, waiting with an end (docs/futures.md).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sukima/sukima.hpp>

using sukima::context;

/// Stands for a library that calls back on a thread of its own.
std::thread read_later(sukima::promise<std::string> text) {
  return std::thread([text = std::move(text)]() mutable { text.set_value("4 8 15 16 23 42"); });
}

void follow(context c, const sukima::shared_future<std::string>& text) {
  // They begin when the text is there. Until then they need neither a fiber nor a thread.
  const auto words = text.then([](const std::string& s) { return 1 + std::count(s.begin(), s.end(), ' '); });
  const auto digits = text.then([](const std::string& s) {
    return std::count_if(s.begin(), s.end(), [](char x) { return x >= '0' && x <= '9'; });
  });
  const auto summary = sukima::when_all(words, digits).then([=](context b) {
    return std::to_string(words.touch(b)) + " words, " + std::to_string(digits.touch(b)) + " digits";
  });
  std::printf("%s\n", summary.touch(c).c_str());
}

void race(context c) {
  const std::vector<sukima::shared_future<int>> answers{sukima::launch([] { return 1; }),
                                                        sukima::launch([] { return 1; })};
  const std::size_t first = sukima::when_any(answers).touch(c);
  std::printf("the first answer is %d\n", answers[first].touch(c));
}

void wait_a_moment(context c) {
  const sukima::promise<int> never;
  const auto answer = never.get_future();
  if (!answer.wait_for(c, std::chrono::milliseconds(2))) {
    answer.cancel();
    std::puts("no answer in time");
  }
}

void move_out(context c) {
  auto made = sukima::launch([] { return std::make_unique<int>(42); });
  const std::unique_ptr<int> own = std::move(made).take(c);
  std::printf("moved out: %d\n", *own);
}

/// The launched expression refers to `data`, which ends with this function. Without the shield an abort could
/// leave the function by `touch` while the expression still reads.
long sum_of(context c, const std::vector<long>& data) {
  return sukima::shielded(c, [&](context b) {
    const auto sum = sukima::launch([&data](context d) {
      return sukima::parallel_reduce(d, data, 0L, [](long n) { return n; }, std::plus{});
    });
    return sum.touch(b);
  });
}

int main() {
  sukima::promise<std::string> text;
  const auto read = text.get_future();
  std::thread reader = read_later(std::move(text));
  sukima::run([&](context c) {
    follow(c, read);
    race(c);
    wait_a_moment(c);
    move_out(c);
    std::printf("the sum is %ld\n", sum_of(c, {1, 2, 3}));
  });
  reader.join();
}
