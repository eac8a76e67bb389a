#include "plugins/backends/cpu/machine/decode/control_flow.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <string_view>
#include <utility>

#include "plugins/backends/cpu/machine/decode/dependences.hpp"
#include "plugins/backends/cpu/machine/decode/execution_order.hpp"
#include "plugins/backends/cpu/machine/decode/idle_loads.hpp"
#include "plugins/backends/cpu/machine/decode/launch_invariants.hpp"
#include "plugins/backends/cpu/machine/decode/product_registers.hpp"
#include "plugins/backends/cpu/machine/fault.hpp"
#include "plugins/backends/cpu/machine/memory/access.hpp"
#include "plugins/backends/cpu/machine/memory/device_calls.hpp"
#include "plugins/backends/cpu/machine/memory/lane_addresses.hpp"
#include "plugins/backends/cpu/machine/memory/memory_instruction.hpp"

namespace krl::machine {
namespace {

using ptx::Operand;

using DecodeOperation = bool (*)(const ptx::Instruction&, Operands&, Instruction*);
constexpr DecodeOperation kOperations[] = {decode_memory,   decode_move,       decode_arithmetic,
                                           decode_floating, decode_comparison, decode_conversion,
                                           decode_warp};

[[noreturn]] void trap(const Instruction& instruction, Warp&, std::byte*, Mask mask) {
  throw Fault{FaultKind::kTrap, "the kernel executed a trap", instruction.line,
              std::countr_zero(mask)};
}

// Instructions that a thread executes repeatedly while it waits for others.
bool polls(const ptx::Instruction& instruction) {
  static constexpr std::string_view kOpcodes[] = {"atom", "membar", "fence", "mbarrier",
                                                  "nanosleep"};
  static constexpr std::string_view kStrong[] = {"volatile", "relaxed", "acquire"};
  const auto is = [&](std::string_view opcode) { return instruction.opcode == opcode; };
  const auto has = [&](std::string_view modifier) { return instruction.has(modifier); };
  return std::any_of(std::begin(kOpcodes), std::end(kOpcodes), is) ||
         (is("ld") && std::any_of(std::begin(kStrong), std::end(kStrong), has));
}

// Memory that other threads see.
bool touches_memory(const ptx::Instruction& instruction) {
  static constexpr std::string_view kOpcodes[] = {"ld", "st", "atom", "red"};
  static constexpr std::string_view kOther[] = {"param", "local", "const"};
  return std::find(std::begin(kOpcodes), std::end(kOpcodes), instruction.opcode) !=
             std::end(kOpcodes) &&
         std::none_of(std::begin(kOther), std::end(kOther),
                      [&](std::string_view space) { return instruction.has(space); });
}

// An access that takes part in handing over from one thread to another.
bool is_strong(const ptx::Instruction& instruction) {
  static constexpr std::string_view kStrong[] = {"volatile", "relaxed", "acquire", "release"};
  const auto has = [&](std::string_view modifier) { return instruction.has(modifier); };
  const bool plain = instruction.opcode == "ld" || instruction.opcode == "st";
  return instruction.opcode == "atom" || instruction.opcode == "red" ||
         (plain && std::any_of(std::begin(kStrong), std::end(kStrong), has));
}

// True if a loop with this instruction does more than wait for other threads.
bool works(const ptx::Instruction& instruction, InstructionClass kind) {
  static constexpr InstructionClass kKinds[] = {
      InstructionClass::kFloat, InstructionClass::kDouble, InstructionClass::kDoubleDivide,
      InstructionClass::kSpecial, InstructionClass::kTensor};
  const bool accesses = touches_memory(instruction) || instruction.opcode == "cp";
  return (accesses && !polls(instruction)) ||
         std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
}

void do_nothing(const Instruction&, Warp&, std::byte*, Mask) {}

Operand variable(Operand::Scope scope, std::size_t index) {
  Operand operand;
  operand.kind = Operand::kVariable;
  operand.scope = scope;
  operand.index = static_cast<std::uint32_t>(index);
  return operand;
}

class BodyDecoder {
 public:
  BodyDecoder(const ptx::Function& source, const ModuleLayout& module, Grain grain,
              Function* function)
      : source_(source),
        module_(module),
        grain_(grain),
        function_(*function),
        layout_(source, module, *function),
        invariants_(source),
        product_registers_(source) {}

