#include "plugins/datasets/templates/proposer.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "plugins/datasets/templates/random.hpp"
#include "plugins/datasets/templates/steps.hpp"

namespace krl::templates {
namespace {

enum class Structure { kMap, kLines, kProduct };

struct Chosen {
  const Step* step;
  std::string constant;  // empty if the step has none
};

// A task before its texts are made.
struct Chain {
  Structure structure = Structure::kMap;
  std::vector<Chosen> steps;
  int dim = 1;                              // dimension of the lines
  DType dtype = DType::kFloat32;            // type of the first inputs and of the output
  bool turned_a = false, turned_b = false;  // the product's operands are transposed

  bool ends() const { return !steps.empty() && steps.back().step->ends; }

  std::int64_t difficulty() const {
    return static_cast<std::int64_t>(steps.size()) + (structure == Structure::kProduct ? 1 : 0) +
           (dim == 0 ? 1 : 0) + (dtype != DType::kFloat32 ? 1 : 0) + (turned_a ? 1 : 0) +
           (turned_b ? 1 : 0);
  }

  // Returns the task's name without its constants.
  std::string name() const {
    std::string name = structure == Structure::kProduct ? "matmul" : "";
    if (turned_a) name += "_ta";
    if (turned_b) name += "_tb";
    for (const Chosen& chosen : steps)
      name += (name.empty() ? "" : "_") + std::string(chosen.step->name);
    if (dim == 0) name += "_columns";
    if (dtype == DType::kFloat16) name += "_half";
    if (dtype == DType::kBFloat16) name += "_bf16";
    return name;
  }
};

// ---- Which chains make sense ----

// True if steps fit together, for any computation.
bool is_well_formed(const Chain& chain) {
  std::set<std::string> roles;
  std::size_t lines = 0, squares = 0;
  for (std::size_t i = 0; i < chain.steps.size(); ++i) {
    const Step& step = *chain.steps[i].step;
    if (step.ends && i + 1 != chain.steps.size()) return false;
    if (step.operand != Operand::kNone && !roles.insert(step.role).second) return false;
    if (i > 0 && chain.steps[i - 1].step == &step) return false;
    lines += step.folds.empty() ? 0 : 1;
    squares += step.name == std::string("square") ? 1 : 0;
  }
  constexpr std::size_t kMostOperands = 3;
  if (roles.size() > kMostOperands || squares > 1) return false;
  return chain.structure == Structure::kLines ? lines > 0 : lines == 0 && chain.dim == 1;
}

constexpr std::size_t kSampleLines = 6, kSampleLength = 9;

// The outputs of a chain for random inputs; `without`: a step that is left out.
Line outputs(const Chain& chain, std::optional<std::size_t> without = {}) {
  Random random(1, 1);
  const auto normal = [&] {  // close enough to it
    double total = -6;
    for (int i = 0; i < 12; ++i) total += random.uniform();
    return total;
  };
  const auto line = [&](std::size_t size) {
    Line line(size);
    for (double& e : line) e = normal();
    return line;
  };
  std::vector<Line> across;  // second tensors of steps that are the same for all lines
  Line result;
  for (std::size_t i = 0; i < chain.steps.size(); ++i) across.push_back(line(kSampleLength));
  for (std::size_t l = 0; l < kSampleLines; ++l) {
    Line v = line(kSampleLength);
    for (std::size_t i = 0; i < chain.steps.size(); ++i) {
      const auto& [step, constant] = chain.steps[i];
      const bool along = step->operand == (chain.dim == 1 ? Operand::kColumn : Operand::kRow);
      Line o =
          step->operand == Operand::kElement ? line(kSampleLength) : Line(kSampleLength, normal());
      if (along) o = across[i];
      if (i != without) step->apply(v, o, constant.empty() ? 0 : std::stod(constant));
    }
    result.insert(result.end(), v.begin(), v.end());
  }
  return result;
}

double largest(const Line& line) {
  double most = 0;
  for (const double e : line) most = std::max(most, std::fabs(e));
  return most;
}

// Neither (nearly) constant, nor unaffected by any of the steps.
bool every_step_matters(const Chain& chain) {
  const auto differ = [](const Line& a, const Line& b, double scale) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      count += std::fabs(a[i] - b[i]) > 0.02 * scale ? 1 : 0;
    return 5 * count >= a.size();  // a fifth of the elements
  };
  const Line all = outputs(chain);
  const double scale = largest(all);
  if (!std::isfinite(scale) || scale < 1e-3) return false;
  if (!differ(all, Line(all.size(), all[0]), scale)) return false;
  const std::size_t steps = chain.steps.size() - (chain.ends() ? 1 : 0);
  for (std::size_t i = 0; i < steps; ++i) {
    if (!differ(all, outputs(chain, i), scale)) return false;
  }
  return true;
}

// True if a chain belongs to the fifth of all proposals that are unseen: it depends on its name.
bool is_unseen(const std::string& name) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return Random(hash, 0).below(5) == 0;
}

