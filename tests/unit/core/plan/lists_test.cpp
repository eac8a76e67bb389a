// What layers do to the lists of tables: replace them, which is noted, or add to them.
#include "core/plan/layers.hpp"

#include <gtest/gtest.h>

#include "core/plan/printer.hpp"
#include "tests/unit/core/plan/plan_loading.hpp"

namespace krl::core {
namespace {

using Texts = std::vector<std::string>;

constexpr const char* kPreset =
    "[[reward]]\nuse = \"correctness\"\n[[reward]]\nuse = \"speedup\"\nname = \"fast\"\n";

class Lists : public PlanLoading {
 protected:
  // A plan without [[reward]], which includes `preset` and continues with `more`.
  static std::string including(const std::string& preset, const std::string& more) {
    const std::string text = kSmall;
    return "include = [\"" + preset + "\"]\n" + text.substr(0, text.find("[[reward]]")) + more;
  }
  static Texts rewards(const Plan& plan, std::size_t stage = 1) {
    Texts names;
    for (const RewardSettings& reward : plan.stage(stage).rewards) names.push_back(reward.name);
    return names;
  }
  // The notes on lists, with names of files alone.
  Texts notes(const Plan& plan) const {
    Texts out;
    for (std::string note : plan.notes) {
      if (note.find("' list") == std::string::npos) continue;
      const std::string folder = folder_.string() + "/";
      for (std::size_t at; (at = note.find(folder)) != std::string::npos;) {
        note.erase(at, folder.size());
      }
      out.push_back(std::move(note));
    }
    return out;
  }
};

TEST_F(Lists, AnAdditionKeepsWhatIsThere) {
  write("rewards.toml", kPreset);
  const Plan p =
      plan(including("rewards.toml", "[[add.reward]]\nuse = \"speedup\"\nweight = 0.5\n"));
  EXPECT_EQ(rewards(p), (Texts{"correctness", "fast", "speedup"}));
  EXPECT_EQ(p.stage(1).rewards[2].weight, 0.5);
  EXPECT_EQ(notes(p), Texts{});
}

TEST_F(Lists, AnAdditionBeginsAListThatIsNotThere) {
  write("part.toml", "[run]\nseed = 1\n");
  const Plan p = plan(including("part.toml", "[[add.reward]]\nuse = \"speedup\"\n"));
  EXPECT_EQ(rewards(p), Texts{"speedup"});
}

TEST_F(Lists, AFileOfAdditionsAddsToTheIncludesBeforeIt) {
  write("rewards.toml", kPreset);
  write("short.toml", "[[add.reward]]\nuse = \"speedup\"\n");
  std::string text = including("rewards.toml", "");
  text.replace(0, text.find('\n'), "include = [\"rewards.toml\", \"short.toml\"]");
  EXPECT_EQ(rewards(plan(text)), (Texts{"correctness", "fast", "speedup"}));
}

TEST_F(Lists, DatasetsAndStagesAreAddedToo) {
  const Plan p = plan(std::string(kSmall) +
                      "[[add.dataset]]\nuse = \"tasks\"\npath = \"more\"\n[[add.stage]]\nname = "
                      "\"again\"\nkind = \"rl\"\niterations = 1\n");
  ASSERT_EQ(p.stages.size(), 3u);
  EXPECT_EQ(p.stages[2].name, "again");
  ASSERT_EQ(p.stage(2).datasets.size(), 3u);
  EXPECT_EQ(p.stage(2).datasets[2].options["path"], (folder_ / "more").string());
}

TEST_F(Lists, AStageAddsToThePlansList) {
  const std::string more =
      "[[add.stage]]\nname = \"fast\"\nkind = \"rl\"\niterations = 1\n[[add.stage]]\nname = "
      "\"own\"\nkind = \"rl\"\niterations = 1\n";
  const Plan p = plan(std::string(kSmall) + more,
                      {"stage.fast.add.reward=[{ use = \"speedup\" }]",
                       "stage.own.add.reward=[{ use = \"speedup\", name = \"b\" }]",
                       "stage.own.reward=[{ use = \"speedup\", name = \"a\" }]"});
  EXPECT_EQ(rewards(p, 1), Texts{"correctness"});
  EXPECT_EQ(rewards(p, 2), (Texts{"correctness", "speedup"}));
  EXPECT_EQ(rewards(p, 3), (Texts{"a", "b"}));

  std::string in_file = kSmall;
  in_file.insert(in_file.find("[[reward]]"), "[[stage.add.reward]]\nuse = \"speedup\"\n");
  EXPECT_EQ(rewards(plan(in_file)), (Texts{"correctness", "speedup"}));
  EXPECT_EQ(rewards(plan(in_file, {"stage.reinforce.add.reward=[{ use = \"speedup\", name = "
                                   "\"more\" }]"})),
            (Texts{"correctness", "speedup", "more"}));
}

TEST_F(Lists, TheResolvedPlanHasTheListsInFull) {
  write("rewards.toml", kPreset);
  std::string text = including("rewards.toml", "");
  text += "[[stage.add.reward]]\nuse = \"speedup\"\n";
  text += "[[add.reward]]\nuse = \"correctness\"\nname = \"right\"\n";
  const Plan first = plan(text);
  const std::string printed = print_plan(first);
  EXPECT_EQ(printed.find("add"), std::string::npos) << printed;
  const Plan again = plan(printed);
  EXPECT_EQ(rewards(again), rewards(first));
  EXPECT_EQ(rewards(again), (Texts{"correctness", "fast", "right", "speedup"}));
  EXPECT_EQ(print_plan(again), printed);
  EXPECT_EQ(notes(again), Texts{});
}

TEST_F(Lists, ArgumentsAddInAnyOrder) {
  const Texts arguments = {"reward.x.weight=3", "add.reward=[{ use = \"speedup\", name = \"x\" }]",
                           "reward=[{ use = \"speedup\" }]"};
  for (const auto& [a, b, c] : {std::tuple(0, 1, 2), std::tuple(2, 1, 0), std::tuple(1, 2, 0)}) {
    const Plan p = plan(kSmall, {arguments[a], arguments[b], arguments[c]});
    EXPECT_EQ(rewards(p), (Texts{"speedup", "x"}));
    EXPECT_EQ(p.stage(1).rewards[1].weight, 3.0);
  }
}

TEST_F(Lists, AReplacedListIsNoted) {
  write("rewards.toml", kPreset);
  const std::string text = including("rewards.toml", "[[reward]]\nuse = \"speedup\"\n");
  EXPECT_EQ(notes(plan(text)),
            Texts{"plan.toml:19:1: note: this 'reward' list replaces the one at rewards.toml:1 and "
                  "drops 'correctness' and 'fast'; [[add.reward]] appends instead"});
  EXPECT_EQ(notes(plan(kSmall, {"reward=[{ use = \"speedup\" }]"})),
            Texts{"--set:1:9: note: this 'reward' list replaces the one at plan.toml:18 and drops "
                  "'correctness'; --set 'add.reward=[…]' appends instead"});
}

TEST_F(Lists, AStagesOwnListIsNoted) {
  std::string text = kSmall;
  text.insert(text.find("[[reward]]"), "[[stage.reward]]\nuse = \"speedup\"\n");
  EXPECT_EQ(
      notes(plan(text)),
      Texts{"plan.toml:18:1: note: this 'reward' list of stage 'reinforce' replaces the one at "
            "plan.toml:20 and drops 'correctness'; [[stage.add.reward]] appends instead"});
  EXPECT_EQ(notes(plan(kSmall, {"stage.reinforce.reward=[{ use = \"speedup\" }]"})),
            Texts{"--set:1:25: note: this 'reward' list of stage 'reinforce' replaces the one at "
                  "plan.toml:18 and drops 'correctness'; --set 'stage.reinforce.add.reward=[…]' "
                  "appends instead"});
}

TEST_F(Lists, NothingIsNotedWhereNothingIsLost) {
  write("rewards.toml", kPreset);
  const std::string all =
      "[[reward]]\nuse = \"correctness\"\nweight = 2\n[[reward]]\nuse = "
      "\"correctness\"\nname = \"fast\"\n";
  EXPECT_EQ(notes(plan(including("rewards.toml", all))), Texts{});
  // A stage of rl has no use for examples, one of sft has none for tasks.
  EXPECT_EQ(notes(plan(kSmall, {"stage.reinforce.dataset=[{ use = \"tasks\", path = \"x\" }]",
                                "stage.warm-up.dataset=[{ use = \"templates\", role = "
                                "\"warmup\" }]"})),
            Texts{});
}

TEST_F(Lists, EqualNamesAreCounted) {
  const std::string tasks = "{ use = \"tasks\", path = \"x\" }";
  write("data.toml", "dataset = [" + tasks + ", " + tasks + ", " + tasks + "]\n");
  const Texts noted = notes(plan("include = [\"data.toml\"]\n" + std::string(kSmall)));
  ASSERT_EQ(noted.size(), 1u);
  EXPECT_NE(noted[0].find("drops 'tasks' and 'tasks';"), std::string::npos) << noted[0];
}

}  // namespace
}  // namespace krl::core
