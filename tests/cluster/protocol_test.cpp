// SPDX-License-Identifier: Apache-2.0
// Frames, the handshake, messages: all of it without a network.
#include "entry/ending.hpp"
#include "entry/environment.hpp"
#include "entry/forms.hpp"
#include "entry/inherited.hpp"
#include "protocol/build_id.hpp"
#include "protocol/frame_queue.hpp"
#include "protocol/handshake.hpp"
#include "protocol/messages.hpp"

#include <sukima/cluster.hpp>

#include <base/shared/descriptor.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>

namespace {

using namespace sukima::cluster;
using namespace std::chrono_literals;

byte_view view(const std::string& text) { return std::as_bytes(std::span(text)); }
std::string text(byte_view b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }

std::string hexadecimal(byte_view b) {
  std::string all;
  char two[3];
  for (const std::byte each : b) {
    std::snprintf(two, sizeof two, "%02x", std::to_integer<unsigned>(each));
    all += two;
  }
  return all;
}

TEST(mac, is_that_of_the_standard) {  // RFC 4231, test case 2
  EXPECT_EQ(hexadecimal(mac(view("Jefe"), {view("what do ya want "), view("for nothing?")})),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_FALSE(same_secret(view("abc"), view("abd")));
  EXPECT_FALSE(same_secret(view("abc"), view("ab")));
  EXPECT_TRUE(same_secret(view("abc"), view("abc")));
}

TEST(frames, come_out_as_they_went_in_byte_by_byte) {
  for (const bool sealed : {false, true}) {
    frame_writer writer;
    frame_reader reader;
    const digest key = mac({}, {view("key")});
    if (sealed) {
      writer.protect(key);
      reader.protect(key);
    }
    bytes stream;
    writer.write(stream, frame_kind::data, view("first"));
    writer.write(stream, frame_kind::leave, {});
    writer.write(stream, frame_kind::data, view(std::string(4096, 'x')));
    std::vector<frame> found;
    for (const std::byte b : stream) {
      reader.feed({&b, 1});
      while (auto f = reader.next()) found.push_back(std::move(*f));
    }
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(text(found[0].content), "first");
    EXPECT_EQ(found[1].kind, frame_kind::leave);
    EXPECT_EQ(found[2].content.size(), 4096u);
  }
}

// A queue of many short messages would take longer than a silent node may.
TEST(frames, are_appended_without_copying_the_queue_each_time) {
  frame_writer writer;
  bytes queue;
  unsigned copies = 0;
  for (int i = 0; i < 10000; ++i) {
    const std::size_t room = queue.capacity();
    writer.write(queue, frame_kind::data, view("short"));
    copies += queue.capacity() != room ? 1 : 0;
  }
  EXPECT_LT(copies, 100U);
}

/// A content whose bytes differ.
bytes long_content(std::size_t size) {
  bytes content(size);
  for (std::size_t i = 0; i < size; ++i) content[i] = static_cast<std::byte>(i * 7 + i / 251);
  return content;
}

// A thread that handled a long frame at once could send no heartbeats in the meantime.
TEST(frames, that_are_long_are_handled_as_they_arrive) {
  const bytes content = long_content(1 << 20);
  const digest key = mac({}, {view("key")});
  frame_writer writer;
  frame_reader reader;
  writer.protect(key);
  reader.protect(key);
  reader.allow(largest_message);
  bytes stream;
  writer.write(stream, frame_kind::data, content);
  writer.write(stream, frame_kind::data, view("next"));
  std::vector<frame> found;
  for (byte_view rest = stream; !rest.empty();) {
    const byte_view part = rest.first(std::min<std::size_t>(1000, rest.size()));
    rest = rest.subspan(part.size());
    reader.feed(part);
    while (auto f = reader.next()) found.push_back(std::move(*f));
    EXPECT_LE(reader.unhandled(), mac_size);
  }
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].content, content);
  EXPECT_EQ(text(found[1].content), "next");
}

