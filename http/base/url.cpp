#include "http/base/url.hpp"

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/url/encode.hpp>
#include <boost/url/pct_string_view.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>
#include <boost/url/src.hpp>  // compiled here: Debian's packages of the library are not needed
#include <charconv>
#include <kernelrl/values.hpp>

namespace krl::http {
namespace {

constexpr std::string_view kExpected =
    "expected http://host:port/path, https://host/path or unix:///path/of/socket";

// Returns the part of a would-be URL that may be shown: nothing before an '@', which may be a
// password, and nothing after a '?', which may be a key.
std::string shown(std::string_view text) {
  const std::size_t at = text.rfind('@');
  const std::string_view open = at == std::string_view::npos ? text : text.substr(at);
  return (at == std::string_view::npos ? "" : "***") + std::string(open.substr(0, open.find('?')));
}

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  invalid_argument("'" + shown(text) + "' is not a server's URL: " + std::string(why));
}

std::string percent_decoded(std::string_view text) {
  const auto checked = boost::urls::make_pct_string_view({text.data(), text.size()});
  return checked ? checked->decode() : std::string(text);
}

std::uint16_t default_port(Url::Scheme scheme) { return scheme == Url::kHttps ? 443 : 80; }

// "user:password@" at the front of `authority` is taken off.
void take_user(std::string_view& authority, Url& url) {
  const std::size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return;
  const std::string_view user = authority.substr(0, at);
  const std::size_t colon = user.find(':');
  url.user = percent_decoded(user.substr(0, colon));
  if (colon != std::string_view::npos) url.password = percent_decoded(user.substr(colon + 1));
  authority.remove_prefix(at + 1);
}

void read_host_and_port(std::string_view text, std::string_view authority, Url& url) {
  const bool is_v6 = authority.starts_with('[');
  const std::size_t bracket = is_v6 ? 1 : 0;
  const std::size_t end = is_v6 ? authority.find(']') : authority.find(':');
  if (is_v6 && end == std::string_view::npos) refuse(text, "its IPv6 address is not terminated");
  url.host = boost::to_lower_copy(std::string(authority.substr(bracket, end - bracket)));
  const char* const allowed =
      is_v6 ? "0123456789abcdef:." : "0123456789abcdefghijklmnopqrstuvwxyz-._";
  if (url.host.find_first_not_of(allowed) != std::string::npos)
    refuse(text, is_v6 ? "invalid IPv6 address" : "its host contains invalid characters");
  if (url.host.empty()) refuse(text, "it has no host");
  url.port = default_port(url.scheme);
  authority.remove_prefix(std::min(end, authority.size() - bracket) + bracket);
  if (authority.empty()) return;
  const char* const last = authority.data() + authority.size();
  const auto read = std::from_chars(authority.data() + 1, last, url.port);
  if (authority.front() != ':' || read.ptr != last || read.ec != std::errc() || url.port == 0)
    refuse(text, "its port is not a number from 1 to 65535");
}

}  // namespace

Url parse_url(std::string_view text) {
  if (std::any_of(text.begin(), text.end(),
                  [](char c) { return c > 0 && (c <= ' ' || c == 127); })) {
    refuse("", "it has spaces or control characters");
  }
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) refuse(text, kExpected);
  const std::string scheme = boost::to_lower_copy(std::string(text.substr(0, colon)));
  std::string_view rest = text.substr(colon + 3);
  Url url;
  if (scheme == "unix") {
    if (!rest.starts_with('/')) refuse(text, kExpected);
    url.scheme = Url::kUnix;
    url.path = rest;
    return url;
  }
  if (scheme != "http" && scheme != "https") refuse(text, kExpected);
  url.scheme = scheme == "https" ? Url::kHttps : Url::kHttp;
  const std::size_t slash = std::min(rest.find_first_of("/?#"), rest.size());
  url.path = rest.substr(slash);
  if (url.path.find_first_of("?#") != std::string::npos) {
    refuse(text, "it must not have a query");
  }
  if (url.path.find('@') != std::string::npos) {
    refuse(text, "a '/' in its user or password must be written %2F, an '@' in its path %40");
  }
  while (url.path.ends_with('/')) url.path.pop_back();
  std::string_view authority = rest.substr(0, slash);
  take_user(authority, url);
  read_host_and_port(text, authority, url);
  return url;
}

std::string Url::authority() const {
  if (scheme == kUnix) return "localhost";
  std::string result = host.find(':') == std::string::npos ? host : '[' + host + ']';
  if (port != default_port(scheme)) result += ':' + std::to_string(port);
  return result;
}

std::string Url::text() const {
  if (scheme == kUnix) return "unix://" + path;
  return (scheme == kHttps ? "https://" : "http://") + authority() + path;
}

std::string percent_encoded(std::string_view text) {
  return boost::urls::encode(text, boost::urls::unreserved_chars);
}

}  // namespace krl::http
