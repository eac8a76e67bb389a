#include "plugins/policies/libtorch/generation/batching/scheduler.hpp"

#include <algorithm>
#include <cmath>
#include <kernelrl/values.hpp>
#include <map>
#include <utility>

namespace krl::libtorch {

struct Scheduler::Growing {
  std::shared_ptr<GenerationCall> call;
  const GenerationRequest* request;
  GeneratedSample sample;
  AnswerText text;
  std::int64_t limit;      // limit of tokens
  std::int64_t asked = 0;  // steps that were asked for, at most `limit`
  bool ended = false;      // delivered, or its call is gone
};

namespace {

SlotState first_state(const GenerationRequest& request, std::uint32_t index, std::int64_t limit) {
  const SamplingOptions& options = request.options;
  const bool greedy = options.temperature <= 0;
  constexpr std::int64_t kMostTopK = std::int64_t{1} << 30;
  SlotState state{};
  state.position = static_cast<int>(request.prompt.size()) - 1;
  state.token = request.prompt.back();
  state.limit = static_cast<int>(limit);
  state.sample = index;
  state.seed = request.seed;
  state.top_k = static_cast<int>(std::clamp<std::int64_t>(options.top_k, 0, kMostTopK));
  state.top_p = options.top_p;
  state.scale = static_cast<float>(greedy ? 1.0 : 1.0 / options.temperature);
  state.greedy = greedy ? 1 : 0;
  return state;
}

}  // namespace

Scheduler::Scheduler(BatchDecoder& decoder, TokenTexts texts, Options options)
    : decoder_(decoder), texts_(std::move(texts)), options_(options) {
  options_.steps = std::clamp(options_.steps, 1, BatchDecoder::kMostSteps);
}

bool Scheduler::round() {
  drop_ended_calls();
  if (make_room()) fill_slots();
  const bool advanced = advance();
  const bool took =
      !under_way_.empty() && (!advanced || under_way_.size() == BatchDecoder::kMostUnderWay);
  if (took) take_drawn();
  drop_ended_calls();
  return advanced || took;
}

void Scheduler::add(std::shared_ptr<GenerationCall> call) {
  if (calls_.empty()) {  // the weights may have changed since the last one
    for (Slot& slot : slots_) slot.held = nullptr;
    prompts_.clear();
  }
  calls_.push_back(std::move(call));
}

void Scheduler::fail(std::exception_ptr error) {
  decoder_.reset();
  under_way_.clear();
  slots_.clear();
  capacity_ = {};
  for (const auto& call : calls_) {
    call->fail(error);
    call->detach();
  }
  calls_.clear();
}

void Scheduler::release() {
  decoder_.release();
  slots_.clear();
  capacity_ = {};
}

bool Scheduler::growing() const {
  return std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.sample; });
}

std::int64_t Scheduler::positions_of(const GenerationRequest& request) const {
  const auto prompt = static_cast<std::int64_t>(request.prompt.size());
  return std::min(prompt + request.max_tokens, options_.context);
}

void Scheduler::drop_ended_calls() {
  for (Slot& slot : slots_) {
    if (!slot.sample || !slot.sample->call->cancelled()) continue;
    slot.sample->ended = true;  // also for steps in progress
    slot.sample = nullptr;
  }
  std::erase_if(calls_, [&](const std::shared_ptr<GenerationCall>& call) {
    const bool grows = std::any_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
      return slot.sample && slot.sample->call == call;
    });
    if (grows || !(call->cancelled() || call->exhausted())) return false;
    call->detach();
    return true;
  });
}

bool Scheduler::make_room() {
  std::int64_t waiting = 0, positions = 0, next = 0;
  for (const auto& call : calls_) {
    for (const GenerationCall::Ticket& ticket : call->waiting()) {
      const std::int64_t needed = positions_of(*ticket.request);
      if (waiting++ == 0) next = needed;
      positions = std::max(positions, needed);
    }
  }
  if (waiting == 0) return true;
  const bool more_slots_help = capacity_.slots < options_.most_slots && !memory_is_full_;
  const bool idle = !growing() && under_way_.empty();
  // Rebuilding slots means waiting for growing samples: for a few more samples it does not pay.
  const std::int64_t worth_it = idle ? capacity_.slots : 2 * capacity_.slots;
  if (next <= capacity_.positions && !(more_slots_help && waiting > worth_it)) return true;
  if (!idle) return false;
  const std::int64_t slots = std::min(options_.most_slots, std::max(waiting, capacity_.slots));
  capacity_ = decoder_.reserve(slots, std::max(positions, capacity_.positions));
  memory_is_full_ = capacity_.slots < slots;
  slots_.assign(static_cast<std::size_t>(capacity_.slots), Slot{});
  return true;
}

void Scheduler::fill_slots() {
  const auto free = static_cast<std::size_t>(
      std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return !slot.sample; }));
  if (free == 0) return;
  std::vector<Placement> placements = take_waiting(free);
  if (placements.empty()) return;
  place(placements);
  decoder_.start(start_batch(placements));
  for (const Placement& placement : placements) occupy(placement);
}

