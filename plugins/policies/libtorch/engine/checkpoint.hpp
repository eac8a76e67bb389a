// A policy on disk: model.safetensors (weights), optimizer.safetensors (moments), snapshots as
// reference.safetensors and behaviour.safetensors where there are any, tokenizer.json, config.json,
// and state.json (format, type, steps). Every file is durable when saving returns; that a directory
// is whole or not there is the business of who made it.
#pragma once

#include <filesystem>
#include <optional>

#include "model/config.hpp"
#include "tokenizer/byte_pair_encoding.hpp"
#include "training/trainer.hpp"

namespace krl::libtorch {

// Writes into an existing, empty directory. Throws krl::Failure: KRL_FAILED_PRECONDITION while a
// gradient waits for its step (it would be lost), KRL_RESOURCE_EXHAUSTED on a full disk.
void save_checkpoint(const std::filesystem::path& directory, const Trainer& trainer,
                     const BytePairEncoding& encoding);

// The checkpoint of a policy that has no vocabulary yet.
void save_unfitted_checkpoint(const std::filesystem::path& directory);

struct Checkpoint {
  ModelConfig config;
  BytePairEncoding encoding;
  TrainerState state;
};

// Reads and checks all of it; nothing if the policy had no vocabulary. Throws krl::Failure: a file
// that is missing or damaged, or KRL_FAILED_PRECONDITION with the differences by name if the model
// that the plan asks for (`wanted`, `type`) is another. The vocabulary may be smaller than wanted.
std::optional<Checkpoint> load_checkpoint(const std::filesystem::path& directory,
                                          const ModelConfig& wanted, at::ScalarType type);

}  // namespace krl::libtorch
