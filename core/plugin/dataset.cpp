#include "core/plugin/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <kernelrl/growth.hpp>

#include "core/base/log.hpp"
#include "core/plugin/views.hpp"

namespace krl::core {
namespace {

Task task_of(const krl_task& c) {
  return {copy(c.id), copy(c.title), copy(c.prompt), c.tier, copy(c.definition_json)};
}

// A dataset that claims more is wrong about its size.
constexpr std::uint64_t kMostItems = 10'000'000;

// The items of one call of read(), and the error in them; empty if there was none.
struct Given {
  DatasetItems items;
  std::string complaint;
};
Given& given(const krl_dataset_sink* sink) { return *static_cast<Given*>(sink->ctx); }

// True if a struct of the boundary can be read.
template <class Struct>
bool is_readable(std::string& complaint, std::string_view name, const Struct* s) {
  const std::string fault = fault_in(s);
  if (!fault.empty()) complaint = fmt::format("it gave a {} {}", name, fault);
  return fault.empty();
}

template <class Struct>
bool is_readable(const krl_dataset_sink* sink, std::string_view name, const Struct* s) {
  return is_readable(given(sink).complaint, name, s);
}

std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) words.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return words;
}

krl_status put_task(const krl_dataset_sink* sink, const krl_task* task) {
  if (!is_readable(sink, "krl_task", task)) return KRL_INVALID_ARGUMENT;
  given(sink).items.tasks.push_back(task_of(*task));
  return KRL_OK;
}

krl_status put_pair(const krl_dataset_sink* sink, const krl_pair* pair) {
  if (!is_readable(sink, "krl_pair", pair) || !is_readable(sink, "krl_task", pair->task))
    return KRL_INVALID_ARGUMENT;
  if (pair->n_earlier > 0 && pair->earlier == nullptr) {
    given(sink).complaint =
        fmt::format("it gave a pair with {} earlier answers that are NULL", pair->n_earlier);
    return KRL_INVALID_ARGUMENT;
  }
  Pair item{task_of(*pair->task), copy(pair->answer), {}, words_of(view(pair->shows))};
  for (std::uint32_t i = 0; i < pair->n_earlier; ++i)
    item.earlier.push_back(copy(pair->earlier[i]));
  given(sink).items.pairs.push_back(std::move(item));
  return KRL_OK;
}

Document document_of(const krl_document& c) {
  return {copy(c.id), copy(c.task_hint), copy(c.text), copy(c.meta_json)};
}

krl_status put_document(const krl_dataset_sink* sink, const krl_document* document) {
  if (!is_readable(sink, "krl_document", document)) return KRL_INVALID_ARGUMENT;
  given(sink).items.documents.push_back(document_of(*document));
  return KRL_OK;
}

// The documents of one call of find(), and the error in them; empty if there was none.
struct Found {
  std::vector<FoundDocument> documents;
  std::uint32_t wanted = 0, shown = 0;
  std::string complaint;
};

// A part of a metric's name.
bool is_reason(std::string_view word) {
  constexpr std::size_t kMostBytes = 32;
  return word.size() <= kMostBytes &&
         std::ranges::all_of(word, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

krl_status put_found(const krl_found_sink* sink, const krl_found* found) {
  Found& all = *static_cast<Found*>(sink->ctx);
  if (!is_readable(all.complaint, "krl_found", found) ||
      !is_readable(all.complaint, "krl_document", found->document)) {
    return KRL_INVALID_ARGUMENT;
  }
  if (!is_reason(view(found->left_out))) {
    all.complaint = "it left a document out for a reason that is no word of a-z and '_'";
  } else if (found->left_out.size == 0 && ++all.shown > all.wanted) {
    all.complaint = fmt::format("it found more than the {} documents that were wanted", all.wanted);
  } else {
    all.documents.push_back({document_of(*found->document), copy(found->left_out)});
    return KRL_OK;
  }
  return KRL_INVALID_ARGUMENT;
}

void append(DatasetItems& items, DatasetItems one) {
  std::move(one.tasks.begin(), one.tasks.end(), std::back_inserter(items.tasks));
  std::move(one.pairs.begin(), one.pairs.end(), std::back_inserter(items.pairs));
  std::move(one.documents.begin(), one.documents.end(), std::back_inserter(items.documents));
}

}  // namespace

Result<std::uint64_t> Dataset::size() const {
  std::uint64_t size = 0;
  KRL_TRY(instance_.patiently([&] {
    Call call(component(), instance_.scope());
    return instance_.run(call, "size", [&](void* self, auto* context) {
      return table().size(self, context, &size);
    });
  }));
  if (size <= kMostItems) return size;
  return failure(
      Call(component(), instance_.scope())
          .broken("size", fmt::format("it reports {} items; the maximum is {}", size, kMostItems)));
}

Result<DatasetItems> Dataset::read(std::uint64_t index) const {
  return instance_.patiently([&]() -> Result<DatasetItems> {
    Given given;
    const krl_dataset_sink sink{
        sizeof(krl_dataset_sink), 0, &given, put_task, put_pair, put_document};
    Call call(component(), instance_.scope());
    const std::string name = fmt::format("read item {}", index);
    const Status status = instance_.run(call, name, [&](void* self, auto* context) {
      return table().read(self, context, index, &sink);
    });
    if (!given.complaint.empty()) return failure(call.broken("read", given.complaint));
    KRL_TRY(status);
    DatasetItems& items = given.items;
    const std::size_t count = items.tasks.size() + items.pairs.size() + items.documents.size();
    if (count == 1) return std::move(items);
    return failure(call.broken("read", fmt::format("it gave {} items for index {}", count, index)));
  });
}

bool Dataset::can_find(const Component& component) {
  return static_cast<const krl_dataset_v*>(component.raw->table)->find != nullptr;
}

Result<std::vector<FoundDocument>> Dataset::find(const Task& task,
                                                 const std::vector<std::string>& guarded,
                                                 std::uint32_t count) const {
  const krl_task task_view = view_of(task);
  std::vector<krl_str> texts;
  for (const std::string& text : guarded) texts.push_back(to_c(text));
  const krl_document_query query{sizeof(krl_document_query), count, &task_view, texts.data(),
                                 texts.size()};
  return instance_.patiently([&]() -> Result<std::vector<FoundDocument>> {
    Found found;
    found.wanted = count;
    const krl_found_sink sink{sizeof(krl_found_sink), 0, &found, put_found};
    Call call(component(), instance_.scope());
    const Status status = instance_.run(call, "find", [&](void* self, auto* context) {
      return table().find(self, context, &query, &sink);
    });
    if (!found.complaint.empty()) return failure(call.broken("find", found.complaint));
    KRL_TRY(status);
    return std::move(found.documents);
  });
}

Result<DatasetItems> Dataset::read_all() const {
  KRL_ASSIGN(const std::uint64_t size, this->size());
  DatasetItems items;
  for (std::uint64_t i = 0; i < size; ++i) {
    if (instance_.scope().cancelled()) return failure(Code::kCancelled, "cancelled");
    Result<DatasetItems> item = read(i);
    if (item) {
      append(items, *std::move(item));
      continue;
    }
    if (item.error().code != Code::kUnavailable) return item;
    log(Severity::kWarning, fmt::format("{}; the item is skipped", item.error().message));
    if (++items.lost == 1) items.first_lost = item.error().message;
  }
  if (size == 0 || items.lost < size) return items;
  return failure(
      Code::kUnavailable,
      fmt::format("none of the {} items of dataset '{}' could be read, the first because: {}", size,
                  component().id, items.first_lost));
}

}  // namespace krl::core
