#include "core/learn/tuner.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <kernelrl/python_source.hpp>
#include <optional>
#include <set>
#include <string_view>

namespace krl::core {
namespace {

constexpr std::size_t kStructures = 4;  // tuned at a time
constexpr int kOctaves = 4;             // in each direction
constexpr std::int64_t kMostThreads = 1024, kLeastThreads = 8,
                       kMostOfOthers = std::int64_t{1} << 20;

// An integer of the source, and the values that may replace it.
struct Knob {
  std::string number;
  std::int64_t lowest = 1, highest = kMostOfOthers;
};

std::optional<std::int64_t> integer_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value > 1 ? std::optional(value) : std::nullopt;
}

bool belongs_to_number(char c) { return (c >= '0' && c <= '9') || c == '.'; }

bool belongs_to_word(char c) {
  return belongs_to_number(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// True behind "1e-" and "2.5E+".
bool is_exponent(std::string_view before) {
  const std::size_t n = before.size();
  return n > 2 && (before[n - 1] == '-' || before[n - 1] == '+') &&
         (before[n - 2] == 'e' || before[n - 2] == 'E') && belongs_to_number(before[n - 3]);
}

// Replaces the number where it is a word of its own.
std::string with_number(const std::string& source, const std::string& from, const std::string& to) {
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = source.find(from); at != std::string::npos;
       at = source.find(from, at + from.size())) {
    const std::size_t end = at + from.size();
    const bool part_of_word = (at > 0 && belongs_to_word(source[at - 1])) ||
                              (end < source.size() && belongs_to_word(source[end])) ||
                              is_exponent(std::string_view(source).substr(0, at));
    if (part_of_word) continue;
    out.append(source, done, at - done).append(to);
    done = end;
  }
  return out.append(source, done);
}

// The texts between the commas of "a, dim3(b, c), d" that are outside of brackets.
std::vector<std::string_view> split_arguments(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] != ',' || depth > 0) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

// The integers above 1 of a text that consists of numbers alone: "256", "dim3(16, 16)".
std::vector<std::string> plain_integers(std::string_view text) {
  std::vector<std::string> numbers;
  for (const SourceToken& token : scan_cuda_source(text).tokens) {
    const bool number = token.kind == SourceToken::kNumber;
    if (number && integer_in(token.text)) numbers.push_back(token.text);
    if (number || token.kind == SourceToken::kPunctuation || token.is("dim3")) continue;
    return {};
  }
  return numbers;
}

void add_knobs(const std::vector<std::string>& numbers, std::int64_t lowest, std::int64_t highest,
               std::vector<Knob>& knobs) {
  for (const std::string& number : numbers) {
    const bool known = std::ranges::find(knobs, number, &Knob::number) != knobs.end();
    if (!known) knobs.push_back({number, lowest, highest});
  }
}

// Returns the constants that the launches give by name: `BLOCK=1024`.
std::vector<Knob> knobs_of_triton(const ScannedSource& scanned) {
  std::vector<Knob> knobs;
  for (const LineComment& comment : scanned.comments) {
    if (comment.text.find("@launch") == std::string::npos) continue;
    const auto tokens = scan_python_source(comment.text).tokens;
    for (std::size_t i = 2; i < tokens.size(); ++i) {
      const bool given = tokens[i - 1].is("=") && tokens[i - 2].kind == SourceToken::kIdentifier;
      if (given && integer_in(tokens[i].text)) add_knobs({tokens[i].text}, 1, kMostOfOthers, knobs);
    }
  }
  return knobs;
}

// Blocks first, then grids, then what the code has besides. The numbers of PTX are syntax.
std::vector<Knob> knobs_of(const std::string& source) {
  const ScannedSource scanned = scan_candidate(source);
  if (scanned.language == Language::kTriton) return knobs_of_triton(scanned);
  std::vector<Knob> knobs, grids;
  if (scanned.language == Language::kPtx) return knobs;
  for (const LineComment& comment : scanned.comments) {
    const std::string_view text = comment.text;
    const std::size_t begin = text.find("<<<"), end = text.find(">>>");
    const bool launches = text.find("@launch") != std::string_view::npos;
    if (!launches || begin == std::string_view::npos || end == std::string_view::npos) continue;
    const auto shape = split_arguments(text.substr(begin + 3, end - begin - 3));
    if (shape.size() < 2) continue;
    add_knobs(plain_integers(shape[1]), kLeastThreads, kMostThreads, knobs);
    add_knobs(plain_integers(shape[0]), 1, kMostOfOthers, grids);
  }
  for (const Knob& grid : grids) add_knobs({grid.number}, grid.lowest, grid.highest, knobs);
  for (const SourceToken& token : scanned.tokens)
    if (token.kind == SourceToken::kNumber && integer_in(token.text))
      add_knobs({token.text}, 1, kMostOfOthers, knobs);
  return knobs;
}

// Twice, half, four times, a quarter, …
std::vector<std::int64_t> values_near(const Knob& knob) {
  const std::int64_t value = *integer_in(knob.number);
  std::vector<std::int64_t> values;
  for (int octave = 1; octave <= kOctaves; ++octave) {
    const std::int64_t factor = std::int64_t{1} << octave;
    if (value <= knob.highest / factor) values.push_back(value * factor);
    if (value % factor == 0 && value / factor >= knob.lowest) values.push_back(value / factor);
  }
  return values;
}

}  // namespace

