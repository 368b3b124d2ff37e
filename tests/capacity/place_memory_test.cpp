// SPDX-License-Identifier: Apache-2.0
// The domain of memory: the kernel's answers, and the handling of a refusal.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "recorded_tree.hpp"

namespace {

using sukima_test::place_table_pointer;
using sukima_test::recorded_tree;

/// The table of a machine with so many domains, 0 and the next ones: with more than one the kernel is asked.
place_table_pointer make_table(recorded_tree& tree, int domains) {
  tree.machine("0-1", "0-1").file("/sys/devices/system/node/online", "0-" + std::to_string(domains - 1));
  tree.file("/sys/devices/system/node/node0/cpulist", "0");
  for (int i = 1; i < domains; i++)
    tree.file("/sys/devices/system/node/node" + std::to_string(i) + "/cpulist", "1");
  const sukima_capacity_options options = tree.options();
  return place_table_pointer(sukima_place_table_open(&options));
}

/// The kernel's answer without the library: a domain, or an error number below 0.
long ask_kernel(const void* pointer) {
  int status = -1;
  return syscall(SYS_move_pages, 0L, 1UL, &pointer, nullptr, &status, 0L) == 0 ? status : -errno;
}

sukima_place ask(const sukima_place_table* table, const void* pointer) {
  sukima_place result = 99;
  sukima_place_table_of_memory(table, &pointer, 1, &result);
  return result;
}

/// Pages that have not been touched.
class pages {
 public:
  explicit pages(std::size_t count) : size_(count * page_size()) {
    memory_ =
        static_cast<char*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    madvise(memory_, size_, MADV_NOHUGEPAGE);
  }
  ~pages() { munmap(memory_, size_); }
  pages(const pages&) = delete;
  pages& operator=(const pages&) = delete;
  char* at(std::size_t page) const { return memory_ + page * page_size(); }
  static std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

 private:
  std::size_t size_;
  char* memory_;
};

TEST(place_of, a_touched_page_is_what_the_kernel_says) {
  recorded_tree tree;
  const place_table_pointer table = make_table(tree, 2);
  const pages memory(1);
  *memory.at(0) = 1;
  const long domain = ask_kernel(memory.at(0));
  errno = 77;
  const sukima_place found = ask(table.get(), memory.at(0) + 100);
  EXPECT_EQ(errno, 77);
  if (domain < 0) {
    EXPECT_EQ(found, SUKIMA_PLACE_ANY);  // refused here
  } else {
    EXPECT_EQ(found, sukima_place_table_of_domain(table.get(), static_cast<unsigned>(domain)));
  }
}

TEST(place_of, an_untouched_page_is_any_and_stays_untouched) {
  recorded_tree tree;
  const place_table_pointer table = make_table(tree, 2);
  const pages memory(1);
  errno = 77;
  EXPECT_EQ(ask(table.get(), memory.at(0)), SUKIMA_PLACE_ANY);
  EXPECT_EQ(ask(table.get(), nullptr), SUKIMA_PLACE_ANY);
  EXPECT_EQ(errno, 77);
  unsigned char is_there = 1;
  ASSERT_EQ(mincore(memory.at(0), pages::page_size(), &is_there), 0);
  EXPECT_EQ(is_there & 1, 0);
}

TEST(place_of, more_pages_than_one_call_takes) {
  recorded_tree tree;
  const place_table_pointer table = make_table(tree, 2);
  const pages memory(600);
  std::vector<const void*> pointers;
  for (std::size_t i = 0; i < 600; i++) {
    if (i % 3 == 0) *memory.at(i) = 1;
    pointers.push_back(memory.at(i));
  }
  std::vector<sukima_place> places(601, 99);
  sukima_place_table_of_memory(table.get(), pointers.data(), pointers.size(), places.data());
  EXPECT_EQ(places.back(), 99);
  for (std::size_t i = 0; i < 600; i++) EXPECT_EQ(places[i], ask(table.get(), pointers[i])) << "page " << i;
  EXPECT_EQ(places[1], SUKIMA_PLACE_ANY);
  sukima_place_table_of_memory(table.get(), nullptr, 0, nullptr);
}

#if defined(__x86_64__) || defined(__aarch64__)
/// Ends the calling process with 0 if `places` are all any, in a sandbox where move_pages gives `result`.
[[noreturn]] void ask_in_sandbox(const sukima_place_table* table, unsigned result) {
#ifdef __x86_64__
  constexpr unsigned architecture = AUDIT_ARCH_X86_64;
#else
  constexpr unsigned architecture = AUDIT_ARCH_AARCH64;
#endif
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, architecture, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_move_pages, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, result),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    _exit(50);
  int local = 1;
  const void* const pointers[2] = {&local, table};
  sukima_place places[2] = {99, 99};
  errno = 77;
  sukima_place_table_of_memory(table, pointers, 2, places);
  if (places[0] != SUKIMA_PLACE_ANY || places[1] != SUKIMA_PLACE_ANY) _exit(1);
  if (errno != 77) _exit(2);
  _exit(0);
}

int code_in_sandbox(const sukima_place_table* table, unsigned result) {
  const pid_t child = fork();
  if (child == 0) ask_in_sandbox(table, result);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(place_of, is_any_where_a_sandbox_refuses) {
  recorded_tree tree;
  const place_table_pointer table = make_table(tree, 2);
  const int code = code_in_sandbox(table.get(), SECCOMP_RET_ERRNO | EPERM);
  if (code == 50) GTEST_SKIP() << "this kernel does not filter system calls";
  EXPECT_EQ(code, 0);
  EXPECT_EQ(code_in_sandbox(table.get(), SECCOMP_RET_ERRNO | ENOSYS), 0);
  // Some filters answer 0 and do nothing.
  EXPECT_EQ(code_in_sandbox(table.get(), SECCOMP_RET_ERRNO | 0), 0);
}

TEST(place_of, makes_no_system_call_with_one_domain) {
  recorded_tree tree;
  const place_table_pointer table = make_table(tree, 1);
  const int code = code_in_sandbox(table.get(), SECCOMP_RET_KILL_PROCESS);
  if (code == 50) GTEST_SKIP() << "this kernel does not filter system calls";
  EXPECT_EQ(code, 0);
}
#endif

}  // namespace