// ---- Chains at random ----

Chosen random_step(Random* random) {
  const Step& step = random->pick(all_steps());
  return {&step, step.constants.empty() ? "" : random->pick(step.constants)};
}

Chain fresh_chain(std::int64_t difficulty, Random* random) {
  Chain chain;
  chain.structure = random->pick<Structure>(
      {Structure::kMap, Structure::kLines, Structure::kLines, Structure::kProduct});
  while (chain.difficulty() < difficulty) chain.steps.push_back(random_step(random));
  return chain;
}

// A step more, another step in the place of one, or another axis, type or layout.
Chain mutated_chain(Chain chain, Random* random) {
  const auto place = [&](std::size_t count) {
    return chain.steps.begin() + static_cast<std::ptrdiff_t>(random->below(count));
  };
  switch (random->below(5)) {
    case 0: {
      const auto at = place(chain.steps.size() + 1);
      chain.steps.insert(at, random_step(random));
      break;
    }
    case 1:
      if (!chain.steps.empty()) *place(chain.steps.size()) = random_step(random);
      break;
    case 2:
      chain.dim = 1 - chain.dim;
      break;
    case 3:
      chain.dtype = random->chance(0.5) ? DType::kFloat16 : DType::kBFloat16;
      break;
    default:
      if (chain.structure == Structure::kProduct)
        (random->chance(0.5) ? chain.turned_a : chain.turned_b) = true;
  }
  return chain;
}

// Up to `count` more chains of a difficulty, whose names are not among `names` yet; fewer if there
// hardly are any more.
void add_chains(std::int64_t count, std::int64_t difficulty, bool unseen, Random* random,
                std::set<std::string>* names, std::vector<Chain>* chains) {
  constexpr int kTries = 3000;
  for (int tries = 0; count > 0 && tries < kTries; ++tries) {
    const bool fresh = chains->empty() || random->chance(0.5);
    Chain chain =
        fresh ? fresh_chain(difficulty, random) : mutated_chain(random->pick(*chains), random);
    if (chain.difficulty() != difficulty || !is_well_formed(chain)) continue;
    if (!chain.steps.empty() && !every_step_matters(chain)) continue;
    if (is_unseen(chain.name()) != unseen || !names->insert(chain.name()).second) continue;
    chains->push_back(std::move(chain));
    --count;
    tries = 0;
  }
}

// Different ones, by difficulty.
std::vector<Chain> random_chains(std::uint64_t seed, std::int64_t count, std::int64_t hardest,
                                 bool unseen) {
  Random random(seed, 0x70726f706f7365);
  std::vector<Chain> chains;
  std::set<std::string> names;
  for (std::int64_t difficulty = 1; difficulty <= hardest; ++difficulty) {
    const std::int64_t left = count - static_cast<std::int64_t>(chains.size());
    const std::int64_t levels = hardest - difficulty + 1;
    add_chains((left + levels - 1) / levels, difficulty, unseen, &random, &names, &chains);
  }
  if (static_cast<std::int64_t>(chains.size()) < count)
    throw std::invalid_argument("propose: there are only " + std::to_string(chains.size()) +
                                " such tasks; ask for no more, or raise `hardest`");
  return chains;
}

// ---- The texts of a chain ----

std::string loaded(DType dtype, const std::string& element) {
  if (dtype == DType::kFloat32) return element;
  return (dtype == DType::kFloat16 ? "__half2float(" : "__bfloat162float(") + element + ")";
}

