// SPDX-License-Identifier: Apache-2.0
// The transport by MPI, a plug-in that is compiled once for each implementation of MPI.
//
// Only the cluster thread calls MPI (MPI_THREAD_FUNNELED, or MULTIPLE if the program initialised MPI itself).
// Other threads put messages into the outbox and wake it. It never waits inside MPI: it sleeps in poll(2)
// until the bell rings (bell.hpp), and its sends and receives do not block. A bell may arrive before its
// message. Then the thread probes MPI every 50 µs until the announced number of messages has arrived, for at
// most 20 ms. It probes twice each time, because Open MPI's MPI_Iprobe searches before it makes progress.
#include "transport/mpi_plugin.hpp"

#include "mpi/bell.hpp"
#include "mpi/under_way.hpp"

#include <mpi.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sukima::cluster {

namespace {

constexpr int tag_message = 1;
constexpr int tag_leave = 2;
/// Pauses between probes while a message is under way. The pause starts at the first value and doubles up to
/// the second.
constexpr std::chrono::microseconds shortest_pause{50};
constexpr std::chrono::microseconds longest_pause{2000};
/// How long the thread probes for an announced message.
constexpr std::chrono::milliseconds announced_time{20};
/// Shortest and longest pause between the regular probes of an idle node, because a bell may be lost.
constexpr std::chrono::milliseconds insurance{20};
constexpr std::chrono::milliseconds longest_insurance{100};
constexpr std::size_t program_text = 512;

class mpi_transport final : public transport {
 public:
  explicit mpi_transport(const mpi_settings& chosen)
      : chosen_(chosen), peers_(chosen.nodes), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (wake_ < 0) throw start_failure("no descriptor is left for the cluster thread");
  }
  ~mpi_transport() override { close(wake_); }

  node_id start(receiver& to, clock::time_point /*deadline: MPI_Init has none*/) override {
    receiver_ = &to;
    thread_ = std::this_thread::get_id();
    initialise();
    MPI_Comm_dup(MPI_COMM_WORLD, &all_);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(all_, &rank);
    MPI_Comm_size(all_, &size);
    self_ = static_cast<node_id>(rank);
    if (static_cast<unsigned>(size) != chosen_.nodes)
      throw start_failure(
          "the variables of its launcher name " + std::to_string(chosen_.nodes) + " processes, but MPI has " +
          std::to_string(size) +
          ": start the program with the mpirun of the same MPI, or under srun --mpi=pmix with an "
          "Open MPI that was built with PMIx");
    compare_programs();
    meet_bells();
    return self_;
  }
  unsigned nodes() const noexcept override { return chosen_.nodes; }

  bool send(node_id to, bytes&& message) override {
    if (message.size() > largest_message) throw std::length_error("sukima: a message is too long");
    {
      const std::lock_guard hold(lock_);
      peer& p = peers_[to];
      if (p.gone || leaving_ || p.queued > most_queued) return false;
      p.queued += message.size();
      outbox_.push_back({MPI_REQUEST_NULL, to, std::move(message), false});
    }
    if (std::this_thread::get_id() != thread_) wake();  // the cluster thread sends before it sleeps
    return true;
  }

  void wait(clock::time_point until) override {
    auto pause = shortest_pause;
    auto idle_pause = insurance;
    // In the previous turn the node could send everything that it kept, and the outbox has become empty
    // since.
    const bool has_said_all = finalize_seen_ && has_sent_all();
    for (;;) {
      const bool any = make_progress();
      if (has_said_all) {
        end_before_others();
      } else if (finalize_seen_) {
        if (has_sent_all()) return;  // now there is room in the outbox
      } else if (finalizes_.load(std::memory_order_seq_cst)) {  // pairs with: finalizes
        finalize_seen_ = true;
        return;  // the node may still have messages to send
      }
      // A ring after this exchange also wakes the sleep below. pairs with: ring
      if (rung_.exchange(false, std::memory_order_seq_cst) || any || clock::now() >= until) return;
      std::chrono::microseconds most = idle_pause;
      if (is_busy()) {
        most = pause;
        pause = std::min(pause * 2, longest_pause);
      } else {
        idle_pause = std::min(idle_pause * 2, longest_insurance);
      }
      if (sleep(std::min<clock::time_point>(until, clock::now() + most))) pause = shortest_pause;
    }
  }
  void ring() noexcept override {
    rung_.store(true, std::memory_order_seq_cst);  // before the wake-up; pairs with: wait
    wake();
  }
  transport_limits can() const noexcept override { return {.sees_losses = false, .takes_joins = false}; }

