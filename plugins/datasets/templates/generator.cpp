#include "plugins/datasets/templates/generator.hpp"

#include <algorithm>
#include <iterator>
#include <kernelrl/launch.hpp>
#include <kernelrl/values.hpp>
#include <utility>

#include "plugins/datasets/templates/cells.hpp"
#include "plugins/datasets/templates/slips.hpp"
#include "plugins/datasets/templates/task_families.hpp"

namespace krl::templates {
namespace {

const char* c_type(DType dtype) {
  if (dtype == DType::kFloat16) return "half";
  if (dtype == DType::kBFloat16) return "__nv_bfloat16";
  return dtype == DType::kInt32 ? "int" : "float";
}

void append(std::string* list, const std::string& entry) {
  *list += (list->empty() ? "" : ", ") + entry;
}

bool has_role(const std::vector<TensorRole>& tensors, const std::string& role) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const TensorRole& t) { return t.role == role; });
}

// Defines `$args` and `$params`: all tensors, scalars and passed axes, in the order of the
// definition.
void add_parameters(const Operation& operation, Scope* scope) {
  std::string arguments, parameters;
  const auto add = [&](const std::string& type, const std::string& role) {
    append(&arguments, "$" + role);
    append(&parameters, type + " $" + role);
  };
  for (const TensorRole& input : operation.inputs) {
    const bool in_place = has_role(operation.outputs, input.role);
    add((in_place ? "" : "const ") + std::string(c_type(input.dtype)) + "*", input.role);
  }
  for (const TensorRole& output : operation.outputs) {
    if (!has_role(operation.inputs, output.role))
      add(std::string(c_type(output.dtype)) + "*", output.role);
  }
  for (const ScalarRole& scalar : operation.scalars) add("float", scalar.role);
  for (const AxisRole& axis : operation.axes) {
    if (axis.passed) add("int", axis.role);
  }
  (*scope)["args"] = arguments;
  (*scope)["params"] = parameters;
}

Scope scope_of(const Operation& operation, const Names& names) {
  Scope scope = operation.parts;
  scope.insert(names.begin(), names.end());
  add_parameters(operation, &scope);
  return scope;
}

std::string pick_choice(const std::vector<std::string>& values, const Names& names,
                        Random* random) {
  const auto used = [&](const std::string& value) {
    return std::any_of(names.begin(), names.end(),
                       [&](const auto& entry) { return entry.second == value; });
  };
  std::vector<std::string> free;
  std::copy_if(values.begin(), values.end(), std::back_inserter(free),
               [&](const auto& value) { return !used(value); });
  return random->pick(free);
}

TensorDefinition tensor_of(const TensorRole& role, const Scope& scope) {
  TensorDefinition tensor;
  tensor.name = expand("$" + role.role, scope);
  tensor.dtype = role.dtype;
  tensor.values = role.values;
  for (const std::string& size : role.shape) tensor.shape.push_back(expand(size, scope));
  for (const std::string& bound : role.bounds) tensor.bounds.push_back(expand(bound, scope));
  return tensor;
}

Axis axis_of(const AxisRole& role, const Scope& scope) {
  return {expand("$" + role.role, scope), expand(role.size, scope)};
}

// The sizes at which the family's operations make sense and a GPU can hold their tensors.
AxisRange range_of(const AxisRole& role, const Scope& scope) {
  const std::int64_t most = role.kind == NameKind::kLength ? 1 << 26 : 1 << 13;
  return {expand("$" + role.role, scope), role.step, most, role.step};
}

// Returns the task under other names, which replace its present ones.
TaskDefinition renamed(TaskDefinition task, const Names& names) {
  std::set<std::string> known;
  for (const auto& [name, other] : names) known.insert(name);
  const Scope scope(names.begin(), names.end());
  const auto rename = [&](std::string* text) { *text = expand(mark_names(*text, known), scope); };
  for (std::string* text :
       {&task.prompt, &task.tolerance.terms, &task.work.bytes, &task.work.operations})
    rename(text);
  for (Axis& axis : task.axes) rename(&axis.name), rename(&axis.size);
  for (AxisRange& range : task.ranges) rename(&range.axis);
  for (auto* tensors : {&task.inputs, &task.outputs}) {
    for (TensorDefinition& tensor : *tensors) {
      rename(&tensor.name);
      for (std::string& size : tensor.shape) rename(&size);
      for (std::string& bound : tensor.bounds) rename(&bound);
    }
  }
  for (ScalarDefinition& scalar : task.scalars) rename(&scalar.name), rename(&scalar.value);
  for (auto* cases : {&task.cases, &task.real, &task.holdout}) {
    for (IntegerNames& sizes : *cases) {
      IntegerNames other;
      for (const auto& [axis, size] : sizes) other[names.at(axis)] = size;
      sizes = std::move(other);
    }
  }
  return task;
}

