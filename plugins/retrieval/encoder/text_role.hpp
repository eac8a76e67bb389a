// The role of a text for an encoder: models may put another prompt before each.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace krl::retrieval {

enum class TextRole { kDocument, kQuery };

// Gives the vectors of texts, one after the other: TextEncoder::encode of some encoder.
using Encode =
    std::function<std::vector<float>(std::span<const std::string_view> texts, TextRole role)>;

}  // namespace krl::retrieval
