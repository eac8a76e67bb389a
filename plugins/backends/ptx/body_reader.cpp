#include "plugins/backends/ptx/body_reader.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plugins/backends/ptx/constants.hpp"
#include "plugins/backends/ptx/declarations.hpp"
#include "plugins/backends/ptx/operand_reader.hpp"
#include "plugins/backends/ptx/special_registers.hpp"

namespace krl::ptx {
namespace {

class BodyReader {
 public:
  BodyReader(Reading& reading, Function& function)
      : reading_(reading),
        tokens_(reading.tokens),
        function_(function),
        operands_(reading, function) {}

  void read() {
    do {
      read_statement();
    } while (!blocks_.empty());
    end_body();
  }

 private:
  // The meaning of a name before a colon: a place of the body or a list.
  struct Label {
    enum Kind { kPlace, kTargets, kPrototype } kind = kPlace;
    std::uint32_t index = 0;
  };
  // A name that was used before it may have been declared: the operand of an instruction, or a
  // label of a .branchtargets.
  struct Use {
    Token name;
    bool in_list = false;
    std::uint32_t owner = 0, position = 0;  // the instruction and operand, or the list and label
  };
  struct Block {
    std::map<std::string_view, Label> labels;
    std::size_t first_use = 0;
  };

  void read_statement() {
    const Token& next = tokens_.next();
    if (next.is("{")) return open_block();
    if (blocks_.empty()) tokens_.unexpected("'{'");
    if (next.is("}")) return close_block();
    if (tokens_.accept(";")) return;
    if (next.kind == Token::kDirective) return read_directive();
    if (next.is("@")) return read_guarded();
    const Token word = tokens_.expect(Token::kWord, "an instruction");
    if (tokens_.accept(":")) return read_label(word);
    read_instruction(word, {});
  }

  void open_block() {
    constexpr std::size_t kDeepest = 64;
    if (blocks_.size() == kDeepest) tokens_.too_large("blocks in blocks");
    tokens_.expect("{");
    reading_.symbols.open_scope();
    blocks_.push_back({{}, uses_.size()});
  }

  void close_block() {
    tokens_.expect("}");
    find_labels();
    reading_.symbols.close_scope();
    blocks_.pop_back();
  }

  // Finds the labels of the innermost block. Uses of other names are left to the enclosing block.
  void find_labels() {
    const Block& block = blocks_.back();
    std::size_t left = block.first_use;
    for (std::size_t i = block.first_use; i < uses_.size(); ++i) {
      const auto found = block.labels.find(uses_[i].name.text);
      if (found != block.labels.end()) {
        bind(uses_[i], found->second);
      } else {
        uses_[left++] = uses_[i];
      }
    }
    uses_.resize(left);
    if (blocks_.size() == 1 && left > 0) not_declared(uses_[0].name);
  }

  [[noreturn]] static void not_declared(const Token& name) {
    fail(ReadProblem::kMalformed, quoted(name.text) + " is not declared", name.line);
  }

  void bind(const Use& use, const Label& label) {
    if (use.in_list) {
      if (label.kind != Label::kPlace) not_declared(use.name);
      function_.targets[use.owner].labels[use.position] = label.index;
      return;
    }
    Operand& operand = function_.body[use.owner].operands[use.position];
    operand.index = label.index;
    operand.kind = label.kind == Label::kPrototype ? Operand::kPrototype : Operand::kLabel;
    if (label.kind == Label::kPlace) operand.name.clear();
  }

  void read_label(const Token& name) {
    reading_.count_name();
    Label label{Label::kPlace, static_cast<std::uint32_t>(function_.body.size())};
    if (tokens_.accept(".branchtargets")) {
      label = {Label::kTargets, read_branch_targets(name)};
    } else if (tokens_.accept(".calltargets")) {
      label = {Label::kTargets, read_call_targets(name)};
    } else if (tokens_.accept(".callprototype")) {
      label = {Label::kPrototype, read_prototype(name)};
    }
    const bool taken = reading_.symbols.find(name.text).has_value();
    if (taken || !blocks_.back().labels.emplace(name.text, label).second) {
      fail(ReadProblem::kMalformed, "the label " + quoted(name.text) + " is declared already",
           name.line);
    }
    if (label.kind == Label::kPlace) last_label_ = label.index;
  }

