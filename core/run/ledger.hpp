// The evaluation ledger: the append-only record of every evaluation of a run. One writer per run
// directory; readers (`read_ledger`) may look at any time and see a prefix of the records.
// Thread-safe.
//
// Segments ledger/000001.log, 000002.log, … hold one record per line: the CRC-32C of the rest of
// the line in 8 hexadecimal digits, the round, the key, and one JSON object, separated by
// spaces. (The newline is the frame, since a JSON object fits a line: a damaged record costs itself
// and not the rest of its segment, and `cut -d' ' -f4- | jq` reads the file.)
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <kernelrl/evaluation.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/file_system.hpp"
#include "core/base/result.hpp"

namespace krl::core {

struct LedgerRecord {
  std::string key;  // content hash of the evaluated source; empty: `find` never returns this record
  int round = 0;
  std::string task;
  Evaluation evaluation;
};

class Ledger {
 public:
  static constexpr std::uintmax_t kSegmentBytes = 64u << 20;

  // Opens or creates the ledger in `directory`, drops a torn last record if a crash left one, and
  // from then on hides the records of rounds after `last_round`, which a resumed run
  // repeats (readers still see them).
  static Result<std::unique_ptr<Ledger>> open(const std::filesystem::path& directory,
                                              int last_round,
                                              FileSystem& files = real_file_system(),
                                              std::uintmax_t segment_bytes = kSegmentBytes);

  // Appends one record. It survives the death of this process at once, and a power loss after
  // `sync`. A full disk is an error; the ledger stays valid and the call may be repeated.
  Status append(const LedgerRecord& record);

  Status sync();

  // The newest record under `key` of an round before `before_round`, if any. Asking only
  // for earlier rounds makes the answer independent of the order in which the evaluations of
  // this one finish.
  Result<std::optional<LedgerRecord>> find(std::string_view key, int before_round) const;

  std::size_t size() const;     // records that `find` can give
  std::size_t damaged() const;  // records skipped at `open` because their checksum is wrong

 private:
  struct Place {
    int round;
    int segment;
    std::uintmax_t offset;
    std::uint32_t length;  // length of the line, without its newline
  };
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  Ledger(std::filesystem::path directory, FileSystem& files, std::uintmax_t segment_bytes);

  Status load();
  Status load_segment(int segment);
  Status open_segment(int segment, std::uintmax_t size);
  Status hide_after(int last_round);
  void forget_after(int last_round);
  Result<Place> write(int round, std::string_view key, std::string_view json);
  const Place* newest(std::string_view key, int before_round) const;

  std::filesystem::path directory_;
  FileSystem* files_;
  std::uintmax_t segment_bytes_;

  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::vector<Place>, Hash, std::equal_to<>> places_;
  int segment_ = 0;  // the one written to
  std::optional<LineFile> file_;
  std::size_t records_ = 0;
  std::size_t damaged_ = 0;
};

// Gives every record in the order of writing to `visit` until that returns false. Safe while a run
// is writing.
Status read_ledger(const std::filesystem::path& directory,
                   const std::function<bool(const LedgerRecord&)>& visit);

}  // namespace krl::core
