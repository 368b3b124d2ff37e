// SPDX-License-Identifier: Apache-2.0
#include "stream/pipe.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <system_error>

#include "program/program_core.hpp"
#include "stream/remote.hpp"

namespace sukima::objects::detail {

namespace {

std::uint64_t page_size() noexcept { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }

// A pipe is a ring of pages. Written data is stored in the last page if it fits there, otherwise in new
// pages. A page is free again when all of it has been read. So the page that is being read, and the unused
// ends of the other pages, give no room.

/// Returns the number of slots that a pipe surely holds. \param pages the pages of the pipe
std::uint64_t slots_in(std::uint64_t pages, std::uint64_t slot_size, bool encoded) noexcept {
  const std::uint64_t page = page_size();
  if (encoded) return pages > 2 ? std::bit_floor((pages - 2) * page / 2 / slot_size) : 0;
  const std::uint64_t each = (slot_size + page - 1) / page;
  return each > 1 ? (pages - 1) / each : (pages - 1) * (page / slot_size);
}

/// Returns the number of pages in which so many slots surely fit.
std::uint64_t pages_for(std::uint64_t slots, std::uint64_t slot_size, bool encoded) noexcept {
  const std::uint64_t page = page_size();
  if (encoded) return 2 * slots * slot_size / page + 2;
  if (slot_size > page) return slots * ((slot_size + page - 1) / page) + 1;
  const std::uint64_t each = page / slot_size;
  return (slots + each - 1) / each + 1;
}

void lock(pthread_mutex_t& one, shared_stream& of) noexcept {
  if (pthread_mutex_lock(&one) != EOWNERDEAD) return;
  // If this process dies here, the lock is inherited again. pairs with: lock_piped
  of.repair.store(1, std::memory_order_seq_cst);
  pthread_mutex_consistent(&one);
}

/// Sets the indices by the content of the pipe. \pre both locks are held
void repair(shared_stream& of) noexcept {
  int bytes = 0;
  if (ioctl(of.facts.pipe_in, FIONREAD, &bytes) == 0) {
    const std::uint64_t there = static_cast<std::uint64_t>(bytes) / of.facts.slot_size;
    // The indices are written under these locks, perhaps by a process that has died. Others read them without
    // a lock. pairs with: move in core.hpp; is_ready in stream.cpp; wake_here in remote.cpp
    const std::uint64_t head = of.head.load(std::memory_order_seq_cst);
    const std::uint64_t tail = of.tail.load(std::memory_order_seq_cst);
    if (there > tail - head) of.tail.store(head + there, std::memory_order_seq_cst);
    if (there < tail - head) of.head.store(tail - there, std::memory_order_seq_cst);
  }
  of.repair.store(0,
                  std::memory_order_seq_cst);  // between the indices and the unlocks; pairs with: lock_piped
}

}  // namespace

void make_pipe(stream_facts& of, const std::string& name, bool encoded) {
  int ends[2];
  const bool is_there = pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0;
  descriptor receiving = beyond_standard(descriptor(is_there ? ends[0] : -1));
  descriptor sending = beyond_standard(descriptor(is_there ? ends[1] : -1));
  if (receiving.get() < 0 || sending.get() < 0)
    throw std::system_error(errno, std::generic_category(),
                            "sukima: stream " + name +
                                ": no pipe; raise the limit of open files (ulimit -n), or use no pipes, as "
                                "SUKIMA_OBJECTS=processes does");
  of.pipe_in = receiving.release();
  of.pipe_out = sending.release();
  const std::uint64_t page = page_size();
  const std::uint64_t wanted = pages_for(of.capacity, of.slot_size, encoded) * page;
  auto size = static_cast<std::uint64_t>(fcntl(of.pipe_out, F_GETPIPE_SZ));
  // The system may refuse the size; then the stream holds less. The size is passed as an int.
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  for (std::uint64_t more = std::bit_ceil(std::min(wanted, most)); more > size; more /= 2)
    if (const int got = fcntl(of.pipe_out, F_SETPIPE_SZ, static_cast<int>(more)); got > 0) {
      size = static_cast<std::uint64_t>(got);
      break;
    }
  of.capacity = std::min(of.capacity, slots_in(size / page, of.slot_size, encoded));
  if (of.capacity == 0)
    throw usage_error("sukima: stream " + name + ": a message of " + std::to_string(of.slot_size) +
                      " bytes does not fit into a pipe, which holds " + std::to_string(size) +
                      " here; use no pipes, as SUKIMA_OBJECTS=processes does");
}

namespace {

/// Returns the two parts of an operation: the bytes, and the rest of the last slot.
std::array<iovec, 2> parts_of(const stream_core& s, std::byte* bytes, std::size_t size, std::uint64_t slots,
                              std::byte* rest) noexcept {
  return {iovec{bytes, size}, iovec{rest, static_cast<std::size_t>(slots * s.slot_size) - size}};
}
constexpr std::size_t most_rest = 128;  // a record leaves less than a slot and its length

}  // namespace

void write_pipe(const stream_core& s, std::span<const std::byte> bytes, std::uint64_t slots) {
  std::array<std::byte, most_rest> rest{};
  const auto parts = parts_of(s, const_cast<std::byte*>(bytes.data()), bytes.size(), slots,
                              rest.data());  // writev only reads
  const auto whole = static_cast<ssize_t>(parts[0].iov_len + parts[1].iov_len);
  if (writev(s.remote->at.facts.pipe_out, parts.data(), 2) != whole) s.throw_corrupt();
}

void read_pipe(const stream_core& s, std::span<std::byte> bytes, std::uint64_t slots) {
  std::array<std::byte, most_rest> rest;
  const auto parts = parts_of(s, bytes.data(), bytes.size(), slots, rest.data());
  const auto whole = static_cast<ssize_t>(parts[0].iov_len + parts[1].iov_len);
  if (readv(s.remote->at.facts.pipe_in, parts.data(), 2) != whole) s.throw_corrupt();
}

bool lock_piped(shared_stream& of, bool out) {
  for (bool repaired = false;;) {
    pthread_mutex_t& mine = out ? of.out_lock : of.in_lock;
    lock(mine, of);
    if (of.repair.load(std::memory_order_seq_cst) == 0) return repaired;  // pairs with: lock, repair
    pthread_mutex_unlock(&mine);
    lock(of.out_lock, of);
    lock(of.in_lock, of);
    // Otherwise another process has since made the repair. pairs with: repair
    if (of.repair.load(std::memory_order_seq_cst) != 0) {
      repair(of);
      repaired = true;
    }
    pthread_mutex_unlock(&of.in_lock);
    pthread_mutex_unlock(&of.out_lock);
  }
}

}  // namespace sukima::objects::detail
