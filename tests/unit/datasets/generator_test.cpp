#include "plugins/datasets/templates/generator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kernelrl/cuda_source.hpp>
#include <kernelrl/launch.hpp>
#include <kernelrl/values.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "plugins/datasets/tasks/task_files.hpp"
#include "plugins/datasets/templates/proposer.hpp"
#include "plugins/datasets/templates/slips.hpp"
#include "plugins/datasets/templates/task_families.hpp"

namespace krl::templates {
namespace {

Family family_named(std::string_view name) {
  for (const Family& family : all_families()) {
    if (family.name == name) return family;
  }
  return {};
}

Generator generator(GeneratorOptions options = {}) { return Generator(all_families(), options); }

TEST(Text, PlaceholdersAndExpressions) {
  const Scope scope = {
      {"x", "data"}, {"B", "128"}, {"half", "$(B / 2)"}, {"at", "$x[$i]"}, {"i", "idx"}};
  EXPECT_EQ(expand("\n$at += $(B * 4) + $half;", scope), "data[idx] += 512 + 64;");
  EXPECT_EQ(substitute("$unknown + $x + $(C)", scope), "$unknown + data + $(C)");
  EXPECT_THROW(expand("$unknown", scope), std::out_of_range);
  EXPECT_THROW(expand("$a", {{"a", "$b"}, {"b", "$a"}}), std::length_error);
}

TEST(Random, IsAFunctionOfSeedIndexAndCount) {
  Random a(1, 2), b(1, 2), c(1, 3), d(2, 2);
  const std::uint64_t first = a.next();
  EXPECT_EQ(first, b.next());
  EXPECT_NE(first, c.next());
  EXPECT_NE(first, d.next());
  EXPECT_NE(first, a.next());
  std::vector<int> counts(5, 0);
  for (int i = 0; i < 5000; ++i) ++counts[a.below(5)];
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
}

TEST(Generator, SameIndexSameItem) {
  const Generator one = generator({7, 0.5, 0.3, true}), two = generator({7, 0.5, 0.3, true});
  const Generator other = generator({8, 0.5, 0.3, true});
  std::vector<Pair> backwards(50);
  for (std::uint64_t index = 50; index-- > 0;) backwards[index] = two.generate(index);
  int differ = 0;
  for (std::uint64_t index = 0; index < 50; ++index) {
    const Pair pair = one.generate(index);
    EXPECT_EQ(pair.answer, backwards[index].answer);
    EXPECT_EQ(pair.earlier_answer, backwards[index].earlier_answer);
    EXPECT_EQ(to_json_text(pair.task), to_json_text(backwards[index].task));
    differ += pair.answer != other.generate(index).answer ? 1 : 0;
  }
  EXPECT_GT(differ, 45);
}

TEST(Generator, RandomNamesMakeNearlyEveryPairUnique) {
  const Generator random = generator({1, 0.0, 0.0, false}),
                  canonical = generator({1, 1.0, 0.0, false});
  std::set<std::string> random_answers, canonical_answers;
  for (std::uint64_t index = 0; index < 400; ++index) {
    random_answers.insert(random.generate(index).answer);
    canonical_answers.insert(canonical.generate(index).answer);
  }
  EXPECT_GE(random_answers.size(), 396u);
  EXPECT_GE(canonical_answers.size(), 200u);
}

TEST(Generator, EveryFamilyAndVariantComesUp) {
  std::set<std::string> wanted, seen;
  for (const Family& family : all_families()) {
    for (const Variant& variant : family.variants) {
      if (variant.mechanisms.empty()) wanted.insert(family.name + "/" + variant.name);
    }
  }
  const Generator all = generator();
  for (std::uint64_t index = 0; index < 6000; ++index) {
    const Pair pair = all.generate(index);
    seen.insert(pair.family + "/" + pair.variant);
  }
  EXPECT_EQ(seen, wanted);
  EXPECT_GE(all_families().size(), 40u);
  EXPECT_GE(wanted.size(), 160u);
}

TEST(Generator, EveryPairIsAValidTaskWithAReadableAnswer) {
  const Generator all = generator({3, 0.5, 0.2, false});
  for (std::uint64_t index = 0; index < 400; ++index) {
    const Pair pair = all.generate(index);
    const auto task = parse_task_definition(to_json_text(pair.task));
    ASSERT_TRUE(task) << pair.task.id << ": " << task.error();
    EXPECT_EQ(pair.answer.rfind("<KERNEL>\n```cuda\n// @", 0), 0u) << pair.answer;
    EXPECT_NE(pair.answer.find("}\n```\n</KERNEL>"), std::string::npos);
    EXPECT_EQ(pair.answer.find('$'), std::string::npos) << pair.answer;
    const auto launches = read_launches(pair.answer, *task);
    ASSERT_TRUE(launches) << launches.error().message << "\n" << pair.answer;
    for (const IntegerNames& sizes : task->cases) {
      const auto resolved = resolve_case(*task, sizes);
      ASSERT_TRUE(resolved);
      EXPECT_TRUE(resolve_launches(*launches, *resolved)) << pair.answer;
    }
    EXPECT_EQ(pair.earlier_answer.has_value(), !pair.slip.empty());
    EXPECT_NE(pair.earlier_answer.value_or(""), pair.answer);
  }
}

TEST(Generator, SharesAreKept) {
  const Generator half = generator({5, 0.5, 0.25, false});
  int canonical = 0, repairs = 0;
  std::map<std::string, std::string> outputs;  // the canonical name of each operation's
  for (const Family& family : all_families()) {
    for (const Operation& operation : family.operations) {
      outputs[operation.id] = operation.outputs.front().name;
    }
  }
  for (std::uint64_t index = 0; index < 1000; ++index) {
    const Pair pair = half.generate(index);
    canonical += outputs.at(pair.task.id) == pair.task.outputs.front().name ? 1 : 0;
    repairs += pair.earlier_answer ? 1 : 0;
  }
  EXPECT_NEAR(canonical, 505, 60);  // a random name is the canonical one now and then
  EXPECT_NEAR(repairs, 250, 60);
}

TEST(Generator, NaiveAnswersComeAsOftenAsAsked) {
  GeneratorOptions options;
  options.naive = 0.8;
  const Generator mostly_naive = generator(options);
  int naive = 0;
  for (std::uint64_t index = 0; index < 1000; ++index) {
    const Pair pair = mostly_naive.generate(index);
    for (const Family& family : all_families())
      naive += family.name == pair.family && family.variants.front().name == pair.variant ? 1 : 0;
  }
  EXPECT_GT(naive, 800);
  EXPECT_LT(naive, 950);
}

TEST(Generator, BlocksAreAsSmallAsAsked) {
  GeneratorOptions options;
  options.max_block = 128;
  const Generator small({family_named("row_reduction"), family_named("total_reduction")}, options);
  std::set<std::string> variants;
  for (std::uint64_t index = 0; index < 300; ++index) {
    const Pair pair = small.generate(index);
    for (const char* larger : {", 256>>>", ", 512>>>"})
      EXPECT_EQ(pair.answer.find(larger), std::string::npos) << pair.answer;
    variants.insert(pair.variant);
  }
  EXPECT_GE(variants.size(), 5u);
}

TEST(Generator, ABlockSizeThatExcludesTheNaiveKernelIsRefused) {
  GeneratorOptions options;
  options.max_block = 64;
  try {
    const Generator none({family_named("total_reduction")}, options);
    FAIL() << "its naive kernel has blocks of 128";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), ::testing::HasSubstr("without its naive kernel"));
  }
  const Generator tiles({family_named("matmul")}, options);
  for (std::uint64_t index = 0; index < 200; ++index)
    EXPECT_EQ(tiles.generate(index).answer.find("16"), std::string::npos) << "no draw is kept";
}

