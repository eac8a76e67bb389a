// The head of a request as it is sent. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "http/base/url.hpp"
#include "http/client/options.hpp"

namespace krl::http {

class RequestHead {
 public:
  // Throws krl::Failure(KRL_INVALID_ARGUMENT), as of() does: a name or a value that no header may
  // have. A header of a request replaces the client's of the same name, and those replace ours.
  RequestHead(const Url& server, const Options& options, const std::optional<Url>& proxy);

  // Returns the head with the empty line at its end. `for_stream`: asks for a stream instead of
  // HTTP.
  std::string of(const Request& request, bool for_stream) const;

 private:
  std::string start_of_target_;  // "/v1", or for a proxy "http://host:8000/v1"
  std::vector<Header> always_;
};

}  // namespace krl::http
