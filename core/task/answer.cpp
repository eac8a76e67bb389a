#include "core/task/answer.hpp"

#include <algorithm>
#include <initializer_list>
#include <kernelrl/language.hpp>
#include <optional>

namespace krl::core {
namespace {

constexpr std::string_view kThinkOpen = "<think>", kThinkClose = "</think>";
constexpr std::string_view kOpen = "<KERNEL>", kClose = "</KERNEL>", kFence = "```";

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// A kernel of CUDA C++ or Triton, or a whole module of PTX.
bool holds_kernel(std::string_view text) {
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  switch (language_of(text)) {
    case Language::kPtx:
      return has(".version") && has(".entry");
    case Language::kTriton:
      return has("jit");
    case Language::kCuda:
      break;
  }
  return has("__global__");
}

struct Fence {
  std::string_view body;
  bool closed = false;
  std::size_t begin = 0, end = 0;  // range of the whole block in the text
};

// A fence of Python holds a kernel only if that is Triton.
bool may_hold_kernel(std::string_view language, std::string_view body) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, language) != words.end();
  };
  if (is_one_of({"python", "py", "triton"})) return language_of(body) == Language::kTriton;
  return is_one_of({"", "cuda", "cpp", "c++", "cu", "c", "ptx"});
}

// The next fenced block at or after `from`; its opening fence begins a line.
std::optional<Fence> next_fence(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find(kFence, from); at != std::string_view::npos;
       at = text.find(kFence, at + 3)) {
    if (at > 0 && text[at - 1] != '\n') continue;
    const std::size_t line_end = text.find('\n', at);
    if (line_end == std::string_view::npos) return std::nullopt;
    const std::size_t body = line_end + 1;
    const std::size_t close = text.find("\n```", line_end);
    const bool closed = close != std::string_view::npos;
    const std::size_t body_end = closed ? std::max(close + 1, body) : text.size();
    Fence fence{text.substr(body, body_end - body), closed, at, closed ? close + 4 : text.size()};
    if (!may_hold_kernel(trim(text.substr(at + 3, line_end - at - 3)), fence.body)) fence.body = {};
    return fence;
  }
  return std::nullopt;
}

// The last fence that holds a kernel.
std::optional<Fence> kernel_fence(std::string_view text) {
  std::optional<Fence> last;
  std::size_t from = 0;
  while (const std::optional<Fence> fence = next_fence(text, from)) {
    if (holds_kernel(fence->body)) last = fence;
    from = fence->end;
  }
  return last;
}

std::optional<std::string_view> between(std::string_view text, std::string_view open,
                                        std::string_view close) {
  const std::size_t begin = text.find(open);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t end = text.find(close, begin + open.size());
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(begin + open.size(), end - begin - open.size());
}

// The whole answer is: nothing but the tags around one fence.
bool is_exact(std::string_view rest) {
  rest = trim(rest);
  if (!rest.starts_with(kOpen) || !rest.ends_with(kClose)) return false;
  const std::string_view inside =
      trim(rest.substr(kOpen.size(), rest.size() - kOpen.size() - kClose.size()));
  const std::optional<Fence> fence = next_fence(inside, 0);
  return fence && fence->begin == 0 && fence->closed && fence->end == inside.size() &&
         holds_kernel(fence->body);
}

struct Parts {
  std::string_view thought, rest;
};

Parts take_thought_out(std::string_view text, bool in_thought) {
  constexpr std::size_t kNone = std::string_view::npos;
  const std::size_t open = text.find(kThinkOpen), close = text.find(kThinkClose);
  const bool opened_before = !in_thought && open < close;
  const std::size_t begin = opened_before ? open + kThinkOpen.size() : 0;
  if (close != kNone)
    return {text.substr(begin, close - begin), text.substr(close + kThinkClose.size())};
  if (in_thought) return {text, {}};
  if (open != kNone) return {text.substr(begin), text.substr(0, open)};
  return {{}, text};
}

}  // namespace

bool is_thinking(std::string_view text, bool in_thought) {
  constexpr std::size_t kNone = std::string_view::npos;
  return text.find(kThinkClose) == kNone && (in_thought || text.find(kThinkOpen) != kNone);
}

Candidate extract_candidate(const Answer& answer, bool in_thought) {
  Candidate candidate;
  const auto [thought, rest] = take_thought_out(answer.text, in_thought);
  candidate.thinking = trim(thought);
  if (const auto fence = kernel_fence(rest)) {
    candidate.source = fence->body;
    if (!fence->closed) {
      const bool cut = answer.stop_reason == KRL_STOP_LENGTH;
      candidate.format = cut ? Format::kTruncated : Format::kTolerated;
    } else {
      candidate.format = is_exact(rest) ? Format::kExact : Format::kTolerated;
    }
  } else if (const auto tagged = between(rest, kOpen, kClose); tagged && holds_kernel(*tagged)) {
    candidate.source = std::string(trim(*tagged)) + "\n";
    candidate.format = Format::kTolerated;
  } else if (answer.stop_reason == KRL_STOP_LENGTH) {
    candidate.format = Format::kTruncated;
  }
  return candidate;
}

}  // namespace krl::core
