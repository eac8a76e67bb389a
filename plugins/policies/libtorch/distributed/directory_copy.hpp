// A directory of rank 0 for other ranks: they read it where it lies if they see the same one, else
// they get a copy of its files in a temporary directory. Files only, no folders in it.
#pragma once

#include <filesystem>

#include "distributed/rank_group.hpp"

namespace krl::libtorch {

// Rank 0: lets rank `to` have `directory`; one that is not there is empty. False if a file could
// not be read to its end.
bool offer_directory(RankGroup& group, int to, const std::filesystem::path& directory);

// The other side. A copy is removed with this object.
class OfferedDirectory {
 public:
  explicit OfferedDirectory(RankGroup& group);
  ~OfferedDirectory();
  OfferedDirectory(const OfferedDirectory&) = delete;
  OfferedDirectory& operator=(const OfferedDirectory&) = delete;

  // Throws krl::Failure (KRL_RESOURCE_EXHAUSTED) if the copy could not be written.
  const std::filesystem::path& path() const;
  bool is_copy() const { return is_copy_; }

 private:
  std::filesystem::path path_;
  bool is_copy_ = false, complete_ = true;
};

}  // namespace krl::libtorch
