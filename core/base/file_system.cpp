#include "core/base/file_system.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace krl::core {
namespace fs = std::filesystem;

namespace {

class PosixFile final : public WritableFile {
 public:
  PosixFile(int descriptor, fs::path path) : descriptor_(descriptor), path_(std::move(path)) {}
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;
  ~PosixFile() override { ::close(descriptor_); }

  Status append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return failure(file_error("write", path_, errno));
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }

  Status sync() override {
    if (::fdatasync(descriptor_) != 0) return failure(file_error("write", path_, errno));
    return {};
  }

 private:
  int descriptor_;
  fs::path path_;
};

class PosixFileSystem final : public FileSystem {
 public:
  Result<std::unique_ptr<WritableFile>> create(const fs::path& path) override {
    return open(path, O_TRUNC);
  }

  Result<std::unique_ptr<WritableFile>> open_to_append(const fs::path& path) override {
    return open(path, O_APPEND);
  }

  Status truncate(const fs::path& path, std::uintmax_t size) override {
    if (::truncate(path.c_str(), static_cast<off_t>(size)) != 0)
      return failure(file_error("shorten", path, errno));
    return {};
  }

  Status rename(const fs::path& from, const fs::path& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return failure(file_error("write", to, errno));
    return {};
  }

  Status remove(const fs::path& path) override {
    if (::remove(path.c_str()) != 0 && errno != ENOENT)
      return failure(file_error("remove", path, errno));
    return {};
  }

  Status make_directory(const fs::path& path) override {
    if (::mkdir(path.c_str(), 0777) == 0) return {};
    const int error_number = errno;
    if (error_number == EEXIST && fs::is_directory(path)) return {};
    return failure(file_error("make folder", path, error_number));
  }

  Status sync(const fs::path& path) override {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return failure(file_error("open", path, errno));
    const int failed = ::fsync(descriptor);
    const int error_number = errno;
    ::close(descriptor);
    if (failed != 0) return failure(file_error("write", path, error_number));
    return {};
  }

 private:
  static Result<std::unique_ptr<WritableFile>> open(const fs::path& path, int flags) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
    if (descriptor < 0) return failure(file_error("write", path, errno));
    return std::make_unique<PosixFile>(descriptor, path);
  }
};

Code code_of(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return Code::kResourceExhausted;
    case ENOENT:
      return Code::kNotFound;
    default:
      return Code::kUnavailable;
  }
}

std::string reason(int error_number) {
  std::string text = std::generic_category().message(error_number);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] += 'a' - 'A';
  return text;
}

std::string megabytes(std::uintmax_t bytes) {
  constexpr std::uintmax_t kMegabyte = 1000 * 1000;
  return std::to_string((bytes + kMegabyte - 1) / kMegabyte) + " MB";
}

}  // namespace

FileSystem& real_file_system() {
  static PosixFileSystem files;
  return files;
}

Error file_error(std::string_view action, const fs::path& path, int error_number) {
  return {code_of(error_number),
          "cannot " + std::string(action) + " " + path.string() + ": " + reason(error_number)};
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

Status make_directories(FileSystem& files, const fs::path& path) {
  std::error_code ignored;
  if (path.empty() || fs::is_directory(path, ignored)) return {};
  KRL_TRY(make_directories(files, path.parent_path()));
  KRL_TRY(files.make_directory(path));
  return files.sync(folder_of(path));
}

Result<std::vector<fs::path>> children_of(const fs::path& folder) {
  std::vector<fs::path> children;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) children.push_back(entry.path());
  if (error) return failure(file_error("read", folder, error.value()));
  std::ranges::sort(children);
  return children;
}

Status remove_tree(FileSystem& files, const fs::path& path) {
  std::error_code error;
  if (fs::symlink_status(path, error).type() == fs::file_type::directory) {
    KRL_ASSIGN(const std::vector<fs::path> children, children_of(path));
    for (const fs::path& child : children) KRL_TRY(remove_tree(files, child));
  }
  return files.remove(path);
}

Status sync_tree(FileSystem& files, const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> contents, folders;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error))
    (entry.is_directory() ? folders : contents).push_back(entry.path());
  if (error) return failure(file_error("read", folder, error.value()));
  std::ranges::sort(contents);
  std::ranges::sort(folders);
  for (const fs::path& file : contents) KRL_TRY(files.sync(file));
  for (const fs::path& inner : folders) KRL_TRY(files.sync(inner));
  return files.sync(folder);
}

Status write_atomically(FileSystem& files, const fs::path& path, std::string_view contents,
                        Durability durability) {
  const fs::path draft = path.string() + ".new";
  const bool synced = durability == Durability::kSynced;
  {
    KRL_ASSIGN(const auto file, files.create(draft));
    KRL_TRY(file->append(contents));
    if (synced) KRL_TRY(file->sync());
  }
  KRL_TRY(files.rename(draft, path));
  return synced ? files.sync(folder_of(path)) : Status();
}

Result<std::string> read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return failure(file_error("read", path, errno));
  std::ostringstream text;
  text << stream.rdbuf();
  if (stream.bad()) return failure(file_error("read", path, errno));
  return std::move(text).str();
}

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

Status explain_full_disk(Status status, const std::filesystem::path& path,
                         std::uintmax_t needed_bytes) {
  if (status || status.error().code != Code::kResourceExhausted) return status;
  std::string room;
  std::error_code unknown;
  const auto space = std::filesystem::space(path, unknown);
  if (needed_bytes > 0) room += "needs about " + megabytes(needed_bytes);
  if (!unknown)
    room += (room.empty() ? "" : ", ") + std::to_string(space.available / 1000000) + " MB free";
  Error error = std::move(status).error();
  if (!room.empty()) error.message += " (" + room + ")";
  error.message += "; free some space and resume from the last checkpoint";
  return failure(std::move(error));
}

std::filesystem::path installation_prefix() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path() : program.parent_path().parent_path();
}

std::filesystem::path shared_files() { return installation_prefix() / "share/kernelrl"; }

}  // namespace krl::core
