#include "core/plugin/dataset.hpp"

#include <fmt/format.h>

#include "core/plugin/text.hpp"

namespace krl {
namespace {

Task task_of(const krl_task& c) {
  return {copy(c.id), copy(c.title), copy(c.prompt), c.tier, copy(c.definition_json)};
}

struct Received {
  DatasetItems items;
  std::uint64_t count = 0;  // documents too
};

Received& receive(const krl_dataset_sink* sink) {
  auto& received = *static_cast<Received*>(sink->ctx);
  ++received.count;
  return received;
}

krl_status put_task(const krl_dataset_sink* sink, const krl_task* task) {
  receive(sink).items.tasks.push_back(task_of(*task));
  return KRL_OK;
}

krl_status put_pair(const krl_dataset_sink* sink, const krl_pair* pair) {
  Pair item{task_of(*pair->task), copy(pair->answer), {}};
  for (std::uint32_t i = 0; i < pair->n_earlier; ++i)
    item.earlier.push_back(copy(pair->earlier[i]));
  receive(sink).items.pairs.push_back(std::move(item));
  return KRL_OK;
}

krl_status put_document(const krl_dataset_sink* sink, const krl_document*) {
  receive(sink);
  return KRL_OK;
}

}  // namespace

Result<DatasetItems> Dataset::read_all() const {
  const auto& table = *static_cast<const krl_dataset_v*>(component().raw->table);
  Call call(component(), instance_.scope());
  std::uint64_t size = 0;
  KRL_TRY(instance_.run(
      call, "size", [&](void* self, auto* context) { return table.size(self, context, &size); }));
  Received received;
  const krl_dataset_sink sink{
      sizeof(krl_dataset_sink), 0, &received, put_task, put_pair, put_document};
  for (std::uint64_t i = 0; i < size; ++i) {
    const std::uint64_t before = received.count;
    KRL_TRY(instance_.run(call, fmt::format("read item {}", i), [&](void* self, auto* context) {
      return table.read(self, context, i, &sink);
    }));
    if (received.count != before + 1) {
      return failure(call.broken(
          "read", fmt::format("it gave {} items for index {}", received.count - before, i)));
    }
  }
  return std::move(received.items);
}

}  // namespace krl
