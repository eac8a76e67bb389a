#include "core/base/latest_used.hpp"

#include <gmock/gmock.h>

#include <memory>

namespace krl::core {
namespace {

using Pointer = std::shared_ptr<int>;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Pointer number(int n) { return std::make_shared<int>(n); }

TEST(LatestUsed, TheOneUnusedForLongestGoes) {
  LatestUsed<Pointer> kept(2);
  const Pointer one = number(1), two = number(2);
  EXPECT_THAT(kept.keep("a", one), IsEmpty());
  EXPECT_THAT(kept.keep("b", two), IsEmpty());
  EXPECT_EQ(kept.find("a"), one);
  EXPECT_THAT(kept.keep("c", number(3)), ElementsAre(two));
  EXPECT_EQ(kept.find("b"), nullptr);
  EXPECT_EQ(kept.find("a"), one);
  EXPECT_EQ(kept.count(), 2u);
}

TEST(LatestUsed, SizesAddUp) {
  LatestUsed<Pointer> kept(10);
  const Pointer one = number(1), two = number(2), large = number(3);
  kept.keep("a", one, 4);
  kept.keep("b", two, 4);
  EXPECT_THAT(kept.keep("c", large, 100), ElementsAre(one, two));
  EXPECT_EQ(kept.find("c"), large);
  EXPECT_THAT(kept.keep("c", one, 10), ElementsAre(large));
  EXPECT_EQ(kept.take("c"), one);
  EXPECT_THAT(kept.keep("a", one, 5), IsEmpty());
  EXPECT_THAT(kept.keep("b", two, 5), IsEmpty());
  EXPECT_THAT(kept.resize("a", 6), ElementsAre(two));
  EXPECT_THAT(kept.resize("b", 6), IsEmpty());
}

TEST(LatestUsed, TheFirstOfAKeyIsShared) {
  LatestUsed<Pointer> kept(2);
  const Pointer one = number(1);
  EXPECT_EQ(kept.find_or_keep("a", one), one);
  EXPECT_EQ(kept.find_or_keep("a", number(2)), one);
  EXPECT_EQ(kept.take("a"), one);
  EXPECT_EQ(kept.take("a"), nullptr);
}

}  // namespace
}  // namespace krl::core
