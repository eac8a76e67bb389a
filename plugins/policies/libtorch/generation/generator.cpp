#include "plugins/policies/libtorch/generation/generator.hpp"

#include <algorithm>
#include <cmath>
#include <kernelrl/values.hpp>

#include "plugins/policies/libtorch/base/random_stream.hpp"
#include "plugins/policies/libtorch/generation/generation_queue.hpp"
#include "plugins/policies/libtorch/generation/token_texts.hpp"

namespace krl::libtorch {

GenerationQueue::GenerationQueue(std::span<const GenerationRequest> requests, int workers) {
  std::map<SharedPrompt*, std::vector<Ticket>> by_prompt;
  std::vector<SharedPrompt*> order;  // in order of first appearance
  for (std::size_t r = 0; r < requests.size(); ++r) {
    const GenerationRequest& request = requests[r];
    const auto [entry, added] = prompts_.try_emplace(request.prompt);
    SharedPrompt& prompt = entry->second;
    prompt.tokens = &entry->first;
    prompt.users += request.samples;
    if (added) order.push_back(&prompt);
    for (std::uint32_t k = 0; k < request.samples; ++k)
      by_prompt[&prompt].push_back({r, k, &prompt});
    longest_answer_ = std::max(longest_answer_, request.max_tokens);
  }
  const auto together = static_cast<std::size_t>(workers);
  for (std::size_t first = 0; first < order.size(); first += together) {
    const std::size_t end = std::min(order.size(), first + together);
    std::size_t most = 0;
    for (std::size_t p = first; p < end; ++p) most = std::max(most, by_prompt[order[p]].size());
    for (std::size_t k = 0; k < most; ++k) {
      for (std::size_t p = first; p < end; ++p) {
        const auto& tickets = by_prompt[order[p]];
        if (k < tickets.size()) tickets_.push_back(tickets[k]);
      }
    }
  }
}

// One thread's decoder and slots. Kept between generations for its memory.
class Generator::Worker {
  using Ticket = GenerationQueue::Ticket;

 public:
  Worker(const DecoderWeights& weights, const TokenTexts& texts)
      : weights_(weights), texts_(texts), decoder_(weights) {}

  void run(std::span<const GenerationRequest> requests, GenerationQueue& queue,
           const std::function<void()>& wake, const std::atomic<bool>& stop) {
    requests_ = requests;
    queue_ = &queue;
    reserve_caches(std::min(queue.longest_answer(), weights_.config.context));
    active_.clear();
    while (!stop) {
      const bool at_once = fill_slots();
      const bool later = step();
      if (at_once || later) wake();
      if (active_.empty()) break;
    }
  }

 private:
  // A sample that is growing.
  struct Slot {
    const Ticket* ticket;
    KeyValueCache* own;
    GeneratedSample sample;
    AnswerText text;
  };

  // Frees all caches again, including those that a failed generation had taken.
  void reserve_caches(std::int64_t capacity) {
    if (capacity > cache_capacity_) {
      caches_.clear();
      cache_capacity_ = capacity;
    }
    free_caches_.clear();
    for (const auto& cache : caches_) free_caches_.push_back(cache.get());
  }

  KeyValueCache* take_cache() {
    if (free_caches_.empty()) {
      caches_.push_back(std::make_unique<KeyValueCache>(weights_.config, cache_capacity_));
      return caches_.back().get();
    }
    KeyValueCache* cache = free_caches_.back();
    free_caches_.pop_back();
    return cache;
  }

  const GenerationRequest& request(const Slot& slot) const {
    return requests_[slot.ticket->request];
  }

  // Starts samples while there are free slots; true if some ended with their first token.
  bool fill_slots() {
    bool finished = false;
    while (static_cast<std::int64_t>(active_.size()) < Decoder::kRows) {
      const Ticket* ticket = queue_->next();
      if (ticket == nullptr) break;
      SharedPrompt& prompt = *ticket->prompt;
      std::call_once(prompt.computed, [&] { compute(prompt); });
      Slot& slot = active_.emplace_back(Slot{ticket, take_cache(), {}, {}});
      slot.sample.request = ticket->request;
      slot.sample.index = ticket->index;
      if (grow(slot, prompt.logits)) {
        retire(active_.size() - 1);
        finished = true;
      }
    }
    return finished;
  }

