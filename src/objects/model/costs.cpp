// SPDX-License-Identifier: Apache-2.0
// Reads and writes the costs as lines of the machine profile, and interpolates between the measured sizes.
#include "shared/costs.hpp"

#include <base/shared/parse_number.hpp>

#include <algorithm>
#include <array>
#include <tuple>

namespace sukima::objects::model {
namespace {

constexpr double most_ns_of_cost = 1e12;
constexpr std::array<std::string_view, 5> our_words = {"message", "objects-switch", "objects-wait",
                                                       "objects-sleep", "objects-resume"};

auto order_of(const message_cost& line) { return std::tuple(line.carrier, line.cpus, line.bytes); }

/// Takes the next word of a line; empty at its end.
std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

template <class Number>
bool take_number(std::string_view& line, Number least, Number most, Number& value) {
  const std::optional<Number> read = parse_number<Number>(take_word(line));
  value = read.value_or(value);
  return read && *read >= least && *read <= most;
}

bool take_ns(std::string_view& line, double& value) { return take_number(line, 0.0, most_ns_of_cost, value); }

/// Takes two figures, the lower one first. At the end of the line it takes nothing. \returns false if they
/// are malformed
bool take_quartiles(std::string_view& line, std::optional<quartiles>& into) {
  std::string_view rest = line;
  if (take_word(rest).empty()) return true;
  quartiles found;
  if (!take_ns(line, found.low) || !take_ns(line, found.high) || found.low > found.high) return false;
  into = found;
  return true;
}

bool read_message(std::string_view line, cost_table& into) {
  message_cost cost;
  const std::optional<unit> carrier = unit_called(take_word(line));
  if (!carrier) return false;
  cost.carrier = *carrier;
  if (!take_number<std::size_t>(line, 0, std::size_t{1} << 30, cost.bytes)) return false;
  if (!take_number<unsigned>(line, 1, 65536, cost.cpus)) return false;
  if (!take_ns(line, cost.sender_ns) || !take_ns(line, cost.receiver_ns)) return false;
  std::optional<quartiles> sender, receiver;
  if (!take_quartiles(line, sender) || !take_quartiles(line, receiver)) return false;
  if (sender.has_value() != receiver.has_value()) return false;
  if (sender) cost.spread = {*sender, *receiver};
  into.add(cost);
  return take_word(line).empty();
}

bool read_switch(std::string_view line, std::optional<double>& into, std::optional<quartiles>& around) {
  double value = 0;
  if (!take_ns(line, value)) return false;
  into = value;
  around.reset();
  if (!take_quartiles(line, around)) return false;
  return take_word(line).empty();
}

bool read_sleep(std::string_view line, cost_table& into) {
  const std::string_view where = take_word(line);
  sleep_cost cost;
  if (where != "same" && where != "other") return false;
  if (!take_ns(line, cost.waker_ns) || !take_ns(line, cost.until_ns)) return false;
  (where == "same" ? into.same_cpu : into.other_cpu) = cost;
  return take_word(line).empty();
}

/// Calls `take` with each line, without its newline.
template <class Take>
void each_line(std::string_view text, Take take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string ns_text(double value) {
  std::array<char, 64> memory;
  const auto end = std::to_chars(memory.begin(), memory.end(), value, std::chars_format::fixed, 3).ptr;
  return {memory.begin(), end};
}

std::string quartiles_text(const quartiles& of) { return " " + ns_text(of.low) + " " + ns_text(of.high); }

std::string lines_of(const cost_table& costs) {
  std::string text;
  for (const message_cost& line : costs.messages) {
    text.append("message ").append(name_of(line.carrier)).append(" ");
    text.append(std::to_string(line.bytes)).append(" ").append(std::to_string(line.cpus)).append(" ");
    text.append(ns_text(line.sender_ns)).append(" ").append(ns_text(line.receiver_ns));
    if (line.spread)
      text.append(quartiles_text(line.spread->sender)).append(quartiles_text(line.spread->receiver));
    text += "\n";
  }
  const auto add_switch = [&text](const char* word, const std::optional<double>& cost,
                                  const std::optional<quartiles>& around) {
    if (!cost) return;
    text.append(word).append(" ").append(ns_text(*cost));
    if (around) text.append(quartiles_text(*around));
    text += "\n";
  };
  add_switch("objects-switch", costs.switch_ns, costs.switch_quartiles);
  add_switch("objects-wait", costs.wait_ns, costs.wait_quartiles);
  add_switch("objects-resume", costs.resume_ns, costs.resume_quartiles);
  const auto add_sleep = [&text](const char* where, const std::optional<sleep_cost>& cost) {
    if (!cost) return;
    text.append("objects-sleep ").append(where).append(" ");
    text.append(ns_text(cost->waker_ns)).append(" ").append(ns_text(cost->until_ns)).append("\n");
  };
  add_sleep("same", costs.same_cpu);
  add_sleep("other", costs.other_cpu);
  return text;
}

/// Interpolates linearly between two measured sizes.
message_cost between(const message_cost& low, const message_cost& high, std::size_t bytes) {
  const double part = static_cast<double>(bytes - low.bytes) / static_cast<double>(high.bytes - low.bytes);
  message_cost result = low;
  result.bytes = bytes;
  result.spread.reset();
  result.sender_ns += part * (high.sender_ns - low.sender_ns);
  result.receiver_ns += part * (high.receiver_ns - low.receiver_ns);
  return result;
}

}  // namespace

void cost_table::add(const message_cost& line) {
  const auto at = std::lower_bound(messages.begin(), messages.end(), line,
                                   [](const auto& a, const auto& b) { return order_of(a) < order_of(b); });
  if (at != messages.end() && order_of(*at) == order_of(line)) {
    *at = line;
  } else {
    messages.insert(at, line);
  }
}

void cost_table::merge(const cost_table& other) {
  for (const message_cost& line : other.messages) add(line);
  if (other.switch_ns) {
    switch_ns = other.switch_ns;
    switch_quartiles = other.switch_quartiles;
  }
  if (other.wait_ns) {
    wait_ns = other.wait_ns;
    wait_quartiles = other.wait_quartiles;
  }
  if (other.resume_ns) {
    resume_ns = other.resume_ns;
    resume_quartiles = other.resume_quartiles;
  }
  if (other.same_cpu) same_cpu = other.same_cpu;
  if (other.other_cpu) other_cpu = other.other_cpu;
}

bool cost_table::knows(unit carrier) const {
  return std::any_of(messages.begin(), messages.end(),
                     [carrier](const message_cost& line) { return line.carrier == carrier; });
}

message_cost cost_table::of(unit carrier, std::size_t bytes, unsigned cpus) const {
  unsigned measured = 0;
  for (const message_cost& line : messages) {
    // The lines are in ascending order, so the first one is the smallest.
    if (line.carrier == carrier && (measured == 0 || line.cpus <= cpus)) measured = line.cpus;
  }
  const message_cost* low = nullptr;
  for (const message_cost& line : messages) {
    if (line.carrier != carrier || line.cpus != measured) continue;
    if (line.bytes >= bytes) return low != nullptr && line.bytes > bytes ? between(*low, line, bytes) : line;
    low = &line;
  }
  message_cost result = *low;
  result.spread.reset();
  const double factor =
      static_cast<double>(bytes) / static_cast<double>(std::max<std::size_t>(low->bytes, 1));
  result.sender_ns *= factor;
  result.receiver_ns *= factor;
  return result;
}

cost_table parse_costs(std::string_view profile) {
  cost_table result;
  std::size_t number = 0;
  bool ended = false;
  each_line(profile, [&](std::string_view line) {
    number++;
    ended = ended || line == "end";
    if (ended) return;
    const std::string_view word = take_word(line);
    const bool good = word == our_words[0]   ? read_message(line, result)
                      : word == our_words[1] ? read_switch(line, result.switch_ns, result.switch_quartiles)
                      : word == our_words[2] ? read_switch(line, result.wait_ns, result.wait_quartiles)
                      : word == our_words[3] ? read_sleep(line, result)
                      : word == our_words[4] ? read_switch(line, result.resume_ns, result.resume_quartiles)
                                             : true;
    if (!good)
      throw costs_error(
          "line " + std::to_string(number) +
          " of the machine profile is malformed; run 'sukima objects calibrate' to measure again");
  });
  return result;
}

std::string profile_with_costs(std::string_view profile, const cost_table& costs) {
  std::string text;
  bool ended = false;
  each_line(profile, [&](std::string_view line) {
    if (ended) return;
    std::string_view rest = line;
    const std::string_view word = take_word(rest);
    if (std::find(our_words.begin(), our_words.end(), word) != our_words.end()) return;
    ended = line == "end";
    if (ended) text += lines_of(costs);
    text.append(line).append("\n");
  });
  if (!ended) throw costs_error("the machine profile has no line 'end'; measure it again");
  return text;
}

}  // namespace sukima::objects::model