  void decode() {
    if (!source_.entry) add_slots();
    find_targets();
    open_block();
    for (std::size_t i = 0; i < source_.body.size(); ++i) {
      const bool yields = grain_ == Grain::kStrongAccess && is_strong(source_.body[i]);
      const bool begins_block =
          is_target_[i] || yields || (grain_ == Grain::kAccess && touches_memory(source_.body[i]));
      if (begins_block && !is_empty()) end_block(Ending::kNext);
      block().yields |= yields;
      block_at_[i] = current_;
      const std::size_t known = function_.accesses.size();
      instruction(source_.body[i]);
      const bool has_access = function_.accesses.size() > known;
      idle_loads_.note(source_.body[i], has_access ? function_.accesses.back().get() : nullptr);
    }
    if (is_target_[source_.body.size()] && !is_empty()) end_block(Ending::kNext);
    block_at_[source_.body.size()] = current_;
    block().ending = Ending::kReturn;
    count(InstructionClass::kControl);
    close_block();
    connect();
    std::vector<std::vector<std::uint32_t>> successors;
    for (const BlockRegisters& registers : registers_) successors.push_back(registers.successors);
    rank(successors);
    dependences_.resolve(&function_.blocks, successors);
    find_earlier_loads();
    find_reductions();
    idle_loads_.mark();
    const auto unwritten = registers_read_unwritten(registers_, layout_.register_count());
    for (const std::uint32_t reg : unwritten) {
      function_.unset.push_back(layout_.row_of(reg));
      function_.unset_lines.push_back(first_read_[reg]);
    }
    invariants_.move(unwritten, &function_);
  }

 private:
  BasicBlock& block() { return function_.blocks[current_]; }
  bool is_empty() { return block().first == function_.instructions.size(); }

  void add_slots() {
    for (std::size_t i = 0; i < source_.parameters.size(); ++i) {
      function_.parameters.push_back(layout_.slot_of(variable(Operand::kParameters, i)));
    }
    for (std::size_t i = 0; i < source_.results.size(); ++i) {
      function_.results.push_back(layout_.slot_of(variable(Operand::kResults, i)));
    }
  }

  void find_targets() {
    is_target_.resize(source_.body.size() + 1);
    block_at_.resize(source_.body.size() + 1);
    for (const ptx::Instruction& instruction : source_.body) {
      for (const Operand& operand : instruction.operands) {
        if (operand.kind == Operand::kLabel && operand.name.empty())
          is_target_[operand.index] = true;
      }
    }
    for (const ptx::TargetList& list : source_.targets) {
      for (const std::uint32_t label : list.labels) is_target_[label] = true;
    }
  }

  void open_block() {
    current_ = static_cast<std::uint32_t>(function_.blocks.size());
    function_.blocks.emplace_back();
    registers_.emplace_back();
    block().first = static_cast<std::uint32_t>(function_.instructions.size());
  }
  void close_block() { block().end = static_cast<std::uint32_t>(function_.instructions.size()); }
  void end_block(Ending ending) {
    block().ending = ending;
    close_block();
    open_block();
  }

  void count(InstructionClass kind) {
    ++block().classes[static_cast<std::size_t>(kind)];
    ++block().instructions;
  }

