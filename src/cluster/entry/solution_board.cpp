// SPDX-License-Identifier: Apache-2.0
#include "entry/solution_board.hpp"

#include "protocol/reader.hpp"

#include <sukima/cluster/best_solution.hpp>
#include <sukima/errors.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace sukima::detail {

namespace {

using cluster::byte_sink;
using cluster::byte_source;

constexpr std::size_t longest_name = 255;
constexpr std::size_t longest_solution = std::size_t{1} << 20;

}  // namespace

void solution_board::add(shared_solution& one) {
  const std::lock_guard hold(lock_);
  const auto place = std::ranges::lower_bound(all_, one.name(), {}, &shared_solution::name);
  if (place != all_.end() && (*place)->name() == one.name())
    throw usage_error("sukima: two best solutions are called '" + one.name() +
                      "'; give each a name of its own, the same on all nodes");
  all_.insert(place, &one);
}

void solution_board::remove(shared_solution& one) noexcept {
  const std::lock_guard hold(lock_);
  std::erase(all_, &one);
}

void solution_board::begin_entry(std::uint64_t entry) {
  const std::lock_guard hold(lock_);
  entry_ = entry;
  has_news_.store(false, std::memory_order_seq_cst);  // discards news of the previous entry
  for (shared_solution* const one : all_) one->reset();
}

solution_board::bytes solution_board::all() const {
  const std::lock_guard hold(lock_);
  return encoded();
}

solution_snapshot solution_board::snapshot() const {
  const std::lock_guard hold(lock_);
  return {entry_, encoded()};
}

solution_board::bytes solution_board::encoded() const {
  bytes to;
  byte_sink sink(to);
  for (const shared_solution* const one : all_) {
    const bytes solution = one->encoded();
    if (solution.empty()) continue;
    sink.text(one->name()).number(static_cast<std::uint32_t>(solution.size())).raw(solution);
  }
  return to;
}

bool solution_board::merge(std::uint64_t entry, std::span<const std::byte> from) {
  const std::lock_guard hold(lock_);
  if (entry != entry_) return true;
  byte_source source(from);
  while (!source.rest().empty()) {
    const std::string name = source.text(longest_name);
    const auto solution = source.raw(source.number<std::uint32_t>());
    if (!source.ok()) return false;
    const auto place = std::ranges::lower_bound(all_, name, {}, &shared_solution::name);
    if (place == all_.end() || (*place)->name() != name) continue;  // the solution has already ended here
    try {
      (*place)->merge(solution);
    } catch (...) {  // thrown by the user's codec, or the solution is incomplete
      return false;
    }
  }
  return true;
}

void solution_board::announce() noexcept {
  if (has_news_.exchange(true, std::memory_order_seq_cst)) return;  // before the ring; pairs with: take_news
  const std::lock_guard hold(lock_);
  if (ring_) ring_();
}

void solution_board::on_news(std::function<void()> ring) {
  const std::lock_guard hold(lock_);
  ring_ = std::move(ring);
}

solution_board& own_solution_board() {
  static auto* const board = new solution_board;  // never destroyed, as objects of other files may use it
  return *board;
}

shared_solution::shared_solution(std::string name, solution_board& board)
    : name_(std::move(name)), board_(board) {
  if (name_.size() > longest_name)
    throw usage_error("sukima: the name of a best solution is longer than 255 bytes; shorten it");
}

shared_solution::~shared_solution() { leave_board(); }

void shared_solution::publish() {
  board_.add(*this);
  is_published_ = true;
}

void shared_solution::leave_board() noexcept {
  if (std::exchange(is_published_, false)) board_.remove(*this);
}

void shared_solution::announce() const noexcept { board_.announce(); }

void shared_solution::check_size(std::size_t size) {
  if (size > longest_solution)
    throw std::length_error("sukima: a solution is longer than 1 MiB in bytes, and cannot travel");
}

}  // namespace sukima::detail
