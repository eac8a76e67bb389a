#include "http/client/backoff.hpp"

#include <gtest/gtest.h>

namespace krl::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Backoff, DoublesUpToItsLongest) {
  const Retries retries{8, milliseconds(500), seconds(5)};
  const int full[] = {500, 1000, 2000, 4000, 5000, 5000};
  for (unsigned i = 0; i < std::size(full); ++i) {
    EXPECT_EQ(backoff(retries, i + 1, 1.0), milliseconds(full[i]));
    EXPECT_EQ(backoff(retries, i + 1, 0.5), milliseconds(full[i] / 2));
    EXPECT_EQ(backoff(retries, i + 1, 0.0), seconds(0));
  }
  EXPECT_EQ(backoff(retries, 4'000'000, 1.0), seconds(5));
}

constexpr std::time_t kNow = 784111777 - 60;  // a minute before Sun, 06 Nov 1994 08:49:37 GMT

TEST(RetryAfter, IsSecondsOrADateInThreeFormats) {
  EXPECT_EQ(retry_after("0", kNow), seconds(0));
  EXPECT_EQ(retry_after("120", kNow), seconds(120));
  EXPECT_EQ(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", kNow), seconds(60));
  EXPECT_EQ(retry_after("Sunday, 06-Nov-94 08:49:37 GMT", kNow), seconds(60));
  EXPECT_EQ(retry_after("Sun Nov  6 08:49:37 1994", kNow), seconds(60));
}

TEST(RetryAfter, InThePastIsNoWait) {
  EXPECT_EQ(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", kNow + 3600), seconds(0));
}

TEST(RetryAfter, ThatIsHugeDoesNotOverflow) {
  EXPECT_EQ(retry_after("99999999999999999999", kNow), seconds(UINT32_MAX));
  EXPECT_EQ(retry_after("Fri, 31 Dec 9999 23:59:59 GMT", kNow), seconds(UINT32_MAX));
}

TEST(RetryAfter, ThatIsNeitherIsNothing) {
  for (const char* text : {"", "soon", "-1", "1.5", "5 seconds", "Sun, 06 Nov 1994",
                           "Sun, 06 Abc "
                           "1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 08:49:37 GMT+1"}) {
    EXPECT_EQ(retry_after(text, kNow), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace krl::http
