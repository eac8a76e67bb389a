#include "bench/corpus.hpp"

#include <algorithm>

namespace krl::bench {
namespace {

using testing::Plugin;
using testing::TaskText;

// Those that are not made of tasks: what is measured stays the same when tasks are added.
constexpr const char* kFamilies =
    R"(["argmax", "cross_entropy", "dot_product", "elementwise", "histogram",
  "layer_normalisation", "line_stencil", "matmul", "plane_stencil", "prefix_sum", "rms_normalisation", "row_map",
  "row_reduction", "softmax", "total_reduction", "transpose"])";

// The kernel of an answer: what is between the fence's lines.
std::string kernel_of(std::string_view answer) {
  const auto start = answer.find("```cuda\n");
  const auto end = answer.find("\n```", start);
  if (start == std::string_view::npos || end == std::string_view::npos) return {};
  return std::string(answer.substr(start + 8, end - start - 8));
}

krl_dataset_sink sink_into(std::vector<Work>* works) {
  krl_dataset_sink sink{};
  sink.struct_size = sizeof sink;
  sink.ctx = works;
  sink.task = [](const krl_dataset_sink*, const krl_task*) { return krl_status{KRL_OK}; };
  sink.document = [](const krl_dataset_sink*, const krl_document*) { return krl_status{KRL_OK}; };
  sink.pair = [](const krl_dataset_sink* s, const krl_pair* pair) {
    const TaskText task{std::string(view(pair->task->id)),
                        std::string(view(pair->task->definition_json))};
    std::string kernel = kernel_of(view(pair->answer));
    if (!kernel.empty()) {
      static_cast<std::vector<Work>*>(s->ctx)->push_back({task, std::move(kernel)});
    }
    return krl_status{KRL_OK};
  };
  return sink;
}

}  // namespace

std::vector<Work> naive_kernels() {
  std::vector<Work> works;
  for (const auto& [id, task] : testing::all_tasks()) {
    works.push_back({task, testing::naive_of(task)});
  }
  return works;
}

std::vector<Work> generated_kernels(std::size_t pairs) {
  std::vector<Work> works;
  const Plugin plugin(KERNELRL_BINARY_DIR "/lib/kernelrl/plugins/templates.krl.so");
  const auto dataset = plugin.create<krl_dataset_v>(
      KRL_DATASET, "templates", {{"families", testing::Value::json(kFamilies)}});
  const krl_dataset_sink sink = sink_into(&works);
  std::uint64_t size = 0;
  dataset.call().require(dataset.table().size(dataset.self(), dataset.context(), &size));
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(size, pairs); ++i) {
    dataset.call().require(dataset.table().read(dataset.self(), dataset.context(), i, &sink));
  }
  return works;
}

std::vector<Work> corpus(std::size_t pairs) {
  std::vector<Work> works = naive_kernels();
  for (Work& work : generated_kernels(pairs)) works.push_back(std::move(work));
  return works;
}

}  // namespace krl::bench
