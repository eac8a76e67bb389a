// Makes the pairs of the dataset: item `index` is a pure function of the options and the index.
#pragma once

#include <cstdint>
#include <kernelrl/task_definition.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plugins/datasets/templates/family.hpp"
#include "plugins/datasets/templates/names.hpp"

namespace krl::templates {

struct GeneratorOptions {
  std::uint64_t seed = 0;
  double canonical = 0.5;  // share of pairs with the names of the tasks in configs/tasks
  double repair = 0.0;     // share of pairs that repair a broken kernel
  bool think = false;      // answers begin with a line of thought
  double naive = 0.0;  // share of pairs whose answer is the naive kernel, besides those by weight
  std::int64_t max_block = 0;  // threads a block of an answer may have; 0 = any
  // Factor by which grids of a fixed size exceed those that suit a few thousand elements.
  std::int64_t grid_scale = 1;
  double improve = 0.0;  // share of pairs that show another right kernel before the answer
  // Draws the variants with mechanisms, and of their families otherwise only the naive ones.
  bool mechanisms = false;
  std::vector<std::string> withhold = {};  // "row_cache:softmax_rows": cells that are never drawn
};

struct Pair {
  TaskDefinition task;
  std::string answer;
  std::optional<std::string> earlier_answer;  // the turn before: broken, or another right kernel
  std::string family, variant, slip;          // its origin; slip is empty unless it is a repair
  std::set<std::string> mechanisms;           // shown by the answer, or the turn before
  std::set<std::string> withheld;             // shown by no pair of the task
};

class Generator {
 public:
  // `families`: those to draw from; every operation is as likely as any other.
  Generator(std::vector<Family> families, GeneratorOptions options);
  Generator(Generator&&) = default;  // a copy's entries would point to the original's variants

  Pair generate(std::uint64_t index) const;

  // The kernel of one variant, for tests: its choices are drawn from `random`.
  static std::string kernel(const Operation& operation, const Variant& variant, const Names& names,
                            Random* random);

  // The task of an operation; its naive kernel is the family's first variant.
  static TaskDefinition task(const Family& family, const Operation& operation, const Names& names);

 private:
  struct Entry {
    std::size_t family;
    std::size_t operation;
    std::vector<const Variant*> variants;  // that have a kernel whose blocks are small enough
    std::set<std::string> withheld;        // mechanisms
  };

  bool draws(const Family& family, const Operation& operation, const Variant& variant,
             const std::set<std::string>& withheld) const;
  // Throws krl::Failure if the naive kernels of an operation have larger blocks than max_block.
  Entry entry_of(std::size_t family, std::size_t operation,
                 const std::set<std::string>& withheld) const;
  bool fits(const std::string& source, const TaskDefinition& task) const;
  // Chooses among a variant's kernels whose blocks are small enough.
  std::string fitting_kernel(const Operation& operation, const Variant& variant, const Names& names,
                             const TaskDefinition& task, Random* random) const;

  std::vector<Family> families_;
  GeneratorOptions options_;
  std::vector<Entry> entries_, canonical_entries_;
};

}  // namespace krl::templates