TEST(frame_queues, turn_long_frames_into_bytes_in_pieces) {
  constexpr std::size_t piece = frame_queue::piece_size;
  const digest key = mac({}, {view("key")});
  frame_queue queue;
  frame_reader reader;
  queue.writer().protect(key);
  reader.protect(key);
  reader.allow(largest_message);
  std::vector<bytes> contents;
  for (const std::size_t size : {std::size_t{3}, piece, 5 * piece + 1, std::size_t{0}, std::size_t{7},
                                 2 * piece, piece + 1, std::size_t{9}}) {
    contents.push_back(long_content(size));
    // Both kinds of contents have one order.
    if (size % 2 == 0)
      queue.add(frame_kind::data, byte_view(contents.back()));
    else
      queue.add(frame_kind::data, bytes(contents.back()));
  }
  std::vector<bytes> found;
  bytes taken;
  for (bool is_first = true; !queue.empty(); is_first = false) {
    const std::size_t before = queue.size();
    queue.take(taken);
    ASSERT_FALSE(taken.empty());
    EXPECT_LE(queue.size(), before);
    EXPECT_TRUE(is_first || taken.size() <= 2 * piece + 100) << taken.size();
    reader.feed(taken);
    while (auto f = reader.next()) found.push_back(std::move(f->content));
    // A frame that is added now comes last.
    if (found.size() == 2 && contents.size() == 8) {
      contents.push_back(long_content(11));
      queue.add(frame_kind::data, byte_view(contents.back()));
    }
  }
  EXPECT_EQ(found, contents);
  EXPECT_EQ(queue.size(), 0u);
}

TEST(frame_queues, count_frames_until_they_have_begun) {
  constexpr std::size_t size = 4 * frame_queue::piece_size;
  frame_queue queue;
  queue.add(frame_kind::data, bytes(size));
  queue.add(frame_kind::data, bytes(size));
  EXPECT_EQ(queue.size(), 2 * size);
  bytes taken;
  queue.take(taken);
  EXPECT_EQ(queue.size(), size);
  EXPECT_LE(taken.size(), 2 * frame_queue::piece_size);
}

TEST(frames, with_impossible_lengths_are_refused_at_once) {
  for (const std::uint32_t length : {0u, 4098u, 0x7fffffffu, 0xffffffffu}) {
    frame_reader reader;
    bytes stream(5);
    std::memcpy(stream.data(), &length, sizeof length);
    stream[4] = static_cast<std::byte>(frame_kind::data);
    reader.feed(stream);
    EXPECT_THROW(reader.next(), frame_error) << length;
  }
}

TEST(frames, that_were_changed_repeated_or_left_out_are_refused) {
  const digest key = mac({}, {view("key")});
  frame_writer writer;
  writer.protect(key);
  bytes one;
  bytes two;
  writer.write(one, frame_kind::data, view("one"));
  writer.write(two, frame_kind::data, view("two"));
  const auto read = [&](const std::vector<bytes>& parts) {
    frame_reader reader;
    reader.protect(key);
    for (const bytes& part : parts) reader.feed(part);
    std::size_t count = 0;
    while (reader.next()) ++count;
    return count;
  };
  EXPECT_EQ(read({one, two}), 2u);
  EXPECT_THROW(read({one, one}), frame_error);
  EXPECT_THROW(read({two}), frame_error);
  for (std::size_t i = 4; i < one.size(); ++i) {
    bytes changed = one;
    changed[i] ^= std::byte{1};
    EXPECT_THROW(read({changed}), frame_error) << i;
  }
}

identity some_identity(node_id node) {
  return {.version = "0.1", .build_id = "5ac1d00d", .nodes = 4, .node = node, .port = 4711};
}

/// Lets two sides talk. \returns whether both are done
bool shake(handshake& connector, handshake& acceptor) {
  EXPECT_FALSE(connector.begin());
  std::vector<frame> to_connector{*acceptor.begin()};
  std::vector<frame> to_acceptor;
  bool is_connector_done = false;
  bool is_acceptor_done = false;
  const auto answer = [](handshake& one, std::vector<frame>& received, std::vector<frame>& said) {
    bool done = false;
    for (const frame& f : std::exchange(received, {})) {
      handshake::step step = one.take(f);
      done |= step.done;
      std::move(step.answers.begin(), step.answers.end(), std::back_inserter(said));
      if (step.sealed) said.push_back(*step.sealed);
    }
    return done;
  };
  while (!to_connector.empty() || !to_acceptor.empty()) {
    is_connector_done |= answer(connector, to_connector, to_acceptor);
    is_acceptor_done |= answer(acceptor, to_acceptor, to_connector);
  }
  return is_connector_done && is_acceptor_done;
}

