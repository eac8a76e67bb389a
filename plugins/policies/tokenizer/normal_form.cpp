#include "plugins/policies/tokenizer/normal_form.hpp"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uniset.h>

#include <kernelrl/values.hpp>

namespace krl::policies {
namespace {

void check(UErrorCode status, const char* what) {
  if (U_SUCCESS(status)) return;
  throw Failure(KRL_INTERNAL, std::string("ICU: ") + what + ": " + u_errorName(status));
}

const icu::UnicodeSet& characters_of_unicode_9() {
  static const icu::UnicodeSet characters = [] {
    UErrorCode status = U_ZERO_ERROR;
    icu::UnicodeSet set(icu::UnicodeString(u"[:Age=9.0:]"), status);
    check(status, "the characters of Unicode 9");
    set.freeze();
    return set;
  }();
  return characters;
}

icu::FilteredNormalizer2 filtered(const icu::Normalizer2* (*instance)(UErrorCode&)) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* whole = instance(status);
  check(status, "a normal form");
  return icu::FilteredNormalizer2(*whole, characters_of_unicode_9());
}

const icu::Normalizer2& form_c() {
  static const icu::FilteredNormalizer2 form = filtered(icu::Normalizer2::getNFCInstance);
  return form;
}

// ICU counts in 32 bits.
icu::StringPiece piece(std::string_view text) {
  if (text.size() > INT32_MAX) invalid_argument("a text of more than 2 GiB cannot be normalised");
  return {text.data(), static_cast<std::int32_t>(text.size())};
}

std::string normalised(const icu::Normalizer2& form, std::string_view text) {
  std::string normal;
  icu::StringByteSink<std::string> sink(&normal, piece(text).size());
  UErrorCode status = U_ZERO_ERROR;
  form.normalizeUTF8(0, piece(text), sink, nullptr, status);
  check(status, "a normal form");
  return normal;
}

}  // namespace

bool is_nfc(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  const bool normal = form_c().isNormalizedUTF8(piece(text), status) != 0;
  check(status, "is_nfc");
  return normal;
}

std::string to_nfc(std::string_view text) { return normalised(form_c(), text); }

std::string to_nfd(std::string_view text) {
  static const icu::FilteredNormalizer2 form = filtered(icu::Normalizer2::getNFDInstance);
  return normalised(form, text);
}

}  // namespace krl::policies
