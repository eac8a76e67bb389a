// samples/iteration_000012.jsonl: the prompts and answers of an iteration, for people to read.
// One writer; each file appears complete, and doing an iteration again replaces its file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/file_system.hpp"
#include "core/base/result.hpp"

namespace krl {

class SampleWriter {
 public:
  static constexpr std::uintmax_t kMostBytes = 16u << 20;

  // Removes the files of iterations after `last_iteration`.
  static Result<SampleWriter> open(const std::filesystem::path& directory, int last_iteration,
                                   FileSystem& files = real_file_system(),
                                   std::uintmax_t most_bytes = kMostBytes);

  // Writes an iteration's records, each one JSON text without newlines; without records, no file.
  // Of more than `most_bytes` it keeps whole records, the first ones; those left out are counted in
  // a last record, {"left_out": n}.
  Status write(int iteration, const std::vector<std::string>& records);

 private:
  SampleWriter(std::filesystem::path directory, std::uintmax_t most_bytes, FileSystem& files);

  std::filesystem::path directory_;
  std::uintmax_t most_bytes_;
  FileSystem* files_;
};

}  // namespace krl
