// SPDX-License-Identifier: Apache-2.0
// Builds events from the findings of the JSON parser; see trace_events.hpp.
#include "explain/trace_events.hpp"

#include <base/shared/assert.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "shared/console.hpp"

namespace sukima::cli::explain {
namespace {

/// A key of the file, and the member of `event` that holds its value.
template <class Value> struct key_of {
  std::string_view key;
  Value event::* member;
};
using count = std::optional<std::uint64_t>;

constexpr key_of<std::string> texts[] = {
    {"ph", &event::ph}, {"name", &event::name}, {"cat", &event::category}};
constexpr key_of<std::optional<double>> times[] = {{"ts", &event::ts}, {"dur", &event::dur}};
constexpr key_of<count> counts[] = {{"tid", &event::tid}};
constexpr key_of<std::string> texts_of_args[] = {{"name", &event::shown_name},
                                                 {"what", &event::setting},
                                                 {"reason", &event::reason},
                                                 {"place", &event::place}};
constexpr key_of<count> counts_of_args[] = {{"runtime", &event::runtime},
                                            {"victim", &event::victim},
                                            {"before", &event::before},
                                            {"after", &event::after},
                                            {"depth", &event::depth},
                                            {"expected_ns", &event::expected_ns},
                                            {"clones", &event::clones},
                                            {"served", &event::served},
                                            {"left_for_work", &event::left_for_work},
                                            {"left_for_abort", &event::left_for_abort}};
constexpr key_of<bool> flags_of_args[] = {{"full", &event::full}};

class event_reader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  event_reader(std::string_view file, std::size_t size, const std::function<void(event&)>& take)
      : file_(file), size_(size), take_(take) {}

  /// Returns whether the text had a list of events.
  bool has_events() const { return has_events_; }

  bool null() override { return true; }
  bool boolean(bool value) override {
    if (depth_ == in_args) put(flags_of_args, value);
    return true;
  }
  bool number_integer(number_integer_t) override { return true; }  // negative numbers are not needed
  bool number_unsigned(number_unsigned_t value) override {
    if (depth_ == in_args) {
      put(counts_of_args, value);
    } else if (depth_ == in_event) {
      put(counts, value);
      put(times, static_cast<double>(value));
    }
    return true;
  }
  bool number_float(number_float_t value, const string_t&) override {
    if (depth_ == in_event) put(times, value);
    return true;
  }
  bool string(string_t& value) override {
    if (depth_ == in_args) put(texts_of_args, value);
    if (depth_ == in_event) put(texts, value);
    return true;
  }
  bool binary(binary_t&) override { return true; }
  bool key(string_t& name) override {
    if (depth_ == 1) is_event_list_ = name == "traceEvents";
    if (skipped_ == 0) key_ = name;
    return true;
  }
  bool start_object(std::size_t) override {
    const bool is_event = depth_ == in_list;
    const bool is_args = depth_ == in_event && key_ == "args";
    ++skipped_or_depth(is_event || is_args || depth_ == 0);
    if (is_event) event_ = {};
    return true;
  }
  bool end_object() override {
    if (skipped_ != 0) {
      --skipped_;
      return true;
    }
    if (depth_ == in_event) take_(event_);
    SUKIMA_ASSERT(depth_ > 0 && depth_ <= in_args, "an object that ends has begun");
    --depth_;
    key_.clear();
    return true;
  }
  bool start_array(std::size_t) override {
    const bool is_list = depth_ == 1 && is_event_list_;
    ++skipped_or_depth(is_list);
    if (is_list && skipped_ == 0) has_events_ = true;
    return true;
  }
  bool end_array() override {
    if (skipped_ != 0) {
      --skipped_;
      return true;
    }
    SUKIMA_ASSERT(depth_ == in_list, "only the list of events is entered");
    --depth_;
    is_event_list_ = false;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    if (position > size_ && position > 1)
      throw process::usage_error(fmt::format("'{}' is cut off: its JSON does not end", file_));
    throw process::usage_error(fmt::format("'{}' is not JSON (byte {})", file_, position));
  }

 private:
  // Depth 1 is the outermost object.
  static constexpr unsigned in_list = 2;
  static constexpr unsigned in_event = 3;
  static constexpr unsigned in_args = 4;

  /// The counter to use for a nested value: values that are not known are skipped as a whole.
  unsigned& skipped_or_depth(bool known) { return known && skipped_ == 0 ? depth_ : skipped_; }

  /// Stores a value if its key is one of these.
  template <class Value, std::size_t N> void put(const key_of<Value> (&keys)[N], const auto& value) {
    if (skipped_ != 0) return;
    const auto* const found = std::ranges::find(keys, key_, &key_of<Value>::key);
    if (found != std::end(keys)) event_.*(found->member) = value;
  }

  std::string_view file_;
  std::size_t size_;
  const std::function<void(event&)>& take_;
  event event_;
  std::string key_;
  unsigned depth_ = 0;
  unsigned skipped_ = 0;
  bool is_event_list_ = false;
  bool has_events_ = false;
};

}  // namespace

void read_events(std::string_view text, std::string_view file, const std::function<void(event&)>& take) {
  event_reader reader(file, text.size(), take);
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  if (!reader.has_events())
    throw process::usage_error(
        fmt::format("'{}' is JSON but not a trace: it has no list 'traceEvents'", file));
}

}  // namespace sukima::cli::explain
