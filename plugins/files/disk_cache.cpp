#include "plugins/files/disk_cache.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "plugins/files/descriptor.hpp"
#include "plugins/files/digest.hpp"
#include "plugins/files/file.hpp"

namespace krl::files {
namespace fs = std::filesystem;
namespace {

using FileTime = fs::file_time_type;

constexpr std::chrono::hours kAbandoned{1};     // a half-written file this old has no writer
constexpr std::chrono::minutes kTouchAfter{1};  // resolution of "least recently used"

struct Entry {
  fs::path path;
  std::uint64_t bytes = 0;
  FileTime used;
};

bool write_new(const fs::path& path, std::string_view head, std::string_view content) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  return file && write_all(file.get(), head) && write_all(file.get(), content);
}

bool is_intact(std::string_view file) {
  if (file.size() < Digest::kBytes) return false;
  const auto digest = sha256(file.substr(Digest::kBytes));
  return std::memcmp(digest.data(), file.data(), Digest::kBytes) == 0;
}

}  // namespace

DiskCache::DiskCache(fs::path folder, std::uint64_t max_bytes)
    : folder_(std::move(folder)), max_bytes_(max_bytes) {}

fs::path DiskCache::path_of(const std::string& key) const {
  return folder_ / key.substr(0, 2) / key;
}

fs::path DiskCache::fresh_name() {
  return folder_ / "new" / (std::to_string(::getpid()) + "-" + std::to_string(next_name_++));
}

std::optional<std::string> DiskCache::get(const std::string& key) {
  const fs::path path = path_of(key);
  std::string file = read_file_or_empty(path);
  if (file.empty()) return std::nullopt;
  std::error_code ignored;
  if (!is_intact(file)) {
    fs::remove(path, ignored);
    return std::nullopt;
  }
  const FileTime now = FileTime::clock::now();
  if (now - fs::last_write_time(path, ignored) > kTouchAfter) {
    fs::last_write_time(path, now, ignored);
  }
  file.erase(0, Digest::kBytes);
  return file;
}

bool DiskCache::put(const std::string& key, std::string_view content) {
  const fs::path path = path_of(key), fresh = fresh_name();
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  fs::create_directories(fresh.parent_path(), error);
  const auto digest = sha256(content);
  const std::string_view head(reinterpret_cast<const char*>(digest.data()), digest.size());
  const bool written = write_new(fresh, head, content);
  if (written) fs::rename(fresh, path, error);
  if (!written || error) {
    fs::remove(fresh, error);
    return false;
  }
  account(content.size() + Digest::kBytes);
  return true;
}

void DiskCache::account(std::uint64_t bytes) {
  const bool counted = bytes_.load() >= 0;
  if (counted) bytes_ += static_cast<std::int64_t>(bytes);
  if (!counted || static_cast<std::uint64_t>(bytes_.load()) > max_bytes_) trim();
}

void DiskCache::trim() {
  const std::scoped_lock lock(trim_mutex_);
  std::vector<Entry> entries;
  std::uint64_t total = 0;
  std::error_code error;
  const FileTime now = FileTime::clock::now();
  for (auto at = fs::recursive_directory_iterator(folder_, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code gone;  // other processes trim too
    if (!at->is_regular_file(gone)) continue;
    const Entry entry{at->path(), at->file_size(gone), at->last_write_time(gone)};
    if (gone) continue;
    const bool half_written = entry.path.parent_path().filename() == "new";
    if (half_written && now - entry.used > kAbandoned) fs::remove(entry.path, gone);
    if (half_written) continue;
    total += entry.bytes;
    entries.push_back(entry);
  }
  if (total > max_bytes_) {
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.used < b.used; });
    for (const Entry& entry : entries) {
      if (total <= max_bytes_ / 10 * 9) break;
      if (fs::remove(entry.path, error)) total -= entry.bytes;
    }
  }
  bytes_ = static_cast<std::int64_t>(total);
}

fs::path cache_folder_of(const std::string& option) {
  if (option == "off") return {};
  if (!option.empty()) return option;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return fs::path(cache) / "kernelrl";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return fs::path(home) / ".cache" / "kernelrl";
  }
  return {};
}

}  // namespace krl::files
