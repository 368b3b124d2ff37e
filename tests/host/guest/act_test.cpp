// SPDX-License-Identifier: Apache-2.0
// The journal, acting on control files, and undoing it: also after a kill at any step.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "acting.hpp"

namespace {

using namespace sukima::host;
using guests::acting;
namespace fs = std::filesystem;

TEST_F(acting, a_line_is_there_before_and_after) {
  journal written(file);
  std::vector<std::string> seen;
  actor one(written, [&](const char* step) {
    const std::string text = guests::text_in(file);
    seen.push_back(std::string(step) + " " + std::to_string(std::ranges::count(text, '\n')) + " " +
                   guests::text_in(cap));
  });
  const auto by = make_control_file(cap);
  const receipt done = one.apply(*by, "a", act_kind::cap, "50000 100000", 1);
  EXPECT_EQ(one.verify(*by, done, 1), proof::proved);
  EXPECT_EQ(seen, (std::vector<std::string>{"looked 0 max 100000\n", "begun 1 max 100000\n",
                                            "applied 1 50000 100000\n", "verified 1 50000 100000\n",
                                            "noted 2 50000 100000\n"}));
  ASSERT_EQ(written.in_effect().size(), 1U);
  EXPECT_EQ(written.in_effect().begin()->second.last, "proved");
  const std::string line = guests::text_in(file);
  for (const char* part :
       {R"("before":"max 100000")", R"("after":"50000 100000")", R"("vm":"a")", R"("kind":"cap")"})
    EXPECT_NE(line.find(part), std::string::npos) << part;
}

TEST_F(acting, revert_undoes_the_latest_first) {
  {
    journal written(file);
    actor one(written);
    const auto by = make_control_file(cap), other = make_control_file(weight);
    one.apply(*by, "a", act_kind::cap, "50000 100000", 1);
    one.apply(*other, "a", act_kind::weight, "50", 1);
    one.apply(*by, "a", act_kind::cap, "20000 100000", 1);
  }
  journal written(file);
  const auto all = revert(written);
  ASSERT_EQ(all.size(), 3U);
  for (const reverted& one : all) EXPECT_EQ(one.outcome, "undone");
  EXPECT_EQ(guests::text_in(cap), "max 100000\n");
  EXPECT_EQ(guests::text_in(weight), "100\n");
  EXPECT_TRUE(revert(written).empty());
}

TEST_F(acting, a_change_by_another_program_is_left) {
  journal written(file);
  actor one(written);
  const auto by = make_control_file(cap);
  one.apply(*by, "a", act_kind::cap, "50000 100000", 1);
  guests::write(cap, "70000 100000\n");
  const auto all = revert(written);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].outcome, "left");
  EXPECT_EQ(all[0].detail, "another program has set it to 70000 100000 since");
  EXPECT_EQ(guests::text_in(cap), "70000 100000\n");
}

TEST_F(acting, settings_that_are_gone_or_end_by_themselves_need_nothing) {
  journal written(file);
  actor one(written);
  const auto by = make_control_file(cap);
  one.apply(*by, "a", act_kind::cap, "50000 100000", 1);
  written.begin({"a", act_kind::vcpus, "guest", "4", "2"});
  fs::remove_all(folder.path / "group");
  const auto all = revert(written);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].outcome, "ended");
  EXPECT_EQ(all[1].outcome, "gone");
  EXPECT_TRUE(written.in_effect().empty());
}

/// Takes one value, and no other ever after.
class stubborn final : public actuator {
 public:
  std::string target() const override { return "stubborn"; }
  feasibility can(const std::string&) const override { return {true, {}}; }
  std::optional<std::string> present() const override { return value_; }
  int apply(const std::string& value, double) override {
    if (value_ == "2") return EIO;
    value_ = value;
    return 0;
  }
  proof verify(const std::string&, double) override { return proof::waiting; }

 private:
  std::string value_ = "1";
};

TEST_F(acting, an_act_that_cannot_be_undone_stays_in_the_journal) {
  journal written(file);
  actor one(written);
  stubborn by;
  const receipt done = one.apply(by, "a", act_kind::cap, "2", 1);
  std::string trouble;
  EXPECT_EQ(one.undo(by, done.number, trouble), "in effect");
  EXPECT_EQ(trouble, "it cannot be set: Input/output error");
  EXPECT_EQ(written.in_effect().size(), 1U);
}

/// Makes another value of a small one, as the kernel does with cpu.shares.
class clamping final : public actuator {
 public:
  std::string target() const override { return "clamping"; }
  feasibility can(const std::string&) const override { return {true, {}}; }
  std::optional<std::string> present() const override { return value_; }
  int apply(const std::string& value, double) override {
    value_ = value == "1" ? "2" : value;
    return 0;
  }
  proof verify(const std::string& value, double) override {
    return value == value_ ? proof::proved : proof::failed;
  }

