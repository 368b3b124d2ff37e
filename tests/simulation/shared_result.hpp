// SPDX-License-Identifier: Apache-2.0
// A result in memory that this process shares with its children.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <new>
#include <system_error>

namespace sukima::simulation {

template <class T> class shared_result {
 public:
  shared_result()
      : content_(static_cast<T*>(
            mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    if (content_ == MAP_FAILED) throw std::system_error(errno, std::system_category(), "simulation: mmap");
    new (content_) T;
  }
  ~shared_result() { munmap(content_, sizeof(T)); }
  shared_result(const shared_result&) = delete;
  shared_result& operator=(const shared_result&) = delete;
  T& operator*() noexcept { return *content_; }
  T* operator->() noexcept { return content_; }

 private:
  T* content_;
};

}  // namespace sukima::simulation