  std::uint64_t taken_by(node_id to) override { return peers_[to].taken; }

  /// Nodes of MPI end together, so this ignores the patience and waits until all nodes leave.
  void stop(std::chrono::milliseconds /*patience*/) noexcept override {
    {
      const std::lock_guard hold(lock_);
      leaving_ = true;
      for (node_id n = 0; n < chosen_.nodes; ++n)
        if (n != self_) outbox_.push_back({MPI_REQUEST_NULL, n, {}, true});
    }
    while (!is_quiet_.load(std::memory_order_seq_cst) && !has_ended())
      wait(clock::now() + (sending_.empty() ? insurance : longest_pause));
    if (is_quiet_.load(std::memory_order_seq_cst)) return;
    MPI_Comm_free(&all_);
    forget_finalize();
    if (initialised_before && chosen_.finalizes) MPI_Finalize();
  }

 private:
  struct peer {
    std::size_t queued = 0;  ///< number of bytes that were not sent yet; guarded by lock_
    bool gone = false;  ///< the node has left; changed under lock_
    std::uint64_t sent = 0;
    std::uint64_t taken = 0;  ///< number of bytes
    std::uint64_t received = 0;
    std::deque<incoming> arriving;  ///< in the order in which they were sent
  };

  void initialise() {
    int is_initialised = 0;
    MPI_Initialized(&is_initialised);
    if (is_initialised != 0) {
      int level = 0;
      MPI_Query_thread(&level);
      if (level < MPI_THREAD_MULTIPLE && !initialised_before)
        throw start_failure(
            "the program has initialised MPI for fewer threads: call MPI_Init_thread with "
            "MPI_THREAD_MULTIPLE, "
            "or leave the initialisation to sukima::cluster::run");
      if (!initialised_before) end_before_finalize();
      return;
    }
    int level = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
    if (level < MPI_THREAD_FUNNELED)
      throw start_failure("this MPI lacks threads: build it with threads, or use sukima cluster run");
    initialised_before = true;
  }