std::string stored(DType dtype, const std::string& value) {
  if (dtype == DType::kFloat32) return value;
  return (dtype == DType::kFloat16 ? "__float2half(" : "__float2bfloat16(") + value + ")";
}

Scope scope_of(const Chosen& chosen) {
  return {{"k", chosen.constant}, {"kf", chosen.constant + "f"}, {"v", "v"}};
}

// An element of the step's second tensor in a kernel.
std::string operand_in_kernel(const Step& step) {
  const std::string name = "$" + std::string(step.role);
  if (step.operand == Operand::kColumn) return name + "[$col]";
  return name + (step.operand == Operand::kRow ? "[$row]" : "[$at]");
}

std::string operand_in_prompt(const Step& step) {
  const std::string name = "$" + std::string(step.role);
  if (step.operand == Operand::kColumn) return name + "[c]";
  return name + (step.operand == Operand::kRow ? "[r]" : "[r, c]");
}

// How the threads of a kernel share a line.
struct Sharing {
  const char* loop;   // over a thread's places j in the line
  const char* first;  // the condition under which a thread writes the line's result
  enum { kAlone, kWarp, kBlock } kind;
};
constexpr Sharing kAlone = {"for (int j = 0; j < $length; j++)", "", Sharing::kAlone};
constexpr Sharing kByWarp = {"for (int j = lane; j < $length; j += 32)", "if (lane == 0) ",
                             Sharing::kWarp};
constexpr Sharing kByBlock = {"for (int j = threadIdx.x; j < $length; j += $B)",
                              "if (threadIdx.x == 0) ", Sharing::kBlock};

// The statements that make one of the threads' values of `m`.
std::string merge(const Sharing& sharing, Reduce kind, const std::string& m) {
  if (sharing.kind == Sharing::kAlone) return "";
  if (sharing.kind == Sharing::kWarp) {
    return "  for (int d = 16; d > 0; d /= 2) " +
           combine(kind, m, "__shfl_xor_sync(0xffffffff, " + m + ", d)") + ";\n";
  }
  return "  sh[threadIdx.x] = " + m + ";\n  __syncthreads();\n" +
         "  for (int d = $(B / 2); d > 0; d /= 2) {\n    if (threadIdx.x < d) " +
         combine(kind, "sh[threadIdx.x]", "sh[threadIdx.x + d]") +
         ";\n    __syncthreads();\n  }\n  " + m + " = sh[0];\n  __syncthreads();\n";
}

// The statements for one line: a loop for every fold, in which the steps before it are computed
// again, and one for the outputs.
std::string line_text(const Chain& chain, const Sharing& sharing) {
  const std::string loop = "  " + std::string(sharing.loop) + " {\n    float v = $element;\n";
  std::string text, so_far, ended;
  int folds = 0;
  for (const Chosen& chosen : chain.steps) {
    Scope scope = scope_of(chosen);
    scope["o"] = operand_in_kernel(*chosen.step);
    int fold_of_step = 0;
    for (const Fold& fold : chosen.step->folds) {
      const std::string m = "m" + std::to_string(folds++);
      text += "  float " + m + " = " + neutral(fold.kind) + ";\n" + loop + so_far + "    " +
              combine(fold.kind, m, substitute(fold.element, scope)) + ";\n  }\n" +
              merge(sharing, fold.kind, m);
      scope["m"] = m;
      if (fold.value != std::string("$m"))
        text += "  " + m + " = " + substitute(fold.value, scope) + ";\n";
      scope[std::to_string(fold_of_step++)] = m;
    }
    const std::string value = substitute(chosen.step->cuda, scope);
    if (chosen.step->ends) ended = value;
    so_far += "    v = " + value + ";\n";
  }
  if (!ended.empty())
    return text + "  " + sharing.first + "$y[r] = " + stored(chain.dtype, ended) + ";\n";
  return text + loop + so_far + "    $y[$at] = " + stored(chain.dtype, "v") + ";\n  }\n";
}

// Returns the statements for one element, with `v` as the value so far.
std::string element_text(const Chain& chain, const std::string& indent) {
  std::string text;
  for (const Chosen& chosen : chain.steps) {
    Scope scope = scope_of(chosen);
    scope["o"] = operand_in_kernel(*chosen.step);
    text += indent + "v = " + substitute(chosen.step->cuda, scope) + ";\n";
  }
  return text + indent + "$y[$at] = " + stored(chain.dtype, "v") + ";\n";
}

