// Values that clients come back to by a name, each its own client's: those used latest. Thread-safe.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/latest_used.hpp"

namespace krl::serve {

// A client may take any name, also one that another client has.
template <class Value>
class ClientsOwn {
 public:
  // As those of core::LatestUsed.
  explicit ClientsOwn(std::size_t most) : values_(most) {}

  std::vector<Value> keep(const std::string& client, const std::string& name, Value value,
                          std::size_t size = 1) {
    return values_.keep(key_of(client, name), std::move(value), size);
  }
  std::vector<Value> resize(const std::string& client, const std::string& name, std::size_t size) {
    return values_.resize(key_of(client, name), size);
  }
  Value find(const std::string& client, const std::string& name) {
    return values_.find(key_of(client, name));
  }
  Value take(const std::string& client, const std::string& name) {
    return values_.take(key_of(client, name));
  }

 private:
  static std::string key_of(const std::string& client, const std::string& name) {
    return std::to_string(client.size()) + " " + client + name;
  }

  core::LatestUsed<Value> values_;
};

}  // namespace krl::serve
