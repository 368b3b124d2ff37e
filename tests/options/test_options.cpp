// SPDX-License-Identifier: Apache-2.0
#include "test_options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace sukima_test {

namespace {

/// The largest number that fits.
std::uint64_t largest(const test_options::place& where) {
  if (std::holds_alternative<unsigned*>(where)) return std::numeric_limits<unsigned>::max();
  if (std::holds_alternative<int*>(where)) return std::numeric_limits<int>::max();
  return std::numeric_limits<std::uint64_t>::max();
}

/// The default of an option, for `--help`.
std::string default_of(const test_options::place& where) {
  if (const auto* const large = std::get_if<std::uint64_t*>(&where)) return std::to_string(**large);
  if (const auto* const small = std::get_if<unsigned*>(&where)) return std::to_string(**small);
  if (const auto* const number = std::get_if<int*>(&where)) return std::to_string(**number);
  if (const auto* const text = std::get_if<std::string*>(&where)) return **text;
  return {};
}

/// Sets a number or a text. \returns whether it is one that fits
bool set(const test_options::place& where, std::string_view word, std::uint64_t least, std::uint64_t most) {
  if (const auto* const text = std::get_if<std::string*>(&where)) {
    **text = word;
    return true;
  }
  std::uint64_t number = 0;
  const char* const end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, number);
  if (error != std::errc() || rest != end || number < least || number > most) return false;
  if (const auto* const large = std::get_if<std::uint64_t*>(&where)) **large = number;
  if (const auto* const small = std::get_if<unsigned*>(&where)) **small = static_cast<unsigned>(number);
  if (const auto* const signed_one = std::get_if<int*>(&where)) **signed_one = static_cast<int>(number);
  return true;
}

test_options::outcome refuse(std::string text) { return {true, 2, std::move(text) + "; see --help\n"}; }

}  // namespace

void test_options::add(std::string_view name, place where, std::string_view about, std::uint64_t least,
                       std::uint64_t most) {
  options_.push_back({name, where, about, least, std::min(most, largest(where))});
}

test_options::option* test_options::find(std::string_view name) {
  const auto found =
      std::find_if(options_.begin(), options_.end(), [&](const option& o) { return o.name == name; });
  return found == options_.end() ? nullptr : &*found;
}

std::string test_options::help() const {
  std::string text(about_);
  text += '\n';
  for (const option& o : options_) {
    text += "  " + std::string(o.name);
    if (const std::string value = default_of(o.where); !value.empty()) text += " [" + value + "]";
    text += "  " + std::string(o.about) + '\n';
  }
  return text;
}

test_options::outcome test_options::read(const std::vector<std::string_view>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--help" || words[i] == "-h") return {true, 0, help()};
    const std::size_t equals = words[i].find('=');
    const std::string name(words[i].substr(0, equals));
    option* const found = find(name);
    if (found == nullptr) return refuse("there is no option '" + name + "'");
    if (found->is_given) return refuse(name + " is given twice");
    found->is_given = true;
    if (bool* const* const flag = std::get_if<bool*>(&found->where)) {
      if (equals != std::string_view::npos) return refuse(name + " takes no value");
      **flag = true;
      continue;
    }
    if (equals == std::string_view::npos && i + 1 == words.size()) return refuse(name + " needs a value");
    const std::string_view value =
        equals == std::string_view::npos ? words[++i] : words[i].substr(equals + 1);
    if (!set(found->where, value, found->least, found->most))
      return refuse(name + " is '" + std::string(value) + "': give a number from " +
                    std::to_string(found->least) + " to " + std::to_string(found->most));
  }
  for (const auto& [one, other] : excluded_)
    if (find(one)->is_given && find(other)->is_given)
      return refuse("leave out " + std::string(one) + " or " + std::string(other));
  return {};
}

void test_options::read_or_exit(int count, const char* const* arguments) {
  const outcome found = read({arguments + 1, arguments + count});
  if (!found.ends) return;
  std::fputs(
      found.exit_code == 0 ? found.text.c_str() : (std::string(arguments[0]) + ": " + found.text).c_str(),
      found.exit_code == 0 ? stdout : stderr);
  std::exit(found.exit_code);
}

}  // namespace sukima_test
