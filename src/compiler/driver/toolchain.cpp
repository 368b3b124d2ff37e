// SPDX-License-Identifier: Apache-2.0
#include "driver/toolchain.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace sukima::language {
namespace {

/// Replaces "@" by the folder of toolchain.json, so that an installation can be moved.
std::string resolved(std::string text, const std::filesystem::path& folder) {
  const std::size_t at = text.find("@/");  // an absolute path may also contain an @
  if (at == std::string::npos) return text;
  const std::filesystem::path path = (folder / text.substr(std::min(at + 2, text.size()))).lexically_normal();
  return text.substr(0, at) + path.string();
}

}  // namespace

toolchain read_toolchain() {
  std::error_code problem;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", problem);
  const std::filesystem::path folder = program.parent_path();
  const std::filesystem::path file = folder / "toolchain.json";
  std::ifstream stream(file);
  if (!stream)
    throw std::runtime_error("cannot read '" + file.string() +
                             "'; reinstall Sukima, or build the target sukima_cc");
  try {
    const nlohmann::json json = nlohmann::json::parse(stream);
    toolchain result;
    result.include = resolved(json.at("include").get<std::string>(), folder);
    if (json.contains("clang_headers"))
      result.clang_headers = resolved(json.at("clang_headers").get<std::string>(), folder);
    for (const auto& word : json.at("compile"))
      result.compile.push_back(resolved(word.get<std::string>(), folder));
    if (json.contains("cluster"))
      for (const auto& word : json.at("cluster"))
        result.cluster.push_back(resolved(word.get<std::string>(), folder));
    for (const auto& word : json.at("link")) result.link.push_back(resolved(word.get<std::string>(), folder));
    return result;
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error("'" + file.string() + "' is invalid (" + error.what() + "); reinstall Sukima");
  }
}

}  // namespace sukima::language
