#include "core/base/hash.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <memory>

#include "core/base/file_system.hpp"

namespace krl::core {

namespace {

using Digest = std::array<unsigned char, 32>;

class Sha256 {
 public:
  Sha256() { EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr); }

  void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }

  Digest finish() {
    Digest digest{};
    EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr);
    return digest;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_{EVP_MD_CTX_new(),
                                                                   EVP_MD_CTX_free};
};

std::string hex(const Digest& digest) { return fmt::format("{:02x}", fmt::join(digest, "")); }

void append_little_endian(std::string& bytes, std::uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(value >> shift & 0xff);
}

// Entry i is the checksum register after the byte i alone (polynomial 0x1EDC6F41, bits reversed).
constexpr std::array<std::uint32_t, 256> make_crc32c_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0u);
    table[byte] = crc;
  }
  return table;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hex(hash.finish());
}

Result<std::string> sha256_of_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return failure(file_error("read", path, errno));
  Sha256 hash;
  std::string block(1u << 20, '\0');
  while (stream.read(block.data(), static_cast<std::streamsize>(block.size())) ||
         stream.gcount() > 0)
    hash.add(std::string_view(block).substr(0, static_cast<std::size_t>(stream.gcount())));
  if (stream.bad()) return failure(file_error("read", path, errno));
  return hex(hash.finish());
}

std::uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> kTable = make_crc32c_table();
  std::uint32_t crc = ~0u;
  for (const char byte : bytes)
    crc = crc >> 8 ^ kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

void append_seed_name(std::string& name, std::string_view part) {
  name += 's';
  append_little_endian(name, part.size());
  name += part;
}

void append_seed_number(std::string& name, std::uint64_t bits) {
  name += 'i';
  append_little_endian(name, bits);
}

std::uint64_t seed_of_name(std::uint64_t run_seed, std::string_view name) {
  std::string prefix;
  append_little_endian(prefix, run_seed);
  Sha256 hash;
  hash.add(prefix);
  hash.add(name);
  const Digest digest = hash.finish();
  std::uint64_t seed = 0;
  for (int i = 7; i >= 0; --i) seed = seed << 8 | digest[static_cast<std::size_t>(i)];
  return seed;
}

}  // namespace krl::core
