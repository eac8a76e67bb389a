// Reads the text of a plan or of something that a plan names. Thread-safe.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>

namespace krl {

// The whole text of a regular file of at most 1 MiB; else why not, "'x.toml' is a folder".
// Never blocks: pipes and devices are refused.
tl::expected<std::string, std::string> read_text_file(const std::filesystem::path& file);

}  // namespace krl
