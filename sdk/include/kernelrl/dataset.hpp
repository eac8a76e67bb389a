// A dataset: yields tasks, supervised pairs and documents by index; and may find documents for a
// task.
#pragma once

#include <kernelrl/component.hpp>
#include <kernelrl/views.hpp>

#include <vector>

namespace krl {

class DatasetSink {
 public:
  explicit DatasetSink(const krl_dataset_sink* c) : c_(c) {}
  void task(krl_task task) const {
    task.struct_size = sizeof task;
    check(c_->task(c_, &task));
  }
  // A supervised example; `earlier`: answers of the turns before it, oldest first; `shows`: words
  // for how its kernels work, separated by commas.
  void pair(krl_task task, std::string_view answer, const std::vector<std::string>& earlier = {},
            std::string_view shows = {}) const {
    task.struct_size = sizeof task;
    std::vector<krl_str> before;
    before.reserve(earlier.size());
    for (const std::string& text : earlier) before.push_back(to_c(text));
    const krl_pair pair{sizeof(krl_pair),
                        static_cast<std::uint32_t>(before.size()),
                        &task,
                        to_c(answer),
                        before.data(),
                        to_c(shows)};
    check(c_->pair(c_, &pair));
  }
  void document(krl_document document) const {
    document.struct_size = sizeof document;
    check(c_->document(c_, &document));
  }

 private:
  const krl_dataset_sink* c_;
};

// The number of items is known once the dataset is started.
struct Dataset : Component {
  virtual std::uint64_t size() = 0;
  // Pushes item `index`; the same index yields the same item.
  virtual void read(std::uint64_t index, const DatasetSink& sink, const Context&) = 0;
};

// Asks for documents to show with a task: how many, and texts of which no copy may be found.
class DocumentQuery {
 public:
  explicit DocumentQuery(const krl_document_query* c) : c_(c) {}
  Task task() const { return Task(c_->task); }
  std::size_t count() const { return c_->count; }
  std::vector<std::string_view> guarded() const {
    std::vector<std::string_view> texts;
    for (std::size_t i = 0; i < c_->n_guarded; ++i) texts.push_back(view(c_->guarded[i]));
    return texts;
  }
  const krl_document_query* c() const { return c_; }

 private:
  const krl_document_query* c_;
};

class FoundSink {
 public:
  explicit FoundSink(const krl_found_sink* c) : c_(c) {}
  // `left_out`: why the document must not be shown, a word of a-z and '_'; empty: it may be.
  void found(krl_document document, double score, std::string_view left_out = {}) const {
    document.struct_size = sizeof document;
    const krl_found found{sizeof(krl_found), 0, &document, score, to_c(left_out)};
    check(c_->found(c_, &found));
  }

 private:
  const krl_found_sink* c_;
};

// A dataset with documents that can be searched.
struct SearchableDataset : Dataset {
  // Pushes at most `query.count()` documents to be shown with the task, the highest score first,
  // and those with higher scores that would reveal its answer.
  virtual void find(const DocumentQuery& query, const FoundSink& sink, const Context&) = 0;
};

namespace detail {

inline krl_status dataset_size(void* self, const krl_call* context, std::uint64_t* out) noexcept {
  return guard(context, [&] { *out = static_cast<Dataset*>(self)->size(); });
}
inline krl_status dataset_read(void* self, const krl_call* context, std::uint64_t index,
                               const krl_dataset_sink* sink) noexcept {
  return guard(context, [&] {
    static_cast<Dataset*>(self)->read(index, DatasetSink(sink), Context(context));
  });
}
inline krl_status dataset_find(void* self, const krl_call* context, const krl_document_query* query,
                               const krl_found_sink* sink) noexcept {
  return guard(context, [&] {
    static_cast<SearchableDataset*>(static_cast<Dataset*>(self))
        ->find(DocumentQuery(query), FoundSink(sink), Context(context));
  });
}

}  // namespace detail

template <class T>
const krl_component* dataset(const char* id, const char* summary) {
  static const krl_dataset_v table{
      sizeof(krl_dataset_v), KRL_DATASET, detail::dataset_size, detail::dataset_read,
      std::is_base_of_v<SearchableDataset, T> ? detail::dataset_find : nullptr};
  return detail::component<T, Dataset>(KRL_DATASET, &table, id, summary);
}

}  // namespace krl
