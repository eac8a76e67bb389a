#include "http/server/target.hpp"

#include <boost/url/parse.hpp>

namespace krl::http {

std::string decoded_path(std::string_view target) {
  const auto url = boost::urls::parse_origin_form({target.data(), target.size()});
  return url ? url->path() : std::string(target.substr(0, target.find('?')));
}

std::string query_value(std::string_view target, std::string_view name) {
  const auto url = boost::urls::parse_origin_form({target.data(), target.size()});
  if (!url) return {};
  const auto parameters = url->params();
  const auto found = parameters.find({name.data(), name.size()});
  return found == parameters.end() ? std::string() : (*found).value;
}

}  // namespace krl::http
