#include "plugins/policies/tokenizer/tokenizer.hpp"

#include <cstdint>
#include <kernelrl/values.hpp>
#include <tuple>

#include "plugins/policies/tokenizer/added_tokens.hpp"
#include "plugins/policies/tokenizer/encoding_workspace.hpp"
#include "plugins/policies/tokenizer/normal_form.hpp"
#include "plugins/policies/tokenizer/tokenizer_definition.hpp"
#include "plugins/policies/tokenizer/utf8.hpp"

namespace krl::policies {

struct Tokenizer::State {
  State(std::string text, TokenizerDefinition read)
      : json(std::move(text)),
        definition(std::move(read)),
        merges(definition.merges),
        added(definition.added) {
    for (const std::string& pattern : definition.splits) splits.emplace_back(pattern);
  }

  // Text without added tokens.
  void encode_plain(std::string_view text, EncodingWorkspace& workspace,
                    std::vector<TokenId>& out) const {
    std::string normal;
    if (definition.nfc && !is_nfc(text)) text = normal = to_nfc(text);
    encode_split(text, 0, workspace, out);
  }

  // Splits with the patterns from number `level` on, each one the pieces that the one before has
  // left whole.
  void encode_split(std::string_view text, std::size_t level, EncodingWorkspace& workspace,
                    std::vector<TokenId>& out) const {
    if (level == splits.size()) return encode_piece(text, workspace, out);
    splits[level].for_each_piece(text, workspace.split, [&](std::string_view piece) {
      encode_split(piece, level + 1, workspace, out);
    });
  }

  void encode_piece(std::string_view piece, EncodingWorkspace& workspace,
                    std::vector<TokenId>& out) const {
    if (workspace.cache.append(piece, out)) return;
    std::vector<TokenId>& tokens = workspace.piece;
    tokens.clear();
    const auto whole = definition.whole_pieces ? definition.pieces.find(std::string(piece))
                                               : definition.pieces.end();
    if (whole != definition.pieces.end()) {
      tokens.push_back(whole->second);
    } else {
      for (const char c : piece) {
        const TokenId token = definition.byte_tokens[static_cast<unsigned char>(c)];
        if (token >= 0) tokens.push_back(token);
      }
      merges.apply(tokens, workspace.merge);
    }
    out.insert(out.end(), tokens.begin(), tokens.end());
    workspace.cache.keep(piece, tokens);
  }

  const std::string json;
  const TokenizerDefinition definition;
  const MergeTable merges;
  const AddedTokens added;
  std::vector<SplitPattern> splits;
  mutable EncodingWorkspacePool workspaces;
};

Tokenizer Tokenizer::from_json(std::string json, const std::string& origin) {
  TokenizerDefinition definition = read_tokenizer_json(json, origin);
  return Tokenizer(std::make_shared<const State>(std::move(json), std::move(definition)));
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, SpecialNames names) const {
  if (text.size() > INT32_MAX) invalid_argument("a text of more than 2 GiB has too many tokens");
  std::string valid;
  if (!is_utf8(text)) text = valid = to_utf8(text);
  std::vector<TokenId> out;
  out.reserve(text.size() / 3);
  auto workspace = state_->workspaces.take();
  std::size_t plain = 0;  // start of the stretch without added tokens
  std::size_t from = 0;
  while (const auto match = state_->added.find(text, from)) {
    from = match->end;
    if (match->token->special && names == SpecialNames::kText) continue;
    state_->encode_plain(text.substr(plain, match->begin - plain), *workspace, out);
    out.push_back(match->token->id);
    plain = match->end;
  }
  state_->encode_plain(text.substr(plain), *workspace, out);
  state_->workspaces.give_back(std::move(workspace));
  return out;
}

std::vector<TokenId> Tokenizer::with_special_tokens(std::vector<TokenId> tokens) const {
  const auto& [prefix, suffix] = std::tie(state_->definition.prefix, state_->definition.suffix);
  tokens.insert(tokens.begin(), prefix.begin(), prefix.end());
  tokens.insert(tokens.end(), suffix.begin(), suffix.end());
  return tokens;
}

std::string Tokenizer::decode(std::span<const TokenId> tokens) const {
  std::string text;
  for (const TokenId token : tokens) text += bytes(token);
  return text;
}

const std::string& Tokenizer::bytes(TokenId token) const {
  static const std::string none;
  const auto& all = state_->definition.bytes;
  const bool known = token >= 0 && static_cast<std::size_t>(token) < all.size();
  return known ? all[static_cast<std::size_t>(token)] : none;
}

std::int64_t Tokenizer::vocabulary() const {
  return static_cast<std::int64_t>(state_->definition.bytes.size());
}

std::span<const Merge> Tokenizer::merges() const { return state_->definition.merges; }

std::optional<Tokenizer::NamedToken> Tokenizer::find(std::string_view name) const {
  for (const AddedToken& token : state_->definition.added) {
    if (token.content == name) return NamedToken{token.id, token.special};
  }
  return std::nullopt;
}

const std::string& Tokenizer::json() const { return state_->json; }

}  // namespace krl::policies
