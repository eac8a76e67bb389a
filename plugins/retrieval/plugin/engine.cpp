// The engine of the dataset `index` (engine.hpp).
#include "plugins/retrieval/plugin/engine.hpp"

#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugins/retrieval/encoder/text_encoder.hpp"
#include "plugins/retrieval/search/retriever.hpp"
#include "plugins/retrieval/search/task_texts.hpp"

namespace krl::retrieval {
namespace {

// Files that are missing may be created later, so that this is no mistake of the plan.
template <class Read>
auto open(const Read& read, const std::string& what_to_do = {}) -> decltype(read()) {
  try {
    return read();
  } catch (const Failure& failure) {
    if (failure.code() != KRL_NOT_FOUND) throw;
    throw Failure(KRL_FAILED_PRECONDITION, failure.what() + what_to_do);
  }
}

class IndexDataset final : public SearchableDataset {
 public:
  explicit IndexDataset(const IndexOptions& options)
      : model_(open([&] { return read_sentence_model(options.encoder); },
                    "; scripts/get_minilm.sh makes an encoder")),
        encoder_(model_, {"cpu", static_cast<int>(options.threads)}),
        retriever_(index_of(options),
                   [this](std::span<const std::string_view> texts, TextRole role) {
                     return encoder_.encode(texts, role);
                   },
                   {static_cast<float>(options.similar), static_cast<int>(options.threads)}) {}

  std::uint64_t size() override { return retriever_.documents().size(); }

  void read(std::uint64_t index, const DatasetSink& sink, const Context&) override {
    if (index >= size()) invalid_argument("there is no document " + std::to_string(index));
    const Document& document = retriever_.documents()[index];
    const std::string metadata = document.metadata.dump();
    sink.document(view_of(document, metadata));
  }

  void find(const DocumentQuery& query, const FoundSink& sink, const Context&) override {
    const TaskTexts texts = texts_of(query.task());
    GuardedTexts guard = guard_of(texts);
    // Only the texts are compared: encoding every answer of a warm-up would take minutes.
    for (const std::string_view text : query.guarded())
      guard.identities.push_back(identity_of(text));
    Query question;
    question.text = texts.query;
    question.names = texts.names;
    question.guarded = &guard;
    question.count = query.count();
    push(retriever_.find(question), sink);
  }

 private:
  // Returns the guard, which is the same for all pairs of a task. It is encoded separately, because
  // a vector's last bits depend on the rest of its batch.
  const GuardedTexts& guard_of(const TaskTexts& texts) {
    std::string key;
    for (const std::string& text : texts.guarded) key += text + '\0';
    const auto known = guards_.find(key);
    if (known != guards_.end()) return known->second;
    const std::vector<std::string_view> guarded(texts.guarded.begin(), texts.guarded.end());
    return guards_.emplace(key, retriever_.guard(guarded)).first->second;
  }

  StoredIndex index_of(const IndexOptions& options) const {
    StoredIndex index = open([&] { return read_index(options.path); });
    try {
      require_encoder(index, {model_.fingerprint, options.encoder});
    } catch (const Failure& failure) {
      invalid_argument(failure.what());  // a mistake of the plan's
    }
    return index;
  }

  static krl_document view_of(const Document& document, const std::string& metadata) {
    return {sizeof(krl_document), 0, to_c(document.id), to_c(document.task), to_c(document.text),
            to_c(metadata)};
  }

  static void push(const Retrieval& found, const FoundSink& sink) {
    const auto put = [&](const Document& document, float score, std::string_view left_out) {
      const std::string metadata = document.metadata.dump();
      sink.found(view_of(document, metadata), static_cast<double>(score), left_out);
    };
    auto out = found.left_out.begin();
    const auto put_left_out = [&](float above) {
      for (; out != found.left_out.end() && out->score > above; ++out)
        put(*out->document, out->score, reason_name(out->reason));
    };
    for (const Hit& hit : found.hits) {
      put_left_out(hit.score);
      put(*hit.document, hit.score, {});
    }
    constexpr float kLowest = std::numeric_limits<float>::lowest();
    put_left_out(kLowest);
  }

  const SentenceModel model_;
  const TextEncoder encoder_;
  const Retriever retriever_;
  std::unordered_map<std::string, GuardedTexts> guards_;
};

}  // namespace
}  // namespace krl::retrieval

extern "C" __attribute__((visibility("default"))) krl::SearchableDataset* kernelrl_create_index(
    const krl::retrieval::IndexOptions& options) {
  return std::make_unique<krl::retrieval::IndexDataset>(options).release();
}
