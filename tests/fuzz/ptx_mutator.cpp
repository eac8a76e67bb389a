#include "tests/fuzz/ptx_mutator.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace krl::testing {
namespace {

constexpr const char* kOpcodes[] = {
    "abs",      "activemask", "add",       "addc",       "and",      "atom",  "bar",
    "barrier",  "bfe",        "bfi",       "bfind",      "bmsk",     "bra",   "brev",
    "brx.idx",  "call",       "clz",       "cnot",       "copysign", "cos",   "cp",
    "cvt",      "cvta",       "div",       "dp2a",       "dp4a",     "elect", "ex2",
    "exit",     "fence",      "fma",       "fns",        "isspacep", "ld",    "ldmatrix",
    "ldu",      "lg2",        "lop3",      "mad",        "mad24",    "madc",  "match",
    "max",      "mbarrier",   "membar",    "min",        "mma",      "mov",   "movmatrix",
    "mul",      "mul24",      "nanosleep", "neg",        "not",      "or",    "popc",
    "prefetch", "prmt",       "rcp",       "red",        "redux",    "rem",   "ret",
    "rsqrt",    "sad",        "selp",      "set",        "setp",     "shf",   "shfl",
    "shl",      "shr",        "sin",       "slct",       "sqrt",     "st",    "stmatrix",
    "sub",      "subc",       "szext",     "tanh",       "testp",    "trap",  "vote",
    "wgmma",    "wmma.load",  "wmma.mma",  "wmma.store", "xor"};

constexpr const char* kModifiers[] = {
    "acq_rel",     "acquire",  "add",     "aligned", "all",   "and",    "any",      "approx",
    "arrive",      "async",    "b128",    "b16",     "b32",   "b64",    "b8",       "ballot",
    "bf16",        "bf16x2",   "bfly",    "ca",      "cas",   "cc",     "cg",       "commit_group",
    "const",       "cta",      "down",    "eq",      "equ",   "exch",   "f16",      "f16x2",
    "f32",         "f64",      "ftz",     "full",    "ge",    "global", "gpu",      "gt",
    "hi",          "idx",      "inc",     "init",    "l",     "le",     "lo",       "local",
    "lt",          "m16n8k16", "m8n8",    "max",     "min",   "nan",    "nc",       "ne",
    "neu",         "num",      "or",      "param",   "popc",  "pred",   "r",        "ra",
    "red",         "relaxed",  "release", "rm",      "rn",    "rna",    "rni",      "rp",
    "rz",          "rzi",      "s16",     "s32",     "s64",   "s8",     "sat",      "shared",
    "shared::cta", "sync",     "sys",     "to",      "trans", "u16",    "u32",      "u64",
    "u8",          "uni",      "up",      "v2",      "v4",    "v8",     "volatile", "wait_all",
    "warp",        "weak",     "wide",    "wrap",    "x1",    "x4",     "xor",      "xorsign"};

constexpr const char* kNumbers[] = {"0",
                                    "1",
                                    "-1",
                                    "2",
                                    "31",
                                    "32",
                                    "33",
                                    "63",
                                    "64",
                                    "65",
                                    "127",
                                    "255",
                                    "256",
                                    "1023",
                                    "4096",
                                    "65535",
                                    "65536",
                                    "2147483647",
                                    "-2147483648",
                                    "4294967295",
                                    "4294967296",
                                    "9223372036854775807",
                                    "-9223372036854775808",
                                    "18446744073709551615",
                                    "18446744073709551616",
                                    "0x7fffffffffffffff",
                                    "0f00000000",
                                    "0f7F800000",
                                    "0fFFC00000",
                                    "0f00000001",
                                    "0d7FF0000000000000",
                                    "0d0000000000000001",
                                    "1e308",
                                    "WARP_SZ",
                                    "(1 << 63)",
                                    "07777"};

constexpr const char* kPieces[] = {"{",
                                   "}",
                                   ";",
                                   ",",
                                   "[",
                                   "]",
                                   "(",
                                   ")",
                                   "@",
                                   "!",
                                   "|",
                                   ":",
                                   "/*",
                                   "//",
                                   "\"",
                                   ".",
                                   "::",
                                   "<",
                                   ">",
                                   "=",
                                   "+",
                                   "-",
                                   "%",
                                   "_",
                                   ".reg .b32 %r<9>;",
                                   ".reg .pred p;",
                                   ".shared .b8 s[64];",
                                   ".local .align 8 .b8 l[48];",
                                   ".param .b32 a;",
                                   ".loc 1 3 1",
                                   ".version 9.0",
                                   ".entry e()",
                                   ".func f()",
                                   ".extern .func g();",
                                   "{ .reg .b64 t; mov.u64 t, %clock64; }",
                                   "%tid.x",
                                   "%laneid",
                                   "%r1",
                                   "%rd1",
                                   "%f1",
                                   "%p1",
                                   "bar.sync 0;",
                                   "ret;",
                                   "L:",
                                   "bra L;",
                                   "trap;",
                                   "T: .branchtargets L;",
                                   "brx.idx %r1, T;",
                                   "\xff",
                                   "\x01"};

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%' || c == '.' || c == ':';
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

// From a line that begins a function to the brace that ends it, at the start of a line.
std::vector<std::string> functions_of(std::string_view text) {
  std::vector<std::string> functions;
  std::string function;
  for (const std::string& line : lines_of(text)) {
    const bool begins =
        line.find(".entry") != std::string::npos || line.find(".func") != std::string::npos;
    if (begins) function.clear();
    if (begins || !function.empty()) function += line;
    if (function.empty() || line.front() != '}') continue;
    functions.push_back(std::exchange(function, {}));
  }
  return functions;
}

// One text on its way through some changes.
class Mutation {
 public:
  Mutation(const std::vector<std::string>& lines, const std::vector<std::string>& functions,
           std::mt19937_64& random)
      : all_lines_(lines), all_functions_(functions), random_(random) {}

