// SPDX-License-Identifier: Apache-2.0
// Prints numbers for programs in a process whose locale belongs to the user.
#pragma once

#include <locale.h>  // NOLINT(modernize-deprecated-headers): uselocale

namespace sukima {

/// As long as it exists, functions of C, such as printf, and std::to_string print numbers of this thread as
/// in the locale "C". In many other locales the decimal point is a comma, which no reader of a file expects.
/// The thread that constructs it destroys it.
class plain_numbers {
 public:
  plain_numbers() noexcept
      : plain_(newlocale(LC_ALL_MASK, "C", nullptr)),
        before_(plain_ == nullptr ? nullptr : uselocale(plain_)) {}
  plain_numbers(const plain_numbers&) = delete;
  plain_numbers& operator=(const plain_numbers&) = delete;
  ~plain_numbers() {
    if (plain_ == nullptr) return;
    uselocale(before_);
    freelocale(plain_);
  }

 private:
  const locale_t plain_, before_;
};

}  // namespace sukima
