#include "http/base/secrets.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>

namespace krl::http {
namespace {

constexpr std::size_t kShortest = 4;

}  // namespace

void Secrets::add(std::string value) {
  if (value.size() < kShortest) return;
  const std::string encoded = percent_encoded(value);
  if (encoded != value) values_.push_back(encoded);
  values_.push_back(std::move(value));
  std::stable_sort(values_.begin(), values_.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

void Secrets::add_value_of(const Header& header) {
  add(header.value);
  const std::size_t space = header.value.rfind(' ');
  if (space != std::string::npos) add(header.value.substr(space + 1));
}

void Secrets::add_login_of(const Url& url) {
  add(url.user);
  add(url.password);
  const std::string basic = basic_authorization(url);
  if (!basic.empty()) add_value_of({"", basic});
}

std::string Secrets::removed_from(std::string text) const {
  for (const std::string& value : values_) boost::replace_all(text, value, "***");
  return text;
}

void Secrets::remove_from(Answer& answer) const {
  answer.body = removed_from(std::move(answer.body));
  for (Header& header : answer.headers) header.value = removed_from(std::move(header.value));
}

std::string basic_authorization(const Url& url) {
  if (url.user.empty() && url.password.empty()) return {};
  const std::string login = url.user + ':' + url.password;
  std::string encoded(4 * ((login.size() + 2) / 3) + 1, '\0');
  const int n = ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                                  reinterpret_cast<const unsigned char*>(login.data()),
                                  static_cast<int>(login.size()));
  encoded.resize(static_cast<std::size_t>(n));
  return "Basic " + encoded;
}

}  // namespace krl::http
