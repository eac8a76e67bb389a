// Whether a text is another one again: the same, the same after its names and layout were changed,
// with a kernel of it, or one that differs in little. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krl::retrieval {

// What texts are compared by, as digests.
struct TextIdentity {
  std::string hash;                  // of the text
  std::string source;                // of its normal form (normal_form.hpp); empty: it has none
  std::vector<std::string> kernels;  // of its kernels' normal forms, sorted
  // Of each run of a few tokens in its normal form and in those of its kernels, without their
  // names' numbers: a set for each form, sorted.
  std::vector<std::vector<std::uint32_t>> runs;
};

TextIdentity identity_of(std::string_view text);

enum class Likeness {
  kSameText,
  kSameSource,     // but for comments, white space, names and numbers
  kSameKernel,     // one of its kernels, likewise
  kSimilarSource,  // most of the runs of tokens of the whole or of a kernel (Jaccard, Broder 1997)
};

// The strongest likeness; nothing if they are no near duplicates by these rules.
std::optional<Likeness> likeness(const TextIdentity& a, const TextIdentity& b);

}  // namespace krl::retrieval
