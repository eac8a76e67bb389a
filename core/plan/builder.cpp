#include "core/plan/builder.hpp"

#include <algorithm>

#include "core/plan/schema.hpp"
#include "core/plan/value_range.hpp"

namespace krl {
namespace fs = std::filesystem;
namespace {

// Reads the keys of one checked table; what is absent or not in use stays zero.
class Reader {
 public:
  explicit Reader(const Node& table) : table_(&table) {}

  Reader in(std::string_view key) const {
    static const Node kNone = Node::table({});
    const Node* table = table_->find(key);
    return Reader(table == nullptr ? kNone : *table);
  }

  template <class T>
  T get(std::string_view key) const {
    const Node* node = table_->find(key);
    const T* value = node == nullptr ? nullptr : std::get_if<T>(&node->value);
    return value == nullptr ? T{} : *value;
  }
  std::int64_t integer(std::string_view key) const { return get<std::int64_t>(key); }
  double real(std::string_view key) const { return get<double>(key); }
  std::string text(std::string_view key) const { return get<std::string>(key); }
  bool flag(std::string_view key) const { return get<bool>(key); }

  std::vector<std::string> texts(std::string_view key) const {
    std::vector<std::string> out;
    for (const Node& element : list(key)) out.push_back(*element.text());
    return out;
  }
  const Node::Array& list(std::string_view key) const {
    static const Node::Array kNone;
    const Node* node = table_->find(key);
    return node == nullptr ? kNone : node->elements();
  }
  Origin origin(std::string_view key) const {
    const Node* node = table_->find(key);
    return node == nullptr ? table_->origin : node->origin;
  }
  const Node& node() const { return *table_; }