 private:
  std::string value_ = "1024";
};

TEST_F(acting, a_value_that_the_kernel_adjusts_is_set_back) {
  journal written(file);
  actor one(written);
  clamping by;
  const receipt done = one.apply(by, "a", act_kind::weight, "1", 1);
  EXPECT_EQ(one.verify(by, done, 1), proof::failed);
  std::string trouble;
  EXPECT_EQ(one.undo(by, done.number, trouble, last_writer::sukima), "undone");
  EXPECT_EQ(by.present(), "1024");
  EXPECT_TRUE(written.in_effect().empty());
}

TEST_F(acting, without_proof_an_act_fails_at_its_deadline) {
  journal written(file);
  actor one(written);
  stubborn by;
  const receipt done = one.apply(by, "a", act_kind::cap, "2", 10);
  EXPECT_EQ(one.verify(by, done, 14.9), proof::waiting);
  EXPECT_EQ(one.verify(by, done, 15), proof::failed);
  EXPECT_EQ(written.in_effect().at(done.number).last, "failed");
  // An act that fails at once leaves nothing.
  EXPECT_THROW(one.apply(by, "a", act_kind::cap, "3", 20), act_error);
  EXPECT_EQ(written.in_effect().size(), 1U);
}

TEST_F(acting, refuses_what_it_cannot_do) {
  journal written(file);
  actor one(written);
  const auto missing = make_control_file(folder.path / "group/none");
  EXPECT_THROW(one.apply(*missing, "a", act_kind::cap, "1", 1), act_error);
  const auto by = make_control_file(cap);
  EXPECT_THROW(one.apply(*by, "a", act_kind::cap, "", 1), act_error);
  EXPECT_THROW(one.apply(*by, "a", act_kind::cap, "1\n2", 1), act_error);
  EXPECT_EQ(guests::text_in(cap), "max 100000\n");
  EXPECT_TRUE(guests::text_in(file).empty());
}

TEST_F(acting, one_process_at_a_time) {
  const journal first(file);
  try {
    const journal second(file);
    FAIL() << "two have it";
  } catch (const journal_error& error) {
    EXPECT_NE(std::string(error.what()).find("another sukima host acts on this host"), std::string::npos);
  }
}

TEST_F(acting, a_journal_of_others_or_no_file_is_refused) {
  guests::write(file, "");
  fs::permissions(file, fs::perms(0666));
  EXPECT_THROW(journal{file}, journal_error);
  fs::permissions(file, fs::perms(0600));
  EXPECT_NO_THROW(journal{file});
  fs::remove(file);
  fs::create_symlink(cap, file);
  EXPECT_THROW(journal{file}, journal_error);
  fs::remove(file);
  fs::create_directory(file);
  fs::remove(file.string() + ".lock");
  for (const journal_use use : {journal_use::acting, journal_use::undoing, journal_use::looking})
    EXPECT_THROW(journal(file, use), journal_error);
  EXPECT_FALSE(fs::exists(file.string() + ".lock")) << "no lock stays beside a folder";
  EXPECT_THROW(journal("/proc/nonesuch/journal"), journal_error);
}

/// As on a full disk: the journal may not grow. In a child, because the limit is the process's.
TEST_F(acting, on_a_full_disk_nothing_is_done) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    journal written(file);
    actor one(written);
    const auto by = make_control_file(cap);
    const rlimit none{.rlim_cur = 10, .rlim_max = 10};
    if (::setrlimit(RLIMIT_FSIZE, &none) != 0) ::_exit(3);
    try {
      one.apply(*by, "a", act_kind::cap, "5 100", 1);
    } catch (const journal_error&) {
      ::_exit(42);
    }
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_EQ(guests::text_in(cap), "max 100000\n");
  journal written(file);
  EXPECT_TRUE(written.in_effect().empty());
  EXPECT_EQ(written.unreadable(), 0U);
}

TEST_F(acting, lines_that_cannot_be_understood_are_counted_and_the_rest_is_used) {
  {
    journal written(file);
    actor one(written);
    one.apply(*make_control_file(cap), "a", act_kind::cap, "5 100", 1);
  }
  guests::write(file, "nonsense\n{\"act\": -1}\n[]\n{\"act\":7,\"step\":\"danced\"}\n" +
                          guests::text_in(file) + "{\"act\":8,\"step\":\"begun\",\"kind\":\"cap\",\"tar");
  fs::permissions(file, fs::perms(0600));
  journal written(file);
  EXPECT_EQ(written.unreadable(), 4U);
  ASSERT_EQ(revert(written).size(), 1U);
  EXPECT_EQ(guests::text_in(cap), "max 100000\n");
}

