// Requests and responses.
#pragma once

#include <boost/beast/core/string.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace krl::http {

struct Header {
  std::string name, value;
};

// Returns the first header of this name, in any case of letters; empty if there is none.
inline std::string_view header_of(const std::vector<Header>& headers, std::string_view name) {
  for (const Header& header : headers)
    if (boost::beast::iequals(header.name, name)) return header.value;
  return {};
}

struct Request {
  std::string method = "POST";
  std::string target = {};  // appended to the path of the client's URL: "/completions?x=y"
  std::string body = {};
  std::string content_type = "application/json";  // sent with a body
  std::vector<Header> headers = {};
  // The server may be asked twice without harm: nothing happens twice, or it does not matter. GET,
  // HEAD, PUT, DELETE and OPTIONS are repeatable by themselves.
  bool repeatable = false;
};

struct Answer {
  unsigned status = 0;
  std::vector<Header> headers = {};
  std::string body = {};

  bool good() const { return status >= 200 && status < 300; }
  std::string_view header(std::string_view name) const { return header_of(headers, name); }
};

// Takes a body as it arrives, in parts.
using OnBody = std::function<void(std::string_view bytes)>;

}  // namespace krl::http
