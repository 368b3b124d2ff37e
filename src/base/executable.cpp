// SPDX-License-Identifier: Apache-2.0
// Reads ELF files; see executable.hpp. It checks every offset of the file before it uses it, because programs
// may be damaged, or made to look so.
#include "shared/executable.hpp"

#include <elf.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

namespace sukima::process {
namespace {

namespace fs = std::filesystem;

/// More program headers, or bytes of tables, than any program has.
constexpr std::size_t most_headers = 256;
constexpr std::size_t most_bytes = 1U << 20;

/// A file that is read in pieces.
class pieces {
 public:
  explicit pieces(const fs::path& file) : stream_(file, std::ios::binary) {}
  bool is_open() const { return stream_.is_open(); }

  /// Reads bytes from an offset; fewer if the file ends earlier.
  std::string read(std::uint64_t offset, std::size_t size) {
    std::string bytes(std::min(size, most_bytes), '\0');
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream_.gcount(), 0)));
    return bytes;
  }

  /// Reads an array of the file's tables; shorter if the file ends earlier.
  template <class Entry>
  std::vector<Entry> read_array(std::uint64_t offset, std::size_t count) {
    const std::string bytes = read(offset, std::min(count, most_bytes / sizeof(Entry)) * sizeof(Entry));
    std::vector<Entry> entries(bytes.size() / sizeof(Entry));
    if (!entries.empty()) std::memcpy(entries.data(), bytes.data(), entries.size() * sizeof(Entry));
    return entries;
  }

 private:
  std::ifstream stream_;
};

using file_header = ElfW(Ehdr);
using program_header = ElfW(Phdr);

constexpr unsigned char own_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

/// Returns the program headers of an ELF file for this machine's word size; empty for other files.
std::vector<program_header> headers_of(pieces& file) {
  const auto heads = file.read_array<file_header>(0, 1);
  if (heads.empty() || std::memcmp(heads[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      heads[0].e_ident[EI_CLASS] != own_class || heads[0].e_phentsize != sizeof(program_header) ||
      heads[0].e_phnum > most_headers)
    return {};
  return file.read_array<program_header>(heads[0].e_phoff, heads[0].e_phnum);
}

/// Why nothing can be preloaded into a file that headers_of does not understand; empty: it is not a program.
std::string obstacle_of_foreign(const std::string& begin) {
  if (begin.size() < EI_NIDENT || !begin.starts_with(ELFMAG)) return {};
  const auto word = static_cast<unsigned char>(begin[EI_CLASS]);
  if (word != own_class && (word == ELFCLASS32 || word == ELFCLASS64))
    return word == ELFCLASS32 ? "the program is a 32-bit one" : "the program is a 64-bit one";
  return "the program is for another kind of processor";
}

std::string loader_in(pieces& file, const std::vector<program_header>& headers) {
  for (const program_header& h : headers)
    if (h.p_type == PT_INTERP) {
      const std::string name = file.read(h.p_offset, std::min<std::size_t>(h.p_filesz, 4096));
      return name.substr(0, name.find('\0'));
    }
  return {};
}

/// Returns the interpreter that the first line of a script names; for "env", the program that env starts.
std::optional<fs::path> interpreter_of(pieces& file) {
  std::istringstream head(file.read(0, 256));
  std::string line, word;
  if (!std::getline(head, line) || !line.starts_with("#!")) return std::nullopt;
  std::istringstream words(line.substr(2));
  if (!(words >> word)) return std::nullopt;
  if (fs::path(word).filename() != "env") return word;
  while (words >> word)
    if (!word.starts_with('-')) return find_program(word, getenv("PATH"));
  return std::nullopt;
}

}  // namespace

std::optional<fs::path> find_program(const std::string& name, const char* search_path) {
  const auto may_run = [](const fs::path& file) {
    std::error_code ignored;
    return fs::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos)
    return may_run(name) ? std::optional(fs::path(name)) : std::nullopt;
  std::string_view folders = search_path != nullptr ? search_path : "/bin:/usr/bin";
  for (;;) {  // an empty folder, also at the end, is the current one
    const std::string_view folder = folders.substr(0, folders.find(':'));
    fs::path file = fs::path(folder.empty() ? "." : folder) / name;
    if (may_run(file)) return file;
    if (folder.size() == folders.size()) return std::nullopt;
    folders.remove_prefix(folder.size() + 1);
  }
}

std::string trouble_with_interpreter(const fs::path& program) {
  using namespace std::string_view_literals;
  pieces file(program);
  const std::string head = file.read(0, 256);
  std::string name;
  if (head.starts_with("#!")) {
    // The kernel treats a carriage return as part of the name.
    const std::size_t begin = std::min(head.find_first_not_of(" \t", 2), head.size());
    name = head.substr(begin, head.find_first_of(" \t\n\0"sv, begin) - begin);
  } else {
    name = loader_in(file, headers_of(file));
  }
  if (name.ends_with('\r')) return "its first line ends with a carriage return, as on Windows; remove that";
  std::error_code ignored;
  if (name.empty() || fs::exists(name, ignored)) return "the interpreter or loader that it needs is missing";
  return "its interpreter '" + name + "' does not exist";
}

std::string loader_of(const fs::path& program) {
  pieces file(program);
  return file.is_open() ? loader_in(file, headers_of(file)) : std::string();
}

std::string obstacle_to_preloading(const fs::path& program, const std::string& loader) {
  pieces file(program);
  if (!file.is_open()) return {};
  // An interpreter may itself be a script; the kernel follows up to four of them.
  if (const auto interpreter = interpreter_of(file)) {
    pieces next(*interpreter);
    if (next.is_open() && interpreter_of(next)) return {};
    return obstacle_to_preloading(*interpreter, loader);
  }
  struct stat status{};
  if (stat(program.c_str(), &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) != 0)
    return "the program runs with the rights of its owner";
  // The loader treats such a program like one with more rights than its user, and preloads no library.
  if (geteuid() != 0 && getxattr(program.c_str(), "security.capability", nullptr, 0) > 0)
    return "the program has capabilities of its own";
  const std::vector<program_header> headers = headers_of(file);
  if (headers.empty()) return obstacle_of_foreign(file.read(0, EI_NIDENT));
  const std::string own = loader_in(file, headers);
  if (own.empty()) return "the program is linked statically";
  // If folders such as /lib are links, two paths may name the same file.
  std::error_code ignored;
  if (own != loader && !fs::equivalent(own, loader, ignored))
    return "the program uses another C library (" + own + ")";
  return {};
}

}  // namespace sukima::process
