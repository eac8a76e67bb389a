#include "core/plan/builder.hpp"

#include "core/plan/schema.hpp"

namespace krl {
namespace fs = std::filesystem;
namespace {

template <class Element>
std::vector<Element> read_list(const Node* list) {
  std::vector<Element> out;
  if (list == nullptr) return out;
  for (const Node& element : list->elements()) out.push_back(read_settings<Element>(&element));
  return out;
}

StageSettings read_stage(const Node& stage, const Node& tables) {
  auto out = read_settings<StageSettings>(&stage);
  out.settings = {read_settings<ComponentSettings>(tables.find("backend")),
                  read_list<DatasetSettings>(tables.find("dataset")),
                  read_settings<RolloutSettings>(tables.find("rollout")),
                  read_settings<LearnSettings>(tables.find("learn")),
                  read_settings<CurriculumSettings>(tables.find("curriculum")),
                  read_settings<PromptSettings>(tables.find("prompt")),
                  read_list<RewardSettings>(tables.find("reward"))};
  return out;
}

}  // namespace

Plan build_plan(ResolvedTree tree) {
  const Node& root = tree.document;
  Plan plan;
  plan.run = read_settings<RunSettings>(root.find("run"));
  std::error_code ignored;
  plan.run.directory = fs::absolute(plan.run.directory / plan.run.name, ignored).lexically_normal();
  plan.plugins = read_settings<PluginSettings>(root.find("plugins"));
  plan.policy = read_settings<ComponentSettings>(root.find("policy"));
  plan.checkpoint = read_settings<CheckpointSettings>(root.find("checkpoint"));
  plan.log = read_settings<LogSettings>(root.find("log"));
  const Node::Array& stages = root.find("stage")->elements();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    plan.stages.push_back(read_stage(stages[i], tree.stages[i]));
  }
  plan.document = std::make_shared<const Node>(std::move(tree.document));
  return plan;
}

}  // namespace krl
