// The operations of the core on files, behind one interface, so that a test can make any operation
// fail, tear a write, or stop everything after it. Everything a run writes goes through here;
// reading is plain functions. Thread-safe; a WritableFile belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace krl::core {

// A file open for appending; closed when destroyed.
class WritableFile {
 public:
  virtual ~WritableFile() = default;

  // Appends all of `bytes`, or fails with an unknown part of them written.
  virtual Status append(std::string_view bytes) = 0;

  // Appended data survives a power loss once this returns. (The death of the process it
  // survives without.)
  virtual Status sync() = 0;
};

// Errors name the operation, the path and the reason ("cannot write runs/x/a: no space left on
// device"). Their code is kResourceExhausted for a full disk or quota, kNotFound for a missing
// file, kUnavailable for everything else.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Result<std::unique_ptr<WritableFile>> create(const std::filesystem::path& path) = 0;
  virtual Result<std::unique_ptr<WritableFile>> open_to_append(
      const std::filesystem::path& path) = 0;
  virtual Status truncate(const std::filesystem::path& path, std::uintmax_t size) = 0;

  // Replaces `to`, if there is one, at once: a reader sees the old or the new, never neither.
  virtual Status rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;

  // Removes a file or an empty folder. Succeeds if it does not exist.
  virtual Status remove(const std::filesystem::path& path) = 0;

  // Makes one folder in an existing one. Succeeds if it exists.
  virtual Status make_directory(const std::filesystem::path& path) = 0;

  // Makes a file's content, or a folder's list of names, survive a power loss.
  virtual Status sync(const std::filesystem::path& path) = 0;
};

// The machine's own. Lives as long as the process.
FileSystem& real_file_system();

// The folder that `path` is in; "." for a bare name.
std::filesystem::path folder_of(const std::filesystem::path& path);

// The files and folders in a folder, sorted.
Result<std::vector<std::filesystem::path>> children_of(const std::filesystem::path& folder);

// Folders with their parents, their names synced; a whole tree removed.
Status make_directories(FileSystem& files, const std::filesystem::path& path);
Status remove_tree(FileSystem& files, const std::filesystem::path& path);

// Makes a folder with all that is in it survive a power loss.
Status sync_tree(FileSystem& files, const std::filesystem::path& folder);

// `kSynced` survives a power loss; `kFast` only the death of the process.
enum class Durability { kFast, kSynced };

// Replaces the file's content at once: readers see the old one or the new one, a crash leaves one
// of the two. Uses `path` + ".new" as its draft.
Status write_atomically(FileSystem& files, const std::filesystem::path& path,
                        std::string_view contents, Durability durability = Durability::kSynced);

Result<std::string> read_file(const std::filesystem::path& path);

// `errno` as an Error: "cannot <action> <path>: <reason>".
Error file_error(std::string_view action, const std::filesystem::path& path, int error_number);

// A text file that grows by whole lines, such as metrics.jsonl and the ledger: after a crash or a
// full disk its tail may be torn, and is cut before the next line. One writer, not thread-safe;
// readers may look at any time and ignore text after the last newline.
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

// Each function of core/run that writes into a run calls this once; those that open a file leave it
// to RunFiles. Passes `status` on. If the disk is full, adds how much is needed (0: unknown), how
// much is free at `path`, and what to do: "cannot write …: no space left on device (needs about 12
// MB, 1 MB free); free some space and continue with --resume from the last checkpoint".
Status explain_full_disk(Status status, const std::filesystem::path& path,
                         std::uintmax_t needed_bytes = 0);

// Does the same for a Result.
template <class T>
Result<T> explain_full_disk(Result<T> result, const std::filesystem::path& path) {
  if (result) return result;
  return failure(explain_full_disk(Status(failure(std::move(result).error())), path).error());
}

// Returns the folder above the running program's bin/, the prefix under which kernelrl itself is
// installed; empty if it cannot be known. Plugins, workers, templates and plans are at fixed places
// below it, in the build tree as after an installation.
std::filesystem::path installation_prefix();

// share/kernelrl under the prefix.
std::filesystem::path shared_files();

}  // namespace krl::core
