// Where everything of a run lies under its directory. A value; touches no file.
#pragma once

#include <filesystem>

namespace krl {

struct RunLayout {
  std::filesystem::path root;  // runs/NAME

  std::filesystem::path plan() const { return root / "plan.toml"; }
  std::filesystem::path record() const { return root / "run.json"; }
  std::filesystem::path status() const { return root / "status.json"; }
  std::filesystem::path lock() const { return root / "lock"; }
  std::filesystem::path log() const { return root / "logs.log"; }
  std::filesystem::path output() const { return root / "output.log"; }
  std::filesystem::path metrics() const { return root / "metrics.jsonl"; }
  std::filesystem::path tensorboard() const { return root / "tensorboard"; }
  std::filesystem::path ledger() const { return root / "ledger"; }
  std::filesystem::path samples() const { return root / "samples"; }
  std::filesystem::path checkpoints() const { return root / "checkpoints"; }
  std::filesystem::path weights() const { return root / "weights"; }
  std::filesystem::path best() const { return root / "best"; }
};

}  // namespace krl
