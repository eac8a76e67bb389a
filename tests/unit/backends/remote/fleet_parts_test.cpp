// Preferences of requests for members, and how late is late.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "plugins/backends/remote/latencies.hpp"
#include "plugins/backends/remote/rendezvous.hpp"

namespace krl::remote {
namespace {

std::string first_choice(std::uint64_t content, int members) {
  std::string best;
  for (int i = 0; i < members; ++i) {
    const std::string member = "http://10.0.0." + std::to_string(i) + ":8400";
    if (best.empty() || weight(content, member) > weight(content, best)) best = member;
  }
  return best;
}

TEST(Rendezvous, ContentsSpreadOverTheMembers) {
  std::map<std::string, int> shares;
  for (std::uint64_t content = 0; content < 8000; ++content) ++shares[first_choice(content, 8)];
  ASSERT_EQ(shares.size(), 8U);
  for (const auto& [member, share] : shares) {
    EXPECT_GT(share, 850) << member;
    EXPECT_LT(share, 1150) << member;
  }
}

TEST(Rendezvous, ANewMemberTakesItsShareAndNothingElseMoves) {
  int moved = 0;
  for (std::uint64_t content = 0; content < 8000; ++content) {
    const std::string before = first_choice(content, 7), after = first_choice(content, 8);
    if (before == after) continue;
    EXPECT_EQ(after, "http://10.0.0.7:8400");
    ++moved;
  }
  EXPECT_NEAR(moved, 1000, 150);
}

TEST(Latencies, ThePercentileIsThatOfTheLatest) {
  Latencies latencies;
  for (std::size_t i = 1; i < Latencies::kFewest; ++i) latencies.add(std::chrono::seconds(1));
  EXPECT_FALSE(latencies.percentile95());
  for (int ms = 1; ms <= 1000; ++ms) latencies.add(std::chrono::milliseconds(ms));
  const double seconds = std::chrono::duration<double>(*latencies.percentile95()).count();
  EXPECT_NEAR(seconds, 0.745 + 0.95 * 0.256, 0.003);
}

}  // namespace
}  // namespace krl::remote
