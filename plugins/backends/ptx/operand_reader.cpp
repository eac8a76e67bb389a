#include "plugins/backends/ptx/operand_reader.hpp"

#include <utility>

#include "plugins/backends/ptx/constants.hpp"
#include "plugins/backends/ptx/special_registers.hpp"

namespace krl::ptx {
namespace {

Operand of_kind(Operand::Kind kind) {
  Operand operand;
  operand.kind = kind;
  return operand;
}

Operand of_symbol(const Symbol& symbol, std::string_view name) {
  Operand operand;
  operand.index = symbol.index;
  operand.scope = symbol.scope;
  operand.kind = symbol.kind == Symbol::kRegister   ? Operand::kRegister
                 : symbol.kind == Symbol::kVariable ? Operand::kVariable
                                                    : Operand::kFunction;
  if (symbol.kind == Symbol::kFunction) operand.name = name;
  return operand;
}

// "%tid.x" of "%tid" and ".x", if nothing is between them.
std::string_view joined(const Token& word, const Token& component) {
  const std::size_t size = word.text.size() + component.text.size();
  const bool adjacent = component.kind == Token::kDirective &&
                        word.text.data() + word.text.size() == component.text.data();
  return adjacent ? std::string_view(word.text.data(), size) : word.text;
}

}  // namespace

Operand OperandReader::read() {
  const Token& next = tokens_.next();
  if (next.is("{")) return vector();
  if (next.is("[")) return address();
  if (next.is("!")) return negated();
  if (next.kind != Token::kWord || next.is("WARP_SZ")) return constant();
  Operand operand = named();
  if (tokens_.next().is("|")) return pair(std::move(operand));
  if (operand.kind == Operand::kVariable && (tokens_.next().is("+") || tokens_.next().is("-"))) {
    operand.bits = offset();
  }
  return operand;
}

Operand OperandReader::counted(Operand operand) {
  reading_.spend(&ReadLimits::operands, 1, "the operands of the module");
  return operand;
}

Operand OperandReader::named() {
  const Token word = tokens_.take();
  if (word.is("_")) return counted(of_kind(Operand::kSink));
  const auto symbol = reading_.symbols.find(word.text);
  if (symbol) {
    if (joined(word, tokens_.next()) != word.text) {
      tokens_.unsupported("a component of a register or variable, " +
                          quoted(joined(word, tokens_.next())));
    }
    return counted(of_symbol(*symbol, word.text));
  }
  const std::string_view special = joined(word, tokens_.next());
  const bool is_special = is_special_register(special);
  Operand operand = counted(of_kind(is_special ? Operand::kSpecial : Operand::kLabel));
  operand.name = is_special ? special : word.text;
  if (is_special && special != word.text) tokens_.take();
  if (!is_special && word.text.front() == '%') {
    fail(ReadProblem::kMalformed, "the register " + quoted(word.text) + " is not declared",
         word.line);
  }
  return operand;
}

// Reads an operand that may be inside of vectors, lists and pairs.
Operand OperandReader::element() {
  const Token next = tokens_.next();
  if (next.is("!")) return negated();
  if (next.kind != Token::kWord || next.is("WARP_SZ")) return constant();
  Operand operand = named();
  if (operand.kind == Operand::kLabel) {
    fail(ReadProblem::kMalformed, quoted(next.text) + " is not declared", next.line);
  }
  return operand;
}

Operand OperandReader::constant() {
  if (tokens_.next().kind != Token::kNumber && tokens_.next().kind != Token::kSign &&
      !tokens_.next().is("WARP_SZ")) {
    tokens_.unexpected("an operand");
  }
  const Constant value = read_constant(tokens_);
  Operand operand = counted(of_kind(value.kind == Constant::kFloat32   ? Operand::kFloat32
                                    : value.kind == Constant::kFloat64 ? Operand::kFloat64
                                                                       : Operand::kInteger));
  operand.bits = value.bits;
  return operand;
}

Operand OperandReader::negated() {
  tokens_.expect("!");
  if (tokens_.next().kind != Token::kWord) tokens_.unexpected("a predicate");
  const Token name = tokens_.next();
  Operand operand = named();
  if (!is_predicate(operand)) {
    fail(ReadProblem::kMalformed, quoted(name.text) + " after '!' is not a predicate", name.line);
  }
  operand.negated = true;
  return operand;
}

Operand OperandReader::vector() {
  constexpr std::size_t kMostElements = 256;
  Operand operand = counted(of_kind(Operand::kVector));
  tokens_.expect("{");
  do {
    if (operand.elements.size() == kMostElements) tokens_.too_large("a vector");
    operand.elements.push_back(element());
  } while (tokens_.accept(","));
  tokens_.expect("}");
  return operand;
}

Operand OperandReader::read_list() {
  constexpr std::size_t kMostElements = 4096;
  Operand operand = counted(of_kind(Operand::kList));
  tokens_.expect("(");
  if (tokens_.accept(")")) return operand;
  do {
    if (operand.elements.size() == kMostElements) tokens_.too_large("the arguments of a call");
    operand.elements.push_back(element());
  } while (tokens_.accept(","));
  tokens_.expect(")");
  return operand;
}

// "+4", "-4", "+-4"
std::uint64_t OperandReader::offset() {
  const Constant value = read_constant(tokens_);
  if (!value.integer()) tokens_.malformed("the offset of an address is not an integer");
  return value.bits;
}

// "[%rd1+-4]", "[variable]", "[16]"
Operand OperandReader::address() {
  Operand operand = counted(of_kind(Operand::kAddress));
  tokens_.expect("[");
  const Token base = tokens_.next();
  operand.elements.push_back(element());
  const Operand::Kind kind = operand.elements[0].kind;
  const bool integer = kind == Operand::kInteger;
  if (!integer && kind != Operand::kRegister && kind != Operand::kVariable) {
    fail(ReadProblem::kMalformed, quoted(base.text) + " is not an address", base.line);
  }
  if (tokens_.next().is("+") || tokens_.next().is("-")) {
    operand.bits = offset();
  }
  if (tokens_.accept(",")) operand.elements.push_back(vector());
  tokens_.expect("]");
  return operand;
}

Operand OperandReader::pair(Operand first) {
  if (first.kind != Operand::kRegister && first.kind != Operand::kSink) {
    tokens_.unexpected("',' or ';'");
  }
  tokens_.expect("|");
  Operand operand = counted(of_kind(Operand::kPair));
  operand.elements.push_back(std::move(first));
  operand.elements.push_back(element());
  return operand;
}

bool OperandReader::is_predicate(const Operand& operand) const {
  return operand.kind == Operand::kRegister &&
         function_.registers[operand.index].type == Type::kPredicate;
}

Operand OperandReader::read_guard() {
  const Token token = tokens_.next();
  Operand guard = token.is("!") ? negated() : element();
  if (!is_predicate(guard)) {
    fail(ReadProblem::kMalformed, quoted(token.text) + " after '@' is not a predicate", token.line);
  }
  return guard;
}

}  // namespace krl::ptx
