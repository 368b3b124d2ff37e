// SPDX-License-Identifier: Apache-2.0
// A locale whose decimal point is a comma, made by localedef because a machine may have none.
#pragma once

#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace support {

/// Sets the locale of the process as long as this object exists, as a program for people does.
class comma_locale {
 public:
  comma_locale() {
    std::string name = (std::filesystem::temp_directory_path() / "sukima-locale-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder " + name);
    folder_ = name;
    std::ofstream(folder_ / "comma.source") << "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\n"
                                               "grouping 3;3\nEND LC_NUMERIC\n";
    // It warns of each category that the source lacks; setlocale below says whether the locale was made.
    static_cast<void>(!std::system(
        ("localedef -c -f ANSI_X3.4-1968 -i '" + name + "/comma.source' '" + name + "/comma' >/dev/null 2>&1")
            .c_str()));
    setenv("LOCPATH", name.c_str(), 1);
    EXPECT_NE(std::setlocale(LC_NUMERIC, "comma"), nullptr) << "localedef has made no locale";
    EXPECT_EQ(std::to_string(1.5), "1,500000");
  }
  comma_locale(const comma_locale&) = delete;
  comma_locale& operator=(const comma_locale&) = delete;
  ~comma_locale() {
    std::setlocale(LC_NUMERIC, "C");
    unsetenv("LOCPATH");
    std::filesystem::remove_all(folder_);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace support
