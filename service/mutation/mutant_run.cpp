#include "service/mutation/mutant_run.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/base/hash.hpp"
#include "core/plan/source.hpp"
#include "service/process/output_lines.hpp"

namespace krl::service {
namespace fs = std::filesystem;
namespace {

using Json = OutputLines::Json;

// Each task's naive kernel, and the files that have its name in the folders.
Result<std::vector<Original>> originals_of(const std::vector<Task>& tasks,
                                           const std::vector<std::string>& folders) {
  std::vector<Original> originals;
  for (const Task& task : tasks) {
    const auto definition = nlohmann::json::parse(task.definition_json, nullptr, false);
    if (const std::string naive = definition.value("naive", ""); !naive.empty())
      originals.push_back({&task, "naive", naive});
    for (const std::string& folder : folders) {
      const fs::path file = fs::path(folder) / (task.id + ".cu");
      std::error_code ignored;
      if (!fs::exists(file, ignored)) continue;
      const auto source = read_text_file(file);
      if (!source) return invalid(source.error());
      originals.push_back({&task, file.string(), *source});
    }
  }
  return originals;
}

const OutputFormat kFormat = {"judged mutants", "task"};

bool is_of_output(const Json& line) {
  return line.is_object() && line.contains("digest") && line.contains("fate");
}

// Judges the mutants of a list, some at a time, and keeps a line of JSON for each.
class MutantRun {
 public:
  MutantRun(const Backend& backend, std::uint64_t seed, std::vector<Original> originals,
            const std::function<void(const std::string&)>& failed)
      : judge_({{}, &backend}),
        mutants_(judge_, seed),
        originals_(std::move(originals)),
        known_(originals_.size()),
        hear_(failed) {}

  // Goes on behind the last whole line; a later call judges no mutant again that is in it.
  Status open_output(const std::string& file) {
    const auto keep = [&](const Json& line) {
      if (!is_of_output(line)) return false;
      if (line.value("judge", "") == identity_)
        earlier_.emplace(line["digest"].get<std::string>(), line["fate"].get<std::string>());
      return true;
    };
    KRL_ASSIGN(output_, OutputLines::open(file, kFormat, keep));
    return {};
  }

  // Leaves out what another call found to be no wrong kernel, or no program.
  Status leave_out_equivalent(const std::string& file) {
    const auto keep = [&](const Json& line) {
      if (!is_of_output(line)) return false;
      const std::string fate = line["fate"].get<std::string>();
      if (fate == "same" || fate == "close" || fate == "invalid")
        equivalent_.insert(line["digest"].get<std::string>());
      return true;
    };
    KRL_TRY(OutputLines::read(file, kFormat, keep));
    return {};
  }

  // Makes changes to the compiled code instead. An original without any is left out.
  void compile_originals() {
    std::vector<Original> compiled;
    for (const Original& original : originals_) {
      auto with_ptx = mutants_.with_ptx(original);
      if (with_ptx) compiled.push_back(*std::move(with_ptx));
      if (!with_ptx)
        fail(original.task->id + "/" + original.name + ": " + with_ptx.error().message);
    }
    originals_ = std::move(compiled);
    known_ = std::vector<Known>(originals_.size());
  }

  const std::vector<Original>& originals() const { return originals_; }

  void run(const std::vector<Mutant>& mutants) {
    std::atomic<std::size_t> next = 0;
    const std::size_t threads = judge_.info().concurrency;
    boost::asio::thread_pool pool(threads);
    for (std::size_t t = 0; t < threads; ++t) {
      boost::asio::post(pool, [&] {
        for (std::size_t i = next++; i < mutants.size(); i = next++) judge(mutants[i]);
      });
    }
    pool.join();
  }

  MutantReport report() const { return {counts_, failed_}; }

 private:
  // The facts about an original, each found out once.
  struct Known {
    std::once_flag checked_once, proved_once;
    bool right = false;
    Proof proof = {};
  };

