#include "http/base/message.hpp"

#include <boost/beast/core/string.hpp>

namespace krl::http {

std::string_view Answer::header(std::string_view name) const {
  for (const Header& header : headers) {
    if (boost::beast::iequals(header.name, name)) return header.value;
  }
  return {};
}

}  // namespace krl::http
