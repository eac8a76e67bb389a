#include "plugins/policies/tokenizer/nfc.hpp"

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

icu::UnicodeSet characters_of_unicode_9() {
  UErrorCode status = U_ZERO_ERROR;
  icu::UnicodeSet set(icu::UnicodeString(u"[:Age=9.0:]"), status);
  check(status, "the characters of Unicode 9");
  set.freeze();
  return set;
}

const icu::Normalizer2& normalizer() {
  static const icu::FilteredNormalizer2 filtered = [] {
    static const icu::UnicodeSet characters = characters_of_unicode_9();
    UErrorCode status = U_ZERO_ERROR;
    const icu::Normalizer2* nfc = icu::Normalizer2::getNFCInstance(status);
    check(status, "normal form C");
    return icu::FilteredNormalizer2(*nfc, characters);
  }();
  return filtered;
}

// ICU counts in 32 bits.
icu::StringPiece piece(std::string_view text) {
  if (text.size() > INT32_MAX) invalid_argument("a text of more than 2 GiB cannot be normalised");
  return {text.data(), static_cast<std::int32_t>(text.size())};
}

}  // namespace

bool is_nfc(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  const bool normal = normalizer().isNormalizedUTF8(piece(text), status) != 0;
  check(status, "is_nfc");
  return normal;
}

std::string to_nfc(std::string_view text) {
  std::string normal;
  icu::StringByteSink<std::string> sink(&normal, static_cast<std::int32_t>(piece(text).size()));
  UErrorCode status = U_ZERO_ERROR;
  normalizer().normalizeUTF8(0, piece(text), sink, nullptr, status);
  check(status, "to_nfc");
  return normal;
}

}  // namespace krl::policies
