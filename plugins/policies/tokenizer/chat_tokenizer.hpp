// A tokenizer with its chat template: converts conversations to tokens, and knows which tokens end
// an answer. Immutable; copies share their contents. Thread-safe.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/policies/tokenizer/chat_template.hpp"
#include "plugins/policies/tokenizer/tokenizer.hpp"

namespace krl::policies {

// The chat template's settings in a plan.
struct ChatChoice {
  std::string family;  // a name of chat_family_by_name(); empty: by the directory's own template
  ChatOptions options;
};

// A file that belongs to a tokenizer, to be written alongside a model.
struct TokenizerFile {
  std::string name, contents;
};

class ChatTokenizer {
 public:
  // Reads a Hugging Face directory: tokenizer.json; tokenizer_config.json, chat_template.jinja and
  // generation_config.json where they are there. Throws krl::Failure: KRL_NOT_FOUND if there is no
  // tokenizer.json; KRL_INVALID_ARGUMENT, with file and key, for anything that is not understood,
  // a chat template of no known family among it, and if the family's control tokens are missing or
  // are not special. The files are not trusted.
  static ChatTokenizer from_directory(const std::filesystem::path& directory,
                                      const ChatChoice& choice);

  // `files`: the files that from_directory() has read, byte for byte, or would read to make this.
  // Throws krl::Failure (KRL_INVALID_ARGUMENT) as from_directory() does.
  ChatTokenizer(Tokenizer tokenizer, ChatFamily family, ChatOptions options,
                std::vector<TokenizerFile> files);

  // Returns the tokens of the prompt for an answer to `messages`: those of encoding the text that
  // the family's template renders, except that a message's text never becomes a control token.
  // Throws krl::Failure (KRL_INVALID_ARGUMENT) if there are no messages, or a role is not known.
  std::vector<TokenId> prompt(const Messages& messages) const;

  // The tokens of an answer to be learned: its text, and the token that ends it.
  std::vector<TokenId> answer(std::string_view text) const;

  const Tokenizer& tokenizer() const { return tokenizer_; }
  ChatFamily family() const { return family_; }

  // Returns the tokens that end an answer, in ascending order: the family's own, and those that
  // tokenizer_config.json (eos_token) and generation_config.json (eos_token_id) name.
  const std::vector<TokenId>& stop_tokens() const { return stop_tokens_; }

  // The token that begins a text (tokenizer_config.json, bos_token), if any.
  std::optional<TokenId> begin_token() const { return begin_token_; }

  const std::vector<TokenizerFile>& files() const { return files_; }

 private:
  TokenId control_token(std::string_view name) const;
  void read_tokenizer_config(const std::string& json);
  void read_generation_config(const std::string& json);

  Tokenizer tokenizer_;
  ChatFamily family_;
  ChatOptions options_;
  std::vector<TokenizerFile> files_;
  std::vector<TokenId> stop_tokens_;
  std::optional<TokenId> begin_token_;
};

}  // namespace krl::policies