std::string prompt_of(const Chain& chain) {
  std::string text =
      chain.structure == Structure::kProduct ? "v = sum over e of $a" : "v = $x[r, c]; ";
  if (chain.structure == Structure::kProduct) {
    text += std::string(chain.turned_a ? "[e, r]" : "[r, e]") + " * $b0" +
            (chain.turned_b ? "[c, e]; " : "[e, c]; ");
  }
  const char* const line = chain.dim == 1 ? "c" : "r";
  for (const Chosen& chosen : chain.steps) {
    Scope scope = scope_of(chosen);
    scope["o"] = operand_in_prompt(*chosen.step);
    scope["l"] = line;
    const std::string step = substitute(chosen.step->prompt, scope);
    text += chosen.step->ends ? std::string("$y[") + (chain.dim == 1 ? "r" : "c") + "] = " + step
                              : step + "; ";
  }
  if (!chain.ends()) text += "$y[r, c] = v";
  return text + (chain.dtype == DType::kFloat32 ? "" : "; v is a float32");
}

std::string reference_of(const Chain& chain) {
  std::string parameters = chain.structure == Structure::kProduct ? "a, b0" : "x";
  std::string body = "    v = x\n";
  if (chain.structure == Structure::kProduct) {
    body = std::string("    v = torch.matmul(a") + (chain.turned_a ? ".t()" : "") + ", b0" +
           (chain.turned_b ? ".t())\n" : ")\n");
  }
  for (const Chosen& chosen : chain.steps) {
    const Step& step = *chosen.step;
    Scope scope = scope_of(chosen);
    scope["dim"] = std::to_string(chain.dim);
    scope["o"] = step.role + std::string(step.operand == Operand::kRow ? ".unsqueeze(1)" : "");
    if (step.operand != Operand::kNone) parameters += std::string(", ") + step.role;
    body += "    v = " + substitute(step.torch, scope) + "\n";
  }
  return "def run(" + parameters + "):\n" + body + "    return v\n";
}

std::string title_of(const Chain& chain) {
  std::string title = chain.structure == Structure::kProduct ? "matrix product" : "";
  for (const Chosen& chosen : chain.steps)
    title += (title.empty() ? "" : ", ") + std::string(chosen.step->title);
  if (const std::size_t comma = title.rfind(", "); comma != std::string::npos)
    title.replace(comma, 2, " and ");
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  if (chain.dim == 0) title += " of columns";
  if (chain.dtype != DType::kFloat32)
    title += std::string(" in ") + (chain.dtype == DType::kFloat16 ? "float16" : "bfloat16");
  return title;
}

std::string kernel_text(DType dtype) {
  const std::string include = dtype == DType::kFloat32   ? ""
                              : dtype == DType::kFloat16 ? "#include <cuda_fp16.h>\n"
                                                         : "#include <cuda_bf16.h>\n";
  return include + "__global__ void kern($params) {";
}

// Returns the texts that the variants of the chain's structure insert.
Scope parts_of(const Chain& chain) {
  const bool rows = chain.dim == 1;
  Scope parts = {{"kernel", kernel_text(chain.dtype)},
                 {"row", rows ? "r" : "j"},
                 {"col", rows ? "j" : "r"},
                 {"at", "$row * $cols + $col"},
                 {"lines", rows ? "$rows" : "$cols"},
                 {"length", rows ? "$cols" : "$rows"}};
  if (chain.structure == Structure::kLines) {
    parts["alone"] = line_text(chain, kAlone);
    parts["by_warp"] = line_text(chain, kByWarp);
    parts["by_block"] = line_text(chain, kByBlock);
  } else {
    parts["body"] = element_text(chain, "    ");
    parts["last"] = element_text(chain, "  ");
  }
  parts["element"] = loaded(chain.dtype, "$x[$at]");
  if (chain.structure != Structure::kProduct) return parts;
  const auto a = [&](const std::string& e) {
    const std::string at = chain.turned_a ? "(" + e + ") * $rows + r" : "r * $k + " + e;
    return loaded(chain.dtype, "$a[" + at + "]");
  };
  const auto b = [&](const std::string& e) {
    const std::string at = chain.turned_b ? "j * $k + " + e : "(" + e + ") * $cols + j";
    return loaded(chain.dtype, "$b0[" + at + "]");
  };
  parts["a_plain"] = a("e");
  parts["b_plain"] = b("e");
  parts["a_tile"] = a("e + tx");
  parts["b_tile"] = b("e + ty");
  return parts;
}

