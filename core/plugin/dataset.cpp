#include "core/plugin/dataset.hpp"

#include <fmt/format.h>

#include <iterator>

#include "core/base/log.hpp"
#include "core/plugin/text.hpp"

namespace krl {
namespace {

Task task_of(const krl_task& c) {
  return {copy(c.id), copy(c.title), copy(c.prompt), c.tier, copy(c.definition_json)};
}

// A dataset that claims more is wrong about its size.
constexpr std::uint64_t kMostItems = 10'000'000;

// The items that one call of read() has given.
DatasetItems& given(const krl_dataset_sink* sink) { return *static_cast<DatasetItems*>(sink->ctx); }

krl_status put_task(const krl_dataset_sink* sink, const krl_task* task) {
  given(sink).tasks.push_back(task_of(*task));
  return KRL_OK;
}

krl_status put_pair(const krl_dataset_sink* sink, const krl_pair* pair) {
  Pair item{task_of(*pair->task), copy(pair->answer), {}};
  for (std::uint32_t i = 0; i < pair->n_earlier; ++i)
    item.earlier.push_back(copy(pair->earlier[i]));
  given(sink).pairs.push_back(std::move(item));
  return KRL_OK;
}

krl_status put_document(const krl_dataset_sink* sink, const krl_document*) {
  ++given(sink).documents;
  return KRL_OK;
}

void append(DatasetItems& items, DatasetItems one) {
  std::move(one.tasks.begin(), one.tasks.end(), std::back_inserter(items.tasks));
  std::move(one.pairs.begin(), one.pairs.end(), std::back_inserter(items.pairs));
  items.documents += one.documents;
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
  return failure(Call(component(), instance_.scope())
                     .broken("size", fmt::format("it says that it has {} items; {} are the most",
                                                 size, kMostItems)));
}

Result<DatasetItems> Dataset::read(std::uint64_t index) const {
  return instance_.patiently([&]() -> Result<DatasetItems> {
    DatasetItems items;
    const krl_dataset_sink sink{
        sizeof(krl_dataset_sink), 0, &items, put_task, put_pair, put_document};
    Call call(component(), instance_.scope());
    const std::string name = fmt::format("read item {}", index);
    KRL_TRY(instance_.run(call, name, [&](void* self, auto* context) {
      return table().read(self, context, index, &sink);
    }));
    const std::size_t count = items.tasks.size() + items.pairs.size() + items.documents;
    if (count == 1) return items;
    return failure(call.broken("read", fmt::format("it gave {} items for index {}", count, index)));
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
    log(Severity::kWarning, fmt::format("{}; the item is left out", item.error().message));
    if (++items.lost == 1) items.first_lost = item.error().message;
  }
  if (size == 0 || items.lost < size) return items;
  return failure(Code::kUnavailable,
                 fmt::format("none of the {} items of dataset '{}' could be read, the first as {}",
                             size, component().id, items.first_lost));
}

}  // namespace krl