  std::uint32_t read_branch_targets(const Token& name) {
    const auto list = static_cast<std::uint32_t>(function_.targets.size());
    function_.targets.push_back({std::string(name.text), {}, {}});
    do {
      reading_.spend(&ReadLimits::operands, 1, "the operands of the module");
      const Token label = tokens_.expect(Token::kWord, "a label");
      auto& labels = function_.targets.back().labels;
      uses_.push_back({label, true, list, static_cast<std::uint32_t>(labels.size())});
      labels.push_back(0);
    } while (tokens_.accept(","));
    tokens_.expect(";");
    return list;
  }

  std::uint32_t read_call_targets(const Token& name) {
    TargetList list{std::string(name.text), {}, {}};
    do {
      reading_.spend(&ReadLimits::operands, 1, "the operands of the module");
      const Token function = tokens_.expect(Token::kWord, "a function");
      const auto symbol = reading_.symbols.find(function.text);
      if (!symbol || symbol->kind != Symbol::kFunction) not_declared(function);
      list.functions.emplace_back(function.text);
    } while (tokens_.accept(","));
    tokens_.expect(";");
    function_.targets.push_back(std::move(list));
    return static_cast<std::uint32_t>(function_.targets.size() - 1);
  }

  // `prototype_0 : .callprototype (.param .b32 _) _ (.param .b64 _);`
  std::uint32_t read_prototype(const Token& name) {
    Prototype prototype{std::string(name.text), {}, {}};
    std::size_t* const bytes = &reading_.left.variable_bytes;
    if (tokens_.next().is("(")) prototype.results = read_parameters(tokens_, bytes);
    tokens_.expect("_");
    if (tokens_.next().is("(")) prototype.parameters = read_parameters(tokens_, bytes);
    tokens_.accept(".noreturn");
    tokens_.expect(";");
    function_.prototypes.push_back(std::move(prototype));
    return static_cast<std::uint32_t>(function_.prototypes.size() - 1);
  }

  void read_directive() {
    const Token directive = tokens_.take();
    if (directive.is(".loc")) return reading_.lines.read_place(tokens_);
    if (directive.is(".file")) return reading_.lines.read_file(tokens_);
    if (directive.is(".reg")) {
      read_registers();
    } else if (directive.is(".local") || directive.is(".shared") || directive.is(".param")) {
      read_locals(*space_of(directive.text));
    } else if (directive.is(".pragma")) {
      do {
        tokens_.expect(Token::kText, "a text in quotes");
      } while (tokens_.accept(","));
    } else {
      fail(ReadProblem::kUnsupported, "the directive " + quoted(directive.text) + " in a function",
           directive.line);
    }
    tokens_.expect(";");
  }

  // ".reg .b32 %r<10>, a, b;", after ".reg"
  void read_registers() {
    if (tokens_.next().is(".v2") || tokens_.next().is(".v4")) {
      tokens_.unsupported("a register that is a vector");
    }
    const Type type = read_type(tokens_);
    do {
      const Token name = tokens_.expect(Token::kWord, "the name of a register");
      const auto first = static_cast<std::uint32_t>(function_.registers.size());
      const bool numbered = tokens_.accept("<");
      if (numbered && name.text.back() >= '0' &&
          name.text.back() <= '9') {  // "%r1<5>" and "%r<20>"
        tokens_.unsupported("numbered registers whose name ends in a digit");
      }
      const std::size_t count =
          numbered ? read_count(tokens_, 0xffffffff, "a number of registers") : 1;
      if (numbered) tokens_.expect(">");
      reading_.count_name();
      reading_.spend(&ReadLimits::registers, count, "the registers of the module");
      const bool fresh = numbered
                             ? reading_.symbols.declare_registers(name.text, first,
                                                                  static_cast<std::uint32_t>(count))
                             : reading_.symbols.declare(name.text, {Symbol::kRegister, {}, first});
      const bool special = is_special_register(name.text) ||
                           (numbered && is_special_register(std::string(name.text) + "0"));
      if (!fresh || special || name.is("_")) declared_already(name);
      for (std::size_t i = 0; i < count; ++i) {
        function_.registers.push_back(
            {numbered ? std::string(name.text) + std::to_string(i) : std::string(name.text), type});
      }
    } while (tokens_.accept(","));
  }