TEST(Generator, FixedGridsAreAsLargeAsAsked) {
  GeneratorOptions options;
  const Generator usual({family_named("total_reduction")}, options);
  options.grid_scale = 32;
  const Generator large({family_named("total_reduction")}, options);
  int scaled = 0;
  for (std::uint64_t index = 0; index < 100; ++index) {
    const std::string before = usual.generate(index).answer, after = large.generate(index).answer;
    const auto blocks = [](const std::string& answer) {
      const auto launch = answer.find("<<<");
      return std::atoi(answer.c_str() + launch + 3);  // 0: it depends on the size
    };
    if (blocks(before) > 1) {
      EXPECT_EQ(blocks(after), 32 * blocks(before)) << after;
      ++scaled;
    } else {
      EXPECT_EQ(after, before);
    }
  }
  EXPECT_GE(scaled, 20);
}

TEST(Generator, AThoughtComesFirstIfWanted) {
  const Pair pair = generator({5, 0.5, 0.0, true}).generate(0);
  EXPECT_EQ(pair.answer.rfind("<think>", 0), 0u);
  EXPECT_NE(pair.answer.find("</think>\n<KERNEL>"), std::string::npos);
}

// Canonical pairs must show the very prompts that training will show.
TEST(Generator, CanonicalTasksAreThoseOfTheConfigs) {
  std::map<std::string, TaskDefinition> configured;
  for (const TaskDefinition& task : tasks::load_tasks(KERNELRL_SOURCE_DIR "/configs/tasks").tasks) {
    configured[task.id] = task;
  }
  const auto tensors = [](const std::vector<TensorDefinition>& list) {
    std::string text;
    for (const TensorDefinition& t : list) {
      text +=
          t.name + " " + std::string(name_of(t.dtype)) + " " + std::string(name_of(t.values)) + "[";
      for (const std::string& size : t.shape) text += size + ",";
      text += "] ";
    }
    return text;
  };
  for (const Family& family : all_families()) {
    for (const Operation& operation : family.operations) {
      const auto found = configured.find(operation.id);
      EXPECT_EQ(operation.canonical, found != configured.end()) << operation.id;
      if (found == configured.end()) continue;
      const TaskDefinition made = Generator::task(family, operation, canonical_names(operation));
      const TaskDefinition& task = found->second;
      EXPECT_EQ(made.prompt, task.prompt);
      EXPECT_EQ(made.title, task.title);
      EXPECT_EQ(made.tier, task.tier) << task.id;
      EXPECT_EQ(tensors(made.inputs), tensors(task.inputs)) << task.id;
      EXPECT_EQ(tensors(made.outputs), tensors(task.outputs)) << task.id;
      ASSERT_EQ(made.scalars.size(), task.scalars.size()) << task.id;
      for (std::size_t i = 0; i < made.scalars.size(); ++i)
        EXPECT_EQ(made.scalars[i].name, task.scalars[i].name);
      EXPECT_EQ(made.tolerance.rtol, task.tolerance.rtol) << task.id;
      EXPECT_EQ(made.tolerance.atol, task.tolerance.atol) << task.id;
      EXPECT_EQ(made.tolerance.terms, task.tolerance.terms) << task.id;
      ASSERT_EQ(made.axes.size(), task.axes.size()) << task.id;
      for (std::size_t i = 0; i < made.axes.size(); ++i) {
        EXPECT_EQ(made.axes[i].name, task.axes[i].name);
        EXPECT_EQ(made.axes[i].size, task.axes[i].size);
      }
    }
  }
}