const Variant& pick_variant(const std::vector<const Variant*>& variants, Random* random) {
  std::size_t total = 0;
  for (const Variant* variant : variants) total += static_cast<std::size_t>(variant->weight);
  std::size_t ticket = random->below(total);
  for (const Variant* variant : variants) {
    if (ticket < static_cast<std::size_t>(variant->weight)) return *variant;
    ticket -= static_cast<std::size_t>(variant->weight);
  }
  return *variants.back();
}

// Calls `use` with each choice of values for the variant's placeholders, added to `scope`.
template <class Use>
void for_each_choice(Choices::const_iterator next, const Variant& variant, Scope& scope,
                     const Use& use) {
  if (next == variant.choices.end()) return use(scope);
  for (const std::string& value : next->second) {
    scope[next->first] = value;
    for_each_choice(std::next(next), variant, scope, use);
  }
}

bool has_several_blocks(const std::string& source, const TaskDefinition& task) {
  const auto launches = launches_in_last_case(source, task);
  return !launches.empty() && launches.front().grid[0] > 1;
}

// Scales the placeholder G of variants, the number of blocks of a grid that does not follow the
// size. Those with mechanisms have large ones already: they lose the ones below the scale.
void scale_grids(std::int64_t scale, Family* family) {
  for (Variant& variant : family->variants) {
    const auto grids = variant.choices.find("G");
    if (grids == variant.choices.end()) continue;
    if (variant.mechanisms.empty()) {
      for (std::string& blocks : grids->second) blocks = std::to_string(scale * std::stoll(blocks));
    } else {
      const std::string largest = grids->second.back();
      std::erase_if(grids->second, [&](const std::string& blocks) {
        return std::stoll(blocks) < scale && blocks != largest;
      });
    }
  }
}

std::string answer_of(const std::string& thought, const std::string& source) {
  const std::string think = thought.empty() ? "" : "<think>" + thought + "</think>\n";
  return think + "<KERNEL>\n" + std::string(opening_fence(source)) + source + "```\n</KERNEL>";
}

}  // namespace

Generator::Generator(std::vector<Family> families, GeneratorOptions options)
    : families_(std::move(families)), options_(std::move(options)) {
  const Cells withheld = withheld_cells(options_.withhold, options_.mechanisms, families_);
  for (Family& family : families_) scale_grids(options_.grid_scale, &family);
  for (std::size_t f = 0; f < families_.size(); ++f) {
    for (std::size_t o = 0; o < families_[f].operations.size(); ++o) {
      const auto of_operation = withheld.find(families_[f].operations[o].id);
      entries_.push_back(entry_of(
          f, o, of_operation == withheld.end() ? std::set<std::string>() : of_operation->second));
      if (families_[f].operations[o].canonical) canonical_entries_.push_back(entries_.back());
    }
  }
}

bool Generator::draws(const Family& family, const Operation& operation, const Variant& variant,
                      const std::set<std::string>& withheld) const {
  if (!variant.fits(operation)) return false;
  if (!options_.mechanisms) return variant.mechanisms.empty();
  if (variant.mechanisms.empty())
    return &variant == &family.variants.front() || !has_mechanisms(family);
  return std::none_of(variant.mechanisms.begin(), variant.mechanisms.end(),
                      [&](const std::string& m) { return withheld.count(m) > 0; });
}

Generator::Entry Generator::entry_of(std::size_t f, std::size_t o,
                                     const std::set<std::string>& withheld) const {
  const Family& family = families_[f];
  const Operation& operation = family.operations[o];
  const Names names = canonical_names(operation);
  const TaskDefinition its_task =
      options_.max_block > 0 ? task(family, operation, names) : TaskDefinition();
  Entry entry{f, o, {}, withheld};
  for (const Variant& variant : family.variants) {
    if (!draws(family, operation, variant, withheld)) continue;
    bool any = options_.max_block == 0;
    Scope scope = scope_of(operation, names);
    if (!any) {
      for_each_choice(variant.choices.begin(), variant, scope, [&](const Scope& choice) {
        any = any || fits(expand(variant.source, choice), its_task);
      });
    }
    if (any) entry.variants.push_back(&variant);
  }
  if (entry.variants.empty() || entry.variants.front() != &family.variants.front()) {
    invalid_argument("max_block = " + std::to_string(options_.max_block) + " leaves '" +
                     operation.id +
                     "' without its naive kernel, whose blocks are larger; raise it");
  }
  return entry;
}

