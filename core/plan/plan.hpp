// A plan: the whole description of an experiment, checked, with the defaults filled in.
//
// `load_plan` (core/plan/loader.hpp) makes it from TOML; docs/plan.md lists every key. A Plan is
// plain data: it is passed by value or const reference and never changes after loading, so any
// thread may read it. If an error may show only later (a reward needs a figure that the backend
// lacks), the origin of the value is stored with it: see `problem_at`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "core/plan/source.hpp"
#include "kernelrl/evaluation.hpp"
#include "kernelrl/expression.hpp"

namespace krl::core {

struct Node;

struct RunSettings {
  std::string name;                 // the plan's file name without ".toml", if not given
  std::filesystem::path directory;  // absolute: <run.directory>/<name>, from the current folder
  std::filesystem::path from;       // a checkpoint that the run begins with; absolute; empty = none
  Origin from_origin;
  std::uint64_t seed = 0;
  std::int64_t threads = 0;         // 0 = all cores
  std::int64_t call_timeout_s = 0;  // limit of a call into a plugin; 0 = none
  std::int64_t retries = 0;         // retries of a call into an unavailable plugin
  double retry_wait_s = 0;          // before the first of them; doubles
  // Share of an iteration's turns; the run ends if it is exceeded a few times.
  double max_infra_share = 0;
};

struct PluginSettings {
  std::vector<std::filesystem::path> path;  // absolute
  std::vector<std::string> replace;         // "reward.speedup": of the built-in ones
};

// The choice of a component and its options.
struct ComponentSettings {
  std::string use;         // the component's id
  nlohmann::json options;  // an object: checked, defaults filled in, paths absolute; without `use`
  Origin origin;           // place of the value of `use`
  // Places of the options, by dotted key; defaults have none.
  std::map<std::string, Origin> option_origins = {};
  std::string isolation = {};  // "process": in a process of its own; empty: in kernelrl's
};

// The evaluator of kernels, those that see them before it, and the one that executes again what
// passed.
struct BackendSettings : ComponentSettings {
  std::vector<ComponentSettings> before;
  std::optional<ComponentSettings> sanitizer;

  // All but the evaluator itself.
  std::vector<const ComponentSettings*> others() const {
    std::vector<const ComponentSettings*> all;
    for (const ComponentSettings& one : before) all.push_back(&one);
    if (sanitizer) all.push_back(&*sanitizer);
    return all;
  }
};

// The policy that learns, and its helpers.
struct PolicySettings : ComponentSettings {
  std::optional<ComponentSettings> sampler;  // samples in its place, with its weights
  // The reference of "kl"; without it, the untrained policy itself.
  std::optional<ComponentSettings> reference;

