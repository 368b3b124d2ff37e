// SPDX-License-Identifier: Apache-2.0
#include "translate.hpp"

#include <fstream>

#include "check/check.hpp"
#include "check/diagnostics.hpp"
#include "clang_paths.hpp"
#include "desugar/desugar.hpp"
#include "index/semantic_index.hpp"
#include "plan/plan.hpp"
#include "print/printer.hpp"
#include "source/preprocess.hpp"

namespace sukima::language {
namespace {

using namespace clang;

class translation : public ASTFrontendAction {
 public:
  translation(const translation_request& request, translation_result& result)
      : request_(request), result_(result) {}

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance&, StringRef) override {
    return std::make_unique<ASTConsumer>();
  }

  void ExecuteAction() override {
    CompilerInstance& compiler = getCompilerInstance();
    compiler.createSema(TU_Complete, nullptr);
    Sema& sema = compiler.getSema();
    Preprocessor& preprocessor = compiler.getPreprocessor();
    Parser parser(preprocessor, sema,
                  /*SkipFunctionBodies=*/false);  // first: it registers the pragma handlers
    source_tokens source = preprocess(compiler);
    result_.files = source.files;
    result_.file_is_system = source.file_is_system;
    DiagnosticsEngine& diagnostics = compiler.getDiagnostics();
    unit u;
    if (diagnostics.hasErrorOccurred() || !desugar(compiler, std::move(source), u)) return;
    // diagnostic_printer turns some of Clang's warnings into errors and counts them.
    const auto failed = [&diagnostics] {
      return diagnostics.hasErrorOccurred() || diagnostics.getClient()->getNumErrors() > 0;
    };
    parse(preprocessor, parser, sema, u);
    if (failed()) return;
    const semantic_index index = build_semantic_index(compiler.getASTContext(), u);
    check(compiler, u, index);
    if (failed()) return;
    const sheet planned = plan_unit(
        compiler, u, index,
        {request_.sequential, request_.check_closures, request_.unwind_closures, request_.land_closures});
    if (failed()) return;
    result_.successful = write(print_sheet(compiler, u, planned, request_.line_directives), diagnostics);
  }

 private:
  /// As clang::ParseAST, but from the unit's tokens instead of the file.
  static void parse(Preprocessor& preprocessor, Parser& parser, Sema& sema, const unit& u) {
    auto copy = std::make_unique<Token[]>(u.tokens.size());
    std::size_t count = 0;
    for (std::size_t t = 0; t < u.tokens.size(); ++t)
      if (u.roles[t] != token_role::keyword && u.roles[t] != token_role::printed_only)
        copy[count++] = u.tokens[t];
    preprocessor.EnterTokenStream(std::move(copy), static_cast<unsigned>(count),
                                  /*DisableMacroExpansion=*/true,
                                  /*IsReinject=*/false);
    parser.Initialize();
    Parser::DeclGroupPtrTy group;
    Sema::ModuleImportState state{};
    for (bool end = parser.ParseFirstTopLevelDecl(group, state); !end;
         end = parser.ParseTopLevelDecl(group, state))
      if (group) sema.Consumer.HandleTopLevelDecl(group.get());
    sema.ActOnEndOfTranslationUnit();
  }

  bool write(const std::string& text, DiagnosticsEngine& diagnostics) const {
    if (request_.output == "-") {
      llvm::outs() << text;
      llvm::outs().flush();
      return true;
    }
    std::ofstream file(request_.output, std::ios::binary);
    file << text;
    file.close();
    if (file) return true;
    diagnostics.Report(diagnostics.getCustomDiagID(DiagnosticsEngine::Error, "cannot write '%0': %1"))
        << request_.output << std::strerror(errno);
    std::remove(request_.output.c_str());
    return false;
  }

  const translation_request& request_;
  translation_result& result_;
};

/// The options that Clang knows. The others are gcc's own and concern code generation only.
std::vector<std::string> known_options(const std::vector<std::string>& options) {
  std::vector<const char*> words;
  words.reserve(options.size());
  for (const std::string& option : options) words.push_back(option.c_str());
  unsigned missing = 0;
  unsigned missing_count = 0;
  const llvm::opt::InputArgList list = driver::getDriverOptTable().ParseArgs(words, missing, missing_count);
  std::set<unsigned> unknown;
  for (const llvm::opt::Arg* argument : list.filtered(driver::options::OPT_UNKNOWN))
    unknown.insert(argument->getIndex());
  std::vector<std::string> result;
  for (unsigned k = 0; k < options.size(); ++k)
    if (!unknown.contains(k)) result.push_back(options[k]);
  return result;
}

}  // namespace

translation_result translate(const translation_request& request) {
  translation_result result;
  std::vector<std::string> command{"clang", "-fsyntax-only", "-resource-dir", clang_resource_folder};
  for (std::string& option : known_options(request.options)) command.push_back(std::move(option));
  // What gcc 12 accepts with a warning is no error here either; gcc gives the warning.
  for (const char* option :
       {"-D__SUKIMA__=1", "-Wno-everything", "-Wincompatible-function-pointer-types",
        "-Wno-error=incompatible-function-pointer-types", "-Wno-error=implicit-function-declaration",
        "-Wno-error=implicit-int", "-Wno-error=int-conversion", "-Wno-error=return-type", "-ferror-limit=50",
        "-x", "c"})
    command.emplace_back(option);
  command.push_back(request.file);
  const llvm::IntrusiveRefCntPtr<FileManager> files(new FileManager(FileSystemOptions()));
  tooling::ToolInvocation run(command, std::make_unique<translation>(request, result), files.get());
  diagnostic_printer printer;
  run.setDiagnosticConsumer(&printer);
  if (!run.run()) result.successful = false;
  return result;
}

}  // namespace sukima::language
