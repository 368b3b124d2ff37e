// SPDX-License-Identifier: Apache-2.0
// Optimises live virtual machines: passes measurements to the optimiser, and its counts to the guests.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "act.hpp"
#include "ceiling.hpp"
#include "description.hpp"
#include "estimate.hpp"
#include "metrics.hpp"
#include "optimiser.hpp"
#include "publish.hpp"

namespace sukima::host {

/// CPU time of one vCPU, in seconds since a fixed moment.
struct vcpu_time {
  bool there = true;  ///< false: no vCPU is plugged in at this place now
  double ran = 0;
  double waited = 0;  ///< could run but did not; includes throttling by a quota
};

/// The host's counters of a virtual machine.
struct vm_times {
  std::vector<vcpu_time> vcpus;  ///< in the order of its vCPUs
  double up = 0;  ///< seconds since it started
};

/// Reads the counters of one virtual machine.
class vm_counters {
 public:
  vm_counters() = default;
  virtual ~vm_counters() = default;
  vm_counters(const vm_counters&) = delete;
  vm_counters& operator=(const vm_counters&) = delete;
  /// \returns nothing if the machine has ended. Never waits.
  virtual std::optional<vm_times> read() = 0;
};

/// Reads the counters of a process whose vCPUs are threads, from /proc/PID/task/TID/schedstat.
/// \param threads of the vCPUs, in their order; empty: the threads that QEMU names "CPU 0/KVM" and so on
/// \param vcpus the largest possible number of vCPUs; `places` of them, any ones, may be missing now
/// \param proc the folder of /proc
/// \throws description_error  the process does not exist, or has too few or too many such threads
std::unique_ptr<vm_counters> make_process_counters(pid_t process, std::vector<pid_t> threads,
                                                   std::size_t vcpus, std::size_t places = 0,
                                                   const std::filesystem::path& proc = "/proc");

/// What may be set of a virtual machine, and how to reach it. These are members of the machine's description
/// that estimates do not need; docs/host-reference.md lists them.
struct steering {
  bool threads = false, vcpus = false, cap = false, weight = false, plug = false;  ///< what may be set: `act`
  unsigned least = 1, most = 1;  ///< bounds of the count
  std::optional<pid_t> process;  ///< `pid`
  std::vector<pid_t> vcpu_threads;  ///< `thread` of each vCPU; empty: not given
  std::filesystem::path port, file;  ///< `port`, `file`: the connection to the guest; at most one of them
  std::filesystem::path cgroup;  ///< `cgroup`: the folder of its control group, for `cap` and `weight`
  std::filesystem::path monitor;  ///< `monitor`: its QMP socket, for `plug`
  std::string domain, connect;  ///< for `plug`: its name or UUID in libvirt, and libvirt's URI
  std::size_t places = 0;  ///< with `plug`: the number of offline vCPUs at the end, which may be plugged in
};

/// The steering of each virtual machine, in their order.
/// \throws description_error  a member is wrong, or a machine with `act` has no way to reach it
std::vector<steering> steering_of(const description& host);

/// A virtual machine of a session.
struct session_vm {
  steering how;
  bool chosen = false;  ///< it is optimised; otherwise only its counters are read
  std::unique_ptr<guest_link> link = nullptr;  ///< must be set if it is chosen
  std::unique_ptr<vm_counters> counters = nullptr;  ///< null: the machine counts as always busy
  std::unique_ptr<vcpu_ceiling> ceiling = nullptr;  ///< plugs virtual CPUs in; null: plugging is impossible
};

struct session_options {
  optimise_by by = optimise_by::progress;
  bool dry_run = false;
  std::uint64_t seed = 1;  ///< of the order in which trials begin
  double cycle_seconds = 1;  ///< the duration of a window
  bool waits_for_machines = false;  ///< continues without machines, because machines may start later
};

class session_member;
struct attempts;

/// Optimises the chosen machines of one host. It has no clock: times are in seconds of a clock that never
/// goes back. A guest cannot gain by false messages, because they affect only its own number, and the host
/// itself measures the CPU that the guest gets.
class session {
 public:
  /// \param vms one for each machine of the description, in the same order
  /// \param written the journal; null only in a dry run; must outlive the session
  /// \throws description_error  as estimate_shares
  session(description host, std::vector<session_vm> vms, const session_options& options, journal* written);
  /// Ends the settings of the session: numbers end with their leases, virtual CPUs when the ports close.
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// Adapts the session to machines that started, ended or changed. A member is kept if the machine with its
  /// id is still the same run. `open` is called for each other position, after the members that are gone have
  /// ended.
  /// \pre no two members of `host.vms` have the same id
  /// \param how  the steering of each machine of `host`
  /// \throws description_error  as estimate_shares; then nothing has changed
  void replace(const description& host, const std::vector<steering>& how,
               const std::function<session_vm(std::size_t)>& open, double now);

