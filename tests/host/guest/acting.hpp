// SPDX-License-Identifier: Apache-2.0
// What the tests of acting and of undoing share.
#pragma once

#include <gtest/gtest.h>

#include "fake_machine.hpp"
#include "shared/act.hpp"

namespace guests {

/// A control group with two files, and a place for the journal.
class acting : public testing::Test {
 protected:
  acting() {
    write(cap, "max 100000\n");
    write(weight, "100\n");
  }

  guests::folder folder;
  const std::filesystem::path cap = folder.path / "group/cpu.max", weight = folder.path / "group/cpu.weight";
  const std::filesystem::path file = folder.path / "state/journal";
};

}  // namespace guests
