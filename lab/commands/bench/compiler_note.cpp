// SPDX-License-Identifier: Apache-2.0
// Reads the section .comment of ELF files; see compiler_note.hpp.
#include "compiler_note.hpp"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <vector>

namespace sukima::cli::bench {
namespace {

/// `count` bytes of a file; empty if the file has fewer.
std::string bytes_of(std::ifstream& file, std::uint64_t offset, std::uint64_t count) {
  constexpr std::uint64_t sane = 1 << 24;
  if (count > sane) return {};
  std::string bytes(count, '\0');
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  return file ? bytes : std::string();
}

std::string comment_of(const std::filesystem::path& program) {
  std::ifstream file(program, std::ios::binary);
  const std::string head = bytes_of(file, 0, sizeof(Elf64_Ehdr));
  Elf64_Ehdr header;
  if (head.empty() || !head.starts_with(ELFMAG) || head[EI_CLASS] != ELFCLASS64) return {};
  std::memcpy(&header, head.data(), sizeof header);
  const std::string table =
      bytes_of(file, header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  if (header.e_shentsize != sizeof(Elf64_Shdr) || table.empty() || header.e_shstrndx >= header.e_shnum)
    return {};
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), table.data(), table.size());
  const Elf64_Shdr& names_section = sections[header.e_shstrndx];
  const std::string names = bytes_of(file, names_section.sh_offset, names_section.sh_size);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_name >= names.size() || std::strcmp(names.c_str() + section.sh_name, ".comment") != 0)
      continue;
    return bytes_of(file, section.sh_offset, section.sh_size);
  }
  return {};
}

}  // namespace

std::string version_in_comment(std::string_view comment, std::string_view compiler) {
  // "GCC: (Debian 12.2.0-14) 12.2.0", "Debian clang version 19.1.7 (3~deb12u1)", "rustc version 1.85.0 (…)"
  const bool gcc = compiler == "gcc";
  const std::string key = gcc ? "GCC: (" : std::string(compiler) + " version ";
  const std::size_t found = comment.find(key);
  if (compiler.empty() || found == std::string_view::npos) return {};
  std::string_view rest = comment.substr(found + key.size());
  rest = rest.substr(0, rest.find('\0'));
  if (gcc) {
    const std::size_t closing = rest.find(") ");
    if (closing == std::string_view::npos) return {};
    rest.remove_prefix(closing + 2);
  }
  return std::string(rest.substr(0, rest.find(' ')));
}

std::string compiler_version(const std::filesystem::path& program, std::string_view compiler) {
  return version_in_comment(comment_of(program), compiler);
}

}  // namespace sukima::cli::bench
