#include "plugins/retrieval/search/retriever.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <kernelrl/values.hpp>
#include <numeric>
#include <set>

namespace krl::retrieval {
namespace {

float cosine(std::span<const float> a, std::span<const float> b) {
  const auto product = [](std::span<const float> u, std::span<const float> v) {
    return std::inner_product(u.begin(), u.end(), v.begin(), 0.0f);
  };
  const float lengths = std::sqrt(product(a, a) * product(b, b));
  return lengths > 0 ? product(a, b) / lengths : 0.0f;
}

Reason reason_of(Likeness likeness) {
  switch (likeness) {
    case Likeness::kSameText:
      return Reason::kSameText;
    case Likeness::kSameSource:
      return Reason::kSameSource;
    case Likeness::kSameKernel:
      return Reason::kSameKernel;
    case Likeness::kSimilarSource:
      break;
  }
  return Reason::kSimilarSource;
}

// Returns a name without the parts that are often written differently: its letters and digits, in
// lower case.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) plain += c;  // part of a letter beyond ASCII
    if (byte < 0x80 && std::isalnum(byte) != 0) plain += static_cast<char>(std::tolower(byte));
  }
  return plain;
}

// Returns everything that may tell which task a document belongs to.
std::set<std::string> names_of(const Document& document) {
  constexpr std::size_t kLeast = 3, kMost = 200;  // bytes of what may be a name
  std::set<std::string> names = {plain_name(document.task)};
  const auto add = [&](const std::string& text) {
    if (text.size() >= kLeast && text.size() <= kMost) names.insert(plain_name(text));
  };
  add(document.id);
  for (const auto& value : document.metadata)
    if (value.is_string()) add(value.get_ref<const std::string&>());
  names.erase("");
  return names;
}

std::size_t dimension_of(const StoredIndex& index) {
  if (index.dimension > 0) return static_cast<std::size_t>(index.dimension);
  invalid_argument(index.folder.string() + ": its vectors have no dimension");
}

}  // namespace

// One query: takes the nearest documents in turn and decides on each.
class Retriever::Search {
 public:
  Search(const Retriever& retriever, const Query& query)
      : retriever_(retriever),
        query_(query),
        vector_(retriever.encode_(std::span(&query.text, 1), TextRole::kQuery)) {
    for (const std::string& name : query.names) {
      const auto [first, last] = retriever.by_name_.equal_range(plain_name(name));
      for (auto one = first; one != last; ++one) own_documents_.insert(one->second);
    }
    for (const std::size_t own : own_documents_) guarded_.push_back(retriever.identity(own));
    guarded_.push_back(identity_of(query.text));
    if (query.guarded == nullptr) return;
    const auto& texts = query.guarded->identities;
    guarded_.insert(guarded_.end(), texts.begin(), texts.end());
  }

  Retrieval run() {
    // The search takes more than the count, because some will be left out; still more if these do
    // not suffice.
    constexpr std::size_t kSpare = 16;
    std::size_t decided = 0;
    for (std::size_t wanted = query_.count + kSpare;; wanted *= 4) {
      const std::vector<Neighbour> nearest = retriever_.vectors_.search(vector_, wanted);
      for (; decided < nearest.size(); ++decided) {
        if (result_.hits.size() == query_.count) return std::move(result_);
        decide(nearest[decided]);
      }
      if (result_.hits.size() == query_.count || nearest.size() < wanted) {
        return std::move(result_);
      }
    }
  }

 private:
  void decide(const Neighbour& neighbour) {
    const Document& document = retriever_.index_.documents[neighbour.index];
    if (own_documents_.contains(neighbour.index)) {
      result_.left_out.push_back({&document, neighbour.product, Reason::kOwnTask});
      return;
    }
    const TextIdentity& identity = retriever_.identity(neighbour.index);
    if (const auto reason = reason_against(identity, neighbour)) {
      result_.left_out.push_back({&document, neighbour.product, *reason});
      return;
    }
    result_.hits.push_back({&document, neighbour.product});
    found_.push_back(identity);
  }

  std::optional<Reason> reason_against(const TextIdentity& identity,
                                       const Neighbour& neighbour) const {
    for (const TextIdentity& guarded : guarded_) {
      if (const auto like = likeness(identity, guarded)) return reason_of(*like);
    }
    if (is_similar(neighbour.index)) return Reason::kSimilarVector;
    const bool repeats = std::any_of(found_.begin(), found_.end(), [&](const TextIdentity& other) {
      return likeness(identity, other).has_value();
    });
    return repeats ? std::optional(Reason::kRepeats) : std::nullopt;
  }

  // True if the document's vector is similar to that of the query or of a guarded text.
  bool is_similar(std::size_t index) const {
    const std::span<const float> vector = retriever_.vectors_.vector(index);
    const float least = retriever_.rules_.similar;
    if (cosine(vector, vector_) >= least) return true;
    if (query_.guarded == nullptr) return false;
    const std::span<const float> guarded = query_.guarded->vectors;
    for (std::size_t at = 0; at < guarded.size(); at += vector.size()) {
      if (cosine(vector, guarded.subspan(at, vector.size())) >= least) return true;
    }
    return false;
  }

  const Retriever& retriever_;
  const Query& query_;
  const std::vector<float> vector_;
  std::set<std::size_t> own_documents_;  // documents of the query's task
  std::vector<TextIdentity> guarded_;
  Retrieval result_;
  std::vector<TextIdentity> found_;  // identities of the hits
};

const char* reason_name(Reason reason) {
  switch (reason) {
    case Reason::kOwnTask:
      return "own_task";
    case Reason::kSameText:
      return "same_text";
    case Reason::kSameSource:
      return "same_source";
    case Reason::kSameKernel:
      return "same_kernel";
    case Reason::kSimilarSource:
      return "similar_source";
    case Reason::kSimilarVector:
      return "similar_vector";
    case Reason::kRepeats:
      break;
  }
  return "repeats";
}

Retriever::Retriever(StoredIndex index, Encode encode, RetrievalRules rules)
    : index_(std::move(index)),
      encode_(std::move(encode)),
      rules_(rules),
      vectors_(index_.vectors(), dimension_of(index_), std::max(rules.threads, 1)) {
  for (std::size_t i = 0; i < index_.documents.size(); ++i) {
    for (const std::string& name : names_of(index_.documents[i])) by_name_.emplace(name, i);
  }
}

const TextIdentity& Retriever::identity(std::size_t document) const {
  const std::lock_guard lock(*mutex_);
  const auto known = identities_.find(document);
  if (known != identities_.end()) return known->second;
  return identities_.emplace(document, identity_of(index_.documents[document].text)).first->second;
}

GuardedTexts Retriever::guard(std::span<const std::string_view> texts) const {
  GuardedTexts guarded;
  for (const std::string_view text : texts) guarded.identities.push_back(identity_of(text));
  if (!texts.empty()) guarded.vectors = encode_(texts, TextRole::kDocument);
  return guarded;
}

Retrieval Retriever::find(const Query& query) const { return Search(*this, query).run(); }

}  // namespace krl::retrieval
