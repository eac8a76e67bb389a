// What a GPU computed, in a compact file: of each slot of each program a hash of all threads'
// values, where the ISA fixes every bit of them; the values themselves, where it gives bounds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/program.hpp"

namespace krl::conformance {

// Changes with any change of the programs or the inputs: a record is of one of it.
std::uint64_t digest_of(const std::vector<Program>& programs);

class RecordWriter {
 public:
  explicit RecordWriter(const std::vector<Program>& programs);
  // In the order of the programs. `results`: program.result_words() of them.
  void add(const Program& program, std::span<const std::uint64_t> results);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class RecordReader {
 public:
  // Throws std::runtime_error if the record is not of these programs.
  RecordReader(std::string_view bytes, const std::vector<Program>& programs);
  // In the order of the programs: a line for each slot in which `results` differ from the record.
  std::vector<std::string> differences(const Program& program,
                                       std::span<const std::uint64_t> results);

 private:
  std::uint64_t take(std::size_t bytes);
  std::string slot_difference(const Program& program, const Slot& slot,
                              std::span<const std::uint64_t> values);

  std::string_view rest_;
};

// Whether two values of an approximate instruction are within twice the bound that the PTX ISA
// gives for it.
bool within_bounds(const std::string& form, Letter letter, std::uint64_t one, std::uint64_t other);

}  // namespace krl::conformance