std::vector<std::string> retuned(const std::string& source) {
  std::vector<std::string> sources;
  const std::vector<Knob> knobs = knobs_of(source);
  std::vector<std::vector<std::int64_t>> values;
  std::size_t most = 0;
  for (const Knob& knob : knobs)
    most = std::max(most, values.emplace_back(values_near(knob)).size());
  for (std::size_t change = 0; change < most; ++change) {
    for (std::size_t k = 0; k < knobs.size(); ++k) {
      if (change >= values[k].size()) continue;
      sources.push_back(with_number(source, knobs[k].number, std::to_string(values[k][change])));
    }
  }
  return sources;
}

std::vector<TunedKernel> choose_tuned(const std::vector<ArchivedKernel>& kernels, KernelIds known,
                                      std::size_t count) {
  std::vector<std::vector<TunedKernel>> queues;  // one for a structure, in reverse
  for (const std::size_t place : count > 0 ? elites_of(kernels) : std::vector<std::size_t>()) {
    std::vector<TunedKernel> queue;
    for (std::string& source : retuned(kernels[place].source))
      if (known.insert(identity_of(source)).second)
        queue.push_back({&kernels[place], std::move(source)});
    std::ranges::reverse(queue);
    if (!queue.empty()) queues.push_back(std::move(queue));
    if (queues.size() == kStructures) break;
  }
  std::vector<TunedKernel> chosen;
  for (bool any = true; any && chosen.size() < count;) {
    any = false;
    for (auto& queue : queues) {
      if (queue.empty() || chosen.size() == count) continue;
      chosen.push_back(std::move(queue.back()));
      queue.pop_back();
      any = true;
    }
  }
  return chosen;
}

Episode episode_of(const TunedKernel& kernel, const Task& task, GroupId group) {
  Episode episode{&task, group, 0, {}, {turn_of(*kernel.parent)}};
  episode.tuned = true;
  TurnRecord turn;
  turn.candidate = {kernel.source, {}, Format::kExact};
  turn.answer.text = kernel.parent->answer;
  const std::size_t at = turn.answer.text.find(kernel.parent->source);
  if (at == std::string::npos)
    turn.answer.text = std::string(opening_fence(kernel.source)) + kernel.source + "\n```";
  else
    turn.answer.text.replace(at, kernel.parent->source.size(), kernel.source);
  episode.turns.push_back(std::move(turn));
  return episode;
}

}  // namespace krl::core
