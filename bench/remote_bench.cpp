// What sampling from a server costs; bench/remote_bench.py starts these, each a separate process.
//
//   remote_bench serve TOKENIZER DELAY_MS
//     A stand-in for vLLM: answers each request after that time with 256 tokens and their
//     log-probabilities, in about 21 KB. Prints its base URL; ends with its standard input.
//   remote_bench ask TOKENIZER FIRST REQUESTS BASE_URL IN_FLIGHT TOKENS
//     Samples through the plugin `openai`, as a host does. Prints a line of JSON.
//   remote_bench prompts TOKENIZER FIRST REQUESTS
//     The prompts that `ask` sends, as token ids, for other clients: a JSON array a line.
//
// TOKENIZER is a directory with tokenizer.json and a chat template. Prompts are numbered, from
// FIRST.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>

#include "plugins/policies/tokenizer/chat_tokenizer.hpp"
#include "tests/unit/http/scripted_server.hpp"
#include "tests/unit/policies/openai/policy_under_test.hpp"
#include "tests/unit/policies/recording_host.hpp"

namespace {

using krl::http::testing::Script;
using krl::http::testing::ScriptedServer;
using krl::http::testing::SeenRequest;
using krl::policies::ChatTokenizer;
using krl::policies::TokenId;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kAnswerTokens = 256;
constexpr const char* kPromptsPlace = "the prompt's tokens";

// Of some 200 tokens in all, different from the first line on, so that no server knows them.
std::string prompt_text(std::size_t number) {
  std::string text = "Task " + std::to_string(number) + ": write a faster CUDA kernel.\n";
  for (std::size_t i = 0; i < 8; ++i) {
    text += "  y[" + std::to_string(i) + " * n + row] += a * x[row + " + std::to_string(i) + "];\n";
  }
  return text;
}

std::string answer_text() {
  std::string text;
  for (int i = 0; i < 64; ++i) {
    text += "  const float x" + std::to_string(i) + " = in[blockIdx.x + " + std::to_string(i) +
            " * blockDim.x];\n";
  }
  return text;
}

// A choice as vLLM gives it, with kPromptsPlace where the prompt's tokens belong.
json choice_of(const ChatTokenizer& chat) {
  std::vector<TokenId> tokens = chat.answer(answer_text());
  tokens.resize(kAnswerTokens);
  json logprobs, names, likeliest, offsets;
  std::size_t offset = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const double logprob = -static_cast<float>(i % 41 + 1) / 7.0F;
    const std::string name = "token_id:" + std::to_string(tokens[i]);
    logprobs.push_back(logprob);
    names.push_back(name);
    likeliest.push_back({{name, logprob}});
    offsets.push_back(offset);
    offset += chat.tokenizer().bytes(tokens[i]).size();
  }
  return {{"index", 0},
          {"text", chat.tokenizer().decode(tokens)},
          {"logprobs",
           {{"text_offset", offsets},
            {"token_logprobs", logprobs},
            {"tokens", names},
            {"top_logprobs", likeliest}}},
          {"finish_reason", "length"},
          {"stop_reason", nullptr},
          {"token_ids", tokens},
          {"prompt_token_ids", kPromptsPlace}};
}

// All answers are the same except for the prompt, so that the server is faster than any client.
class StandIn {
 public:
  StandIn(const ChatTokenizer& chat, std::chrono::milliseconds delay) : delay_(delay) {
    const json body = {{"id", "cmpl-0"},
                       {"object", "text_completion"},
                       {"created", 0},
                       {"model", "stand-in"},
                       {"choices", {choice_of(chat)}},
                       {"usage",
                        {{"prompt_tokens", 0},
                         {"completion_tokens", kAnswerTokens},
                         {"total_tokens", kAnswerTokens}}}};
    const std::string text = body.dump(), mark = json(kPromptsPlace).dump();
    const std::size_t at = text.find(mark);
    head_ = text.substr(0, at);
    tail_ = text.substr(at + mark.size());
  }

  Script handle(const SeenRequest& request) const {
    using krl::http::testing::answer;
    if (request.target == "/version") return answer(200, R"({"version": "stand-in"})");
    if (request.target == "/v1/models") {
      return answer(200, R"({"data": [{"id": "stand-in", "max_model_len": 2048}]})");
    }
    if (request.target != "/v1/completions") return answer(404, "{}");
    const std::string body = head_ + json::parse(request.body)["prompt"].dump() + tail_;
    Script script;
    script.wait(delay_);
    return script.send(
        krl::http::testing::head(200, {{"Content-Type", "application/json"},
                                       {"Content-Length", std::to_string(body.size())}}) +
        body);
  }

