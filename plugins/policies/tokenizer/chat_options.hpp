// The options that choose a chat template, for every policy that has them.
#pragma once

namespace krl::policies {

inline constexpr const char* kChatTemplateMeaning =
    "chatml, smollm2, qwen2, qwen2.5, qwen3, qwen3-instruct, llama3 or llama3.1; empty = that of "
    "the directory with the tokenizer";
inline constexpr const char* kThinkingMeaning = "qwen3: whether answers start with reasoning";
inline constexpr const char* kDateMeaning =
    "llama3.1: the current date given to the model. Llama 3.2's own template uses the day of the "
    "call, which would make runs unrepeatable";

}  // namespace krl::policies