Tolerance tolerance_of(const Chain& chain) {
  Tolerance tolerance{1e-4, 1e-6};
  if (chain.dtype != DType::kFloat32) tolerance.rtol = chain.dtype == DType::kFloat16 ? 1e-3 : 8e-3;
  if (chain.structure == Structure::kLines) tolerance.terms = chain.dim == 1 ? "$cols" : "$rows";
  if (chain.structure == Structure::kProduct) tolerance.terms = "$k";
  return tolerance;
}

std::vector<TensorRole> inputs_of(const Chain& chain) {
  const auto tensor = [](const char* name, std::vector<std::string> shape, DType dtype) {
    return TensorRole{name, name, std::move(shape), dtype};
  };
  const auto turned = [](bool turn, std::vector<std::string> shape) {
    if (turn) std::swap(shape[0], shape[1]);
    return shape;
  };
  std::vector<TensorRole> inputs;
  if (chain.structure == Structure::kProduct) {
    inputs = {tensor("a", turned(chain.turned_a, {"$rows", "$k"}), chain.dtype),
              tensor("b0", turned(chain.turned_b, {"$k", "$cols"}), chain.dtype)};
  } else {
    inputs = {tensor("x", {"$rows", "$cols"}, chain.dtype)};
  }
  for (const Chosen& chosen : chain.steps) {
    const Step& step = *chosen.step;
    if (step.operand == Operand::kNone) continue;
    std::vector<std::string> shape;
    if (step.operand != Operand::kColumn) shape.push_back("$rows");
    if (step.operand != Operand::kRow) shape.push_back("$cols");
    inputs.push_back(tensor(step.role, std::move(shape), DType::kFloat32));
  }
  return inputs;
}

// The id describes the computation, so that a task is recognised under any seed that proposed it.
Operation operation_of(const Chain& chain) {
  Operation operation;
  operation.id = "proposed_" + chain.name();
  operation.title = title_of(chain);
  operation.tier = std::min<std::int64_t>(chain.difficulty() - 1, 9);
  operation.prompt = prompt_of(chain);
  operation.reference = reference_of(chain);
  operation.tolerance = tolerance_of(chain);
  operation.parts = parts_of(chain);
  operation.axes = {{"rows", "rows", NameKind::kRows}, {"cols", "cols", NameKind::kColumns}};
  operation.cases = {{{"rows", 13}, {"cols", 37}}, {{"rows", 20}, {"cols", 72}}};
  operation.real = {{{"rows", 4096}, {"cols", 4096}}};
  operation.inputs = inputs_of(chain);
  if (chain.structure == Structure::kProduct) {
    operation.axes.push_back({"k", "k", NameKind::kInner});
    operation.cases = {{{"rows", 9}, {"cols", 11}, {"k", 13}},
                       {{"rows", 36}, {"cols", 32}, {"k", 24}}};
    operation.real = {{{"rows", 1024}, {"cols", 1024}, {"k", 1024}}};
  }
  operation.outputs = {{"y", "y", {"$rows", "$cols"}, chain.dtype}};
  if (chain.ends()) operation.outputs[0].shape = {chain.dim == 1 ? "$rows" : "$cols"};
  return operation;
}

}  // namespace

Proposals propose(std::uint64_t seed, std::int64_t count, std::int64_t hardest, bool unseen) {
  Proposals proposals{proposed_families(), {}};
  for (const Chain& chain : random_chains(seed, count, hardest, unseen)) {
    const auto family = static_cast<std::size_t>(chain.structure);
    std::vector<Operation>& operations = proposals.families[family].operations;
    operations.push_back(operation_of(chain));
    proposals.places.push_back({family, operations.size() - 1});
  }
  return proposals;
}

}  // namespace krl::templates