bool Generator::fits(const std::string& source, const TaskDefinition& task) const {
  return options_.max_block == 0 ||
         largest_block_of(launches_in_last_case(source, task)) <= options_.max_block;
}

std::string Generator::kernel(const Operation& operation, const Variant& variant,
                              const Names& names, Random* random) {
  Scope scope = scope_of(operation, names);
  for (const auto& [placeholder, values] : variant.choices)
    scope[placeholder] = pick_choice(values, names, random);
  return expand(variant.source, scope);
}

TaskDefinition Generator::task(const Family& family, const Operation& operation,
                               const Names& names) {
  Random first(0, 0);
  if (operation.definition) {
    TaskDefinition task = renamed(*operation.definition, names);
    task.naive = kernel(operation, family.variants.front(), names, &first);
    return task;
  }
  const Scope scope = scope_of(operation, names);
  TaskDefinition task;
  task.id = operation.id;
  task.tier = operation.tier;
  task.title = operation.title;
  task.prompt = expand(operation.prompt, scope);
  task.reference = operation.reference;
  task.tolerance = operation.tolerance;
  task.tolerance.terms = expand(operation.tolerance.terms, scope);
  for (const AxisRole& axis : operation.axes) {
    task.axes.push_back(axis_of(axis, scope));
    if (axis.size.empty()) task.ranges.push_back(range_of(axis, scope));
  }
  for (const TensorRole& input : operation.inputs) task.inputs.push_back(tensor_of(input, scope));
  for (const TensorRole& output : operation.outputs)
    task.outputs.push_back(tensor_of(output, scope));
  for (const ScalarRole& scalar : operation.scalars) {
    task.scalars.push_back(
        {expand("$" + scalar.role, scope), DType::kFloat32, expand(scalar.value, scope)});
  }
  for (const auto& [from, to] :
       {std::pair(&operation.cases, &task.cases), std::pair(&operation.real, &task.real)}) {
    for (const auto& by_role : *from) {
      IntegerNames sizes;
      for (const auto& [role, size] : by_role) sizes[names.at(role)] = size;
      to->push_back(std::move(sizes));
    }
  }
  task.naive = kernel(operation, family.variants.front(), names, &first);
  return task;
}

std::string Generator::fitting_kernel(const Operation& operation, const Variant& variant,
                                      const Names& names, const TaskDefinition& task,
                                      Random* random) const {
  constexpr int kTries = 10'000;  // some choice fits, or the variant would not be drawn
  for (int i = 0; i < kTries; ++i) {
    std::string source = kernel(operation, variant, names, random);
    if (fits(source, task)) return source;
  }
  invalid_argument("variant '" + variant.name + "' of '" + operation.id +
                   "' has no kernel whose blocks are at most max_block");
}

Pair Generator::generate(std::uint64_t index) const {
  Random random(options_.seed, index);
  const bool canonical = !canonical_entries_.empty() && random.chance(options_.canonical);
  const Entry& entry = random.pick(canonical ? canonical_entries_ : entries_);
  const Family& family = families_[entry.family];
  const Operation& operation = family.operations[entry.operation];
  const Names names =
      canonical ? canonical_names(operation) : random_names(operation, &random, family.words);
  const bool naive = options_.naive > 0 && random.chance(options_.naive);
  const Variant& variant = naive ? family.variants.front() : pick_variant(entry.variants, &random);

  Pair pair;
  pair.family = family.name;
  pair.variant = variant.name;
  pair.mechanisms = variant.mechanisms;
  pair.withheld = entry.withheld;
  pair.task = task(family, operation, names);
  const std::string source = fitting_kernel(operation, variant, names, pair.task, &random);
  pair.answer = answer_of(options_.think ? variant.thought : "", source);
  if (options_.improve > 0 && random.chance(options_.improve)) {
    const Variant& other = pick_variant(entry.variants, &random);
    const std::string before = fitting_kernel(operation, other, names, pair.task, &random);
    pair.earlier_answer = answer_of(options_.think ? other.thought : "", before);
    pair.mechanisms.insert(other.mechanisms.begin(), other.mechanisms.end());
    return pair;
  }
  if (!random.chance(options_.repair)) return pair;
  const bool only_syntax = !family.words.empty() || !variant.mechanisms.empty();
  const Slip slip =
      random.pick(only_syntax ? slips_of_syntax(source)
                              : possible_slips(source, has_several_blocks(source, pair.task)));
  pair.slip = slip.name;
  pair.earlier_answer = answer_of(options_.think ? variant.thought : "", slip.source);
  return pair;
}

}  // namespace krl::templates
