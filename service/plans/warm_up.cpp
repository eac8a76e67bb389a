#include "service/plans/warm_up.hpp"

#include <algorithm>
#include <cmath>
#include <kernelrl/cuda_source.hpp>
#include <kernelrl/launch.hpp>
#include <kernelrl/task_definition.hpp>
#include <map>
#include <set>

#include "core/task/answer.hpp"

namespace krl::service {
namespace {

using namespace core;

// Names with a meaning of their own; all others are chosen by the author.
bool is_fixed(std::string_view name) {
  static const std::set<std::string_view> kWords = {
      "threadIdx",  "blockIdx",  "blockDim", "gridDim",  "warpSize",
      "dim3",       "int",       "unsigned", "float",    "double",
      "half",       "bool",      "char",     "short",    "long",
      "void",       "float2",    "float4",   "int2",     "int4",
      "const",      "constexpr", "static",   "extern",   "auto",
      "for",        "if",        "else",     "while",    "do",
      "return",     "break",     "continue", "sizeof",   "pragma",
      "unroll",     "launch",    "scratch",  "template", "typename",
      "INFINITY",   "expf",      "exp",      "sqrtf",    "rsqrtf",
      "fmaxf",      "fminf",     "logf",     "tanhf",    "fabsf",
      "min",        "max",       "true",     "false",    "reinterpret_cast",
      "static_cast"};
  return name.starts_with("__") || name.starts_with("atomic") || kWords.contains(name) ||
         name.starts_with("ceil_div");
}

void append_tokens(const std::vector<SourceToken>& tokens, bool numbers,
                   std::map<std::string, std::size_t>& names, std::string& signature) {
  bool after_dot = false;  // threadIdx.x
  for (const SourceToken& token : tokens) {
    const bool is_member = std::exchange(after_dot, token.is("."));
    if (token.is("{") || token.is("}")) continue;
    if (token.kind == SourceToken::kIdentifier && !is_member && !is_fixed(token.text)) {
      signature += "v" + std::to_string(names.try_emplace(token.text, names.size()).first->second);
    } else {
      signature += token.kind == SourceToken::kNumber && !numbers ? "0" : token.text;
    }
    signature += ' ';
  }
}

// The kernels of one task's pairs.
struct Shown {
  std::size_t pairs = 0;
  std::map<std::string, double> kernels, structures;  // counts
  std::int64_t largest_block = 0;
  std::map<std::string, std::size_t> words;

  void add(const Pair& pair) {
    for (const std::string& word : pair.shows) ++words[word];
    Answer answer;
    answer.text = pair.answer;
    const std::string source = extract_candidate(answer).source;
    ++pairs;
    ++kernels[kernel_signature(source, true)];
    ++structures[kernel_signature(source, false)];
    if (const auto definition = parse_task_definition(pair.task.definition_json))
      largest_block =
          std::max(largest_block, largest_block_of(launches_in_last_case(source, *definition)));
  }

  double entropy() const {
    double sum = 0;
    for (const auto& [kernel, count] : kernels) {
      const double share = count / static_cast<double>(pairs);
      sum -= share * std::log(share);
    }
    return sum;
  }

  double commonest() const {
    double most = 0;
    for (const auto& [structure, count] : structures) most = std::max(most, count);
    return most / static_cast<double>(pairs);
  }
};

std::int64_t naive_block_of(const std::string& id, const StageData& data) {
  const auto task = std::ranges::find(data.tasks, id, &Task::id);
  if (task == data.tasks.end()) return 0;
  const auto definition = parse_task_definition(task->definition_json);
  return definition ? largest_block_of(launches_in_last_case(definition->naive, *definition)) : 0;
}

}  // namespace

std::string kernel_signature(std::string_view source, bool numbers) {
  std::string signature;
  std::map<std::string, std::size_t> names;
  const ScannedSource scanned = scan_candidate(source);
  for (const LineComment& comment : scanned.comments) {
    if (comment.text.find('@') != std::string::npos)
      append_tokens(scan_cuda_source(comment.text).tokens, numbers, names, signature);
  }
  append_tokens(scanned.tokens, numbers, names, signature);
  return signature;
}

std::vector<WarmUpTask> warm_up_tasks(const StageData& data) {
  std::map<std::string, Shown> by_task;
  for (const Pair& pair : data.pairs) by_task[pair.task.id].add(pair);
  std::vector<WarmUpTask> tasks;
  for (const auto& [id, shown] : by_task) {
    tasks.push_back({id, shown.pairs, shown.kernels.size(), shown.structures.size(),
                     shown.commonest(), shown.entropy(), shown.largest_block,
                     naive_block_of(id, data), shown.words});
  }
  return tasks;
}

}  // namespace krl::service
