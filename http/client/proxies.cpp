#include "http/client/proxies.hpp"

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <cstdlib>
#include <initializer_list>
#include <kernelrl/values.hpp>
#include <string_view>
#include <vector>

namespace krl::http {
namespace {

namespace asio = boost::asio;
using asio::ip::address;

std::string first_set(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

// An address within "10.0.0.0/8".
bool is_in_network(const address& host, std::string_view text) {
  boost::system::error_code error;
  if (host.is_v4()) {
    const auto network = asio::ip::make_network_v4(std::string(text), error);
    return !error && asio::ip::network_v4(host.to_v4(), network.prefix_length()).canonical() ==
                         network.canonical();
  }
  const auto network = asio::ip::make_network_v6(std::string(text), error);
  return !error && asio::ip::network_v6(host.to_v6(), network.prefix_length()).canonical() ==
                       network.canonical();
}

// One entry of no_proxy.
bool is_excepted(const Url& server, std::string_view entry) {
  if (entry == "*") return true;
  boost::system::error_code no_address;
  const address host = asio::ip::make_address(server.host, no_address);
  if (!no_address && is_in_network(host, entry)) return true;
  const std::string port = ':' + std::to_string(server.port);
  const bool is_bare_v6 = std::count(entry.begin(), entry.end(), ':') > 1 && entry.front() != '[';
  if (!is_bare_v6 && entry.ends_with(port)) entry.remove_suffix(port.size());
  if (entry.starts_with('[') && entry.ends_with(']')) entry = entry.substr(1, entry.size() - 2);
  if (!no_address) return entry == server.host;
  if (entry.starts_with('.')) entry.remove_prefix(1);
  const std::string_view name = server.host;
  if (entry.empty() || !name.ends_with(entry)) return false;
  return name.size() == entry.size() || name[name.size() - entry.size() - 1] == '.';
}

bool is_in_list(const Url& server, const std::string& list) {
  const std::string names = boost::to_lower_copy(list);
  std::vector<std::string> entries;
  boost::split(entries, names, boost::is_any_of(", \t"), boost::token_compress_on);
  return std::any_of(entries.begin(), entries.end(), [&](const std::string& entry) {
    return !entry.empty() && is_excepted(server, entry);
  });
}

bool is_on_this_machine(const Url& server) {
  if (server.scheme == Url::kUnix || server.host == "localhost") return true;
  boost::system::error_code error;
  const address host = asio::ip::make_address(server.host, error);
  return !error && host.is_loopback();
}

}  // namespace

Proxies Proxies::of_environment() {
  const std::string all = first_set({"all_proxy", "ALL_PROXY"});
  Proxies proxies{first_set({"http_proxy"}), first_set({"https_proxy", "HTTPS_PROXY"}),
                  first_set({"no_proxy", "NO_PROXY"})};
  if (proxies.http.empty()) proxies.http = all;
  if (proxies.https.empty()) proxies.https = all;
  return proxies;
}

std::optional<Url> Proxies::proxy_for(const Url& server) const {
  if (is_on_this_machine(server) || is_in_list(server, exceptions)) return std::nullopt;
  const std::string& text = server.scheme == Url::kHttps ? https : http;
  if (text.empty()) return std::nullopt;
  const bool has_scheme = text.find("://") != std::string::npos;
  Url proxy;
  try {
    proxy = parse_url(has_scheme ? text : "http://" + text);
  } catch (const krl::Failure& failure) {
    invalid_argument("the proxy for " + server.text() + ": " + failure.what());
  }
  if (proxy.scheme != Url::kHttp) {
    invalid_argument("the proxy for " + server.text() + ", " + proxy.text() + ", must use http://");
  }
  return proxy;
}

}  // namespace krl::http
