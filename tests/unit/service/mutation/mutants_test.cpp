#include "service/mutation/mutants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "service/mutation/mutant_counts.hpp"

namespace krl::service {
namespace {

const Task kTask{"t", "", "", 0, "{}", {}};

std::vector<Original> originals() {
  return {{&kTask, "naive", "{ for (int i = 0; i < n; i++) s += x[i]; }"},
          {&kTask, "good", "{ int i = 1; }"}};
}

std::set<std::string> sources(const std::vector<Mutant>& mutants) {
  std::set<std::string> all;
  for (const Mutant& mutant : mutants)
    all.insert(changed(originals()[mutant.original].source, mutant.change));
  return all;
}

TEST(Mutants, FewerAreAmongMore) {
  const auto few = sources(derive_mutants(originals(), 10, 7));
  const auto more = sources(derive_mutants(originals(), 20, 7));
  EXPECT_EQ(few.size(), 10u);
  EXPECT_EQ(more.size(), 20u);
  EXPECT_TRUE(std::includes(more.begin(), more.end(), few.begin(), few.end()));
}

TEST(Mutants, FollowFromTheSeed) {
  EXPECT_EQ(sources(derive_mutants(originals(), 10, 7)),
            sources(derive_mutants(originals(), 10, 7)));
  EXPECT_NE(sources(derive_mutants(originals(), 10, 7)),
            sources(derive_mutants(originals(), 10, 8)));
}

TEST(Mutants, AreSharedAmongTheOriginals) {
  const auto mutants = derive_mutants(originals(), 10, 7);
  EXPECT_EQ(std::count_if(mutants.begin(), mutants.end(),
                          [](const Mutant& mutant) { return mutant.original == 0; }),
            5);
}

TEST(Mutants, AreDescribedByTheirPlace) {
  const std::vector<Original> list = {{&kTask, "naive", "{\n  if (a < b) c(); }"}};
  const auto mutants = derive_mutants(list, 100, 0);
  const auto bound = std::find_if(mutants.begin(), mutants.end(), [](const Mutant& mutant) {
    return mutant.change.kind == "bound_off_by_one";
  });
  ASSERT_NE(bound, mutants.end());
  EXPECT_EQ(describe(*bound, list[0]), "t/naive:2: bound_off_by_one: `<` -> `<=`");
}

TEST(MutantCounts, TellSharesOfThoseThatAreWrong) {
  MutantCounts counts;
  for (const Fate fate : {Fate::kInvalid, Fate::kSame, Fate::kClose, Fate::kBeyond})
    counts.add("t", "k", fate);
  EXPECT_EQ(counts.all.refused_share(), 1);
  for (const Fate fate : {Fate::kRefused, Fate::kRefused, Fate::kRefusedByPool, Fate::kSurvived})
    counts.add("t", "k", fate);
  EXPECT_EQ(counts.all.programs(), 7u);
  EXPECT_EQ(counts.all.wrong(), 4u);
  EXPECT_EQ(counts.all.refused_share(), 0.5);
  EXPECT_EQ(counts.by_task.at("t").refused_with_pool_share(), 0.75);
  EXPECT_EQ(to_json(counts)["by_kind"]["k"]["survived"], 1);
}

}  // namespace
}  // namespace krl::service