  /// Reads the guests' messages and, once a second, measures, decides and acts. Must be called when one of
  /// `readable` becomes readable, and at least four times a second.
  /// \throws journal_error  an act could not be written to the journal, and was not done
  void step(double now);
  /// Whether all optimised machines have ended, so that the session has no work left.
  bool has_ended() const;
  /// The descriptors that become readable when a guest sends data.
  std::vector<int> readable() const;

  std::vector<verdict> take_verdicts() { return optimiser_.take_verdicts(); }
  /// Sentences about actions and errors since the last call.
  std::vector<std::string> take_events();

  /// The CPUs that a machine can use: the latest estimate, or what it receives if that is less.
  double usable(std::size_t vm) const;
  /// The message that is now sent to its guest.
  const std::optional<host_message>& message_to(std::size_t vm) const;
  /// The optimiser's state of a chosen machine.
  optimiser_state state(std::size_t vm) const;
  /// The count in effect.
  unsigned count(std::size_t vm) const;
  /// The number of cycles so far.
  std::size_t cycles() const { return cycles_; }
  /// The number of solutions that the session's estimates needed in addition to one per cycle; for tests of
  /// their cost.
  std::size_t solutions() const { return estimator_->solved_again(); }
  /// The metrics of the latest cycle, without its duration.
  host_metrics metrics() const;

 private:
  void join(const vm& described, session_vm given, std::uint64_t group, double now);
  void leave(session_member& one, double now);
  void cycle(double now);
  void estimate_in_turn();
  void estimate(std::size_t vm);
  void send_numbers(double now);
  void steer_vcpus(session_member& one, unsigned count, double now);
  void end_acts(session_member& one);
  void act_failed(session_member& one, const std::string& why, double now);
  unsigned raise_ceiling(session_member& one, unsigned count, double now);
  void begin_to_plug(session_member& one, const std::string& count, double now);
  void plug_failed(session_member& one, const std::string& why, double now);
  void try_later(session_member& one, attempts& of, const std::string& trouble, double now);

  session_options options_;
  std::unique_ptr<estimator> estimator_;
  optimiser optimiser_;
  std::unique_ptr<actor> actor_;
  std::vector<std::unique_ptr<session_member>> members_;
  std::vector<std::string> events_;
  std::optional<double> cycled_at_;
  std::size_t cycles_ = 0;
  guest_inbox::counts from_gone_;  ///< the messages from members that are gone, so that no counter falls
  std::size_t next_estimate_ = 0;  ///< the position of the machine that is estimated next
};

/// Callbacks of run_session.
struct session_watch {
  std::function<void(const verdict&)> decided = {};  ///< called with each verdict
  std::function<void(const std::string&)> said = {};  ///< called with each sentence
  std::function<void(double seconds)> cycled = {};  ///< called after each cycle with its duration, or empty
  std::function<void(double now)> begins = {};  ///< called before each step; may be empty
};

/// Runs a session on the monotonic clock until `stopped` is set or its machines have ended.
/// \throws journal_error  as session::step
void run_session(session& running, const std::atomic<bool>& stopped, const session_watch& watch);

}  // namespace sukima::host