  // Changes that leave most of a text in order come more often than those that break it.
  std::string changed(const std::string& text) {
    lines_ = lines_of(text);
    for (std::size_t change = below(4) + 1; change > 0 && !lines_.empty(); --change) {
      switch (below(16)) {
        case 0:
          change_bytes();
          break;
        case 1:
          insert_piece();
          break;
        case 2:
          drop_line();
          break;
        case 3:
          repeat_line();
          break;
        case 4:
          swap_lines();
          break;
        case 5:
          take_line();
          break;
        case 6:
          insert_function();
          break;
        case 7:
        case 8:
          swap_operands();
          break;
        case 9:
        case 10:
          replace_number();
          break;
        case 11:
          replace_opcode();
          break;
        case 12:
        case 13:
          replace_modifier();
          break;
        default:
          replace_name();
          break;
      }
    }
    std::string result;
    for (const std::string& line : lines_) result += line;
    return result;
  }

 private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }
  template <class List>
  auto any_of(const List& list) {
    return list[below(std::size(list))];
  }

  std::string& line() { return lines_[below(lines_.size())]; }
  // Of an instruction, if a few tries find one.
  std::string& instruction() {
    std::size_t index = below(lines_.size());
    for (int i = 0; i < 8 && lines_[index].find(';') == std::string::npos; ++i) {
      index = below(lines_.size());
    }
    return lines_[index];
  }
  auto place() { return lines_.begin() + static_cast<std::ptrdiff_t>(below(lines_.size())); }

  void change_bytes() {
    std::string& text = line();
    for (std::size_t i = below(3) + 1; i > 0 && !text.empty(); --i) {
      const std::size_t at = below(text.size());
      switch (below(3)) {
        case 0:
          text[at] = static_cast<char>(random_());
          break;
        case 1:
          text.erase(at, below(8));
          break;
        default:
          text.insert(at, below(4), static_cast<char>(random_()));
          break;
      }
    }
  }

  void insert_piece() {
    std::string& text = line();
    text.insert(below(text.size()), std::string(any_of(kPieces)) + " ");
  }
  void drop_line() { lines_.erase(place()); }
  void repeat_line() {
    const std::string copy = line();
    lines_.insert(place(), below(3) + 1, copy);
  }
  void swap_lines() { std::swap(line(), line()); }
  void take_line() { lines_.insert(place(), any_of(all_lines_)); }
  void insert_function() {
    if (all_functions_.empty()) return;
    lines_.insert(below(2) == 0 ? lines_.end() : place(), any_of(all_functions_));
  }

