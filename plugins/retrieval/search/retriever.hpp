// Finds the documents of an index that are nearest to a query, and leaves out those that would give
// away its task's answer: documents of the task itself, and near duplicates of them and of guarded
// texts. Omitted documents are reported with the reason. Thread-safe as far as its `Encode` is.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plugins/retrieval/duplicates/near_duplicate.hpp"
#include "plugins/retrieval/encoder/text_role.hpp"
#include "plugins/retrieval/index/index_folder.hpp"
#include "plugins/retrieval/index/vector_index.hpp"

namespace krl::retrieval {

struct RetrievalRules {
  // From this cosine of their vectors on, two texts are near duplicates; above 1: never. With
  // MiniLM at 0.9, this applies to half of the kernels for the same task, and to 0.2 % of those for
  // different ones. Copies with other names are below 0.8, so only their normal forms identify
  // them.
  float similar = 0.9f;
  int threads = 1;  // threads of a search
};

// Texts of which no near duplicate may be found, such as a task's reference, its naive kernel and
// known solutions. Made once for a task.
struct GuardedTexts {
  std::vector<TextIdentity> identities;
  // Vectors of texts whose meaning is guarded as well: any number × dimension.
  std::vector<float> vectors;
};

struct Query {
  std::string_view text = {};
  // Names of the task: documents that have one of them as their task, id or metadata are its own,
  // in any spelling ("row_sum", "Row sum"). Copies of these are recognised by their texts, not by
  // their vectors.
  std::span<const std::string> names = {};
  const GuardedTexts* guarded = nullptr;  // besides the query's own text, which is always guarded
  std::size_t count = 3;                  // number of documents to find
};

struct Hit {
  const Document* document;  // the retriever's
  float score;               // the inner product with the query
};

enum class Reason {
  kOwnTask,        // the query's task
  kSameText,       // the same text as a guarded one or one of the query's task
  kSameSource,     // such a text with other names, numbers or layout
  kSameKernel,     // contains a kernel of such a text
  kSimilarSource,  // most of its tokens are, in their order, those of such a text
  kSimilarVector,  // its vector is similar to a guarded text's
  kRepeats,        // a near duplicate of a hit with a higher score
};

const char* reason_name(Reason reason);  // "own_task", "same_text", …

struct LeftOut {
  const Document* document;
  float score;
  Reason reason;
};

struct Retrieval {
  std::vector<Hit> hits;          // at most Query::count, the highest score first
  std::vector<LeftOut> left_out;  // all with a score above the last hit's, the highest first
};

class Retriever {
 public:
  // `encode` returns vectors of the encoder that the index was built with (require_encoder). Throws
  // krl::Failure (KRL_INVALID_ARGUMENT) if the index has no dimension.
  Retriever(StoredIndex index, Encode encode, RetrievalRules rules);

  const std::vector<Document>& documents() const { return index_.documents; }

  GuardedTexts guard(std::span<const std::string_view> texts) const;

  Retrieval find(const Query& query) const;

 private:
  class Search;

  // Returns the identity of a document, which is made on first use.
  const TextIdentity& identity(std::size_t document) const;

  StoredIndex index_;
  Encode encode_;
  RetrievalRules rules_;
  VectorIndex vectors_;
  std::unordered_multimap<std::string, std::size_t> by_name_;  // documents by all of their names
  mutable std::unordered_map<std::size_t, TextIdentity> identities_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();  // guards identities_
};

}  // namespace krl::retrieval
