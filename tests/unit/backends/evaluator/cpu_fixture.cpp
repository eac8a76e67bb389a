#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

#include <nlohmann/json.hpp>

namespace krl::testing {
namespace {

std::string plugin_path(const std::string& name) {
  return KERNELRL_BINARY_DIR "/lib/kernelrl/plugins/" + name + ".krl.so";
}

std::map<std::string, TaskText> load_tasks() {
  static const Plugin plugin(plugin_path("tasks"));
  const auto dataset = plugin.create<krl_dataset_v>(
      KRL_DATASET, "tasks", {{"path", std::string(KERNELRL_SOURCE_DIR "/configs/tasks")}});
  std::uint64_t size = 0;
  dataset.call().require(dataset.table().size(dataset.self(), dataset.context(), &size));
  std::map<std::string, TaskText> tasks;
  krl_dataset_sink sink{};
  sink.struct_size = sizeof sink;
  sink.ctx = &tasks;
  sink.task = [](const krl_dataset_sink* s, const krl_task* task) {
    auto& all = *static_cast<std::map<std::string, TaskText>*>(s->ctx);
    all[copy(task->id)] = {copy(task->id), copy(task->definition_json)};
    return krl_status{KRL_OK};
  };
  for (std::uint64_t i = 0; i < size; ++i) {
    dataset.call().require(dataset.table().read(dataset.self(), dataset.context(), i, &sink));
  }
  return tasks;
}

}  // namespace

krl_task TaskText::c() const {
  krl_task task{};
  task.struct_size = sizeof task;
  task.id = to_c(id);
  task.definition_json = to_c(definition_json);
  return task;
}

const std::map<std::string, TaskText>& all_tasks() {
  static const std::map<std::string, TaskText> tasks = load_tasks();
  return tasks;
}

TaskBackend::TaskBackend(const std::string& id, Table options)
    : instance_([&] {
        static std::map<std::string, Plugin> plugins;
        const Plugin& plugin = plugins.try_emplace(id, plugin_path(id)).first->second;
        return plugin.create<krl_backend_v>(KRL_BACKEND, id, std::move(options));
      }()) {}

Outcome TaskBackend::evaluate(const TaskText& task, const std::string& source, std::uint32_t stages,
                              std::uint64_t seed, std::uint32_t contract) const {
  const krl_task c_task = task.c();
  const krl_candidate candidate{sizeof(krl_candidate), contract, &c_task, to_c(source)};
  const krl_evaluate_options options{sizeof(krl_evaluate_options), stages, seed};
  const EvaluationReceiver receiver;
  Call call;  // one for each evaluation, as they may overlap
  call.require(instance_.table().evaluate(instance_.self(), call.context(), &candidate, &options,
                                          receiver.c()));
  return {receiver.evaluation(), receiver.verdicts()};
}

void TaskBackend::prepare(const TaskText& task, std::uint64_t seed) const {
  const krl_task c_task = task.c();
  const krl_evaluate_options options{sizeof(krl_evaluate_options), kAllStages, seed};
  Call call;
  call.require(instance_.table().prepare(instance_.self(), call.context(), &c_task, &options));
}

BackendDescription TaskBackend::describe() const {
  return backend_description([this](const krl_backend_info_sink* sink) {
    Call call;
    call.require(instance_.table().describe(instance_.self(), call.context(), sink));
  });
}

Outcome::Outcome(const Evaluation& e, int times)
    : verdict(e.verdict),
      why(e.why),
      toolchain(e.toolchain),
      device(e.device),
      log(e.compile_log),
      cases(e.cases),
      records(e.kernels),
      verdicts(times) {
  for (const Diagnostic& d : e.diagnostics)
    diagnostics.push_back(std::to_string(d.line) + ":" + std::to_string(d.column) + ": " + d.text);
  for (const Kernel& k : e.kernels) kernels.push_back(k.name);
  for (const krl::Value& v : e.values) values.try_emplace(v.name, v.value);
}

bool Outcome::operator==(const Outcome& other) const {
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  const bool same_cases = std::equal(cases.begin(), cases.end(), other.cases.begin(),
                                     other.cases.end(), [&](const Case& a, const Case& b) {
                                       return a.verdict == b.verdict && a.label == b.label &&
                                              a.detail == b.detail && a.kind == b.kind &&
                                              same(a.speedup, b.speedup) &&
                                              same(a.time_ns, b.time_ns);
                                     });
  return same_cases && verdict == other.verdict && why == other.why && log == other.log &&
         diagnostics == other.diagnostics && values == other.values && kernels == other.kernels;
}

const CpuInstance& uncached_backend() {
  static const CpuInstance instance(Table{{"cache", "off"}});
  return instance;
}

std::string naive_of(const TaskText& task) {
  return nlohmann::json::parse(task.definition_json).at("naive").get<std::string>();
}

}  // namespace krl::testing
