#include "http/base/secrets.hpp"

#include <gtest/gtest.h>

namespace krl::http {
namespace {

TEST(Secrets, AreRemovedWhereverTheyStand) {
  Secrets secrets;
  secrets.add_value_of({"Authorization", "Bearer sk-12/34"});
  secrets.add_value_of({"X-API-Key", "tml-5678"});
  EXPECT_EQ(secrets.removed_from("no secret"), "no secret");
  EXPECT_EQ(secrets.removed_from("key sk-12/34, sk-12/34 and tml-5678tml-5678"),
            "key ***, *** and ******");
  EXPECT_EQ(secrets.removed_from("Authorization: Bearer sk-12/34"), "Authorization: ***");
  EXPECT_EQ(secrets.removed_from("?key=sk-12%2F34"), "?key=***");
}

TEST(Secrets, ThatContainOneAnotherAreRemovedWhole) {
  Secrets secrets;
  secrets.add("1234");
  secrets.add("12345678");
  EXPECT_EQ(secrets.removed_from("12345678 1234"), "*** ***");
}

TEST(Secrets, OfAUrlAreItsLogin) {
  Secrets secrets;
  const Url url = parse_url("http://somebody:hunter2@host");
  secrets.add_login_of(url);
  EXPECT_EQ(basic_authorization(url), "Basic c29tZWJvZHk6aHVudGVyMg==");
  EXPECT_EQ(secrets.removed_from("somebody, hunter2, c29tZWJvZHk6aHVudGVyMg=="), "***, ***, ***");
  EXPECT_EQ(basic_authorization(parse_url("http://host")), "");
}

TEST(Secrets, ThatAreTooShortAreLeft) {
  Secrets secrets;
  secrets.add("");
  secrets.add("x");
  EXPECT_EQ(secrets.removed_from("max"), "max");
}

TEST(Secrets, AreRemovedFromAnAnswersHeadersToo) {
  Secrets secrets;
  secrets.add("hunter2");
  Answer answer{401, {{"WWW-Authenticate", "hunter2 is wrong"}}, "{\"key\":\"hunter2\"}"};
  secrets.remove_from(answer);
  EXPECT_EQ(answer.header("www-authenticate"), "*** is wrong");
  EXPECT_EQ(answer.body, "{\"key\":\"***\"}");
}

}  // namespace
}  // namespace krl::http
