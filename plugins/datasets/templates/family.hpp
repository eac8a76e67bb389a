// A family of generated examples: tasks that are alike (operations), and ways to write a kernel for
// them (variants). A file in families/ holds one: its operations take the members that they lack
// from the table `base`, or from the one in it that they name.
//
// Texts are templates (text.hpp). Tensors, scalars and axes are called by their roles ("$x", "$n");
// the generator puts in either the names that the tasks in configs/tasks have, or random ones.
#pragma once

#include <cstdint>
#include <kernelrl/task_definition.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plugins/datasets/templates/text.hpp"

namespace krl::templates {

// The pool from which a random name is drawn; kFixed: none, the name stays.
enum class NameKind { kInput, kOutput, kLength, kRows, kColumns, kInner, kScalar, kFixed };

struct AxisRole {
  std::string role;
  std::string name;  // the canonical one
  NameKind kind = NameKind::kLength;
  std::string size = {};  // an expression, "$cols / 2"; empty: every case has a value
  bool passed = true;     // an argument of the kernel
  std::int64_t step = 1;  // the sizes that a case may give: its multiples
};

struct TensorRole {
  std::string role;
  std::string name;                // the canonical one
  std::vector<std::string> shape;  // "$rows"
  DType dtype = DType::kFloat32;
  ValueKind values = ValueKind::kNormal;
  std::vector<std::string> bounds = {};
};

struct ScalarRole {
  std::string role;
  std::string name;   // the canonical one
  std::string value;  // "0.5 + $n % 7"
};

struct Operation {
  std::string id;
  std::string title;
  std::int64_t tier = 0;
  bool canonical = true;  // shown with these names, as in configs/tasks, by the option `canonical`
  std::string prompt;     // "$y[i] = $s * $x[i]"
  std::string reference;
  std::vector<AxisRole> axes;
  std::vector<TensorRole> inputs;
  std::vector<ScalarRole> scalars = {};
  std::vector<TensorRole> outputs;  // one with an input's role is computed in place
  std::vector<std::map<std::string, std::int64_t>> cases;  // keyed by role
  std::vector<std::map<std::string, std::int64_t>> real = {};
  Tolerance tolerance = {};  // its terms: "$cols"
  Scope parts = {};          // texts that the variants insert for this operation
  // The task, where a file defines it: the above are then only its names, which are the roles too.
  std::optional<TaskDefinition> definition = {};
};

// A placeholder with the values it may take; one that is a name in use is not taken.
using Choices = std::map<std::string, std::vector<std::string>>;

struct Variant {
  std::string name;
  int weight = 1;
  std::string thought;  // one line: why it is written so
  std::string source;   // the launch directives and the kernels
  Choices choices = {};
  // How it works, in words of a fixed list: "row_cache". A variant with such a word is drawn only by
  // the option `mechanisms`, and writes each of its parameters once.
  std::set<std::string> mechanisms = {};
  std::set<std::string> operations = {};  // ids of those that it fits; empty: all

  bool fits(const Operation& operation) const {
    return operations.empty() || operations.count(operation.id) > 0;
  }
};

struct Family {
  std::string name;
  std::vector<Operation> operations;
  std::vector<Variant> variants;  // the first one is the naive kernel
  // The words of hand-written variants, which have many; random names avoid them. Such variants get
  // only slips of syntax, as do those with mechanisms.
  std::set<std::string> words = {};
  std::string mechanisms_of = {};     // the family whose variants with mechanisms are added
  bool only_with_mechanisms = false;  // drawn only by the option `mechanisms`
};

// Returns the families of families/*.toml, and one for each other task of configs/tasks, in a fixed
// order.
const std::vector<Family>& all_families();

// Returns those of families/triton/*.toml, each with the operations of the family of its name in CUDA
// that it has texts for.
std::vector<Family> triton_families();

// Returns the families of proposed tasks without their operations: maps, lines and products.
std::vector<Family> proposed_families();

}  // namespace krl::templates
