// SPDX-License-Identifier: Apache-2.0
#include "translate.hpp"

#include <algorithm>
#include <fstream>

#include "check/check.hpp"
#include "check/clang_diagnostics.hpp"
#include "clang_paths.hpp"
#include "desugar/closure_addresses.hpp"
#include "desugar/desugar.hpp"
#include "index/semantic_index.hpp"
#include "plan/plan.hpp"
#include "print/printer.hpp"
#include "source/charsets.hpp"
#include "source/implicit_names.hpp"
#include "source/preprocess.hpp"

namespace sukima::language {
namespace {

using namespace clang;

class translation : public ASTFrontendAction {
 public:
  translation(const translation_request& request, translation_result& result, diagnostic_printer& printer)
      : request_(request), result_(result), printer_(printer) {}

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance&, StringRef) override {
    return std::make_unique<ASTConsumer>();
  }

  void ExecuteAction() override {
    CompilerInstance& compiler = getCompilerInstance();
    compiler.createSema(TU_Complete, nullptr);
    Sema& sema = compiler.getSema();
    const llvm::IntrusiveRefCntPtr<implicit_names> names(new implicit_names);
    sema.addExternalSource(names.get());
    Preprocessor& preprocessor = compiler.getPreprocessor();
    Parser parser(preprocessor, sema,
                  /*SkipFunctionBodies=*/false);  // first, because it registers the pragma handlers
    // Sema reads comments, and may warn about them, before there are any tokens to parse.
    sema.CurContext = compiler.getASTContext().getTranslationUnitDecl();
    source_tokens source = preprocess(compiler, request_.macros, request_.lists_missing_files);
    sema.CurContext = nullptr;
    encode_literals(preprocessor, request_.exec_charset, source);
    result_.files = source.files;
    result_.file_is_system = source.file_is_system;
    DiagnosticsEngine& diagnostics = compiler.getDiagnostics();
    unit u;
    // diagnostic_printer drops some of Clang's errors (of -Werror), and turns some warnings into errors.
    const auto failed = [&diagnostics] { return diagnostics.getClient()->getNumErrors() > 0; };
    if (request_.only_lists_files) {
      result_.successful = !failed();
      return;
    }
    if (failed() || !desugar(compiler, std::move(source), u)) return;
    printer_.record_blocks(u);
    parse(preprocessor, parser, sema, u);
    if (failed()) return;
    const semantic_index index = build_semantic_index(compiler.getASTContext(), u);
    check(compiler, u, index);
    check_c_compiler(compiler, u, index, request_.macros);
    if (failed()) return;
    const sheet planned = plan_unit(compiler, u, index,
                                    {request_.sequential, request_.check_closures, request_.unwind_closures,
                                     request_.land_closures, request_.debuggable, clones()});
    if (failed()) return;
    note_tasks(u, compiler.getSourceManager());
    SUKIMA_ASSERT(result_.files.size() == result_.file_is_system.size(), "each file that was read is known");
    result_.has_cluster = !u.cluster_keywords.empty() && !request_.sequential;
    result_.successful = write(print_sheet(compiler, u, planned, request_.line_directives), diagnostics);
  }

 private:
  /// Returns whether clones are made. In a program for a debugger, each function must exist once.
  bool clones() const {
    return request_.clones && !request_.sequential && !request_.unwind_closures && !request_.debuggable;
  }

  void note_tasks(const unit& u, const SourceManager& sources) {
    for (const construct& c : u.constructs) {
      if (c.task.empty()) continue;
      const PresumedLoc place = sources.getPresumedLoc(sources.getExpansionLoc(c.task_location));
      result_.handled_tasks.push_back({c.task, std::string(place.getFilename()) + ":" +
                                                   std::to_string(place.getLine()) + ":" +
                                                   std::to_string(place.getColumn())});
    }
    for (const task_execution& execution : u.executions) result_.executed_tasks.push_back(execution.task);
  }

  /// Parses as clang::ParseAST does, but from the unit's tokens and not from the file.
  static void parse(Preprocessor& preprocessor, Parser& parser, Sema& sema, const unit& u) {
    auto copy = std::make_unique<Token[]>(u.tokens.size());
    std::size_t count = 0;
    for (std::size_t t = 0; t < u.tokens.size(); ++t)
      if (u.roles[t] != token_role::keyword && u.roles[t] != token_role::printed_only)
        copy[count++] = u.tokens[t];
    SUKIMA_ASSERT(count > 0 && copy[count - 1].is(tok::eof), "the parser sees the end of the unit");
    preprocessor.EnterTokenStream(std::move(copy), static_cast<unsigned>(count),
                                  /*DisableMacroExpansion=*/true,
                                  /*IsReinject=*/false);
    watch_closure_addresses(preprocessor, parser, sema, u);
    parser.Initialize();
    Parser::DeclGroupPtrTy group;
    Sema::ModuleImportState state{};
    for (bool end = parser.ParseFirstTopLevelDecl(group, state); !end;
         end = parser.ParseTopLevelDecl(group, state))
      if (group) sema.Consumer.HandleTopLevelDecl(group.get());
  }

