#include "core/episode/retrieval.hpp"

#include <algorithm>
#include <string>

#include "core/base/hash.hpp"

namespace krl::core {
namespace {

// Documents that are asked for, for each that is to be shown: some may be too long.
constexpr std::int64_t kCandidates = 4;

}  // namespace

CountTokens tokens_of(const Policy& policy, bool has_tokens) {
  if (has_tokens) {
    return [&policy](const Prompt& prompt) -> Result<std::size_t> {
      KRL_ASSIGN(const Example example, policy.tokenize(prompt, ""));
      return example.prompt_tokens.size();
    };
  }
  return [](const Prompt& prompt) -> Result<std::size_t> {
    constexpr std::size_t kBytesPerToken = 3;
    std::size_t bytes = 0;
    for (const Message& message : prompt) bytes += message.text.size();
    return bytes / kBytesPerToken;
  };
}

Result<RetrievedDocuments> Retrieval::find(const Task& task,
                                           const std::vector<std::string>& guarded) const {
  if (task.definition_json.empty()) return RetrievedDocuments{};
  KRL_ASSIGN(
      std::vector<FoundDocument> all,
      dataset_.find(task, guarded, static_cast<std::uint32_t>(kCandidates * settings_.count)));
  RetrievedDocuments found;
  for (FoundDocument& one : all) {
    if (one.left_out.empty()) {
      found.documents.push_back(std::move(one.document));
    } else {
      ++found.left_out[one.left_out];
    }
  }
  return found;
}

Result<RetrievedDocuments> Retrieval::documents_for(const Task& task, const PromptBuilder& prompts,
                                                    const CountTokens& tokens) const {
  const std::string key = task.id + '\n' + task.definition_json;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
  }
  KRL_ASSIGN(RetrievedDocuments found, find(task));
  KRL_ASSIGN(RetrievedDocuments fitting, fit(std::move(found), task, prompts, tokens));
  const std::lock_guard lock(mutex_);
  return known_.emplace(key, std::move(fitting)).first->second;
}

Result<RetrievedDocuments> Retrieval::fit(RetrievedDocuments found, const Task& task,
                                          const PromptBuilder& prompts,
                                          const CountTokens& tokens) const {
  if (found.documents.empty()) return found;
  KRL_ASSIGN(const std::size_t without, tokens(prompts.build(task, {})));
  std::vector<Document> fitting;
  for (Document& document : found.documents) {
    if (static_cast<std::int64_t>(fitting.size()) == settings_.count) break;
    fitting.push_back(std::move(document));
    KRL_ASSIGN(const std::size_t with, tokens(prompts.build(task, {}, fitting)));
    const std::size_t added = with - std::min(with, without);
    if (added <= static_cast<std::size_t>(settings_.max_tokens)) {
      found.tokens = added;
    } else {
      fitting.pop_back();
      ++found.over_budget;
    }
  }
  found.documents = std::move(fitting);
  return found;
}

Result<std::string> Retrieval::fingerprint() const {
  KRL_ASSIGN(const std::uint64_t size, dataset_.size());
  std::string fingerprint = sha256_hex(std::to_string(size));
  for (std::uint64_t i = 0; i < size; ++i) {
    KRL_ASSIGN(const DatasetItems item, dataset_.read(i));
    for (const Document& d : item.documents)
      for (const std::string* text : {&d.id, &d.task, &d.text, &d.meta_json})
        fingerprint = sha256_hex(fingerprint + *text);
  }
  return fingerprint;
}

bool Retrieval::shows(const std::vector<TurnRecord>& earlier) const {
  switch (settings_.turns) {
    case RetrievalTurns::kFirst:
      return earlier.empty();
    case RetrievalTurns::kEvery:
      return true;
    case RetrievalTurns::kAfterFailure:
      break;
  }
  return !earlier.empty() && !earlier.back().evaluation.passed();
}

void RetrievalReport::add(const RetrievedDocuments& of_a_group) {
  groups_ += 1;
  sums_["retrieval/documents"] += static_cast<double>(of_a_group.documents.size());
  sums_["retrieval/tokens"] += static_cast<double>(of_a_group.tokens);
  sums_["retrieval/over_budget"] += static_cast<double>(of_a_group.over_budget);
  for (const auto& [reason, count] : of_a_group.left_out)
    sums_["retrieval/excluded_" + reason] += static_cast<double>(count);
}

void RetrievalReport::add(const RetrievalReport& more) {
  groups_ += more.groups_;
  for (const auto& [name, sum] : more.sums_) sums_[name] += sum;
}

Metrics RetrievalReport::metrics() const {
  Metrics means = sums_;
  for (auto& [name, value] : means) value /= groups_;
  return means;
}

}  // namespace krl::core
