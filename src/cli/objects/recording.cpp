// SPDX-License-Identifier: Apache-2.0
// Computes a description from counts; see recording.hpp.
#include "objects/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <vector>

#include "shared/console.hpp"

namespace sukima::cli::objects {
namespace {

namespace model = sukima::objects::model;

constexpr std::size_t before_input = std::numeric_limits<std::size_t>::max();
constexpr double most_last = 0.05;  // part of the messages that may be last messages of senders

/// The counts of one object.
struct seen_object {
  model::object as;  ///< its name, times, wish and inputs
  double activations = 0;
  std::map<std::size_t, double> received;  ///< by stream
  std::map<std::size_t, std::map<std::size_t, double>> sent;  ///< by stream, then by input or before_input

  double all_received() const {
    double all = 0;
    for (const auto& [unused, messages] : received) all += messages;
    return all;
  }
};

double all_of(const std::map<std::size_t, double>& by_input) {
  double all = 0;
  for (const auto& [unused, messages] : by_input) all += messages;
  return all;
}

double first_of(const std::map<std::size_t, double>& by_input) {
  const auto found = by_input.find(before_input);
  return found == by_input.end() ? 0 : found->second;
}

[[noreturn]] void fail_to_read() {
  throw process::usage_error(
      "the recording is not complete: the program ended before its objects had, or uses another version of "
      "the library");
}

class recording_reader {
 public:
  recording_reader(std::string_view text, model::description& into)
      : lines_(std::string(text)), into_(into) {}

  std::vector<seen_object> read() {
    std::string line;
    if (!std::getline(lines_, line) || line != "sukima-objects-recording 1") fail_to_read();
    while (std::getline(lines_, line)) {
      if (line == "end") return std::move(objects_);
      read_line(line);
    }
    fail_to_read();
  }

 private:
  static std::string rest_of(std::istringstream& line) {
    std::string rest;
    const bool has_blank = line.get() == ' ';
    std::getline(line, rest);
    if (has_blank) line.clear();  // a name may be empty; the check of the description refuses it
    return rest;
  }
  std::size_t known_stream(const std::string& word) const {
    const std::size_t number = static_cast<std::size_t>(std::stoul(word));
    if (number >= into_.streams.size()) fail_to_read();
    return number;
  }
  seen_object& last() {
    if (objects_.empty()) fail_to_read();
    return objects_.back();
  }

  void read_line(const std::string& text) {
    std::istringstream line(text);
    std::string word, detail;
    line >> word;
    if (word == "seen") {
      double seconds = 0;
      line >> seconds >> detail;
      if (detail == "failed")
        throw process::usage_error(
            "the program's objects failed, so there is nothing to plan: fix the program, then record it "
            "again");
      into_.recorded = {seconds, detail == "whole"};
    } else if (word == "stream") {
      model::stream one;
      line >> one.bytes >> one.capacity >> detail;
      one.local = detail == "local";
      one.name = rest_of(line);
      into_.streams.push_back(std::move(one));
    } else if (word == "object") {
      seen_object one;
      line >> one.activations >> one.as.compute_ns >> one.as.spread_ns;
      one.as.name = rest_of(line);
      objects_.push_back(std::move(one));
    } else if (word == "blocks") {
      line >> last().as.blocked_ns;
    } else if (word == "group") {
      last().as.group = rest_of(line);
    } else if (word == "receives") {
      double messages = 0;
      line >> detail >> messages;
      last().as.receives.push_back(known_stream(detail));
      last().received[known_stream(detail)] += messages;
    } else if (word == "sends") {
      std::string input;
      double messages = 0;
      line >> detail >> input >> messages;
      last().sent[known_stream(detail)][input == "first" ? before_input : known_stream(input)] += messages;
    } else {
      fail_to_read();
    }
    if (!line) fail_to_read();
  }

