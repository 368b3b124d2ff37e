// SPDX-License-Identifier: Apache-2.0
#include "source/charsets.hpp"

#include <iconv.h>
#include <llvm/Support/ConvertUTF.h>

#include "translate.hpp"

namespace sukima::language {
namespace {

using namespace clang;

/// A conversion by the C library.
class converter {
 public:
  converter(const std::string& from, const std::string& to) : state_(iconv_open(to.c_str(), from.c_str())) {}
  ~converter() {
    if (is_known()) iconv_close(state_);
  }
  converter(const converter&) = delete;
  converter& operator=(const converter&) = delete;

  bool is_known() const {
    return state_ != reinterpret_cast<iconv_t>(-1);
  }  // NOLINT(performance-no-int-to-ptr)

  /// \returns nothing if the text does not belong to the first set, or not to the second one
  std::optional<std::string> convert(StringRef text) const {
    if (!is_known()) return std::nullopt;
    std::string result(text.size() * 4 + 16, '\0');
    char* in = const_cast<char*>(text.data());  // iconv does not change it
    std::size_t in_left = text.size();
    char* out = result.data();
    std::size_t out_left = result.size();
    iconv(state_, nullptr, nullptr, nullptr, nullptr);
    if (iconv(state_, &in, &in_left, &out, &out_left) != 0 ||
        iconv(state_, nullptr, nullptr, &out, &out_left) != 0)
      return std::nullopt;
    SUKIMA_ASSERT(in_left == 0 && out_left <= result.size(), "a text is converted to its end");
    result.resize(result.size() - out_left);
    return result;
  }

 private:
  iconv_t state_;
};

class recoded_file : public llvm::vfs::File {
 public:
  recoded_file(llvm::vfs::Status facts, std::string text)
      : status_(std::move(facts)), text_(std::move(text)) {}
  llvm::ErrorOr<llvm::vfs::Status> status() override { return status_; }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> getBuffer(const llvm::Twine& name, int64_t, bool,
                                                               bool) override {
    return llvm::MemoryBuffer::getMemBufferCopy(text_, name);
  }
  std::error_code close() override { return {}; }

 private:
  llvm::vfs::Status status_;
  std::string text_;
};

class recoding_file_system : public llvm::vfs::ProxyFileSystem {
 public:
  explicit recoding_file_system(const std::string& charset)
      : ProxyFileSystem(llvm::vfs::getRealFileSystem()), converter_(charset, "UTF-8") {}

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine& path) override {
    auto known = ProxyFileSystem::status(path);
    if (!known || known->getType() != llvm::sys::fs::file_type::regular_file) return known;
    const auto file = openFileForRead(path);
    return file ? (*file)->status() : known;
  }

  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine& path) override {
    auto file = ProxyFileSystem::openFileForRead(path);
    if (!file) return file;
    const auto known = (*file)->status();
    if (!known || known->getType() != llvm::sys::fs::file_type::regular_file) return file;
    const auto bytes = (*file)->getBuffer(path);
    if (!bytes) return bytes.getError();
    std::optional<std::string> text = converter_.convert((*bytes)->getBuffer());
    if (!text) return std::make_error_code(std::errc::illegal_byte_sequence);
    const auto whole = llvm::vfs::Status::copyWithNewSize(*known, text->size());
    return std::make_unique<recoded_file>(whole, *std::move(text));
  }

 private:
  converter converter_;
};

/// Replaces the characters of a literal.
class literal_encoder {
 public:
  explicit literal_encoder(const std::string& charset) : converter_("UTF-8", charset) {
    std::string ascii;
    for (char c = ' '; c <= '~'; ++c) ascii += c;
    keeps_ascii_ = converter_.convert(ascii) == ascii;
  }

  bool keeps_ascii() const { return keeps_ascii_; }

