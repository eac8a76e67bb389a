// Makes a directory of rank 0 available to other ranks: they read it in place if they see the same
// files there, byte for byte, otherwise they receive a copy in a temporary directory. Files only,
// no subfolders.
#pragma once

#include <filesystem>
#include <kernelrl/temporary_folder.hpp>
#include <optional>

#include "plugins/policies/libtorch/distributed/rank_group.hpp"

namespace krl::libtorch {

// Rank 0: lets all others have `directory`; one that is not there is empty. False if a file could
// not be read to its end; the others then have something else in its place.
bool offer_directory(RankGroup& group, const std::filesystem::path& directory);

// The other side. A copy is removed with this object.
class OfferedDirectory {
 public:
  // Throws krl::Failure (KRL_UNAVAILABLE) if there is no place for a copy that is needed.
  explicit OfferedDirectory(RankGroup& group);

  // Throws krl::Failure (KRL_RESOURCE_EXHAUSTED) if the copy could not be written.
  const std::filesystem::path& path() const;
  bool is_copy() const { return copy_.has_value(); }

 private:
  std::filesystem::path path_;
  std::optional<TemporaryFolder> copy_;
  bool complete_ = true;
};

}  // namespace krl::libtorch
