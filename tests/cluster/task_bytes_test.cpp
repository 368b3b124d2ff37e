// SPDX-License-Identifier: Apache-2.0
// The bytes of tasks of the language: what is put in comes out, and nothing else is accepted.
#include "language/task_bytes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace sukima::cluster {
namespace {

/// task sample { in signed char n; in int values[n]; in double d; out short sum; out int room[n];
///               out unsigned short m; out char text[m]; }
struct sample {
  signed char n = 0;
  int* values = nullptr;
  double d = 0;
  short sum = 0;
  int* room = nullptr;
  unsigned short m = 0;
  char* text = nullptr;
};

constexpr std::array members{
    sukima_member SUKIMA_MEMBER(SUKIMA_IN, sample, n),
    sukima_member SUKIMA_ARRAY_MEMBER(SUKIMA_IN | SUKIMA_SIGNED, sample, values, n),
    sukima_member SUKIMA_MEMBER(SUKIMA_IN, sample, d),
    sukima_member SUKIMA_MEMBER(SUKIMA_OUT, sample, sum),
    sukima_member SUKIMA_ARRAY_MEMBER(SUKIMA_OUT | SUKIMA_SIGNED, sample, room, n),
    sukima_member SUKIMA_MEMBER(SUKIMA_OUT, sample, m),
    sukima_member SUKIMA_ARRAY_MEMBER(SUKIMA_OUT | SUKIMA_LATE, sample, text, m),
};
const sukima_travelling type =
    SUKIMA_TRAVELLING("task sample", nullptr, sample, members.data(), members.size());

bytes bytes_of(const sample& task) {
  bytes all;
  put_task(type, &task, all);
  return all;
}

sample& sample_in(const received_object& object) { return *static_cast<sample*>(object.get()); }

char* made_text(const char* text) {
  char* const memory = static_cast<char*>(std::malloc(std::strlen(text)));
  std::memcpy(memory, text, std::strlen(text));
  return memory;
}

TEST(task_bytes, in_members_and_arrays_arrive) {
  int values[] = {1, -2, 3};
  const received_object object(type, bytes_of({.n = 3, .values = values, .d = 0.5}));
  const sample& got = sample_in(object);
  EXPECT_EQ(got.n, 3);
  EXPECT_EQ(got.d, 0.5);
  ASSERT_NE(got.values, values);
  EXPECT_EQ(std::memcmp(got.values, values, sizeof values), 0);
  EXPECT_EQ(got.room, nullptr);
  EXPECT_EQ(got.text, nullptr);
}

TEST(task_bytes, a_missing_array_stays_missing_and_a_negative_length_means_no_elements) {
  const received_object missing(type, bytes_of({.n = 3}));
  EXPECT_EQ(sample_in(missing).values, nullptr);
  int values[] = {1};
  const received_object none(type, bytes_of({.n = -1, .values = values}));
  EXPECT_NE(sample_in(none).values, nullptr);
}

/// As GET takes it over.
void get_as_program(void* object, byte_view result) {
  for (auto& array : get_result(type, object, result)) static_cast<void>(array.release());
}

TEST(task_bytes, results_come_to_the_room_that_put_made) {
  int room[] = {0, 0};
  sample task{.n = 2, .room = room};
  bytes result;
  {
    const received_object object(type, bytes_of(task));
    sample& got = sample_in(object);
    ASSERT_NE(got.room, nullptr);
    EXPECT_EQ(got.room[0] + got.room[1], 0);
    got.room[1] = 7;
    got.n = 1;  // what the task does to its own length changes nothing
    got.sum = 9;
    got.m = 5;
    got.text = made_text("hello");
    object.put_result(result);
  }
  get_as_program(&task, result);
  EXPECT_EQ(task.room, room);
  EXPECT_EQ(room[1], 7);
  EXPECT_EQ(task.sum, 9);
  ASSERT_EQ(task.m, 5);
  EXPECT_EQ(std::memcmp(task.text, "hello", 5), 0);
  std::free(task.text);
}

TEST(task_bytes, results_without_room_get_new_memory) {
  sample task{.n = 2};
  char old = 'x';
  task.text = &old;  // is the task's to make, whatever it was
  bytes result;
  {
    const received_object object(type, bytes_of(task));
    sample_in(object).room = static_cast<int*>(std::calloc(2, sizeof(int)));
    sample_in(object).room[0] = 4;
    object.put_result(result);
  }
  get_as_program(&task, result);
  ASSERT_NE(task.room, nullptr);
  EXPECT_EQ(task.room[0], 4);
  EXPECT_EQ(task.text, nullptr);
  std::free(task.room);
}

TEST(task_bytes, a_result_without_a_receiver_keeps_no_memory) {
  sample task{.n = 2};
  bytes result;
  {
    const received_object object(type, bytes_of(task));
    sample_in(object).room = static_cast<int*>(std::calloc(2, sizeof(int)));
    sample_in(object).m = 3;
    sample_in(object).text = made_text("abc");
    object.put_result(result);
  }
  const std::vector<detail::malloced> made = get_result(type, &task, result);
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0].get(), reinterpret_cast<char*>(task.room));
  EXPECT_EQ(made[1].get(), task.text);
}