TEST(handshake, joins_nodes_of_one_program_and_token) {
  for (const char* token : {"", "secret"}) {
    handshake a(handshake::role::connector, some_identity(1), token);
    handshake b(handshake::role::acceptor, some_identity(0), token);
    EXPECT_TRUE(shake(a, b));
    EXPECT_EQ(a.obstacle() + b.obstacle(), "");
    EXPECT_EQ(a.peer().node, 0u);
    EXPECT_EQ(b.peer().port, 4711);
    frame_writer writer;
    frame_reader reader;
    frame_reader unused_reader;
    frame_writer unused_writer;
    a.protect(writer, unused_reader);
    b.protect(unused_writer, reader);
    bytes stream;
    writer.write(stream, frame_kind::data, view("hello"));
    EXPECT_EQ(stream.size(), std::strlen("hello") + 5 + (*token != 0 ? mac_size : 0));
    reader.feed(stream);
    EXPECT_EQ(text(reader.next()->content), "hello");
  }
}

TEST(handshake, refuses_another_token) {
  for (const char* other : {"", "Secret", "secret "}) {
    handshake a(handshake::role::connector, some_identity(1), "secret");
    handshake b(handshake::role::acceptor, some_identity(0), other);
    EXPECT_THROW(shake(a, b), frame_error);
  }
}

TEST(handshake, is_not_done_by_what_was_overheard) {
  handshake a(handshake::role::connector, some_identity(1), "secret");
  handshake b(handshake::role::acceptor, some_identity(0), "secret");
  const frame proof = a.take(*b.begin()).answers.at(0);
  // The same proof at another connection, which has asked for another number.
  handshake again(handshake::role::acceptor, some_identity(0), "secret");
  EXPECT_TRUE(again.take(proof).is_refused);
  // A connector's proof does not serve as an acceptor's proof of the same numbers.
  const frame reflected{frame_kind::proof,
                        bytes(proof.content.begin() + sizeof(digest), proof.content.end())};
  EXPECT_THROW(a.take(reflected), frame_error);
}

TEST(handshake, gives_a_stranger_no_information) {
  handshake acceptor(handshake::role::acceptor, some_identity(0), "secret");
  const frame challenge = *acceptor.begin();
  EXPECT_EQ(challenge.content.size(), std::strlen("SUKIMA-CLUSTER-3") + sizeof(digest)) << "a random number";
  const handshake::step refusal = acceptor.take({frame_kind::proof, bytes(2 * sizeof(digest))});
  EXPECT_TRUE(refusal.is_refused);
  EXPECT_FALSE(refusal.is_proved);
  EXPECT_FALSE(refusal.sealed);
  ASSERT_EQ(refusal.answers.size(), 1u);
  EXPECT_TRUE(refusal.answers[0].content.empty());
}

TEST(handshake, names_the_node_only_under_the_keys) {
  handshake connector(handshake::role::connector, some_identity(1), "secret");
  handshake acceptor(handshake::role::acceptor, some_identity(0), "secret");
  const auto has_build_id = [](const frame& f) {
    return text(f.content).find(some_identity(0).build_id) != std::string::npos;
  };
  const frame challenge = *acceptor.begin();
  const frame proof = connector.take(challenge).answers.at(0);
  const handshake::step answer = acceptor.take(proof);
  for (const frame& f : {challenge, proof, answer.answers.at(0)}) EXPECT_FALSE(has_build_id(f));
  EXPECT_TRUE(answer.is_proved);
  EXPECT_TRUE(has_build_id(*answer.sealed));
}

TEST(handshake, names_what_differs) {
  const auto obstacle = [](auto change) {
    identity other = some_identity(1);
    change(other);
    handshake a(handshake::role::connector, other, "");
    handshake b(handshake::role::acceptor, some_identity(0), "");
    EXPECT_TRUE(shake(a, b));
    return b.obstacle();
  };
  EXPECT_EQ(
      obstacle([](identity& i) { i.build_id = "77fe0123456"; }),
      "another program: build id 5ac1d00d… here, 77fe0123… at node 1; copy the program, or share its folder");
  EXPECT_NE(obstacle([](identity& i) { i.version = "9"; }).find("another version"), std::string::npos);
  EXPECT_NE(obstacle([](identity& i) { i.word_size = 4; }).find("another machine"), std::string::npos);
  EXPECT_NE(obstacle([](identity& i) { i.nodes = 5; }).find("another run"), std::string::npos);
  EXPECT_NE(obstacle([](identity& i) { i.node = 0; }).find("two nodes"), std::string::npos);
}

