// A source text without the parts that can be changed without changing its computation, to
// recognise copies of it. Thread-safe.
//
// For CUDA, C++ and Python, and CUDA inside Python's texts: without comments, documentation, white
// space, includes, imports and qualifiers that do not change results (const, inline, __restrict__,
// …); names are numbered in the order in which they appear in a function; numbers and texts are all
// the same. Keywords, types, the built-in variables, functions that are called but not declared
// (`expf`), and members of names from outside (`torch.relu`) are kept.
//
// Numbers are dropped because the same answer at another size, block or factor is still the answer:
// leaving out a document too many costs little, while one that leaks spoils the measurement.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace krl::retrieval {

struct NormalForm {
  // The normal form of the whole text, with its functions in any order; for prose, which has no
  // names to number, its words in lower case. Empty if the text has too few tokens to be
  // meaningful.
  std::string whole;
  // The normal form of each `__global__` function by itself, with its own numbering, in the order
  // of the text: independent of the contract and of surrounding host code.
  std::vector<std::string> kernels;
};

NormalForm normal_form(std::string_view text);

}  // namespace krl::retrieval
