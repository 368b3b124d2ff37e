// SPDX-License-Identifier: Apache-2.0
// Parses the options of a benchmark program: --NAME VALUE or --NAME=VALUE, flags, and at most one argument
// without a name.
//
// A library for command lines takes longer to compile than such a program, and two compilers compile each
// program.
#pragma once

#include <errno.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace bench {

/// A wrong command line: one sentence.
struct usage_mistake : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class arguments {
 public:
  /// \param about one sentence for --help
  explicit arguments(const char* about) : about_(about) {}

  /// Declares a number from `least` to `most`. If the option is not given, its variable keeps its value.
  template <class Number, class Bound>
  void number(std::string name, std::optional<Number>& to, Bound least, Bound most, std::string text) {
    add_number<Number>(std::move(name), &to, least, most, std::move(text), [](void* where, double value) {
      *static_cast<std::optional<Number>*>(where) = static_cast<Number>(value);
    });
  }
  template <class Number, class Bound>
  void number(std::string name, Number& to, Bound least, Bound most, std::string text) {
    add_number<Number>(std::move(name), &to, least, most, std::move(text), [](void* where, double value) {
      *static_cast<Number*>(where) = static_cast<Number>(value);
    });
  }
  void flag(std::string name, bool& to, std::string text) {
    options_.push_back({.name = std::move(name), .text = std::move(text), .flag = &to});
  }
  /// Declares the argument without a name.
  void word(std::string name, std::string& to, std::string text) {
    word_ = &to;
    word_name_ = std::move(name);
    word_text_ = std::move(text);
  }

  /// \returns false after --help, which it has printed \throws usage_mistake
  bool parse(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string_view given = argv[i];
      if (given == "--help" || given == "-h") {
        print_help();
        return false;
      }
      if (!given.starts_with("--")) {
        take_word(given);
        continue;
      }
      const auto equals = given.find('=');
      const option& found = option_of(given.substr(0, equals));
      if (found.flag != nullptr) {
        if (equals != given.npos) throw usage_mistake(found.name + " takes no value");
        *found.flag = true;
      } else if (equals != given.npos) {
        take_number(found, given.substr(equals + 1));
      } else if (i + 1 < argc) {
        take_number(found, argv[++i]);
      } else {
        throw usage_mistake(found.name + " needs a value");
      }
    }
    return true;
  }

 private:
  struct option {
    std::string name;
    std::string text;
    bool* flag = nullptr;  ///< null: it has a number as its value
    void* to = nullptr;
    void (*store)(void* to, double value) = nullptr;
    bool whole = false;
    double least = 0;
    double most = 0;
  };

  template <class Number, class Bound>
  void add_number(std::string name, void* to, Bound least, Bound most, std::string text,
                  void (*store)(void*, double)) {
    options_.push_back({.name = std::move(name),
                        .text = std::move(text),
                        .to = to,
                        .store = store,
                        .whole = static_cast<Number>(0.5) == Number{},
                        .least = static_cast<double>(least),
                        .most = static_cast<double>(most)});
  }

  const option& option_of(std::string_view name) const {
    for (const option& known : options_)
      if (known.name == name) return known;
    throw usage_mistake("there is no option " + std::string(name));
  }

  static void take_number(const option& o, std::string_view text) {
    double value = 0;
    long long whole = 0;
    const char* const end = text.data() + text.size();
    const std::from_chars_result read =
        o.whole ? std::from_chars(text.data(), end, whole) : std::from_chars(text.data(), end, value);
    if (o.whole) value = static_cast<double>(whole);
    if (read.ec != std::errc() || read.ptr != end || !(value >= o.least && value <= o.most))
      throw usage_mistake(o.name + " takes a " + (o.whole ? "whole number" : "number") + " from " +
                          short_text(o.least) + " to " + short_text(o.most) + ", not '" + std::string(text) +
                          "'");
    o.store(o.to, value);
  }

  static std::string short_text(double value) {
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
  }

  void take_word(std::string_view given) const {
    if (word_ == nullptr || !word_->empty())
      throw usage_mistake("it takes no argument '" + std::string(given) + "'");
    *word_ = given;
  }

  void print_help() const {
    std::printf("%s\nUsage: %s [OPTIONS]", about_, program_invocation_short_name);
    if (word_ != nullptr) std::printf(" [%s]", word_name_.c_str());
    std::printf("\n\n");
    if (word_ != nullptr) std::printf("  %-24s %s\n", word_name_.c_str(), word_text_.c_str());
    for (const option& o : options_)
      std::printf("  %-24s %s\n", (o.flag != nullptr ? o.name : o.name + " N").c_str(), o.text.c_str());
    std::printf("  %-24s %s\n", "-h, --help", "print this help");
  }

  const char* about_;
  std::vector<option> options_;
  std::string* word_ = nullptr;
  std::string word_name_, word_text_;
};

/// The largest whole number that an option can have. Above it a double cannot represent each whole number.
inline constexpr long long largest_whole = 1LL << 53;

}  // namespace bench
