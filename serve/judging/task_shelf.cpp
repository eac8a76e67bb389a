#include "serve/judging/task_shelf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <kernelrl/spelling.hpp>

#include "core/base/hash.hpp"
#include "service/kernels/evaluation_request.hpp"

namespace krl::serve {
namespace {

std::string digest_of(const Task& task) { return "sha256:" + sha256_hex(task.definition_json); }

Result<TaskPointer> served(Task task, bool is_own) {
  if (task.facts.signature.empty()) {
    KRL_ASSIGN(task.facts, facts_of(task));
  }
  std::string digest = digest_of(task);
  return std::make_shared<const ServedTask>(ServedTask{std::move(task), std::move(digest), is_own});
}

}  // namespace

Result<std::unique_ptr<TaskShelf>> TaskShelf::of(std::vector<Task> tasks) {
  auto shelf = std::make_unique<TaskShelf>();
  for (Task& task : tasks) {
    KRL_ASSIGN(TaskPointer own, served(std::move(task), true));
    shelf->by_id_[own->task.id] = own;
    shelf->by_id_[own->digest] = own;
    shelf->own_.push_back(std::move(own));
  }
  std::ranges::sort(shelf->own_, {}, [](const TaskPointer& own) { return own->task.id; });
  return shelf;
}

std::vector<TaskPointer> TaskShelf::seen_by(const std::string& client) const {
  std::vector<TaskPointer> tasks = own_;
  const std::lock_guard lock(mutex_);
  for (const auto& [owner, kept] : kept_) {
    if (owner == client) tasks.push_back(kept);
  }
  return tasks;
}

Result<TaskPointer> TaskShelf::find(const std::string& id, const std::string& client) const {
  const auto found = by_id_.find(id);
  if (found != by_id_.end()) return found->second;
  if (TaskPointer sent = sent_.find(id)) return sent;
  std::vector<std::string> ids;
  for (const TaskPointer& task : seen_by(client)) {
    if (task->task.id == id) return task;
    ids.push_back(task->task.id);
  }
  return failure(Code::kNotFound,
                 "there is no task '" + id + "' here" +
                     did_you_mean(id, ids, "; name one of those served, or send its definition"));
}

Result<TaskPointer> TaskShelf::define(const nlohmann::ordered_json& definition) {
  if (!definition.is_object())
    return invalid("a task is its id, or a definition: an object with the keys of a task file");
  nlohmann::ordered_json own = definition;
  own.erase("origin");
  KRL_ASSIGN(Task task, service::task_of_definition(own));
  const std::size_t bytes = task.definition_json.size();
  if (bytes > kMostDefinition)
    return invalid(fmt::format("a definition may have {} bytes, not {}", kMostDefinition, bytes));
  const std::string digest = digest_of(task);
  if (const auto found = by_id_.find(digest); found != by_id_.end()) return found->second;
  if (TaskPointer known = sent_.find(digest)) return known;
  KRL_ASSIGN(TaskPointer sent, served(std::move(task), false));
  return sent_.find_or_keep(digest, std::move(sent), 2 * bytes);
}

void TaskShelf::keep(const std::string& client, TaskPointer task) {
  const std::lock_guard lock(mutex_);
  std::erase_if(kept_, [&](const auto& kept) {
    return kept.first == client && kept.second->task.id == task->task.id;
  });
  kept_.emplace_front(client, std::move(task));
  if (kept_.size() > kMostKept) kept_.pop_back();
}

Result<TaskPointer> TaskShelf::get(const nlohmann::ordered_json& task, const std::string& client) {
  return task.is_string() ? find(task.get<std::string>(), client) : define(task);
}

}  // namespace krl::serve
