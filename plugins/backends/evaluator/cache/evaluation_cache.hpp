// Evaluations by key, in memory and, if there is a folder, on disk. Identical concurrent ones are
// done once. Thread-safe.
#pragma once

#include <filesystem>
#include <kernelrl/evaluation_json.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "plugins/backends/evaluator/cache/memory_cache.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"
#include "plugins/files/disk_cache.hpp"

namespace krl::evaluator {

class EvaluationCache {
 public:
  // `folder` empty: nothing is kept on disk.
  EvaluationCache(const std::filesystem::path& folder, std::uint64_t disk_bytes)
      : memory_(kMemoryBytes) {
    if (!folder.empty()) disk_.emplace(folder / "evaluations", disk_bytes);
  }

  // The evaluation under `key`, or what `evaluate` returns, kept if it is repeatable.
  template <class Evaluate>
  std::shared_ptr<const EvaluationRecord> get(const std::string& key, Evaluate evaluate) {
    return memory_.get(key, [&] {
      const auto text = disk_ ? disk_->get(key) : std::nullopt;
      if (auto known = text ? parse_evaluation(*text) : std::nullopt) {
        return std::pair(EvaluationRecord(*std::move(known)), text->size());
      }
      EvaluationRecord fresh = evaluate();
      if (!fresh.repeatable) return std::pair(std::move(fresh), std::size_t{0});
      const std::string fresh_text = to_json_text(fresh);
      if (disk_) disk_->put(key, fresh_text);
      return std::pair(std::move(fresh), fresh_text.size());
    });
  }

 private:
  static constexpr std::uint64_t kMemoryBytes = 64 << 20;

  MemoryCache<EvaluationRecord> memory_;
  std::optional<files::DiskCache> disk_;
};

}  // namespace krl::evaluator
