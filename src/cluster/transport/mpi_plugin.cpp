// SPDX-License-Identifier: Apache-2.0
// Finds and loads the plug-in for an implementation of MPI.
#include "transport/mpi_plugin.hpp"

#include "entry/environment.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace sukima::cluster {

namespace {

/// The folder of the file that contains this code: the program, or libsukima-cluster.so.
std::string own_folder() {
  Dl_info where{};
  if (dladdr(reinterpret_cast<const void*>(&make_mpi_transport), &where) == 0 || where.dli_fname == nullptr)
    return {};
  std::filesystem::path file(where.dli_fname);
  std::error_code error;
  // dladdr returned the program's name as it was called.
  if (!file.is_absolute()) file = std::filesystem::read_symlink("/proc/self/exe", error);
  return file.parent_path().string();
}

/// Returns the folder of the plug-ins beside the first `sukima` in that PATH; empty: PATH contains no
/// `sukima`.
std::string folder_beside_launcher(std::string_view path) {
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::filesystem::path launcher = std::filesystem::path(path.substr(begin, end - begin)) / "sukima";
    std::error_code error;
    if (launcher.is_absolute() && access(launcher.c_str(), X_OK) == 0 &&
        std::filesystem::is_regular_file(launcher, error)) {
      const auto real = std::filesystem::canonical(launcher, error);
      return error ? std::string()
                   : (real.parent_path() / SUKIMA_PLUGINS_FROM_LAUNCHER).lexically_normal().string();
    }
    begin = end + 1;
  }
  return {};
}

/// Whether the dynamic linker found no file. If it found one with a fault, its error begins with the whole
/// path of that file, or with the name of a library that the file needs.
bool is_missing(const std::string& place, const std::string& error) {
  return error.starts_with(place + ": ") && access(place.c_str(), F_OK) != 0;
}

}  // namespace

std::vector<std::string> places_of_plugin(const std::string& file,
                                          const char* (*variable)(const char* name)) {
  if (const char* const folder = variable(variable_plugins); folder != nullptr && *folder != 0)
    return {std::string(folder) + "/" + file};
  std::vector<std::string> all;
  if (const std::string own = own_folder(); !own.empty()) {
    all.push_back(own + "/sukima/" + file);
    all.push_back(own + "/" + file);
  }
  all.push_back(file);  // the dynamic linker searches, and the program may contain the folder of its library
  if (const char* const path = variable("PATH"))
    if (const std::string beside = folder_beside_launcher(path); !beside.empty())
      all.push_back(beside + "/" + file);
  all.push_back(std::string(SUKIMA_PLUGIN_FOLDER) + "/" + file);
  return all;
}

mpi_plugin load_plugin(const std::vector<std::string>& places, std::string& why) {
  std::string searched;
  why.clear();
  for (const std::string& place : places) {
    // RTLD_GLOBAL: Open MPI loads its own plug-ins, which need its symbols.
    void* const plugin = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (plugin == nullptr) {
      const std::string error = dlerror();
      if (!is_missing(place, error)) why = error;
      searched += (searched.empty() ? "" : ", ") + place;
      continue;
    }
    if (void* const made = dlsym(plugin, mpi_plugin_function)) return reinterpret_cast<mpi_plugin>(made);
    why = place + " is of another version of Sukima";
  }
  if (why.empty()) why = "there is none of these files: " + searched;
  return nullptr;
}

std::unique_ptr<transport> make_mpi_transport(mpi_kind kind, const mpi_settings& chosen,
                                              const char* (*variable)(const char* name)) {
  const bool open_mpi = kind == mpi_kind::open_mpi;
  const std::string file = open_mpi ? "sukima-cluster-openmpi.so" : "sukima-cluster-mpich.so";
  std::string why;
  if (const mpi_plugin make = load_plugin(places_of_plugin(file, variable), why))
    return std::unique_ptr<transport>(make(chosen));
  throw start_failure(std::string("this program was started by ") + (open_mpi ? "Open MPI" : "MPICH") +
                      ", and the plug-in for that cannot be loaded (" + why +
                      "): install it with Sukima, name its folder in " + variable_plugins +
                      ", or start the program with sukima cluster run");
}

}  // namespace sukima::cluster
