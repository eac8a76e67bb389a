// A file system that fails on command, for tests of what survives. It works on real files through
// the real one, counts the operations that change something, and at a chosen one
//   - fails with an error number (a full disk: half of a write lands first), once or from then on;
//   or
//   - stops: that operation and all later ones fail, as if the process had died there (half of a
//   write lands first).
// After a stop, `lose_power` also takes back what was never synced: appended bytes, new names,
// renames, removals.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/file_system.hpp"

namespace krl::test {
using namespace core;

class FaultyFileSystem final : public FileSystem {
 public:
  Result<std::unique_ptr<WritableFile>> create(const std::filesystem::path& path) override;
  Result<std::unique_ptr<WritableFile>> open_to_append(const std::filesystem::path& path) override;
  Status truncate(const std::filesystem::path& path, std::uintmax_t size) override;
  Status rename(const std::filesystem::path& from, const std::filesystem::path& to) override;
  Status remove(const std::filesystem::path& path) override;
  Status make_directory(const std::filesystem::path& path) override;
  Status sync(const std::filesystem::path& path) override;

  // The `operation`-th change from the beginning (counted from 1) and all after it fail; `at_stop`
  // is called at that one.
  void stop_at(int operation, std::function<void()> at_stop = {});

  // From the `operation`-th change on, every one that needs room fails.
  void fill_at(int operation) { fill_at_ = operation; }

  // Every change that needs room fails while this is set.
  void set_full(bool full) { full_ = full; }

  // Changes so far, the failed ones included.
  int operations() const { return operations_; }

  void lose_power();

 private:
  friend class FaultyFile;

  // What must be done to take back a change that is not synced yet, and the folder whose sync makes
  // it stay.
  struct Undo {
    std::filesystem::path folder;
    std::function<void()> act;
  };

  // Counts a change; the error if it is to fail, after `tear` has left its traces.
  std::optional<Error> fault(
      const std::filesystem::path& path, bool needs_room,
      const std::function<void()>& tear = [] {});
  Result<std::unique_ptr<WritableFile>> open(const std::filesystem::path& path, bool fresh);
  void remember_new_name(const std::filesystem::path& path);
  void remember_old_content(const std::filesystem::path& path);

  int operations_ = 0;
  int stop_at_ = 0;
  std::function<void()> at_stop_;
  int fill_at_ = 0;
  bool full_ = false;
  std::vector<Undo> undo_;
  std::map<std::filesystem::path, std::uintmax_t> synced_bytes_;  // of files written to since
};

}  // namespace krl::test
