#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

#include "core/plugin/dataset.hpp"
#include "service/plugins/contract.hpp"

namespace krl::service {
namespace dataset_contract {
namespace {

constexpr std::uint64_t kMostRead = 200;

Status starts(const Subject& subject) {
  KRL_TRY(subject.components.dataset(subject.settings));
  KRL_TRY(subject.others.dataset(subject.settings));
  return {};
}

// The first items, and the last.
std::vector<std::uint64_t> indices_of(std::uint64_t size) {
  std::vector<std::uint64_t> indices;
  for (std::uint64_t i = 0; i < std::min(size, kMostRead); ++i) indices.push_back(i);
  if (size > kMostRead) indices.push_back(size - 1);
  return indices;
}

Result<std::uint64_t> size_of(const Dataset& dataset) {
  KRL_ASSIGN(const std::uint64_t size, dataset.size());
  if (size == 0) return broken("it has no items");
  return size;
}

Status reads(const Subject& subject) {
  KRL_ASSIGN(const Dataset* dataset, subject.components.dataset(subject.settings));
  KRL_ASSIGN(const std::uint64_t size, size_of(*dataset));
  std::set<std::string> ids;
  for (const std::uint64_t index : indices_of(size)) {
    KRL_ASSIGN(const DatasetItems items, dataset->read(index));
    for (const Task& task : items.tasks) {
      KRL_TRY(facts_of(task));
      if (!ids.insert(task.id).second) return broken("two tasks have the id '" + task.id + "'");
    }
  }
  return {};
}

// An item in a text that differs where it does.
std::string text_of(const DatasetItems& items) {
  std::string text;
  const auto add = [&](const std::string& part) { text += part + '\0'; };
  const auto add_task = [&](const Task& t) {
    for (const std::string* part : {&t.id, &t.title, &t.prompt, &t.definition_json}) add(*part);
  };
  for (const Task& task : items.tasks) add_task(task);
  for (const Pair& pair : items.pairs) {
    add_task(pair.task);
    add(pair.answer);
    for (const std::string& earlier : pair.earlier) add(earlier);
  }
  for (const Document& document : items.documents) add(document.id), add(document.text);
  return text;
}

Status repeats(const Subject& subject) {
  KRL_ASSIGN(const Dataset* dataset, subject.components.dataset(subject.settings));
  KRL_ASSIGN(const std::uint64_t size, size_of(*dataset));
  const auto indices = indices_of(size);
  std::vector<std::string> first;
  for (const std::uint64_t index : indices) {
    KRL_ASSIGN(const DatasetItems items, dataset->read(index));
    first.push_back(text_of(items));
  }
  for (std::size_t i = indices.size(); i-- > 0;) {
    KRL_ASSIGN(const DatasetItems items, dataset->read(indices[i]));
    if (text_of(items) != first[i])
      return broken(fmt::format("item {} was another when it was read again", indices[i]));
  }
  return {};
}

Status ends(const Subject& subject) {
  KRL_ASSIGN(const Dataset* dataset, subject.components.dataset(subject.settings));
  KRL_ASSIGN(const std::uint64_t size, size_of(*dataset));
  if (size == UINT64_MAX) return broken("its size is that of no dataset");
  if (dataset->read(size))
    return broken(fmt::format("it has {} items and gave one of index {}", size, size));
  return {};
}

constexpr std::array kRules = {
    Rule{"starts", "instances are made, two at a time, and destroyed", starts},
    Rule{
        "reads",
        "every index below the size gives one item; tasks can be understood, and have ids of their own",
        reads},
    Rule{"repeats", "the same index gives the same item, in whatever order they are read", repeats},
    Rule{"ends", "an index beyond the size is an error", ends},
};

}  // namespace
}  // namespace dataset_contract

std::span<const Rule> dataset_rules() { return dataset_contract::kRules; }

}  // namespace krl::service
