// SPDX-License-Identifier: Apache-2.0
// Counts messages and times computing; see recording.hpp.
#include "recording/recording.hpp"

#include <base/shared/parse_number.hpp>
#include <base/shared/plain_numbers.hpp>
#include <runtime/shared/bad_setting.hpp>
#include <runtime/shared/start_thread.hpp>
#include <sukima/detail/own_thread.hpp>
#include <sukima/detail/ticks.hpp>

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include "program/program_core.hpp"
#include "recording/measured_cost.hpp"
#include "schedule/island.hpp"

namespace sukima::objects::detail {

namespace {

/// Each of the first `all_timed` activations is timed; of the later ones, one in `timed_one_in`.
constexpr double all_timed = 64;
constexpr std::uint64_t timed_one_in = 16;
/// From this number of activations on, the first ones do not count, because they ran with cold caches.
constexpr double enough = 1024;

std::uint64_t index_of(const recorded_object& one) noexcept {
  // no partner: the token of the island orders the accesses, so a holder reads the values of earlier holders
  return (one.is_out ? one.stream->words->tail : one.stream->words->head).load(std::memory_order_relaxed);
}

/// Returns the element for that stream, which is added if it is missing.
recorded_input& find(std::vector<recorded_input>& in, const stream_core* s) {
  for (recorded_input& one : in)
    if (one.stream == s) return one;
  return in.emplace_back(recorded_input{s, 0});
}
recorded_output& find(std::vector<recorded_output>& in, const stream_core* s, const stream_core* input) {
  for (recorded_output& one : in)
    if (one.stream == s && one.input == input) return one;
  return in.emplace_back(recorded_output{s, input, 0});
}

/// Returns the name as a line. Each of its newlines becomes another control character, so that the
/// description refuses the name. With a readable character, a plan would name an object that the program does
/// not have.
std::string one_line(std::string name) {
  std::replace(name.begin(), name.end(), '\n', '\t');
  return name + "\n";
}

recorded_side side_of(bool out) noexcept { return out ? recorded_side::sending : recorded_side::receiving; }

/// Reads the clock and the counter at one moment: of several tries the least interrupted one counts.
std::pair<clock::time_point, std::uint64_t> read_both() noexcept {
  std::pair<clock::time_point, std::uint64_t> best;
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t before = sukima::detail::ticks();
    const clock::time_point now = clock::now();
    const std::uint64_t after = sukima::detail::ticks();
    if (after - before > least) continue;
    least = after - before;
    best = {now, before};
  }
  return best;
}

}  // namespace

std::unique_ptr<recording> recording::wanted(runtime& on) {
  const char* const wish = secure_getenv("SUKIMA_OBJECTS_RECORD");
  if (wish == nullptr || *wish == '\0') return nullptr;
  const std::string_view text = wish;
  const std::size_t colon = std::min(text.find(':'), text.size());
  const auto seconds = parse_number<double>(text.substr(0, colon));
  if (!seconds || !(*seconds > 0 && *seconds <= 1e6) || colon + 1 >= text.size())
    sukima::detail::throw_bad_setting("SUKIMA_OBJECTS_RECORD=" + std::string(text) +
                                      ": it must be SECONDS:FILE, with a number of seconds above 0 and "
                                      "at most 1000000");
  const std::string path(text.substr(colon + 1));
  descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file && errno == EEXIST) return nullptr;
  if (!file)
    sukima::detail::throw_bad_setting("SUKIMA_OBJECTS_RECORD=" + std::string(text) +
                                      ": the file cannot be made: " + std::strerror(errno));
  return std::make_unique<recording>(*seconds, std::move(file), measure_recording_cost(on));
}

recording::recording(double seconds, descriptor file, const recording_cost& cost)
    : seconds_(seconds), file_(std::move(file)), cost_(cost) {}

recording::~recording() { end(true); }

