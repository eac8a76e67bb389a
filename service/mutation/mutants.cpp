#include "service/mutation/mutants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "core/base/hash.hpp"
#include "core/base/text.hpp"

namespace krl::service {
namespace {

// A permutation that is the same with every standard library.
template <class T>
void shuffle(std::vector<T>& list, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random() % i]);
}

Mutant mutant_of(std::size_t original, const std::string& source, Change change) {
  const auto begin = source.begin(), at = begin + static_cast<std::ptrdiff_t>(change.offset);
  const auto line = static_cast<std::uint32_t>(std::count(begin, at, '\n')) + 1;
  std::string before = source.substr(change.offset, change.length);
  return {original, std::move(change), line, std::move(before)};
}

}  // namespace

std::vector<Mutant> derive_mutants(const std::vector<Original>& originals, std::size_t count,
                                   std::uint64_t seed) {
  std::vector<Changes> drawn;
  std::size_t most = 0;
  for (const Original& original : originals) {
    Changes changes =
        original.has_ptx ? ptx_changes_of(original.source) : changes_of(CodeText(original.source));
    shuffle(changes, seed_for(seed, "mutants", original.task->id, original.source));
    most = std::max(most, changes.size());
    drawn.push_back(std::move(changes));
  }
  std::vector<Mutant> mutants;
  for (std::size_t turn = 0; turn < most && mutants.size() < count; ++turn) {
    for (std::size_t o = 0; o < originals.size() && mutants.size() < count; ++o) {
      if (turn < drawn[o].size())
        mutants.push_back(mutant_of(o, originals[o].source, std::move(drawn[o][turn])));
    }
  }
  std::stable_sort(mutants.begin(), mutants.end(), [](const Mutant& a, const Mutant& b) {
    return std::pair(a.original, a.change.offset) < std::pair(b.original, b.change.offset);
  });
  return mutants;
}

std::string describe(const Mutant& mutant, const Original& original) {
  return fmt::format("{}/{}:{}: {}: `{}` -> `{}`", original.task->id, original.name, mutant.line,
                     mutant.change.kind, one_line(mutant.before), one_line(mutant.change.text));
}

}  // namespace krl::service
