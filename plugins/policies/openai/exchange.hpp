// Requests to a server and its answers, for any dialect. Values.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plugins/policies/tokenizer/merge_table.hpp"

namespace krl::openai {

using policies::TokenId;
using Json = nlohmann::json;

struct ChatMessage {
  std::uint32_t role;  // KRL_ROLE_*
  std::string text;
};

// One question to a server: n answers to one prompt.
struct Ask {
  std::vector<ChatMessage> messages;  // the prompt where the server renders it,
  std::vector<TokenId> prompt;        // and where we do
  std::string model;                  // the name that the server has for its weights
  std::string adapter;                // SGLang names adapters apart; empty: none
  std::uint32_t n = 1;
  std::uint32_t max_tokens = 0;
  double temperature = 1, top_p = 1;  // 0 = greedy; 1 = off
  std::int32_t top_k = -1;            // -1 = off
  std::uint32_t seed = 0;             // 31 bits, which every server takes
  std::vector<std::string> stop;
  std::vector<TokenId> stop_tokens;
  bool stream = false;
};

// One answer as the server gave it, believed by no one yet (sample_check.hpp).
struct Choice {
  std::string text;
  std::string thoughts;  // thoughts from a separate field
  std::vector<TokenId> tokens;
  // One for each token; nothing where the server sent none (llama.cpp, inside a character).
  std::vector<std::optional<float>> logprobs;
  std::optional<std::uint32_t> stop_reason;  // KRL_STOP_*; nothing until the answer has ended
  std::string end_word;  // the server's, of an end that leaves the answer unfinished
  bool is_empty() const { return text.empty() && thoughts.empty() && tokens.empty(); }
};

struct Reply {
  std::map<std::uint32_t, Choice> choices;  // keyed by their index among the n
  std::optional<std::vector<TokenId>> prompt;
  std::string model;           // the model that the server reports; may be empty
  std::string weight_version;  // the same of SGLang
  std::int64_t prompt_tokens = 0, cached_tokens = 0;
  std::int64_t answer_tokens = 0;  // sum over the choices; 0 if the server does not count them
};

// The body of a POST.
struct Encoded {
  std::string path;  // relative to the server's root
  Json body;
  std::size_t refusals = 0;  // number known when it was made
};

// Ends a choice with the server's reason. A reason that is neither the end of an answer nor a limit
// ("abort", "content_filter", "tool_calls", anything new) leaves the answer unfinished.
void end_choice(Choice& choice, const std::string& word);

}  // namespace krl::openai