TEST(task_bytes, a_result_may_lie_in_an_array_that_came_with_the_task) {
  int values[] = {5, 6, 7};
  sample task{.n = 3, .values = values};
  bytes result;
  {
    const received_object object(type, bytes_of(task));
    sample_in(object).room = sample_in(object).values;
    sample_in(object).text = reinterpret_cast<char*>(sample_in(object).values + 1);
    object.put_result(result);
  }  // freed once
  get_as_program(&task, result);
  EXPECT_EQ(task.room[2], 7);
  std::free(task.room);
  std::free(task.text);
}

TEST(task_bytes, nothing_shorter_or_longer_is_accepted) {
  int values[] = {1, 2, 3};
  const bytes task = bytes_of({.n = 3, .values = values});
  for (std::size_t size = 0; size < task.size(); ++size)
    EXPECT_THROW(received_object(type, byte_view(task).first(size)), std::length_error) << size;
  bytes longer = task;
  longer.push_back({});
  EXPECT_THROW(received_object(type, longer), std::length_error);

  bytes result;
  const received_object object(type, task);
  sample_in(object).m = 3;
  sample_in(object).text = made_text("abc");
  object.put_result(result);
  for (std::size_t size = 0; size < result.size(); ++size) {
    sample back{.n = 3};
    EXPECT_THROW(get_as_program(&back, byte_view(result).first(size)), std::length_error) << size;
    EXPECT_EQ(back.text, nullptr);  // nothing new is lost
  }
  sample back{.n = 3};
  result.push_back({});
  EXPECT_THROW(get_as_program(&back, result), std::length_error);
  EXPECT_EQ(back.text, nullptr);
}

TEST(task_bytes, a_task_that_is_too_long_stays) {
  struct large {
    std::uint64_t n;
    long* values;
  };
  const sukima_member of_large[] = {SUKIMA_MEMBER(SUKIMA_IN, large, n),
                                    SUKIMA_ARRAY_MEMBER(SUKIMA_OUT, large, values, n)};
  const sukima_travelling of = SUKIMA_TRAVELLING("task large", nullptr, large, of_large, 2);
  for (const std::uint64_t n : {std::uint64_t{1} << 25, std::uint64_t{1} << 61, ~std::uint64_t{0}}) {
    const large task{n, nullptr};
    bytes all;
    EXPECT_THROW(put_task(of, &task, all), std::length_error);
    // Also from a node that says so.
    bytes claimed(sizeof n);
    std::memcpy(claimed.data(), &n, sizeof n);
    claimed.push_back(std::byte{1});
    EXPECT_THROW(received_object(of, claimed), std::length_error);
  }
}

}  // namespace
}  // namespace sukima::cluster