  // Of the words of a line, those that `fits` says: their beginnings and lengths.
  template <class Fits>
  std::vector<std::pair<std::size_t, std::size_t>> words(const std::string& text,
                                                         const Fits& fits) const {
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at;
      while (end < text.size() && is_name(text[end])) ++end;
      if (end > at && fits(std::string_view(text).substr(at, end - at))) {
        found.emplace_back(at, end - at);
      }
      at = end + 1;
    }
    return found;
  }

  void swap_operands() {
    std::string& text = instruction();
    const auto operands = words(text, [](std::string_view word) { return word[0] == '%'; });
    if (operands.size() < 2) return;
    const auto [first, length] = operands[below(operands.size() - 1)];
    const auto [second, second_length] = operands.back();
    if (first + length > second) return;
    const std::string one = text.substr(first, length), two = text.substr(second, second_length);
    text.replace(second, second_length, one);
    text.replace(first, length, two);
  }

  void replace_number() {
    std::string& text = line();
    const auto numbers =
        words(text, [](std::string_view word) { return word[0] >= '0' && word[0] <= '9'; });
    if (numbers.empty()) return;
    const auto [at, length] = any_of(numbers);
    text.replace(at, length, any_of(kNumbers));
  }

  // A register or label by another of the text.
  void replace_name() {
    const auto is_operand = [](std::string_view word) { return word[0] == '%' || word[0] == '$'; };
    std::string& text = instruction();
    const std::string& other = instruction();
    const auto names = words(text, is_operand), others = words(other, is_operand);
    if (names.empty() || others.empty()) return;
    const auto [from, size] = any_of(others);
    const std::string name = other.substr(from, size);
    const auto [at, length] = any_of(names);
    text.replace(at, length, name);
  }

  // The word that has dots: "ld.global.u32".
  std::pair<std::size_t, std::size_t> opcode_of(const std::string& text) const {
    const auto found = words(text, [](std::string_view word) {
      return word[0] >= 'a' && word[0] <= 'z' && word.find('.') != std::string_view::npos;
    });
    return found.empty() ? std::pair<std::size_t, std::size_t>() : found.front();
  }

  void replace_opcode() {
    std::string& text = instruction();
    const auto [at, length] = opcode_of(text);
    if (length != 0) text.replace(at, text.find('.', at) - at, any_of(kOpcodes));
  }

  void replace_modifier() {
    std::string& text = instruction();
    const auto [at, length] = opcode_of(text);
    if (length == 0) return;
    const std::string_view opcode = std::string_view(text).substr(at, length);
    std::vector<std::size_t> dots;
    for (std::size_t i = 0; i < opcode.size(); ++i) {
      if (opcode[i] == '.') dots.push_back(i);
    }
    const std::size_t dot = any_of(dots);
    const std::size_t end = std::min(opcode.find('.', dot + 1), opcode.size());
    const std::string modifier = std::string(".") + any_of(kModifiers);
    switch (below(3)) {
      case 0:
        text.erase(at + dot, end - dot);
        break;
      case 1:
        text.insert(at + dot, modifier);
        break;
      default:
        text.replace(at + dot, end - dot, modifier);
        break;
    }
  }

  const std::vector<std::string>& all_lines_;
  const std::vector<std::string>& all_functions_;
  std::mt19937_64& random_;
  std::vector<std::string> lines_;
};

}  // namespace

PtxMutator::PtxMutator(std::vector<std::string> texts, std::uint64_t seed)
    : texts_(std::move(texts)), seed_(seed) {
  for (const std::string& text : texts_) {
    const auto lines = lines_of(text), functions = functions_of(text);
    lines_.insert(lines_.end(), lines.begin(), lines.end());
    functions_.insert(functions_.end(), functions.begin(), functions.end());
  }
}

std::string PtxMutator::mutant(std::uint64_t number) const {
  std::seed_seq sequence{seed_, seed_ >> 32, number, number >> 32};
  std::mt19937_64 random(sequence);
  return Mutation(lines_, functions_, random).changed(texts_[random() % texts_.size()]);
}

}  // namespace krl::testing