  bool write(const std::string& text, DiagnosticsEngine& diagnostics) const {
    const unsigned problem = diagnostics.getCustomDiagID(DiagnosticsEngine::Error, "cannot write '%0': %1");
    if (request_.output == "-") {
      llvm::raw_fd_ostream& out = llvm::outs();
      out << text;
      out.flush();
      if (!out.has_error()) return true;
      diagnostics.Report(problem) << "standard output" << out.error().message();
      out.clear_error();  // otherwise LLVM ends the process with its own message
      return false;
    }
    std::ofstream file(request_.output, std::ios::binary);
    file << text;
    file.close();
    if (file) return true;
    diagnostics.Report(problem) << request_.output << std::strerror(errno);
    std::remove(request_.output.c_str());
    return false;
  }

  const translation_request& request_;
  translation_result& result_;
  diagnostic_printer& printer_;
};

/// Returns the options that Clang knows. The others are specific to gcc and affect only code generation, or
/// the printer of the messages follows them.
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
    if (!unknown.contains(k) && !options[k].starts_with("-fdiagnostics-format="))
      result.push_back(options[k]);
  return result;
}

/// Returns the level of a conversion between pointers to functions of different types. As in gcc, it is a
/// warning unless the options say otherwise.
DiagnosticsEngine::Level level_of_conversions(const std::vector<std::string>& options) {
  bool warns = true;
  bool all_errors = false;
  std::optional<bool> own_error;
  for (const std::string& option : options) {
    if (option == "-w") return DiagnosticsEngine::Ignored;
    if (option == "-Werror" || option == "-Wno-error") all_errors = option == "-Werror";
    for (const char* const name : {"incompatible-pointer-types", "incompatible-function-pointer-types"}) {
      if (option == std::string("-W") + name) warns = true;
      if (option == std::string("-Wno-") + name) warns = false;
      if (option == std::string("-Werror=") + name) warns = own_error.emplace(true);
      if (option == std::string("-Wno-error=") + name) own_error = false;
    }
  }
  if (!warns) return DiagnosticsEngine::Ignored;
  return own_error.value_or(all_errors) ? DiagnosticsEngine::Error : DiagnosticsEngine::Warning;
}

}  // namespace

translation_result translate(const translation_request& request) {
  translation_result result;
  // A construct that gcc 12 accepts with a warning must not be an error here, unless -Werror requests that.
  std::vector<std::string> command{"clang", "-fsyntax-only", "-resource-dir", clang_resource_folder};
  const auto has = [&request](const char* option) {
    return std::find(request.options.begin(), request.options.end(), option) != request.options.end();
  };
  if (!has("-Werror"))
    for (const char* option : {"-Wno-error=implicit-function-declaration", "-Wno-error=implicit-int",
                               "-Wno-error=int-conversion", "-Wno-error=return-type"})
      command.emplace_back(option);
  for (std::string& option : known_options(request.options))
    command.push_back(option == "-w" ? "-Wno-everything" : std::move(option));
  if (has("-w")) command.emplace_back("-Wno-everything");
  // The C compiler may know options, levels of optimisation and attributes that Clang does not know.
  // diagnostic_printer handles conversions of functions and -fmax-errors= itself, and prints no summary.
  for (const char* option :
       {"-D__SUKIMA__=1", "-Wno-unknown-warning-option", "-Wno-unknown-attributes", "-Wno-ignored-attributes",
        "-Wno-invalid-command-line-argument", "-Wno-deprecated-ofast",
        "-Wincompatible-function-pointer-types", "-Wno-error=incompatible-function-pointer-types",
        "-Qunused-arguments", "-ferror-limit=0", "-fno-caret-diagnostics", "-x", "c"})
    command.emplace_back(option);
  command.push_back(request.file);
  const llvm::IntrusiveRefCntPtr<FileManager> files(new FileManager(
      FileSystemOptions(), request.input_charset.empty() ? nullptr : recoded_files(request.input_charset)));
  diagnostic_printer printer(level_of_conversions(request.options), request.options);
  tooling::ToolInvocation run(command, std::make_unique<translation>(request, result, printer), files.get());
  run.setDiagnosticConsumer(&printer);
  if (!run.run()) result.successful = false;
  return result;
}

}  // namespace sukima::language
