// The plugin as a host meets it: opened by its path, called through the C boundary.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <fstream>
#include <kernelrl/testing/description.hpp>
#include <nlohmann/json.hpp>

#include "tests/unit/policies/recording_host.hpp"

namespace krl {
namespace {

using namespace krl::test;

// A checked table of options, as the host would hand it over: numbers and texts by dotted key.
class Options {
 public:
  explicit Options(nlohmann::json values) : values_(std::move(values)), json_(values_.dump()) {
    c_.struct_size = sizeof c_;
    c_.ctx = this;
    c_.get_bool = [](const krl_config*, krl_str, std::int32_t*) -> std::int32_t { return 0; };
    c_.get_int = [](const krl_config* c, krl_str key, std::int64_t* out) -> std::int32_t {
      return get(c, key, out);
    };
    c_.get_float = [](const krl_config* c, krl_str key, double* out) -> std::int32_t {
      return get(c, key, out);
    };
    c_.get_string = [](const krl_config* c, krl_str key, krl_str* out) -> std::int32_t {
      const auto& values = static_cast<const Options*>(c->ctx)->values_;
      const auto found = values.find(std::string(view(key)));
      if (found == values.end()) return 0;
      *out = to_c(found->get_ref<const std::string&>());
      return 1;
    };
    c_.json = [](const krl_config* c) { return to_c(static_cast<const Options*>(c->ctx)->json_); };
  }
  const krl_config* c() const { return &c_; }

 private:
  template <class T>
  static std::int32_t get(const krl_config* c, krl_str key, T* out) {
    const auto& values = static_cast<const Options*>(c->ctx)->values_;
    const auto found = values.find(std::string(view(key)));
    if (found == values.end()) return 0;
    *out = found->get<T>();
    return 1;
  }
  nlohmann::json values_;
  std::string json_;
  krl_config c_{};
};

bool torch_is_loaded() {
  std::ifstream maps("/proc/self/maps");
  const std::string text((std::istreambuf_iterator<char>(maps)), std::istreambuf_iterator<char>());
  return text.find("libtorch_cpu") != std::string::npos;
}

class LibtorchPlugin : public ::testing::Test {
 protected:
  LibtorchPlugin() {
    const std::string path =
        std::string(KERNELRL_BINARY_DIR) + "/lib/kernelrl/plugins/libtorch.krl.so";
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) throw std::runtime_error(::dlerror());
    const auto entry = reinterpret_cast<krl_plugin_entry>(::dlsym(library, KRL_PLUGIN_ENTRY));
    if (entry == nullptr) throw std::runtime_error(::dlerror());
    component_ = entry(nullptr)->components[0];
    calls_ = static_cast<const krl_policy_v*>(component_->table);
  }
  ~LibtorchPlugin() override {
    if (self_ != nullptr) component_->destroy(self_);
  }

  krl_status create(nlohmann::json options) {
    return component_->create(nullptr, Options(std::move(options)).c(), context_.c(), &self_);
  }

  krl::testing::PolicyDescription describe() {
    return krl::testing::policy_description([this](const krl_policy_info_sink* sink) {
      EXPECT_EQ(calls_->describe(self_, context_.c(), sink), KRL_OK) << context_.error;
    });
  }