  const ComponentSettings& who_samples() const { return sampler ? *sampler : *this; }
};

enum class DatasetRole { kTrain, kHoldout, kWarmup, kRetrieval };

struct DatasetSettings : ComponentSettings {
  DatasetRole role = DatasetRole::kTrain;
};

// A condition over named numbers, or a number made of them.
struct Condition {
  Expression expression;
  Origin origin;  // place of its text
};

enum class TaskChoice { kEven, kLearnable };
enum class Batching { kWaves, kContinuous, kInTurns };

struct RolloutSettings {
  Contract contract = Contract::kDevice;  // contract of the answers
  std::int64_t groups = 0;                // tasks an iteration
  std::int64_t group_size = 0;            // episodes a task
  TaskChoice choice = TaskChoice::kEven;  // order in which tasks are chosen
  // The share of a group's episodes that pass, between which a task counts as learnable.
  double pass_low = 0, pass_high = 0;
  std::int64_t refill_tries = 0;  // rounds of groups that replace those that teach nothing
  std::int64_t distinct = 0;      // tries for an answer whose kernel was not judged yet; 0 = none
  std::int64_t turns = 0;
  std::int64_t max_tokens = 0;         // limit of an answer
  std::int64_t thinking_tokens = 0;    // after which a thought is ended; 0 = never
  std::int64_t min_answer_tokens = 0;  // space that the context must leave for an answer
  bool in_thought = false;             // the chat template ends with <think>
  double temperature = 0;              // 0 = greedy
  double top_p = 0;                    // 1 = off
  std::int64_t top_k = 0;              // -1 = off
  std::vector<std::string> stop;       // texts that end an answer
  std::optional<Condition> stop_when;  // over `stop_names()`; ends an episode after a turn
  Batching batching = Batching::kWaves;
  std::int64_t answer_timeout_s = 0;  // 0 = none
  std::int64_t ahead = 0;  // iterations that are sampled before what came before was learned from
};

enum class ReturnKind { kSum, kMax };
enum class AfterStop { kRepeat, kZero };
enum class AdvantageKind { kGrpo, kDrGrpo, kRloo, kMaxAtK, kEntropic, kQuantile, kGae };
enum class GroupBy { kTask, kTurn };
enum class Aggregation { kByLoss, kTokenMean, kSequenceMean, kFixedLength, kTokenSum };
enum class Schedule { kConstant, kLinear, kCosine };
enum class Truncated { kMask, kZero };

struct ReturnSettings {
  ReturnKind kind = ReturnKind::kSum;
  double discount = 0;
  AfterStop after_stop = AfterStop::kRepeat;  // score of turns that stop_when leaves out
};

struct GaeSettings {
  double gamma = 0;  // discount from one token to the next
  double lambda = 0;
  bool whiten = true;
};

struct LossParameter {
  std::string name;
  double value = 0;
};

// Each is used by the kind of advantage that it belongs to.
struct ObjectiveSettings {
  std::int64_t k = 8;                // max_at_k
  double tilt = 0.6931471805599453;  // entropic: nats
  double quantile = 0.75;            // quantile
};

// Tokens chosen by how their probability varies with their advantage; a share of 0 = none.
struct CovarianceSettings {
  double clip_share = 0;               // not learned from
  double clip_low = 1, clip_high = 5;  // covariances of these
  double kl_share = 0;                 // kept near the sampler
  double kl_weight = 1;
};

struct LossSettings {
  std::string name;  // "ppo", "gspo", "cispo", "importance_sampling"
  Aggregation aggregation = Aggregation::kByLoss;
  std::vector<LossParameter> parameters;  // the ones this loss uses, in krl_loss's format
  CovarianceSettings covariance;
};

struct OptimizerSettings {
  std::optional<double> lr;  // default: default_lr() of the policy's kind
  Schedule schedule = Schedule::kConstant;
  std::int64_t warmup = 0;  // up to lr: iterations in [learn], optimiser steps in a stage of sft
  double min_lr = 0;        // end of linear and cosine
  double beta1 = 0, beta2 = 0, epsilon = 0, weight_decay = 0;
  double grad_clip = 0;  // 0 = off
};

struct LearnSettings {
  ReturnSettings returns;
  AdvantageKind advantage = AdvantageKind::kGrpo;
  ObjectiveSettings objective;
  double unlikeliness = 0;            // by how much less the likeliest right answer is worth
  GaeSettings gae;                    // used if advantage is kGae
  std::vector<LossParameter> critic;  // likewise: the parameters of its loss
  std::int64_t critic_warmup = 0;     // the same: iterations in which only the critic learns
  GroupBy group_by = GroupBy::kTurn;
  LossSettings loss;
  OptimizerSettings optimizer;
  double imitate = 0;                // weight of the archive's fastest kernels; 0 = none
  std::int64_t imitate_kernels = 1;  // as many of each task
  std::int64_t epochs = 0;           // passes over the samples of an iteration
  std::int64_t minibatches = 0;      // optimiser steps an epoch, at most
  Truncated truncated = Truncated::kMask;
  bool drop_zero_variance = true;
  double min_spread = 0;  // returns of a group that differ by less are the same
};

struct CurriculumSettings {
  bool enabled = false;
  std::int64_t first_tier = 0;
  double compile_rate = 0, pass_rate = 0;  // both are to be exceeded for the next tier to open
  std::int64_t window = 0;                 // iterations that the rates are averaged over
  double earlier_share = 0;                // share of the groups for tiers below the newest
};

enum class ParentChoice { kUniform, kElites, kPuct };

// Kernels of a stage that later episodes begin with.
struct ArchiveSettings {
  bool enabled = false;
  std::int64_t size = 0;  // kernels kept of a task
  double fresh = 0;       // share of the groups that begin with none
  ParentChoice choose = ParentChoice::kUniform;
  double c = 0;               // exploration of kPuct
  std::int64_t parents = 1;   // kernels that an episode begins with
  std::int64_t islands = 1;   // parts that know only their own kernels
  std::int64_t exchange = 0;  // iterations between two exchanges of their best
};

struct EvalSettings {
  std::int64_t every =
      0;  // iterations of a stage between two; 0 = before the first, after the last
  std::int64_t samples = 0;  // episodes per task; 0 = rollout.group_size
};

struct PromptSettings {
  std::filesystem::path templates;  // folder of the templates; absolute; empty = prompts/default
  std::string system;               // system message; empty = none
};

// The turns whose prompts show documents.
enum class RetrievalTurns { kFirst, kEvery, kAfterFailure };

// Settings of the dataset with the role "retrieval", if there is one.
struct RetrievalSettings {
  std::int64_t count = 0;       // documents a prompt
  std::int64_t max_tokens = 0;  // limit for all documents in a prompt
  RetrievalTurns turns = RetrievalTurns::kEvery;
};

enum class RewardWhen { kAlways, kCompiled, kPassed };

struct RewardSettings : ComponentSettings {
  std::string name;  // its metric is reward/<name>/mean; `use` if not given
  double weight = 0;
  RewardWhen when = RewardWhen::kAlways;
};

// Settings that a stage may override; a stage holds its own merged copy.
struct Settings {
  BackendSettings backend;
  std::vector<DatasetSettings> datasets;
  RolloutSettings rollout;
  LearnSettings learn;
  CurriculumSettings curriculum;
  ArchiveSettings archive;
  EvalSettings eval;
  PromptSettings prompt;
  RetrievalSettings retrieval;
  std::vector<RewardSettings> rewards;
};

enum class StageKind { kSft, kRl, kSearch };

struct SftSettings {
  std::int64_t epochs = 0;
  std::int64_t batch_size = 0;
  std::int64_t log_every = 0;  // optimiser steps
  OptimizerSettings optimizer;
};

struct RlSettings {
  std::int64_t iterations = 0;
  std::optional<Condition> until;  // over metrics, see `resolve_metric`; after each iteration
  std::int64_t until_window = 1;   // iterations that they are averaged over
};

// Limits of a search; 0 = none.
struct BudgetSettings {
  std::int64_t kernels = 0;  // distinct ones judged of each task
  std::int64_t tokens = 0;   // sampled
  double minutes = 0;
  double dollars = 0;
  // Dollars for a million tokens of prompts, and of answers.
  double prompt_price = 0, answer_price = 0;

