// Retrieval: documents a second by length, and the parts of a query.
//
//   retrieval_bench MODEL [DOCUMENTS [THREADS [DEVICE]]]
//
// MODEL is a folder in the layout of sentence-transformers (scripts/get_minilm.sh makes one).
// Documents are pieces of this project's sources. Encoding is measured on as many of them as take
// a few seconds; the index has DOCUMENTS (48,000) vectors, those of the pieces and random ones. At
// last, how alike kernels are to the encoder.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <iostream>
#include <random>

#include "plugins/files/file.hpp"
#include "plugins/retrieval/encoder/text_encoder.hpp"
#include "plugins/retrieval/search/retriever.hpp"

namespace {

using namespace krl::retrieval;
namespace fs = std::filesystem;

constexpr int kRounds = 50;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Times {
  double least, median;  // milliseconds
};

Times times_of(const std::function<void()>& work) {
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) times.push_back(1e3 * seconds_of(work));
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2]};
}

// The project's sources, one after the other.
std::string sources() {
  std::vector<fs::path> paths;
  for (const char* folder : {"plugins", "tests", "bench", "configs"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(KERNELRL_SOURCE_DIR) / folder)) {
      const std::string kind = entry.path().extension();
      if (kind == ".cu" || kind == ".cpp" || kind == ".hpp") paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::string all;
  for (const fs::path& path : paths) all += krl::files::read_file(path);
  return all;
}

// Pieces of `text` with about this many tokens: whole lines, the last one cut.
std::vector<std::string_view> pieces_of(std::string_view text, const BertTokenizer& tokenizer,
                                        std::size_t tokens, std::size_t count) {
  constexpr std::size_t kNoLimit = 1 << 20;
  std::vector<std::string_view> pieces;
  std::size_t begin = 0, have = 0;
  for (std::size_t at = 0; at < text.size() && pieces.size() < count;) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    have += tokenizer.encode(text.substr(at, end - at), kNoLimit).size() - 2;
    at = end;
    if (have + 2 < tokens) continue;
    pieces.push_back(text.substr(begin, end - begin));
    begin = end;
    have = 0;
  }
  return pieces;
}

void measure_encoding(const TextEncoder& encoder, const SentenceModel& model, std::string_view text,
                      double tokens_a_second) {
  std::printf("%-22s %12s %12s %14s %22s\n", "tokens of a document", "documents/s", "tokens/s",
              "48,000 in s", "tokens/s of a core");
  for (const std::size_t wanted : {32, 64, 128, 200, 256}) {
    if (wanted > model.max_tokens) continue;
    const auto count = static_cast<std::size_t>(tokens_a_second * 4 / static_cast<double>(wanted));
    const auto pieces = pieces_of(text, model.tokenizer, wanted, std::max<std::size_t>(count, 8));
    std::size_t tokens = 0;
    for (const auto piece : pieces)
      tokens += model.tokenizer.encode(piece, model.max_tokens).size();
    const std::clock_t start = std::clock();  // processor time, which other programs do not change
    const double seconds = seconds_of([&] { encoder.encode(pieces, TextRole::kDocument); });
    const double busy = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    const double rate = static_cast<double>(pieces.size()) / seconds;
    std::printf("%-22.0f %12.1f %12.0f %14.0f %22.0f\n",
                static_cast<double>(tokens) / static_cast<double>(pieces.size()), rate,
                static_cast<double>(tokens) / seconds, 48'000 / rate,
                static_cast<double>(tokens) / busy);
  }
}

void measure_tokenizer(const SentenceModel& model, std::string_view text) {
  constexpr std::size_t kNoLimit = 1 << 30;
  std::size_t tokens = 0;
  const double seconds =
      seconds_of([&] { tokens = model.tokenizer.encode(text, kNoLimit).size(); });
  const double bytes = static_cast<double>(text.size());
  std::printf("tokenizer                    %12.1f MB/s %9.0f tokens/s\n", bytes * 1e-6 / seconds,
              static_cast<double>(tokens) / seconds);
}

void print(const char* what, Times times) {
  std::printf("%-28s %9.2f ms %9.2f ms\n", what, times.least, times.median);
}

std::vector<float> unit_vectors(std::size_t count, std::size_t dimension) {
  std::mt19937 source(1);
  std::normal_distribution<float> normal;
  std::vector<float> vectors(count * dimension);
  for (float& value : vectors) value = normal(source) / std::sqrt(static_cast<float>(dimension));
  return vectors;
}

