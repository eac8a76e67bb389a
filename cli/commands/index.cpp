#include <kernelrl/spelling.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/policy_options.hpp"
#include "core/base/file_system.hpp"
#include "core/plan/loader.hpp"
#include "core/plugin/dataset.hpp"
#include "core/plugin/session.hpp"
#include "core/task/answer.hpp"
#include "service/process/child_program.hpp"

namespace krl::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kProgram = "kernelrl-index";

// Runs kernelrl-index, which links torch.
int run(const Words& words) {
  Words all = {installed_program(kProgram)};
  all.insert(all.end(), words.begin(), words.end());
  const auto code = run_program(std::move(all), child_options());
  if (code) return *code;
  print_error("kernelrl: error: " + code.error().message +
              "; it is built with libtorch: run scripts/setup.sh and build again\n");
  return kRunFailed;
}

// The kernel of an answer to be learned; an answer without one as it is.
std::string kernel_of(const std::string& answer) {
  Answer read;
  read.text = answer;
  const Candidate candidate = extract_candidate(read);
  return candidate.source.empty() ? answer : candidate.source;
}

// Returns the title by which a search recognises a document of a task, besides the id.
std::string title_of(const Task& task) {
  return nlohmann::json{{"title", task.title}}.dump(-1, ' ', false,
                                                    nlohmann::json::error_handler_t::replace);
}

// Returns the documents, and the parts of pairs and tasks that may serve as documents: answers and
// naive kernels.
Result<std::vector<Document>> documents_in(DatasetItems items) {
  std::vector<Document> documents = std::move(items.documents);
  std::size_t number = 0;
  for (const Pair& pair : items.pairs)
    documents.push_back({pair.task.id + "#" + std::to_string(++number), pair.task.id,
                         kernel_of(pair.answer), title_of(pair.task)});
  for (const Task& task : items.tasks) {
    KRL_ASSIGN(const TaskFacts facts, facts_of(task));
    if (!facts.naive.empty()) documents.push_back({task.id, task.id, facts.naive, title_of(task)});
  }
  return documents;
}

Result<std::vector<Document>> documents_of(const CommandLine& line) {
  KRL_ASSIGN(const Registry registry, load_registry(line));
  Session session(registry, print_warning);
  Components& components = session.components();
  KRL_ASSIGN(const ComponentSettings settings,
             configure_component(Kind::kDataset, line.text("dataset"), line.texts("set"),
                                 registry.catalog()));
  KRL_ASSIGN(const Dataset* dataset, components.dataset(settings));
  KRL_ASSIGN(DatasetItems items, dataset->read_all());
  KRL_ASSIGN(std::vector<Document> documents, documents_in(std::move(items)));
  if (documents.empty())
    return invalid("dataset '" + line.text("dataset") +
                   "' yields no documents, answers or kernels");
  return documents;
}

std::string to_json_lines(const std::vector<Document>& documents) {
  std::string lines;
  for (const Document& document : documents) {
    const nlohmann::json row = {{"id", document.id},
                                {"task", document.task},
                                {"text", document.text},
                                {"metadata", document.meta_json}};
    lines += row.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  return lines;
}

Result<int> build(const CommandLine& line) {
  if (!line.has("dataset")) return line.wrong("no documents given: use --dataset");
  KRL_ASSIGN(const std::vector<Document> documents, documents_of(line));
  const fs::path lines = line.text("index") + ".documents.partial";
  KRL_TRY(write_atomically(real_file_system(), lines, to_json_lines(documents)));
  const int code = run({"build", line.text("index"), line.text("encoder"), line.text("threads"),
                        line.text("device"), lines.string()});
  std::error_code ignored;
  fs::remove(lines, ignored);
  return code;
}

int query(const CommandLine& line) {
  if (!line.has("text")) return line.wrong("no text given: kernelrl index query INDEX TEXT");
  return run({"query", line.text("index"), line.text("encoder"), line.text("threads"),
              line.text("count"), line.text("similar"), line.text_or("task"), line.text("text")});
}

}  // namespace

int index_command(const Words& words) {
  CommandLine line(
      "kernelrl index build INDEX --encoder MODEL --dataset D [--set KEY=VALUE]…\n"
      "       kernelrl index query INDEX TEXT --encoder MODEL [--count N] [--task ID]",
      "build  embed the documents of a dataset, or the answers of its pairs and the naive kernels of its\n"
      "       tasks, and write them to the folder INDEX\n"
      "query  the documents nearest to TEXT, and those that are left out: of the task itself, and near\n"
      "       duplicates of TEXT\n");
  line.option("encoder", "DIR", "a text encoder as sentence-transformers lays it out");
  line.option("dataset", "ID", "the dataset that yields documents");
  line.repeatable("set", "KEY=VALUE", "an option of the dataset: 'text=\"{{code}}\"' (repeatable)");
  line.option("count", "N", "documents to find", "3");
  line.option("task", "ID", "the task of the query, whose own documents are left out");
  line.option("similar", "C",
              "cosine from which documents are near duplicates of TEXT; above 1: never", "0.9");
  line.option("threads", "N", "threads to use", "2");
  line.option("device", "cpu|cuda", "where build runs the encoder", "cpu");
  add_plugin_path_option(line);
  line.positional({"what", "index", "text"});
  if (const auto over = line.parse(words)) return *over;
  const std::string what = line.text_or("what");
  if (const auto wrong = line.unknown(what, {"build", "query"})) return *wrong;
  if (!line.has("index")) return line.wrong("no index given: name its folder");
  if (!line.has("encoder")) return line.wrong("no encoder given: use --encoder");
  return what == "build" ? exit_code_of(build(line)) : query(line);
}

}  // namespace krl::cli