  void instruction(const ptx::Instruction& from) {
    layout_.begin_instruction(from);
    // Accumulators that a product begins need no value.
    line_ = from.opcode == "wgmma" ? 0 : from.place.source;
    const std::string& opcode = from.opcode;
    if (opcode == "bra") return branch(from);
    if (opcode == "brx") return branch_by_table(from);
    if (opcode == "call") return call(from);
    if (opcode == "ret" || opcode == "exit") {
      return plain_ending(from, opcode == "ret" ? Ending::kReturn : Ending::kExit);
    }
    const bool is_barrier = (opcode == "bar" || opcode == "barrier") && !from.has("warp");
    if (is_barrier) return barrier(from);
    if (is_meeting(from)) return meeting(from);
    add(from, simple(from));
  }

  Instruction simple(const ptx::Instruction& from) {
    Instruction out;
    if (from.opcode == "trap" || from.opcode == "brkpt") {
      out.run = trap;
      out.kind = InstructionClass::kControl;
      return out;
    }
    if (from.opcode == "nanosleep" || from.opcode == "pmevent") {
      out.run = do_nothing;
      out.kind = InstructionClass::kControl;
      return out;
    }
    for (const DecodeOperation decode : kOperations) {
      if (decode(from, layout_, &out)) return out;
    }
    layout_.unsupported(from);
  }

  void add(const ptx::Instruction& from, Instruction out) {
    if (from.guarded) set_guard(from, &out);
    finish(from, &out);
    note_registers(!from.guarded);
    dependences_.add(current_, from, out.kind, layout_.reads(), layout_.writes(), out.access);
    if (out.kind == InstructionClass::kAtomic && out.access != nullptr && !layout_.writes().empty())
      atomics_.emplace_back(layout_.writes().front(), out.access);
    if (is_strong(from) && !layout_.writes().empty()) strong_reads_.push_back(out);
    invariants_.note(from, static_cast<std::uint32_t>(function_.instructions.size()));
    function_.instructions.push_back(out);
    block().polls |= polls(from);
    block().works |= works(from, out.kind);
    count(out.kind);
  }

  // Instructions that prepare the operands precede it.
  void finish(const ptx::Instruction& from, Instruction* out) {
    out->line = from.place.source;
    product_registers_.watch(from, *out, &layout_);
    for (Instruction& before : layout_.take_prologue()) {
      before.line = out->line;
      function_.instructions.push_back(before);
    }
  }

  void set_guard(const ptx::Instruction& from, Instruction* out) {
    Operand guard = from.guard;
    guard.negated = false;
    out->guard = layout_.source_any(guard);
    out->guard_negated = from.guard.negated;
  }

  void note_registers(bool writes_all_lanes) {
    invariants_.note_writes(layout_.writes());
    BlockRegisters& registers = registers_[current_];
    is_read_.resize(layout_.register_count());
    first_read_.resize(layout_.register_count());
    for (const std::uint32_t reg : layout_.reads()) {
      if (!is_read_[reg]) first_read_[reg] = line_;
      is_read_[reg] = true;
      if (!written_here(reg)) registers.read_first.push_back(reg);
    }
    if (!writes_all_lanes) return;
    for (const std::uint32_t reg : layout_.writes()) {
      written_in_.resize(layout_.register_count());
      if (written_here(reg)) continue;
      written_in_[reg] = current_ + 1;
      registers.written.push_back(reg);
    }
  }
  bool written_here(std::uint32_t reg) const {
    return reg < written_in_.size() && written_in_[reg] == current_ + 1;
  }

  // Lanes for which the guard does not hold go around what comes next. Returns the block that goes
  // around, whose target is the block after it.
  std::uint32_t go_around(const ptx::Instruction& from) {
    set_guard(from, &block().last);
    block().last.a = block().last.guard;
    block().last.guard = 0;
    block().last.guard_negated = !from.guard.negated;
    finish(from, &block().last);
    note_registers(false);
    count(InstructionClass::kControl);
    const std::uint32_t around = current_;
    end_block(Ending::kIf);
    layout_.begin_instruction(from);
    return around;
  }

