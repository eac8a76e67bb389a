#include "plugins/backends/cuda/instruction_classes.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "plugins/backends/cuda/ptx_reader.hpp"

namespace krl {
namespace {

using Count = std::int64_t InstructionCounts::*;

constexpr std::pair<const char*, Count> kValueNames[] = {
    {"shuffles", &InstructionCounts::shuffles},
    {"votes", &InstructionCounts::votes},
    {"barriers", &InstructionCounts::barriers},
    {"vector_accesses", &InstructionCounts::vector_accesses},
    {"tensor_instructions", &InstructionCounts::tensor_instructions},
    {"atomics", &InstructionCounts::atomics},
    {"local_accesses", &InstructionCounts::local_accesses},
    {"asynchronous_copies", &InstructionCounts::asynchronous_copies},
};

// An opcode's parts between its dots: "ld.global.v4.f32".
class Opcode {
 public:
  explicit Opcode(std::string_view text) {
    for (std::size_t dot; (dot = text.find('.')) != std::string_view::npos;) {
      parts_.push_back(text.substr(0, dot));
      text.remove_prefix(dot + 1);
    }
    parts_.push_back(text);
  }

  template <class... Names>
  bool is(Names... names) const {
    return ((parts_[0] == names) || ...);
  }
  template <class... Names>
  bool has(Names... names) const {
    return (has_part(names) || ...);
  }

 private:
  bool has_part(std::string_view name) const {
    return std::find(parts_.begin(), parts_.end(), name) != parts_.end();
  }
  std::vector<std::string_view> parts_;
};

void add(const Opcode& opcode, InstructionCounts& counts) {
  const bool access = opcode.is("ld", "st");
  const bool elsewhere = opcode.has("shared", "shared::cta", "shared::cluster", "local", "param",
                                    "param::entry", "param::func", "const");
  if (opcode.is("shfl")) ++counts.shuffles;
  if (opcode.is("vote", "match", "redux", "activemask")) ++counts.votes;
  if (opcode.is("bar", "barrier") && !opcode.has("warp")) ++counts.barriers;
  if (access && !elsewhere && opcode.has("v2", "v4", "v8")) ++counts.vector_accesses;
  const bool matrix = opcode.has("mma", "mma_async");
  if (opcode.is("mma", "wmma", "wgmma", "tcgen05") && matrix) ++counts.tensor_instructions;
  if (opcode.is("atom", "red")) ++counts.atomics;
  if (access && opcode.has("local")) ++counts.local_accesses;
  const bool waits = opcode.has("commit_group", "wait_group", "wait_all", "mbarrier");
  if (opcode.is("cp") && opcode.has("async") && !waits) ++counts.asynchronous_copies;
}

}  // namespace

InstructionCounts count_instructions(std::string_view ptx, const std::vector<std::string>& names) {
  const std::vector<PtxFunction> functions = read_ptx(ptx);
  std::map<std::string_view, const PtxFunction*> waiting;  // to be counted, if something calls it
  for (const PtxFunction& function : functions) waiting.emplace(function.name, &function);
  InstructionCounts counts;
  std::vector<std::string_view> reached(names.begin(), names.end());
  while (!reached.empty()) {
    const auto found = waiting.find(reached.back());
    reached.pop_back();
    if (found == waiting.end()) continue;
    const PtxFunction& function = *found->second;
    waiting.erase(found);
    for (const std::string& opcode : function.opcodes) add(Opcode(opcode), counts);
    reached.insert(reached.end(), function.called.begin(), function.called.end());
  }
  return counts;
}

void add_instruction_values(const InstructionCounts& counts, EvaluationRecord* record) {
  for (const auto& [name, count] : kValueNames) {
    record->values.push_back({-1, name, "", static_cast<double>(counts.*count)});
  }
}

}  // namespace krl
