#include "tests/conformance/program.hpp"

#include <sstream>

#include "tests/conformance/random.hpp"

namespace krl::conformance {
namespace {

const std::vector<std::uint64_t> kIntegers = {0,
                                              1,
                                              2,
                                              3,
                                              4,
                                              5,
                                              7,
                                              8,
                                              15,
                                              16,
                                              17,
                                              24,
                                              31,
                                              32,
                                              33,
                                              63,
                                              64,
                                              65,
                                              127,
                                              128,
                                              129,
                                              255,
                                              256,
                                              0x7f,
                                              0x80,
                                              0x7fff,
                                              0x8000,
                                              0xffff,
                                              0x7fffffff,
                                              0x80000000,
                                              0xffffffff,
                                              0x7fffffffffffffff,
                                              0x8000000000000000,
                                              0xffffffffffffffff,
                                              0xfffffffffffffffe,
                                              0xffffffff80000000,
                                              0x123456789abcdef0,
                                              0x5555555555555555};
const std::vector<std::uint64_t> kFloats = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x40000000, 0x3f000000, 0x3f7fffff, 0x3f800001,
    0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x00800001, 0x7f7fffff,
    0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0x4b800000, 0x4f000000,
    0xcf000000, 0x4f800000, 0x5f000000, 0x33800000, 0x40490fdb, 0x3fc00000, 0xc0200000, 0x477fe000};
const std::vector<std::uint64_t> kDoubles = {
    0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
    0x4000000000000000, 0x3fe0000000000000, 0x3fefffffffffffff, 0x3ff0000000000001,
    0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000,
    0x8010000000000000, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000,
    0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000001, 0x7ff0000000000001,
    0x4330000000000000, 0x43e0000000000000, 0xc3e0000000000000, 0x43f0000000000000,
    0x41dfffffffc00000, 0x41e0000000000000, 0x3ff8000000000000, 0xc004000000000000,
    0x47efffffe0000000, 0x47efffffefffffff, 0x36a0000000000000, 0x3690000000000001,
    0x380fffffe0000000, 0x40effc0000000000, 0x3e70000000000000};
const std::vector<std::uint64_t> kHalves = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x4000, 0x3800, 0x3bff,
                                            0x3c01, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400,
                                            0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01,
                                            0x1400, 0x6400, 0x4248, 0x3e00, 0xc100};
const std::vector<std::uint64_t> kBFloats = {0x0000, 0x8000, 0x3f80, 0xbf80, 0x4000, 0x3f00, 0x3f7f,
                                             0x3f81, 0x0001, 0x8001, 0x007f, 0x807f, 0x0080, 0x8080,
                                             0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81,
                                             0x3b80, 0x4f00, 0x4049, 0x3fc0, 0xc020};

const std::vector<std::uint64_t>& edges(Letter letter) {
  switch (letter) {
    case 'f':
      return kFloats;
    case 'g':
      return kDoubles;
    case 'e':
    case 'E':
      return kHalves;
    case 'c':
    case 'C':
      return kBFloats;
    default:
      return kIntegers;
  }
}

// Of ordinary size: what programs compute with.
std::uint64_t ordinary(Letter letter, Random& random) {
  const std::uint64_t bits = random.bits();
  switch (letter) {
    case 'f':
      return (bits & 0x83ffffffu) | 0x3c000000u;
    case 'g':
      return (bits & 0x807fffffffffffffu) | 0x3f80000000000000u;
    case 'e':
      return (bits & 0x8fffu) | 0x3000u;
    case 'c':
      return (bits & 0x83ffu) | 0x3c00u;
    default:
      return random.one_in(2) ? bits >> random.below(64) : bits;
  }
}

// The i-th value of a letter's column: all pairs of edges first, then anything.
std::uint64_t value(Letter letter, std::size_t operand, std::size_t i, Random& random) {
  const bool is_pair = letter == 'E' || letter == 'C';
  if (is_pair) {
    const Letter half = letter == 'E' ? 'e' : 'c';
    const std::uint64_t high = value(half, operand, kColumnLength - 1 - i, random);
    return value(half, operand, i, random) | high << 16;
  }
  const std::vector<std::uint64_t>& all = edges(letter);
  const std::size_t pairs = all.size() * all.size();
  std::uint64_t bits;
  if (operand < 2 && i < pairs) {
    bits = all[operand == 0 ? i % all.size() : i / all.size()];
  } else if (random.one_in(3)) {
    bits = random.one_of(all);
  } else {
    bits = random.one_in(2) ? ordinary(letter, random) : random.bits();
  }
  switch (letter) {
    case 'h':
    case 'e':
    case 'c':
      return bits & 0xffff;
    case 'r':
    case 'f':
      return bits & 0xffffffff;
    case 'p':
      return random.bits() & 1;
    default:
      return bits;
  }
}

}  // namespace

std::vector<Form> read_forms(std::string_view text) {
  std::vector<Form> forms;
  std::istringstream lines{std::string(text)};
  for (Form form; lines >> form.name >> form.operands;) forms.push_back(form);
  return forms;
}

std::vector<Program> all_programs(const std::vector<Form>& forms) {
  std::vector<Program> programs = form_programs(forms);
  for (Program& program : matrix_programs()) programs.push_back(std::move(program));
  for (Program& program : random_programs(forms, kRandomPrograms)) {
    programs.push_back(std::move(program));
  }
  return programs;
}

std::string module_text(const std::vector<Program>& programs, std::size_t begin, std::size_t end) {
  std::string text = ".version 8.4\n.target sm_90\n.address_size 64\n";
  for (std::size_t i = begin; i < end; ++i) text += programs[i].text;
  return text;
}

std::uint32_t column_offset(Letter letter, std::size_t operand) {
  const std::size_t column = kLetters.find(letter) * kColumnsOfLetter + operand;
  return static_cast<std::uint32_t>(column * kColumnLength * sizeof(std::uint64_t));
}

std::vector<std::uint64_t> inputs() {
  std::vector<std::uint64_t> words;
  Random random(7);
  for (const Letter letter : kLetters) {
    for (std::size_t operand = 0; operand < kColumnsOfLetter; ++operand) {
      for (std::size_t i = 0; i < kColumnLength; ++i) {
        words.push_back(value(letter, operand, i, random));
      }
    }
  }
  return words;
}

const char* register_type(Letter letter) {
  switch (letter) {
    case 'h':
    case 'e':
    case 'c':
      return ".b16";
    case 'd':
    case 'g':
      return ".b64";
    case 'p':
    case 'q':
      return ".pred";
    default:
      return ".b32";
  }
}

}  // namespace krl::conformance
