#include "plugins/backends/cpu/machine/launch.hpp"

#include <algorithm>
#include <new>
#include <numeric>

namespace krl::machine {
namespace {

// Instructions that a block may execute before others have a turn: at first, and once it has used
// that up. The first turn becomes shorter while blocks use it up.
constexpr std::uint64_t kFirstTurn = 2'000'000, kTurn = 4'000;

// Blocks that are resident at the same time, at most.
constexpr std::size_t kMostResident = 4096;

// Side by side: blocks, and for how many instructions of a launch.
constexpr std::size_t kSideBySide = 64;
constexpr std::uint64_t kSideBySideWork = 500'000;

}  // namespace

// Shuffled: a stride that visits each block once.
std::uint64_t GridRunner::block_at(std::uint64_t n) const {
  const std::uint64_t block = (start_ + n * (stride_ % blocks_)) % blocks_;
  return request_.order == cpu::Order::kReversed ? blocks_ - 1 - block : block;
}

GridRunner::Block GridRunner::next_block(std::uint64_t index) {
  Block block;
  if (spare_.empty()) {
    block = std::make_unique<ThreadBlock>(memory_);
  } else {
    block = std::move(spare_.back());
    spare_.pop_back();
  }
  BlockShape shape;
  shape.grid = request_.grid;
  shape.block = request_.block;
  shape.index = {static_cast<std::uint32_t>(index % request_.grid[0]),
                 static_cast<std::uint32_t>(index / request_.grid[0] % request_.grid[1]),
                 static_cast<std::uint32_t>(index / request_.grid[0] / request_.grid[1])};
  shape.static_shared = program_->shared_bytes;
  shape.dynamic_shared = request_.dynamic_shared_bytes;
  running_ = nullptr;
  block->begin(*program_, shape, request_.order, request_.seed + index);
  return block;
}

void GridRunner::take_turn(ThreadBlock& block, std::uint64_t steps) {
  running_ = &block;
  work_ += block.run(steps);
  if (work_ <= request_.work_limit) return;
  throw Fault{FaultKind::kWorkLimit,
              "the kernel did not finish within " + std::to_string(request_.work_limit) +
                  " warp instructions; does it loop forever?",
              block.running().current()->line, -1};
}

void GridRunner::begin_block() {
  const std::uint64_t index = block_at(begun_++);
  const auto at = resident_.emplace(index, next_block(index)).first;
  take_turn(*at->second, first_turn_);
  if (!at->second->ended()) {
    first_turn_ = std::max(first_turn_ / 2, kTurn);
    return;
  }
  first_turn_ = std::min(first_turn_ * 2, kFirstTurn);
  spare_.push_back(std::move(at->second));
  resident_.erase(at);
}

// In the other direction than last time; blocks that end leave.
template <class Turn>
void GridRunner::for_each_resident(const Turn& take) {
  const auto turn = [&](Block& block) {
    take(*block);
    if (block->ended()) spare_.push_back(std::move(block));
  };
  if (upwards_) {
    for (auto at = resident_.begin(); at != resident_.end(); ++at) turn(at->second);
  } else {
    for (auto at = resident_.rbegin(); at != resident_.rend(); ++at) turn(at->second);
  }
  upwards_ = !upwards_;
  std::erase_if(resident_, [](const auto& entry) { return entry.second == nullptr; });
}

// A short turn for each warp of each resident block.
void GridRunner::run_side_by_side() {
  while (begun_ < blocks_ && resident_.size() < kSideBySide) {
    const std::uint64_t index = block_at(begun_++);
    resident_.emplace(index, next_block(index));
  }
  for_each_resident([this](ThreadBlock& block) {
    running_ = &block;
    side_by_side_ += block.run_side_by_side();
  });
}

void GridRunner::run_blocks() {
  while (begun_ < blocks_ || !resident_.empty()) {
    const bool side_by_side = cpu::runs_side_by_side(request_.order);
    if (side_by_side && side_by_side_ < kSideBySideWork) {
      run_side_by_side();
    } else if (begun_ < blocks_ && resident_.size() < kMostResident) {
      begin_block();
    } else {
      for_each_resident([this](ThreadBlock& block) { take_turn(block, kTurn); });
    }
  }
}

LaunchOutcome GridRunner::run(Program& program, const LaunchRequest& request) {
  program_ = &program;
  spare_.clear();  // their frames belong to the shape of another launch
  request_ = request;
  blocks_ = std::uint64_t{request.grid[0]} * request.grid[1] * request.grid[2];
  begun_ = work_ = side_by_side_ = start_ = 0;
  stride_ = 1;
  first_turn_ = kFirstTurn;
  upwards_ = true;
  if (request.order == cpu::Order::kShuffled && blocks_ > 2) {
    start_ = request.seed % blocks_;
    stride_ = request.seed / 3 % (blocks_ - 1) + 1;
    while (std::gcd(stride_, blocks_) != 1) ++stride_;
  }
  LaunchOutcome outcome;
  try {
    run_blocks();
  } catch (const Fault& fault) {
    outcome.fault = described(fault);
  } catch (const std::bad_alloc&) {
    outcome.fault.emplace();
    outcome.fault->kind = FaultKind::kUnsupported;
    outcome.fault->message = "more memory than the machine may use";
  }
  if (outcome.fault) {
    resident_.clear();
    spare_.clear();
  }
  outcome.work = work_;
  return outcome;
}

cpu::Fault GridRunner::described(const Fault& fault) const {
  cpu::Fault out;
  out.kind = fault.kind;
  out.message = fault.message;
  out.line = fault.line;
  if (running_ == nullptr) return out;
  const ThreadBlock& block = *running_;
  if (out.line == 0 && block.running().current() != nullptr)
    out.line = block.running().current()->line;
  out.block = block.shape().index;
  const std::uint32_t lane = fault.lane < 0 ? 0 : static_cast<std::uint32_t>(fault.lane);
  const std::uint32_t thread = block.running().index() * kLanes + lane;
  const Dim3& size = request_.block;
  out.thread = {thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]};
  return out;
}

}  // namespace krl::machine
