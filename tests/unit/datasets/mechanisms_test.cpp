// The mechanisms of generated pairs: parameters that stand once, and cells that are withheld.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kernelrl/values.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plugins/datasets/templates/cells.hpp"
#include "plugins/datasets/templates/generator.hpp"

namespace krl::templates {
namespace {

Family the_family(std::string_view name) {
  const auto found = std::find_if(all_families().begin(), all_families().end(),
                                  [&](const Family& family) { return family.name == name; });
  return *found;
}

GeneratorOptions with_mechanisms(std::vector<std::string> withhold = {}) {
  GeneratorOptions options;
  options.mechanisms = true;
  options.withhold = std::move(withhold);
  return options;
}

TEST(Mechanisms, APairIsAFunctionOfItsIndex) {
  const Generator one(all_families(), with_mechanisms()), two(all_families(), with_mechanisms());
  std::vector<std::string> backwards(200);
  for (std::uint64_t index = 200; index-- > 0;) backwards[index] = two.generate(index).answer;
  for (std::uint64_t index = 0; index < 200; ++index)
    EXPECT_EQ(one.generate(index).answer, backwards[index]);
}

// Another size is then one edit.
TEST(Mechanisms, EveryParameterStandsOnce) {
  int variants = 0;
  for (const Family& family : all_families()) {
    for (const Variant& variant : family.variants) {
      if (variant.mechanisms.empty()) continue;
      ++variants;
      for (const auto& [name, values] : variant.choices) {
        if (values.size() < 2) continue;  // a text, not a parameter
        const std::size_t at = variant.source.find("$" + name);
        EXPECT_NE(at, std::string::npos) << variant.name << " " << name;
        EXPECT_EQ(variant.source.find("$" + name, at + 1), std::string::npos)
            << family.name << "/" << variant.name << " writes " << name << " twice";
      }
    }
  }
  EXPECT_GE(variants, 70);
}

TEST(Mechanisms, NoFixedGridIsSmallerThanTheScale) {
  GeneratorOptions options = with_mechanisms();
  options.grid_scale = 64;
  std::vector<Family> families = all_families();
  std::erase_if(families, [](const Family& family) { return family.name != "elementwise"; });
  const Generator generator(families, options);
  std::set<int> grids;
  for (std::uint64_t index = 0; index < 400; ++index) {
    const std::string answer = generator.generate(index).answer;
    grids.insert(std::atoi(answer.c_str() + answer.find("<<<") + 3));
  }
  grids.erase(0);  // it depends on the size
  EXPECT_GE(*grids.begin(), 64);
  EXPECT_GE(grids.size(), 10U);
}

TEST(Mechanisms, EachIsShownOnAtLeastThreeOperations) {
  std::map<std::string, int> operations;
  for (const auto& [operation, mechanisms] : cells_of(all_families())) {
    for (const std::string& mechanism : mechanisms) ++operations[mechanism];
  }
  EXPECT_EQ(operations.size(), 9u);
  for (const auto& [mechanism, count] : operations) EXPECT_GE(count, 3) << mechanism;
}

// Neither as an answer nor as the kernel before it.
TEST(Mechanisms, WithheldCellsAreNeverDrawn) {
  GeneratorOptions options =
      with_mechanisms({"row_cache:softmax_rows", "block_tree:dot", "padded_tile:transpose"});
  options.improve = options.repair = 0.4;
  const Generator some(all_families(), options);
  std::map<std::string, std::set<std::string>> shown;
  for (std::uint64_t index = 0; index < 20'000; ++index) {
    const Pair pair = some.generate(index);
    shown[pair.task.id].insert(pair.mechanisms.begin(), pair.mechanisms.end());
    for (const std::string& text : {pair.answer, pair.earlier_answer.value_or("")}) {
      const bool of_block = text.find("__shared__ float sh[32]") != std::string::npos;
      if (pair.task.id == "softmax_rows") {
        EXPECT_EQ(text.find("float row[]"), std::string::npos) << text;
      } else if (pair.task.id == "dot") {
        EXPECT_FALSE(of_block) << text;
      } else if (pair.task.id == "transpose") {
        EXPECT_EQ(text.find("[33]"), std::string::npos) << text;
      }
    }
  }
  EXPECT_EQ(shown["softmax_rows"].count("row_cache"), 0u);
  EXPECT_EQ(shown["softmax_rows"].count("block_tree"), 1u) << "what else it shows stays";
  EXPECT_EQ(shown["rmsnorm_rows"].count("row_cache"), 1u);
}

TEST(Mechanisms, WithheldCellsThatCannotBeAreRefused) {
  const auto refusal = [](const std::vector<Family>& families, const GeneratorOptions& options) {
    try {
      const Generator none(families, options);
    } catch (const Failure& failure) {
      return std::string(failure.what());
    }
    return std::string();
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(refusal(all_families(), with_mechanisms({"row_cash:softmax_rows"})),
              HasSubstr("row_cache, shared_atomics"));
  EXPECT_THAT(refusal(all_families(), with_mechanisms({"row_cache:transpose"})),
              HasSubstr("rmsnorm_rows, softmax_rows"));
  GeneratorOptions without = with_mechanisms({"row_cache:softmax_rows"});
  without.mechanisms = false;
  EXPECT_THAT(refusal(all_families(), without), HasSubstr("needs mechanisms = true"));
  EXPECT_THAT(refusal({the_family("softmax"), the_family("cross_entropy")},
                      with_mechanisms({"row_cache:softmax_rows"})),
              HasSubstr("leaves 'row_cache' on 1 operations"));
}

}  // namespace
}  // namespace krl::templates