  // Adds an ending that only some lanes may take, in a separate block; `fill` writes its
  // instructions.
  template <class Fill>
  void ending(const ptx::Instruction& from, Ending kind, InstructionClass cost, Fill fill) {
    const std::uint32_t around = from.guarded ? go_around(from) : kNone;
    if (!is_empty()) end_block(Ending::kNext);
    block().last.kind = cost;
    fill();
    finish(from, &block().last);
    note_registers(true);
    dependences_.add(current_, from, block().last.kind, layout_.reads(), layout_.writes(),
                     block().last.access);
    block().works |= works(from, block().last.kind);
    count(block().last.kind);
    end_block(kind);
    add_epilogue(from, around != kNone);
    if (around != kNone) function_.blocks[around].target = current_;
  }

  // `closed`: in a separate block, as other lanes go around it.
  void add_epilogue(const ptx::Instruction& from, bool closed) {
    for (Instruction& part : layout_.take_epilogue()) {
      part.line = from.place.source;
      function_.instructions.push_back(part);
    }
    if (closed && !is_empty()) end_block(Ending::kNext);
  }

  void branch(const ptx::Instruction& from) {
    if (from.operands.size() != 1 || from.operands[0].kind != Operand::kLabel)
      layout_.unsupported(from);
    BasicBlock& here = block();
    if (from.guarded) {
      set_guard(from, &here.last);
      here.last.a = std::exchange(here.last.guard, 0);
    }
    finish(from, &here.last);
    note_registers(false);
    dependences_.add(current_, from, InstructionClass::kControl, layout_.reads(), {}, nullptr);
    count(InstructionClass::kControl);
    here.target = from.operands[0].index;
    targets_to_connect_.push_back(current_);
    end_block(from.guarded ? Ending::kIf : Ending::kBranch);
  }

  void branch_by_table(const ptx::Instruction& from) {
    const bool known = from.has("idx") && from.operands.size() == 2;
    const auto list = std::find_if(source_.targets.begin(), source_.targets.end(),
                                   [&](const ptx::TargetList& targets) {
                                     return known && targets.name == from.operands[1].name;
                                   });
    if (list == source_.targets.end() || list->labels.empty()) layout_.unsupported(from);
    ending(from, Ending::kSwitch, InstructionClass::kControl, [&] {
      block().last.a = layout_.source(from.operands[0], ptx::Type::kU32);
      block().targets = list->labels;
      tables_to_connect_.push_back(current_);
    });
  }

  void plain_ending(const ptx::Instruction& from, Ending kind) {
    if (from.guarded) return ending(from, kind, InstructionClass::kControl, [] {});
    finish(from, &block().last);
    count(InstructionClass::kControl);
    end_block(kind);
  }

  void meeting(const ptx::Instruction& from) {
    ending(from, Ending::kMeeting, InstructionClass::kWarp,
           [&] { decode_meeting(from, layout_, &block().last, &block().meeting); });
  }

  // Threads that arrive and wait at once have done nothing in between.
  void cluster_barrier(const ptx::Instruction& from) {
    static constexpr std::string_view kArrival[] = {"cluster", "arrive", "aligned", "release",
                                                    "relaxed"};
    static constexpr std::string_view kWait[] = {"cluster", "wait", "aligned", "acquire"};
    const bool arrive = from.has("arrive");
    const std::span<const std::string_view> known =
        arrive ? std::span<const std::string_view>(kArrival) : kWait;
    const bool is_known =
        std::all_of(from.modifiers.begin(), from.modifiers.end(), [&](const std::string& name) {
          return std::find(known.begin(), known.end(), name) != known.end();
        });
    if (from.opcode != "barrier" || !is_known || arrive == from.has("wait") ||
        !from.operands.empty()) {
      layout_.unsupported(from);
    }
    if (arrive) {
      Instruction out;
      out.run = arrive_at_cluster;
      out.kind = InstructionClass::kBarrier;
      out.extra[0] = from.has("relaxed");
      return add(from, out);
    }
    if (!from.guarded && !is_empty() && function_.instructions.back().run == arrive_at_cluster)
      function_.instructions.back().extra[1] = 1;
    ending(from, Ending::kClusterWait, InstructionClass::kControl, [] {});
  }

