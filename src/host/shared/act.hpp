// SPDX-License-Identifier: Apache-2.0
// Acting on virtual machines so that everything can be undone: a journal, and what can be set.
#pragma once

#include <base/shared/descriptor.hpp>

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

/// The journal cannot be used. The message is a sentence for the user, and says what that means.
class journal_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An act was refused or failed; nothing has changed. The message is a sentence for the user.
class act_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What may be set of a virtual machine, by the word in its `act`.
enum class act_kind { vcpus, cap, weight, plug };
/// "vcpus", "cap", "weight", "plug".
const char* name_of(act_kind kind);

/// One change.
struct act {
  std::string vm;
  act_kind kind = act_kind::cap;
  std::string target;  ///< what is changed: a file, or the guest
  std::string before, after;  ///< its values, as they are written
};

/// Where the acts are written down unless another file is given.
inline constexpr const char* default_journal = "/var/lib/sukima/journal";

/// What a process opens a journal for. Undoing also works with a journal that cannot be written. Looking
/// takes no lock, changes nothing, and takes a journal that does not exist as empty.
enum class journal_use { acting, undoing, looking };

/// Acts that are in effect, on disk. A line is there before the act and another one after its proof, so
/// that `revert` can undo it after a crash. One process at a time has it.
class journal {
 public:
  struct entry {
    act change;
    std::string last = "begun";  ///< its last line: "begun", "proved" or "failed"
  };

  /// Opens it, or begins it, and its folder. Never waits.
  /// \throws journal_error  it cannot be written (for undoing: read), is another user's, or another process
  ///   has it
  explicit journal(std::filesystem::path file, journal_use use = journal_use::acting);

  /// Writes that this will be done, and waits until it is on disk. \returns the act's number
  /// \throws journal_error  it is not on disk: do nothing
  std::uint64_t begin(const act& change);
  /// Writes that the act was "proved" or "failed"; it stays in effect. \throws journal_error
  void note(std::uint64_t number, const char* outcome);
  /// Writes that the act has no effect any more: "undone", "left" to another program that changed it,
  /// "gone" with its target, or "ended" by itself. \throws journal_error
  void close(std::uint64_t number, const char* outcome);

  /// The acts in effect, by their numbers: later ones have higher numbers.
  const std::map<std::uint64_t, entry>& in_effect() const { return entries_; }
  /// How many whole lines cannot be understood. They stay in the file. A last line without its end does not
  /// count: a crash left it, before its act.
  std::size_t unreadable() const { return damaged_.size(); }
  /// The number of the first of them, from 1; 0 if there is none.
  std::size_t first_unreadable() const { return damaged_.empty() ? 0 : damaged_.front().number; }
  const std::filesystem::path& file() const { return file_; }
  /// Whether another process acts with this journal now. For looking.
  bool is_in_use() const;
  /// The first invariant that does not hold, as a sentence; null: all hold. Asks the system for the file's
  /// size. Complexity: linear in the acts in effect
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
  static std::string line_of(std::uint64_t number, const act& change);

  std::filesystem::path file_;
  journal_use use_;
  descriptor lock_, out_;
  int unwritable_ = 0;  ///< errno of why no line can be added; 0: lines can be added
  std::uint64_t size_ = 0;
  std::map<std::uint64_t, entry> entries_;
  std::uint64_t last_number_ = 0;
  std::vector<damaged_line> damaged_;
  friend struct test_access;
};

/// Whether something can be done, and else why not.
struct reach {
  bool possible = false;
  std::string why = {};
};

enum class proof { waiting, proved, failed };

/// One value of one virtual machine that can be set. Times are seconds of a clock that does not go back.
class actuator {
 public:
  actuator() = default;
  virtual ~actuator() = default;
  actuator(const actuator&) = delete;
  actuator& operator=(const actuator&) = delete;

  /// The name of what it sets, for the journal.
  virtual std::string target() const = 0;
  virtual reach can(const std::string& value) const = 0;
  /// The present value; nothing if its target is gone.
  virtual std::optional<std::string> present() const = 0;
  /// Sets it. \returns 0, or an errno
  virtual int apply(const std::string& value, double now) = 0;
  /// Why the latest apply failed, where there is more to say than its errno; else empty.
  virtual std::string trouble() const { return {}; }
  /// Whether it has happened, by what the host itself sees; the guest's word is not a proof. Never waits.
  virtual proof verify(const std::string& value, double now) = 0;
};

