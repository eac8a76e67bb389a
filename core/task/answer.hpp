// A policy's sampled answer, and the candidate kernel found in it.
#pragma once

#include <kernelrl/abi.h>

#include <cstdint>
#include <kernelrl/policy_values.hpp>
#include <string>
#include <string_view>

namespace krl::core {

// One sampled answer. `tokens` are exactly as sampled and are never made again from the text.
struct Answer : SampleValue {
  // Tokens that the policy did not choose: they ended its thought. Nothing is learned from them.
  std::uint32_t given_begin = 0, given_end = 0;
};

enum class Format : std::uint32_t {
  kExact = KRL_FORMAT_EXACT,
  kTolerated = KRL_FORMAT_TOLERATED,
  kMissing = KRL_FORMAT_MISSING,
  kTruncated = KRL_FORMAT_TRUNCATED,
};

// A kernel to be evaluated, and how it stood in the answer.
struct Candidate {
  std::string source;    // empty if the answer holds none
  std::string thinking;  // the thought; empty if absent
  Format format = Format::kMissing;
};

// Finds the kernel of an answer:
//   exact      <KERNEL> … </KERNEL> around one fenced block, with or without a thought before it
//   tolerated  otherwise the last fence of CUDA, C++, PTX, Python or no language that holds a
//              kernel, or <KERNEL> tags without a fence
//   truncated  the fence that holds the kernel is never closed, or there is none, and the answer
//              stopped at its length limit
// A thought ends at the first </think>, and its content is never a kernel. It begins at <think>, or
// with the answer if there is none before its end, because some chat templates end with <think>.
// With such a template (`in_thought`), an answer without a </think> is one thought; so is all text
// that follows an unclosed <think>.
Candidate extract_candidate(const Answer& answer, bool in_thought = false);

// True if an answer that begins like this is in a thought at its end.
bool is_thinking(std::string_view text, bool in_thought);

}  // namespace krl::core
