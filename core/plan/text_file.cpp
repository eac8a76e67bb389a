#include "core/plan/text_file.hpp"

#include <system_error>

#include "core/base/file_system.hpp"

namespace krl {
namespace fs = std::filesystem;

tl::expected<std::string, std::string> read_text_file(const fs::path& file) {
  constexpr std::uintmax_t kMaxBytes = 1 << 20;
  const std::string name = "'" + file.string() + "' ";
  const auto unreadable = [&name](const std::string& why) {
    return tl::unexpected("cannot read " + name + "(" + why + ")");
  };
  if (file.native().find('\0') != std::string::npos) {
    return tl::unexpected(name + "is no file name: it holds a zero byte");
  }
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) return unreadable(error.message());
  if (fs::is_directory(status)) return tl::unexpected(name + "is a folder, not a file");
  if (!fs::is_regular_file(status)) return tl::unexpected(name + "is not a regular file");
  if (fs::file_size(file, error) > kMaxBytes) {
    return error ? unreadable(error.message()) : tl::unexpected(name + "is larger than 1 MiB");
  }
  Result<std::string> text = read_file(file);
  if (!text) return tl::unexpected(std::move(text).error().message);
  return std::move(*text);
}

}  // namespace krl