void recording::begin(program_core& of) {
  of_ = &of;
  objects_.resize(of.objects.size());
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    object_core& o = *of.objects[i];
    o.recorded = &objects_[i];
    // No ambient state has this address, so every operation calls find_user.
    o.recognized = reinterpret_cast<const sukima::detail::ambient_state*>(&o);
    o.home->budget = 0;  // so every operation calls turn_over
    for (const held_end& e : o.ends) {
      if (e.is_out)
        find(objects_[i].outputs, e.stream, nullptr);
      else
        find(objects_[i].inputs, e.stream);
    }
  }
  std::tie(began_, began_ticks_) = read_both();
  if (!file_) return;
  const sukima::detail::signals_blocked here;
  thread_ = sukima::detail::start_thread("a recording", [this] { watch(); });
}

void recording::watch() {
  pthread_setname_np(pthread_self(), "sukima-record");
  std::unique_lock hold(lock_);
  if (ended_.wait_for(hold, std::chrono::duration<double>(seconds_), [this] { return ends_; })) return;
  write("part");
  _exit(0);
}

void recording::end(bool failed) {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard hold(lock_);
    ends_ = true;
    write(failed ? "failed" : "whole");
  }
  ended_.notify_all();
  thread_.join();
}

void recording::start(object_core& me) { begin_interval(*me.recorded); }

void recording::begin_interval(recorded_object& one) noexcept {
  if (one.sampled || one.at_end) off_cpu_.before_interval(sukima::detail::ticks(), read_thread_clocks);
  one.mark = sukima::detail::ticks();
}

/// Called when the object stops computing. \param after the operation that begins; empty: the object sleeps
/// or ends
void recording::add_interval(recorded_object& one, std::optional<recorded_side> after) {
  if (one.inside || !(one.sampled || one.at_end)) return;
  const std::uint64_t ticks = sukima::detail::ticks() - one.mark;
  const lost_time lost = off_cpu_.after_interval(ticks, read_thread_clocks);
  const double passed = static_cast<double>(ticks) - lost.preempted - lost.blocked;
  (one.at_end ? one.blocked_after_end : one.blocked) += lost.blocked;
  const std::optional<recorded_side> before =
      one.stream != nullptr ? std::optional(side_of(one.is_out)) : std::nullopt;
  (one.at_end ? one.after_end : one.computed) += passed - cost_.between(before, after, one.has_waited);
  if (!file_ && before && after)
    (one.has_waited ? one.intervals_after_waits : one.intervals).push_back(passed);
}

void recording::pause(object_core& me) {
  add_interval(*me.recorded, std::nullopt);
  // The next interval does not begin at an operation.
  me.recorded->stream = nullptr;
  me.recorded->has_waited = false;
}

void recording::begin_operation(object_core& me, const stream_core& s, bool out) {
  recorded_object& one = *me.recorded;
  add_interval(one, side_of(out));
  // A select tries its cases again after a wait.
  if (!std::exchange(one.inside, true)) one.has_waited = false;
  one.stream = &s;
  one.is_out = out;
  one.index = index_of(one);
}

void recording::look_at_index(recorded_object& one) noexcept {
  if (one.stream != nullptr) one.index = index_of(one);
}

void recording::waited(object_core& me) {
  recorded_object& one = *me.recorded;
  one.has_waited = one.inside;
  look_at_index(one);
}

void recording::end_activation(recorded_object& one) {
  one.activations += one.batch;
  if (one.sampled) one.times.add(one.batch, one.computed, one.blocked);
  if (one.activations <= all_timed) {
    one.first_times = one.times;
  } else {  // at random (Marsaglia's xorshift), because an object may do the same every 16 messages
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    one.sampled = random_ % timed_one_in == 0;
  }
  one.computed = one.blocked = 0;
  one.batch = 1;
}

void recording::count(recorded_object& one, double messages) {
  if (one.is_out) {
    find(one.outputs, one.stream, one.input).messages += messages;
    if (one.input == nullptr) {
      one.batch = messages;
      end_activation(one);
    }
  } else {
    if (one.input != nullptr) end_activation(one);
    one.at_end = false;
    publish_after_end(one);
    one.computed = one.blocked = 0;
    one.batch = messages;
    one.input = one.stream;
    find(one.inputs, one.stream).messages += messages;
  }
}

/// Copies the times after the end of the inputs. The caller holds the lock.
void recording::publish_after_end(recorded_object& one) noexcept {
  one.last_ticks = one.after_end;
  one.last_blocked = one.blocked_after_end;
}

