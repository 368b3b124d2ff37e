// SPDX-License-Identifier: Apache-2.0
#include "print/printer.hpp"

#include "print/macros.hpp"
#include "print/writer.hpp"

namespace sukima::language {

using namespace clang;

namespace {

class printer {
 public:
  printer(CompilerInstance& compiler, const unit& u, bool line_directives)
      : preprocessor_(compiler.getPreprocessor()),
        sources_(compiler.getSourceManager()),
        unit_(u),
        line_directives_(line_directives) {}

  void print(writer& out, const sheet& s) const {
    for (const step& one : s.steps())
      std::visit([&](const auto& content) { print_step(out, content); }, one.content);
  }

 private:
  void print_step(writer& out, const plain_text& t) const { out.text(t.text); }
  void print_step(writer& out, const printed_word& w) const { out.token(w.text, w.space); }
  void print_step(writer& out, const source_line& l) const {
    const PresumedLoc presumed = sources_.getPresumedLoc(sources_.getExpansionLoc(l.location));
    if (presumed.isValid())
      out.go_to(unit_.source.bare_files.contains(presumed.getFilename()) ? presumed.getFilename() + 2
                                                                         : presumed.getFilename(),
                presumed.getLine(), l.column ? presumed.getColumn() : 0);
  }
  void print_step(writer& out, const line_end&) const { out.end_line(); }
  void print_step(writer& out, const sheet& s) const {
    writer inner(line_directives_);
    print(inner, s);
    out.append(inner);
  }

  /// Runs the only loop over the user's tokens.
  void print_step(writer& out, const token_run& run) const {
    for (token_index t = run.tokens.begin; t < run.tokens.end;) {
      const auto found = run.edits.find(t);
      if (found == run.edits.end()) {
        t = print_change(out, t, kept{});
        continue;
      }
      const edit& e = found->second;
      print(out, e.before);
      t = std::visit([&](const auto& change) { return print_change(out, t, change); }, e.change);
      out.text(e.after);
    }
  }

  // Prints the edit of a token. \returns the next one
  token_index print_change(writer& out, token_index t, const kept&) const {
    const Token& token = unit_.tokens[t];
    if (token.isAnnotation() || token.is(tok::eof)) return t + 1;
    SUKIMA_ASSERT(unit_.roles[t] != token_role::parsed_only && unit_.roles[t] != token_role::keyword,
                  "the output has no tokens that only the parser or only desugaring sees");
    print_step(out, source_line{token.getLocation(), true});
    out.token(spelling_of(preprocessor_, token), token.hasLeadingSpace() || token.isAtStartOfLine());
    return t + 1;
  }
  token_index print_change(writer&, token_index t, const left_out&) const { return t + 1; }
  token_index print_change(writer& out, token_index t, const reworded& change) const {
    print_step(out, source_line{unit_.tokens[t].getLocation(), true});
    for (const printed_word& one : change.words) print_step(out, one);
    return t + 1;
  }
  token_index print_change(writer& out, token_index, const replaced& change) const {
    print(out, change.by);
    return change.end;
  }

  Preprocessor& preprocessor_;
  const SourceManager& sources_;
  const unit& unit_;
  bool line_directives_;
};

}  // namespace

std::string spelling_of(Preprocessor& preprocessor, const Token& token) {
  if (token.isAnnotation()) return "";
  if (token.getIdentifierInfo() != nullptr) return token.getIdentifierInfo()->getName().str();
  if (!token.isLiteral())
    if (const char* punctuation = tok::getPunctuatorSpelling(token.getKind())) return punctuation;
  if (token.isLiteral() && !token.needsCleaning() && token.getLiteralData() != nullptr)
    return {token.getLiteralData(), token.getLength()};  // encode_literals may have changed it
  return preprocessor.getSpelling(token);
}

std::string print_sheet(CompilerInstance& compiler, const unit& u, const sheet& s, bool line_directives) {
  writer out(line_directives);
  printer(compiler, u, line_directives).print(out, s);
  return without_second_expansion(compiler, out.str(), line_directives);
}

std::string print_on_one_line(CompilerInstance& compiler, const unit& u, const sheet& s) {
  writer out(false);
  printer(compiler, u, false).print(out, s);
  std::string text = out.str();
  std::replace(text.begin(), text.end(), '\n', ' ');
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first);
}

}  // namespace sukima::language
