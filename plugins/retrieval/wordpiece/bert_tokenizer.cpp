#include "plugins/retrieval/wordpiece/bert_tokenizer.hpp"

#include <algorithm>
#include <kernelrl/values.hpp>

#include "plugins/policies/tokenizer/added_tokens.hpp"
#include "plugins/policies/tokenizer/utf8.hpp"
#include "plugins/retrieval/wordpiece/tokenizer_files.hpp"
#include "plugins/retrieval/wordpiece/word_reader.hpp"

namespace krl::retrieval {

struct BertTokenizer::State {
  explicit State(BertTokenizerDefinition read)
      : definition(std::move(read)),
        pieces(definition.vocabulary, definition.prefix, definition.longest_word,
               definition.unknown),
        added(definition.added) {}

  // Text without names of special tokens. Stops once there are `enough` ids.
  void encode_plain(std::string_view text, std::size_t enough, std::vector<TokenId>& ids) const {
    if (text.empty() || ids.size() >= enough) return;
    const std::string normal = normalise(text, definition.normalisation);
    WordReader words(normal);
    while (ids.size() < enough) {
      const auto word = words.next();
      if (!word) break;
      pieces.append(*word, ids);
    }
  }

  const BertTokenizerDefinition definition;
  const WordPiece pieces;
  const policies::AddedTokens added;
};

BertTokenizer BertTokenizer::from_json(const std::string& text, const std::string& origin) {
  return BertTokenizer(std::make_shared<const State>(read_bert_tokenizer_json(text, origin)));
}

BertTokenizer BertTokenizer::from_vocabulary(const std::string& text, const std::string& origin,
                                             const Normalisation& normalisation) {
  return BertTokenizer(
      std::make_shared<const State>(read_bert_vocabulary(text, origin, normalisation)));
}

std::vector<TokenId> BertTokenizer::encode(std::string_view text, std::size_t limit) const {
  std::string valid;
  if (!policies::is_utf8(text)) text = valid = policies::to_utf8(text);
  std::vector<TokenId> ids = state_->definition.before;
  const std::size_t enough = std::max<std::size_t>(limit, 2) - 1;
  std::size_t at = 0;
  while (ids.size() < enough) {
    const auto match = state_->added.find(text, at);
    if (!match) break;
    state_->encode_plain(text.substr(at, match->begin - at), enough, ids);
    ids.push_back(match->token->id);
    at = match->end;
  }
  state_->encode_plain(text.substr(at), enough, ids);
  if (ids.size() > enough) ids.resize(enough);
  ids.push_back(state_->definition.after.front());
  return ids;
}

std::int64_t BertTokenizer::vocabulary() const {
  TokenId largest = 0;
  for (const auto& [text, id] : state_->definition.vocabulary) largest = std::max(largest, id);
  return std::int64_t{largest} + 1;
}

bool BertTokenizer::lower_case() const { return state_->definition.normalisation.lower_case; }

}  // namespace krl::retrieval