  void barrier(const ptx::Instruction& from) {
    if (from.has("cluster")) return cluster_barrier(from);
    const bool red = from.has("red"), arrive = from.has("arrive");
    const std::size_t results = red ? 1 : 0, predicates = red ? 1 : 0, n = from.operands.size();
    const bool counted = n == results + predicates + 2;
    if ((!counted && n != results + predicates + 1) || (arrive && !counted)) {
      layout_.unsupported(from);
    }
    ending(from, Ending::kBarrier, InstructionClass::kBarrier, [&] {
      Instruction& last = block().last;
      BarrierRequest& request = block().barrier;
      request.counted = counted;
      request.kind = arrive             ? BarrierRequest::kArrive
                     : from.has("popc") ? BarrierRequest::kCount
                     : from.has("and")  ? BarrierRequest::kAnd
                     : from.has("or")   ? BarrierRequest::kOr
                                        : BarrierRequest::kSync;
      last.a = layout_.source(from.operands[results], ptx::Type::kU32);
      if (counted) last.b = layout_.source(from.operands[results + 1], ptx::Type::kU32);
      if (!red) return;
      if (request.kind == BarrierRequest::kSync) layout_.unsupported(from);
      const bool is_count = request.kind == BarrierRequest::kCount;
      last.c = layout_.source(from.operands.back(), ptx::Type::kPredicate);
      last.d =
          layout_.destination(from.operands[0], is_count ? ptx::Type::kU32 : ptx::Type::kPredicate);
    });
  }

  void call(const ptx::Instruction& from) {
    const bool has_results = !from.operands.empty() && from.operands[0].kind == Operand::kList;
    const std::size_t at = has_results ? 1 : 0;
    if (from.operands.size() <= at) layout_.unsupported(from);
    const Operand& callee = from.operands[at];
    Call call;
    if (has_results) call.results = slots(from.operands[0]);
    if (from.operands.size() > at + 1 && from.operands[at + 1].kind == Operand::kList) {
      call.arguments = slots(from.operands[at + 1]);
    }
    if (callee.kind == Operand::kFunction) {
      const auto found = module_.decoded.find(callee.name);
      if (found == module_.decoded.end()) {
        if (device_call(from, callee.name, call)) return;
        layout_.fail("the function " + callee.name);
      }
      call.callee = found->second;
    } else {
      for (const auto& [name, function] : module_.decoded) {
        if (!function->entry)
          call.candidates.emplace_back(module_.functions.find(name)->second, function);
      }
    }
    function_.calls.push_back(std::move(call));
    ending(from, Ending::kCall, InstructionClass::kControl, [&] {
      block().target = static_cast<std::uint32_t>(function_.calls.size() - 1);
      if (callee.kind != Operand::kFunction)
        block().last.a = layout_.source(callee, ptx::Type::kU64);
    });
  }

  // True for a function that the machine itself carries out.
  bool device_call(const ptx::Instruction& from, std::string_view name, const Call& call) {
    const bool prints = name == "vprintf";
    if (!prints && name != "__assertfail") return false;
    const std::size_t pointers = prints ? 2 : 1;
    if (call.arguments.size() < pointers) layout_.unsupported(from);
    for (std::size_t p = 0; p < pointers; ++p)
      if (call.arguments[p].bytes != sizeof(std::uint64_t)) layout_.unsupported(from);
    Instruction out;
    out.kind = InstructionClass::kControl;
    out.run = prints ? print : fail_assertion;
    out.a = call.arguments[0].offset;
    if (prints) out.b = call.arguments[1].offset;
    if (!call.results.empty()) {
      if (call.results[0].bytes != sizeof(std::uint32_t)) layout_.unsupported(from);
      out.d = call.results[0].offset;
    }
    add(from, out);
    return true;
  }

