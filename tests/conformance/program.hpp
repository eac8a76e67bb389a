// Programs whose results a GPU and the machine must agree on.
//
// Each is an entry (.param .u64 inputs, .param .u64 results) of some PTX; its threads read the
// columns of inputs and write 64-bit words: word t of slot s of the results is thread t's. Programs
// are the same wherever and whenever they are generated, as the record of a GPU's results is of
// those.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace krl::conformance {

// What a value is; decides how results are compared, and which edge values inputs have.
//   h, r, d   bits: 16, 32, 64     f, g   f32, f64      e, c   f16, bf16
//   E, C      f16x2, bf16x2        T      tf32          p      a predicate, q: two of them
using Letter = char;

struct Slot {
  Letter letter = 'd';
  std::string of;  // the instruction that computed it, if it is one; for messages
  bool approximate = false;
};

struct Program {
  std::string name;
  std::string text;                        // the entry, with what it needs outside
  std::uint32_t blocks = 1, threads = 64;  // threads of a block
  std::vector<Slot> slots;

  std::uint32_t all_threads() const { return blocks * threads; }
  std::uint64_t result_words() const {
    return std::uint64_t{all_threads()} * slots.size() + kCells;
  }
  // Behind the results: words that begin as 0, for atomics.
  static constexpr std::uint64_t kCells = 64;
};

// A form of an instruction: "add.sat.s32", and its operands: "rrr".
struct Form {
  std::string name, operands;
  bool approximate() const {
    return name.find(".approx") != std::string::npos || name.find(".full") != std::string::npos;
  }
  std::string opcode() const { return name.substr(0, name.find('.')); }
};
// The lines of forms.txt.
std::vector<Form> read_forms(std::string_view text);

// Every form on pairs of edge values, several forms to a program.
std::vector<Program> form_programs(const std::vector<Form>& forms);
// Products of matrices of small integers, which are exact whatever the order of the sums.
std::vector<Program> matrix_programs();
// Random sequences of all that the machine can do.
std::vector<Program> random_programs(const std::vector<Form>& forms, std::uint64_t count);
inline constexpr std::uint64_t kRandomPrograms = 5000;

// All of them, in the order of the record.
std::vector<Program> all_programs(const std::vector<Form>& forms);

// A module of programs[begin … end).
std::string module_text(const std::vector<Program>& programs, std::size_t begin, std::size_t end);

// ---- inputs ----
inline constexpr std::string_view kLetters = "hrdfgecECp";
inline constexpr std::uint32_t kColumnLength = 1024;  // words
inline constexpr std::uint32_t kColumnsOfLetter = 4;  // one for each source operand
// The offset in bytes of a letter's column.
std::uint32_t column_offset(Letter letter, std::size_t operand);
std::vector<std::uint64_t> inputs();

// ".b32": how a register for such values is declared.
const char* register_type(Letter letter);

}  // namespace krl::conformance