TEST(TaskFamilies, NamesAreMarkedOnlyWhereTheyAreOne) {
  EXPECT_EQ(mark_names("y[i] = a.x + p->x + x[x2] * 2x; \"x\" ... x", {"x", "y"}),
            "$y[i] = a.x + p->x + $x[x2] * 2x; \"x\" ... $x");
}

// The whole file of the task, under other names.
TEST(TaskFamilies, TasksKeepWhatTheFileSays) {
  const std::vector<Family>& families = all_families();
  const auto family = std::find_if(families.begin(), families.end(),
                                   [](const Family& f) { return f.name == "window_attention"; });
  ASSERT_NE(family, families.end());
  ASSERT_EQ(family->operations.size(), 2u);
  ASSERT_EQ(family->variants.size(), 3u);
  const Operation& sibling = family->operations[1];
  Names names = canonical_names(sibling);
  names["heads"] = "nh";
  names["q"] = "query";
  const TaskDefinition task = Generator::task(*family, sibling, names);
  EXPECT_EQ(task.id, "window_attention_32");
  EXPECT_EQ(task.inputs[0].name, "query");
  EXPECT_EQ(task.inputs[0].shape[0], "nh");
  EXPECT_EQ(task.ranges[0].axis, "nh");
  EXPECT_EQ(task.real[0].count("nh"), 1u);
  EXPECT_EQ(task.axes.back().name, "window");
  EXPECT_EQ(task.axes.back().size, "32");
  EXPECT_NE(task.prompt.find("query[h, i, :]"), std::string::npos) << task.prompt;
  EXPECT_NE(task.work.operations.find("nh"), std::string::npos);
  EXPECT_TRUE(parse_task_definition(to_json_text(task)));
}

