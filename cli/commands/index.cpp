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
namespace po = boost::program_options;
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

int build(const CommandLine& line) {
  if (!line.has("dataset")) return line.wrong("no documents given: use --dataset");
  const auto documents = documents_of(line);
  if (!documents) return report(documents.error());
  const fs::path lines = line.text("index") + ".documents.partial";
  if (const Status written = write_atomically(real_file_system(), lines, to_json_lines(*documents));
      !written) {
    return report(written.error());
  }
  const int code = run({"build", line.text("index"), line.text("encoder"), line.text("threads"),
                        line.text("device"), lines.string()});
  std::error_code ignored;
  fs::remove(lines, ignored);
  return code;
}

int query(const CommandLine& line) {
  if (!line.has("text")) return line.wrong("no text given: kernelrl index query INDEX TEXT");
  return run({"query", line.text("index"), line.text("encoder"), line.text("threads"),
              line.text("count"), line.text("similar"), line.has("task") ? line.text("task") : "",
              line.text("text")});
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
  line.options()("encoder", po::value<std::string>()->value_name("DIR"),
                 "a text encoder as sentence-transformers lays it out")(
      "dataset", po::value<std::string>()->value_name("ID"), "the dataset that yields documents")(
      "set", po::value<Words>()->value_name("KEY=VALUE"),
      "an option of the dataset: 'text=\"{{code}}\"' (repeatable)")(
      "count", po::value<std::string>()->value_name("N")->default_value("3"), "documents to find")(
      "task", po::value<std::string>()->value_name("ID"),
      "the task of the query, whose own documents are left out")(
      "similar", po::value<std::string>()->value_name("C")->default_value("0.9"),
      "cosine from which documents are near duplicates of TEXT; above 1: never")(
      "threads", po::value<std::string>()->value_name("N")->default_value("2"), "threads to use")(
      "device", po::value<std::string>()->value_name("cpu|cuda")->default_value("cpu"),
      "where build runs the encoder");
  add_plugin_path_option(line);
  line.positional({"what", "index", "text"});
  if (const auto over = line.parse(words)) return *over;
  const std::vector<std::string> known = {"build", "query"};
  const std::string what = line.has("what") ? line.text("what") : "";
  if (what != "build" && what != "query")
    return line.wrong(what.empty()
                          ? "say build or query"
                          : "unknown subcommand '" + what + "'" + did_you_mean(what, known, ""));
  if (!line.has("index")) return line.wrong("no index given: name its folder");
  if (!line.has("encoder")) return line.wrong("no encoder given: use --encoder");
  return what == "build" ? build(line) : query(line);
}

}  // namespace krl::cli
