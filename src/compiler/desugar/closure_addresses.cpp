// SPDX-License-Identifier: Apache-2.0
#include "desugar/closure_addresses.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Looks at each token that the parser reads.
class address_watcher {
 public:
  address_watcher(Preprocessor& preprocessor, const Parser& parser, Sema& sema, const unit& u)
      : preprocessor_(preprocessor), parser_(parser), sema_(sema), unit_(u) {}

  void operator()(const Token& token) const {
    if (token.isNot(tok::amp)) return;
    const token_index t = unit_.find(token.getLocation());
    const token_index name = t == no_token ? no_token : operand_of(t);
    if (name == no_token || !names_closure(name)) return;
    auto star = std::make_unique<Token[]>(1);
    star[0].startToken();
    star[0].setKind(tok::star);
    star[0].setLocation(token.getLocation());
    star[0].setLength(1);
    preprocessor_.EnterTokenStream(std::move(star), 1, /*DisableMacroExpansion=*/true, /*IsReinject=*/true);
  }

 private:
  /// Returns the next token that the parser sees.
  token_index next_parsed(token_index t) const {
    do ++t;
    while (t < unit_.tokens.size() &&
           (unit_.roles[t] == token_role::keyword || unit_.roles[t] == token_role::printed_only));
    return t;
  }

  /// Returns the name, perhaps in parentheses, whose address an `&` takes; no_token: the operand is not just
  /// a name, as in `&f(1)->member`.
  token_index operand_of(token_index t) const {
    int depth = 0;
    for (t = next_parsed(t); unit_.tokens[t].is(tok::l_paren); t = next_parsed(t)) ++depth;
    const token_index name = t;
    if (unit_.tokens[name].isNot(tok::identifier)) return no_token;
    for (t = next_parsed(t); depth > 0 && unit_.tokens[t].is(tok::r_paren); t = next_parsed(t)) --depth;
    const bool goes_on = depth > 0 || unit_.tokens[t].isOneOf(tok::l_paren, tok::l_square, tok::period,
                                                              tok::arrow, tok::plusplus, tok::minusminus);
    return goes_on ? no_token : name;
  }

  bool names_closure(token_index t) const {
    const Token& name = unit_.tokens[t];
    if (unit_.closures.empty() || parser_.getCurScope() == nullptr) return false;
    LookupResult found(sema_, name.getIdentifierInfo(), name.getLocation(), Sema::LookupOrdinaryName);
    found.suppressDiagnostics();
    if (!sema_.LookupName(found, parser_.getCurScope()) || !found.isSingleResult()) return false;
    const auto* const variable = dyn_cast<VarDecl>(found.getFoundDecl());
    return variable != nullptr && !isa<ParmVarDecl>(variable) &&
           unit_.closure_named_at(unit_.find(variable->getLocation())) != nullptr;
  }

  Preprocessor& preprocessor_;
  const Parser& parser_;
  Sema& sema_;
  const unit& unit_;
};

}  // namespace

void watch_closure_addresses(Preprocessor& preprocessor, const Parser& parser, Sema& sema, const unit& u) {
  preprocessor.setTokenWatcher(address_watcher(preprocessor, parser, sema, u));
}

}  // namespace sukima::language