TEST(messages, come_out_as_they_went_in) {
  const std::string content = "arguments";
  const message m{.kind = message_kind::task,
                  .how = outcome::ok,
                  .entry = 3,
                  .function = 0x12345678,
                  .id = 0xfedcba9876543210,
                  .request = 0x123456789abcdef0,
                  .round_trip = 0x87654321,
                  .content = view(content)};
  const bytes written = write_message(m);
  const auto read = read_message(written);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->kind, m.kind);
  EXPECT_EQ(read->entry, m.entry);
  EXPECT_EQ(read->function, m.function);
  EXPECT_EQ(read->id, m.id);
  EXPECT_EQ(read->request, m.request);
  EXPECT_EQ(read->round_trip, m.round_trip);
  EXPECT_EQ(text(read->content), content);
}

TEST(messages, bring_solutions_with_results) {
  const std::string solutions = "solutions";
  const std::string content = "result";
  for (const auto kind : {message_kind::result, message_kind::entry, message_kind::best}) {
    const bool has_content = kind != message_kind::best;
    const bytes written = write_message({.kind = kind,
                                         .entry = 1,
                                         .solutions = view(solutions),
                                         .content = view(has_content ? content : "")});
    const auto read = read_message(written);
    ASSERT_TRUE(read);
    EXPECT_EQ(text(read->solutions), solutions);
    EXPECT_EQ(text(read->content), has_content ? content : "");
    for (std::size_t size = 0; size < written.size() - read->content.size(); ++size)
      EXPECT_FALSE(read_message(byte_view(written).first(size))) << size;
  }
}

TEST(messages, that_are_malformed_are_refused) {
  const bytes whole = write_message({.kind = message_kind::request, .entry = 1});
  EXPECT_TRUE(read_message(whole));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(read_message(byte_view(whole).first(size))) << size;
  for (const unsigned kind : {0u, static_cast<unsigned>(message_kind::missing) + 1, 255u}) {
    bytes changed = whole;
    changed[0] = static_cast<std::byte>(kind);
    EXPECT_FALSE(read_message(changed)) << kind;
  }
  bytes longer = whole;
  longer.push_back({});
  EXPECT_FALSE(read_message(longer)) << "a request has no content";
}

long travelling(long n) { return n; }
long also_travelling(long n) { return n + 1; }

TEST(forms, have_numbers_in_the_order_of_their_names) {
  // Forks with them as second branch register them; they need not be reached.
  const auto forks = [](sukima::context c) {
    static_cast<void>(sukima::fork2(c, [] { return 0; }, sukima::call<travelling>(1)));
    static_cast<void>(sukima::fork2(c, [] { return 0; }, sukima::call<also_travelling>(1)));
  };
  sukima::run(forks);
  const form_table table;
  using first = decltype(sukima::call<travelling>(1));
  using second = decltype(sukima::call<also_travelling>(1));
  const auto one = table.number_of(sukima::detail::travels<first>::form);
  const auto other = table.number_of(sukima::detail::travels<second>::form);
  ASSERT_TRUE(one && other);
  EXPECT_EQ(*one > *other, std::strcmp(typeid(first).name(), typeid(second).name()) > 0);
  EXPECT_EQ(table[*one], &sukima::detail::travels<first>::form);
  EXPECT_EQ(table[1u << 30], nullptr);
}

TEST(forms, with_one_name_stay_at_home) {
  static int runs = 0;
  static std::vector<std::unique_ptr<std::string>> names;
  names.push_back(std::make_unique<std::string>("0 twins " + std::to_string(++runs)));
  // Never destroyed: registered for the rest of the process.
  auto* const a = new sukima::detail::travel_form{names.back()->c_str(), nullptr, nullptr};
  auto* const b = new sukima::detail::travel_form{*a};
  sukima::detail::register_travel_form(*a);
  EXPECT_TRUE(form_table().number_of(*a));
  sukima::detail::register_travel_form(*a);
  EXPECT_TRUE(form_table().number_of(*a)) << "the same, registered by two objects";
  sukima::detail::register_travel_form(*b);
  EXPECT_FALSE(form_table().number_of(*a));
  EXPECT_FALSE(form_table().number_of(*b));
}