/// No act ever had these numbers, and each of them would leave the next act without one.
TEST_F(acting, lines_with_impossible_numbers_are_not_understood) {
  const std::string begun = R"(,"step":"begun","kind":"cap","target":"/x","before":"1","after":"2"})"
                            "\n";
  guests::write(file, R"({"act":0)" + begun + R"({"act":18446744073709551615)" + begun);
  fs::permissions(file, fs::perms(0600));
  journal written(file);
  EXPECT_EQ(written.unreadable(), 2U);
  EXPECT_TRUE(written.in_effect().empty());
  EXPECT_EQ(written.begin({"a", act_kind::cap, cap.string(), "max 100000", "5 100"}), 1U);
}

/// Whatever part of the journal a crash of the machine leaves: nothing is written that was not there before.
TEST_F(acting, every_beginning_of_a_journal_is_safe) {
  {
    journal written(file);
    actor one(written);
    const auto by = make_control_file(cap);
    one.verify(*by, one.apply(*by, "a", act_kind::cap, "5 100", 1), 1);
    one.verify(*by, one.apply(*by, "a", act_kind::cap, "6 100", 1), 1);
    revert(written);
  }
  const std::string whole = guests::text_in(file);
  const auto near_an_end = [&](std::size_t size) {
    return size < 2 || whole.find('\n', size - 2) <= size + 1;
  };
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    if (!near_an_end(size) && size % 31 != 0) continue;  // each takes several writes that reach the disk
    guests::write(file, whole.substr(0, size));
    journal written(file);
    EXPECT_EQ(written.unreadable(), 0U);
    EXPECT_LE(written.in_effect().size(), 2U);
    revert(written);
    EXPECT_EQ(guests::text_in(cap), "max 100000\n");
  }
}

TEST_F(acting, a_long_journal_keeps_what_is_in_effect) {
  journal written(file);
  const std::uint64_t kept = written.begin({"a", act_kind::cap, cap.string(), "max 100000", "5 100"});
  for (int i = 0; i < 20; ++i)
    written.close(written.begin({"b", act_kind::vcpus, std::string(80000, 'x'), "1", "2"}), "ended");
  EXPECT_LT(fs::file_size(file), std::uintmax_t{1} << 20);  // of 1.6 MB that were written
  EXPECT_EQ(written.in_effect().size(), 1U);
  EXPECT_EQ(written.in_effect().begin()->first, kept);
  // Another name of the same file is not a second journal.
  EXPECT_THROW(journal{file}, journal_error);
}

TEST_F(acting, a_journal_that_cannot_be_shortened_leaves_no_part_of_a_new_one) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    journal written(file);
    written.begin({"a", act_kind::cap, std::string(80000, 'x'), "1", "2"});
    while (fs::file_size(file) <= std::uintmax_t{1} << 20)
      written.close(written.begin({"b", act_kind::vcpus, std::string(80000, 'x'), "1", "2"}), "ended");
    const rlimit little{.rlim_cur = 1000, .rlim_max = 1000};
    if (::setrlimit(RLIMIT_FSIZE, &little) != 0) ::_exit(3);
    errno = 0;
    try {
      written.begin({"a", act_kind::cap, cap.string(), "max 100000", "5 100"});
    } catch (const journal_error& error) {
      ::_exit(std::string(error.what()).find("shortened: No space left on device") != std::string::npos ? 42
                                                                                                        : 4);
    }
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_FALSE(fs::exists(file.string() + ".new"));
  EXPECT_EQ(journal(file).in_effect().size(), 1U);
}

/// Acts, verifies and undoes, and dies at the step of this number.
void act_and_die(const fs::path& cap, const fs::path& file, unsigned step) {
  unsigned steps = 0;
  const auto die = [&](const char*) {
    if (++steps == step) ::raise(SIGKILL);
  };
  journal written(file);
  actor one(written, die);
  const auto by = make_control_file(cap);
  one.verify(*by, one.apply(*by, "a", act_kind::cap, "50000 100000", 1), 1);
  one.verify(*by, one.apply(*by, "a", act_kind::cap, "20000 100000", 1), 1);
  revert(written, die);
}

TEST_F(acting, a_kill_at_any_step_is_undone) {
  bool ended = false;
  unsigned steps = 0;
  for (unsigned step = 1; !ended; ++step) {
    SCOPED_TRACE(step);
    const pid_t child = ::fork();
    if (child == 0) {
      act_and_die(cap, file, step);
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ended = WIFEXITED(status);
    journal written(file);
    for (const reverted& one : revert(written)) EXPECT_EQ(one.outcome, "undone");
    EXPECT_EQ(guests::text_in(cap), "max 100000\n");
    EXPECT_TRUE(written.in_effect().empty());
    if (ended) steps = step;
  }
  EXPECT_EQ(steps, 15U);  // 2 × 5 of acting, 2 × 2 of undoing, and the end
}

}  // namespace
