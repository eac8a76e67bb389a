#include "tests/unit/core/base/faulty_file_system.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>

namespace krl::test {

namespace fs = std::filesystem;

namespace {

std::uintmax_t size_of(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

}  // namespace

class FaultyFile final : public WritableFile {
 public:
  FaultyFile(FaultyFileSystem& files, fs::path path, std::unique_ptr<WritableFile> real)
      : files_(files), path_(std::move(path)), real_(std::move(real)) {}

  Status append(std::string_view bytes) override {
    const auto tear = [&] { static_cast<void>(real_->append(bytes.substr(0, bytes.size() / 2))); };
    if (auto error = files_.fault(path_, true, tear)) return failure(*error);
    return real_->append(bytes);
  }

  Status sync() override { return files_.sync(path_); }

 private:
  FaultyFileSystem& files_;
  fs::path path_;
  std::unique_ptr<WritableFile> real_;
};

void FaultyFileSystem::stop_at(int operation, std::function<void()> at_stop) {
  stop_at_ = operation;
  at_stop_ = std::move(at_stop);
}

std::optional<Error> FaultyFileSystem::fault(const fs::path& path, bool needs_room,
                                             const std::function<void()>& tear) {
  ++operations_;
  if (operations_ == fill_at_) full_ = true;
  if (operations_ == stop_at_) {
    tear();
    if (at_stop_) at_stop_();
  }
  if (stop_at_ > 0 && operations_ >= stop_at_) return file_error("write", path, EIO);
  if (!full_ || !needs_room) return std::nullopt;
  tear();
  return file_error("write", path, ENOSPC);
}

Result<std::unique_ptr<WritableFile>> FaultyFileSystem::open(const fs::path& path, bool fresh) {
  if (auto error = fault(path, !fs::exists(path))) return failure(*error);
  remember_new_name(path);
  if (fresh && fs::exists(path)) remember_old_content(path);
  synced_bytes_.try_emplace(path, fresh ? 0 : size_of(path));
  if (fresh) synced_bytes_[path] = 0;
  auto real = fresh ? real_file_system().create(path) : real_file_system().open_to_append(path);
  if (!real) return failure(real.error());
  return std::make_unique<FaultyFile>(*this, path, std::move(*real));
}

Result<std::unique_ptr<WritableFile>> FaultyFileSystem::create(const fs::path& path) {
  return open(path, true);
}

Result<std::unique_ptr<WritableFile>> FaultyFileSystem::open_to_append(const fs::path& path) {
  return open(path, false);
}

Status FaultyFileSystem::truncate(const fs::path& path, std::uintmax_t size) {
  if (auto error = fault(path, false)) return failure(*error);
  const auto synced = synced_bytes_.find(path);
  if (synced != synced_bytes_.end()) synced->second = std::min(synced->second, size);
  return real_file_system().truncate(path, size);
}

Status FaultyFileSystem::rename(const fs::path& from, const fs::path& to) {
  if (auto error = fault(to, false)) return failure(*error);
  if (fs::is_regular_file(to)) remember_old_content(to);
  KRL_TRY(real_file_system().rename(from, to));
  undo_.push_back({to.parent_path(), [from, to] { fs::rename(to, from); }});
  if (const auto synced = synced_bytes_.extract(from)) synced_bytes_[to] = synced.mapped();
  return {};
}

Status FaultyFileSystem::remove(const fs::path& path) {
  if (auto error = fault(path, false)) return failure(*error);
  if (fs::is_regular_file(path))
    remember_old_content(path);
  else if (fs::is_directory(path))
    undo_.push_back({path.parent_path(), [path] { fs::create_directory(path); }});
  synced_bytes_.erase(path);
  return real_file_system().remove(path);
}

Status FaultyFileSystem::make_directory(const fs::path& path) {
  if (auto error = fault(path, !fs::exists(path))) return failure(*error);
  remember_new_name(path);
  return real_file_system().make_directory(path);
}

Status FaultyFileSystem::sync(const fs::path& path) {
  if (auto error = fault(path, false)) return failure(*error);
  if (fs::is_directory(path)) {
    std::erase_if(undo_, [&](const Undo& undo) { return undo.folder == path; });
  } else {
    synced_bytes_[path] = size_of(path);
  }
  return {};
}

void FaultyFileSystem::remember_new_name(const fs::path& path) {
  if (fs::exists(path)) return;
  undo_.push_back({path.parent_path(), [path] { fs::remove_all(path); }});
}

void FaultyFileSystem::remember_old_content(const fs::path& path) {
  std::string content = *read_file(path);
  undo_.push_back(
      {path.parent_path(), [path, content] { std::ofstream(path, std::ios::binary) << content; }});
}

void FaultyFileSystem::lose_power() {
  for (const auto& [path, bytes] : synced_bytes_)
    if (size_of(path) > bytes) fs::resize_file(path, bytes);
  // What lay in a folder that is gone for good, as its parent was synced after its removal, is gone
  // too.
  for (; !undo_.empty(); undo_.pop_back())
    if (fs::exists(undo_.back().folder)) undo_.back().act();
  synced_bytes_.clear();
}

}  // namespace krl::test
