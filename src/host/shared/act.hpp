// SPDX-License-Identifier: Apache-2.0
// Changes to virtual machines that can all be undone: the journal of acts, and the actuators that make them.
#pragma once

#include <base/shared/descriptor.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace sukima::host {

/// The journal cannot be used. The message is a sentence for the user that also says what the failure means
/// for the acts.
class journal_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An act was refused or failed; nothing has changed. The message is a sentence for the user.
class act_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The quantities that may be set of a virtual machine. A machine's `act` lists them by name.
enum class act_kind { vcpus, cap, weight, plug };
/// "vcpus", "cap", "weight", "plug".
const char* name_of(act_kind kind);

/// One change of one value.
struct act {
  std::string vm;
  act_kind kind = act_kind::cap;
  std::string target;  ///< the thing that is changed: a file, or the guest
  std::string before, after;  ///< the old and the new value, as they are written
};

/// The journal's file unless the user gives another one.
inline constexpr const char* default_journal = "/var/lib/sukima/journal";

/// The purpose for which a process opens a journal. With `undoing` the file may be unwritable. With `looking`
/// the journal takes no lock, changes nothing, and counts as empty if the file does not exist.
enum class journal_use { acting, undoing, looking };

/// The acts that are in effect, stored in a file. The journal writes one line before an act and another one
/// after its proof, so that `revert` can undo the act after a crash. Only one process at a time holds the
/// journal.
class journal {
 public:
  struct entry {
    act change;
    std::string last = "begun";  ///< the step of its latest line: "begun", "proved" or "failed"
  };

  /// Opens the file, or creates it and its folder. Never waits.
  /// \throws journal_error  the file cannot be written (for undoing: read), belongs to another user, or is
  ///   held by another process
  explicit journal(std::filesystem::path file, journal_use use = journal_use::acting);

  /// Writes that this act will be done, and returns once the line is on disk. \returns the act's number
  /// \throws journal_error  the line is not on disk; the caller must not do the act
  std::uint64_t begin(const act& change);
  /// Writes that the act was "proved" or "failed"; it stays in effect. \throws journal_error
  void note(std::uint64_t number, const char* outcome);
  /// Writes that the act has no effect any more. The outcome is "undone", "left" (another program has changed
  /// the value), "gone" (the target no longer exists), or "ended" (the effect ended without being undone).
  /// \throws journal_error
  void close(std::uint64_t number, const char* outcome);

  /// The acts in effect by their numbers. Later acts have higher numbers.
  const std::map<std::uint64_t, entry>& in_effect() const { return entries_; }
  /// The number of complete lines that cannot be parsed. They stay in the file. An incomplete last line does
  /// not count: it was left by a crash, and its act was never done.
  std::size_t unreadable() const { return damaged_.size(); }
  /// The line number of the first of them, counted from 1; 0 if there is none.
  std::size_t first_unreadable() const { return damaged_.empty() ? 0 : damaged_.front().number; }
  const std::filesystem::path& file() const { return file_; }
  /// Whether another process now holds this journal to act or to undo. For `journal_use::looking`.
  bool is_in_use() const;
  /// The first invariant that does not hold, as a sentence; null: all hold. Queries the file's size from the
  /// system. Complexity: linear in the acts in effect
  const char* violated_invariant() const;

 private:
  struct damaged_line {
    std::size_t number;
    std::string text;
  };

  void lock();
  void open();
  void read();
  void drop_torn_line(std::size_t whole);
  bool take(const std::string& line);
  void append(const std::string& line, const char* meaning);
  void shorten();
  [[noreturn]] void fail(const char* problem, int error, const char* meaning) const;
  [[noreturn]] void fail(const char* problem, int error) const;
  [[noreturn]] void refuse(const char* problem) const;
  static std::string line_of(std::uint64_t number, const act& change);

  std::filesystem::path file_;
  journal_use use_;
  descriptor lock_, out_;
  int unwritable_ = 0;  ///< errno that says why no line can be added; 0: lines can be added
  std::uint64_t size_ = 0;
  std::map<std::uint64_t, entry> entries_;
  std::uint64_t last_number_ = 0;
  std::vector<damaged_line> damaged_;
  friend struct test_access;
};

/// Whether something can be done, and if not, why.
struct feasibility {
  bool possible = false;
  std::string why = {};
};

enum class proof { waiting, proved, failed };

/// A value of one virtual machine that can be set. Times are in seconds of a clock that never goes back.
class actuator {
 public:
  actuator() = default;
  virtual ~actuator() = default;
  actuator(const actuator&) = delete;
  actuator& operator=(const actuator&) = delete;

  /// The name of the thing that it changes, for the journal.
  virtual std::string target() const = 0;
  virtual feasibility can(const std::string& value) const = 0;
  /// The present value; nothing if the target is gone.
  virtual std::optional<std::string> present() const = 0;
  /// Sets the value. \returns 0, or an errno
  virtual int apply(const std::string& value, double now) = 0;
  /// Why the latest `apply` failed, if there is more to say than its errno; otherwise empty.
  virtual std::string trouble() const { return {}; }
  /// Whether the change has taken effect, as the host itself observes it; a message of the guest is not a
  /// proof. Never waits.
  virtual proof verify(const std::string& value, double now) = 0;
};

