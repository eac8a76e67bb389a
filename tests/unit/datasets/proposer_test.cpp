#include "plugins/datasets/templates/proposer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include "plugins/datasets/templates/generator.hpp"

namespace krl::templates {
namespace {

TaskDefinition task_at(const Proposals& proposals, std::size_t index) {
  const auto& [family, operation] = proposals.places.at(index);
  const Operation& found = proposals.families[family].operations[operation];
  return Generator::task(proposals.families[family], found, canonical_names(found));
}

TEST(Proposer, SameSeedSameTasks) {
  const Proposals one = propose(3, 40, 4), same = propose(3, 40, 4), other = propose(4, 40, 4);
  int differ = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(to_json_text(task_at(one, i)), to_json_text(task_at(same, i)));
    differ += task_at(one, i).reference != task_at(other, i).reference ? 1 : 0;
  }
  EXPECT_GT(differ, 20);
}

TEST(Proposer, TasksAreDifferentAndGrowHarder) {
  const Proposals proposals = propose(1, 120, 6);
  ASSERT_EQ(proposals.places.size(), 120u);
  std::set<std::string> ids, contents;
  std::map<std::int64_t, int> tiers;
  std::int64_t last = 0;
  for (std::size_t i = 0; i < 120; ++i) {
    TaskDefinition task = task_at(proposals, i);
    const auto parsed = parse_task_definition(to_json_text(task));
    ASSERT_TRUE(parsed) << task.id << ": " << parsed.error();
    ids.insert(task.id);
    EXPECT_GE(task.tier, last);
    last = task.tier;
    ++tiers[task.tier];
    task.id = task.title = "";
    contents.insert(to_json_text(task));
  }
  EXPECT_EQ(ids.size(), 120u);
  EXPECT_EQ(contents.size(), 120u);
  EXPECT_EQ(tiers.size(), 6u);
  for (const auto& [tier, count] : tiers) EXPECT_EQ(count, 20) << tier;
}

TEST(Proposer, EveryStructureAxisTypeAndLayoutComesUp) {
  const Proposals proposals = propose(2, 300, 6);
  for (const Family& family : proposals.families)
    EXPECT_GE(family.operations.size(), 30u) << family.name;
  std::map<std::string, int> features;
  for (std::size_t i = 0; i < 300; ++i) {
    const std::string id = task_at(proposals, i).id;
    for (const char* feature : {"_columns", "_half", "_bf16", "_ta", "_tb", "_softmax", "_gate"})
      features[feature] += id.find(feature) != std::string::npos ? 1 : 0;
  }
  for (const auto& [feature, count] : features) EXPECT_GE(count, 5) << feature;
}

// A step that changes nothing after the one before it, or that the next one undoes.
TEST(Proposer, NoStepIsWithoutEffect) {
  const std::set<std::string> idle = {
      "relu_abs",         "abs_relu",        "square_abs",       "square_relu",
      "decay_abs",        "decay_relu",      "sigmoid_relu",     "sigmoid_abs",
      "centre_sum",       "centre_mean",     "layernorm_sum",    "layernorm_centre",
      "centre_layernorm", "layernorm_mean",  "shift_layernorm",  "shift_softmax",
      "shift_centre",     "shift_below_top", "shift_log_softmax"};
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Proposals proposals = propose(seed, 300, 5);
    for (std::size_t i = 0; i < 300; ++i) {
      const std::string id = task_at(proposals, i).id;
      if (id.find("_columns") != std::string::npos)
        continue;  // in which a row's shift has an effect
      for (const std::string& pair : idle) EXPECT_EQ(id.find("_" + pair), std::string::npos) << id;
    }
  }
}

TEST(Proposer, UnseenTasksAreNoOthers) {
  const auto contents = [](std::uint64_t seed, bool unseen) {
    const Proposals proposals = propose(seed, 60, 4, unseen);
    std::set<std::string> names;
    for (std::size_t i = 0; i < proposals.places.size(); ++i)
      names.insert(task_at(proposals, i).id);
    return names;
  };
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 8; ++seed) seen.merge(contents(seed, false));
  int own = 0;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    for (const std::string& name : contents(seed, true)) {
      EXPECT_EQ(seen.count(name), 0u) << name;
      ++own;
    }
  }
  EXPECT_EQ(own, 180);
}

TEST(Proposer, SaysIfThereAreNotThatMany) {
  EXPECT_THROW(propose(1, 200, 1), std::invalid_argument);
}

}  // namespace
}  // namespace krl::templates
