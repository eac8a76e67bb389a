// Every form of an instruction on the columns of inputs: each pair of edge values and some others.
#include "tests/conformance/program.hpp"

namespace krl::conformance {
namespace {

constexpr std::size_t kFormsOfProgram = 8;
constexpr std::uint32_t kBlocks = 4, kThreads = kColumnLength / kBlocks;

std::string name_of_register(std::size_t form, std::size_t operand) {
  return "%x" + std::to_string(form) + "_" + std::to_string(operand);
}

// ld.global.b32 %x, [%in + column]; a predicate is made of a word.
std::string load(const std::string& to, Letter letter, std::size_t operand) {
  const std::string from = "[%in + " + std::to_string(column_offset(letter, operand)) + "];\n";
  if (letter == 'p') return "ld.global.b32 %w, " + from + "setp.ne.s32 " + to + ", %w, 0;\n";
  return std::string("ld.global") + register_type(letter) + " " + to + ", " + from;
}

// %word is what the slot stores.
std::string widened(const std::string& from, Letter letter) {
  const std::string type = register_type(letter);
  if (letter == 'p') return "selp.b64 %word, 1, 0, " + from + ";\n";
  if (letter == 'q') {
    return "selp.b64 %word, 1, 0, " + from + ";\nselp.b64 %more, 2, 0, " + from +
           "b;\nor.b64 %word, %word, %more;\n";
  }
  if (type == ".b64") return "mov.b64 %word, " + from + ";\n";
  return std::string("cvt.u64.u") + type.substr(2) + " %word, " + from + ";\n";
}

std::string declaration(std::size_t form, std::size_t operand, Letter letter) {
  std::string names = name_of_register(form, operand);
  if (letter == 'q') names += ", " + names + "b";
  return std::string(".reg ") + register_type(letter) + " " + names + ";\n";
}

void add(const Form& form, std::size_t index, Program* program, std::string* declarations,
         std::string* body) {
  std::string call = form.name;
  const std::string& operands = form.operands;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    *declarations += declaration(index, i, operands[i]);
    const std::string reg = name_of_register(index, i);
    if (i > 0) *body += load(reg, operands[i], i - 1);
    call += (i == 0 ? " " : ", ") + reg + (operands[i] == 'q' ? "|" + reg + "b" : "");
  }
  if (form.opcode() == "lop3") {  // the table is part of the instruction
    call = call.substr(0, call.rfind(',')) + ", " + std::to_string(0x1b);
  }
  *body += call + ";\n" + widened(name_of_register(index, 0), operands[0]);
  const std::uint64_t offset = program->slots.size() * kColumnLength * sizeof(std::uint64_t);
  *body += "st.global.b64 [%out + " + std::to_string(offset) + "], %word;\n";
  program->slots.push_back({operands[0], form.name + " " + operands, form.approximate()});
}

}  // namespace

std::vector<Program> form_programs(const std::vector<Form>& forms) {
  std::vector<Program> programs;
  for (std::size_t begin = 0; begin < forms.size(); begin += kFormsOfProgram) {
    Program program;
    program.name = "forms" + std::to_string(programs.size());
    program.blocks = kBlocks;
    program.threads = kThreads;
    std::string declarations, body;
    for (std::size_t i = begin; i < begin + kFormsOfProgram && i < forms.size(); ++i) {
      add(forms[i], i - begin, &program, &declarations, &body);
    }
    program.text = ".visible .entry " + program.name +
                   "(.param .u64 inputs, .param .u64 results) {\n" + declarations +
                   ".reg .b64 %in, %out, %word, %more, %at;\n.reg .b32 %w, %t, %b;\n"
                   "ld.param.u64 %in, [inputs];\nld.param.u64 %out, [results];\n"
                   "mov.u32 %t, %tid.x;\nmov.u32 %b, %ctaid.x;\n"
                   "mad.lo.u32 %t, %b, " +
                   std::to_string(kThreads) +
                   ", %t;\n"
                   "mul.wide.u32 %at, %t, 8;\nadd.s64 %in, %in, %at;\nadd.s64 %out, %out, %at;\n" +
                   body + "ret;\n}\n";
    programs.push_back(std::move(program));
  }
  return programs;
}

}  // namespace krl::conformance