std::uint64_t recording::finish_operation(recorded_object& one) {
  const std::uint64_t now = index_of(one);
  const std::uint64_t messages = now - one.index;
  one.index = now;
  one.inside = false;
  if (messages != 0) {
    const std::lock_guard hold(lock_);
    count(one, static_cast<double>(messages));
  } else if (!one.is_out && one.stream != nullptr) {
    one.at_end = (one.stream->now() & stream_core::closed) != 0 && !one.stream->has_message();
  }
  return messages;
}

bool recording::end_operation(object_core& me) {
  const std::uint64_t messages = finish_operation(*me.recorded);
  // An attempt without a message is a poll, too.
  in_slice_ += static_cast<unsigned>(std::clamp<std::uint64_t>(messages, 1, island::slice));
  if (in_slice_ >= island::slice) {
    in_slice_ = 0;
    return true;
  }
  go_on(me);
  return false;
}

void recording::leave_operation(object_core& me) {
  finish_operation(*me.recorded);
  go_on(me);
}

void recording::go_on(object_core& me) {
  look_at_index(*me.recorded);
  begin_interval(*me.recorded);
}

void recording::finish(object_core& me) {
  pause(me);
  recorded_object& one = *me.recorded;
  const bool has_sent =
      std::any_of(one.outputs.begin(), one.outputs.end(), [](const auto& o) { return o.messages > 0; });
  const std::lock_guard hold(lock_);
  if (one.input != nullptr || !has_sent) end_activation(one);
  publish_after_end(one);
}

std::string recording::text(const char* part) const {
  const plain_numbers here;
  const auto [now, now_ticks] = read_both();
  const double seconds = std::chrono::duration<double>(now - began_).count();
  const double ns_a_tick = 1e9 * seconds / std::max(1.0, static_cast<double>(now_ticks - began_ticks_));
  const auto number_of = [this](const stream_core* s) {
    const auto found = std::find_if(of_->streams.begin(), of_->streams.end(),
                                    [s](const auto& one) { return one.get() == s; });
    return std::to_string(found - of_->streams.begin());
  };
  std::string text = "sukima-objects-recording 1\nseen " + std::to_string(seconds) + " " + part + "\n";
  for (const auto& s : of_->streams)
    text += "stream " + std::to_string(s->slot_size) + " " + std::to_string(s->capacity) + " " +
            (of_->has_arguments && s->to_processes != stream_core::journey::none ? "travels " : "local ") +
            one_line(s->name);
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    const recorded_object& one = objects_[i];
    const bool warm = one.activations >= enough && one.times.count > one.first_times.count;
    const recorded_times times = warm ? one.times.after(one.first_times) : one.times;
    const double all = std::max(1.0, one.activations);
    const double mean = times.mean() + std::max(0.0, one.last_ticks) / all;
    const double blocked = times.mean_blocked() + one.last_blocked / all;
    text += "object " + std::to_string(one.activations) + " " + std::to_string(mean * ns_a_tick) + " " +
            std::to_string(times.spread() * ns_a_tick) + " " + one_line(of_->objects[i]->name);
    if (blocked > 0) text += "blocks " + std::to_string(blocked * ns_a_tick) + "\n";
    if (!of_->objects[i]->group.empty()) text += "group " + one_line(of_->objects[i]->group);
    for (const recorded_input& in : one.inputs)
      text += "receives " + number_of(in.stream) + " " + std::to_string(in.messages) + "\n";
    for (const recorded_output& out : one.outputs)
      text += "sends " + number_of(out.stream) + " " +
              (out.input != nullptr ? number_of(out.input) : std::string("first")) + " " +
              std::to_string(out.messages) + "\n";
  }
  return text + "end\n";
}

void recording::write(const char* part) {
  const std::string all = text(part);
  std::size_t done = 0;
  while (done < all.size()) {
    const ssize_t now = ::write(file_.get(), all.data() + done, all.size() - done);
    if (now < 0 && errno != EINTR) return;  // the reader will not find the line `end`
    if (now > 0) done += static_cast<std::size_t>(now);
  }
}

}  // namespace sukima::objects::detail