  [[noreturn]] static void declared_already(const Token& name) {
    fail(ReadProblem::kMalformed, quoted(name.text) + " is declared already", name.line);
  }

  void read_locals(Space space) {
    const VariableHead head = read_variable_head(tokens_, space);
    do {
      const Token name = tokens_.next();
      reading_.count_name();
      const auto index = static_cast<std::uint32_t>(function_.locals.size());
      function_.locals.push_back(read_variable(tokens_, head, &reading_.left.variable_bytes));
      if (function_.locals.back().bytes == 0) tokens_.unsupported("an array without a size");
      if (!reading_.symbols.declare(name.text, {Symbol::kVariable, Operand::kLocals, index})) {
        declared_already(name);
      }
    } while (tokens_.accept(","));
  }

  void read_guarded() {
    tokens_.expect("@");
    Operand guard = operands_.read_guard();
    const Token opcode = tokens_.expect(Token::kWord, "an instruction");
    read_instruction(opcode, std::move(guard));
    function_.body.back().guarded = true;
  }

  void read_instruction(const Token& opcode, Operand guard) {
    constexpr std::size_t kMostModifiers = 32;
    constexpr std::size_t kMostOperands = 64;
    reading_.spend(&ReadLimits::instructions, 1, "the instructions of the module");
    Instruction& instruction = function_.body.emplace_back();
    instruction.opcode = opcode.text;
    instruction.guard = std::move(guard);
    instruction.place = {opcode.line, reading_.lines.place()};
    while (tokens_.next().kind == Token::kDirective) {
      reading_.spend(&ReadLimits::operands, 1, "the operands of the module");
      if (instruction.modifiers.size() == kMostModifiers) tokens_.too_large("an instruction");
      instruction.modifiers.emplace_back(tokens_.take().text.substr(1));
    }
    const bool call = instruction.opcode == "call";
    if (!tokens_.next().is(";")) {
      do {
        if (instruction.operands.size() == kMostOperands) tokens_.too_large("an instruction");
        read_operand(instruction, call);
      } while (tokens_.accept(","));
    }
    tokens_.expect(";");
  }

  void read_operand(Instruction& instruction, bool call) {
    const Token first = tokens_.next();
    const bool list = call && first.is("(");
    instruction.operands.push_back(list ? operands_.read_list() : operands_.read());
    const Operand& operand = instruction.operands.back();
    const bool of_tensor = instruction.opcode == "cp" && instruction.has("tensor");
    if (operand.kind == Operand::kAddress && operand.elements.size() > 1 && !of_tensor) {
      fail(ReadProblem::kUnsupported, instruction.full_name() + " with coordinates",
           instruction.place.line);
    }
    if (operand.kind != Operand::kLabel) return;
    uses_.push_back({first, false, static_cast<std::uint32_t>(function_.body.size() - 1),
                     static_cast<std::uint32_t>(instruction.operands.size() - 1)});
  }

  // A body that could run past its end gets the `ret` that it lacks: labels always have an
  // instruction after them.
  void end_body() {
    const bool falls_off = function_.body.empty() || last_label_ == function_.body.size() ||
                           function_.body.back().guarded || !ends(function_.body.back().opcode);
    if (!falls_off) return;
    Instruction& end = function_.body.emplace_back();
    end.opcode = "ret";
    end.place = {tokens_.next().line, reading_.lines.place()};
  }

  static bool ends(std::string_view opcode) {
    return opcode == "ret" || opcode == "exit" || opcode == "trap" || opcode == "bra" ||
           opcode == "brx";
  }

  Reading& reading_;
  Tokens& tokens_;
  Function& function_;
  OperandReader operands_;
  std::vector<Block> blocks_;
  std::vector<Use> uses_;
  std::size_t last_label_ = 0;
};

}  // namespace

void read_body(Reading& reading, Function& function) { BodyReader(reading, function).read(); }

}  // namespace krl::ptx
