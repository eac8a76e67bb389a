// Reads and durably writes whole files. Thread-safe as long as no one else writes the same path.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace krl::files {

// Writes `parts` one after the other as the file `path` and returns when they are on disk. Throws
// krl::Failure: KRL_RESOURCE_EXHAUSTED if the disk is full, KRL_INTERNAL for any other error of the
// system, both with path and reason; the file may then be there in part.
void write_file(const std::filesystem::path& path, const std::vector<std::string_view>& parts);

// Makes the names of the files in `directory` durable.
void sync_directory(const std::filesystem::path& directory);

// The contents of `path`. Throws krl::Failure: KRL_NOT_FOUND if there is no such file.
std::string read_file(const std::filesystem::path& path);
// The same, or an empty text if it cannot be read.
std::string read_file_or_empty(const std::filesystem::path& path);

}  // namespace krl::files
