// Datasets, backends and policies under test, with the calls that tests make most. Whatever else a
// component can do is reached through table(), self() and context().
#pragma once

#include <kernelrl/evaluation.hpp>
#include <kernelrl/policy_values.hpp>
#include <kernelrl/testing/description.hpp>
#include <kernelrl/testing/evaluation_receiver.hpp>
#include <kernelrl/testing/instance.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace krl::testing {

// An item of a dataset: a task, a pair or a document. What its kind does not have is empty.
struct Item {
  std::string kind;  // "task", "pair" or "document"

  // The task, or that of the pair; a document has an id alone.
  std::string id, title, prompt, definition_json;
  std::uint32_t tier = 0;

  std::string answer, shows;         // a pair's
  std::vector<std::string> earlier;  // a pair's, oldest first

  std::string text, task_hint, meta_json;  // a document's
};

// A dataset under test.
class DatasetInstance : public Instance<krl_dataset_v> {
 public:
  using Instance::Instance;

  std::uint64_t size() const {
    std::uint64_t size = 0;
    call().require(table().size(self(), context(), &size));
    return size;
  }

  // Throws std::runtime_error if the dataset pushes no item, or several.
  Item read(std::uint64_t index) const {
    std::vector<Item> items;
    const krl_dataset_sink sink{
        sizeof(krl_dataset_sink), 0, &items, push_task, push_pair, push_document};
    call().require(table().read(self(), context(), index, &sink));
    if (items.size() != 1) {
      throw std::runtime_error("item " + std::to_string(index) + ": " +
                               std::to_string(items.size()) + " were pushed");
    }
    return items.front();
  }

 private:
  static Item& add(const krl_dataset_sink* sink, const char* kind) {
    Item& item = static_cast<std::vector<Item>*>(sink->ctx)->emplace_back();
    item.kind = kind;
    return item;
  }
  static void read_task(const krl_task& task, Item& item) {
    item.id = copy(task.id), item.title = copy(task.title), item.prompt = copy(task.prompt);
    item.tier = task.tier;
    item.definition_json = copy(task.definition_json);
  }
  static krl_status push_task(const krl_dataset_sink* sink, const krl_task* task) {
    read_task(*task, add(sink, "task"));
    return KRL_OK;
  }
  static krl_status push_pair(const krl_dataset_sink* sink, const krl_pair* pair) {
    Item& item = add(sink, "pair");
    read_task(*pair->task, item);
    item.answer = copy(pair->answer), item.shows = copy(pair->shows);
    for (std::uint32_t i = 0; i < pair->n_earlier; ++i)
      item.earlier.push_back(copy(pair->earlier[i]));
    return KRL_OK;
  }
  static krl_status push_document(const krl_dataset_sink* sink, const krl_document* document) {
    Item& item = add(sink, "document");
    item.id = copy(document->id), item.text = copy(document->text);
    item.task_hint = copy(document->task_hint), item.meta_json = copy(document->meta_json);
    return KRL_OK;
  }
};

// A backend under test.
class BackendInstance : public Instance<krl_backend_v> {
 public:
  using Instance::Instance;

  BackendDescription describe() const {
    return backend_description([&](const krl_backend_info_sink* sink) {
      call().require(table().describe(self(), context(), sink));
    });
  }

  // Throws Failure if the backend refuses the task with this definition.
  void prepare(std::string_view definition_json) const {
    const krl_task task = task_of(definition_json);
    const krl_evaluate_options options = options_of(KRL_STAGE_COMPILE);
    call().require(table().prepare(self(), context(), &task, &options));
  }

  // Throws std::runtime_error unless exactly one verdict was pushed.
  Evaluation evaluate(std::string_view source, std::string_view definition_json = "{}",
                      std::uint32_t stages = KRL_STAGE_COMPILE | KRL_STAGE_CHECK) const {
    const krl_task task = task_of(definition_json);
    const krl_candidate candidate{sizeof(krl_candidate), KRL_CONTRACT_DEVICE, &task, to_c(source)};
    const krl_evaluate_options options = options_of(stages);
    EvaluationReceiver receiver;
    call().require(table().evaluate(self(), context(), &candidate, &options, receiver.c()));
    if (receiver.verdicts() != 1) {
      throw std::runtime_error(std::to_string(receiver.verdicts()) + " verdicts were pushed");
    }
    return receiver.evaluation();
  }

 private:
  static krl_task task_of(std::string_view definition_json) {
    krl_task task{};
    task.struct_size = sizeof task;
    task.id = to_c("task");
    task.definition_json = to_c(definition_json);
    return task;
  }
  static krl_evaluate_options options_of(std::uint32_t stages) {
    constexpr std::uint64_t kSeed = 7;
    return {sizeof(krl_evaluate_options), stages, kSeed};
  }
};

// A policy under test.
class PolicyInstance : public Instance<krl_policy_v> {
 public:
  using Instance::Instance;

  PolicyDescription describe() const {
    return policy_description([&](const krl_policy_info_sink* sink) {
      call().require(table().describe(self(), context(), sink));
    });
  }

  // The samples in the order in which they were pushed. Throws std::runtime_error if the policy
  // gives up a request.
  std::vector<SampleValue> sample(const std::vector<RequestValue>& requests) const {
    const CViews<RequestValue> views(requests);
    Received received;
    const krl_sample_sink sink = sink_of(&received);
    call().require(table().sample(self(), context(), views.data(), views.size(), &sink));
    if (!received.lost.empty()) throw std::runtime_error(received.lost);
    return received.samples;
  }

  SampleValue tokenize(const std::vector<MessageValue>& messages, std::string_view answer) const {
    const CViews<MessageValue> views(messages);
    Received received;
    const krl_sample_sink sink = sink_of(&received);
    call().require(
        table().tokenize(self(), context(), views.data(), views.size(), to_c(answer), &sink));
    return received.samples.at(0);
  }

  void forward_backward(const LossValue& loss, const std::vector<ExampleValue>& examples) const {
    const CViews<ExampleValue> views(examples);
    call().require(table().forward_backward(self(), context(), CView<LossValue>(loss).c(),
                                            views.data(), views.size()));
  }
  void optimizer_step(const OptimizerValue& optimizer) const {
    call().require(table().optimizer_step(self(), context(), CView<OptimizerValue>(optimizer).c()));
  }
  void save(const std::string& directory) const {
    call().require(table().save(self(), context(), to_c(directory)));
  }
  void load(const std::string& directory) const {
    call().require(table().load(self(), context(), to_c(directory)));
  }

 private:
  struct Received {
    std::vector<SampleValue> samples;
    std::string lost;  // why a request was given up
  };

  static krl_sample_sink sink_of(Received* received) {
    return {sizeof(krl_sample_sink), 0, received, put, fail};
  }
  static krl_status put(const krl_sample_sink* sink, const krl_sample* sample) {
    static_cast<Received*>(sink->ctx)->samples.push_back(value_of<SampleValue>(*sample));
    return KRL_OK;
  }
  static krl_status fail(const krl_sample_sink* sink, std::uint32_t request, krl_status,
                         krl_str why) {
    static_cast<Received*>(sink->ctx)->lost =
        "request " + std::to_string(request) + " was given up: " + copy(why);
    return KRL_OK;
  }
};

}  // namespace krl::testing
