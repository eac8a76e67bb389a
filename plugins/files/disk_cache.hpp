// A content-addressed cache on disk: `folder/ab/<key>`, shared by threads and processes.
//
// An entry is written to a separate file and renamed, and begins with the SHA-256 of its content: a
// reader sees all of it or nothing, whatever was killed. Corrupt entries are deleted and count as
// misses. Bounded in size; the least recently used entries are evicted first. If the folder cannot
// be written (read-only, full disk), nothing is cached, without an error. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace krl::files {

class DiskCache {
 public:
  // `max_bytes`: of all entries together.
  DiskCache(std::filesystem::path folder, std::uint64_t max_bytes);

  // `key`: a digest in hexadecimal.
  std::optional<std::string> get(const std::string& key);
  // True if the entry is there afterwards.
  bool put(const std::string& key, std::string_view content);

  const std::filesystem::path& folder() const { return folder_; }
  // Deletes what was not used for longest, until what is left takes at most 9/10 of the limit, and
  // files that a killed process left half-written. Called by put() when the limit is passed.
  void trim();

 private:
  std::filesystem::path path_of(const std::string& key) const;
  std::filesystem::path fresh_name();
  void account(std::uint64_t bytes);

  const std::filesystem::path folder_;
  const std::uint64_t max_bytes_;
  std::atomic<std::uint64_t> next_name_{0};
  std::mutex trim_mutex_;
  std::atomic<std::int64_t> bytes_{-1};  // an estimate; -1: not counted yet
};

// The folder that a component's option `cache` means; empty = none. "off" is none, "" is
// $XDG_CACHE_HOME/kernelrl, or ~/.cache/kernelrl, or none if neither is known.
std::filesystem::path cache_folder_of(const std::string& option);

}  // namespace krl::files
