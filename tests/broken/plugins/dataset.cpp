// Two tasks, and what can be wrong with a dataset.
#include <kernelrl/dataset.hpp>

#include <limits>

#include "tests/broken/plugins/answers.hpp"
#include "tests/broken/plugins/trouble.hpp"

namespace broken {
namespace {

constexpr char kSize[] = "size";
constexpr char kRead[] = "read";

std::string definition_of(const std::string& id) {
  return R"({"id":")" + id +
         R"(","prompt":"p","axes":{"n":"var"},"input":[{"name":"x","dtype":"float32","shape":["n"]}],)"
         R"("output":[{"name":"y","dtype":"float32","shape":["n"]}],"reference":"def run(x): return x",)"
         R"("cases":[{"n":1}],"holdout":[{"n":2}]})";
}

struct Dataset final : krl::Dataset, Trouble {
  using Base = krl::Dataset;
  static constexpr auto config = options("read|size|create|destroy");
  Dataset() { at = kRead; }

  std::uint64_t size() override {
    if (is("endless")) return std::numeric_limits<std::uint64_t>::max();
    return is("empty") ? 0 : 2;
  }

  void read(std::uint64_t index, const krl::DatasetSink& sink, const krl::Context&) override {
    if (is("never")) return;
    if (index >= 2) krl::invalid_argument("there is no item " + std::to_string(index));
    const std::string id = id_of(index), prompt = prompt_of(index);
    const std::string definition = is("bad definition") ? "{\"id\": " : definition_of(defined(id));
    krl_task task{};
    task.tier = is("tier") ? 4'000'000'000U : 0;
    task.id = krl::to_c(id);
    task.title = is("null text") ? krl_str{nullptr, 5} : krl::to_c("p");
    task.prompt = krl::to_c(prompt);
    task.definition_json = krl::to_c(definition);
    push(task, sink);
    if (is("twice")) sink.task(task);
  }

 private:
  std::string id_of(std::uint64_t index) const {
    if (is("same id")) return "task";
    if (is("no id")) return "";
    const std::string number = std::to_string(index);
    return is("wild id") ? "../../wild\x1b[31m\n" + number : "task_" + number;
  }

  // The id in the definition.
  std::string defined(const std::string& id) const {
    if (is("wild id")) return R"(../../wild\u001b[31m\n)" + id.substr(id.size() - 1);
    return is("other definition") ? "another_task" : id;
  }

  std::string prompt_of(std::uint64_t index) {
    if (is("long prompt")) return std::string(8 * kMegabyte, 'p');
    if (is("not UTF-8")) return "bytes \xff\xfe";
    if (is("other item")) return "read number " + std::to_string(++reads_);
    return "write kernel " + std::to_string(index);
  }

  void push(const krl_task& task, const krl::DatasetSink& sink) const {
    if (is("pairs")) return sink.pair(task, answer(true, 1));
    if (is("documents")) return sink.document({0, 0, task.id, task.id, task.prompt, {}});
    sink.task(task);
  }

  int reads_ = 0;
};

// The sizes of what is pushed are the SDK's to set: these are pushed without it.
krl_status push_raw(const krl_dataset_sink* sink, std::string_view defect) {
  krl_task task{};
  task.struct_size = defect == "task size" ? 8 : sizeof task;
  task.id = krl::to_c("task");
  krl_pair pair{sizeof pair, 0, &task, {}, nullptr, {}};
  if (defect == "earlier answers") pair.n_earlier = 1U << 30U;
  if (defect == "pair size") pair.struct_size = 8;
  if (defect != "task size" && defect != "null task") return sink->pair(sink, &pair);
  return sink->task(sink, defect == "null task" ? nullptr : &task);
}

krl_status read_raw(void* self, const krl_call* context, std::uint64_t index,
                    const krl_dataset_sink* sink) noexcept {
  const auto& dataset = *static_cast<Dataset*>(static_cast<krl::Dataset*>(self));
  for (const char* defect : {"task size", "null task", "earlier answers", "pair size"}) {
    if (dataset.is(defect)) return push_raw(sink, defect);
  }
  return krl::detail::dataset_read(self, context, index, sink);
}

constexpr krl_dataset_v kTable{sizeof(krl_dataset_v), KRL_DATASET,
                               Troubled<Dataset, kSize, krl::detail::dataset_size>::call,
                               Troubled<Dataset, kRead, read_raw>::call, nullptr};

const krl_component* component() {
  static const krl_component c =
      troubled<Dataset>(krl::dataset<Dataset>("broken.dataset", "Two tasks"), &kTable);
  return &c;
}

}  // namespace
}  // namespace broken

KRL_PLUGIN("broken_dataset", "1.0.0", broken::component())
