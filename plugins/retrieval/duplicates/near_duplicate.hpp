// Decides if a text repeats another one: it is the same, the same up to names and layout, has a
// kernel of it, or differs in little. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krl::retrieval {

// The digests by which texts are compared.
struct TextIdentity {
  std::string hash;    // digest of the text
  std::string source;  // digest of its normal form (normal_form.hpp); empty: it has none
  std::vector<std::string> kernels;  // digests of its kernels' normal forms, sorted
  // Digests of the runs of a few tokens in its normal form and in those of its kernels, without
  // their names' numbers: a set for each form, sorted.
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