  const krl_component* component_ = nullptr;
  const krl_policy_v* calls_ = nullptr;
  void* self_ = nullptr;
  RecordingContext context_;
};

// Runs in a process of its own under CTest, so that no other test has loaded torch before.
TEST_F(LibtorchPlugin, DescribingItLoadsNoTorch) {
  EXPECT_EQ(view(component_->id), "libtorch");
  EXPECT_GT(component_->n_fields, 8u);
  EXPECT_FALSE(torch_is_loaded());
  ASSERT_EQ(create({{"model.hidden", 32}, {"model.heads", 4}}), KRL_OK) << context_.error;
  EXPECT_TRUE(torch_is_loaded());
}

TEST_F(LibtorchPlugin, ImpossibleShapesNameTheOption) {
  EXPECT_EQ(create({{"model.hidden", 100}, {"model.heads", 8}}), KRL_INVALID_ARGUMENT);
  EXPECT_NE(context_.error.find("model.heads is 8; model.hidden = 100"), std::string::npos);
  EXPECT_EQ(create({{"model.kv_heads", 3}}), KRL_INVALID_ARGUMENT);
  EXPECT_NE(context_.error.find("model.kv_heads is 3"), std::string::npos);
}

TEST_F(LibtorchPlugin, AdaptersWithoutARankAreNoQuietSurprise) {
  const nlohmann::json small = {{"model.hidden", 32}, {"model.heads", 4}};
  nlohmann::json options = small;
  options["lora"] = {{"alpha", 64}};
  EXPECT_EQ(create(options), KRL_INVALID_ARGUMENT);
  EXPECT_NE(context_.error.find("lora.alpha is set without lora.rank"), std::string::npos);
  options["lora"] = {{"alpha", 64}, {"rank", 0}};
  EXPECT_EQ(create(options), KRL_OK) << context_.error;
}

TEST_F(LibtorchPlugin, FitsSamplesAndLearnsThroughTheBoundary) {
  ASSERT_EQ(
      create({{"model.layers", 1}, {"model.hidden", 32}, {"model.context", 64}, {"threads", 2}}),
      KRL_OK)
      << context_.error;
  krl::testing::PolicyDescription info = describe();
  EXPECT_TRUE(info.flags & KRL_POLICY_TRAINABLE);
  EXPECT_TRUE(info.flags & KRL_POLICY_HAS_TOKENS);
  EXPECT_TRUE(info.flags & KRL_POLICY_NEEDS_CORPUS);
  EXPECT_EQ(info.context_tokens, 64);

  const std::string text = "a b a b a b\n";
  const krl_str texts[] = {to_c(text)};
  ASSERT_EQ(calls_->fit(self_, context_.c(), texts, 1, 5), KRL_OK) << context_.error;
  info = describe();
  EXPECT_FALSE(info.flags & KRL_POLICY_NEEDS_CORPUS);
  EXPECT_GT(info.vocabulary, 260);
}

TEST_F(LibtorchPlugin, SaysBeforehandWhatItWillBeAble) {
  const nlohmann::json options = {{"model.hidden", 32}, {"model.heads", 4}};
  const auto expected = krl::testing::policy_description([&](const krl_policy_info_sink* sink) {
    EXPECT_EQ(calls_->preview(Options(options).c(), context_.c(), sink), KRL_OK);
  });
  EXPECT_TRUE(expected.flags & KRL_POLICY_TAKES_TOKENS);
  ASSERT_EQ(create(options), KRL_OK) << context_.error;
  const auto info = describe();
  EXPECT_EQ(info.flags, expected.flags);
  EXPECT_EQ(info.exports, expected.exports);
  EXPECT_EQ(info.logprobs, expected.logprobs);
}

TEST_F(LibtorchPlugin, ErrorsComeBackAsStatus) {
  ASSERT_EQ(create({{"model.hidden", 32}, {"model.heads", 4}}), KRL_OK) << context_.error;
  EXPECT_EQ(calls_->save(self_, context_.c(), to_c("/proc/no-such-directory")), KRL_NOT_FOUND);
  EXPECT_EQ(calls_->load(self_, context_.c(), to_c("/proc/no-such-directory")), KRL_NOT_FOUND);
  const krl_optimizer optimizer = adamw(0.1);
  EXPECT_EQ(calls_->optimizer_step(self_, context_.c(), &optimizer), KRL_FAILED_PRECONDITION);
  EXPECT_NE(context_.error.find("warmup"), std::string::npos);
}

}  // namespace
}  // namespace krl
