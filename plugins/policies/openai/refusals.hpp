// Fields of a request that a server has refused by name: they are omitted from then on. A value;
// not thread-safe.
#pragma once

#include <set>
#include <string>

#include "plugins/policies/openai/dialect.hpp"

namespace krl::openai {

class Refusals {
 public:
  // Reads the answer to a request that was refused (status 400 or 422). If it names an optional
  // field of `body`, apply() leaves that out in future, and a text for the user is returned;
  // otherwise empty.
  std::string learn(const Dialect& dialect, const Json& body, const std::string& answer);

  void apply(Json& body) const;
  // Grows with all that is learned.
  std::size_t size() const { return pointers_.size() + (max_completion_tokens_ ? 1 : 0); }

 private:
  std::set<std::string> pointers_;
  bool max_completion_tokens_ = false;  // newer OpenAI models: instead of max_tokens
};

}  // namespace krl::openai
