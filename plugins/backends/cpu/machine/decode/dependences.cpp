#include "plugins/backends/cpu/machine/decode/dependences.hpp"

#include <algorithm>
#include <iterator>

#include "plugins/backends/cpu/machine/memory/access.hpp"

namespace krl::machine {
namespace {

// Clocks from the issue of an instruction to that of one that needs its result, by
// InstructionClass. Measured on GPUs since Volta by several authors: 4 for most, 5 for products of
// integers, about 18 for the special function unit. The others are estimates; an f64 division is
// estimated as an instruction of the special function unit and 8 of f64, each of which needs the
// one before. The model of a GPU adds the cost of memory, warp operations and barriers.
constexpr cpu::PerClass<std::uint32_t> kLatency = {4, 6, 5, 80, 4, 8, 18, 8, 32, 0, 0, 0, 0, 4, 82};

// Registers that an assembler has loads write to before it waits for the first of them.
constexpr std::uint32_t kWordsUnderWay = 32;

// Instructions that a branch may jump over and become predicated instead: an estimate.
constexpr std::uint32_t kPredicated = 12;

std::uint8_t space_accessed_by(const ptx::Instruction& instruction) {
  const auto is = [&](const char* name) {
    return instruction.has(name) || instruction.has(std::string(name) + "::cta");
  };
  return is("shared") ? 1 : is("local") ? 2 : 0;
}

// The assembler makes one register of both.
bool is_copy(const ptx::Instruction& instruction) {
  return instruction.opcode == "mov" && !instruction.guarded && instruction.operands.size() == 2 &&
         instruction.operands[1].kind == ptx::Operand::kRegister;
}

bool waits_for_copies(const ptx::Instruction& instruction) {
  return instruction.opcode == "cp" &&
         (instruction.has("wait_group") || instruction.has("wait_all"));
}

bool goes_on(Ending ending) {
  return ending == Ending::kNext || ending == Ending::kBranch || ending == Ending::kIf ||
         ending == Ending::kMeeting;
}

}  // namespace

void Dependences::add(std::uint32_t block, const ptx::Instruction& instruction,
                      InstructionClass kind, const Registers& reads, const Registers& writes,
                      MemoryAccess* access) {
  Step step;
  step.block = block;
  step.kind = kind;
  step.access = access;
  step.space = space_accessed_by(instruction);
  step.copy = is_copy(instruction);
  step.read_only = instruction.has("nc");
  step.first = static_cast<std::uint32_t>(registers_.size());
  step.reads = static_cast<std::uint32_t>(reads.size());
  step.writes = static_cast<std::uint32_t>(writes.size());
  registers_.insert(registers_.end(), reads.begin(), reads.end());
  registers_.insert(registers_.end(), writes.begin(), writes.end());
  steps_.push_back(step);
  waits_for_copies_.resize(block + 1);
  if (waits_for_copies(instruction)) waits_for_copies_[block] = true;
}

void Dependences::find_regions(std::vector<BasicBlock>* blocks,
                               const std::vector<Registers>& successors) {
  std::vector<Registers> predecessors(blocks->size());
  for (std::uint32_t b = 0; b < blocks->size(); ++b) {
    for (const std::uint32_t to : successors[b]) {
      if (to < blocks->size()) predecessors[to].push_back(b);
    }
  }
  std::uint32_t head = 0;  // head of the present region
  for (std::uint32_t b = 0; b < blocks->size(); ++b) {
    const auto within = [&](std::uint32_t from) {
      return from >= head && from < b && goes_on((*blocks)[from].ending);
    };
    const bool continues = !predecessors[b].empty() &&
                           std::all_of(predecessors[b].begin(), predecessors[b].end(), within);
    (*blocks)[b].begins_region = !continues;
    if (!continues) head = b;
  }
}

void Dependences::resolve(std::vector<BasicBlock>* blocks,
                          const std::vector<Registers>& successors) {
  waits_for_copies_.resize(blocks->size());
  behind_branch_.assign(blocks->size(), false);
  find_regions(blocks, successors);
  auto next = steps_.begin();
  for (std::uint32_t b = 0; b < blocks->size(); ++b) {
    BasicBlock& block = (*blocks)[b];
    if (block.begins_region) {
      end_region();
      begin_region();
    }
    if (behind_branch_[b]) floor_ = std::max(floor_, used_);
    const std::uint32_t before = clocks_;
    for (; next != steps_.end() && next->block == b; ++next) step(*next);
    block.chain_clocks = std::max(clocks_ - before, block.instructions);
    block.uses_earlier_loads = waits_for_copies_[b];
    if (block.ending == Ending::kIf || block.ending == Ending::kBranch) branch(block, *blocks, b);
  }
  end_region();
}

void Dependences::begin_region() {
  ++region_;
  clocks_ = used_ = floor_ = 0;
  std::fill(std::begin(stored_), std::end(stored_), 0u);
  loads_.clear();
  carriers_.clear();
}

// A short branch over a few instructions does not count. Behind any other, loads start when it is
// decided, and those where its paths join start when the values loaded on them have been used.
void Dependences::branch(const BasicBlock& block, const std::vector<BasicBlock>& blocks,
                         std::uint32_t index) {
  std::uint32_t skipped = 0;
  for (std::uint32_t b = index + 1; b < block.target && skipped <= kPredicated; ++b) {
    skipped += std::max(1u, blocks[b].instructions);
  }
  if (block.target > index && skipped <= kPredicated) return;
  floor_ = std::max(floor_, used_);
  if (block.target > index && block.target < blocks.size()) behind_branch_[block.target] = true;
}

const Dependences::Value& Dependences::value(std::uint32_t reg) const {
  static const Value kEarlier;
  return reg < values_.size() && values_[reg].region == region_ ? values_[reg] : kEarlier;
}

Dependences::Value& Dependences::written(std::uint32_t reg) {
  if (reg >= values_.size()) values_.resize(reg + 1);
  values_[reg] = {};
  values_[reg].region = region_;
  return values_[reg];
}

// When all is there that an instruction reads.
Dependences::Value Dependences::use(const Step& step) {
  Value inputs;
  for (std::uint32_t i = step.first; i < step.first + step.reads; ++i) {
    const Value& read = value(registers_[i]);
    inputs.clocks = std::max(inputs.clocks, read.clocks);
    inputs.waits = std::max(inputs.waits, read.waits);
    if (step.copy) {
      inputs.load = read.load;
    } else if (read.load != kNoLoad) {
      loads_[read.load].used = true;
    }
  }
  if (!step.copy) used_ = std::max(used_, inputs.waits);
  return inputs;
}

void Dependences::step(const Step& step) {
  Value result = use(step);
  if (!step.copy) result.clocks += kLatency[static_cast<std::size_t>(step.kind)];
  if (step.access != nullptr) {
    std::uint32_t& stored = stored_[step.space];
    if (step.writes > 0 || step.access->kind == AccessKind::kCopy) {
      result.waits = std::max(result.waits, floor_);
      if (!step.read_only) result.waits = std::max(result.waits, stored);
      result.load = static_cast<std::uint32_t>(loads_.size());
      loads_.push_back({step.access, std::max(1u, step.writes), result.waits, false});
      ++result.waits;
    }
    if (step.access->kind != AccessKind::kLoad) stored = std::max(stored, result.waits);
  }
  clocks_ = std::max(clocks_, result.clocks);
  const std::uint32_t end = step.first + step.reads + step.writes;
  for (std::uint32_t i = step.first + step.reads; i < end; ++i) {
    Value& value = written(registers_[i]);
    value.clocks = result.clocks;
    value.waits = result.waits;
    value.load = result.load;
    if (result.load != kNoLoad) carriers_.push_back(registers_[i]);
  }
}

// Loads of one depth wait together, as many as there are registers for.
void Dependences::group_loads() {
  std::stable_sort(loads_.begin(), loads_.end(),
                   [](const Load& a, const Load& b) { return a.waits < b.waits; });
  std::uint32_t wait = 0, words = 0, depth = 0;
  for (const Load& load : loads_) {
    load.access->carried = !load.used;
    if (!load.used) continue;
    if (words > 0 && (load.waits != depth || words + load.words > kWordsUnderWay)) {
      ++wait;
      words = 0;
    }
    depth = load.waits;
    words += load.words;
    load.access->wait = wait;
  }
}

void Dependences::end_region() {
  for (const std::uint32_t reg : carriers_) {
    const std::uint32_t load = value(reg).load;
    if (load == kNoLoad || loads_[load].used) continue;
    if (reg >= carries_load_.size()) carries_load_.resize(reg + 1);
    carries_load_[reg] = true;
  }
  group_loads();
}

}  // namespace krl::machine
