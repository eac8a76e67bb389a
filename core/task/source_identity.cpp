#include "core/task/source_identity.hpp"

#include <algorithm>
#include <kernelrl/cuda_source.hpp>

#include "core/base/hash.hpp"

namespace krl::core {
namespace {

constexpr std::size_t kDigits = 16;

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
  return text;
}

}  // namespace

std::string identity_of(std::string_view source) {
  const CudaSource scanned = scan_cuda_source(source);
  std::string text;
  bool preprocessor = false;  // a line of it ends where it ends
  for (const SourceToken& token : scanned.tokens) {
    const bool begins = token.starts_line && token.is("#");
    text += token.starts_line && (preprocessor || begins) ? '\n' : ' ';
    if (token.starts_line) preprocessor = begins;
    text += token.text;
  }
  for (const LineComment& comment : scanned.comments) {
    const std::string directive = without_blanks(comment.text);
    if (comment.starts_line && directive.starts_with('@')) text += "\n//" + directive;
  }
  return sha256_hex(text).substr(0, kDigits);
}

}  // namespace krl::core