// The next samples, in order, that fit the slots.
std::vector<Scheduler::Placement> Scheduler::take_waiting(std::size_t most) {
  std::vector<Placement> taken;
  for (const auto& call : calls_) {
    auto& waiting = call->waiting();
    while (!waiting.empty()) {
      const GenerationCall::Ticket& next = waiting.front();
      if (taken.size() == most || positions_of(*next.request) > capacity_.positions) return taken;
      taken.push_back({call, next, &*prompts_.insert(next.request->prompt).first});
      waiting.pop_front();
    }
  }
  return taken;
}

// Gives each sample a free slot: one that holds its prompt, if there is one.
void Scheduler::place(std::vector<Placement>& placements) {
  std::multimap<Prompt, int> holding;
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    if (!slots_[s].sample) holding.emplace(slots_[s].held, static_cast<int>(s));
  }
  for (Placement& placement : placements) {
    const auto found = holding.find(placement.prompt);
    if (found == holding.end()) continue;
    placement.slot = found->second;
    placement.held = true;
    holding.erase(found);
  }
  for (Placement& placement : placements) {
    if (placement.held) continue;
    placement.slot = holding.begin()->second;
    holding.erase(holding.begin());
  }
}

// Decides the source of each sample's prompt: its slot has it, a slot that keeps it has it, or it
// is computed.
StartBatch Scheduler::start_batch(const std::vector<Placement>& placements) const {
  std::map<Prompt, int> kept;
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    if (slots_[s].sample) kept.emplace(slots_[s].held, static_cast<int>(s));
  }
  for (const Placement& placement : placements) {
    if (placement.held) kept.emplace(placement.prompt, placement.slot);
  }
  StartBatch batch;
  std::map<Prompt, std::size_t> computed;
  for (const Placement& placement : placements) {
    const GenerationRequest& request = *placement.ticket.request;
    const auto prompt = static_cast<std::int64_t>(request.prompt.size());
    const std::int64_t limit = std::min(request.max_tokens, options_.context - prompt);
    batch.starts.push_back({first_state(request, placement.ticket.index, limit), placement.slot});
    if (placement.held || prompt == 1) continue;
    if (const auto from = kept.find(placement.prompt); from != kept.end()) {
      batch.copies.push_back({from->second, placement.slot, static_cast<int>(prompt) - 1});
      continue;
    }
    const auto [entry, added] = computed.try_emplace(placement.prompt, batch.prefills.size());
    if (added) batch.prefills.push_back({placement.prompt, {}});
    batch.prefills[entry->second].slots.push_back(placement.slot);
  }
  return batch;
}

void Scheduler::occupy(const Placement& placement) {
  Slot& slot = slots_[static_cast<std::size_t>(placement.slot)];
  const GenerationRequest& request = *placement.ticket.request;
  const auto prompt = static_cast<std::int64_t>(request.prompt.size());
  slot.held = placement.prompt;
  slot.sample = std::make_shared<Growing>();
  slot.sample->call = placement.call;
  slot.sample->request = &request;
  slot.sample->limit = std::min(request.max_tokens, options_.context - prompt);
  slot.sample->sample.request = placement.ticket.number;
  slot.sample->sample.index = placement.ticket.index;
}

// Asks for the next steps of all that grow; false if there is nothing to ask for.
bool Scheduler::advance() {
  std::int64_t longest = 0;
  std::vector<int> slots;
  UnderWay next{{}, 0};
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const auto& sample = slots_[s].sample;
    if (!sample || sample->asked == sample->limit) continue;
    longest = std::max(longest, sample->limit - sample->asked);
    slots.push_back(static_cast<int>(s));
    next.samples.emplace_back(static_cast<int>(s), sample);
  }
  if (slots.empty()) return false;
  next.steps = static_cast<int>(std::min<std::int64_t>(options_.steps, longest));
  for (auto& [slot, sample] : next.samples) {
    sample->asked = std::min(sample->limit, sample->asked + next.steps);
  }
  decoder_.advance(slots, next.steps);
  under_way_.push_back(std::move(next));
  return true;
}

void Scheduler::take_drawn() {
  const DrawnTokens drawn = decoder_.collect();
  const UnderWay oldest = std::move(under_way_.front());
  under_way_.pop_front();
  for (const auto& [slot, growing] : oldest.samples) {
    for (int step = 0; step < oldest.steps && !growing->ended; ++step) {
      const auto at = static_cast<std::size_t>(step * drawn.slots + slot);
      if (!grow(*growing, drawn.tokens[at], drawn.logprobs[at])) continue;
      growing->ended = true;
      slots_[static_cast<std::size_t>(slot)].sample = nullptr;
      growing->sample.text = growing->text.text();
      growing->call->finish(std::move(growing->sample));
    }
  }
}

bool Scheduler::grow(Growing& growing, TokenId token, float logprob) const {
  if (!std::isfinite(logprob)) {
    growing.call->fail(std::make_exception_ptr(diverged_weights()));
    growing.ended = true;
    return false;
  }
  GeneratedSample& sample = growing.sample;
  sample.tokens.push_back(token);
  sample.logprobs.push_back(logprob);
  sample.stop_reason = KRL_STOP_END;
  if (std::find(texts_.ends.begin(), texts_.ends.end(), token) != texts_.ends.end()) return true;
  if (growing.text.add(texts_.bytes(token), growing.request->stop)) return true;
  sample.stop_reason = KRL_STOP_LENGTH;
  return static_cast<std::int64_t>(sample.tokens.size()) == growing.limit;
}

}  // namespace krl::libtorch
