// Broken, twisted and mixed PTX: real texts with bytes, words, lines, operands, opcodes, numbers
// and whole functions changed. The same seed and number give the same text.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace krl::testing {

class PtxMutator {
 public:
  PtxMutator(std::vector<std::string> texts, std::uint64_t seed);

  std::string mutant(std::uint64_t number) const;

 private:
  std::vector<std::string> texts_;
  std::vector<std::string> lines_;      // of all texts
  std::vector<std::string> functions_;  // …, from their heads to their braces
  std::uint64_t seed_;
};

}  // namespace krl::testing
