// What holds for every built-in term: its description, its needs, and finite scores for the oddest
// turns.
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <map>

#include "tests/unit/rewards/builtin_term.hpp"

namespace krl {
namespace {

using testing::TurnBuilder;

class EveryTerm : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryTerm, DescribesItself) {
  const testing::Plugin plugin = builtin_plugin(GetParam());
  EXPECT_EQ(view(plugin.c()->name), GetParam());
  EXPECT_EQ(plugin.c()->n_components, 1u);
  const krl_component& component = plugin.component(KRL_REWARD, GetParam());
  EXPECT_EQ(component.flags, KRL_THREAD_SAFE | KRL_DETERMINISTIC);
  EXPECT_GT(component.summary.size, 0u);
  for (std::uint32_t i = 0; i < component.n_fields; ++i)
    EXPECT_GT(component.fields[i]->doc.size, 0u) << view(component.fields[i]->key);
}

TEST_P(EveryTerm, NeedsTheSignalsThatItReads) {
  const std::map<std::string, std::uint32_t> needs{
      {"bandwidth", KRL_SIGNAL_MEMORY},
      {"coalescing", KRL_SIGNAL_MEMORY},
      {"compile", KRL_SIGNAL_COMPILE},
      {"correctness", KRL_SIGNAL_CORRECTNESS},
      {"format", 0},
      {"occupancy", KRL_SIGNAL_OCCUPANCY},
      {"overlong", 0},
      {"register_pressure", KRL_SIGNAL_REGISTERS},
      {"roofline", KRL_SIGNAL_TIME},
      {"improvement", KRL_SIGNAL_TIME},
      {"shared_memory", KRL_SIGNAL_SHARED_MEMORY},
      {"speedup", KRL_SIGNAL_TIME},
      {"thinking", 0},
      {"timeout", KRL_SIGNAL_CORRECTNESS},
      {"warnings", KRL_SIGNAL_COMPILE},
      {"warp_shuffle", KRL_SIGNAL_CORRECTNESS | KRL_SIGNAL_TIME | KRL_SIGNAL_INSTRUCTIONS}};
  EXPECT_EQ(builtin_term(GetParam()).needs(), needs.at(GetParam()));
}

// "| `speedup` | …" of docs/rewards.md.
std::string documentation_row(const std::string& term) {
  std::ifstream page(KERNELRL_SOURCE_DIR "/docs/rewards.md");
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("| `" + term + "` | ", 0) == 0) return line;
  }
  return "";
}

TEST_P(EveryTerm, IsDocumentedWithItsOptionsAndDefaults) {
  const std::string row = documentation_row(GetParam());
  const testing::Plugin plugin = builtin_plugin(GetParam());
  const krl_component& component = plugin.component(KRL_REWARD, GetParam());
  EXPECT_FALSE(row.empty());
  for (std::uint32_t i = 0; i < component.n_fields; ++i) {
    const krl_field& field = *component.fields[i];
    std::string fallback(view(field.fallback));
    if (fallback.size() > 2 && fallback.substr(fallback.size() - 2) == ".0")
      fallback.erase(fallback.size() - 2);
    std::string option = "`" + std::string(view(field.key)) + "`";
    if (!fallback.empty()) option += " (" + fallback + ")";
    EXPECT_NE(row.find(option), std::string::npos) << option << " is not in: " << row;
  }
}

// `scores` throws for a number that is not finite.
TEST_P(EveryTerm, ScoresTheOddestTurnsWithinItsRange) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  const auto term = builtin_term(GetParam());
  for (std::uint32_t number = 0; number <= KRL_VERDICT_INFRA_ERROR + 1; ++number) {
    const auto verdict = static_cast<Verdict>(number);
    for (const double x : {0.0, -1.0, 1e308, 5e-324, infinity, -infinity, unknown}) {
      TurnBuilder turn;
      turn.verdict(verdict).format(number).speedup(x).speedup(1, x).untimed_case(verdict);
      turn.kernel(1 << 30, 1 << 30, x).kernel(-1).warning("");
      for (const char* name : {"shuffles", "sectors_per_request", "bandwidth_fraction", "roofline"})
        turn.value(name, x);
      const double score = term.score(turn);
      EXPECT_GE(score, -1) << number << " " << x;
      EXPECT_LE(score, 3) << number << " " << x;
    }
  }
}

TEST_P(EveryTerm, ScoresManyTurnsAtOnceAsOneByOne) {
  const auto term = builtin_term(GetParam());
  const std::vector<TurnBuilder> turns{
      TurnBuilder().passed().speedup(2).kernel(200, 1 << 17, 0.5).value("sectors_per_request", 8),
      TurnBuilder().verdict(Verdict::kTimeout).warning("slow"),
      TurnBuilder().verdict(Verdict::kFormatError).format(KRL_FORMAT_MISSING)};
  const std::vector<double> together = term.scores(turns);
  for (std::size_t i = 0; i < turns.size(); ++i) EXPECT_EQ(together[i], term.score(turns[i]));
  EXPECT_TRUE(term.scores({}).empty());
}

INSTANTIATE_TEST_SUITE_P(Builtin, EveryTerm, ::testing::ValuesIn(kBuiltinTerms),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace krl
