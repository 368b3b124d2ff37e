// SPDX-License-Identifier: Apache-2.0
// A main thread that ends by pthread_exit: main_ends_program WAY [PLUG-IN ...]
#include <sukima/sukima.hpp>

#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace {

long fib(sukima::context c, int n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(
      c, [=](sukima::context d) { return fib(d, n - 1); }, [=](sukima::context d) { return fib(d, n - 2); });
  return a + b;
}

void compute(const char* where) {
  std::printf("%s %ld\n", where, sukima::run([](sukima::context c) { return fib(c, 18); }));
  std::fflush(stdout);
}

void wait_for_end_of_main() {
  for (;;) {
    std::ifstream file("/proc/self/stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (text.compare(text.rfind(')') + 2, 1, "Z") == 0) return;
    std::this_thread::yield();
  }
}

/// From now on no thread can be started, as with a limit on the number of processes. Without this filter the
/// kernel starts them, and the program ends in the usual way.
void forbid_threads() {
  // Without clone3 the C library calls clone, whose EAGAIN it returns.
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

void start_thread() {
  std::thread([] {
    wait_for_end_of_main();
    compute("thread");
  }).detach();
}

}  // namespace

int main(int, char** arguments) {
  const std::string way = arguments[1];
  std::atexit([] { compute("exit"); });
  if (way == "alone") {
    compute("main");
  } else if (way == "thread-destructor") {
    compute("main");
    pthread_key_t key{};
    pthread_key_create(&key, [](void*) { compute("thread's end"); });
    pthread_setspecific(key, &key);
  } else if (way == "thread-after") {
    compute("main");
    start_thread();
  } else if (way == "no-thread") {
    compute("main");
    forbid_threads();
  } else if (way == "thread-first") {  // the runtime starts after the end of main
    start_thread();
  } else if (way == "own-runtime") {
    sukima::settings s;
    s.workers = 3;
    auto* const kept = new sukima::runtime(s);
    std::printf("main %ld\n", kept->run([](sukima::context c) { return fib(c, 18); }));
  } else if (way == "child") {
    std::thread([] {  // in the child, this thread is the main thread
      compute("parent");
      const pid_t child = fork();
      if (child == 0) {
        compute("child");
        pthread_exit(nullptr);
      }
      int status = 0;
      while (waitpid(child, &status, 0) < 0) {
      }
      std::printf("status %d\n", status);
      std::fflush(stdout);
    })
        .join();
  } else if (way == "plug-ins") {  // each has a copy of the library
    for (char** name = arguments + 2; *name != nullptr; ++name) {
      void* const plug_in = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
      if (plug_in == nullptr) std::puts(dlerror());
      const auto sum = reinterpret_cast<long (*)(int)>(dlsym(plug_in, "sum_up_to"));
      std::printf("plug-in %ld\n", sum(100));
    }
  } else if (way == "signal") {
    compute("main");
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) std::signal(number, SIG_DFL);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([] {
      wait_for_end_of_main();
      std::puts("waits");
      std::fflush(stdout);
      for (;;) pause();
    }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  std::fflush(stdout);
  pthread_exit(nullptr);
}