  std::vector<ParameterSlot> slots(const Operand& list) {
    std::vector<ParameterSlot> slots;
    for (const Operand& element : list.elements) {
      if (element.kind != Operand::kVariable)
        layout_.fail("a call with an argument that is not a .param variable");
      slots.push_back(layout_.slot_of(element));
    }
    return slots;
  }

  // Targets were places in the text until all blocks were there.
  void connect() {
    for (const std::uint32_t b : targets_to_connect_) {
      function_.blocks[b].target = block_at_[function_.blocks[b].target];
    }
    for (const std::uint32_t b : tables_to_connect_) {
      for (std::uint32_t& target : function_.blocks[b].targets) target = block_at_[target];
    }
    for (std::uint32_t b = 0; b < function_.blocks.size(); ++b) {
      const BasicBlock& block = function_.blocks[b];
      std::vector<std::uint32_t>& to = registers_[b].successors;
      const bool goes_on = block.ending != Ending::kBranch && block.ending != Ending::kSwitch &&
                           block.ending != Ending::kReturn && block.ending != Ending::kExit;
      if (block.ending == Ending::kBranch || block.ending == Ending::kIf)
        to.push_back(block.target);
      if (goes_on) to.push_back(b + 1);
      to.insert(to.end(), block.targets.begin(), block.targets.end());
    }
  }

  void rank(const std::vector<std::vector<std::uint32_t>>& successors) {
    const auto ranks = execution_order(successors);
    for (std::size_t b = 0; b < ranks.size(); ++b) function_.blocks[b].rank = ranks[b];
  }

  void find_earlier_loads() {
    for (std::size_t b = 0; b < registers_.size(); ++b) {
      const auto& reads = registers_[b].read_first;
      function_.blocks[b].uses_earlier_loads |=
          std::any_of(reads.begin(), reads.end(),
                      [this](std::uint32_t reg) { return dependences_.carries_load(reg); });
    }
  }

  void find_reductions() {
    for (const auto& [reg, access] : atomics_) {
      access->reduces &= !is_read_[reg];
      access->replaces &= !is_read_[reg];
    }
    for (const Instruction& read : strong_reads_) {
      if (read.access == nullptr || read.access->reduces) continue;
      function_.warps_hand_over = true;
      function_.blocks_hand_over |= AccessForm::space(read) != ptx::Space::kShared;
    }
  }

  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  const ptx::Function& source_;
  const ModuleLayout& module_;
  const Grain grain_;
  Function& function_;
  FrameLayout layout_;
  Dependences dependences_;
  LaunchInvariants invariants_;
  IdleLoads idle_loads_;
  ProductRegisters product_registers_;
  std::uint32_t current_ = 0;
  std::vector<bool> is_target_;
  std::vector<std::uint32_t> block_at_;  // by place in the text
  std::vector<BlockRegisters> registers_;
  std::vector<std::uint32_t> written_in_;  // per register: the block that wrote it last, + 1
  std::vector<std::uint32_t> targets_to_connect_, tables_to_connect_;
  std::vector<bool> is_read_;              // registers, by any instruction
  std::vector<std::uint32_t> first_read_;  // … the line of the first
  std::uint32_t line_ = 0;                 // line of the present instruction, as a first reader
  std::vector<Instruction> strong_reads_;
  std::vector<std::pair<std::uint32_t, MemoryAccess*>> atomics_;  // and where the old value goes
};

}  // namespace

void decode_body(const ptx::Function& source, const ModuleLayout& module, Grain grain,
                 Function* function) {
  BodyDecoder(source, module, grain, function).decode();
}

}  // namespace krl::machine
