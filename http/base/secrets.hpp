// Secrets, and removing them from texts. Pure.
#pragma once

#include <string>
#include <vector>

#include "http/base/message.hpp"
#include "http/base/url.hpp"

namespace krl::http {

class Secrets {
 public:
  // Values with fewer than 4 characters are taken for placeholders: removing them would make texts
  // unreadable.
  void add(std::string value);
  // "Bearer KEY" is one secret, and so is KEY.
  void add_value_of(const Header& header);
  void add_login_of(const Url& url);

  // Each secret is replaced by "***", as it is or percent-encoded.
  std::string removed_from(std::string text) const;
  void remove_from(Answer& answer) const;

 private:
  std::vector<std::string> values_;  // the longest first, as one may be a part of another
};

// "Basic dXNlcjpwYXNzd29yZA==" of the URL's user and password; empty if it has none.
std::string basic_authorization(const Url& url);

}  // namespace krl::http