  /// Registers a function that runs when the program itself ends MPI. It waits until this thread has called
  /// MPI for the last time.
  void end_before_finalize() {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalizes, &finalize_key_, this);
    MPI_Comm_set_attr(MPI_COMM_SELF, finalize_key_, this);
  }
  /// Unregisters that function, so that a later MPI_Finalize does not use this transport.
  void forget_finalize() {
    if (finalize_key_ == MPI_KEYVAL_INVALID) return;
    is_quiet_.store(true, std::memory_order_seq_cst);  // the deletion calls finalizes(), which waits for this
    is_quiet_.notify_all();
    if (finalizes_.load(std::memory_order_seq_cst)) return;  // MPI_Finalize is running, and deletes the key
    MPI_Comm_delete_attr(MPI_COMM_SELF, finalize_key_);
    MPI_Comm_free_keyval(&finalize_key_);
  }
  /// The function that MPI_Finalize calls first.
  static int finalizes(MPI_Comm /*self*/, int /*key*/, void* /*value*/, void* transport) {
    auto* const me = static_cast<mpi_transport*>(transport);
    me->finalizes_.store(true, std::memory_order_seq_cst);  // before the wake-up; pairs with: wait
    me->wake();
    me->is_quiet_.wait(false, std::memory_order_seq_cst);  // afterwards this thread alone calls MPI
    return MPI_SUCCESS;
  }

  void compare_programs() {
    std::array<char, program_text> own{};
    chosen_.program.copy(own.data(), own.size() - 1);
    std::vector<char> all(program_text * chosen_.nodes);
    MPI_Allgather(own.data(), program_text, MPI_CHAR, all.data(), program_text, MPI_CHAR, all_);
    for (node_id n = 0; n < chosen_.nodes; ++n)
      if (std::memcmp(own.data(), all.data() + program_text * n, program_text) != 0)
        throw start_failure("another program: " + std::string(own.data()) + " here, " +
                            std::string(all.data() + program_text * n) + " at node " + std::to_string(n) +
                            "; copy the program, or share its folder");
  }

  void meet_bells() {
    const bell_address own = bell_.here();
    std::vector<bell_address> addresses(chosen_.nodes);
    MPI_Allgather(&own, sizeof own, MPI_BYTE, addresses.data(), sizeof own, MPI_BYTE, all_);
    bell::secret known{};
    if (self_ == 0 && getrandom(known.data(), known.size(), 0) != static_cast<ssize_t>(known.size()))
      throw start_failure("the kernel gives no random numbers");
    MPI_Bcast(known.data(), static_cast<int>(known.size()), MPI_BYTE, 0, all_);
    bell_.meet(self_, std::move(addresses), known);
    announced_.resize(chosen_.nodes);
  }

  /// \returns whether it delivered a message
  bool make_progress() {
    bell_.take(announced_);  // even after MPI has ended, because an unread bell would end each sleep at once
    if (is_quiet_.load(std::memory_order_seq_cst)) return false;
    send_outbox();
    end_sends();
    for (int look = 0; look < 2; ++look)
      while (begin_receive()) {
      }
    return deliver_arrived();
  }

  void send_outbox() {
    std::list<outgoing> taken;
    {
      const std::lock_guard hold(lock_);
      taken.swap(outbox_);
    }
    if (taken.empty()) return;
    std::vector<bool> rings(chosen_.nodes);
    for (outgoing& o : taken) {
      if (peers_[o.to].gone && !o.leaves) continue;  // its request stays null, which counts as complete
      MPI_Isend(o.content.data(), static_cast<int>(o.content.size()), MPI_BYTE, static_cast<int>(o.to),
                o.leaves ? tag_leave : tag_message, all_, &o.request);
      ++peers_[o.to].sent;
      rings[o.to] = true;
    }
    sending_.splice(sending_.end(), taken);
    for (node_id n = 0; n < chosen_.nodes; ++n)
      if (rings[n]) bell_.ring(n, peers_[n].sent);
  }

  void end_sends() {
    for (auto at = sending_.begin(); at != sending_.end();) {
      int done = 0;
      MPI_Test(&at->request, &done, MPI_STATUS_IGNORE);
      if (done == 0) {
        ++at;
        continue;
      }
      peers_[at->to].taken += at->content.size();
      {
        const std::lock_guard hold(lock_);
        peers_[at->to].queued -= std::min(peers_[at->to].queued, at->content.size());
      }
      at = sending_.erase(at);
    }
  }

  /// \returns whether a message was found
  bool begin_receive() {
    int flag = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, all_, &flag, &message, &status);
    if (flag == 0) return false;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    peer& from = peers_[static_cast<node_id>(status.MPI_SOURCE)];
    ++from.received;
    from.arriving.push_back({MPI_REQUEST_NULL, status.MPI_TAG, bytes(static_cast<std::size_t>(size))});
    incoming& m = from.arriving.back();
    MPI_Imrecv(m.content.data(), size, MPI_BYTE, &message, &m.request);
    return true;
  }

  bool deliver_arrived() {
    bool any = false;
    for (node_id n = 0; n < chosen_.nodes; ++n) {
      auto& arriving = peers_[n].arriving;
      while (!arriving.empty()) {
        int done = 0;
        MPI_Test(&arriving.front().request, &done, MPI_STATUS_IGNORE);
        if (done == 0) break;
        const incoming m = std::move(arriving.front());
        arriving.pop_front();
        any = true;
        if (m.tag == tag_message) {
          receiver_->on_message(n, m.content);
          continue;
        }
        {
          const std::lock_guard hold(lock_);
          peers_[n].gone = true;
        }
        receiver_->on_left(n);
      }
    }
    return any;
  }

  /// Whether a message is under way, so that MPI must be polled.
  bool is_busy() {
    if (is_quiet_.load(std::memory_order_seq_cst)) return false;
    if (!sending_.empty()) return true;
    bool announced = false;
    for (node_id n = 0; n < chosen_.nodes; ++n) {
      if (!peers_[n].arriving.empty()) return true;
      announced |= announced_[n] > peers_[n].received;
    }
    if (!announced) {
      announced_until_ = {};
      return false;
    }
    if (announced_until_ == clock::time_point{}) announced_until_ = clock::now() + announced_time;
    return clock::now() < announced_until_;
  }

  bool has_sent_all() {
    const std::lock_guard hold(lock_);
    return outbox_.empty() && sending_.empty();
  }

  /// Lets the program end MPI once all messages are sent.
  void end_before_others() {
    if (is_quiet_.load(std::memory_order_seq_cst) || !has_sent_all()) return;
    is_quiet_.store(true, std::memory_order_seq_cst);  // pairs with: finalizes
    is_quiet_.notify_all();
  }

  bool has_ended() {
    const std::lock_guard hold(lock_);
    for (node_id n = 0; n < chosen_.nodes; ++n)
      if (n != self_ && !peers_[n].gone) return false;
    return outbox_.empty() && sending_.empty();
  }

  void wake() const noexcept {
    const std::uint64_t one = 1;
    static_cast<void>(!write(wake_, &one, sizeof one));
  }
  /// \returns whether another thread or a bell ended the sleep
  bool sleep(clock::time_point until) const {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(until - clock::now()).count();
    const timespec time{left > 0 ? left / 1'000'000'000 : 0, left > 0 ? left % 1'000'000'000 : 0};
    std::array<pollfd, 2> all{{{wake_, POLLIN, 0}, {bell_.descriptor(), POLLIN, 0}}};
    const int ready = ppoll(all.data(), all.size(), &time, nullptr);
    std::uint64_t count = 0;
    static_cast<void>(!read(wake_, &count, sizeof count));
    return ready > 0;
  }

  /// Whether a transport of this process initialised MPI. A later transport is used by the same thread.
  static inline bool initialised_before = false;

  const mpi_settings chosen_;
  receiver* receiver_ = nullptr;
  std::thread::id thread_;
  MPI_Comm all_ = MPI_COMM_NULL;
  node_id self_ = 0;
  bell bell_;
  std::vector<std::uint64_t> announced_;  ///< by node: number of messages that its bells have announced
  clock::time_point announced_until_;
  std::list<outgoing> sending_;
  /// Sequentially consistent: after several rings only the last store is read. pairs with: ring, wait
  std::atomic<bool> rung_{false};
  /// Whether the program is inside MPI_Finalize; as rung_. pairs with: finalizes, wait, forget_finalize
  std::atomic<bool> finalizes_{false};
  bool finalize_seen_ = false;
  int finalize_key_ = MPI_KEYVAL_INVALID;  ///< key for MPI_Finalize's call; invalid: Sukima ends MPI
  /// Set when the cluster thread will not call MPI any more. Only that thread stores it, and
  /// then reads finalizes_. pairs with: finalizes, forget_finalize, end_before_others
  std::atomic<bool> is_quiet_{false};

  std::mutex lock_;  ///< guards the members below, and those of `peer` that name it
  std::vector<peer> peers_;
  std::list<outgoing> outbox_;
  bool leaving_ = false;  ///< written by the cluster thread under lock_
  const int wake_;
};

}  // namespace
}  // namespace sukima::cluster

extern "C" [[gnu::visibility("default")]] sukima::cluster::transport* sukima_cluster_mpi_1(
    const sukima::cluster::mpi_settings& chosen) {
  return new sukima::cluster::mpi_transport(chosen);
}
