// SPDX-License-Identifier: Apache-2.0
#include "process/segment.hpp"

#include "program/program_core.hpp"
#include "stream/pipe.hpp"

#include <base/shared/assert.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <system_error>

namespace sukima::objects::detail {

namespace {

[[noreturn]] void throw_no_memory() {
  throw std::system_error(
      errno, std::generic_category(),
      "sukima: no memory file for the streams between processes; choose a model without processes, such as "
      "SUKIMA_OBJECTS=threads:simulated");
}
std::size_t bits_words(std::size_t streams) noexcept { return (streams * 2 + 63) / 64; }

constexpr std::uint64_t page = 4096;

/// Assigns offsets to areas, one after the other.
class layout {
 public:
  std::uint64_t add(std::uint64_t bytes, std::uint64_t alignment) {
    end_ = (end_ + alignment - 1) / alignment * alignment;
    return std::exchange(end_, end_ + bytes);
  }
  std::uint64_t end() const noexcept { return end_; }

 private:
  std::uint64_t end_ = 0;
};

void make_robust(pthread_mutex_t& lock) {
  pthread_mutexattr_t how;
  pthread_mutexattr_init(&how);
  pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
  const int failed = pthread_mutex_init(&lock, &how);
  pthread_mutexattr_destroy(&how);
  errno = failed;
  if (failed != 0) throw_no_memory();
}

/// The size of a slot for encoded messages is a multiple of the first number; the slots of a stream together
/// have at least the second number of bytes.
constexpr std::uint64_t record_slot = 64;
constexpr std::uint64_t least_record_bytes = 65536;

/// Sets the slots for encoded messages. Each message takes at least one, so that the stream holds no more
/// messages than its capacity, as within one process. A pipe has small slots, because the unused bytes of a
/// slot pass through it, too.
void set_record_slots(stream_facts& f, const stream_core& s, bool pipes) noexcept {
  const std::uint64_t message = (s.slot_size + record_slot - 1) / record_slot * record_slot;
  if (pipes) {
    f.slot_size = record_slot;
    f.capacity =
        std::max(std::bit_ceil(s.capacity * (message / record_slot)), least_record_bytes / record_slot);
  } else {
    f.slot_size = std::max({message, least_record_bytes / s.capacity, record_slot});
    f.capacity = s.capacity;
  }
}

/// The processes and the place of a stream.
struct stream_plan {
  std::set<std::uint32_t> senders, receivers;
  stream_facts facts;
  std::uint64_t at = 0;  ///< offset of its shared_stream; 0: it does not leave its process
};

}  // namespace

segment::segment(const program_core& p, std::uint32_t processes, std::uint32_t model,
                 std::string_view graph) {
  std::map<const stream_core*, stream_plan> plans;
  for (const auto& o : p.objects)
    for (const held_end& e : o->ends)
      (e.is_out ? plans[e.stream].senders : plans[e.stream].receivers).insert(o->process);
  layout l;
  l.add(sizeof(segment_header), 1);
  const bool pipes = model::parts_of(static_cast<model::execution_model>(model)).pipes;
  segment_facts h;
  h.processes = processes;
  h.model = model;
  h.streams = static_cast<std::uint32_t>(p.streams.size());
  h.objects = static_cast<std::uint32_t>(p.objects.size());
  h.homes_at = l.add(p.objects.size() * sizeof(home), alignof(home));
  h.streams_at = l.add(p.streams.size() * sizeof(std::uint64_t), alignof(std::uint64_t));
  h.graph_size = graph.size();
  h.graph_at = l.add(graph.size(), 1);
  // Each stream has two bits.
  h.bell_size = (sizeof(doorbell_word) + bits_words(p.streams.size()) * sizeof(std::uint64_t) + 63) / 64 * 64;
  h.bells_at = l.add(h.bell_size * processes, alignof(doorbell_word));
  h.processes_at = l.add(sizeof(process_words) * processes, alignof(process_words));
  std::vector<std::uint64_t> waits_at;
  for (const auto& o : p.objects)
    waits_at.push_back(
        l.add(sizeof(object_waits) + o->ends.size() * sizeof(std::uint32_t), alignof(object_waits)));
  for (const auto& s : p.streams) {
    stream_plan& plan = plans[s.get()];
    if (plan.senders == plan.receivers && plan.senders.size() == 1) continue;
    stream_facts& f = plan.facts;
    f.outs = static_cast<std::uint32_t>(plan.senders.size());
    f.ins = static_cast<std::uint32_t>(plan.receivers.size());
    f.capacity = s->capacity;
    f.slot_size = s->slot_size;
    std::uint64_t alignment = std::max<std::uint64_t>(s->slot_alignment, 64);
    const bool encoded = s->to_processes == stream_core::journey::encoded;
    if (encoded) {
      set_record_slots(f, *s, pipes);
      alignment = record_slot;
      f.large_at = l.add(most_record_bytes, page);
    }
    if (pipes) {
      make_pipe(f, s->name, encoded);
      take_pipes(f);
    }
    plan.at = l.add(sizeof(shared_stream), alignof(shared_stream));
    f.parties_at = l.add((f.outs + f.ins) * sizeof(party), alignof(party));
    f.slots_at = pipes ? l.add(f.capacity * sizeof(std::uint32_t), sizeof(std::uint32_t))
                       : l.add(f.capacity * f.slot_size, alignment);
  }
  h.size = l.add(0, page);

  file_ = beyond_standard(descriptor(memfd_create("sukima-objects", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  if (file_.get() < 0 || ftruncate(file_.get(), static_cast<off_t>(h.size)) != 0 ||
      fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    throw_no_memory();
  map(h.size);
  static_cast<segment_facts&>(*::new (static_cast<void*>(base_)) segment_header) = h;
  place_objects(p, waits_at);
  std::memcpy(at<char>(h.graph_at), graph.data(), graph.size());
  for (std::uint32_t i = 0; i < processes; ++i)
    ::new (static_cast<void*>(at<std::byte>(h.bells_at + i * h.bell_size))) doorbell_word;
  for (std::uint32_t i = 0; i < processes; ++i) ::new (static_cast<void*>(&process(i))) process_words;
  for (std::size_t i = 0; i < p.streams.size(); ++i) {
    const stream_plan& plan = plans[p.streams[i].get()];
    at<std::uint64_t>(h.streams_at)[i] = plan.at;
    if (plan.at == 0) continue;
    auto* const made = ::new (static_cast<void*>(at<std::byte>(plan.at))) shared_stream;
    made->facts = plan.facts;
    make_robust(made->out_lock);
    make_robust(made->in_lock);
    party* next = at<party>(plan.facts.parties_at);
    for (const std::uint32_t process : plan.senders)
      (::new (static_cast<void*>(next++)) party)->process = process;
    for (const std::uint32_t process : plan.receivers)
      (::new (static_cast<void*>(next++)) party)->process = process;
  }
  SUKIMA_ASSERT_VALID(*this);
}

void segment::place_objects(const program_core& p, const std::vector<std::uint64_t>& waits_at) {
  for (std::size_t i = 0; i < p.objects.size(); ++i) {
    homes()[i] = {p.objects[i]->process, p.objects[i]->island_number, waits_at[i]};
    (::new (static_cast<void*>(at<std::byte>(waits_at[i]))) object_waits)->most_ends =
        static_cast<std::uint32_t>(p.objects[i]->ends.size());
  }
}

segment::segment(int file) : file_(file) {
  struct stat found{};
  if (fstat(file, &found) != 0) throw_no_memory();
  map(static_cast<std::size_t>(found.st_size));
  const std::uint64_t* const streams = at<std::uint64_t>(header().streams_at);
  for (std::uint32_t i = 0; i < header().streams; ++i)
    if (streams[i] != 0) take_pipes(stream(i)->facts);
  SUKIMA_ASSERT_VALID(*this);
}

void segment::take_pipes(const stream_facts& of) {
  for (const int end : {of.pipe_in, of.pipe_out}) {
    if (end < 0) continue;
    fcntl(end, F_SETFD, FD_CLOEXEC);  // a child gets the descriptor without this flag
    pipes_.emplace_back(end);
  }
}

segment::~segment() { munmap(base_, size_); }

void segment::map(std::size_t size) {
  void* const made = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (made == MAP_FAILED) throw_no_memory();
  base_ = static_cast<std::byte*>(made);
  size_ = size;
}

shared_stream* segment::stream(std::size_t index) const noexcept {
  const std::uint64_t offset = at<std::uint64_t>(header().streams_at)[index];
  return offset != 0 ? at<shared_stream>(offset) : nullptr;
}

doorbell segment::bell(std::uint32_t process) const noexcept {
  const std::uint64_t offset = header().bells_at + process * header().bell_size;
  return {*at<doorbell_word>(offset), at<std::atomic<std::uint64_t>>(offset + sizeof(doorbell_word)),
          (header().bell_size - sizeof(doorbell_word)) / sizeof(std::uint64_t)};
}

void segment::ring_all() const noexcept {
  for (std::uint32_t i = 0; i < header().processes; ++i) bell(i).ring(doorbell::no_bit);
}

}  // namespace sukima::objects::detail
