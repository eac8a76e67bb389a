#include "plugins/backends/cpu/machine/launch.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <numeric>
#include <utility>

#include "plugins/backends/cpu/machine/memory/mbarrier.hpp"

namespace krl::machine {
namespace {

// Instructions that a block may execute before others have a turn: at first, and once it has used
// that up. The first turn becomes shorter while blocks use it up.
constexpr std::uint64_t kFirstTurn = 2'000'000, kTurn = 4'000;

// Blocks that are resident at the same time, at most.
constexpr std::size_t kMostResident = 4096;

// Blocks that go on in the order of their times, unless all of them wait for others.
constexpr std::size_t kInTime = 256;
// … and instructions of a launch until they no longer do: many threads that compete for a word make
// little progress at a time.
constexpr std::uint64_t kInTimeWork = 10'000'000;

// All blocks wait: for how many more rounds of their loops, and instructions. A loop may end by
// itself after some rounds.
constexpr std::uint64_t kRounds = 5000, kRoundsWork = 1'000'000;

// Side by side: blocks, and for how many instructions of a launch.
constexpr std::size_t kSideBySide = 64;
constexpr std::uint64_t kSideBySideWork = 500'000;

}  // namespace

// Shuffled: a stride that visits each cluster once.
std::uint64_t GridRunner::cluster_at(std::uint64_t n) const {
  const std::uint64_t cluster = (start_ + n * (stride_ % clusters_)) % clusters_;
  return request_.order == cpu::Order::kReversed ? clusters_ - 1 - cluster : cluster;
}

// Returns the number of the cluster to begin next.
std::uint64_t GridRunner::next_cluster() {
  if (was_begun_.empty()) return cluster_at(begun_++);
  while (was_begun_[first_not_begun_]) ++first_not_begun_;
  ++begun_;
  return first_not_begun_++;
}

void GridRunner::begin_rest_ascending() {
  ascending_ = true;
  was_begun_.assign(clusters_, false);
  for (std::uint64_t n = 0; n < begun_; ++n) was_begun_[cluster_at(n)] = true;
  most_resident_ = std::min(2 * most_resident_, kMostResident);
}

// Begins the blocks of the next cluster: places_ are theirs, in the order of their first turns.
void GridRunner::begin_cluster(double start) {
  const std::uint64_t number = next_cluster();
  places_.clear();
  if (!program_->uses_cluster) {
    resident_.emplace(number, next_block(number, start, nullptr));
    places_.push_back(number);
    return;
  }
  const Dim3& size = program_->cluster;
  const std::uint64_t across = request_.grid[0] / size[0], down = request_.grid[1] / size[1];
  const Dim3 first = {static_cast<std::uint32_t>(number % across) * size[0],
                      static_cast<std::uint32_t>(number / across % down) * size[1],
                      static_cast<std::uint32_t>(number / across / down) * size[2]};
  ResidentCluster& cluster = *(held_[number] = std::make_unique<ResidentCluster>());
  for (std::uint32_t rank = 0; rank < cluster_blocks_; ++rank) {
    const std::uint64_t x = first[0] + rank % size[0], y = first[1] + rank / size[0] % size[1],
                        z = first[2] + rank / size[0] / size[1];
    places_.push_back((z * request_.grid[1] + y) * request_.grid[0] + x);
    Block block = next_block(places_.back(), start, &cluster.cluster);
    cluster_of_[block.get()] = number;
    resident_.emplace(places_.back(), std::move(block));
  }
  if (request_.order == cpu::Order::kReversed) std::reverse(places_.begin(), places_.end());
  if (request_.order == cpu::Order::kShuffled) {
    const auto first = static_cast<std::ptrdiff_t>(request_.seed % places_.size());
    std::rotate(places_.begin(), places_.begin() + first, places_.end());
  }
}

// Keeps a block that has ended for another one to use: those of a cluster once all of them have.
void GridRunner::put_away(Block block) {
  if (!program_->uses_cluster) {
    spare_.push_back(std::move(block));
    return;
  }
  const auto of = cluster_of_.find(block.get());
  const auto held = held_.find(of->second);
  cluster_of_.erase(of);
  std::vector<Block>& ended = held->second->ended;
  ended.push_back(std::move(block));
  if (ended.size() < cluster_blocks_) return;
  std::move(ended.begin(), ended.end(), std::back_inserter(spare_));
  held_.erase(held);
}

GridRunner::Block GridRunner::next_block(std::uint64_t index, double start, Cluster* cluster) {
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
  shape.cluster = program_->cluster;
  shape.static_shared = program_->shared_bytes;
  shape.dynamic_shared = request_.dynamic_shared_bytes;
  running_ = nullptr;
  block->begin(*program_, shape, request_.order, request_.seed + index, start, cluster);
  return block;
}

void GridRunner::take_turn(ThreadBlock& block, std::uint64_t steps, double horizon) {
  running_ = &block;
  steps = std::min(steps, std::max<std::uint64_t>(1, request_.work_limit - work_));
  work_ += memory_.path_clocks() != nullptr ? block.run_in_time(steps, horizon) : block.run(steps);
  if (work_ <= request_.work_limit) return;
  throw Fault{FaultKind::kWorkLimit,
              "the kernel did not finish within " + std::to_string(request_.work_limit) +
                  " warp instructions; does it loop forever?",
              block.running().current()->line, -1};
}

// The blocks of a cluster go on in turn as long as one of them can: they may wait for each other.
void GridRunner::begin_blocks() {
  begin_cluster(0);
  const std::uint64_t end = work_ + places_.size() * first_turn_;
  std::uint64_t before;
  do {
    before = work_;
    std::erase_if(places_, [this](std::uint64_t place) {
      const auto at = resident_.find(place);
      take_turn(*at->second, first_turn_);
      if (!at->second->ended()) return false;
      put_away(std::move(at->second));
      resident_.erase(at);
      return true;
    });
  } while (program_->uses_cluster && !places_.empty() && work_ > before && work_ < end);
  first_turn_ =
      places_.empty() ? std::min(first_turn_ * 2, kFirstTurn) : std::max(first_turn_ / 2, kTurn);
}

// Visits the resident blocks in the opposite direction of the last visit; blocks that end are
// removed.
template <class Turn>
void GridRunner::for_each_resident(const Turn& take) {
  const auto turn = [&](Block& block) {
    take(*block);
    if (block->ended()) put_away(std::move(block));
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
  while (may_begin(std::min(kSideBySide, most_resident_))) begin_cluster(0);
  for_each_resident([this](ThreadBlock& block) {
    running_ = &block;
    side_by_side_ += block.run_side_by_side();
  });
}

// The block that is behind goes on until another one is.
void GridRunner::run_in_time() {
  std::size_t most = program_->blocks_hand_over ? std::min(kInTime, most_resident_) : 1;
  while (begun_ < clusters_ || !resident_.empty()) {
    while (may_begin(most)) begin_cluster(program_->blocks_hand_over ? free_since_ : 0);
    auto first = resident_.end();
    double earliest = Warp::kNever, next = Warp::kNever;
    for (auto at = resident_.begin(); at != resident_.end(); ++at) {
      const double time = at->second->time();
      next = std::min(next, std::max(earliest, time));
      if (time >= earliest) continue;
      earliest = time;
      first = at;
    }
    if (first == resident_.end()) {
      if (may_begin(most_resident_)) {
        most += cluster_blocks_;
      } else {
        end_standstill();
      }
      continue;
    }
    take_turn(*first->second, kTurn, work_ < kInTimeWork ? next : Warp::kNever);
    if (!first->second->ended()) continue;
    free_since_ = first->second->end_time();
    if (program_->blocks_hand_over) memory_.extend_span(free_since_);
    put_away(std::move(first->second));
    resident_.erase(first);
  }
}

bool GridRunner::may_begin(std::size_t most) const {
  return begun_ < clusters_ && (resident_.size() + cluster_blocks_ <= most || resident_.empty());
}

void GridRunner::run_blocks() {
  while (begun_ < clusters_ || !resident_.empty()) {
    const std::uint64_t before = work_ + side_by_side_;
    const bool side_by_side = cpu::runs_side_by_side(request_.order);
    if (side_by_side && side_by_side_ < kSideBySideWork) {
      run_side_by_side();
    } else if (may_begin(most_resident_)) {
      begin_blocks();
    } else {
      for_each_resident([this](ThreadBlock& block) { take_turn(block, kTurn); });
    }
    if (work_ + side_by_side_ == before && !resident_.empty()) end_standstill();
  }
}

// All resident blocks wait. If they cannot wait for blocks that a GPU would have started earlier,
// they go round their loops until it is certain that nothing comes of it.
void GridRunner::end_standstill() {
  if (!ascending_ && begun_ < clusters_) return begin_rest_ascending();
  const std::uint64_t work = work_ + side_by_side_;
  std::uint64_t progress = begun_;
  for (const auto& [index, block] : resident_) progress += block->progress();
  if (std::exchange(progress_, progress) != progress) {
    standstills_ = 0;
    last_change_ = work;
  }
  if (++standstills_ > kRounds && work - last_change_ > kRoundsWork) fault_deadlock();
  for (const auto& [index, block] : resident_) block->wake();
}

void GridRunner::fault_deadlock() {
  running_ = resident_.begin()->second.get();
  for (const auto& [index, block] : resident_) {
    const BlockMemory::Wait wait = block->memory().waits_at();
    if (wait.line == 0) continue;
    running_ = block.get();
    const std::string what = awaited_by_mbarrier(block->memory().shared().data() + wait.barrier);
    throw Fault{FaultKind::kDeadlock,
                "nothing changes what all blocks wait for: an mbarrier waits for " +
                    (what.empty() ? "the next phase" : what),
                wait.line, -1};
  }
  const std::string blocks = std::to_string(resident_.size());
  throw Fault{FaultKind::kDeadlock,
              begun_ < clusters_ ? blocks + " resident blocks wait for blocks that do not fit"
                                 : "nothing changes what all blocks wait for",
              0, -1};
}

void GridRunner::start(Program& program, const LaunchRequest& request) {
  program_ = &program;
  spare_.clear();  // their frames belong to the shape of another launch
  request_ = request;
  const Dim3& cluster = program.cluster;
  cluster_blocks_ = cluster[0] * cluster[1] * cluster[2];
  clusters_ = std::uint64_t{request.grid[0]} * request.grid[1] * request.grid[2] / cluster_blocks_;
  begun_ = work_ = side_by_side_ = start_ = 0;
  standstills_ = progress_ = last_change_ = 0;
  free_since_ = 0;
  was_begun_.clear();
  first_not_begun_ = 0;
  most_resident_ = request.resident_blocks == 0
                       ? kMostResident
                       : std::min<std::size_t>(request.resident_blocks, kMostResident);
  stride_ = 1;
  first_turn_ = kFirstTurn;
  upwards_ = true;
  if (request.order == cpu::Order::kShuffled && clusters_ > 2) {
    start_ = request.seed % clusters_;
    stride_ = request.seed / 3 % (clusters_ - 1) + 1;
    while (std::gcd(stride_, clusters_) != 1) ++stride_;
  }
  ascending_ = request.order != cpu::Order::kReversed && stride_ == 1 && start_ == 0;
}

LaunchOutcome GridRunner::run(Program& program, const LaunchRequest& request) {
  start(program, request);
  LaunchOutcome outcome;
  try {
    if (memory_.path_clocks() != nullptr) {
      run_in_time();
    } else {
      run_blocks();
    }
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
    held_.clear();
    cluster_of_.clear();
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
