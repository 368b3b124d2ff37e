// SPDX-License-Identifier: Apache-2.0
// Exceptions that cross nodes: by their types where the program has registered these.
#include "protocol/exceptions.hpp"
#include "protocol/reader.hpp"
#include "support.hpp"

#include <cereal/types/string.hpp>
#include <sukima/transfer_cereal.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

/// Only a text.
struct bad_board : std::runtime_error {
  using runtime_error::runtime_error;
};
/// No standard exception.
struct full {
  int node;
  int tasks;
};
/// More than a text, by cereal.
struct bad_line : std::exception {
  std::string file;
  int line = 0;
  bad_line() = default;
  bad_line(std::string name, int number) : file(std::move(name)), line(number) {}
  const char* what() const noexcept override { return file.c_str(); }
  template <class Archive> void serialize(Archive& archive) { archive(file, line); }
};
struct worse_line : bad_line {
  using bad_line::bad_line;
};
struct wordy : std::runtime_error {
  explicit wordy(const std::string& text) : runtime_error("a wordy " + text) {}
};
struct unregistered : std::runtime_error {
  using runtime_error::runtime_error;
};
/// Its codec fails at one of both ends.
struct fragile : std::runtime_error {
  enum class failure : std::uint8_t { encoding, decoding, size };
  explicit fragile(failure where) : runtime_error("fragile"), fails(where) {}
  failure fails;
};

}  // namespace

template <> struct sukima::codec<fragile> {
  static void encode(const fragile& value, std::vector<std::byte>& to) {
    constexpr std::size_t too_long = std::size_t{2} << 20;
    if (value.fails == fragile::failure::encoding) throw std::length_error("it is too long");
    if (value.fails == fragile::failure::size) to.resize(to.size() + too_long);
  }
  static fragile decode(std::span<const std::byte> /*from*/) { throw std::invalid_argument("it is damaged"); }
};

SUKIMA_EXCEPTION(bad_line);
SUKIMA_EXCEPTION(wordy);
SUKIMA_EXCEPTION(fragile);
SUKIMA_EXCEPTION(std::domain_error);

namespace {

SUKIMA_EXCEPTION(bad_board);
SUKIMA_EXCEPTION(bad_board);
SUKIMA_EXCEPTION(full);

using namespace cluster_support;
using sukima::call;
using sukima::cluster::byte_view;
using sukima::cluster::bytes;
using sukima::cluster::read_exception;
using sukima::cluster::remote_exception;
using sukima::cluster::write_exception;

template <class T> std::exception_ptr there_and_back(T thrown) {
  const bytes written = write_exception(std::make_exception_ptr(std::move(thrown)), 2);
  return read_exception(write_exception(read_exception(written), 3));  // over two nodes
}
/// \returns the exception, if it is of just this type
template <class T> std::optional<T> caught(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const T& e) {
    if (typeid(e) == typeid(T)) return e;
  } catch (...) {
  }
  return {};
}

TEST(exceptions, arrive_as_the_types_that_are_registered) {
  const auto board = caught<bad_board>(there_and_back(bad_board("no queen")));
  ASSERT_TRUE(board);
  EXPECT_STREQ(board->what(), "no queen");
  EXPECT_TRUE(caught<bad_board>(there_and_back(bad_board(""))));
  EXPECT_TRUE(caught<std::domain_error>(there_and_back(std::domain_error("too far"))));
  const auto over = caught<full>(there_and_back(full{3, 4}));
  ASSERT_TRUE(over);
  EXPECT_EQ(over->node * 10 + over->tasks, 34);
  const auto line = caught<bad_line>(there_and_back(bad_line("input", 7)));
  ASSERT_TRUE(line);
  EXPECT_EQ(line->file + std::to_string(line->line), "input7");
}

TEST(exceptions, of_other_types_arrive_as_what_they_were) {
  const auto check = [](const std::exception_ptr& arrived, const std::string& type,
                        const std::string& message) {
    const auto e = caught<remote_exception>(arrived);
    ASSERT_TRUE(e) << type;
    EXPECT_EQ(e->type(), type);
    EXPECT_EQ(e->what(), message);
    EXPECT_EQ(e->node(), 2u);
  };
  check(there_and_back(unregistered("gone")), "(anonymous namespace)::unregistered", "gone");
  check(there_and_back(worse_line("input", 7)), "(anonymous namespace)::worse_line", "input");
  check(there_and_back(wordy("text")), "(anonymous namespace)::wordy", "a wordy text");
  check(there_and_back(17), "int", "int");
  check(there_and_back(unregistered("")), "(anonymous namespace)::unregistered",
        "an exception of the type (anonymous namespace)::unregistered without a text");
  for (const auto where : {fragile::failure::encoding, fragile::failure::decoding, fragile::failure::size})
    check(there_and_back(fragile(where)), "(anonymous namespace)::fragile", "fragile");
}

TEST(exceptions, of_two_types_with_one_name_arrive_as_remote_ones) {
  struct twin {
    int value;
  };
  static const sukima::detail::exception_form other{typeid(twin).name(), nullptr, nullptr};
  sukima::detail::register_exception_form(sukima::detail::exception_form_of<twin>::form);
  EXPECT_TRUE(caught<twin>(there_and_back(twin{1})));
  sukima::detail::register_exception_form(other);
  EXPECT_TRUE(caught<remote_exception>(there_and_back(twin{1})));
}

TEST(exceptions, in_damaged_bytes_are_remote_ones) {
  EXPECT_TRUE(caught<remote_exception>(read_exception({})));
  const bytes whole = write_exception(std::make_exception_ptr(full{3, 4}), 2);
  EXPECT_TRUE(caught<full>(read_exception(whole)));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_TRUE(caught<remote_exception>(read_exception(byte_view(whole).first(size)))) << size;
}

std::atomic<unsigned> arrived{0};

/// Ends when two run at once: each on another node, if both have one worker.
long meet(sukima::context c) {
  arrived.fetch_add(1);
  while (arrived.load() < 2) sukima::fork2(c, [] {}, [] {});  // polls
  return 0;
}
long throws_there(sukima::context c, int line) {
  meet(c);
  throw bad_line("input", line);
}
long catches_here(sukima::context c) {
  try {
    const auto [a, b] = sukima::fork2(c, call<meet>(), call<throws_there>(7));
    return a + b;
  } catch (const bad_line& e) {
    return e.line;
  }
}
long passes_on(sukima::context c) {
  const auto [a, b] = sukima::fork2(c, call<meet>(), call<throws_there>(8));
  return a + b;
}

TEST(exceptions, are_caught_by_their_types_where_tasks_join) {
  arrived = 0;
  nodes_in_process nodes({.nodes = 2});
  EXPECT_EQ(nodes.everywhere(call<catches_here>()), std::vector<long>(2, 7));
  EXPECT_EQ(nodes.given(), 1u);
}

TEST(exceptions, end_the_entry_by_their_types_on_all_nodes) {
  arrived = 0;
  nodes_in_process nodes({.nodes = 2});
  nodes.on_each([&](unsigned i) {
    try {
      nodes.run(i, call<passes_on>());
      ADD_FAILURE() << "node " << i << " got a result";
    } catch (const bad_line& e) {
      EXPECT_EQ(e.file + std::to_string(e.line), "input8");
    }
  });
  EXPECT_EQ(nodes.given(), 1u);
}

}  // namespace
