// A Hugging Face directory for plans that want one, small enough to be made by the test.
#pragma once

#include <filesystem>

#include "plugins/policies/libtorch/model/config.hpp"

namespace krl::test {

// A model of the Qwen2 or Qwen3 family with random weights and the special tokens of Qwen's chat
// templates, of two layers and 4,096 tokens of context.
void write_tiny_qwen(const std::filesystem::path& directory, libtorch::Family family);

}  // namespace krl::test
