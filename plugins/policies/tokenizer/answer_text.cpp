#include "plugins/policies/tokenizer/answer_text.hpp"

#include <algorithm>

namespace krl::policies {

bool AnswerText::add(std::string_view bytes, std::span<const std::string> stops) {
  bytes_ += bytes;
  std::size_t cut = std::string::npos;
  for (const std::string& stop : stops) {
    const std::size_t overlap = bytes.size() + stop.size();
    const std::size_t from = bytes_.size() > overlap ? bytes_.size() - overlap : 0;
    cut = std::min(cut, bytes_.find(stop, from));
  }
  if (cut == std::string::npos) return false;
  bytes_.resize(cut);
  return true;
}

}  // namespace krl::policies