void measure_queries(const TextEncoder& encoder, const SentenceModel& model, std::string_view text,
                     std::size_t count, int threads) {
  const auto dimension = static_cast<std::size_t>(encoder.dimension());
  const auto pieces = pieces_of(text, model.tokenizer, 200, 500);
  std::vector<float> vectors = encoder.encode(pieces, TextRole::kDocument);
  const std::vector<float> more = unit_vectors(count - pieces.size(), dimension);
  vectors.insert(vectors.end(), more.begin(), more.end());
  std::vector<Document> documents;
  for (std::size_t i = 0; i < count; ++i) {
    documents.push_back(make_document(std::to_string(i), "", pieces[i % pieces.size()]));
  }
  const fs::path folder = fs::temp_directory_path() / "kernelrl-retrieval-bench";
  const double writing = seconds_of([&] {
    write_index(folder, {model.fingerprint, "bench"}, documents, vectors, encoder.dimension());
  });
  StoredIndex stored;
  const double reading = seconds_of([&] { stored = read_index(folder); });
  fs::remove_all(folder);
  std::printf("writing, reading the index   %9.2f s  %9.2f s\n", writing, reading);

  const VectorIndex index(vectors, dimension, threads);
  const std::span query = std::span(vectors).first(dimension);
  std::printf("%-28s %12s %12s\n", "a query", "least", "median");
  for (const std::size_t wanted : {8, 16, 32, 64, 128, 200}) {
    const auto piece = pieces_of(text, model.tokenizer, wanted, 1).at(0);
    const std::string what =
        "encoder, " + std::to_string(model.tokenizer.encode(piece, model.max_tokens).size()) +
        " tokens";
    print(what.c_str(), times_of([&] { encoder.encode(piece, TextRole::kQuery); }));
  }
  print("search", times_of([&] { index.search(query, 20); }));
  const Encode fixed = [&](std::span<const std::string_view>, TextRole) {
    return std::vector<float>(query.begin(), query.end());
  };
  const Retriever retriever(std::move(stored), fixed, {.similar = 0.95f, .threads = threads});
  print("all but the encoder", times_of([&] { retriever.find({.text = pieces[0], .count = 5}); }));
}

// How often the vectors of two kernels are near duplicates' (RetrievalRules::similar), by kernels
// for the same task and for different ones.
void measure_likeness(const TextEncoder& encoder) {
  std::vector<std::string> sources, tasks;
  for (const auto& entry : fs::directory_iterator(KERNELRL_SOURCE_DIR "/tests/tolerance/right")) {
    if (entry.path().extension() != ".cu") continue;
    sources.push_back(krl::files::read_file(entry.path()));
    const std::size_t task = sources.back().find("task: ") + 6;
    tasks.push_back(sources.back().substr(task, sources.back().find_first_of(" \n", task) - task));
  }
  const std::vector<std::string_view> texts(sources.begin(), sources.end());
  const std::vector<float> vectors = encoder.encode(texts, TextRole::kDocument);
  const auto dimension = static_cast<std::size_t>(encoder.dimension());
  const VectorIndex index(vectors, dimension, 1);
  for (const float least : {0.9f, 0.95f}) {
    std::size_t pairs[2] = {}, similar[2] = {};  // different task, same task
    for (std::size_t i = 0; i < texts.size(); ++i) {
      for (const Neighbour& other : index.search(index.vector(i), texts.size())) {
        if (other.index == i) continue;
        const bool same = tasks[i] == tasks[other.index];
        ++pairs[same];
        similar[same] += other.product >= least;
      }
    }
    std::printf(
        "cosine from %.2f             %.1f %% of %zu pairs of a task, %.2f %% of %zu others\n",
        static_cast<double>(least),
        100.0 * static_cast<double>(similar[1]) / static_cast<double>(pairs[1]), pairs[1] / 2,
        100.0 * static_cast<double>(similar[0]) / static_cast<double>(pairs[0]), pairs[0] / 2);
  }
}

void run(int argc, char** argv) {
  if (argc < 2) {
    throw std::runtime_error("usage: retrieval_bench MODEL [DOCUMENTS [THREADS [DEVICE]]]");
  }
  const auto count = static_cast<std::size_t>(argc > 2 ? std::atoll(argv[2]) : 48'000);
  const int threads = argc > 3 ? std::atoi(argv[3]) : 2;
  const std::string device = argc > 4 ? argv[4] : "cpu";
  if (count < 1000) throw std::runtime_error("at least 1000 documents");
  SentenceModel model = read_sentence_model(argv[1]);
  const double loading = seconds_of([&] { model = read_sentence_model(argv[1]); });
  const TextEncoder encoder(model, {device, threads});
  std::printf("%s on %s, %d threads; reading the model: %.2f s\n", argv[1], device.c_str(), threads,
              loading);
  const std::string text = sources();
  measure_tokenizer(model, text);
  const auto warm = pieces_of(text, model.tokenizer, 200, 16);
  encoder.encode(warm, TextRole::kDocument);
  const double seconds = seconds_of([&] { encoder.encode(warm, TextRole::kDocument); });
  measure_encoding(encoder, model, text, 16 * 200 / seconds);
  measure_queries(encoder, model, text, count, threads);
  measure_likeness(encoder);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << "retrieval_bench: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