  void compute(SharedPrompt& prompt) {
    const std::vector<TokenId>& tokens = *prompt.tokens;
    const auto length = static_cast<std::int64_t>(tokens.size());
    prompt.cache = std::make_unique<KeyValueCache>(weights_.config, length);
    std::span<const float> logits;
    for (std::int64_t begin = 0; begin < length; begin += Decoder::kRows) {
      rows_.clear();
      for (std::int64_t i = begin; i < std::min(length, begin + Decoder::kRows); ++i) {
        rows_.push_back(
            {tokens[static_cast<std::size_t>(i)], i, nullptr, 0, prompt.cache.get(), i});
      }
      logits = decoder_.run(rows_, 1);
    }
    prompt.logits.assign(logits.begin(), logits.end());
  }

  // One more token for every active slot; true if some are finished.
  bool step() {
    if (active_.empty()) return false;
    rows_.clear();
    for (const Slot& slot : active_) {
      const auto prompt = static_cast<std::int64_t>(slot.ticket->prompt->tokens->size());
      const auto index = static_cast<std::int64_t>(slot.sample.tokens.size()) - 1;
      rows_.push_back({slot.sample.tokens.back(), prompt + index, slot.ticket->prompt->cache.get(),
                       prompt, slot.own, index});
    }
    const auto vocabulary = static_cast<std::size_t>(weights_.config.vocabulary);
    const auto logits = decoder_.run(rows_, static_cast<std::int64_t>(rows_.size()));
    bool finished = false;
    for (std::size_t i = active_.size(); i-- > 0;) {
      if (!grow(active_[i], logits.subspan(i * vocabulary, vocabulary))) continue;
      retire(i);
      finished = true;
    }
    return finished;
  }

  // Draws the slot's next token; true if the sample is then finished.
  bool grow(Slot& slot, std::span<const float> logits) {
    const GenerationRequest& asked = request(slot);
    GeneratedSample& sample = slot.sample;
    const double u = uniform(asked.seed, sample.index, sample.tokens.size());
    const Draw draw = sampler_.draw(logits, asked.options, u);
    if (!std::isfinite(draw.logprob)) {
      throw diverged_weights();
    }
    sample.tokens.push_back(draw.token);
    sample.logprobs.push_back(draw.logprob);
    if (std::find(texts_.ends.begin(), texts_.ends.end(), draw.token) != texts_.ends.end()) {
      sample.stop_reason = KRL_STOP_END;
      return true;
    }
    if (slot.text.add(texts_.bytes(draw.token), asked.stop)) {
      sample.stop_reason = KRL_STOP_END;
      return true;
    }
    const auto length = static_cast<std::int64_t>(sample.tokens.size());
    const auto prompt = static_cast<std::int64_t>(asked.prompt.size());
    sample.stop_reason = KRL_STOP_LENGTH;
    return length == asked.max_tokens || prompt + length == weights_.config.context;
  }

  // Hands the finished sample over; the last slot takes its place.
  void retire(std::size_t i) {
    Slot& slot = active_[i];
    slot.sample.text = slot.text.text();
    free_caches_.push_back(slot.own);
    slot.ticket->prompt->release();
    queue_->finish(std::move(slot.sample));
    if (i + 1 < active_.size()) active_[i] = std::move(active_.back());
    active_.pop_back();
  }

  const DecoderWeights& weights_;
  const TokenTexts& texts_;
  Decoder decoder_;
  TokenSampler sampler_;
  std::span<const GenerationRequest> requests_;
  GenerationQueue* queue_ = nullptr;
  std::vector<Slot> active_;
  std::vector<DecoderRow> rows_;
  std::vector<std::unique_ptr<KeyValueCache>> caches_;
  std::vector<KeyValueCache*> free_caches_;
  std::int64_t cache_capacity_ = 0;
};

Generator::Generator(const DecoderWeights& weights, TokenTexts texts, WorkerThreads& threads)
    : texts_(std::move(texts)), threads_(threads) {
  for (int i = 0; i < threads.size(); ++i) {
    workers_.push_back(std::make_unique<Worker>(weights, texts_));
  }
}

Generator::~Generator() = default;

void Generator::run(std::span<const GenerationRequest> requests, const Deliver& deliver,
                    const Poll& poll) {
  GenerationQueue queue(requests, threads_.size());
  const auto deliver_finished = [&] {
    for (const GeneratedSample& sample : queue.take_finished()) deliver(sample);
  };
  threads_.run(
      [&](int worker, const std::atomic<bool>& stop) {
        workers_[static_cast<std::size_t>(worker)]->run(
            requests, queue, [this] { threads_.wake(); }, stop);
      },
      [&] {
        poll();
        deliver_finished();
      });
  deliver_finished();
}

}  // namespace krl::libtorch