  std::istringstream lines_;
  model::description& into_;
  std::vector<seen_object> objects_;
};

/// Messages per computation. The last computation in the recording may not have sent yet. So a quotient that
/// close to a whole number is rounded to it.
double per_input(double messages, double computations) {
  if (computations <= 0) return 0;
  const double whole = std::max(1.0, std::round(messages / computations));
  if (std::abs(messages - whole * computations) <= whole + 0.5) return whole;
  return messages / computations;
}

/// Rounds fractions after the same input that nearly add up to whole messages, so that they do. The missing
/// parts are the last messages of senders, such as those with which clients report that they send no more
/// requests. Without this correction a request would be lost now and then in the simulation, and its client
/// would wait forever.
void complete_fractions(seen_object& one, const std::vector<double>& senders) {
  std::map<std::optional<std::size_t>, double> sums;
  for (const model::sending& send : one.as.sends)
    sums[send.input] += send.per_input - std::floor(send.per_input);
  double all_senders = 0;
  for (const std::size_t input : one.as.receives) all_senders += senders[input];
  for (const auto& [input, sum] : sums) {
    const double computations = input ? one.received[*input] : one.as.starts + one.all_received();
    const double last = (input ? senders[*input] : all_senders) + 0.5;
    const double whole = std::round(sum), missing = std::abs(sum - whole) * computations;
    if (whole == 0 || missing == 0 || missing > std::min(last, most_last * computations)) continue;
    for (model::sending& send : one.as.sends) {
      const double fraction = send.per_input - std::floor(send.per_input);
      if (send.input == input) send.per_input += fraction * (whole / sum - 1);
    }
  }
}

/// Number of computations without an input: they send the messages before the first input.
double starts_of(const seen_object& one) {
  double starts = 0;
  for (const auto& [unused, by_input] : one.sent) {
    const double first = first_of(by_input), later = all_of(by_input) - first;
    if (first <= 0) continue;
    const double each = later > 0 ? later / std::max(1.0, one.all_received()) : first;
    starts = std::max({starts, 1.0, std::round(first / each)});
  }
  return starts;
}

void describe_source(seen_object& one) {
  one.as.starts = std::max(1.0, one.activations);
  for (const auto& [stream, by_input] : one.sent)
    one.as.sends.push_back({stream, all_of(by_input) / one.as.starts, {}});
}

/// Number of messages that the object sends, over all streams, after one message of each input: a whole
/// number, equal for all inputs. Nothing: the numbers differ.
std::optional<double> messages_each_time(const seen_object& one) {
  std::optional<double> same;
  for (const auto& [input, received] : one.received) {
    double messages = 0;
    for (const auto& [unused, by_input] : one.sent)
      if (const auto found = by_input.find(input); found != by_input.end()) messages += found->second;
    const double each = per_input(messages, received);
    if (received == 0) continue;
    if (each != std::round(each) || each != same.value_or(each)) return std::nullopt;
    same = each;
  }
  return same;
}

/// Describes a client that sends each request to one of several servers, where its input does not determine
/// which one. Fractions that do not depend on the input always add up to a whole message. Fractions of each
/// input would be drawn separately: where they add up to less than a message, the client would send no
/// request and wait forever.
bool describe_choice(seen_object& one) {
  double first = 0, all = 0;
  for (const auto& [unused, by_input] : one.sent) {
    first += first_of(by_input);
    all += all_of(by_input);
  }
  if (one.received.size() < 2 || first == 0) return false;
  const std::optional<double> each = messages_each_time(one);
  if (!each || *each == 0) return false;
  one.as.starts = std::max(1.0, std::round(first / *each));
  for (const auto& [stream, by_input] : one.sent)
    one.as.sends.push_back({stream, all_of(by_input) / all * *each, {}});
  one.as.activations = std::max(one.as.starts, std::round(all / *each));
  return true;
}

void describe_server(seen_object& one) {
  if (describe_choice(one)) return;
  one.as.starts = starts_of(one);
  const double computations = one.as.starts + one.all_received();
  const bool several = one.received.size() > 1;
  double until_the_end = 0;
  for (const auto& [stream, by_input] : one.sent) {
    if (several && first_of(by_input) == 0 && all_of(by_input) > 0) {
      for (const auto& [input, messages] : by_input)
        if (messages > 0) one.as.sends.push_back({stream, per_input(messages, one.received[input]), input});
      continue;
    }
    const double messages = all_of(by_input);
    const double each = messages > 0 ? per_input(messages, computations) : 0;
    one.as.sends.push_back({stream, each, {}});
    if (first_of(by_input) > 0) until_the_end = std::max(until_the_end, std::round(messages / each));
  }
  if (one.as.starts > 0) one.as.activations = std::max(one.as.starts, until_the_end);
}

/// Gives each of the objects the same part of the messages and activations of all of them. Their times are
/// averaged, weighted by the number of activations.
void share_equally(const std::vector<seen_object*>& alike) {
  const auto part = 1 / static_cast<double>(alike.size());
  seen_object all;
  double sum = 0, squares = 0, blocked = 0;
  for (const seen_object* const one : alike) {
    all.activations += one->activations;
    sum += one->activations * one->as.compute_ns;
    blocked += one->activations * one->as.blocked_ns;
    squares +=
        one->activations * (one->as.compute_ns * one->as.compute_ns + one->as.spread_ns * one->as.spread_ns);
    for (const auto& [stream, messages] : one->received) all.received[stream] += part * messages;
    for (const auto& [stream, by_input] : one->sent)
      for (const auto& [input, messages] : by_input) all.sent[stream][input] += part * messages;
  }
  const double mean = all.activations > 0 ? sum / all.activations : 0;
  const double variance = all.activations > 0 ? squares / all.activations - mean * mean : 0;
  for (seen_object* const one : alike) {
    one->activations = part * all.activations;
    one->received = all.received;
    one->sent = all.sent;
    one->as.compute_ns = mean;
    one->as.blocked_ns = all.activations > 0 ? blocked / all.activations : 0;
    one->as.spread_ns = std::sqrt(std::max(0.0, variance));
  }
}

/// Makes objects that share all their inputs and outputs equal. Which of them receives a message depends on
/// the execution model: in a recorded run all objects take turns, so the first of several workers may receive
/// all messages. With more CPUs each of them receives some, and computes for the same time per message.
void share_inputs(std::vector<seen_object>& seen) {
  using ends = std::pair<std::vector<std::size_t>, std::vector<std::size_t>>;
  std::map<ends, std::vector<seen_object*>> alike;
  for (seen_object& one : seen) {
    ends of;
    bool begins = false;
    for (const auto& [stream, unused] : one.received) of.first.push_back(stream);
    for (const auto& [stream, by_input] : one.sent) {
      of.second.push_back(stream);
      begins |= first_of(by_input) > 0;
    }
    if (!one.received.empty() && !begins) alike[of].push_back(&one);
  }
  for (const auto& [unused, objects] : alike)
    if (objects.size() > 1) share_equally(objects);
}

/// Sets the number of messages of each stream, which bounds cycles that nothing else bounds.
void add_messages(model::description& to, const std::vector<seen_object>& seen) {
  for (std::size_t stream = 0; stream < to.streams.size(); stream++) {
    double messages = 0;
    for (const seen_object& one : seen)
      if (const auto found = one.sent.find(stream); found != one.sent.end())
        messages += all_of(found->second);
    to.streams[stream].messages = messages;
  }
}

}  // namespace

model::description description_of(std::string_view recording, const std::string& program) {
  model::description result;
  result.program = program;
  std::vector<seen_object> seen;
  try {
    seen = recording_reader(recording, result).read();
  } catch (const std::logic_error&) {  // the number of a stream that does not exist
    fail_to_read();
  }
  share_inputs(seen);
  std::vector<double> senders(result.streams.size());
  for (const seen_object& one : seen)
    for (const auto& [stream, by_input] : one.sent) senders[stream] += all_of(by_input) > 0 ? 1 : 0;
  for (seen_object& one : seen) {
    if (one.received.empty()) {
      describe_source(one);
    } else {
      describe_server(one);
      complete_fractions(one, senders);
    }
    result.objects.push_back(one.as);
  }
  // Refuses here, not later in a planner, a recording that a description cannot express.
  model::description checked = model::parse_description(model::description_text(result));
  try {
    model::flow_of(checked);
  } catch (const model::description_error&) {
    add_messages(checked, seen);
    model::flow_of(checked);
  }
  return checked;
}

}  // namespace sukima::cli::objects