  /// Returns the literal with bytes in octal; nothing: it stays as it is.
  std::optional<std::string> encode(const std::string& literal) const {
    std::string result;
    bool has_changed = false;
    for (std::size_t k = 0; k < literal.size();) {
      const std::string character = character_at(literal, k);
      if (character.empty()) {
        const std::size_t count = literal[k] == '\\' && k + 1 < literal.size() ? 2 : 1;
        result.append(literal, k, count);
        k += count;
        continue;
      }
      const std::optional<std::string> bytes = converter_.convert(character);
      if (!bytes || bytes->find_first_of("\x0e\x0f\x1b") != std::string::npos) return std::nullopt;
      for (const char byte : *bytes) {
        const auto value = static_cast<unsigned char>(byte);
        result += '\\';
        for (const int shift : {6, 3, 0}) result += static_cast<char>('0' + (value >> shift & 7));
      }
      has_changed = true;
    }
    return has_changed ? std::optional(result) : std::nullopt;
  }

 private:
  /// Returns the character beyond ASCII at `k`, in UTF-8, and moves `k` after it; empty: the character at `k`
  /// is in ASCII. It may be written as \uXXXX.
  static std::string character_at(const std::string& text, std::size_t& k) {
    if ((static_cast<unsigned char>(text[k]) & 0x80U) != 0) {
      const std::size_t begin = k++;
      while (k < text.size() && (static_cast<unsigned char>(text[k]) & 0xc0U) == 0x80U) ++k;
      return text.substr(begin, k - begin);
    }
    const bool is_long = text.compare(k, 2, "\\U") == 0;
    const std::size_t digits = is_long ? 8 : 4;
    if ((!is_long && text.compare(k, 2, "\\u") != 0) || k + 2 + digits > text.size()) return "";
    unsigned value = 0;
    if (StringRef(text).substr(k + 2, digits).getAsInteger(16, value) || value < 0x80) return "";
    std::string utf8(4, '\0');
    char* end = utf8.data();
    if (!llvm::ConvertCodePointToUTF8(value, end)) return "";
    utf8.resize(static_cast<std::size_t>(end - utf8.data()));
    k += 2 + digits;
    return utf8;
  }

  converter converter_;
  bool keeps_ascii_ = false;
};

/// Returns the last token of the parentheses that follow `asm` or `__attribute__`.
std::size_t end_of_parentheses(const std::vector<Token>& tokens, std::size_t word) {
  std::size_t t = word + 1;
  while (t < tokens.size() && tokens[t].isOneOf(tok::kw_volatile, tok::kw_goto, tok::kw_inline)) ++t;
  int depth = 0;
  for (; t < tokens.size() && tokens[t].isNot(tok::eof); ++t) {
    if (tokens[t].is(tok::l_paren)) ++depth;
    if (tokens[t].is(tok::r_paren)) --depth;
    if (depth == 0) break;
  }
  return t;
}

}  // namespace

bool is_known_charset(const std::string& name) {
  return converter(name, "UTF-8").is_known() && converter("UTF-8", name).is_known();
}

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> recoded_files(const std::string& charset) {
  return llvm::makeIntrusiveRefCnt<recoding_file_system>(charset);
}

void encode_literals(Preprocessor& preprocessor, const std::string& charset, source_tokens& into) {
  const literal_encoder encoder(charset.empty() ? "UTF-8" : charset);
  if (!encoder.keeps_ascii()) return;
  std::vector<Token>& tokens = into.tokens;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    if (tokens[t].isOneOf(tok::kw_asm, tok::kw___attribute)) {
      t = end_of_parentheses(tokens, t);
      continue;
    }
    // Strings side by side are one, and wide if one of them is.
    std::size_t end = t;
    bool is_narrow = true;
    for (; end < tokens.size() && tok::isStringLiteral(tokens[end].getKind()); ++end)
      is_narrow = is_narrow && tokens[end].is(tok::string_literal);
    if (end == t && tokens[t].is(tok::char_constant))
      ++end;
    else
      is_narrow = is_narrow && !charset.empty();
    for (std::size_t k = t; is_narrow && k < end; ++k) {
      if (into.from_system[k]) continue;
      const std::optional<std::string> text = encoder.encode(preprocessor.getSpelling(tokens[k]));
      if (!text) continue;
      char* const kept = preprocessor.getPreprocessorAllocator().Allocate<char>(text->size());
      std::ranges::copy(*text, kept);
      tokens[k].setLiteralData(kept);
      tokens[k].setLength(static_cast<unsigned>(text->size()));
      tokens[k].clearFlag(Token::NeedsCleaning);
    }
    if (end > t) t = end - 1;
  }
}

}  // namespace sukima::language