const int in_this_program = 0;

TEST(build_id, is_that_of_the_program) {
  const std::string id = build_id({});
  EXPECT_GE(id.size(), 16u);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
  const void* const in_the_c_library = reinterpret_cast<const void*>(&std::snprintf);
  EXPECT_NE(build_id({&in_the_c_library, 1}), id);
  const void* const here = &in_this_program;
  EXPECT_EQ(build_id({&here, 1}), id);
}

std::map<std::string, std::string> variables;
const char* variable(const char* name) {
  const auto found = variables.find(name);
  return found != variables.end() ? found->second.c_str() : nullptr;
}

TEST(environment, says_which_node_this_is) {
  variables.clear();
  EXPECT_FALSE(read_environment(variable));
  variables = {{variable_nodes, "4"},
               {variable_node, "2"},
               {variable_address, "host.example:4711"},
               {variable_token, "a secret of at least 128 bits"},
               {variable_listen, "5"}};
  const auto s = read_environment(variable);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->own.nodes, 4u);
  EXPECT_EQ(s->own.node, 2u);
  EXPECT_EQ(s->host, "host.example");
  EXPECT_EQ(s->port, 4711);
  EXPECT_EQ(s->token, "a secret of at least 128 bits");
  EXPECT_EQ(s->listening, -1) << "only node 0 listens there";
  EXPECT_FALSE(s->survives_losses);
  EXPECT_TRUE(s->addresses.empty());
  variables[variable_addresses] = "a,10.0.0.2,::1,d.example";
  EXPECT_EQ(read_environment(variable)->addresses,
            (std::vector<std::string>{"a", "10.0.0.2", "::1", "d.example"}));
  const sukima::pipe_ends file = sukima::make_pipe();
  const int ended = file.read_end.get();
  variables[variable_ended] = std::to_string(ended);
  variables[variable_files] = inherited_descriptor::files_of({ended});
  EXPECT_EQ(read_environment(variable)->ended_nodes, -1);
  variables[variable_hope] = "1";
  EXPECT_TRUE(read_environment(variable)->survives_losses);
  EXPECT_EQ(read_environment(variable)->ended_nodes, ended);
}

TEST(environment, uses_no_descriptor_that_belongs_to_another_file) {
  sukima::pipe_ends launchers = sukima::make_pipe();
  const int number = launchers.read_end.get();
  const std::string text = std::to_string(number);
  variables = {
      {variable_nodes, "2"}, {variable_node, "0"}, {variable_address, "host:1"}, {variable_hope, "1"}};
  variables[variable_ended] = text;
  variables[variable_files] = inherited_descriptor::files_of({STDIN_FILENO, number});
  EXPECT_EQ(read_environment(variable)->ended_nodes, number);
  const sukima::pipe_ends own = sukima::make_pipe();
  ASSERT_EQ(dup2(own.read_end.get(), number), number);
  EXPECT_EQ(read_environment(variable)->ended_nodes, -1);
  EXPECT_EQ(fcntl(number, F_GETFD) & FD_CLOEXEC, 0) << "the program's own file is as it was";
  variables[variable_listen] = text;
  EXPECT_THROW(read_environment(variable), start_failure);
  launchers.read_end.reset();
  EXPECT_THROW(read_environment(variable), start_failure);
  variables.erase(variable_listen);
  EXPECT_EQ(read_environment(variable)->ended_nodes, -1);
  for (const char* const wrong : {"", "x", "-1", "3@1.2", "3 ", "99999999999"}) {
    variables[variable_ended] = wrong;
    EXPECT_THROW(read_environment(variable), start_failure) << wrong;
  }
  variables[variable_ended] = "3";
  for (const char* const wrong :
       {"x", "3", "3@", "3@1", "3@1.", "3@1.2 ", "3.1@2", ",", "3@1.2,", "3@1.2,4"}) {
    variables[variable_files] = wrong;
    try {
      static_cast<void>(read_environment(variable));
      ADD_FAILURE() << wrong;
    } catch (const start_failure& f) {
      EXPECT_EQ(f.what(), "SUKIMA_CLUSTER_FILES=" + std::string(wrong) +
                              " is wrong: leave it out, or start the program with sukima cluster run");
    }
  }
}

