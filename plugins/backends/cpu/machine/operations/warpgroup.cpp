#include "plugins/backends/cpu/machine/operations/warpgroup.hpp"

#include <string>

#include "plugins/backends/cpu/machine/fault.hpp"
#include "plugins/backends/cpu/machine/memory/access.hpp"
#include "plugins/backends/cpu/machine/memory/block_memory.hpp"
#include "plugins/backends/cpu/machine/memory/faults.hpp"
#include "plugins/backends/cpu/machine/operations/matrix_instruction.hpp"
#include "plugins/backends/cpu/machine/operations/tensor.hpp"
#include "plugins/backends/cpu/machine/operations/warpgroup_matrix.hpp"
#include "plugins/backends/cpu/machine/warp.hpp"

namespace krl::machine {
namespace {

constexpr std::uint32_t kWavefrontBytes = 128;

std::string line_named(std::uint32_t line) { return "line " + std::to_string(line); }

[[noreturn]] void fail(const Instruction& at, const std::string& message) {
  throw Fault{FaultKind::kDataRace, message, at.line, -1};
}

[[noreturn]] void fail_under_way(const Instruction& at, const char* access, std::uint32_t line) {
  fail(at, std::string("a register is ") + access + " while the wgmma of " + line_named(line) +
               " uses it; wgmma.wait_group has not waited for it");
}

// ---- fence, groups ----

void fence(const Party* parties, std::size_t count, Warp& warp) {
  require_whole_warp(parties, count);
  join_warpgroup(*parties->at, warp, 1);
  warp.memory().products(warp.index()).fence();
}

void commit(const Party* parties, std::size_t count, Warp& warp) {
  require_whole_warp(parties, count);
  join_warpgroup(*parties->at, warp, 2);
  warp.memory().products(warp.index()).commit();
}

// The products that end must have found in memory what is there now.
void check_unchanged(const ProductsUnderWay::Chunk& chunk, std::uint32_t line,
                     const Instruction& at, Warp& warp) {
  BlockMemory& memory = warp.memory();
  constexpr std::uint32_t kBytes = 16;
  if (memory.is_written(chunk.offset, kBytes) &&
      digest_of_chunk(memory.shared().data() + chunk.offset) == chunk.digest) {
    return;
  }
  MemoryAccess access;
  const Request request{access, at.line, warp.index(), warp.clock(), kBytes};
  fail(at, place_of({memory.launch(), request, 0, chunk.offset}, true) +
               " is overwritten while the wgmma of " + line_named(line) +
               " reads it; wgmma.wait_group has not waited for it");
}

void wait(const Party* parties, std::size_t count, Warp& warp) {
  require_whole_warp(parties, count);
  const Instruction& at = *parties->at;
  join_warpgroup(at, warp, 3);
  warp.memory()
      .products(warp.index())
      .wait(static_cast<std::uint64_t>(at.immediate),
            [&](const ProductsUnderWay::Chunk& chunk, std::uint32_t line) {
              check_unchanged(chunk, line, at, warp);
            });
}

// ---- registers ----

void watch_read(const Instruction& i, Warp& warp, std::byte* frame, Mask) {
  const RegisterUse& use = *row<const RegisterUse>(frame, i.a);
  const ProductsUnderWay& products = warp.memory().products(warp.index());
  if (products.is_under_way(use.accumulates)) fail_under_way(i, "read", use.accumulates_line);
}

void watch_write(const Instruction& i, Warp& warp, std::byte* frame, Mask) {
  RegisterUse& use = *row<RegisterUse>(frame, i.a);
  const ProductsUnderWay& products = warp.memory().products(warp.index());
  if (products.is_under_way(use.accumulates)) fail_under_way(i, "written", use.accumulates_line);
  if (products.is_under_way(use.multiplies)) fail_under_way(i, "written", use.multiplies_line);
  use.written = products.interval();
  use.written_line = i.line;
}

// A copy is another name of the same value, which compilers give and an assembler takes away.
void watch_copy(const Instruction& i, Warp&, std::byte* frame, Mask) {
  *row<RegisterUse>(frame, i.a) = i.b == 0 ? RegisterUse{} : *row<RegisterUse>(frame, i.b);
}

}  // namespace

void join_warpgroup(const Instruction& at, Warp& warp, std::uint64_t operands) {
  BlockMemory& memory = warp.memory();
  const std::uint32_t first = warp.index() / kWarpsPerGroup * kWarpsPerGroup;
  if (first + kWarpsPerGroup > memory.warps()) {
    throw Fault{FaultKind::kDivergentBarrier,
                "wgmma takes the four warps of a warpgroup, but the last one of the block has " +
                    std::to_string(memory.warps() - first),
                at.line, -1};
  }
  memory.products(warp.index()).execute(operands ^ std::uint64_t{at.line} << 32, at.line);
}

void begin_uses(const Instruction& at, std::byte* frame,
                std::span<const std::uint32_t> accumulators, std::span<const std::uint32_t> factors,
                std::uint32_t shape, const ProductsUnderWay& products) {
  if (!products.has_fenced()) {
    fail(at, "a wgmma without a wgmma.fence before the first one of its warpgroup");
  }
  const auto require_fence = [&](const RegisterUse& use) {
    if (use.written != products.interval()) return;
    fail(at, "a wgmma uses a register that is written in " + line_named(use.written_line) +
                 " without a wgmma.fence in between");
  };
  for (const std::uint32_t place : factors) {
    RegisterUse& use = *row<RegisterUse>(frame, place);
    require_fence(use);
    if (products.is_under_way(use.accumulates)) fail_under_way(at, "read", use.accumulates_line);
    use.multiplies = products.group();
    use.multiplies_line = at.line;
  }
  for (const std::uint32_t place : accumulators) {
    RegisterUse& use = *row<RegisterUse>(frame, place);
    require_fence(use);
    if (products.is_under_way(use.multiplies)) fail_under_way(at, "written", use.multiplies_line);
    if (products.is_under_way(use.accumulates) && use.shape != shape) {
      fail_under_way(at, "used in another shape", use.accumulates_line);
    }
    use.accumulates = products.group();
    use.accumulates_line = at.line;
    use.shape = shape;
  }
}

void count_traffic(const Instruction& at, std::uint32_t warp, bool reads_a, unsigned columns) {
  constexpr unsigned kRowsOfA = 16;
  AccessCounts& counts = at.access->counts;
  const bool reads_b = warp % kWarpsPerGroup == 0;
  counts.shared_requests += unsigned{reads_a} + unsigned{reads_b};
  counts.wavefronts +=
      ((reads_a ? kRowsOfA : 0) + (reads_b ? columns : 0)) * kBytesAlongK / kWavefrontBytes;
}

Instruction watch(RegisterAccess access, std::uint32_t use, std::uint32_t copied_use) {
  Instruction instruction;
  instruction.run = access == RegisterAccess::kRead    ? watch_read
                    : access == RegisterAccess::kWrite ? watch_write
                                                       : watch_copy;
  instruction.a = use;
  instruction.b = copied_use;
  return instruction;
}

void decode_warpgroup(const ptx::Instruction& in, Operands& operands, Instruction* last,
                      Meeting* meeting) {
  if (in.has("mma_async")) return decode_warpgroup_product(in, operands, last, meeting);
  last->kind = InstructionClass::kControl;
  const std::string name = in.full_name();
  if (name == "wgmma.fence.sync.aligned" && in.operands.empty()) {
    *meeting = fence;
  } else if (name == "wgmma.commit_group.sync.aligned" && in.operands.empty()) {
    *meeting = commit;
  } else if (name == "wgmma.wait_group.sync.aligned" && in.operands.size() == 1 &&
             in.operands[0].kind == ptx::Operand::kInteger) {
    last->immediate = static_cast<std::int64_t>(in.operands[0].bits);
    *meeting = wait;
  } else {
    operands.unsupported(in);
  }
}

}  // namespace krl::machine
