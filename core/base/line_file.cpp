#include "core/base/line_file.hpp"

#include <algorithm>
#include <string>
#include <system_error>

namespace krl {

LineFile::LineFile(std::filesystem::path path, FileSystem& files,
                   std::unique_ptr<WritableFile> file, std::uintmax_t size)
    : path_(std::move(path)), files_(&files), file_(std::move(file)), size_(size) {}

Result<LineFile> LineFile::open(const std::filesystem::path& path, std::uintmax_t size,
                                FileSystem& files) {
  std::error_code error;
  const bool fresh = !std::filesystem::exists(path, error);
  KRL_ASSIGN(auto file, files.open_to_append(path));
  if (fresh) KRL_TRY(files.sync(folder_of(path)));
  const std::uintmax_t found = std::filesystem::file_size(path, error);
  if (error) return failure(file_error("read", path, error.value()));
  if (found > size) KRL_TRY(files.truncate(path, size));
  return LineFile(path, files, std::move(file), std::min(found, size));
}

Status LineFile::append(std::string_view line) {
  if (torn_) KRL_TRY(files_->truncate(path_, size_));
  torn_ = true;
  const std::string bytes = std::string(line) + "\n";
  KRL_TRY(file_->append(bytes));
  torn_ = false;
  size_ += bytes.size();
  return {};
}

std::uintmax_t size_of_whole_lines(std::string_view text) {
  const std::size_t newline = text.rfind('\n');
  return newline == std::string_view::npos ? 0 : newline + 1;
}

}  // namespace krl
