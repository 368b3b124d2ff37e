// SPDX-License-Identifier: Apache-2.0
// Broken streams and memory files: their walkers find what is wrong.
#include "support.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "process/segment.hpp"
#include "program/program_core.hpp"
#include "stream/record.hpp"

namespace {

using namespace support;
using sukima::objects::detail::core_of;
using sukima::objects::detail::drop_record;
using sukima::objects::detail::object_core;
using sukima::objects::detail::program_core;
using sukima::objects::detail::segment;
using sukima::objects::detail::stream_core;
using sukima::objects::detail::wait_case;
using sukima::objects::detail::wait_state;

std::string violated(const auto& structure) {
  const char* const invariant = structure.violated_invariant();
  return invariant != nullptr ? invariant : "";
}

struct idle_object final : object_core {
  void call(sukima::context) override {}
  void drop() noexcept override {}
};

/// A stream that is not shared, with two objects that wait for its messages.
class stream_invariants : public testing::Test {
 protected:
  stream_core stream{"s", 4, sizeof(int), alignof(int)};
  idle_object object;
  wait_state wait{object, false, 0};
  wait_case first{.stream = &stream, .receives = true, .wait = &wait};
  wait_case second{.stream = &stream, .receives = true, .wait = &wait};

  void SetUp() override {
    stream.shared = false;
    stream.receivers.push(first);
    stream.receivers.push(second);
    ASSERT_EQ(violated(stream), "");
  }
  void TearDown() override { stream.own_words.tail = stream.own_words.head = 0; }
};

TEST_F(stream_invariants, messages_fit_into_it) {
  stream.own_words.tail = 4;
  EXPECT_EQ(violated(stream), "");
  stream.own_words.tail = 5;
  EXPECT_EQ(violated(stream), "a stream holds no more messages than its capacity");
}

TEST_F(stream_invariants, capacity_is_a_power_of_two) {
  stream.capacity = 3;
  EXPECT_EQ(violated(stream), "a stream's capacity is a power of two");
}

TEST_F(stream_invariants, a_stream_that_was_cut_off_has_failed) {
  stream.own_words.state = stream_core::cut_off;
  EXPECT_EQ(violated(stream), "a stream that was cut off has failed");
}

TEST_F(stream_invariants, lists_are_linked) {
  second.before = nullptr;
  EXPECT_EQ(violated(stream), "the links of a list of waiting objects agree");
  second.before = &first;
  stream.receivers.last = &first;
  EXPECT_EQ(violated(stream), "the last case of a list is its end");
}

TEST_F(stream_invariants, cases_belong_to_their_list) {
  second.is_listed = false;
  EXPECT_EQ(violated(stream), "a case in a list is marked");
  second.is_listed = true;
  second.receives = false;
  EXPECT_EQ(violated(stream), "a case is in the list of its stream and side");
  second.receives = true;
  second.wait = nullptr;
  EXPECT_EQ(violated(stream), "a case in a list belongs to a wait");
}

TEST_F(stream_invariants, a_shared_one_announces_its_waiting_objects) {
  stream.shared = true;
  EXPECT_EQ(violated(stream), "a shared stream announces exactly the sides that wait");
  stream.own_words.waiting = stream_core::receivers_wait;
  EXPECT_EQ(violated(stream), "");
  stream.own_words.waiting = stream_core::receivers_wait | stream_core::senders_wait;
  EXPECT_EQ(violated(stream), "a shared stream announces exactly the sides that wait");
}

// Between the sender's look at the ring and the lock of the receivers, a receiver may have taken a message.
TEST(stream_of_records, drops_its_oldest_record_only_while_it_has_too_little_room) {
  stream_core stream("s", 4, sizeof(std::uint64_t), alignof(std::uint64_t));
  stream.in_records = stream.drops_oldest = stream.many_in = true;
  stream.to_processes = stream_core::journey::copied;
  std::vector<std::byte> scratch;
  const auto head_after_drop = [&](std::uint64_t tail, std::uint64_t wanted) {
    stream.own_words.tail = tail;
    drop_record(stream, scratch, wanted);
    return stream.own_words.head.load();
  };
  EXPECT_EQ(head_after_drop(3, 1), 0u) << "one slot is free";
  EXPECT_EQ(head_after_drop(3, 2), 1u);
  EXPECT_EQ(head_after_drop(4, 1), 1u);
  EXPECT_EQ(head_after_drop(5, 1), 2u);
  EXPECT_EQ(stream.own_words.dropped.load(), 2u);
  stream.own_words.tail = stream.own_words.head = 0;
}

/// The memory file of a program with a process for each of its two objects.
class segment_invariants : public testing::Test {
 protected:
  std::array<char*, 1> arguments{};
  sukima::runtime runtime{with_workers(1)};
  program declared{0, arguments.data(), runtime};
  std::unique_ptr<segment> memory;

  void SetUp() override {
    const auto numbers = declared.stream<int>("numbers");
    const auto names = declared.stream<int>("names", capacity{2});
    declared.object("sender", [](out<int>, out<int>) {}, numbers.out(), names.out());
    declared.object("receiver", [](in<int>, in<int>) {}, numbers.in(), names.in());
    const program_core& core = core_of(declared);
    core.objects[1]->process = 1;
    memory = std::make_unique<segment>(
        core, 2, static_cast<std::uint32_t>(sukima::objects::model::execution_model::processes), "the graph");
    ASSERT_EQ(violated(*memory), "");
  }
};

TEST_F(segment_invariants, each_object_and_end_is_in_a_process) {
  memory->homes()[0].process = 2;
  EXPECT_EQ(violated(*memory), "an object is in a process of the program");
  memory->homes()[0].process = 0;
  memory->senders(*memory->stream(0))[0].process = 7;
  EXPECT_EQ(violated(*memory), "a side of a stream names processes of the program");
}

TEST_F(segment_invariants, a_stream_has_room_and_two_sides) {
  memory->stream(1)->facts.capacity = 0;
  EXPECT_EQ(violated(*memory), "a stream between processes has room");
  memory->stream(1)->facts.capacity = 2;
  memory->stream(1)->facts.ins = 0;
  EXPECT_EQ(violated(*memory), "a stream between processes has a process on each side");
}

TEST_F(segment_invariants, areas_do_not_overlap) {
  memory->stream(1)->facts.slots_at = memory->stream(0)->facts.slots_at;
  EXPECT_EQ(violated(*memory), "the areas of the memory file do not overlap");
}

TEST_F(segment_invariants, the_file_is_as_large_as_it_says) {
  memory->header().size += 4096;
  EXPECT_EQ(violated(*memory), "the memory file is as large as its header says");
}

}  // namespace
