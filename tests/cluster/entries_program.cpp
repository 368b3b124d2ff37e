// SPDX-License-Identifier: Apache-2.0
// Makes the entries of its word on each node: cluster_entries_program CALL,CALL… CALL,CALL…
//
// The calls fragile:entry, fragile:argument and fragile:result need `--hope` and two nodes. Node 1 cannot
// decode such a value, and creates the file of the variable FRAGILE_FILE when it finds that. Node 0 waits for
// the file.
#include <sukima/cluster.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

/// The value that node 1 cannot decode.
std::string unreadable;

std::string mark_file() {
  const char* const name = std::getenv("FRAGILE_FILE");
  return name != nullptr ? name : "";
}

enum class role { argument, result, entry };
constexpr const char* name_of(role r) {
  return r == role::argument ? "argument" : r == role::result ? "result" : "entry";
}
template <role Role> struct fragile {
  std::string text;
};

}  // namespace

template <role Role> struct sukima::codec<fragile<Role>> {
  static void encode(const fragile<Role>& value, std::vector<std::byte>& to) {
    const auto bytes = std::as_bytes(std::span(value.text));
    to.insert(to.end(), bytes.begin(), bytes.end());
  }
  static fragile<Role> decode(std::span<const std::byte> from) {
    if (sukima::cluster::this_node() == 1 && unreadable == name_of(Role)) {
      std::ofstream{mark_file()};
      throw std::domain_error(std::string("the ") + name_of(Role) + " is damaged");
    }
    return {std::string(reinterpret_cast<const char*>(from.data()), from.size())};
  }
};

namespace {

/// Polls until node 1 has found a value that it cannot decode.
void wait_for_node_1(sukima::context c) {
  while (!std::filesystem::exists(mark_file())) {
    static_cast<void>(sukima::fork2(c, [] { return 0; }, [] { return 0; }));
    std::this_thread::yield();
  }
}

long first_branch(sukima::context c) {
  wait_for_node_1(c);
  return 1;
}
fragile<role::result> second_branch(const fragile<role::argument>& argument) { return {argument.text + "!"}; }
fragile<role::entry> both_branches(sukima::context c) {
  if (unreadable != name_of(role::entry)) {
    const auto [one, two] = sukima::fork2(c, sukima::call<first_branch>(),
                                          sukima::call<second_branch>(fragile<role::argument>{"two"}));
    return {std::to_string(one) + " " + two.text};
  }
  if (sukima::cluster::this_node() == 1) wait_for_node_1(c);  // until the result of node 0 arrives
  return {"whole"};
}

void print_fragile(const std::string& what) {
  unreadable = what;
  try {
    std::printf("%s\n", sukima::cluster::run(sukima::call<both_branches>()).text.c_str());
  } catch (const std::domain_error&) {
    std::printf("a program handles its own exceptions only\n");
  }
}

long leaves(sukima::context c, int depth) {
  if (depth == 0) return 1;
  const auto [a, b] = sukima::fork2(c, sukima::call<leaves>(depth - 1), sukima::call<leaves>(depth - 1));
  return a + b;
}

double half(int n) { return n / 2.0; }

}  // namespace

int main(int argc, char** argv) {
  const auto own = static_cast<int>(sukima::cluster::this_node()) + 1;
  if (own >= argc) return 2;
  std::istringstream calls(argv[own]);
  for (std::string call; std::getline(calls, call, ',');) {
    if (call == "leaves")
      std::printf("%ld\n", sukima::cluster::run(sukima::call<leaves>(10)));
    else if (call.starts_with("fragile:"))
      print_fragile(call.substr(call.find(':') + 1));
    else if (call == "endless")
      std::printf("%ld\n", sukima::cluster::run(sukima::call<leaves>(60)));
    else
      std::printf("%g\n", sukima::cluster::run(sukima::call<half>(3)));
  }
}