// The published figures of the plans depend on their pairs: here the first 2,000 of the
// quickstart's.
TEST(Generator, PairsWithoutMechanismsNeverChange) {
  const std::set<std::string> only = {"vector_add",   "saxpy",        "relu",           "sigmoid",
                                      "bias_relu",    "transpose",    "row_sum",        "row_max",
                                      "row_mean",     "total_sum",    "total_max",      "dot",
                                      "softmax_rows", "rmsnorm_rows", "layernorm_rows", "matmul"};
  std::vector<Family> families = all_families();
  std::erase_if(families, [](const Family& family) { return family.only_with_mechanisms; });
  for (Family& family : families)
    std::erase_if(family.operations, [&](const auto& o) { return only.count(o.id) == 0; });
  GeneratorOptions options;
  options.canonical = 0.7;
  const Generator quickstart(std::move(families), options);
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (std::uint64_t index = 0; index < 2000; ++index) {
    const Pair pair = quickstart.generate(index);
    for (const char c : pair.task.id + pair.task.prompt + pair.answer)
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  EXPECT_EQ(hash, 16967392078671244370u);
}

// A random name must not hide a local name of a kernel, nor a word of the language.
TEST(Names, PoolsAvoidTheWordsOfTheTemplates) {
  std::set<std::string> words = {
      "int",      "float",    "half",  "double",   "long",      "short", "char",   "bool",   "void",
      "if",       "for",      "while", "do",       "return",    "const", "static", "inline", "auto",
      "in",       "sum",      "top",   "row",      "id",        "k1",    "min",    "max",    "exp",
      "log",      "abs",      "pow",   "ceil_div", "next_pow2", "dim3",  "new",    "delete", "this",
      "register", "volatile", "union", "signed",   "unsigned"};
  std::vector<Family> families = propose(1, 100, 5).families;
  for (const Family& family : all_families()) families.push_back(family);
  for (const Family& family : families) {
    if (!family.words.empty()) continue;  // names avoid them
    for (const Variant& variant : family.variants) {
      bool member = false;  // f.w
      for (const SourceToken& token : scan_cuda_source(variant.source).tokens) {
        if (!member) words.insert(token.text);
        member = token.is(".");
      }
      words.erase("args");
      words.erase("params");
      for (const auto& [role, values] : variant.choices) words.erase(role);
      for (const Operation& operation : family.operations) {
        for (const auto& [role, name] : canonical_names(operation)) words.erase(role);
        for (const auto& [part, text] : operation.parts) words.erase(part);
      }
    }
  }
  const std::vector<std::string> locals = {
      "r", "j", "e",    "d",    "t",    "acc",  "sh",    "lane", "tile", "tx",   "ty",
      "v", "f", "part", "last", "zero", "left", "right", "mean", "best", "size", "kern"};
  words.insert(locals.begin(), locals.end());
  EXPECT_GE(pool_names().size(), 300u);
  for (const std::string& name : pool_names()) EXPECT_EQ(words.count(name), 0u) << name;
}

TEST(Names, AreDifferentWithinATask) {
  Random random(9, 9);
  for (const Family& family : all_families()) {
    for (const Operation& operation : family.operations) {
      for (int i = 0; i < 20; ++i) {
        const Names names = random_names(operation, &random, family.words);
        std::set<std::string> distinct;
        for (const auto& [role, name] : names) {
          distinct.insert(name);
          EXPECT_TRUE(role == name || family.words.count(name) == 0) << operation.id << " " << name;
        }
        EXPECT_EQ(distinct.size(), names.size()) << operation.id;
      }
    }
  }
}

TEST(Slips, EveryOneFindsAPlaceInManyKernels) {
  std::map<std::string, int> places;
  Random random(4, 4);
  for (const Family& family : all_families()) {
    for (const Variant& variant : family.variants) {
      const Operation& operation = family.operations.front();
      const std::string source =
          Generator::kernel(operation, variant, canonical_names(operation), &random);
      const std::vector<Slip> slips = possible_slips(source, true);
      EXPECT_GE(slips.size(), 2u) << source;
      for (const Slip& slip : slips) {
        ++places[slip.name];
        EXPECT_NE(slip.source, source) << slip.name;
      }
    }
  }
  for (const std::string& name : slip_names()) EXPECT_GE(places[name], 5) << name;
}

}  // namespace
}  // namespace krl::templates
