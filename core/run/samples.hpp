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

struct SampleLimits {
  std::uintmax_t bytes_per_iteration = 16u << 20;  // 0: no limit; whole records, the first ones
  int iterations_kept = 0;                         // the newest; 0: all
};

class SampleWriter {
 public:
  // Removes the files of iterations after `last_iteration`.
  static Result<SampleWriter> open(const std::filesystem::path& directory, int last_iteration,
                                   SampleLimits limits = {},
                                   FileSystem& files = real_file_system());

  // Writes an iteration's records, each one JSON text without newlines; without records, no file.
  // What the limit leaves out is counted in a last record, {"left_out": n}.
  Status write(int iteration, const std::vector<std::string>& records);

 private:
  SampleWriter(std::filesystem::path directory, SampleLimits limits, FileSystem& files);

  Status remove_after(int last_iteration);
  Status remove_old();

  std::filesystem::path directory_;
  SampleLimits limits_;
  FileSystem* files_;
};

}  // namespace krl