/// Sets a control file such as cpu.max, cpu.weight, cpu.cfs_quota_us or cpu.shares. The value has the form in
/// which the kernel shows it to a reader.
std::unique_ptr<actuator> make_control_file(std::filesystem::path file);

/// Sets the number of virtual CPUs of a QEMU machine through its monitor. The number can only rise, because
/// unplugging needs the guest's consent and ends QEMU under emulation. The machine must have been started
/// with room for more virtual CPUs (maxcpus). Proof: the threads of the new
/// virtual CPUs run, which they do once the guest has switched them on.
/// \param socket of QMP
/// \param longest the longest duration of each call. Then it fails, and says that the monitor is in use
std::unique_ptr<actuator> make_qmp_vcpus(std::filesystem::path socket,
                                         std::chrono::milliseconds longest = std::chrono::seconds(2));

class libvirt_domain;

/// Sets the number of virtual CPUs of a running libvirt domain with virDomainSetVcpusFlags; the domain's
/// stored configuration is not changed. A call takes as long as libvirt takes. Proof: the CPU time of the new
/// virtual CPUs grows, as the host of libvirt counts it.
std::unique_ptr<actuator> make_libvirt_vcpus(std::unique_ptr<libvirt_domain> domain, std::string name);
/// \param name of the domain, or its UUID
/// \throws source_error  this machine or this build has no libvirt
std::unique_ptr<actuator> make_libvirt_vcpus(const std::string& uri, const std::string& name);

/// A control file and the value to write there.
struct group_setting {
  std::filesystem::path file;
  std::string value;
};

/// Returns the file and the value that set a control group's cap, in version 1 or 2. \param cpus nothing: no
/// cap
/// \throws act_error  the folder is not a control group with a cap
group_setting cap_setting(const std::filesystem::path& group, std::optional<double> cpus);

/// Returns the file and the value that set a control group's weight, in the units of its file: cpu.weight (1
/// to 10000) or cpu.shares.
/// \throws act_error  the folder is not a control group with a weight
group_setting weight_setting(const std::filesystem::path& group, unsigned weight);

/// Seconds after which an act without proof counts as failed.
inline constexpr double act_deadline = 5;

/// An act that has begun.
struct receipt {
  std::uint64_t number = 0;
  act change;
  double deadline = 0;
};

/// How many acts of one kind were proved and how many failed.
struct act_counts {
  std::uint64_t proved = 0;
  std::uint64_t failed = 0;  ///< includes acts that could not begin
};

/// The programs that may have set a value last.
enum class last_writer { sukima, any };

/// Makes changes through actuators, and writes each step to the journal.
class actor {
 public:
  /// \param at_step called after each step with the step's name; for tests
  explicit actor(journal& written, std::function<void(const char*)> at_step = {})
      : journal_(written), at_step_(std::move(at_step)) {}

  /// Writes the act to the journal, then does it. An earlier act on the same target stays in the journal.
  /// \throws act_error  the act cannot be done
  /// \throws journal_error
  receipt apply(actuator& by, const std::string& vm, act_kind kind, const std::string& value, double now);
  /// Looks for the proof, and writes the result to the journal. \throws journal_error
  proof verify(actuator& by, const receipt& of, double now);
  /// Sets the old value unless another program has changed the value since. \returns the outcome as written
  /// to the journal, or "in effect", with the reason in `trouble`, if the old value could not be set. \throws
  /// journal_error
  /// \param last  `sukima`: the present value is what the kernel made of the value that we wrote
  std::string undo(actuator& by, std::uint64_t number, std::string& trouble,
                   last_writer last = last_writer::any);
  /// As `undo`, but writes no line to the journal and throws no journal_error.
  std::string set_back(actuator& by, std::uint64_t number, std::string& trouble,
                       last_writer last = last_writer::any);
  /// Writes to the journal that an act ended with this outcome. \throws journal_error
  void close(std::uint64_t number, const std::string& outcome);
  /// Records that the act ended because its target is gone. \throws journal_error
  void record_gone(const receipt& of) { journal_.close(of.number, "gone"); }
  /// Records that the act ended without being undone. \throws journal_error
  void record_ended(const receipt& of) { journal_.close(of.number, "ended"); }

  /// The results of this object's acts so far.
  const std::map<act_kind, act_counts>& counts() const { return counts_; }

 private:
  void step(const char* done) {
    if (at_step_) at_step_(done);
  }

  receipt begin(actuator& by, const std::string& vm, act_kind kind, const std::string& value, double now);

  journal& journal_;
  std::function<void(const char*)> at_step_;
  std::map<act_kind, act_counts> counts_;
};

/// The result of undoing one act of the journal.
struct reverted {
  act change;
  std::string outcome;  ///< "undone", "left", "gone", "ended", or "in effect" if it could not be undone
  std::string detail;  ///< why the outcome is so; may be empty
  std::string unwritten = {};  ///< why the journal still lists the act as in effect; empty: it does not
};

/// Undoes all acts in effect, the latest first. If the journal's line of an act cannot be written, the act is
/// undone nevertheless, and so are the acts after it.
/// \param vms  undo only acts on these virtual machines; empty: on all
std::vector<reverted> revert(journal& written, const std::function<void(const char*)>& at_step = {},
                             const std::vector<std::string>& vms = {});

}  // namespace sukima::host
