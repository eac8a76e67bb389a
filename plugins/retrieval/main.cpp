// kernelrl-index, which `kernelrl index` starts:
//   build INDEX ENCODER THREADS DEVICE DOCUMENTS.jsonl      {"id", "task", "text", "metadata": JSON text}
//   query INDEX ENCODER THREADS COUNT SIMILAR TASK TEXT     TASK may be empty
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <kernelrl/values.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugins/retrieval/encoder/text_encoder.hpp"
#include "plugins/retrieval/search/retriever.hpp"

namespace krl::retrieval {
namespace {

int number_of(const std::string& text, const char* what) {
  int number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ptr != text.data() + text.size() || number < 1)
    throw Failure(KRL_INVALID_ARGUMENT,
                  std::string(what) + " takes a number from 1, not '" + text + "'");
  return number;
}

float cosine_of(const std::string& text) {
  float cosine = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), cosine);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size())
    throw Failure(KRL_INVALID_ARGUMENT, "--similar takes a number, not '" + text + "'");
  return cosine;
}

std::vector<Document> read_documents(const std::string& file) {
  std::vector<Document> documents;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const auto row = nlohmann::json::parse(line);
    const auto metadata =
        nlohmann::json::parse(row.at("metadata").get_ref<const std::string&>(), nullptr, false);
    documents.push_back(make_document(row.at("id"), row.at("task"),
                                      row.at("text").get_ref<const std::string&>(),
                                      metadata.is_object() ? metadata : nlohmann::json::object()));
  }
  if (lines.bad()) throw Failure(KRL_INVALID_ARGUMENT, file + ": cannot be read");
  return documents;
}

// The vectors of all documents; equal texts are encoded once.
std::vector<float> vectors_of(const std::vector<Document>& documents, const TextEncoder& encoder) {
  std::vector<std::string_view> texts;
  std::unordered_map<std::string_view, std::size_t> known;  // places in `texts`
  for (const Document& document : documents)
    if (known.emplace(document.text, texts.size()).second) texts.emplace_back(document.text);
  const bool watched = ::isatty(STDERR_FILENO) != 0;
  const std::vector<float> encoded =
      encoder.encode(texts, TextRole::kDocument, [&](std::size_t done) {
        if (watched) std::cerr << "\r" << done << " of " << texts.size() << " texts" << std::flush;
      });
  if (watched) std::cerr << "\r\x1b[K";
  const auto dimension = encoder.dimension();
  std::vector<float> vectors;
  for (const Document& document : documents) {
    const auto begin =
        encoded.begin() + static_cast<std::ptrdiff_t>(known.at(document.text)) * dimension;
    vectors.insert(vectors.end(), begin, begin + dimension);
  }
  return vectors;
}

void build(const std::string& index, const std::string& encoder_folder, const std::string& threads,
           const std::string& device, const std::string& file) {
  const std::vector<Document> documents = read_documents(file);
  const SentenceModel model = read_sentence_model(encoder_folder);
  const TextEncoder encoder(model, {device, number_of(threads, "--threads")});
  write_index(index, {encoder.fingerprint(), encoder_folder}, documents,
              vectors_of(documents, encoder), encoder.dimension());
  std::cout << index << ": " << documents.size() << " documents\n";
}

// One line and at most 100 bytes of a text.
std::string beginning_of(const std::string& text) {
  const std::string line = text.substr(0, std::min<std::size_t>(text.find('\n'), 100));
  return line.size() < text.size() ? line + " …" : line;
}

void query(const std::string& index, const std::string& encoder_folder, const std::string& threads,
           const std::string& count, const std::string& similar, const std::string& task,
           const std::string& text) {
  const SentenceModel model = read_sentence_model(encoder_folder);
  const TextEncoder encoder(model, {"cpu", number_of(threads, "--threads")});
  StoredIndex stored = read_index(index);
  require_encoder(stored, {encoder.fingerprint(), encoder_folder});
  const Encode encode = [&](std::span<const std::string_view> texts, TextRole role) {
    return encoder.encode(texts, role);
  };
  const Retriever retriever(std::move(stored), encode,
                            {cosine_of(similar), number_of(threads, "--threads")});
  Query question;
  question.text = text;
  if (!task.empty()) question.names = std::span(&task, 1);
  question.count = static_cast<std::size_t>(number_of(count, "--count"));
  const Retrieval found = retriever.find(question);
  std::printf("%-7s %-40s %s\n", "SCORE", "DOCUMENT", "TEXT");
  for (const Hit& hit : found.hits)
    std::printf("%-7.3f %-40s %s\n", static_cast<double>(hit.score), hit.document->id.c_str(),
                beginning_of(hit.document->text).c_str());
  for (const LeftOut& out : found.left_out)
    std::printf("%-7.3f %-40s left out: %s\n", static_cast<double>(out.score),
                out.document->id.c_str(), reason_name(out.reason));
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 6 && words[0] == "build") {
    build(words[1], words[2], words[3], words[4], words[5]);
  } else if (words.size() == 8 && words[0] == "query") {
    query(words[1], words[2], words[3], words[4], words[5], words[6], words[7]);
  } else {
    std::cerr << "kernelrl-index is started by `kernelrl index`\n";
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace krl::retrieval

int main(int argc, char** argv) {
  try {
    return krl::retrieval::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "kernelrl: error: " << error.what() << "\n";
    return 1;
  }
}