  // The mutants of an original that is not right tell nothing.
  bool is_right(std::size_t index) {
    Known& known = known_[index];
    std::call_once(known.checked_once, [&] {
      const Status right = mutants_.check(originals_[index]);
      known.right = right.has_value();
      if (!right) fail(name_of(index) + ": not right itself: " + right.error().message);
    });
    return known.right;
  }

  // Returns the proof of an original. Without one, its accepted mutants cannot be told from it.
  Proof proof_of(std::size_t index) {
    Known& known = known_[index];
    std::call_once(known.proved_once, [&] {
      const auto proof = mutants_.prove(originals_[index]);
      if (proof) known.proof = *proof;
      if (!proof) fail(name_of(index) + ": cannot be compared with: " + proof.error().message);
    });
    return known.proof;
  }

  std::string name_of(std::size_t index) const {
    return originals_[index].task->id + "/" + originals_[index].name;
  }

  std::string digest_of(const Mutant& mutant) const {
    const Original& original = originals_[mutant.original];
    return sha256_hex(original.task->definition_json + '\0' +
                      changed(original.source, mutant.change));
  }

  void judge(const Mutant& mutant) {
    const Original& original = originals_[mutant.original];
    const std::string digest = digest_of(mutant);
    if (const auto known = earlier_.find(digest); known != earlier_.end()) {
      const std::lock_guard lock(mutex_);
      for (std::size_t f = 0; f < kFates; ++f) {
        if (service::name_of(static_cast<Fate>(f)) == known->second)
          counts_.add(original.task->id, mutant.change.kind, static_cast<Fate>(f));
      }
      return;
    }
    if (equivalent_.count(digest) != 0) return;
    if (!is_right(mutant.original)) return;
    const auto fated = mutants_.judge(mutant, original, [&] { return proof_of(mutant.original); });
    if (!fated) return fail(describe(mutant, original) + ": not judged: " + fated.error().message);
    keep(mutant, digest, *fated);
  }

  void keep(const Mutant& mutant, const std::string& digest, const Fated& fated) {
    const Original& original = originals_[mutant.original];
    const Json line = {{"task", original.task->id},
                       {"kernel", original.name},
                       {"line", mutant.line},
                       {"kind", mutant.change.kind},
                       {"before", mutant.before},
                       {"after", mutant.change.text},
                       {"fate", service::name_of(fated.fate)},
                       {"verdict", krl::name_of(fated.verdict)},
                       {"why", fated.why},
                       {"digest", digest},
                       {"judge", identity_}};
    const std::lock_guard lock(mutex_);
    counts_.add(original.task->id, mutant.change.kind, fated.fate);
    if (!output_) return;
    const Status written = output_->append(line);
    if (written) return;
    hear_(written.error().message);
    ++failed_;
    output_.reset();
  }

  void fail(const std::string& why) {
    const std::lock_guard lock(mutex_);
    hear_(why);
    ++failed_;
  }

  const Judge judge_;
  const MutantJudge mutants_;
  std::vector<Original> originals_;
  const std::string identity_ = sha256_hex(judge_.identity());
  std::vector<Known> known_;                    // one for each original
  std::map<std::string, std::string> earlier_;  // fates by digest
  std::set<std::string> equivalent_;
  std::mutex mutex_;  // guards the members below
  std::optional<OutputLines> output_;
  MutantCounts counts_;
  std::size_t failed_ = 0;
  const std::function<void(const std::string&)>& hear_;
};

}  // namespace

Result<MutantReport> judge_mutants(const std::vector<Task>& tasks, const Backend& backend,
                                   const MutantOptions& options,
                                   const std::function<void(const std::string&)>& failed) {
  KRL_ASSIGN(std::vector<Original> originals, originals_of(tasks, options.folders));
  MutantRun run(backend, options.seed, std::move(originals), failed);
  if (!options.output.empty()) KRL_TRY(run.open_output(options.output));
  if (!options.equivalent.empty()) KRL_TRY(run.leave_out_equivalent(options.equivalent));
  if (options.ptx) run.compile_originals();
  run.run(derive_mutants(run.originals(), options.count, options.seed));
  return run.report();
}

}  // namespace krl::service
