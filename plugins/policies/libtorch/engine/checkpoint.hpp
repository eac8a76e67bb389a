// A policy on disk: model.safetensors (the trained weights: all, or the adapters),
// optimizer.safetensors (moments), snapshots as reference.safetensors and behaviour.safetensors if
// there are any, the tokenizer's files, config.json, and state.json (format, type, adapters and the
// weights they belong to, steps). Every file is durable when saving returns; whether a directory is
// complete is up to its creator.
#pragma once

#include <filesystem>
#include <optional>

#include "plugins/policies/libtorch/model/config.hpp"
#include "plugins/policies/libtorch/training/trainer.hpp"
#include "plugins/policies/tokenizer/chat_tokenizer.hpp"

namespace krl::libtorch {

using policies::ChatTokenizer;

// Writes into an existing, empty directory; `state` is the trainer's, whole. Throws krl::Failure:
// KRL_RESOURCE_EXHAUSTED on a full disk. `base`: with adapters, the fingerprint() of the weights
// that they are alongside.
void save_checkpoint(const std::filesystem::path& directory, const Trainer& trainer,
                     const TrainerState& state, const ChatTokenizer& chat, const std::string& base);

// The checkpoint of a policy that has no vocabulary yet.
void save_unfitted_checkpoint(const std::filesystem::path& directory);

// Tells one model's weights from another's: the SHA-256 of some tens of thousands of them, evenly
// spread.
std::string fingerprint(const at::Tensor& weights);

struct CheckpointModel {
  ModelConfig config;
  std::string chat_family;  // its name
};

// Loads the description of a checkpoint's model; nothing if the policy had no vocabulary. Throws
// krl::Failure: a file that is missing or damaged, or KRL_FAILED_PRECONDITION with the differences
// by name if the plan asks for another model. The vocabulary may be smaller than wanted.
std::optional<CheckpointModel> load_checkpoint_model(const std::filesystem::path& directory,
                                                     const ModelConfig& wanted,
                                                     const std::string& dtype);

// Reads and checks the rest for a trainer of that model. Tensors are on the CPU. Throws
// krl::Failure: as above, and KRL_FAILED_PRECONDITION if other adapters have learned, or the same
// alongside other weights.
TrainerState load_checkpoint_state(const std::filesystem::path& directory, const Trainer& trainer,
                                   const std::string& base);

}  // namespace krl::libtorch