 private:
  std::chrono::milliseconds delay_;
  std::string head_, tail_;  // of an answer's body, around the prompt's tokens
};

void serve(const ChatTokenizer& chat, std::chrono::milliseconds delay) {
  const StandIn stand_in(chat, delay);
  const ScriptedServer server([&](const SeenRequest& request) { return stand_in.handle(request); });
  std::printf("%s/v1\n", server.url().c_str());
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
}

void print_prompts(const ChatTokenizer& chat, std::size_t first, std::size_t count) {
  for (std::size_t i = first; i < first + count; ++i) {
    const krl::test::MessageList messages({{KRL_ROLE_USER, prompt_text(i)}});
    std::printf("%s\n", json(chat.prompt(messages)).dump().c_str());
  }
}

// Counts what comes, and ends the process where a request fails.
struct Tally {
  std::size_t requests = 0, tokens = 0;
  krl_sample_sink sink{sizeof(krl_sample_sink), 0, this, put, fail};

  static krl_status put(const krl_sample_sink* c, const krl_sample* sample) {
    auto& tally = *static_cast<Tally*>(c->ctx);
    ++tally.requests;
    if (sample->tokens.size != sample->logprobs.size) std::abort();
    tally.tokens += sample->tokens.size;
    return KRL_OK;
  }
  static krl_status fail(const krl_sample_sink*, std::uint32_t request, krl_status, krl_str why) {
    std::fprintf(stderr, "request %u: %s\n", request, std::string(krl::view(why)).c_str());
    std::exit(1);
  }
};

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  double sum = 0;
  for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
    sum += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }
  return sum;
}

// Of this program alone: getrusage() would include the one that started it.
double peak_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::strtod(line.c_str() + 6, nullptr) / 1024;
  }
  return 0;
}

struct Work {
  std::string tokenizer;
  std::size_t first, requests;
  std::string base_url;
  std::int64_t in_flight;
  std::uint32_t tokens;  // of an answer
};

void ask(const Work& work) {
  using krl::testing::Value;
  krl::openai::testing::OpenAi policy({{"base_url", work.base_url},
                                       {"tokenizer", work.tokenizer},
                                       {"concurrency", work.in_flight},
                                       {"extra", Value::json(R"({"ignore_eos": true})")}});
  krl::test::RequestList requests;
  for (std::size_t i = work.first; i < work.first + work.requests; ++i) {
    requests.add({.prompt = prompt_text(i), .max_tokens = work.tokens, .seed = i});
  }
  Tally tally;
  const double processor_before = processor_seconds();
  const auto begin = Clock::now();
  const krl_status status = policy.table().sample(policy.self(), policy.host.c(), requests.data(),
                                                  requests.size(), &tally.sink);
  const double wall = std::chrono::duration<double>(Clock::now() - begin).count();
  const double processor = processor_seconds() - processor_before;
  if (status != KRL_OK) throw std::runtime_error(policy.host.error);
  std::printf("%s\n", json{{"requests", tally.requests},
                           {"tokens", tally.tokens},
                           {"wall_s", wall},
                           {"processor_s", processor},
                           {"peak_mb", peak_megabytes()}}
                          .dump()
                          .c_str());
}

void run(const std::vector<std::string>& arguments) {
  const auto number = [&](std::size_t i) { return std::stoul(arguments.at(i)); };
  const std::string &mode = arguments.at(0), &tokenizer = arguments.at(1);
  const auto chat = [&] { return ChatTokenizer::from_directory(tokenizer, {}); };
  if (mode == "serve") return serve(chat(), std::chrono::milliseconds(number(2)));
  if (mode == "prompts") return print_prompts(chat(), number(2), number(3));
  if (mode != "ask") throw std::invalid_argument("the mode is serve, ask or prompts, not " + mode);
  ask({tokenizer, number(2), number(3), arguments.at(4), static_cast<std::int64_t>(number(5)),
       static_cast<std::uint32_t>(number(6))});
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "remote_bench: %s\n", error.what());
    return 1;
  }
}
