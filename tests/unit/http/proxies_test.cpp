#include "http/client/proxies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <kernelrl/values.hpp>
#include <map>

namespace krl::http {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kVariables[] = {"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY",
                                      "all_proxy",  "ALL_PROXY",  "no_proxy",    "NO_PROXY"};

// The variables of a test, and afterwards those that were there before.
class ProxyEnvironment : public ::testing::Test {
 protected:
  ProxyEnvironment() {
    for (const char* name : kVariables) {
      if (const char* value = std::getenv(name)) before_[name] = value;
      ::unsetenv(name);
    }
  }
  ~ProxyEnvironment() override {
    for (const char* name : kVariables) ::unsetenv(name);
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  static void set(const char* name, const char* value) { ::setenv(name, value, 1); }
  static std::string proxy_of(const char* url) {
    const auto proxy = Proxies::of_environment().proxy_for(parse_url(url));
    return proxy ? proxy->text() : "";
  }

 private:
  std::map<std::string, std::string> before_;
};

TEST_F(ProxyEnvironment, SaysNothingByItself) {
  EXPECT_EQ(proxy_of("http://example.org"), "");
  EXPECT_EQ(proxy_of("https://example.org"), "");
}

TEST_F(ProxyEnvironment, HasOneProxyForEachScheme) {
  set("http_proxy", "http://plain:3128");
  set("https_proxy", "secure:3129/");
  EXPECT_EQ(proxy_of("http://example.org"), "http://plain:3128");
  EXPECT_EQ(proxy_of("https://example.org"), "http://secure:3129");
}

TEST_F(ProxyEnvironment, PrefersLowerCaseAndTheSchemesOwn) {
  set("HTTPS_PROXY", "http://upper");
  set("ALL_PROXY", "http://all-upper");
  EXPECT_EQ(proxy_of("https://example.org"), "http://upper");
  EXPECT_EQ(proxy_of("http://example.org"), "http://all-upper");
  set("https_proxy", "http://lower");
  set("all_proxy", "http://all-lower");
  EXPECT_EQ(proxy_of("https://example.org"), "http://lower");
  EXPECT_EQ(proxy_of("http://example.org"), "http://all-lower");
}

TEST_F(ProxyEnvironment, DoesNotBelieveWhatACallerOfCgiCanSet) {
  set("HTTP_PROXY", "http://attacker");
  EXPECT_EQ(proxy_of("http://example.org"), "");
}

TEST_F(ProxyEnvironment, LeavesThisMachineAlone) {
  set("all_proxy", "http://proxy");
  for (const char* url : {"http://localhost:8000", "https://127.0.0.1", "http://127.9.9.9",
                          "http://[::1]:80", "unix:///run/docker.sock"}) {
    EXPECT_EQ(proxy_of(url), "") << url;
  }
}

TEST(NoProxy, ExceptsTheHostsOfAList) {
  const struct {
    const char* list;
    const char* url;
    bool excepted;
  } cases[] = {
      {"*", "http://example.org", true},
      {"example.org", "http://example.org", true},
      {"example.org", "http://www.example.org", true},
      {"example.org", "http://badexample.org", false},
      {".example.org", "http://www.example.org", true},
      {".example.org", "http://example.org", true},
      {"Example.ORG", "http://www.example.org", true},
      {"other.org, example.org ,x", "http://example.org", true},
      {"other.org example.org", "http://example.org", true},
      {"www.example.org", "http://example.org", false},
      {"example.org:8000", "http://example.org:8000", true},
      {"example.org:8000", "http://example.org:8001", false},
      {"example.org:80", "http://example.org", true},
      {"org", "http://example.org", true},
      {"10.0.0.0/8", "http://10.1.2.3", true},
      {"10.0.0.0/8", "http://11.1.2.3", false},
      {"10.1.2.0/23", "http://10.1.3.255:99", true},
      {"10.1.2.0/23", "http://10.1.4.0", false},
      {"10.0.0.0/33", "http://10.0.0.0", false},
      {"10.0.0.0/", "http://10.0.0.0", false},
      {"0.0.0.0/0", "http://9.9.9.9", true},
      {"0.0.0.0/0", "http://example.org", false},
      {"192.168.1.7", "http://192.168.1.7", true},
      {"168.1.7", "http://192.168.1.7", false},
      {"fd00::/8", "http://[fd00::1]", true},
      {"fe80::1", "http://[fe80::1]", true},
      {"[fe80::1]:8000", "http://[fe80::1]:8000", true},
      {"", "http://example.org", false},
      {",, ,", "http://example.org", false},
  };
  for (const auto& c : cases) {
    const Proxies proxies{"http://proxy", "http://proxy", c.list};
    EXPECT_EQ(!proxies.proxy_for(parse_url(c.url)).has_value(), c.excepted)
        << '"' << c.list << "\" and " << c.url;
  }
}

TEST(Proxies, ThatWeCannotSpeakToAreRefused) {
  for (const char* proxy : {"socks5://me:hunter2@proxy:1080", "https://me:hunter2@proxy",
                            "http://me:hunter2@proxy:x"}) {
    try {
      (void)Proxies{proxy, proxy, ""}.proxy_for(parse_url("http://example.org"));
      ADD_FAILURE() << proxy << " was taken";
    } catch (const krl::Failure& failure) {
      EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
      EXPECT_THAT(failure.what(), AllOf(HasSubstr("http://example.org"), HasSubstr("proxy"),
                                        Not(HasSubstr("hunter2"))));
    }
  }
}

}  // namespace
}  // namespace krl::http
