// Hashes with a name: SHA-256 for identity, CRC-32C for damage, and seeds that follow from names.
// Thread-safe, no state. The values are part of file formats and of results, so they never change.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace krl::core {

// 64 lower-case hexadecimal digits (FIPS 180-4).
std::string sha256_hex(std::string_view bytes);
Result<std::string> sha256_of_file(const std::filesystem::path& path);

// CRC-32C (Castagnoli; RFC 3720, appendix B.4): the checksum of TFRecord files and of the ledger.
std::uint32_t crc32c(std::string_view bytes);

// Appends a part of a seed's name. Parts keep their type and length: ("ab", "c"), ("a", "bc") and
// ("a", 1) all differ; integers of any width are the same part.
void append_seed_name(std::string& name, std::string_view part);
void append_seed_number(std::string& name, std::uint64_t bits);
void append_seed_name(std::string& name, std::integral auto part) {
  append_seed_number(name, static_cast<std::uint64_t>(part));
}

std::uint64_t seed_of_name(std::uint64_t run_seed, std::string_view name);

// Returns the seed of one random choice, from the run's seed and the choice's name (task, episode,
// turn, purpose, …), so that it depends only on the choice and never on the order in which things
// finish: seed_for(run.seed, "sample", task.id, 3). It is the first 8 bytes, little-endian, of
// SHA-256 over the seed and the parts.
template <class... Parts>
std::uint64_t seed_for(std::uint64_t run_seed, const Parts&... parts) {
  std::string name;
  (append_seed_name(name, parts), ...);
  return seed_of_name(run_seed, name);
}

// Maps a seed to (0, 1).
inline double uniform_of(std::uint64_t seed) {
  return (static_cast<double>(seed >> 11U) + 0.5) * 0x1p-53;
}

}  // namespace krl::core
