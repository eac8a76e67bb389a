#include "plugins/files/digest.hpp"

#include <openssl/evp.h>

#include <new>

namespace krl::files {
namespace {

EVP_MD_CTX* of(void* context) { return static_cast<EVP_MD_CTX*>(context); }

std::string hexadecimal(const std::array<unsigned char, Digest::kBytes>& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace

void Digest::Free::operator()(void* context) const { EVP_MD_CTX_free(of(context)); }

Digest::Digest() : context_(EVP_MD_CTX_new()) {
  if (!context_ || EVP_DigestInit_ex(of(context_.get()), EVP_sha256(), nullptr) != 1) {
    throw std::bad_alloc();
  }
}

Digest& Digest::add(std::string_view text) {
  const std::uint64_t size = text.size();
  EVP_DigestUpdate(of(context_.get()), &size, sizeof size);
  EVP_DigestUpdate(of(context_.get()), text.data(), text.size());
  return *this;
}

Digest& Digest::add(std::uint64_t number) {
  return add(std::string_view(reinterpret_cast<const char*>(&number), sizeof number));
}

std::array<unsigned char, Digest::kBytes> Digest::bytes() {
  std::array<unsigned char, kBytes> digest{};
  EVP_DigestFinal_ex(of(context_.get()), digest.data(), nullptr);
  return digest;
}

std::string Digest::hex() { return hexadecimal(bytes()); }

std::array<unsigned char, Digest::kBytes> sha256(std::string_view text) {
  std::array<unsigned char, Digest::kBytes> digest{};
  EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  return digest;
}

std::string sha256_hex(std::string_view text) { return hexadecimal(sha256(text)); }

}  // namespace krl::files
