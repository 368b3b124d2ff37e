// SPDX-License-Identifier: Apache-2.0
// Reports features of newer C, and extensions of Clang, that the C compiler behind the translator does not
// know. Otherwise that compiler would complain about the generated C.
#include <algorithm>
#include <charconv>

#include "check/check.hpp"
#include "check/rules.hpp"

namespace sukima::language {
namespace {

using namespace clang;

constexpr int never = 1000;

/// A word that gcc knows from a version on.
struct new_word {
  tok::TokenKind kind;
  int version;
  const char* header;  ///< this header defines it as a macro for older compilers; or null
};

constexpr new_word new_words[] = {
    {tok::kw__BitInt, 14, nullptr},
    {tok::kw_constexpr, 13, nullptr},
    {tok::kw_nullptr, 13, nullptr},
    {tok::kw_typeof_unqual, 13, nullptr},
    {tok::kw___bf16, 13, nullptr},
    {tok::kw_bool, 13, "/stdbool.h"},
    {tok::kw_true, 13, "/stdbool.h"},
    {tok::kw_false, 13, "/stdbool.h"},
    {tok::kw_alignas, 13, "/stdalign.h"},
    {tok::kw_alignof, 13, "/stdalign.h"},
    {tok::kw_static_assert, 13, "/assert.h"},
    {tok::kw_thread_local, 13, "/threads.h"},
    {tok::kw__Nonnull, never, nullptr},
    {tok::kw__Nullable, never, nullptr},
    {tok::kw__Null_unspecified, never, nullptr},
};

/// Returns the version of gcc; 0: the C compiler is another one.
int version_of_gcc(const std::vector<predefined_macro>& macros) {
  int version = 0;
  for (const predefined_macro& one : macros) {
    if (one.name == "__clang__" || one.name == "__INTEL_COMPILER") return 0;
    if (one.name == "__GNUC__")
      std::from_chars(one.value.data(), one.value.data() + one.value.size(), version);
  }
  return version;
}

class c_compiler_checker : rules {
 public:
  c_compiler_checker(CompilerInstance& compiler, const unit& u, const semantic_index& index, int version)
      : rules(compiler, u, index), version_(version) {}

  void run() {
    for (token_index t = 0; t < unit_.tokens.size(); ++t)
      if (unit_.roles[t] == token_role::user) check_word(t);
    for (const auto& [t, variable] : in_order(index_.declared)) {
      const auto* deduced = dyn_cast_or_null<AutoType>(variable->getType()->getContainedDeducedType());
      if (deduced != nullptr && deduced->getKeyword() == AutoTypeKeyword::Auto)
        needs(13, location_of(t), "'auto' without a type", "; '__auto_type' means the same");
    }
    for (const auto& [t, named] : in_order(index_.names))
      if (const auto* type = dyn_cast<EnumDecl>(named);
          type != nullptr && type->isFixed() && unit_.find(type->getLocation()) == t)
        needs(13, location_of(t), "an enum with a type", "");
  }

 private:
  void check_word(token_index t) {
    const Token& token = unit_.tokens[t];
    for (const new_word& word : new_words)
      if (token.is(word.kind) && !(word.header != nullptr && includes(word.header)))
        needs(word.version, token.getLocation(), "'" + token.getIdentifierInfo()->getName().str() + "'", "");
  }

  bool includes(const char* header) const {
    return std::ranges::any_of(unit_.source.files,
                               [header](const std::string& file) { return file.ends_with(header); });
  }

  /// Reports each feature once.
  void needs(int version, SourceLocation location, const std::string& feature, const std::string& hint) {
    if (version_ >= version || !reported_.insert(feature).second) return;
    error(location,
          feature +
              (version == never ? " is an extension of Clang" : " needs gcc " + std::to_string(version)) +
              ", but the C compiler is gcc " + std::to_string(version_) +
              "; do without it, or choose a compiler that knows it, such as --backend=clang-19" + hint);
  }

  int version_;
  std::set<std::string> reported_;
};

}  // namespace

void check_c_compiler(CompilerInstance& compiler, const unit& u, const semantic_index& index,
                      const std::vector<predefined_macro>& macros) {
  if (const int version = version_of_gcc(macros); version > 0)
    c_compiler_checker(compiler, u, index, version).run();
}

}  // namespace sukima::language
