// Results by the content of what was asked, so that nothing is judged twice: the latest in memory,
// bounded by bytes. Thread-safe.
#pragma once

#include <list>
#include <mutex>
#include <string>
#include <unordered_map>

#include "serve/judging/told_result.hpp"

namespace krl::serve {

class KeptResults {
 public:
  explicit KeptResults(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // Null if there is none; else it is the latest used.
  ToldPointer find(const std::string& key);
  void keep(const std::string& key, ToldPointer told);

 private:
  using Entry = std::pair<std::string, ToldPointer>;

  const std::size_t most_bytes_;
  std::mutex mutex_;
  std::size_t bytes_ = 0;
  std::list<Entry> latest_;  // the latest used first
  std::unordered_map<std::string, std::list<Entry>::iterator> places_;
};

}  // namespace krl::serve