  bool limited() const { return kernels > 0 || tokens > 0 || minutes > 0 || dollars > 0; }
};

struct SearchSettings {
  BudgetSettings budget;
  std::int64_t tune = 0;  // kernels with other numbers, of each task and iteration
};

struct StageSettings {
  std::string name;
  StageKind kind = StageKind::kRl;
  SftSettings sft;        // used if kind is kSft
  RlSettings rl;          // used if kind is kRl or kSearch
  SearchSettings search;  // used if kind is kSearch
  Settings settings;      // in force during this stage
  Origin origin;          // place of the stage's name

  // True if episodes are played in it.
  bool plays() const { return kind != StageKind::kSft; }
  // The limit of its iterations.
  std::int64_t most_iterations() const {
    return rl.iterations > 0 ? rl.iterations : std::numeric_limits<std::int64_t>::max();
  }
};

struct CheckpointSettings {
  std::int64_t every = 0;         // iterations; 0 = only at the end of a stage
  std::int64_t keep = 0;          // newest ones kept; 0 = all
  std::int64_t keep_every = 0;    // iterations between two that are kept permanently; 0 = none
  std::optional<Condition> best;  // over metrics; the one where it is highest is kept
};

struct LogSettings {
  Severity level = Severity::kInfo;  // level of logs.log
  bool tensorboard = true;
  std::int64_t samples_every = 0;  // iterations between two that write samples/; 0 = never
};

struct PythonSettings {
  std::string executable;  // empty = KERNELRL_PYTHON or python3
};

struct Plan {
  std::filesystem::path file;  // absolute
  RunSettings run;
  PluginSettings plugins;
  PolicySettings policy;
  CheckpointSettings checkpoint;
  LogSettings log;
  Settings settings;                     // the plan's own, which stages override
  std::vector<StageSettings> stages;     // none: the plan can be evaluated, not run
  std::shared_ptr<const Node> document;  // the resolved tables, for `print_plan`
  std::vector<std::string> notes;        // lines on facts that are right, but may surprise

  // False if the plan only searches, which any policy can.
  bool learns() const {
    const auto searches = [](const StageSettings& s) { return s.kind == StageKind::kSearch; };
    return stages.empty() || !std::all_of(stages.begin(), stages.end(), searches);
  }

  // The settings in force during stage `index`. REQUIRES: index < stages.size().
  const Settings& stage(std::size_t index) const { return stages[index].settings; }
  // Returns the settings of each stage; the plan's own if there is none.
  std::vector<const Settings*> in_force() const {
    std::vector<const Settings*> all;
    for (const StageSettings& stage : stages) all.push_back(&stage.settings);
    if (all.empty()) all.push_back(&settings);
    return all;
  }
};

}  // namespace krl::core
