// Every form of an instruction on the columns of inputs: each pair of edge values and some others.
#include "tests/conformance/program.hpp"

namespace krl::conformance {
namespace {

constexpr std::size_t kFormsOfProgram = 8;
constexpr std::uint32_t kBlocks = 4, kThreads = kColumnLength / kBlocks;

// %in, %out: of the thread's word in the first column and in the first slot.
const std::string kPrologue =
    ".reg .b64 %in, %out, %word, %more, %at;\n.reg .b32 %w, %t, %b, %cell;\n"
    ".shared .align 8 .b8 cells[" +
    std::to_string(kThreads * sizeof(std::uint64_t)) +
    "];\n"
    "ld.param.u64 %in, [inputs];\nld.param.u64 %out, [results];\n"
    "mov.u32 %t, %tid.x;\nmov.u32 %cell, cells;\nmad.lo.u32 %cell, %t, 8, %cell;\n"
    "mov.u32 %b, %ctaid.x;\nmad.lo.u32 %t, %b, " +
    std::to_string(kThreads) +
    ", %t;\n"
    "mul.wide.u32 %at, %t, 8;\nadd.s64 %in, %in, %at;\nadd.s64 %out, %out, %at;\n";

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

void store(const std::string& from, Letter letter, const std::string& of, bool approximate,
           Program* program, std::string* body) {
  const std::uint64_t offset = program->slots.size() * kColumnLength * sizeof(std::uint64_t);
  *body +=
      widened(from, letter) + "st.global.b64 [%out + " + std::to_string(offset) + "], %word;\n";
  program->slots.push_back({letter, of, approximate});
}

// An atomic works on a word of each thread's own, which begins as the first source operand: in
// shared memory, or in a slot. What it returns and what it leaves are results.
std::string prepare_cell(const Form& form, const std::string& initial, Letter letter,
                         const Program& program, std::string* body) {
  const std::uint64_t offset = program.slots.size() * kColumnLength * sizeof(std::uint64_t);
  const bool shared = form.name.starts_with("atom.shared.");
  const std::string cell = shared ? "[%cell]" : "[%out + " + std::to_string(offset) + "]";
  *body += std::string(shared ? "st.shared" : "st.global") + register_type(letter) + " " + cell +
           ", " + initial + ";\n";
  return cell;
}

void add(const Form& form, std::size_t index, Program* program, std::string* declarations,
         std::string* body) {
  const std::string& operands = form.operands;
  const bool is_atomic = form.opcode() == "atom";
  std::string call = form.name, cell;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    *declarations += declaration(index, i, operands[i]);
    std::string operand = name_of_register(index, i);
    if (i > 0) *body += load(operand, operands[i], i - 1);
    if (is_atomic && i == 1) {
      operand = cell = prepare_cell(form, operand, operands[i], *program, body);
    }
    if (operands[i] == 'q') operand += "|" + operand + "b";
    if (form.opcode() == "lop3" && i == 4) operand = "0x1b";  // part of the instruction
    call += (i == 0 ? " " : ", ") + operand;
  }
  *body += call + ";\n";
  const std::string of = form.name + " " + operands, result = name_of_register(index, 0);
  if (is_atomic) {
    const std::string left = name_of_register(index, 1);
    const char* const space = form.name.starts_with("atom.shared.") ? "ld.shared" : "ld.global";
    *body += std::string(space) + register_type(operands[1]) + " " + left + ", " + cell + ";\n";
    store(left, operands[1], of + ", what it leaves", false, program, body);
  }
  store(result, operands[0], of, form.approximate(), program, body);
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
                   "(.param .u64 inputs, .param .u64 results) {\n" + declarations + kPrologue +
                   body + "ret;\n}\n";
    programs.push_back(std::move(program));
  }
  return programs;
}

}  // namespace krl::conformance
