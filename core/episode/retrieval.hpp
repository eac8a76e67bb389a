// Documents that the prompts of a task show: found by the dataset of the role "retrieval", cut to
// the plan's budget of tokens.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/metrics.hpp"
#include "core/base/result.hpp"
#include "core/episode/episode.hpp"
#include "core/episode/prompt.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/dataset.hpp"
#include "core/plugin/policy.hpp"
#include "core/task/task.hpp"

namespace krl::core {

// The documents for one task, the nearest first.
struct RetrievedDocuments {
  std::vector<Document> documents;
  std::map<std::string, std::size_t> left_out;  // number of documents left out, by reason
  std::size_t over_budget = 0;                  // documents tried that did not fit the budget
  std::size_t tokens = 0;                       // tokens that the documents add to a prompt
};

// The tokens of a prompt. May block.
using CountTokens = std::function<Result<std::size_t>(const Prompt& prompt)>;

// Counts by the policy's own tokenizer, or for a policy without tokens as a third of the bytes.
CountTokens tokens_of(const Policy& policy, bool has_tokens);

// Retrieval for a stage: one builder of prompts and one count of tokens. Thread-safe.
class Retrieval {
 public:
  // The dataset outlives the object. REQUIRES: Dataset::can_find().
  Retrieval(const Dataset& dataset, RetrievalSettings settings)
      : dataset_(dataset), settings_(settings) {}

  // Finds the nearest documents, a few times as many as are to be shown. None reveals the task's
  // answer or the texts in `guarded`. Nothing for a task without a definition, which is shown as
  // its text alone.
  Result<RetrievedDocuments> find(const Task& task,
                                  const std::vector<std::string>& guarded = {}) const;

  // The first `count` of them that `max_tokens` has room for.
  Result<RetrievedDocuments> fit(RetrievedDocuments found, const Task& task,
                                 const PromptBuilder& prompts, const CountTokens& tokens) const;

  // Both, for the prompts of a rollout. Kept for each task: the dataset is asked and tokens are
  // counted once.
  Result<RetrievedDocuments> documents_for(const Task& task, const PromptBuilder& prompts,
                                           const CountTokens& tokens) const;

  // Covers all documents of the dataset: it changes if any of them does.
  Result<std::string> fingerprint() const;

  // True if the prompt of the turn after `earlier` shows documents.
  bool shows(const std::vector<TurnRecord>& earlier) const;

 private:
  const Dataset& dataset_;
  const RetrievalSettings settings_;
  mutable std::mutex mutex_;
  // Keyed by the task's id and definition.
  mutable std::map<std::string, RetrievedDocuments> known_;
};

// Collects statistics of the documents retrieved for a rollout's groups.
class RetrievalReport {
 public:
  void add(const RetrievedDocuments& of_a_group);
  void add(const RetrievalReport& more);

  // Means over the groups: retrieval/{documents,tokens,over_budget} and, of each reason for which
  // documents were left out, retrieval/excluded_<reason>. Nothing without groups.
  Metrics metrics() const;

 private:
  double groups_ = 0;
  Metrics sums_;
};

}  // namespace krl::core
