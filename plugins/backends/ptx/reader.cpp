// The grammar of a module (PTX ISA 9.0, chapters 4, 5 and 11): .version, .target and .address_size,
// then variables, functions, files and sections of debugging information.
#include "plugins/backends/ptx/reader.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "plugins/backends/ptx/body_reader.hpp"
#include "plugins/backends/ptx/constants.hpp"
#include "plugins/backends/ptx/declarations.hpp"
#include "plugins/backends/ptx/reading.hpp"

namespace krl::ptx {
namespace {

class ModuleReader {
 public:
  ModuleReader(Reading& reading) : reading_(reading), tokens_(reading.tokens) {}

  void read(std::string_view candidate_file) {
    read_version();
    read_target();
    while (tokens_.next().kind != Token::kEnd) read_statement();
    check_addresses();
    resolve_places(candidate_file);
    reading_.module.files = reading_.lines.files();
  }

 private:
  struct Linking {
    bool external = false;
    Token first;
  };

  void read_version() {
    tokens_.expect(".version");
    const Token version = tokens_.expect(Token::kNumber, "a version");
    const std::size_t dot = version.text.find('.');
    Module& module = reading_.module;
    if (dot == std::string_view::npos ||
        !read_digits(version.text.substr(0, dot), &module.version_major) ||
        !read_digits(version.text.substr(dot + 1), &module.version_minor)) {
      fail(ReadProblem::kMalformed, quoted(version.text) + " is not a version", version.line);
    }
  }

  static bool read_digits(std::string_view digits, int* number) {
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), *number);
    return error == std::errc() && end == digits.data() + digits.size();
  }

  void read_target() {
    tokens_.expect(".target");
    reading_.module.target = tokens_.expect(Token::kWord, "a target").text;
    while (tokens_.accept(",")) {
      if (!tokens_.accept("debug"))
        tokens_.unsupported("the target " + quoted(tokens_.next().text));
    }
    if (!tokens_.accept(".address_size")) return;
    if (read_count(tokens_, 64, "the size of an address") != 64) {
      tokens_.unsupported("an address size other than 64");
    }
  }

  void read_statement() {
    if (tokens_.accept(";")) return;
    if (tokens_.accept(".file")) return reading_.lines.read_file(tokens_);
    if (tokens_.accept(".loc")) return reading_.lines.read_place(tokens_);
    if (tokens_.accept(".section")) return skip_section();
    if (tokens_.next().is(".pragma")) {
      read_pragma();
      return tokens_.expect(";");
    }
    const Linking linking = read_linking();
    if (tokens_.next().is(".entry") || tokens_.next().is(".func")) return read_function(linking);
    read_variables(linking);
  }

  Linking read_linking() {
    Linking linking{false, tokens_.next()};
    while (true) {
      if (tokens_.accept(".extern")) {
        linking.external = true;
      } else if (!tokens_.accept(".visible") && !tokens_.accept(".weak") &&
                 !tokens_.accept(".common")) {
        return linking;
      }
    }
  }

  void read_pragma() {
    tokens_.expect(".pragma");
    do {
      tokens_.expect(Token::kText, "a text in quotes");
    } while (tokens_.accept(","));
  }

  // Debugging information: labels and lists of numbers, which nothing here needs.
  void skip_section() {
    tokens_.expect(Token::kDirective, "the name of a section");
    tokens_.expect("{");
    while (!tokens_.accept("}")) {
      const Token& next = tokens_.next();
      const bool data = next.kind == Token::kWord || next.kind == Token::kNumber ||
                        next.kind == Token::kDirective || next.is(",") || next.is(":") ||
                        next.is("+") || next.is("-");
      if (!data) tokens_.unexpected("the contents of a section");
      tokens_.take();
    }
  }

