// The contents of a local checkpoint: where the service stores the weights and the optimiser's
// state, and the state that they belong to.
#pragma once

#include <filesystem>
#include <string>

namespace krl::tinker {

struct Checkpoint {
  std::string path;  // "tinker://MODEL/weights/NAME"
  std::string base_model;
  std::int64_t lora_rank = 0;
  std::uint64_t version = 0;  // version of the policy
};

// Writes `directory`/tinker.json, which is on the disk when this returns. Throws krl::Failure.
void write_checkpoint(const std::filesystem::path& directory, const Checkpoint& checkpoint);

// Throws krl::Failure: KRL_NOT_FOUND if there is none, KRL_INVALID_ARGUMENT if it is damaged.
Checkpoint read_checkpoint(const std::filesystem::path& directory);

}  // namespace krl::tinker
