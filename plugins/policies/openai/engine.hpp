// State shared by all calls on one instance of the policy. Thread-safe.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "http/base/loop.hpp"
#include "plugins/policies/openai/asking.hpp"
#include "plugins/policies/tokenizer/chat_tokenizer.hpp"

namespace krl::openai {

using policies::ChatTokenizer;

class Engine {
 public:
  // Waits until a server is ready. Throws krl::Failure (ServerPool::start).
  Engine(Settings settings, std::optional<ChatTokenizer> chat, std::function<bool()> cancelled,
         const std::function<void(const std::string&)>& waiting);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  http::Loop& loop() { return loop_; }
  Asking& asking() { return asking_; }
  ServerPool& pool() { return pool_; }  // use on the loop's thread
  const Settings& settings() const { return settings_; }

  // Returns the tokenizer; null if there is none.
  const ChatTokenizer* chat() const { return chat_ ? &*chat_ : nullptr; }
  // Returns it for a server that takes and returns ids.
  const ChatTokenizer* token_chat() const {
    return found_.dialect->gives_tokens ? chat() : nullptr;
  }

  const Found& found() const { return found_; }      // the first server that was ready
  std::int64_t context() const { return context_; }  // tokens; 0: unknown
  std::size_t servers() const { return settings_.base_urls.size(); }
  unsigned capacity() const { return capacity_; }  // exchanges in flight

  // The version of the weights that sample.
  std::uint64_t version();

  // Events of the servers since the last call, for the log.
  std::vector<std::string> take_notes();

 private:
  void note(const std::string& text);

  http::Loop loop_;  // the first, as all that runs on it ends before
  const Settings settings_;
  const std::optional<ChatTokenizer> chat_;
  std::mutex mutex_;
  std::vector<std::string> notes_;
  ServerPool pool_;
  Asking asking_;
  Found found_;
  std::int64_t context_ = 0;
  unsigned capacity_;
};

}  // namespace krl::openai