 private:
  const Node* table_;
};

// The choice `key` of `table`, as the enumerator that stands at the same place as in its range.
template <class Enum>
Enum choice(const Reader& reader, std::string_view key, std::string_view range) {
  const std::vector<std::string> names = choices_of(range);
  const auto name = std::find(names.begin(), names.end(), reader.text(key));
  return static_cast<Enum>(name == names.end() ? 0 : name - names.begin());
}

std::optional<Condition> condition(const Reader& reader, std::string_view key) {
  const auto expression = Expression::parse(reader.text(key), NameStyle::kMetrics);
  if (reader.text(key).empty() || !expression) return std::nullopt;
  return Condition{*expression, reader.origin(key)};
}

RunSettings run_settings(const Reader& run) {
  RunSettings out;
  out.name = run.text("name");
  std::error_code ignored;
  out.directory = fs::absolute(fs::path(run.text("directory")) / out.name, ignored);
  out.directory = out.directory.lexically_normal();
  out.seed = static_cast<std::uint64_t>(run.integer("seed"));
  out.threads = run.integer("threads");
  return out;
}

RolloutSettings rollout_settings(const Reader& rollout) {
  RolloutSettings out;
  out.groups = rollout.integer("groups");
  out.group_size = rollout.integer("group_size");
  out.turns = rollout.integer("turns");
  out.max_tokens = rollout.integer("max_tokens");
  out.temperature = rollout.real("temperature");
  out.top_p = rollout.real("top_p");
  out.top_k = rollout.integer("top_k");
  out.stop = rollout.texts("stop");
  out.stop_when = condition(rollout, "stop_when");
  out.batching = choice<Batching>(rollout, "batching", "waves");
  return out;
}

OptimizerSettings optimizer_settings(const Reader& optimizer) {
  OptimizerSettings out;
  out.lr = optimizer.real("lr");
  out.schedule = choice<Schedule>(optimizer, "schedule", "constant|linear|cosine");
  out.warmup = optimizer.integer("warmup");
  out.min_lr = optimizer.real("min_lr");
  out.beta1 = optimizer.real("beta1");
  out.beta2 = optimizer.real("beta2");
  out.epsilon = optimizer.real("epsilon");
  out.weight_decay = optimizer.real("weight_decay");
  out.grad_clip = optimizer.real("grad_clip");
  return out;
}

LossSettings loss_settings(const Reader& loss) {
  LossSettings out;
  out.name = loss.text("name");
  out.origin = loss.origin("name");
  out.aggregation = choice<Aggregation>(loss, "aggregation", "token_mean|sequence_mean|token_sum");
  for (const Entry& entry : loss.node().entries()) {
    if (const auto* value = std::get_if<double>(&entry.value.value)) {
      out.parameters.push_back({entry.key, *value});
    }
  }
  return out;
}

LearnSettings learn_settings(const Reader& learn) {
  LearnSettings out;
  out.returns.kind = choice<ReturnKind>(learn.in("returns"), "kind", "sum|max");
  out.returns.discount = learn.in("returns").real("discount");
  out.advantage = choice<AdvantageKind>(learn, "advantage", "grpo|dr_grpo|rloo");
  out.group_by = choice<GroupBy>(learn, "group_by", "task|turn");
  out.loss = loss_settings(learn.in("loss"));
  out.optimizer = optimizer_settings(learn.in("optimizer"));
  out.epochs = learn.integer("epochs");
  out.minibatches = learn.integer("minibatches");
  out.truncated = choice<Truncated>(learn, "truncated", "mask|zero");
  out.drop_zero_variance = learn.flag("drop_zero_variance");
  return out;
}

CurriculumSettings curriculum_settings(const Reader& curriculum) {
  CurriculumSettings out;
  out.enabled = curriculum.flag("enabled");
  out.first_tier = curriculum.integer("first_tier");
  out.compile_rate = curriculum.real("compile_rate");
  out.pass_rate = curriculum.real("pass_rate");
  out.window = curriculum.integer("window");
  out.earlier_share = curriculum.real("earlier_share");
  return out;
}

DatasetSettings dataset_settings(const Reader& dataset) {
  DatasetSettings out{build_component(dataset.node(), table_rules("dataset").keys), {}};
  out.role = choice<DatasetRole>(dataset, "role", "train|holdout|warmup");
  return out;
}

RewardSettings reward_settings(const Reader& reward) {
  RewardSettings out{build_component(reward.node(), table_rules("reward").keys), {}, 0, {}};
  out.name = reward.text("name").empty() ? out.use : reward.text("name");
  out.weight = reward.real("weight");
  out.when = choice<RewardWhen>(reward, "when", "always|compiled|passed");
  return out;
}

Settings settings(const Reader& tables) {
  Settings out;
  out.backend = build_component(tables.in("backend").node(), table_rules("backend").keys);
  for (const Node& dataset : tables.list("dataset")) {
    out.datasets.push_back(dataset_settings(Reader(dataset)));
  }
  out.rollout = rollout_settings(tables.in("rollout"));
  out.learn = learn_settings(tables.in("learn"));
  out.curriculum = curriculum_settings(tables.in("curriculum"));
  const Reader prompt = tables.in("prompt");
  out.prompt = {prompt.text("templates"), prompt.text("system")};
  for (const Node& reward : tables.list("reward")) {
    out.rewards.push_back(reward_settings(Reader(reward)));
  }
  return out;
}

StageSettings stage_settings(const Reader& stage, const Reader& tables) {
  StageSettings out;
  out.name = stage.text("name");
  out.origin = stage.origin("name");
  out.kind = choice<StageKind>(stage, "kind", "sft|rl");
  out.sft = {stage.integer("epochs"), stage.integer("batch_size"), stage.integer("log_every"),
             optimizer_settings(stage.in("optimizer"))};
  out.rl = {stage.integer("iterations"), condition(stage, "until")};
  out.settings = settings(tables);
  return out;
}

}  // namespace

ComponentSettings build_component(const Node& table, const std::vector<KeyRule>& core_keys) {
  ComponentSettings out;
  const Reader reader(table);
  out.use = reader.text("use");
  out.origin = reader.origin("use");
  out.options = table.json();
  for (const KeyRule& key : core_keys) out.options.erase(key.key);
  return out;
}

Plan build_plan(ResolvedTree tree) {
  Plan plan;
  const Reader root(tree.document);
  plan.run = run_settings(root.in("run"));
  for (std::string& folder : root.in("plugins").texts("path")) {
    plan.plugins.path.emplace_back(std::move(folder));
  }
  plan.policy = build_component(root.in("policy").node(), table_rules("policy").keys);
  plan.checkpoint = {root.in("checkpoint").integer("every"), root.in("checkpoint").integer("keep")};
  const Reader log = root.in("log");
  plan.log = {log.text("level"), log.flag("tensorboard"), log.integer("samples_every")};
  const Node::Array& stages = root.list("stage");
  for (std::size_t i = 0; i < stages.size(); ++i) {
    plan.stages.push_back(stage_settings(Reader(stages[i]), Reader(tree.stages[i])));
  }
  plan.document = std::make_shared<const Node>(std::move(tree.document));
  return plan;
}

}  // namespace krl
