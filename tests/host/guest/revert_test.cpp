// SPDX-License-Identifier: Apache-2.0
// Undoing with a journal that is damaged or cannot be written.
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "acting.hpp"

namespace {

using namespace sukima::host;
using guests::acting;
namespace fs = std::filesystem;

/// Runs this in a child, because limits and capabilities are a process's. \returns its exit code
int in_a_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/// Reverts in this process. \returns how many acts were undone, and 100 more for each without a line
int revert_and_count(const fs::path& file, std::set<std::string>& sentences) {
  journal written(file, journal_use::undoing);
  int count = 0;
  for (const reverted& one : revert(written)) {
    count += one.outcome == "undone" ? 1 : 0;
    count += one.unwritten.empty() ? 0 : 100;
    sentences.insert(one.unwritten);
  }
  return count;
}

/// Two machines, each with a cap and a weight that were set.
class acting_on_two : public acting {
 protected:
  acting_on_two() {
    guests::write(other_cap, "max 100000\n");
    guests::write(other_weight, "100\n");
    journal written(file);
    actor one(written);
    for (const auto& [vm, path, value] :
         {std::tuple{"a", cap, "50000 100000"}, std::tuple{"b", other_cap, "60000 100000"},
          std::tuple{"a", weight, "50"}, std::tuple{"b", other_weight, "60"},
          std::tuple{"a", cap, "20000 100000"}}) {
      const auto by = make_control_file(path);
      one.verify(*by, one.apply(*by, vm, act_kind::cap, value, 1), 1);
    }
  }

  void expect_old_values() const {
    for (const fs::path& one : {cap, other_cap}) EXPECT_EQ(guests::text_in(one), "max 100000\n");
    for (const fs::path& one : {weight, other_weight}) EXPECT_EQ(guests::text_in(one), "100\n");
  }

  const fs::path other_cap = folder.path / "other/cpu.max", other_weight = folder.path / "other/cpu.weight";
};

TEST_F(acting_on_two, revert_on_a_full_disk_undoes_every_act) {
  const std::string before = guests::text_in(file);
  for (int attempt = 0; attempt < 3; ++attempt) {
    SCOPED_TRACE(attempt);
    EXPECT_EQ(
        in_a_child([&] {
          std::signal(SIGXFSZ, SIG_IGN);
          const rlimit none{.rlim_cur = before.size(), .rlim_max = before.size()};
          if (::setrlimit(RLIMIT_FSIZE, &none) != 0) return 253;
          std::set<std::string> sentences;
          const int count = revert_and_count(file, sentences);
          if (sentences.size() != 1 || sentences.begin()->find("cannot be written") == std::string::npos)
            return 254;
          // Five acts, all without a line; later nothing is left to be done, or it was done before.
          return count >= 500 && count <= 505 ? 42 : count % 250;
        }),
        42);
    expect_old_values();
    EXPECT_EQ(guests::text_in(file), before);
  }
  // With room again, the journal becomes empty, and no other program is said to have changed a value.
  journal written(file, journal_use::undoing);
  for (const reverted& one : revert(written)) {
    EXPECT_TRUE(one.outcome == "undone" || one.outcome == "left") << one.outcome;
    EXPECT_EQ(one.detail.find("somebody else"), std::string::npos) << one.detail;
    EXPECT_TRUE(one.unwritten.empty()) << one.unwritten;
  }
  EXPECT_TRUE(written.in_effect().empty());
  expect_old_values();
}

/// Root may write whatever its mode is, unless it gives that capability away.
bool give_up_ignoring_modes() {
  __user_cap_header_struct head{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct sets[2] = {};
  if (::syscall(SYS_capget, &head, sets) != 0) return false;
  for (const unsigned one : {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH}) sets[0].effective &= ~(1U << one);
  return ::syscall(SYS_capset, &head, sets) == 0;
}

TEST_F(acting_on_two, revert_with_a_journal_that_cannot_be_written_undoes_every_act) {
  for (const bool with_lock : {true, false}) {
    SCOPED_TRACE(with_lock);
    const fs::path lock = file.string() + ".lock";
    if (!with_lock) fs::remove(lock);
    for (const fs::path& one : {file, lock})
      if (fs::exists(one)) fs::permissions(one, fs::perms(0400));
    fs::permissions(file.parent_path(), fs::perms(0500));
    EXPECT_EQ(in_a_child([&] {
                if (!give_up_ignoring_modes()) return 253;
                try {
                  const journal refused(file);
                  return 254;
                } catch (const journal_error& error) {
                  if (std::string(error.what()).find("nothing is done without it") == std::string::npos)
                    return 252;
                }
                std::set<std::string> sentences;
                const int count = revert_and_count(file, sentences);
                return count >= 500 && count <= 505 ? 42 : count % 250;
              }),
              42);
    expect_old_values();
    fs::permissions(file.parent_path(), fs::perms(0700));
  }
}

TEST_F(acting, a_journal_that_another_process_has_is_not_undone) {
  const journal first(file);
  EXPECT_THROW(journal(file, journal_use::undoing), journal_error);
}

TEST_F(acting, a_missing_line_after_an_act_says_that_it_was_done) {
  EXPECT_EQ(in_a_child([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              journal written(file);
              actor one(written);
              const auto by = make_control_file(cap);
              const receipt done = one.apply(*by, "a", act_kind::cap, "5 100", 1);
              const auto size = fs::file_size(file);
              const rlimit none{.rlim_cur = size, .rlim_max = size};
              if (::setrlimit(RLIMIT_FSIZE, &none) != 0) return 253;
              try {
                one.verify(*by, done, 1);
              } catch (const journal_error& error) {
                const std::string said = error.what();
                const bool is_true = said.find("the act was done") != std::string::npos &&
                                     said.find("nothing is done") == std::string::npos;
                return is_true ? 42 : 2;
              }
              return 1;
            }),
            42);
  EXPECT_EQ(guests::text_in(cap), "5 100\n");
}

TEST_F(acting, a_damaged_line_stays_when_the_journal_is_shortened) {
  {
    const journal begun(file);
  }
  guests::write(file, "{\"act\":1,\"step\":\"beg\u00fcn\"}\n");
  fs::permissions(file, fs::perms(0600));
  {
    journal written(file);
    EXPECT_EQ(written.first_unreadable(), 1U);
    for (int i = 0; i < 20; ++i)
      written.close(written.begin({"b", act_kind::vcpus, std::string(80000, 'x'), "1", "2"}), "ended");
    ASSERT_LT(fs::file_size(file), std::uintmax_t{1} << 20) << "it was shortened";
  }
  EXPECT_EQ(journal(file).unreadable(), 1U);
}

TEST_F(acting, a_shortened_journal_keeps_the_proofs_of_the_acts_in_effect) {
  std::map<std::uint64_t, std::string> noted;
  {
    journal written(file);
    for (const char* outcome : {"proved", "failed"}) {
      const auto number = written.begin({"a", act_kind::cap, outcome, "1 100", "2 100"});
      written.note(number, outcome);
      noted[number] = outcome;
    }
    noted[written.begin({"a", act_kind::cap, "begun", "1 100", "2 100"})] = "begun";
    for (int i = 0; i < 20; ++i)
      written.close(written.begin({"b", act_kind::vcpus, std::string(80000, 'x'), "1", "2"}), "ended");
    ASSERT_LT(fs::file_size(file), std::uintmax_t{1} << 20) << "it was shortened";
  }
  const journal again(file);
  std::map<std::uint64_t, std::string> found;
  for (const auto& [number, one] : again.in_effect()) found[number] = one.last;
  EXPECT_EQ(found, noted);
}

}  // namespace
