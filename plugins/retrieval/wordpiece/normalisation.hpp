// Normalises a text before BERT's tokenizers split it into words: `BertNormalizer` of the
// `tokenizers` library. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace krl::retrieval {

struct Normalisation {
  bool clean = true;             // removes controls; all white space becomes blanks
  bool space_ideographs = true;  // a blank before and after each Chinese character
  bool strip_accents = true;
  bool lower_case = true;
};

// REQUIRES: `text` is valid UTF-8.
std::string normalise(std::string_view text, const Normalisation& steps);

}  // namespace krl::retrieval
