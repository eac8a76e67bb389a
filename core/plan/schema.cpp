#include "core/plan/schema.hpp"

#include <algorithm>

namespace krl::core {
namespace {

void describe_optimizer(Keys& key, OptimizerSettings& optimizer, const char* lr,
                        const char* schedule, const char* warmup) {
  key("optimizer.lr", optimizer.lr, lr, "", "0..1");
  key("optimizer.schedule", optimizer.schedule, "learning-rate schedule after the warm-up",
      schedule, "constant|linear|cosine")
      .chooses = true;
  key("optimizer.warmup", optimizer.warmup, warmup, "10", "0..");
  key("optimizer.min_lr", optimizer.min_lr, "learning rate at the end of the schedule", "0.0",
      "0..1")
      .only_if = "optimizer.schedule=linear|cosine";
  key("optimizer.beta1", optimizer.beta1, "decay rate of the first moment", "0.9", "0..1");
  key("optimizer.beta2", optimizer.beta2, "decay rate of the second moment", "0.95", "0..1");
  key("optimizer.epsilon", optimizer.epsilon, "added to the square root of the second moment",
      "1e-8", "0..1");
  key("optimizer.weight_decay", optimizer.weight_decay, "decoupled weight decay", "0.0", "0..1");
  key("optimizer.grad_clip", optimizer.grad_clip,
      "maximum global norm of the gradient; 0 = no clipping", "1.0", "0..");
}

void describe_clipping(Keys& key, LossSettings& loss) {
  key.only_if = "loss.name=ppo";
  key.parameter("clip_low", loss, "the ratio is clipped from below at 1 - clip_low", "0.2", "0..1");
  key.parameter("clip_high", loss, "the ratio is clipped from above at 1 + clip_high", "0.28",
                "0..");
  key.only_if = "loss.name=cispo";
  key.parameter("clip_low", loss, "a token's weight is clipped from below at 1 - clip_low", "1.0",
                "0..1");
  key.parameter("clip_high", loss, "a token's weight is clipped from above at 1 + clip_high", "4.0",
                "0..");
  key.only_if = "loss.name=gspo";
  key.parameter("clip_low", loss, "the sequence's ratio is clipped from below at 1 - clip_low",
                "3e-4", "0..1");
  key.parameter("clip_high", loss, "the sequence's ratio is clipped from above at 1 + clip_high",
                "4e-4", "0..");
  key.only_if = "loss.name=ppo";
  key.parameter(
      "dual_clip", loss,
      "limits the loss of a token with a negative advantage to dual_clip times the size of the advantage",
      "3.0", "1..");
  key.only_if = "";
}

void describe_loss(Keys& key, LossSettings& loss) {
  key("loss.name", loss.name, "the policy-gradient loss", "\"ppo\"",
      "ppo|gspo|cispo|importance_sampling")
      .chooses = true;
  key("loss.aggregation", loss.aggregation,
      "how token losses are combined over an optimiser step; by_loss = sequence_mean for gspo, otherwise fixed_length if advantage = \"dr_grpo\", otherwise token_mean; fixed_length treats every answer as rollout.max_tokens long",
      "\"by_loss\"", "by_loss|token_mean|sequence_mean|fixed_length|token_sum");
  describe_clipping(key, loss);
  key.parameter(
      "kl", loss,
      "weight of the KL divergence from policy.reference; without one, from this policy as it was at the start of the first stage with a weight above 0",
      "0.0", "0..");
  key.parameter(
      "kl_estimator", loss,
      "estimator of the divergence, with d = log-probability under the reference - log-probability under the policy; 2: d^2 / 2; 3: e^d - d - 1",
      "3.0", "2..3");
  key.parameter("entropy", loss, "weight of the entropy bonus", "0.0", "0..");
  key.parameter(
      "tis", loss,
      "upper bound of the importance weight by which every token's loss is corrected for differences between sampler and trainer; whole sequences are never masked; 0 = no correction",
      "2.0", "0..");
  key("loss.clip_cov", loss.covariance.clip_share,
      "share of an iteration's tokens that are left out of the loss (Clip-Cov, arXiv 2505.22617, there 0.0002), drawn from those with a covariance within clip_cov_low and clip_cov_high; a token's covariance is its log-probability when sampled less the mean of all, times its advantage less the mean of all; 0 = none",
      "0.0", "0..1");
  key("loss.clip_cov_low", loss.covariance.clip_low, "see clip_cov", "1.0");
  key("loss.clip_cov_high", loss.covariance.clip_high, "see clip_cov", "5.0");
  key("loss.kl_cov", loss.covariance.kl_share,
      "share of an iteration's tokens, those with the largest covariances, whose loss gains kl_cov_weight times the absolute change of their log-probability since they were sampled (KL-Cov, arXiv 2505.22617, there 0.002 to 0.0002); acts from the second optimiser step of an iteration on; 0 = none",
      "0.0", "0..1");
  key("loss.kl_cov_weight", loss.covariance.kl_weight, "see kl_cov", "1.0", "0..");
}

void use_key(Keys& key, ComponentSettings& component, const char* doc) {
  KeyRule& rule = key("use", component.use, doc);
  rule.required = rule.chooses = true;
  key("isolation", component.isolation,
      "process: the component runs in a process of its own, whose end costs the calls in progress; by default in kernelrl's",
      "", "process")
      .on_resume = OnResume::kFree;
}

constexpr const char* kOfGroups = "advantage=grpo|dr_grpo|rloo|max_at_k|entropic|quantile";

void describe_critic(Keys& key, LearnSettings& learn) {
  key.only_if = "advantage=gae";
  key("gae.gamma", learn.gae.gamma, "discount per token", "1.0", "0..1");
  key("gae.lambda", learn.gae.lambda,
      "0: advantages look one token ahead; 1: to the end of the episode", "0.95", "0..1");
  key("gae.whiten", learn.gae.whiten,
      "normalise the advantages over all tokens of an iteration to mean 0 and standard deviation 1",
      "true");
  key.critic_parameter("weight", learn, "weight of the critic's loss relative to the policy's",
                       "0.5", "0..");
  key.critic_parameter(
      "clip", learn,
      "clip range of a value around the one predicted at sampling time; 0 = no clipping", "0.0",
      "0..");
  key("critic.warmup", learn.critic_warmup,
      "number of iterations at the start of a stage in which only the critic learns, at its own learning rate (libtorch: policy.critic_lr)",
      "0", "0..");
  key.only_if = "";
}

}  // namespace

void describe(Keys& key, RunSettings& run) {
  key("name", run.name, "name of the run and of its folder; by default the name of the plan's file")
      .on_resume = OnResume::kFree;
  // Unlike other paths from the current folder, so no path to the checker.
  key("directory", run.directory, "folder that contains the runs, relative to the current folder",
      "\"runs\"")
      .type = ValueType::kString;
  key("from", run.from,
      "a checkpoint of another run, runs/NAME/checkpoints/step_000020: the policy starts from its weights and optimiser state, and the run from its own first stage");
  run.from_origin = key.origin("from");
  key("seed", run.seed, "seed of all random choices of the run", "0", "0..");
  key.on_resume = OnResume::kFree;
  key("threads", run.threads,
      "maximum number of concurrent evaluations; 0 = as many as the backend asks for, up to 1024",
      "0", "0..1024");
  key("call_timeout_s", run.call_timeout_s,
      "time limit of a plugin call that samples, learns or evaluates, and of an evaluation's wait for others before it, in seconds; 0 = none",
      "0", "0..604800");
  key("retries", run.retries,
      "how often a call is retried while the plugin reports that it is unavailable; after that, its turns are lost and counted in infra_errors",
      "5", "0..100");
  key("retry_wait_s", run.retry_wait_s,
      "seconds before the first retry; the wait doubles with each further one, up to 30 s", "0.5",
      "0..30");
  key("max_infra_share", run.max_infra_share,
      "maximum share of an iteration's turns that may be lost to infrastructure errors; the third consecutive iteration above it ends the run and reports the first cause; 1 = no limit",
      "0.5", "0..1");
}

void describe(Keys& key, PluginSettings& plugins) {
  key("path", plugins.path, "additional plugin folders, searched first", "[]").on_resume =
      OnResume::kFree;
  key("replace", plugins.replace,
      "built-in components to be replaced by those with the same id from other plugin folders: \"reward.speedup\"",
      "[]");
}

void describe(Keys& key, ComponentSettings& component) {
  use_key(key, component, "the component's id");
  key.component(component);
}

void describe(Keys& key, PolicySettings& policy) {
  use_key(key, policy, "the policy's id");
  key("sampler", policy.sampler,
      "another policy (a table with its own use and options) that samples instead of this one, and receives its weights after each iteration")
      .on_resume = OnResume::kFree;
  key("reference", policy.reference,
      "another policy, from which learn.loss.kl measures the divergence; without it, this policy as it was at the start of the first stage whose kl is above 0");
  key.component(policy);
}

void describe(Keys& key, BackendSettings& backend) {
  use_key(key, backend, "the backend's id");
  key("before", backend.before,
      "other backends (tables with their own use and options), cheaper than this one, which see every kernel first, in this order; a fault, a wrong result or a nondeterministic one there becomes its verdict, and so does a compile error of one that only compiles; the rest is evaluated here");
  key("sanitizer", backend.sanitizer,
      "another backend (a table with its own use and options) on which every kernel that passed is executed once more, without being timed; a fault, a wrong result or a nondeterministic one there becomes the kernel's verdict: \"cpu\" finds the data races and stray accesses that change no result on a GPU");
  key.component(backend);
}

void describe(Keys& key, DatasetSettings& dataset) {
  use_key(key, dataset, "the dataset's id");
  key("role", dataset.role,
      "train: tasks for rl stages; holdout: tasks that are only used for measurement; warmup: examples for sft stages; retrieval: documents that prompts show with a task, of a dataset that can be searched, such as index",
      "\"train\"", "train|holdout|warmup|retrieval");
  key.component(dataset);
}

void describe_answers(Keys& key, RolloutSettings& rollout) {
  key("max_tokens", rollout.max_tokens, "maximum length of an answer, in tokens", "1024",
      "1..1048576")
      .on_resume = OnResume::kFromHereOn;
  key("thinking_tokens", rollout.thinking_tokens,
      "maximum length of a thought, in tokens; a longer one is cut off by a forced </think>, which is masked from learning; requires a policy that can continue a partial answer; 0 = no limit",
      "0", "0..1048576");
  key("min_answer_tokens", rollout.min_answer_tokens,
      "an episode ends if its next prompt would leave fewer than this many tokens (or max_tokens, if that is smaller) of the context for the answer; if that is its first, the task is skipped",
      "64", "1..1048576");
  key("in_thought", rollout.in_thought,
      "set this if the model's chat template ends with <think>: everything in an answer up to </think> is then a thought, and an answer without </think> contains no kernel",
      "false");
  key("temperature", rollout.temperature, "sampling temperature; 0 = greedy", "1.0", "0..10")
      .on_resume = OnResume::kFromHereOn;
  key("top_p", rollout.top_p,
      "sample only from the most likely tokens with this total probability; 1 = all", "1.0",
      "0..1");
  key("top_k", rollout.top_k, "sample only from this many of the most likely tokens; -1 = all",
      "-1", "-1..");
  key("stop", rollout.stop, "texts that end an answer", "[]");
  key("stop_when", rollout.stop_when,
      "condition that ends an episode early, checked after each turn: \"score >= 0.95\"; empty = none");
}

void describe(Keys& key, RolloutSettings& rollout) {
  key("contract", rollout.contract,
      "contents of an answer; device: device code, which the backend launches; host: a .cu file with its own host code, which few backends accept and whose results are less trustworthy",
      "\"device\"", "device|host");
  key("groups", rollout.groups, "tasks per iteration", "16", "1..65536").on_resume =
      OnResume::kFromHereOn;
  key("group_size", rollout.group_size, "episodes per task", "8", "2..4096").on_resume =
      OnResume::kFromHereOn;
  key("choice", rollout.choice,
      "even: all tasks are drawn equally often; learnable: a task is drawn less often, down to a tenth, as long as the returns within its groups do not differ, because no episode solves it or all solve it equally well",
      "\"even\"", "even|learnable");
  key("pass_low", rollout.pass_low,
      "a task also counts as not learnable while fewer than this share of a group's episodes pass",
      "0.0", "0..1")
      .only_if = "choice=learnable";
  key("pass_high", rollout.pass_high, "likewise while more than this share pass", "1.0", "0..1")
      .only_if = "choice=learnable";
  key("refill_tries", rollout.refill_tries,
      "groups whose returns do not differ are replaced by newly played ones, up to this many times `groups` in total, so that an iteration learns from the intended number of groups (DAPO's dynamic sampling)",
      "0", "0..100")
      .on_resume = OnResume::kFromHereOn;
  key("distinct", rollout.distinct,
      "an answer whose kernel was judged in an earlier iteration is sampled again, up to this many times, so that new kernels are judged; kernels that differ in blanks and comments are the same; 0 = never",
      "0", "0..64");
  key("turns", rollout.turns, "maximum turns per episode", "1", "1..64");
  describe_answers(key, rollout);
  key("batching", rollout.batching,
      "waves: the next turns of all live episodes are sampled as one batch, which is repeatable; continuous: each turn is sampled as soon as the previous one has been evaluated, if the policy supports it; in_turns: like waves, but nothing is evaluated while the policy samples, so that policy and backend can share a GPU",
      "\"waves\"", "waves|continuous|in_turns");
  key("answer_timeout_s", rollout.answer_timeout_s,
      "time limit of an answer, in seconds; a turn whose answer arrives later is lost and counted in infra_errors; 0 = none",
      "0", "0..604800")
      .on_resume = OnResume::kFromHereOn;
  key("ahead", rollout.ahead,
      "1: the next iteration is sampled with the previous weights while the policy learns from the current one; requires a separate sampler, or a policy that can sample while it trains",
      "0", "0..1");
}

void describe_advantage(Keys& key, LearnSettings& learn) {
  key("returns.kind", learn.returns.kind,
      "a turn's return: the sum or the maximum of the discounted scores from that turn on",
      "\"sum\"", "sum|max")
      .only_if = kOfGroups;
  key("returns.discount", learn.returns.discount, "discount per turn", "0.4", "0..1");
  key("returns.after_stop", learn.returns.after_stop,
      "score of the turns that rollout.stop_when skips: that of the last turn played (repeat), or 0 (zero), which rewards staying below the condition",
      "\"repeat\"", "repeat|zero");
  key("advantage", learn.advantage,
      "grpo: return relative to the group's mean, divided by its standard deviation; dr_grpo: not divided; rloo: relative to the mean of the others (leave-one-out); max_at_k: k times the expected gain of the return over the best of k - 1 others, the gradient of the best of k (PKPO, arXiv 2505.15201); entropic: n q - 1 for a group of n, with q proportional to exp(b R), b such that KL(q, uniform) = tilt (TTT-Discover, arXiv 2601.16175); quantile: max(0, R - the group's quantile) / (1 - quantile) (risk-seeking, arXiv 1912.04871); gae: per token, relative to a critic's values, which requires a policy with a critic (libtorch: policy.critic = true)",
      "\"grpo\"", "grpo|dr_grpo|rloo|max_at_k|entropic|quantile|gae");
  key("k", learn.objective.k,
      "answers of which the best counts, at most the group's; the variance grows with k: a third of the group at most is advisable",
      "8", "2..4096")
      .only_if = "advantage=max_at_k";
  key("tilt", learn.objective.tilt,
      "divergence in nats of the weights from equal ones; the largest possible is the logarithm of the group's size, with all weight on the best",
      "0.6931471805599453", "0..20")
      .only_if = "advantage=entropic";
  key("quantile", learn.objective.quantile, "only returns above this quantile of their group count",
      "0.75", "0..0.999")
      .only_if = "advantage=quantile";
  key("unlikeliness", learn.unlikeliness,
      "a positive return of a right answer is multiplied by 1 - unlikeliness (n - rank) / n, where rank of its group's n answers were likelier: rare right answers are learned from most (arXiv 2506.02355, there 0.25); applied to groups whose returns differ anyway",
      "0.0", "0..1")
      .only_if = kOfGroups;
  key("group_by", learn.group_by,
      "turns that form a group; task: all turns of a task's episodes; turn: those with the same turn number, which have equally informed prompts and equally many turns ahead",
      "\"turn\"", "task|turn")
      .only_if = kOfGroups;
}

void describe(Keys& key, LearnSettings& learn) {
  describe_advantage(key, learn);
  describe_critic(key, learn);
  describe_loss(key, learn.loss);
  key.on_resume = OnResume::kFromHereOn;
  describe_optimizer(
      key, learn.optimizer,
      "learning rate of AdamW; by default 1e-6, or 4e-5 for a policy that exports adapters (libtorch: policy.lora.rank)",
      "\"constant\"", "iterations (not optimiser steps) over which the learning rate rises to lr");
  key("imitate", learn.imitate,
      "weight of the cross entropy of the archive's fastest kernels, which is added to the loss of every optimiser step; requires [archive]; 0 = none",
      "0.0", "0..");
  key("imitate_kernels", learn.imitate_kernels,
      "how many kernels of each of an iteration's tasks are imitated", "1", "1..64");
  key("epochs", learn.epochs, "passes over the samples of an iteration", "1", "1..100");
  key("minibatches", learn.minibatches,
      "optimiser steps per epoch; if turns were dropped, proportionally fewer, but at least one",
      "4", "1..4096");
  key.on_resume = OnResume::kKept;
  key("truncated", learn.truncated,
      "answers cut off at max_tokens; mask: excluded from the loss; zero: scored 0 at most",
      "\"mask\"", "mask|zero");
  key("drop_zero_variance", learn.drop_zero_variance,
      "drop groups whose returns are all equal (see min_spread); if false, their advantages are 0",
      "true")
      .only_if = kOfGroups;
  key.on_resume = OnResume::kFromHereOn;
  key("min_spread", learn.min_spread,
      "returns of a group that span less than this count as equal: such differences are noise, which dividing by the standard deviation would amplify to the size of any other difference",
      "0.02", "0..")
      .only_if = kOfGroups;
}

void describe(Keys& key, CurriculumSettings& curriculum) {
  key("enabled", curriculum.enabled,
      "open the tiers one after another; without this table, all tiers are open", "true");
  key("first_tier", curriculum.first_tier, "highest tier that is open at the start", "0", "0..3");
  key("compile_rate", curriculum.compile_rate,
      "the next tier opens when the newest one exceeds both compile_rate and pass_rate: the shares of episodes in which at least one turn compiled or passed, respectively",
      "0.9", "0..1");
  key("pass_rate", curriculum.pass_rate, "see compile_rate", "0.75", "0..1");
  key("window", curriculum.window, "iterations over which the rates are averaged", "3", "1..1000");
  key("earlier_share", curriculum.earlier_share,
      "share of the groups that are drawn from earlier tiers", "0.25", "0..1");
}

void describe(Keys& key, ArchiveSettings& archive) {
  key("enabled", archive.enabled,
      "keep right kernels, and begin episodes with them; without this table, none is kept", "true");
  key("size", archive.size,
      "kernels kept of each task: the fastest of each structure first, then the fastest of the others",
      "64", "1..4096");
  key.on_resume = OnResume::kFromHereOn;
  key("fresh", archive.fresh, "share of the groups that begin without a kernel", "0.3", "0..1");
  key("choose", archive.choose,
      "the kernel that a group begins with; uniform: any; elites: the fastest of any structure; puct: by the speed of the best kernel made from it, its rank, and how rarely it was chosen (docs/discovery.md)",
      "\"uniform\"", "uniform|elites|puct");
  key("c", archive.c, "weight of what was rarely chosen", "1.0", "0..").only_if = "choose=puct";
  key("parents", archive.parents,
      "kernels that a group begins with; 2: another one, of another structure if there is one, is shown before it",
      "1", "1..2");
  key("islands", archive.islands,
      "parts of the archive, each of `size`: a group begins with kernels of its own island, and adds to it",
      "1", "1..64")
      .on_resume = OnResume::kKept;
  key("exchange", archive.exchange,
      "iterations between two exchanges, in which each island's fastest kernel of a task goes to the next island; 0 = none",
      "10", "0..");
}

void describe(Keys& key, EvalSettings& eval) {
  key.on_resume = OnResume::kFromHereOn;
  key("every", eval.every,
      "iterations of an rl stage between measurements on the holdout datasets, in addition to one before any learning and one after the last iteration; 0 = only those two",
      "0", "0..");
  key("samples", eval.samples, "episodes per task of a measurement; 0 = rollout.group_size", "0",
      "0..4096");
}

void describe(Keys& key, PromptSettings& prompt) {
  key("templates", prompt.templates,
      "folder with task.txt, turn.txt, older_turn.txt and, for retrieval, document.txt; by default prompts/default, or prompts/host if contract = \"host\"");
  key("system", prompt.system, "system message; empty = none", "\"\"");
}

void describe(Keys& key, RetrievalSettings& retrieval) {
  key.on_resume = OnResume::kFromHereOn;
  key("count", retrieval.count, "maximum number of documents in a prompt", "2", "1..64");
  key("max_tokens", retrieval.max_tokens,
      "maximum number of tokens that a prompt's documents add to it; one that does not fit is left out, and the next is tried; counted by the policy's tokenizer, or, for a policy without tokens, as a third of the bytes",
      "1024", "1..1048576");
  key("turns", retrieval.turns,
      "turns whose prompts show documents: only the first of an episode, every one, or those after a turn whose kernel did not pass",
      "\"every\"", "first|every|after_failure");
}

void describe(Keys& key, RewardSettings& reward) {
  use_key(key, reward, "the reward's id");
  key("name", reward.name,
      "name of the term, used in its metric reward/NAME/mean; by default its id");
  key("weight", reward.weight, "factor applied to the term's score", "1.0");
  key("when", reward.when,
      "turns to which the term applies: all, those that compiled, or those that passed",
      "\"always\"", "always|compiled|passed");
  key.component(reward);
  if (reward.name.empty()) reward.name = reward.use;
}

void describe_search(Keys& key, StageSettings& stage) {
  BudgetSettings& budget = stage.search.budget;
  key.only_if = "kind=search";
  key("iterations", stage.rl.iterations,
      "maximum number of iterations; 0 = until the budget is used up", "0", "0..");
  key("budget.kernels", budget.kernels,
      "distinct kernels judged of each task; a task that has used up its own gets no more groups, and the stage ends after the last; exceeded by less than a group; 0 = no limit",
      "0", "0..");
  key("budget.tokens", budget.tokens,
      "tokens of answers, after which the stage ends with its iteration; 0 = no limit", "0", "0..");
  key("budget.minutes", budget.minutes,
      "minutes, those before a resume included, after which it ends; 0 = no limit", "0.0", "0..");
  key("budget.dollars", budget.dollars,
      "dollars for tokens, by budget.prompt_price and budget.answer_price, after which it ends; 0 = no limit",
      "0.0", "0..");
  key("budget.prompt_price", budget.prompt_price, "dollars per million tokens of prompts", "0.0",
      "0..");
  key("budget.answer_price", budget.answer_price, "dollars per million tokens of answers", "0.0",
      "0..");
  key("tune", stage.search.tune,
      "kernels judged of each task and iteration that are the archive's fastest with other numbers: blocks, fixed grids, other integer constants; they cost no tokens; requires [archive]; 0 = none",
      "0", "0..4096");
}

void describe(Keys& key, StageSettings& stage) {
  key("name", stage.name, "unique in the plan").required = true;
  stage.origin = key.origin("name");
  key("kind", stage.kind,
      "sft: supervised fine-tuning on the warmup datasets; rl: reinforcement learning on the train datasets; search: the same without learning, with any policy (docs/solve.md)",
      "", "sft|rl|search")
      .required = true;
  key.on_resume = OnResume::kFromHereOn;
  key.only_if = "kind=rl";
  key("iterations", stage.rl.iterations, "maximum number of iterations", "", "1..").required = true;
  describe_search(key, stage);
  key.only_if = "kind=rl|search";
  key("until", stage.rl.until,
      "condition on metrics that ends the stage early: \"pass_rate > 0.9 and iteration >= 5\"");
  key("until_window", stage.rl.until_window,
      "the condition is evaluated on means over this many most recent iterations; it is false unless each of them measured all of its metrics",
      "1", "1..1000");
  key.only_if = "kind=sft";
  key("epochs", stage.sft.epochs, "passes over the examples", "2", "1..10000").on_resume =
      OnResume::kUntilOver;
  key.on_resume = OnResume::kKept;
  key("batch_size", stage.sft.batch_size, "examples per optimiser step", "16", "1..65536");
  key("log_every", stage.sft.log_every, "optimiser steps between lines of metrics", "10", "1..");
  key.on_resume = OnResume::kFromHereOn;
  describe_optimizer(
      key, stage.sft.optimizer,
      "learning rate of AdamW; by default 1e-5, or 4e-5 for a policy that exports adapters (libtorch: policy.lora.rank)",
      "\"cosine\"", "optimiser steps over which the learning rate rises to lr");
}

void describe(Keys& key, CheckpointSettings& checkpoint) {
  key.on_resume = OnResume::kFree;
  key("every", checkpoint.every,
      "iterations between checkpoints; 0 = only at the end of each stage", "10", "0..");
  key("keep", checkpoint.keep, "number of most recent checkpoints to keep; 0 = all", "3", "0..");
  key("keep_every", checkpoint.keep_every,
      "minimum number of iterations between checkpoints that are kept permanently; 0 = keep none permanently",
      "0", "0..1000000000");
  key("best", checkpoint.best,
      "a metric or an expression of metrics; the checkpoint where it is highest is kept as well: \"holdout/tasks/pass_rate\" or \"pass_rate * speedup_capped\"");
}

void describe(Keys& key, LogSettings& log) {
  key.on_resume = OnResume::kFree;
  key("level", log.level, "minimum severity of messages in logs.log", "\"info\"",
      "trace|debug|info|warning|error");
  key("tensorboard", log.tensorboard, "also write the metrics as TensorBoard event files", "true");
  key("samples_every", log.samples_every,
      "prompts and answers are saved every this many iterations; 0 = never", "1", "0..");
}

void describe(Keys& key, PythonSettings& python) {
  key.on_resume = OnResume::kFree;
  key("executable", python.executable,
      "the Python of all components with use = \"python\" that name none: a program, or a path relative to this file; empty = the environment variable KERNELRL_PYTHON, or python3",
      "\"\"");
}

const std::vector<TableRules>& plan_schema() {
  static const std::vector<TableRules> kTables = {
      {"run", false, false, "The run.", rules_of<RunSettings>()},
      {"plugins", false, false, "Where plugins are searched for.", rules_of<PluginSettings>()},
      {"policy", false, false, "The model. The other keys are options of the component.",
       rules_of<PolicySettings>()},
      {"backend", false, true,
       "The evaluator of kernels. The other keys are options of the component.",
       rules_of<BackendSettings>()},
      {"dataset", true, true, "Tasks and examples. The other keys are options of the component.",
       rules_of<DatasetSettings>()},
      {"rollout", false, true, "How answers are sampled.", rules_of<RolloutSettings>(),
       "rl|search"},
      {"learn", false, true, "How the policy learns from the episodes of an iteration.",
       rules_of<LearnSettings>(), "rl"},
      {"curriculum", false, true, "Tiers of tasks that open one after another.",
       rules_of<CurriculumSettings>(), "rl|search"},
      {"archive", false, true,
       "Right kernels of the stage, with which later episodes begin: prompts show them as earlier turns.",
       rules_of<ArchiveSettings>(), "rl|search"},
      {"eval", false, true, "Measurements during a run, without learning.",
       rules_of<EvalSettings>()},
      {"prompt", false, true, "The prompts given to the model.", rules_of<PromptSettings>()},
      {"retrieval", false, true,
       "Documents in prompts, found by the dataset with role = \"retrieval\".",
       rules_of<RetrievalSettings>()},
      {"reward", true, true,
       "The terms of a turn's score. The other keys are options of the component.",
       rules_of<RewardSettings>(), "rl|search"},
      {"stage", true, false, "The stages of the run, executed in this order.",
       rules_of<StageSettings>()},
      {"checkpoint", false, false, "Checkpoints, from which a run can be resumed.",
       rules_of<CheckpointSettings>()},
      {"log", false, false, "Logs and metrics.", rules_of<LogSettings>()},
      {"python", false, false, "Where components in Python run.", rules_of<PythonSettings>()},
  };
  return kTables;
}

const TableRules& table_rules(std::string_view name) {
  const auto& tables = plan_schema();
  return *std::ranges::find_if(tables,
                               [name](const TableRules& table) { return table.name == name; });
}

const KeyRule* find_rule(std::string_view key) {
  const std::size_t dot = std::min(key.find('.'), key.size());
  const std::string_view name = key.substr(std::min(dot + 1, key.size()));
  for (const TableRules& table : plan_schema()) {
    if (table.name != key.substr(0, dot)) continue;
    for (const KeyRule& rule : table.keys) {
      const bool inside = rule.type == ValueType::kTable && name.starts_with(rule.key + ".");
      if (name == rule.key || inside) return &rule;
    }
  }
  return nullptr;
}

bool chooses(std::string_view key) {
  for (const TableRules& table : plan_schema()) {
    for (const KeyRule& rule : table.keys)
      if (rule.chooses && (key == rule.key || key.ends_with("." + rule.key))) return true;
  }
  return false;
}

}  // namespace krl::core