  void read_variables(const Linking& linking) {
    const Token directive = tokens_.next();
    const auto space = space_of(directive.text);
    if (directive.kind != Token::kDirective) tokens_.unexpected("a directive");
    if (!space || *space == Space::kParameter || *space == Space::kLocal) {
      tokens_.unsupported("the directive " + quoted(directive.text));
    }
    tokens_.take();
    VariableHead head = read_variable_head(tokens_, *space);
    head.external = linking.external;
    do {
      const Token name = tokens_.next();
      Variable variable = read_variable(tokens_, head, &reading_.left.variable_bytes);
      const bool sized = variable.bytes != 0 || variable.external;
      if (!sized) tokens_.unsupported("an array without a size");
      declare_variable(name, std::move(variable));
    } while (tokens_.accept(","));
    tokens_.expect(";");
  }

  void declare_variable(const Token& name, Variable variable) {
    std::vector<Variable>& variables = reading_.module.variables;
    const auto index = static_cast<std::uint32_t>(variables.size());
    reading_.count_name();
    if (reading_.symbols.declare(name.text, {Symbol::kVariable, Operand::kModule, index})) {
      variables.push_back(std::move(variable));
      return;
    }
    const auto before = reading_.symbols.find(name.text);
    const bool completes = before->kind == Symbol::kVariable && variables[before->index].external &&
                           variables[before->index].space == variable.space;
    if (!completes) declared_already(name);
    variables[before->index] = std::move(variable);
  }

  [[noreturn]] static void declared_already(const Token& name) {
    fail(ReadProblem::kMalformed, quoted(name.text) + " is declared already", name.line);
  }

  // ".visible .entry name(…) .maxntid 256 { … }", ".func (.param .b32 result) name(…);"
  void read_function(const Linking& linking) {
    Function head;
    head.entry = tokens_.take().is(".entry");
    std::size_t* const bytes = &reading_.left.variable_bytes;
    if (!head.entry && tokens_.next().is("(")) head.results = read_parameters(tokens_, bytes);
    const Token name = tokens_.expect(Token::kWord, "the name of a function");
    head.name = name.text;
    head.place.line = name.line;
    if (tokens_.next().is("(")) head.parameters = read_parameters(tokens_, bytes);
    while (tokens_.next().kind == Token::kDirective) read_attribute(head);
    const bool defined = tokens_.next().is("{");
    head.external = !defined;
    if (defined && linking.external) tokens_.malformed("an external function has a body");
    Function& function = declare_function(name, std::move(head));
    if (!defined) return tokens_.expect(";");
    read_definition(function);
  }

  Function& declare_function(const Token& name, Function function) {
    std::vector<Function>& functions = reading_.module.functions;
    const auto index = static_cast<std::uint32_t>(functions.size());
    reading_.count_name();
    if (reading_.symbols.declare(name.text, {Symbol::kFunction, Operand::kModule, index})) {
      functions.push_back(std::move(function));
      return functions.back();
    }
    const auto before = reading_.symbols.find(name.text);
    if (before->kind != Symbol::kFunction) declared_already(name);
    Function& declared = functions[before->index];
    if ((!declared.external && !function.external) || !alike(declared, function)) {
      declared_already(name);
    }
    if (!function.external) declared = std::move(function);
    return declared;
  }

