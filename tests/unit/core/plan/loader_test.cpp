#include "core/plan/loader.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "core/plan/printer.hpp"
#include "core/plan/source.hpp"
#include "tests/unit/core/plan/plan_loading.hpp"

namespace krl::core {
namespace {

namespace fs = std::filesystem;

class Loader : public PlanLoading {};

TEST_F(Loader, FillsInTheDocumentedDefaults) {
  const Plan p = plan(kSmall);
  EXPECT_EQ(p.run.name, "plan");
  EXPECT_EQ(p.run.directory, fs::current_path() / "runs" / "plan");
  const Settings& s = p.stage(1);
  EXPECT_EQ(s.rollout.groups, 16);
  EXPECT_EQ(s.rollout.group_size, 8);
  EXPECT_EQ(s.rollout.top_k, -1);
  EXPECT_EQ(s.learn.returns.discount, 0.4);
  EXPECT_EQ(s.learn.advantage, AdvantageKind::kGrpo);
  EXPECT_EQ(s.learn.loss.name, "ppo");
  EXPECT_EQ(s.learn.optimizer.beta2, 0.95);
  EXPECT_EQ(s.learn.minibatches, 4);
  EXPECT_TRUE(s.learn.drop_zero_variance);
  EXPECT_FALSE(s.curriculum.enabled);
  EXPECT_EQ(p.stages[0].kind, StageKind::kSft);
  EXPECT_EQ(p.stages[0].sft.batch_size, 16);
  EXPECT_EQ(p.stages[0].sft.optimizer.schedule, Schedule::kCosine);
  EXPECT_EQ(p.stages[1].rl.iterations, 3);
  EXPECT_FALSE(p.stages[1].rl.until);
  EXPECT_EQ(p.checkpoint.keep, 3);
}

TEST_F(Loader, GivesALossOnlyItsOwnParameters) {
  const auto parameters = [this](const std::string& loss) {
    const Plan p = plan(std::string(kSmall) + "[learn]\nloss.name = \"" + loss + "\"\n");
    std::map<std::string, double> values;
    for (const LossParameter& parameter : p.stage(1).learn.loss.parameters) {
      values[parameter.name] = parameter.value;
    }
    return values;
  };
  using Values = std::map<std::string, double>;
  const Values always = {{"entropy", 0.0}, {"kl", 0.0}, {"kl_estimator", 3.0}, {"tis", 2.0}};
  const auto with = [&always](Values more) {
    more.insert(always.begin(), always.end());
    return more;
  };
  EXPECT_EQ(parameters("ppo"), with({{"clip_low", 0.2}, {"clip_high", 0.28}, {"dual_clip", 3.0}}));
  EXPECT_EQ(parameters("cispo"), with({{"clip_low", 1.0}, {"clip_high", 4.0}}));
  EXPECT_EQ(parameters("gspo"), with({{"clip_low", 3e-4}, {"clip_high", 4e-4}}));
  EXPECT_EQ(parameters("importance_sampling"), always);
}

TEST_F(Loader, LayersGoFromIncludesToArguments) {
  write("inner/deep.toml", "[rollout]\ngroups = 1\ngroup_size = 2\nturns = 3\nmax_tokens = 4\n");
  write("inner/middle.toml", "include = [\"deep.toml\"]\n[rollout]\ngroup_size = 20\nturns = 30\n");
  const Plan p =
      plan("include = [\"inner/middle.toml\"]\n" + std::string(kSmall) + "[rollout]\nturns = 31\n",
           {"rollout.max_tokens=400"});
  const RolloutSettings& r = p.stage(1).rollout;
  EXPECT_EQ(r.groups, 1);
  EXPECT_EQ(r.group_size, 20);
  EXPECT_EQ(r.turns, 31);
  EXPECT_EQ(r.max_tokens, 400);
}

TEST_F(Loader, ListsOfALowerLayerAreReplaced) {
  write("rewards.toml", "[[reward]]\nuse = \"speedup\"\n[[reward]]\nuse = \"correctness\"\n");
  const Plan p = plan("include = [\"rewards.toml\"]\n" + std::string(kSmall));
  ASSERT_EQ(p.stage(1).rewards.size(), 1u);
  EXPECT_EQ(p.stage(1).rewards[0].use, "correctness");
}

TEST_F(Loader, AFileMayBeIncludedTwiceButNotInItself) {
  write("a.toml", "[run]\nseed = 1\n");
  write("b.toml", "include = [\"a.toml\"]\n");
  EXPECT_EQ(plan("include = [\"a.toml\", \"b.toml\"]\n" + std::string(kSmall)).run.seed, 1u);
  write("c.toml", "include = [\"c.toml\"]\n");
  EXPECT_NE(errors("include = [\"c.toml\"]\n").find("includes itself"), std::string::npos);
}

TEST_F(Loader, IncludesThatDoubleAtEachLevelEnd) {
  for (int i = 0; i < 40; ++i) {
    const std::string next = "\"" + std::to_string(i + 1) + ".toml\"";
    write(std::to_string(i) + ".toml", "include = [" + next + ", " + next + "]\n");
  }
  write("40.toml", "");
  EXPECT_NE(errors("include = [\"0.toml\"]\n").find("at most 64 files"), std::string::npos);
}

TEST_F(Loader, ArgumentsNameElementsByNumberAndByName) {
  const Plan p = plan(kSmall, {"stage.1.iterations=7", "stage.warm-up.epochs=9",
                               "reward.correctness.weight=2", "dataset.1.count=5"});
  EXPECT_EQ(p.stages[1].rl.iterations, 7);
  EXPECT_EQ(p.stages[0].sft.epochs, 9);
  EXPECT_EQ(p.stage(1).rewards[0].weight, 2.0);
  EXPECT_EQ(p.stage(1).datasets[1].options["count"], 5);
}

TEST_F(Loader, ArgumentsTakeTomlAndBareWords) {
  const Plan p = plan(kSmall, {"run.name=other-name", "run.seed=3", "rollout.stop=[\"a\", \"b\"]",
                               "policy.model={ layers = 2 }"});
  EXPECT_EQ(p.run.name, "other-name");
  EXPECT_EQ(p.run.seed, 3u);
  EXPECT_EQ(p.stage(1).rollout.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(p.policy.options["model"]["layers"], 2);
}

TEST_F(Loader, ABareWordIsAStringWhereAStringIsMeant) {
  for (const char* word :
       {"4layers", "2026-11-22", "10:30:00", "nan", "inf", "true", "12", "1e3", "1_000", "a+b@c"}) {
    const Plan p = plan(kSmall, {"policy.use=openai", "policy.model=" + std::string(word)});
    EXPECT_EQ(p.policy.options["model"], word);
  }
  const Plan p = plan(kSmall, {"run.name=4layers", "reward.0.name=7", "policy.model=nan",
                               "rollout.groups=12", "rollout.temperature=1e-1"});
  EXPECT_EQ(p.run.name, "4layers");
  EXPECT_EQ(p.stage(1).rewards[0].name, "7");
  EXPECT_EQ(p.policy.options["model"], (fs::current_path() / "nan").string());
  EXPECT_EQ(p.stage(1).rollout.groups, 12);
  EXPECT_EQ(p.stage(1).rollout.temperature, 0.1);
  EXPECT_NE(errors(kSmall, {"rollout.groups=4layers"}).find("must be an integer, not a string"),
            std::string::npos);
  EXPECT_NE(errors(kSmall, {"learn.optimizer.lr=inf"}).find("must be a finite number"),
            std::string::npos);
}

TEST_F(Loader, ArgumentsNameElementsWithDots) {
  const std::string text =
      std::string(kSmall) +
      "[[reward]]\nuse = \"speedup\"\nname = \"vendor.fast\"\n[[reward]]\nuse "
      "= \"speedup\"\nname = \"vendor\"\n[[reward]]\nuse = \"speedup\"\nname = "
      "\"two words\"\n[[reward]]\nuse = \"speedup\"\nname = \"3\"\n";
  const Plan p = plan(text, {"reward.vendor.fast.weight=2", "reward.vendor.weight=3",
                             "reward.\"two words\".weight=4", "reward.\"3\".weight=5",
                             "reward.3.weight=6", "backend.limits.\"a=b.c\"=7"});
  const auto& rewards = p.stage(1).rewards;
  EXPECT_EQ(rewards[1].weight, 2.0);
  EXPECT_EQ(rewards[2].weight, 3.0);
  EXPECT_EQ(rewards[3].weight, 6.0);  // by its number
  EXPECT_EQ(rewards[4].weight, 5.0);
  EXPECT_EQ(p.stage(1).backend.options["limits"]["a=b.c"], 7);
  const Plan quoted = plan(text, {"reward.'vendor.fast'.cap=2", "reward.\"vendor\".cap=3"});
  EXPECT_EQ(quoted.stage(1).rewards[1].options["cap"], 2.0);
  EXPECT_EQ(quoted.stage(1).rewards[2].options["cap"], 3.0);
}

TEST_F(Loader, AnotherComponentTakesTheOldOnesOptionsAway) {
  const std::string text = std::string(kSmall) + "[policy.model]\nlayers = 2\n";
  // In either order: the choice comes first.
  const Plan p = plan(text, {"policy.model=gpt", "policy.use=openai"});
  EXPECT_EQ(p.policy.use, "openai");
  EXPECT_EQ(p.policy.options["model"], "gpt");
  EXPECT_FALSE(p.policy.options.contains("device"));
  const Plan lists =
      plan(text, {"policy.use=openai", "policy.model=gpt", "policy.base_urls=[\"http://a\"]"});
  EXPECT_TRUE(lists.policy.options.contains("base_urls"));
}

TEST_F(Loader, AnotherRewardKeepsItsWeight) {
  const std::string text = std::string(kSmall) + "weight = 0.3\npartial = true\n";
  const RewardSettings reward = plan(text, {"reward.0.use=speedup"}).stage(1).rewards[0];
  EXPECT_EQ(reward.use, "speedup");
  EXPECT_EQ(reward.weight, 0.3);
  EXPECT_FALSE(reward.options.contains("partial"));
}

TEST_F(Loader, AStageOverridesTables) {
  const Plan p = plan(std::string(kSmall) + R"(
[learn]
loss = { dual_clip = 4.0, kl = 0.1 }
optimizer = { schedule = "cosine", min_lr = 0.1 }
[[stage]]
name = "fast"
kind = "rl"
iterations = 1
until = "pass_rate > 0.9 and iteration >= 2 and reward/speed/mean > 1"
  [stage.rollout]
  turns = 2
  [stage.learn]
  loss.name = "gspo"
  optimizer.schedule = "constant"
  [[stage.reward]]
  use = "speedup"
  name = "speed"
)");
  const Settings& s = p.stage(2);
  EXPECT_EQ(s.rollout.turns, 2);
  EXPECT_EQ(s.rollout.groups, 16);
  EXPECT_EQ(s.learn.loss.name, "gspo");
  const auto value_of = [&](const char* name) {
    double value = -1;
    for (const LossParameter& parameter : s.learn.loss.parameters)
      if (parameter.name == name) value = parameter.value;
    return value;
  };
  EXPECT_EQ(value_of("dual_clip"), -1) << "of the loss that the stage does not have";
  EXPECT_EQ(value_of("kl"), 0.1) << "of every loss";
  ASSERT_EQ(s.rewards.size(), 1u);
  EXPECT_EQ(s.rewards[0].name, "speed");
  EXPECT_EQ(p.stage(1).rollout.turns, 1);
  EXPECT_EQ(p.stage(1).learn.optimizer.min_lr, 0.1);
  ASSERT_TRUE(p.stages[2].rl.until);
  EXPECT_EQ(p.stages[2].rl.until->origin.line, 28u);
}

TEST_F(Loader, PathsStartAtTheFileThatSetThem) {
  write("part/data.toml", "[[dataset]]\nuse = \"tasks\"\npath = \"more\"\n");
  std::string text = kSmall;
  text.erase(text.find("[[dataset]]"), text.find("[[stage]]") - text.find("[[dataset]]"));
  text.erase(text.find("[[stage]]"),
             text.find("[[stage]]\nname = \"reinforce\"") - text.find("[[stage]]"));
  const Plan p = plan("include = [\"part/data.toml\"]\n" + text + "[plugins]\npath = [\"p\"]\n",
                      {"dataset.0.path=here"});
  EXPECT_EQ(p.stage(0).datasets[0].options["path"], (fs::current_path() / "here").string());
  EXPECT_EQ(p.plugins.path, std::vector<fs::path>{folder_ / "p"});
  EXPECT_EQ(p.stage(0).backend.options["cache"], (folder_ / "cache").string());
  const Plan q = plan("include = [\"part/data.toml\"]\n" + text);
  EXPECT_EQ(q.stage(0).datasets[0].options["path"], (folder_ / "part" / "more").string());
}

TEST_F(Loader, ATableOrAPlainPath) {
  EXPECT_EQ(plan(kSmall).policy.options["model"]["layers"], 4);
  EXPECT_EQ(plan(kSmall, {"policy.model=weights"}).policy.options["model"],
            (fs::current_path() / "weights").string());
}

TEST_F(Loader, WholeNumbersAreNumbers) {
  const Plan p = plan(kSmall, {"rollout.temperature=1", "policy.model.dropout=1"});
  EXPECT_EQ(p.stage(1).rollout.temperature, 1.0);
  EXPECT_TRUE(p.policy.options["model"]["dropout"].is_number_float());
}

TEST_F(Loader, APathThatIsNotThereIsNoted) {
  const std::string note =
      "plan.toml:7:8: note: 'path' of dataset 'tasks' is " + (folder_ / "mine").string();
  std::string text = kSmall;
  text.replace(text.find("\"tasks\"", text.find("path")), 7, "\"mine\"");
  const Plan absent = plan(text);
  ASSERT_EQ(absent.notes.size(), 1u);  // two stages share the dataset; a default is not asked for
  EXPECT_NE(absent.notes[0].find(note + ", which does not exist"), std::string::npos)
      << absent.notes[0];
  fs::create_directories(folder_ / "mine");
  EXPECT_TRUE(plan(text).notes.empty());
  const Plan weights = plan(text, {"policy.model=weights"});
  ASSERT_EQ(weights.notes.size(), 1u);
  EXPECT_NE(weights.notes[0].find("--set:1:14: note: 'model' of policy"), std::string::npos);
}

TEST_F(Loader, APlanNeedsNoStageToBeEvaluated) {
  std::string text = kSmall;
  text.erase(text.find("[[stage]]"), text.find("[[reward]]") - text.find("[[stage]]"));
  const Plan p = plan(text, {"rollout.turns=2"});
  EXPECT_TRUE(p.stages.empty());
  ASSERT_EQ(p.in_force().size(), 1u);
  EXPECT_EQ(p.in_force()[0]->backend.use, "cpu");
  EXPECT_EQ(p.in_force()[0]->rollout.turns, 2);
  EXPECT_EQ(p.in_force()[0]->rewards.size(), 1u);
  EXPECT_EQ(plan(kSmall).in_force().size(), 2u);
  EXPECT_NE(errors(text, {"rollout.stop_when=\"nonsense > 1\""}).find("'stop_when' names"),
            std::string::npos);
}

TEST_F(Loader, ThePluginsOfThePlanAreAskedFor) {
  PluginSettings asked;
  const auto source = [&asked](const PluginSettings& plugins) -> Result<Catalog> {
    asked = plugins;
    Catalog catalog = test_catalog();
    catalog.replaced = {"reward.speedup"};
    return catalog;
  };
  const auto file = write("plan.toml", std::string(kSmall) +
                                           "[plugins]\npath = [\"a\", \"/b\"]\n"
                                           "replace = [\"reward.speedup\"]\n");
  const auto plan = load_plan(file, {}, source);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(asked.path, (std::vector<fs::path>{folder_ / "a", "/b"}));
  EXPECT_EQ(asked.replace, std::vector<std::string>{"reward.speedup"});
  EXPECT_EQ(plan->plugins.replace, asked.replace);
}

TEST_F(Loader, TheResolvedPlanLoadsToItself) {
  const std::string text = std::string(kSmall) + R"(
[policy.model]
layers = 2
[curriculum]
window = 5
[prompt]
system = "tab \t, quote \", backslash \\, line\nend, bell \u0007, ä"
[learn]
optimizer = { lr = 2e-4 }
[[stage]]
name = "two \"words\""
kind = "rl"
iterations = 1
until = "pass_rate > 0.9"
  [stage.backend]
  flags = ["-O1", { "odd key" = [1, 2.0, true] }]
  [[stage.reward]]
  use = "speedup"
)";
  const std::string first = print_plan(plan(text));
  fs::create_directories(folder_ / "elsewhere");
  const auto again = load_file(write("elsewhere/other.toml", first));
  ASSERT_TRUE(again) << again.error().message << first;
  EXPECT_EQ(print_plan(*again), first);
  EXPECT_EQ(again->stage(2).backend.options, plan(text).stage(2).backend.options);
  const auto annotated =
      load_file(write("elsewhere/third.toml", print_plan(plan(text), ShowOrigins::kYes)));
  ASSERT_TRUE(annotated) << annotated.error().message;
  EXPECT_EQ(print_plan(*annotated), first);
}

TEST_F(Loader, EveryValueShowsWhereItCameFrom) {
  const std::string shown = print_plan(plan(kSmall, {"run.seed=3"}), ShowOrigins::kYes);
  const auto line_of = [&shown](const std::string& start) {
    const std::size_t at = shown.find("\n" + start) + 1;
    return shown.substr(at, shown.find('\n', at) - at);
  };
  EXPECT_TRUE(line_of("seed").ends_with("# --set:1:10")) << line_of("seed");
  EXPECT_TRUE(line_of("threads").ends_with("# default")) << line_of("threads");
  EXPECT_TRUE(line_of("iterations").ends_with("plan.toml:17:14")) << line_of("iterations");
}

TEST_F(Loader, ALaterErrorShowsTheLine) {
  const Plan p = plan(kSmall);
  const Error error = problem_at(p.stage(1).rewards[0].origin, "it needs registers", "drop it");
  EXPECT_TRUE(
      error.message.ends_with("plan.toml:19:7: error: it needs registers\n"
                              "  19 | use = \"correctness\"\n"
                              "     |       ^~~~~~~~~~~~~ drop it\n"))
      << error.message;
}

TEST_F(Loader, RefusesWhatIsNoFile) {
  const auto message = [](const fs::path& file) {
    const auto loaded = load_file(file);
    return loaded ? std::string() : loaded.error().message;
  };
  EXPECT_NE(message(folder_).find("is a folder"), std::string::npos);
  EXPECT_NE(message(folder_ / "absent").find("No such file"), std::string::npos);
  EXPECT_NE(message("/dev/zero").find("not a regular file"), std::string::npos);
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(message(pipe).find("not a regular file"), std::string::npos);
  EXPECT_NE(message(write("large", std::string(2 << 20, '#'))).find("larger than"),
            std::string::npos);
}

TEST_F(Loader, HostileTextsAreErrors) {
  const auto repeated = [](const std::string& text, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += text;
    return out;
  };
  EXPECT_NE(errors(repeated("a.", 400000) + "a = 1\n").find("5000 dots"), std::string::npos);
  EXPECT_NE(errors("a" + repeated(".a", 4000) + " = 1\n").find("nested"), std::string::npos);
  EXPECT_FALSE(errors("a = " + repeated("[", 100000)).empty());
  EXPECT_FALSE(errors("a = " + repeated("{a=", 100000)).empty());
  EXPECT_FALSE(errors(std::string("\0\x7f\x45LF\xff\xfe\x80", 8)).empty());
  EXPECT_FALSE(errors("name = \"\xc3\x28\"\n").empty());
  EXPECT_FALSE(errors("").empty());
  EXPECT_NE(errors(repeated("[[x]]\n", 1000) + repeated("[[zz]]\n", 1000)).find("unknown"),
            std::string::npos);
  EXPECT_NE(errors("a = [" + repeated("1,", 200000) + "]\n").find("10000 values"),
            std::string::npos);
  std::string many;
  for (int i = 0; i < 500; ++i) many += "k" + std::to_string(i) + " = 1\n";
  EXPECT_NE(errors(many).find("more errors\n"), std::string::npos);
}

TEST_F(Loader, HostileArgumentsAreErrors) {
  const std::string deep(1000, '.');
  for (const std::string& argument :
       {std::string(), std::string("="), std::string("=1"), std::string("a"), deep + "=1",
        std::string("run.seed=1\nrun.threads = 2"), std::string("run.seed="),
        std::string("run.seed=1 2"), std::string("stage.99999999999999999999.x=1"),
        std::string("run=3"), std::string("stage.0=3"), std::string("stage.-1.name=\"x\"")}) {
    EXPECT_FALSE(errors(kSmall, {argument}).empty()) << argument;
  }
}

TEST(ConfigureComponent, ChecksAComponentAlone) {
  const Catalog catalog = test_catalog();
  const auto good = configure_component(Kind::kReward, "speedup", {"cap=2"}, catalog);
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(good->options, (nlohmann::json{{"cap", 2.0}, {"floor", 0.0}}));
  const auto wrong = configure_component(Kind::kReward, "speedup", {"cup=2"}, catalog);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message,
            "--set:1:1: error: unknown key 'cup' for reward 'speedup'\n"
            "  1 | cup=2\n"
            "    | ^~~ did you mean 'cap'?   known keys: cap, floor, isolation, use\n");
  EXPECT_FALSE(configure_component(Kind::kReward, "sped", {}, catalog));
}

}  // namespace
}  // namespace krl::core
