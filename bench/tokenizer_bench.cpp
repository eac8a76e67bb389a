// Encoding next to the `tokenizers` library, one thread each, the same texts in the same process of
// rounds: ours, the library's, ours, …
//
//   tokenizer_bench TOKENIZER.json FILE…
//
// A text is a file; each round encodes all of them. The library runs in a separate Python
// (.deps/python, scripts/setup.sh --tests) and times itself. Prints megabytes a second of the
// processor's time and their ratio, the median of the rounds.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include "plugins/policies/tokenizer/tokenizer.hpp"

namespace {

using namespace krl::policies;

constexpr int kRounds = 5;

std::string contents(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(std::string("cannot read ") + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

double our_seconds(const std::string& json, const std::vector<std::string>& texts,
                   std::size_t& tokens) {
  const Tokenizer tokenizer = Tokenizer::from_json(json, "tokenizer.json");  // with empty caches
  const std::clock_t start = std::clock();
  for (const std::string& text : texts) tokens += tokenizer.encode(text).size();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// Seconds and tokens by bench/tokenizer_library.py, in a separate process.
double library_seconds(int argc, char** argv, std::size_t& tokens) {
  std::string command =
      "PYTHONPATH='" KERNELRL_SOURCE_DIR "/.deps/python' python3 '" KERNELRL_SOURCE_DIR
      "/bench/tokenizer_library.py'";
  for (int i = 1; i < argc; ++i) command += " '" + std::string(argv[i]) + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  double seconds = 0;
  if (!pipe || std::fscanf(pipe.get(), "%lf %zu", &seconds, &tokens) != 2) {
    throw std::runtime_error("no answer from: " + command);
  }
  return seconds;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void run(int argc, char** argv) {
  if (argc < 3) throw std::runtime_error("usage: tokenizer_bench tokenizer.json FILE...");
  const std::string json = contents(argv[1]);
  std::vector<std::string> texts;
  std::size_t bytes = 0;
  for (int i = 2; i < argc; ++i) {
    texts.push_back(contents(argv[i]));
    bytes += texts.back().size();
  }
  std::vector<double> ours, library, ratios;
  std::size_t our_tokens = 0, library_tokens = 0;
  for (int round = 0; round < kRounds; ++round) {
    our_tokens = 0;
    ours.push_back(our_seconds(json, texts, our_tokens));
    library.push_back(library_seconds(argc, argv, library_tokens));
    ratios.push_back(library.back() / ours.back());
  }
  if (our_tokens != library_tokens) throw std::runtime_error("the two give different tokens");
  const double megabytes = static_cast<double>(bytes) * 1e-6;
  std::printf("%zu texts, %.1f MB, %zu tokens\n", texts.size(), megabytes, our_tokens);
  std::printf("ours     %6.1f MB/s\nlibrary  %6.1f MB/s\nratio    %6.1f\n",
              megabytes / median(ours), megabytes / median(library), median(ratios));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << "tokenizer_bench: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