TEST(environment, takes_a_descriptor_without_a_file_as_it_is) {
  const sukima::pipe_ends launchers = sukima::make_pipe();
  variables = {
      {variable_nodes, "2"}, {variable_node, "0"}, {variable_address, "host:1"}, {variable_hope, "1"}};
  variables[variable_ended] = std::to_string(launchers.read_end.get());
  EXPECT_EQ(read_environment(variable)->ended_nodes, launchers.read_end.get());
  variables[variable_files] = inherited_descriptor::files_of({STDIN_FILENO});
  EXPECT_EQ(read_environment(variable)->ended_nodes, launchers.read_end.get());
}

TEST(environment, is_refused_with_the_variable_that_is_wrong) {
  const auto failure = [](const char* name, const char* value) {
    variables = {{variable_nodes, "4"}, {variable_node, "2"}, {variable_address, "host:1"}};
    variables[name] = value;
    try {
      read_environment(variable);
    } catch (const start_failure& f) {
      return std::string(f.what());
    }
    return std::string();
  };
  EXPECT_EQ(
      failure(variable_node, "4"),
      "SUKIMA_CLUSTER_NODE=4 is wrong: give a whole number from 0 to 3, or start the program with sukima "
      "cluster run");
  for (const char* value : {"0", "-1", "x", "", "4x", "99999999999"})
    EXPECT_NE(failure(variable_nodes, value).find("SUKIMA_CLUSTER_NODES="), std::string::npos) << value;
  for (const char* value : {"", "a,b,c", "a,b,c,d,e", "a,,c,d", "a,b,c,", ",,,"})
    EXPECT_NE(failure(variable_addresses, value).find("SUKIMA_CLUSTER_ADDRESSES="), std::string::npos)
        << value;
  for (const char* value : {"", "host", ":1", "host:", "host:65536"})
    EXPECT_NE(failure(variable_address, value).find("SUKIMA_CLUSTER_ADDRESS="), std::string::npos) << value;
}

TEST(environment, takes_the_time_of_silence_in_seconds_with_fractions) {
  const auto beats = [](const char* seconds) {
    variables = {{variable_nodes, "4"}, {variable_node, "2"}, {variable_address, "host:1"}};
    variables[variable_silence] = seconds;
    return read_environment(variable)->heartbeat.silent_beats;
  };
  EXPECT_EQ(beats("0"), 0u);
  EXPECT_EQ(beats("0.5"), 1u);
  EXPECT_EQ(beats("0.6"), 2u) << "no node is lost earlier than the user wants";
  EXPECT_EQ(beats("2"), 4u);
  EXPECT_EQ(beats("2.5"), 5u);
  EXPECT_EQ(beats("3600"), 7200u);
}

TEST(environment, refuses_other_times_of_silence_with_their_unit) {
  for (const char* value : {"", "0.4", "3600.5", "-1", "1s", "nan", "inf", "1e3", "0,5", " 1"}) {
    variables = {{variable_nodes, "4"}, {variable_node, "2"}, {variable_address, "host:1"}};
    variables[variable_silence] = value;
    try {
      read_environment(variable);
      ADD_FAILURE() << value;
    } catch (const start_failure& f) {
      EXPECT_EQ(f.what(), "SUKIMA_CLUSTER_SILENCE=" + std::string(value) +
                              " is wrong: give a number of seconds from 0.5 to 3600, or 0 so that no silent "
                              "node is lost");
    }
  }
}

TEST(reports, do_not_get_into_what_the_program_has_opened_since) {
  int launcher[2], own[2];
  ASSERT_EQ(pipe(launcher) + pipe(own), 0);
  setenv(variable_report, (std::to_string(launcher[1]) + ":mark").c_str(), 1);
  EXPECT_TRUE(send_report({.kind = node_report::type::meets}));
  ASSERT_EQ(dup2(own[1], launcher[1]), launcher[1]);
  EXPECT_FALSE(send_report({.kind = node_report::type::counts}));
  pollfd mine{own[0], POLLIN, 0};
  EXPECT_EQ(poll(&mine, 1, 0), 0);
}

}  // namespace
