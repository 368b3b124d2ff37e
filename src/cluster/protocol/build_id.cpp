// SPDX-License-Identifier: Apache-2.0
#include "protocol/build_id.hpp"

#include "protocol/hexadecimal.hpp"
#include "protocol/mac.hpp"

#include <elf.h>
#include <link.h>
#include <base/shared/read_text.hpp>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace sukima::cluster {

namespace {

using id_bytes = std::vector<std::byte>;

/// Returns the build id in the notes of a loaded object; empty: it has no build id.
id_bytes note_id(const dl_phdr_info& object) {
  constexpr std::size_t alignment = 4;
  const auto aligned = [](std::size_t size) { return (size + alignment - 1) / alignment * alignment; };
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(object.dlpi_addr + segment.p_vaddr);
    std::size_t left = segment.p_memsz;
    while (left >= sizeof(ElfW(Nhdr))) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const std::size_t size = sizeof note + aligned(note.n_namesz) + aligned(note.n_descsz);
      if (size > left) break;
      const char* const name = at + sizeof note;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
        const auto* const id = reinterpret_cast<const std::byte*>(name + aligned(note.n_namesz));
        return {id, id + note.n_descsz};
      }
      at += size;
      left -= size;
    }
  }
  return {};
}

id_bytes file_hash(const std::string& path) {
  const std::string content = read_file_text(path).value_or("");
  const digest hash = mac({}, {std::as_bytes(std::span(content))});
  return {hash.begin(), hash.end()};
}

bool holds(const dl_phdr_info& object, const void* address) noexcept {
  const auto place = reinterpret_cast<ElfW(Addr)>(address);
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& segment = object.dlpi_phdr[i];
    const ElfW(Addr) begin = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && place >= begin && place < begin + segment.p_memsz) return true;
  }
  return false;
}

struct collected {
  std::span<const void* const> registered;
  std::vector<std::string> ids;  ///< hexadecimal
  bool is_first = true;  ///< the program itself comes first
};

int collect(dl_phdr_info* object, std::size_t /*size*/, void* argument) {
  auto& all = *static_cast<collected*>(argument);
  const bool is_program = std::exchange(all.is_first, false);
  const bool concerns = std::any_of(all.registered.begin(), all.registered.end(),
                                    [&](const void* address) { return holds(*object, address); });
  if (!is_program && !concerns) return 0;
  id_bytes id = note_id(*object);
  if (id.empty()) id = file_hash(is_program ? "/proc/self/exe" : object->dlpi_name);
  all.ids.push_back(hexadecimal(id));
  return 0;
}

}  // namespace

std::string build_id(std::span<const void* const> registered) {
  collected all{registered, {}, true};
  dl_iterate_phdr(collect, &all);
  if (all.ids.size() == 1) return all.ids.front();
  std::sort(all.ids.begin(), all.ids.end());
  std::string together;
  for (const std::string& id : all.ids) together += id;
  return hexadecimal(mac({}, {std::as_bytes(std::span(together))}));
}

}  // namespace sukima::cluster
