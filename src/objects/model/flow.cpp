// SPDX-License-Identifier: Apache-2.0
// Computes how often each object computes, and how many messages each stream carries, in a whole run.
#include <algorithm>
#include <cmath>

#include "shared/description.hpp"

namespace sukima::objects::model {
namespace {

/// Returns the number of messages that each receiver of a stream gets: the receivers share them.
double share_of(const stream& from, double messages) {
  return messages / static_cast<double>(from.receivers.size());
}

/// Makes one round: computes the activations from the messages of the streams, then the messages from the
/// activations.
flow next_round(const description& program, const flow& before) {
  flow after{std::vector<double>(program.objects.size()), std::vector<double>(program.streams.size())};
  for (std::size_t number = 0; number < program.objects.size(); number++) {
    const object& one = program.objects[number];
    double arriving = 0;
    for (const std::size_t input : one.receives)
      arriving += share_of(program.streams[input], before.messages[input]);
    const double all = one.activations.value_or(one.starts + arriving);
    after.activations[number] = all;
    for (const sending& send : one.sends) {
      double times = all;
      if (send.input) {
        // An object with `activations` computes that often, even if more or fewer messages arrive.
        const double part = share_of(program.streams[*send.input], before.messages[*send.input]);
        times = arriving > 0 ? std::max(0.0, all - one.starts) * part / arriving : 0;
      }
      after.messages[send.stream] += times * send.per_input;
    }
  }
  for (std::size_t number = 0; number < program.streams.size(); number++) {
    if (const auto& declared = program.streams[number].messages) after.messages[number] = *declared;
  }
  return after;
}

/// Returns the first stream whose numbers of messages differ; null if there is none.
const stream* first_difference(const description& program, const flow& one, const flow& other) {
  for (std::size_t number = 0; number < program.streams.size(); number++) {
    const double difference = std::abs(one.messages[number] - other.messages[number]);
    if (difference > 1e-6 * std::max(1.0, one.messages[number])) return &program.streams[number];
  }
  return nullptr;
}

}  // namespace

flow flow_of(const description& program) {
  flow now{std::vector<double>(program.objects.size()), std::vector<double>(program.streams.size())};
  const stream* changing = nullptr;
  for (std::size_t round = 0; round < program.objects.size() + 2; round++) {
    flow next = next_round(program, now);
    changing = first_difference(program, next, now);
    now = std::move(next);
    if (changing == nullptr) return now;
  }
  throw description_error(
      "the stream '" + changing->name +
      "' is part of a cycle: give one object of the cycle 'activations', or the stream 'messages'");
}

}  // namespace sukima::objects::model
