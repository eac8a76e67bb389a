#include "tests/conformance/record.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace krl::conformance {
namespace {

constexpr std::size_t kHashBytes = 4, kDigestBytes = 8;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

// NaN, whatever its payload, becomes one NaN. `infinity`: its bits, in a value of `bits` bits.
std::uint64_t with_one_nan(std::uint64_t value, std::uint64_t infinity, unsigned bits) {
  const std::uint64_t magnitude = value & ((std::uint64_t{1} << (bits - 1)) - 1);
  return magnitude > infinity ? infinity + 1 : value;
}
std::uint64_t with_one_nan_each(std::uint64_t pair, std::uint64_t infinity) {
  return with_one_nan(pair & 0xffff, infinity, 16) | with_one_nan(pair >> 16 & 0xffff, infinity, 16)
                                                         << 16;
}
std::uint64_t canonical(Letter letter, std::uint64_t value) {
  switch (letter) {
    case 'f':
      return with_one_nan(value, 0x7f800000, 32);
    case 'T':
      return with_one_nan(value & 0xffffe000, 0x7f800000, 32);
    case 'g':
      return with_one_nan(value, 0x7ff0000000000000, 64);
    case 'e':
      return with_one_nan(value, 0x7c00, 16);
    case 'c':
      return with_one_nan(value, 0x7f80, 16);
    case 'E':
      return with_one_nan_each(value, 0x7c00);
    case 'C':
      return with_one_nan_each(value, 0x7f80);
    default:
      return value;
  }
}

std::uint64_t hash_of(Letter letter, std::span<const std::uint64_t> values) {
  std::uint64_t hash = 1;
  for (const std::uint64_t value : values) hash = mixed(hash, canonical(letter, value));
  return hash >> 32;
}

std::size_t bytes_of(Letter letter) {
  const std::string_view type = register_type(letter);
  return type == ".b16" ? 2 : type == ".b64" ? 8 : 4;
}

void append(std::string* to, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to->push_back(static_cast<char>(value >> 8 * i));
}

std::span<const std::uint64_t> slot_values(const Program& program, std::size_t slot,
                                           std::span<const std::uint64_t> results) {
  return results.subspan(slot * program.all_threads(), program.all_threads());
}

}  // namespace

std::uint64_t digest_of(const std::vector<Program>& programs) {
  std::uint64_t digest = programs.size();
  for (const std::uint64_t word : inputs()) digest = mixed(digest, word);
  for (const Program& program : programs) {
    for (const char c : program.text) digest = mixed(digest, static_cast<unsigned char>(c));
  }
  return digest;
}

RecordWriter::RecordWriter(const std::vector<Program>& programs) {
  append(&bytes_, digest_of(programs), kDigestBytes);
}

void RecordWriter::add(const Program& program, std::span<const std::uint64_t> results) {
  for (std::size_t i = 0; i < program.slots.size(); ++i) {
    const Slot& slot = program.slots[i];
    const auto values = slot_values(program, i, results);
    if (!slot.approximate) {
      append(&bytes_, hash_of(slot.letter, values), kHashBytes);
      continue;
    }
    for (const std::uint64_t value : values) append(&bytes_, value, bytes_of(slot.letter));
  }
}

RecordReader::RecordReader(std::string_view bytes, const std::vector<Program>& programs)
    : rest_(bytes) {
  if (take(kDigestBytes) != digest_of(programs)) {
    throw std::runtime_error(
        "the record is of other programs: record again on a GPU (tests/conformance/recorder.cpp)");
  }
}

std::uint64_t RecordReader::take(std::size_t bytes) {
  if (rest_.size() < bytes) throw std::runtime_error("the record is too short");
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(rest_[i])} << 8 * i;
  }
  rest_.remove_prefix(bytes);
  return value;
}

std::string RecordReader::slot_difference(const Program& program, const Slot& slot,
                                          std::span<const std::uint64_t> values) {
  if (!slot.approximate) {
    return take(kHashBytes) == hash_of(slot.letter, values) ? "" : program.name + " " + slot.of;
  }
  std::ostringstream text;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t expected = take(bytes_of(slot.letter));
    if (within_bounds(slot.of, slot.letter, expected, values[i])) continue;
    if (++wrong > 4) continue;
    text << program.name << " " << slot.of << " thread " << i << std::hex << ": " << values[i]
         << ", on the GPU " << expected << std::dec << "; ";
  }
  if (wrong > 4) text << wrong << " in all";
  return text.str();
}

std::vector<std::string> RecordReader::differences(const Program& program,
                                                   std::span<const std::uint64_t> results) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < program.slots.size(); ++i) {
    std::string text = slot_difference(program, program.slots[i], slot_values(program, i, results));
    if (!text.empty()) all.push_back(std::move(text));
  }
  return all;
}

}  // namespace krl::conformance
