#define PCRE2_CODE_UNIT_WIDTH 8
#include "plugins/policies/tokenizer/split_pattern.hpp"

#include <pcre2.h>
#include <kernelrl/values.hpp>

#include <array>

namespace krl::policies {
namespace {

// A long run of spaces is taken in one go, but given back step by step: the stack that needs.
constexpr std::size_t kStackStart = 32 << 10, kStackLimit = 8 << 20;

std::string pcre2_message(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

SplitPattern::Workspace::Workspace()
    : stack_(pcre2_jit_stack_create(kStackStart, kStackLimit, nullptr)),
      context_(pcre2_match_context_create(nullptr)),
      match_(pcre2_match_data_create(1, nullptr)) {  // the whole match; groups are not asked for
  if (!stack_ || !context_ || !match_) throw std::bad_alloc();
  pcre2_jit_stack_assign(context_.get(), nullptr, stack_.get());
}

void SplitPattern::Workspace::Free::operator()(pcre2_match_data* data) const {
  pcre2_match_data_free(data);
}

void SplitPattern::Workspace::Free::operator()(pcre2_match_context* context) const {
  pcre2_match_context_free(context);
}

void SplitPattern::Workspace::Free::operator()(pcre2_jit_stack* stack) const {
  pcre2_jit_stack_free(stack);
}

void SplitPattern::Free::operator()(pcre2_code* code) const { pcre2_code_free(code); }

SplitPattern::SplitPattern(const std::string& pattern) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                            PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr));
  if (!code_) {
    invalid_argument("PCRE2 refuses it at byte " + std::to_string(offset) + ": " +
                     pcre2_message(error));
  }
  std::uint32_t matches_empty = 0;
  pcre2_pattern_info(code_.get(), PCRE2_INFO_MATCHEMPTY, &matches_empty);
  if (matches_empty != 0) invalid_argument("it matches the empty text, which splits nothing");
  // If the machine forbids code made at run time, PCRE2 interprets.
  pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE);
}

SplitPattern::Match SplitPattern::next(std::string_view text, std::size_t from,
                                       Workspace& workspace) const {
  const int found =
      pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                  PCRE2_NO_UTF_CHECK, workspace.match_.get(), workspace.context_.get());
  if (found == PCRE2_ERROR_NOMATCH) return {text.size(), text.size()};
  if (found < 0) {
    invalid_argument("a text cannot be split by the tokenizer's pattern: " + pcre2_message(found));
  }
  const PCRE2_SIZE* match = pcre2_get_ovector_pointer(workspace.match_.get());
  return {match[0], match[1]};
}

}  // namespace krl::policies