  static bool alike(const Function& left, const Function& right) {
    const auto same = [](const std::vector<Variable>& a, const std::vector<Variable>& b) {
      return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.bytes == y.bytes && x.align == y.align;
      });
    };
    return left.entry == right.entry && same(left.parameters, right.parameters) &&
           same(left.results, right.results);
  }

  void read_definition(Function& function) {
    reading_.symbols.open_scope();
    declare_parameters(function.results, Operand::kResults);
    declare_parameters(function.parameters, Operand::kParameters);
    reading_.lines.forget_place();
    function.place.source = 0;
    read_body(reading_, function);
    reading_.symbols.close_scope();
  }

  void declare_parameters(const std::vector<Variable>& parameters, Operand::Scope scope) {
    for (std::uint32_t i = 0; i < parameters.size(); ++i) {
      reading_.count_name();
      if (!reading_.symbols.declare(parameters[i].name, {Symbol::kVariable, scope, i})) {
        tokens_.malformed(quoted(parameters[i].name) + " is declared already");
      }
    }
  }

  void read_attribute(Function& function) {
    constexpr std::uint64_t kMost = 0x7fffffff;
    const Token name = tokens_.next();
    const auto number = [&] {
      return static_cast<std::uint32_t>(read_count(tokens_, kMost, quoted(name.text)));
    };
    const auto triple = [&](std::array<std::uint32_t, 3>& values) {
      values = {number(), 1, 1};
      if (tokens_.accept(",")) values[1] = number();
      if (tokens_.accept(",")) values[2] = number();
    };
    if (name.is(".pragma")) {
      read_pragma();
      tokens_.accept(";");
      return;
    }
    tokens_.take();
    if (name.is(".noreturn")) {
      function.no_return = true;
    } else if (name.is(".maxntid")) {
      triple(function.max_threads);
    } else if (name.is(".reqntid")) {
      triple(function.required_threads);
    } else if (name.is(".reqnctapercluster")) {
      triple(function.required_cluster);
    } else if (name.is(".minnctapersm")) {
      function.min_blocks = number();
    } else if (name.is(".maxnreg") || name.is(".maxclusterrank")) {
      number();
    } else if (name.is(".explicitcluster")) {
      function.explicit_cluster = true;
    } else {
      fail(ReadProblem::kUnsupported, "the directive " + quoted(name.text) + " of a function",
           name.line);
    }
  }

  // Checks the addresses in initial values: a name may precede its declaration.
  void check_addresses() const {
    for (const Variable& variable : reading_.module.variables) {
      for (const Variable::Address& address : variable.addresses) {
        if (!reading_.symbols.find(address.symbol)) {
          tokens_.malformed(quoted(address.symbol) + " in the initial value of " +
                            quoted(variable.name) + " is not declared");
        }
      }
    }
  }

  void resolve_places(std::string_view candidate_file) {
    const std::vector<std::uint32_t> lines = reading_.lines.lines(candidate_file);
    const bool is_own = !reading_.lines.names(candidate_file);
    for (Function& function : reading_.module.functions) {
      for (Instruction& instruction : function.body) {
        instruction.place.source =
            is_own ? instruction.place.line : lines[instruction.place.source];
        if (function.place.source == 0) function.place.source = instruction.place.source;
      }
    }
  }

  Reading& reading_;
  Tokens& tokens_;
};

// The candidate's line of what stopped the reading at a line of the PTX: files have their names at
// the end of the text.
std::uint32_t source_line(Reading& reading, std::uint32_t line, std::string_view candidate_file) {
  const std::uint32_t place = reading.lines.place();
  try {
    while (reading.tokens.next().kind != Token::kEnd) {
      if (reading.tokens.take().is(".file")) reading.lines.read_file(reading.tokens);
    }
  } catch (const ReadProblem&) {  // a second one: the files before it count
  }
  if (!reading.lines.names(candidate_file)) return line;
  return reading.lines.lines(candidate_file)[place];
}

}  // namespace

std::string ReadProblem::text() const {
  const std::string where = place.source != 0 ? "line " + std::to_string(place.source)
                                              : "PTX, line " + std::to_string(place.line);
  return where + ": " + (kind == kUnsupported ? "unsupported: " : "") + message;
}

ReadResult read_module(std::string_view text, std::string_view candidate_file,
                       const ReadLimits& limits) {
  ReadResult result;
  if (text.size() > limits.text_bytes) {
    const std::string message = "too large: the PTX has " + std::to_string(text.size()) + " bytes";
    result.problem = ReadProblem{ReadProblem::kTooLarge, message, {}};
    return result;
  }
  std::optional<Reading> reading;
  try {
    reading.emplace(Reading{Tokens(text), limits});
    ModuleReader(*reading).read(candidate_file);
    result.module = std::move(reading->module);
  } catch (ReadProblem& problem) {
    if (reading) problem.place.source = source_line(*reading, problem.place.line, candidate_file);
    result.problem = std::move(problem);
  }
  return result;
}

}  // namespace krl::ptx
