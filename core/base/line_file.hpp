// A text file that grows by whole lines, as metrics.jsonl and the ledger do: after a crash or a
// full disk its tail may be torn, and is cut before the next line. One writer, not thread-safe;
// readers may look at any time and ignore what follows the last newline.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "core/base/file_system.hpp"
#include "core/base/result.hpp"

namespace krl {

class LineFile {
 public:
  // Opens or creates the file and cuts it to its first `size` bytes.
  static Result<LineFile> open(const std::filesystem::path& path, std::uintmax_t size,
                               FileSystem& files);

  // Appends `line` and a newline. After an error the file may end in a part of it, which is gone
  // once a later call, or `open`, succeeds; so the call may be repeated.
  Status append(std::string_view line);

  Status sync() { return file_->sync(); }

  std::uintmax_t size() const { return size_; }  // bytes of whole lines

 private:
  LineFile(std::filesystem::path path, FileSystem& files, std::unique_ptr<WritableFile> file,
           std::uintmax_t size);

  std::filesystem::path path_;
  FileSystem* files_;
  std::unique_ptr<WritableFile> file_;
  std::uintmax_t size_;
  bool torn_ = false;  // the file may be longer than `size_`
};

// The length of `text` up to and with its last newline.
std::uintmax_t size_of_whole_lines(std::string_view text);

}  // namespace krl
