// The output of a command that may be killed: a line of JSON for each thing that it did, beginning
// with the same key. A later call reads them and goes on behind the last whole one. Not thread-safe.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/file_system.hpp"

namespace krl::service {
using namespace core;

struct OutputFormat {
  std::string contents;   // "judged kernels"
  std::string first_key;  // each line begins with it
};

class OutputLines {
 public:
  using Json = nlohmann::ordered_json;
  using Use = std::function<bool(const Json& line)>;

  // Passes each whole line of a file, if there is one, to `use`, which returns false for one that
  // the command did not write; returns their bytes. Fails for a file that is none of its outputs.
  static Result<std::uintmax_t> read(const std::string& file, const OutputFormat& format,
                                     const Use& use);
  // Reads a file in this way, and opens it to append to it.
  static Result<OutputLines> open(const std::string& file, const OutputFormat& format,
                                  const Use& use);

  // Bytes that are no UTF-8 are replaced.
  Status append(const Json& line);

 private:
  explicit OutputLines(LineFile file) : file_(std::move(file)) {}

  LineFile file_;
};

}  // namespace krl::service