/// A control file such as cpu.max, cpu.weight, cpu.cfs_quota_us or cpu.shares. Its value is what a reader
/// sees.
std::unique_ptr<actuator> make_control_file(std::filesystem::path file);

/// How many virtual CPUs a virtual machine of QEMU has, by its monitor: upward only, since unplugging needs
/// the guest's consent and ends QEMU under emulation. The machine must have been started with room (maxcpus).
/// Each call takes up to 2 s. The proof: the threads of the new ones run, as they do once the guest has
/// switched them on. \param socket of QMP
std::unique_ptr<actuator> make_qmp_vcpus(std::filesystem::path socket);

class libvirt_domain;

/// The same by libvirt, with virDomainSetVcpusFlags, of the running domain only. A call takes as long as
/// libvirt does. The proof: the time that libvirt's host counted for the new ones grows.
std::unique_ptr<actuator> make_libvirt_vcpus(std::unique_ptr<libvirt_domain> domain, std::string name);
/// \param name the domain's, or its UUID
/// \throws source_error  this machine or this build has no libvirt
std::unique_ptr<actuator> make_libvirt_vcpus(const std::string& uri, const std::string& name);

/// A control file and the value to write there.
struct group_setting {
  std::filesystem::path file;
  std::string value;
};

/// How a control group is capped, in version 1 or 2. \param cpus nothing: no cap
/// \throws act_error  it is not a control group with a cap
group_setting cap_setting(const std::filesystem::path& group, std::optional<double> cpus);

/// How a control group gets a weight, in the numbers of its file: cpu.weight (1 to 10000) or cpu.shares.
/// \throws act_error  it is not a control group with a weight
group_setting weight_setting(const std::filesystem::path& group, unsigned weight);

/// Seconds after which an act without proof has failed.
inline constexpr double act_deadline = 5;

/// An act that was begun.
struct receipt {
  std::uint64_t number = 0;
  act change;
  double deadline = 0;
};

/// How many acts of a kind ended in which way.
struct act_counts {
  std::uint64_t proved = 0;
  std::uint64_t failed = 0;  ///< also those that could not be begun
};

/// Which programs may have set a value last.
enum class setter { us, any };

/// Does acts with the journal's lines around them.
class actor {
 public:
  /// \param at_step is called between the steps, with what was just done; for tests
  explicit actor(journal& written, std::function<void(const char*)> at_step = {})
      : journal_(written), at_step_(std::move(at_step)) {}

  /// Writes it down and does it. An earlier act on the same target stays in the journal.
  /// \throws act_error  it cannot be done; journal_error
  receipt apply(actuator& by, const std::string& vm, act_kind kind, const std::string& value, double now);
  /// Looks for the proof, and writes down what it finds. \throws journal_error
  proof verify(actuator& by, const receipt& of, double now);
  /// Sets the old value unless another program has changed it since. \returns the journal's word, or
  /// "in effect" with the reason in `trouble` if it could not be set. \throws journal_error
  /// \param last  `us`: what is there now is what the kernel made of our value
  std::string undo(actuator& by, std::uint64_t number, std::string& trouble, setter last = setter::any);
  /// The same without the line in the journal. \throws nothing of the journal
  std::string set_back(actuator& by, std::uint64_t number, std::string& trouble, setter last = setter::any);
  /// Writes that an act was undone, or whatever `outcome` says. \throws journal_error
  void close(std::uint64_t number, const std::string& outcome);
  /// Its target is gone, and the act with it. \throws journal_error
  void gone(const receipt& of) { journal_.close(of.number, "gone"); }
  /// The act has ended by itself. \throws journal_error
  void ended(const receipt& of) { journal_.close(of.number, "ended"); }

  /// The results of its acts so far.
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
  std::string detail;  ///< why
  std::string unwritten = {};  ///< why the journal still has it as in effect; empty: it does not
};

/// Undoes all acts in effect, the latest first. An act whose line cannot be written is undone all the same,
/// and so are those after it.
/// \param vms  only acts on these virtual machines; empty: all
std::vector<reverted> revert(journal& written, const std::function<void(const char*)>& at_step = {},
                             const std::vector<std::string>& vms = {});

}  // namespace sukima::host
