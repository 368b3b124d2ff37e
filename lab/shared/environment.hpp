// SPDX-License-Identifier: Apache-2.0
// The environments in which the lab runs programs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner.hpp"

namespace sukima::lab {

/// State that the environments of a run share.
struct environment_settings {
  unsigned cpus = 1;  ///< of this machine for this process
  std::filesystem::path scripts;  ///< the folder with build-image.sh
  std::filesystem::path
      cache;  ///< the folder for the guests' kernel; kept, because fetching it takes longest
  std::vector<std::filesystem::path> programs;  ///< programs to copy into the guests
};

/// Makes stages: of the bare machine and of CPU sets with taskset(1), of control groups below this process's
/// group, of virtual machines with QEMU. The image and the accelerator of the guests are determined once,
/// when the first guests are needed.
/// \param on_facts called when these are known: "kvm" or "tcg", and versions of QEMU and the guests' kernel
stage_maker environments_of_this_machine(
    environment_settings settings,
    std::function<void(const std::string& accelerator, const std::map<std::string, std::string>& versions)>
        on_facts);

/// Makes a stage of the bare machine, or of the first `cpus` of the CPUs that this process may use. \throws
/// obstacle
std::unique_ptr<stage> make_machine_stage(unsigned cpus);
/// Makes a control group for each copy; for a cap, with a quota. \throws obstacle
std::unique_ptr<stage> make_group_stage(const environment& where, unsigned cpus);
/// Makes a virtual machine for each copy, and waits until all of them run. \throws obstacle,
/// std::runtime_error
std::unique_ptr<stage> make_guest_stage(const environment& where, unsigned vcpus,
                                        const std::string& accelerator, const std::filesystem::path& image);

}  // namespace sukima::lab
