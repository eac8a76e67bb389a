#include "http/base/url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelrl/values.hpp>

namespace krl::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Url, HasItsPartsAndItsDefaults) {
  const Url plain = parse_url("HTTP://Example.ORG");
  EXPECT_EQ(plain.scheme, Url::kHttp);
  EXPECT_EQ(plain.host, "example.org");
  EXPECT_EQ(plain.port, 80);
  EXPECT_EQ(plain.path, "");
  EXPECT_EQ(plain.authority(), "example.org");
  EXPECT_EQ(plain.text(), "http://example.org");

  const Url full = parse_url("https://me:p%40ss%2F@api.example.org:8443/v1/");
  EXPECT_EQ(full.scheme, Url::kHttps);
  EXPECT_EQ(full.user, "me");
  EXPECT_EQ(full.password, "p@ss/");
  EXPECT_EQ(full.port, 8443);
  EXPECT_EQ(full.path, "/v1");
  EXPECT_EQ(full.text(), "https://api.example.org:8443/v1");
  EXPECT_EQ(parse_url("https://api.example.org").port, 443);
}

TEST(Url, KnowsIPv6AddressesAndSockets) {
  const Url v6 = parse_url("http://[::1]:8000/x");
  EXPECT_EQ(v6.host, "::1");
  EXPECT_EQ(v6.authority(), "[::1]:8000");
  const Url socket = parse_url("unix:///run/docker.sock");
  EXPECT_EQ(socket.scheme, Url::kUnix);
  EXPECT_EQ(socket.path, "/run/docker.sock");
  EXPECT_EQ(socket.text(), "unix:///run/docker.sock");
  EXPECT_EQ(socket.authority(), "localhost");
}

TEST(Url, IsRefusedWithAReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "expected http://"},
      {"localhost:8000", "expected http://"},
      {"ftp://host", "expected http://"},
      {"unix://run/docker.sock", "expected http://"},
      {"http://", "no host"},
      {"http://:80", "no host"},
      {"http://host:", "port"},
      {"http://host:0", "port"},
      {"http://host:65536", "port"},
      {"http://host:8x", "port"},
      {"http://ho st", "spaces"},
      {"http://host/\r\nX: y", "control"},
      {"http://h%6fst", "characters"},
      {"http://[::1", "not terminated"},
      {"http://[fe80::1%eth0]", "invalid IPv6 address"},
      {"http://[::1]8000", "port"},
      {"http://host/v1?key=secret", "query"},
      {"http://host/v1#x", "query"},
  };
  for (const auto& [text, why] : cases) {
    try {
      parse_url(text);
      ADD_FAILURE() << text << " was taken";
    } catch (const krl::Failure& failure) {
      EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT) << text;
      EXPECT_THAT(failure.what(), HasSubstr(why)) << text;
    }
  }
}

TEST(Url, ThatIsRefusedShowsNoSecret) {
  for (const char* text : {"http://me:hunter2@host:x", "http://me:hunter2/3@host/",
                           "ftp://me:hunter2@host", "me:hunter2@host", "http://host/?key=hunter2",
                           "http://me:hun@hunter2@host:x", "http://me:hunter2@ho st"}) {
    try {
      parse_url(text);
      ADD_FAILURE() << text << " was taken";
    } catch (const krl::Failure& failure) {
      EXPECT_THAT(failure.what(), Not(HasSubstr("hunter2"))) << text;
    }
  }
}

TEST(PercentEncoded, LeavesNothingThatEndsAQuery) {
  EXPECT_EQ(percent_encoded("a-b_c.d~9"), "a-b_c.d~9");
  EXPECT_EQ(percent_encoded("{\"l\":[\"x&y=z/ \"]}"),
            "%7B%22l%22%3A%5B%22x%26y%3Dz%2F%20%22%5D%7D");
  EXPECT_EQ(percent_encoded("\xc3\xa9"), "%C3%A9");
}

}  // namespace
}  // namespace krl::http
