// Answers in Python: what their forward becomes in C++, and why one is refused. Without a compiler,
// but for the last test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "plugins/backends/python_answers/model_answer.hpp"
#include "plugins/files/file.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"
#include "tests/unit/backends/nvcc/needs_nvcc.hpp"

namespace krl::testing {
using namespace python;
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// As the importer of KernelBench writes it.
constexpr const char* kScaledLinear = R"json({
  "id": "kernelbench/9/1", "tier": 1, "title": "scaled linear",
  "prompt": "Compute …\n\nIt is constructed as Model(n, scale, (3, taps)) with scale = 0.5, taps = 4.\nNames: the axis n_axis is n.\nConstant arguments: shift = 2.5.\nInputs of forward: x.\nInputs in the places of the module's own tensors: lin_weight is lin.weight, lin_bias is lin.bias.\n",
  "axes": {"m": "var", "n_axis": "var"},
  "input": [{"name": "x", "dtype": "float32", "shape": ["m", "n_axis"]},
            {"name": "lin_weight", "dtype": "float32", "shape": ["n_axis", "n_axis"]},
            {"name": "lin_bias", "dtype": "float32", "shape": ["n_axis"]}],
  "output": [{"name": "out", "dtype": "float32", "shape": ["m", "n_axis"]}],
  "reference": "def run(x, w, b):\n    return torch.nn.functional.linear(x, w, b)",
  "cases": [{"m": 5, "n_axis": 7}]})json";

// With a constructor and a forward.
std::string answer(const std::string& init, const std::string& forward) {
  return "import torch\n"
         "import torch.nn as nn\n"
         "from torch.utils.cpp_extension import load_inline\n"
         "\n"
         "source = \"\"\"\n"
         "torch::Tensor f(torch::Tensor x, torch::Tensor w) { return x; }\n"
         "\"\"\"\n"
         "ops = load_inline(name='ops', cpp_sources='torch::Tensor f(torch::Tensor x, torch::Tensor w);',\n"
         "                  cuda_sources=source, functions=['f'], verbose=False)\n"
         "\n"
         "class ModelNew(nn.Module):\n"
         "    \"\"\"It is fast.\"\"\"\n"
         "    def __init__(self, n, scale=1.0, window=(1, 1)):\n"
         "        super(ModelNew, self).__init__()\n"
         "        self.lin = nn.Linear(n, n)\n" +
         init + "    def forward(self, x, shift=0.0):\n" + forward;
}

std::string bound(const std::string& init, const std::string& forward) {
  const auto found =
      bind_model_answer(answer(init, forward), *parse_task_definition(kScaledLinear));
  return found ? found->forward : "refused: " + found.error().text();
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(ModelAnswer, IsRecognised) {
  EXPECT_TRUE(is_model_answer(answer("", "")));
  EXPECT_FALSE(is_model_answer("void launch(float* x) {}  // class ModelNew\n"));
}

TEST(ModelAnswer, KeepsTheLinesOfItsSources) {
  const auto found = bind_model_answer(answer("", "        return ops.f(x, self.lin.weight)\n"),
                                       *parse_task_definition(kScaledLinear));
  ASSERT_TRUE(found);
  EXPECT_THAT(
      found->source,
      HasSubstr("#line 5\n\ntorch::Tensor f(torch::Tensor x, torch::Tensor w) { return x; }\n"));
  EXPECT_THAT(found->source, Not(HasSubstr("torch::Tensor w);")));  // a declaration alone
}

TEST(ModelAnswer, PassesInputsWeightsAndWhatTheConstructorKeeps) {
  const std::string code = bound(
      "        self.ops = ops\n"
      "        self.scale = scale * 2\n"
      "        self.n, self.taps = n, window[1]\n"
      "        self.weight = self.lin.weight if window[0] == 3 else None\n",
      "        x = x.contiguous().cuda()\n"
      "        rows, _ = x.shape\n"
      "        if not x.is_cuda:\n"
      "            raise ValueError('no')\n"
      "        return self.ops.f(x, self.weight, self.lin.bias, self.scale, self.n, self.taps, rows,\n"
      "                          self.lin.out_features, shift, None, [1, 2])\n");
  EXPECT_THAT(
      code,
      HasSubstr(
          "auto kernelrl_forward(at::Tensor kernelrl_in_x, at::Tensor kernelrl_in_lin_weight, "
          "at::Tensor kernelrl_in_lin_bias)"));
  EXPECT_THAT(
      code,
      HasSubstr(
          "return ::f(kernelrl_in_x.contiguous(), kernelrl_in_lin_weight, kernelrl_in_lin_bias, 1.0, "
          "static_cast<std::int64_t>(kernelrl_host::current_call->axes[1]), 4, "
          "kernelrl_in_x.contiguous().size(0), kernelrl_in_lin_weight.size(0), 2.5, c10::nullopt, {1, 2}); });"));
  EXPECT_THAT(code, HasSubstr("return kernelrl_host::returned(kernelrl_r1);"));
}

// Whether an attribute still has the value that the constructor gave it first.
bool is_still_known(const std::string& changes) {
  const std::string code =
      bound("        self.taps = 3\n" + changes,
            "        return ops.f(x, self.taps)\n"
            "    def set_up(self):\n        self.also_set_up()\n"
            "    def also_set_up(self):\n        self.taps = 4\n        self.set_up()\n"
            "    def harmless(self):\n        self.other = 4\n");
  EXPECT_THAT(code, ::testing::AnyOf(HasSubstr("::f(kernelrl_in_x, 3)"), HasSubstr("taps")));
  return code.find("::f(kernelrl_in_x, 3)") != std::string::npos;
}

TEST(ModelAnswer, SeesWhatMethodsAssignThatItDoesNotFollow) {
  for (const char* changes :
       {"        for i in range(2):\n            self.set_up()\n",
        "        for i in range(2):\n            done = f(self.set_up())\n",
        "        for i in self.set_up():\n            pass\n",
        "        while self.set_up():\n            pass\n",
        "        all = [self.set_up() for i in range(2)]\n",
        "        if torch.cuda.is_available():\n            self.set_up()\n",
        "        go = self.set_up\n        for i in range(2):\n            go()\n"}) {
    EXPECT_FALSE(is_still_known(changes)) << changes;
  }
  EXPECT_TRUE(is_still_known("        for i in range(2):\n            self.harmless()\n"));
}

TEST(ModelAnswer, BindsNoParameterThatIsComputedFromAnother) {
  for (const char* computed :
       {"nn.Parameter(self.lin.weight * 2)", "nn.Parameter(torch.relu(self.lin.weight))",
        "nn.Parameter(1 - self.lin.weight.data)"}) {
    EXPECT_THAT(bound("        self.weight = " + std::string(computed) + "\n",
                      "        return ops.f(x, self.weight)\n"),
                HasSubstr("PyTorch computes"))
        << computed;
  }
  EXPECT_THAT(bound("        self.lin.weight.data = self.lin.weight.data * 2\n",
                    "        return ops.f(x, self.lin.weight)\n"),
              HasSubstr("refused"));
  EXPECT_THAT(
      bound("        self.weight = nn.Parameter(torch.randn(self.lin.weight.shape) * 0.1)\n",
            "        return ops.f(x, self.weight)\n"),
      HasSubstr("::f(kernelrl_in_x, kernelrl_in_lin_weight)"))
      << "drawn anew, as the module's own are";
}

TEST(ModelAnswer, CallsOneFunctionAfterTheOther) {
  const std::string code = bound("        self.f = ops.f\n",
                                 "        x = self.f(x, self.lin.weight)\n"
                                 "        x = self.again(x)\n"
                                 "        return x\n"
                                 "    def again(self, y):\n"
                                 "        return self.f(y, self.lin.bias.view(-1))[0]\n");
  EXPECT_THAT(
      code, HasSubstr("auto kernelrl_r1 = kernelrl_host::result([&] { return ::f(kernelrl_in_x, "));
  EXPECT_THAT(code,
              HasSubstr("auto kernelrl_r2 = kernelrl_host::result([&] { return ::f(kernelrl_r1, "
                        "kernelrl_in_lin_bias.view({-1})); });"));
  EXPECT_THAT(code, HasSubstr("returned(kernelrl_host::item<0>(kernelrl_r2))"));
}

TEST(ModelAnswer, ComputesNumbersAsPythonDoes) {
  const std::string code =
      bound("        self.half, self.whole, self.least = int(n / 2), int(2.9), int(-scale * 3)\n",
            "        blocks = -(-x.size(0) // 256)\n"
            "        return ops.f(x, blocks, x.size(1) % -4, self.half, self.whole, self.least)\n");
  EXPECT_THAT(
      code,
      HasSubstr(
          "::f(kernelrl_in_x, (-kernelrl_host::floor_div((-kernelrl_in_x.size(0)), 256)), "
          "kernelrl_host::floor_mod(kernelrl_in_x.size(1), -4), "
          "static_cast<std::int64_t>((double(static_cast<std::int64_t>(kernelrl_host::current_call->axes[1])) / 2)), "
          "2, -1)"));
}

TEST(ModelAnswer, MakesATensorOnce) {
  const std::string code = bound("",
                                 "        out = torch.empty_like(x)\n"
                                 "        ops.f(x, out)\n"
                                 "        return out\n");
  const std::size_t made = code.find("auto kernelrl_t1 = at::empty_like(kernelrl_in_x);");
  ASSERT_NE(made, std::string::npos) << code;
  EXPECT_EQ(code.find("empty_like", made + 40), std::string::npos) << code;
  EXPECT_LT(code.find("::f(kernelrl_in_x, kernelrl_t1)"), code.find("returned(kernelrl_t1)"));
  EXPECT_THAT(bound("        self.out = torch.empty_like(self.lin.weight.t())\n",
                    "        return ops.f(x, self.out)\n"),
              HasSubstr("a tensor is made outside of forward"));
}

TEST(ModelAnswer, AParameterIsTheTensorItIsMadeOf) {
  EXPECT_THAT(bound("        self.weight = nn.Parameter(self.lin.weight.t())\n",
                    "        return ops.f(x, self.weight)\n"),
              HasSubstr("::f(kernelrl_in_x, kernelrl_in_lin_weight.t())"));
  EXPECT_THAT(bound("        self.offset = nn.Parameter(self.lin.bias)\n",
                    "        return ops.f(x, self.offset)\n"),
              HasSubstr("::f(kernelrl_in_x, kernelrl_in_lin_bias)"));
  EXPECT_THAT(bound("        self.weight = nn.Parameter(torch.empty(n, *window))\n",
                    "        return ops.f(x, self.weight)\n"),
              HasSubstr("::f(kernelrl_in_x, kernelrl_in_lin_weight)"));
  EXPECT_THAT(bound("", "        return ops.f(*x.shape)\n"), HasSubstr("refused: "));
}

// What such a statement assigned before is not what it has in Python.
TEST(ModelAnswer, ForgetsWhatStatementsAssignThatAreNotFollowed) {
  for (const char* statement : {
           "for i in range(3): self.s = 2\n",
           "for self.s in range(3):\n            pass\n",
           "for i in range(3):\n            if i > 1:\n                self.s *= 2\n",
           "with suppress(ValueError):\n            self.s = 2\n",
           "try:\n            pass\n        finally:\n            self.s = 2\n",
           "self.s = [i for i in range(3)]\n",
           "self.s = self.t = {}\n",
           "self.s: int = [i for i in range(3)][0]\n",
           "self.s |= 2\n",
           "self.s[0] = 2\n",
           "if n > 3:\n            self.s = 2\n        elif [i for i in n]:\n            pass\n",
           "if n > 3:\n            pass\n        elif [i for i in n]:\n            self.s = 2\n",
           "if n > 3: i = 1; self.s = 2\n",
           "self.s.append(2)\n",
           "for i in range(3): self.s.append(2)\n",
       }) {
    EXPECT_THAT(bound("        self.s = [1, 1]\n        " + std::string(statement),
                      "        return ops.f(x, self.s)\n"),
                HasSubstr("refused: "))
        << statement;
  }
  EXPECT_THAT(bound("        self.s = 1\n        if False: i = 1; self.s = 2\n"
                    "        for i in range(3):\n            i += 1\n",
                    "        return ops.f(x, self.s)\n"),
              HasSubstr("::f(kernelrl_in_x, 1)"));
}

TEST(ModelAnswer, GetsNoScalars) {
  TaskDefinition task = *parse_task_definition(kScaledLinear);
  task.scalars.emplace_back().name = "alpha";
  const auto found =
      bind_model_answer(answer("", "        return ops.f(x, self.lin.weight)\n"), task);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().text(), HasSubstr("scalars"));
}

TEST(ModelAnswer, SaysWhyItIsNotBound) {
  EXPECT_EQ(
      bound("", "        return self.lin(x)\n"),
      "refused: line 17, column 1: PyTorch computes 'self.lin(x)': a module's forward is not the answer's own");
  EXPECT_THAT(bound("", "        return ops.f(x, self.lin.weight) + self.lin.bias\n"),
              HasSubstr("PyTorch computes 'ops.f(x, self.lin.weight) + self.lin.bias'"));
  EXPECT_THAT(bound("", "        x.add_(1)\n        return ops.f(x, x)\n"),
              HasSubstr("PyTorch computes 'x.add_(1)'"));
  EXPECT_THAT(bound("", "        return torch.relu(ops.f(x, x))\n"),
              HasSubstr("PyTorch computes 'torch.relu("));
  EXPECT_THAT(bound("        self.gain = nn.Parameter(torch.ones(n))\n",
                    "        return ops.f(x, self.gain)\n"),
              HasSubstr("self.gain is none of the tensors of the task's module"));
  EXPECT_THAT(
      bound("", "        if x.sum() > 0:\n            return x\n        return ops.f(x, x)\n"),
      HasSubstr("the condition 'x.sum() > 0' depends on more than the task"));
  EXPECT_THAT(
      bound("", "        for i in range(3):\n            x = ops.f(x, x)\n        return x\n"),
      HasSubstr("a statement that is not understood: 'for …'"));
  EXPECT_THAT(bound("", "        return ops.g(x)\n"),
              HasSubstr("'g' is none of load_inline's functions"));
  EXPECT_THAT(bound("", "        return x\n"),
              HasSubstr("forward calls no function of the answer's own"));
  const auto formatted = bind_model_answer(
      "ops = load_inline(name='o', cuda_sources=f'int {1.5}', functions=['f'])\nclass ModelNew:\n"
      "    def forward(self, x):\n        return ops.f(x)\n",
      *parse_task_definition(kScaledLinear));
  EXPECT_THAT(formatted.error().text(),
              HasSubstr("load_inline's cuda_sources are not literal text"));
  EXPECT_THAT(bound("", "        with torch.autocast('cuda'):\n            return ops.f(x, x)\n"),
              HasSubstr("'with torch.autocast('cuda')' is not understood"));
}

// What an answer of these lines is bound to: its CUDA, then its forward.
std::string bound_text(const std::string& text) {
  const auto found = bind_model_answer(text, *parse_task_definition(kScaledLinear));
  return found ? found->source + found->forward : "refused: " + found.error().text();
}

TEST(ModelAnswer, FollowsImportsUnderAnyName) {
  for (const char* import :
       {"import torch.utils.cpp_extension as made", "from torch.utils import cpp_extension as made",
        "import torch.utils.cpp_extension\nmade = torch.utils.cpp_extension",
        "from torch.utils import (data, cpp_extension as made,)"}) {
    EXPECT_THAT(bound_text(std::string(import) +
                           "\nops = made.load_inline('o', '', 'int f(int) {}', ['f'])\n"
                           "class ModelNew:\n    def forward(self, x):\n        return ops.f(x)\n"),
                HasSubstr("::f(kernelrl_in_x)"))
        << import;
  }
  EXPECT_THAT(bound_text("from torch.utils.cpp_extension import load_inline as compiled\n"
                         "ops = compiled(name='o', cuda_sources='int f(int) {}', functions={'f': "
                         "'its doc', })\nclass ModelNew:\n    def forward(self, x):\n"
                         "        return ops.f(x)\n"),
              HasSubstr("::f(kernelrl_in_x)"));
}

TEST(ModelAnswer, PutsTogetherTheTextsOfItsSources) {
  EXPECT_THAT(
      bound_text("BLOCK, NAME = 2 * 128, 'f'\n"
                 "source = f'''\nint {NAME}(int) {{ return {BLOCK}; }}'''.replace('int', 'long')\n"
                 "ops = load_inline('o', cuda_sources=source.strip(), functions=[NAME])\n"
                 "class ModelNew:\n    def forward(self, x):\n        return ops.f(x)\n"),
      HasSubstr("#line 3\nlong f(long) { return 256; }\n"));
  const std::string doubling = repeated("s = s.replace('a', 'aa')\n", 200);
  EXPECT_THAT(bound_text("s = 'a'\n" + doubling +
                         "ops = load_inline('o', cuda_sources=s, functions=['f'])\nclass "
                         "ModelNew:\n    def forward(self, x):\n        return ops.f(x)\n"),
              HasSubstr("refused: "));
}

TEST(ModelAnswer, FollowsWhatChangesNothing) {
  const std::string plain = bound("", "        return ops.f(x, x).view_as(x)\n");
  EXPECT_THAT(plain, HasSubstr(".view_as(kernelrl_in_x)"));
  const auto without_lines = [](std::string text) {
    while (text.find("#line") != text.npos)
      text.erase(text.find("#line"), text.find('\n', text.find("#line")) - text.find("#line"));
    return text;
  };
  for (const char* forward :
       {"        with torch.no_grad():\n            y = ops.f(x, x)\n        return y.view_as(x)\n",
        "        with torch.inference_mode(), torch.cuda.device(x.device):\n"
        "            return ops.f(x, x).view_as(x)\n",
        "        y = ops.f(x, x)\n        torch.cuda.synchronize()\n        z = y\n        del y\n"
        "        return z.view_as(x)\n"}) {
    EXPECT_EQ(without_lines(bound("", forward)), without_lines(plain)) << forward;
  }
  EXPECT_THAT(
      bound_text("ops = load_inline('o', '', 'int f(int) {}', ['f'])\nclass ModelNew:\n"
                 "    @torch.no_grad()\n    def forward(self, x):\n        return ops.f(x)\n"),
      HasSubstr("::f(kernelrl_in_x)"));
}

// Whatever the text: an answer or a reason, and in little time.
TEST(ModelAnswer, AcceptsAnyText) {
  const TaskDefinition task = *parse_task_definition(kScaledLinear);
  const std::string whole =
      answer("        self.f = ops.f\n", "        return self.f(x, self.lin.weight)\n");
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    (void)bind_model_answer(whole.substr(0, cut), task);
    (void)bind_model_answer(whole.substr(cut), task);
  }
  constexpr const char* kForward = "class ModelNew:\n    def forward(self, x):\n        return ";
  for (const char* piece : {"(",
                            "[",
                            "not ",
                            "-",
                            "f(",
                            "if 1:\n",
                            "\"\"\"",
                            "x if ",
                            "**",
                            "1+",
                            "2**",
                            "a.",
                            "f()",
                            "x[0]",
                            "x if 1 else ",
                            "if 1: ",
                            "for i in x: ",
                            "a = ",
                            "a, ",
                            "{",
                            "{1: ",
                            "f'{",
                            "f'{{",
                            "with a: ",
                            "@a\n",
                            "import a as ",
                            "from a import b, "}) {
    const std::string many = repeated(piece, 10000);
    EXPECT_FALSE(bind_model_answer(kForward + many, task)) << piece;
    EXPECT_FALSE(bind_model_answer(many + "1\n" + kForward + "x\n", task)) << piece;
  }
}

// Lines that double what there is or has to be done.
TEST(ModelAnswer, GivesUpWhatHasNoEnd) {
  const TaskDefinition task = *parse_task_definition(kScaledLinear);
  std::string broken, calls;
  for (int i = 0; i < 40; ++i) broken += std::string(i, ' ') + "if a:\n";
  broken += std::string(40, ' ') + "a\n";
  for (int i = 40; i-- > 0;)
    broken += std::string(i, ' ') + "elif [b for b in a]:\n" + std::string(i + 1, ' ') + "b\n";
  for (int i = 0; i < 8; ++i) {
    calls += "def f" + std::to_string(i) + "():\n" +
             repeated("    x = f" + std::to_string(i + 1) + "()\n", 100);
  }
  for (const std::string& lines :
       {broken, "if a: x\n" + repeated("elif a: x\n", 10000),
        repeated("if 1: ", 40) + "x\n" + repeated("elif [b for b in a]: x\n", 40),
        "s = 'aaaa'\n" + repeated("s = s + s\n", 40), "t = 1\n" + repeated("t = (t, t)\n", 40),
        "t = 1\n" + repeated("t = (t,)\n", 20000),
        std::string("def f(x=f()):\n    return 1\nf()\n"),
        calls + "def f8():\n    return 1\nf0()\n",
        "def f():\n" + repeated("    pass\n", 20000) + repeated("f()\n", 20000)}) {
    const auto found =
        bind_model_answer(lines + answer("", "        return ops.f(x, self.lin.weight)\n"), task);
    EXPECT_TRUE(found || found.error().text().find("too long to follow") != std::string::npos)
        << lines.substr(0, 100) << ": " << found.error().text();
  }
  EXPECT_THAT(bound("", "        n = x.size(0)\n" + repeated("        n = n + n\n", 40) +
                            "        return ops.f(x, n)\n"),
              HasSubstr("too long to follow"));
}

// As `kernelrl eval` writes a row of the AI CUDA Engineer Archive: ModelNew derives from a Model of the
// text, which calls the extension's forward with its own inputs and parameters.
std::string derived(const std::string& init, const std::string& forward, const std::string& bound) {
  return "import torch\n"
         "def module_fn(x, weight):\n"
         "    return torch.relu(x)\n"
         "module_fn = load_inline(name='a', cpp_sources='', cuda_sources=r'''\n"
         "namespace mine { torch::Tensor f(torch::Tensor x, torch::Tensor w) { return x; } }\n"
         "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n  m.def(\"forward\", " +
         bound +
         ", \"it\");\n}\n"
         "''').forward\n"
         "class Model(nn.Module):\n"
         "    def __init__(self, n, eps, groups=1):\n"
         "        super(Model, self).__init__()\n" +
         init + "    def forward(self, x, taps, fn=module_fn):\n        return fn(x, " + forward +
         ")\n"
         "n = 512\n"
         "groups = 8\n"
         "def get_inputs():\n"
         "    x = torch.randn(16, n)\n"
         "    return [x, (3, 4)]\n"
         "def get_init_inputs():\n"
         "    return [n, 1e-5, groups]\n"
         "class ModelNew(Model):\n"
         "    pass\n";
}

TEST(ModelAnswer, MayDeriveFromAModelOfItsText) {
  const TaskDefinition task = *parse_task_definition(kScaledLinear);
  const auto found = bind_model_answer(
      derived("        layer = nn.Linear(n, n)\n"
              "        self.weight = nn.Parameter(layer.weight.clone())\n"
              "        self.b = layer.bias\n"
              "        lin = nn.Linear(n, n)\n"
              "        self.lin_bias = nn.Parameter(lin.bias + torch.randn(n) * 0.02)\n"
              "        self.n, self.eps, self.groups = n, eps, groups\n",
              "self.weight, self.b, self.lin_bias, self.n, self.eps, self.groups, taps",
              "&mine::f"),
      task);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_THAT(
      found->forward,
      HasSubstr(
          "return ::mine::f(kernelrl_in_x, kernelrl_in_lin_weight, kernelrl_in_lin_bias, "
          "kernelrl_in_lin_bias, static_cast<std::int64_t>(kernelrl_host::current_call->axes[1]), 1e-05, 8, {3, 4}); });"));
}

TEST(ModelAnswer, OfALayerWithoutBiasPassesNone) {
  TaskDefinition task = *parse_task_definition(kScaledLinear);
  const auto bound_with = [&task](const std::string& layer) {
    const auto found = bind_model_answer(
        derived("        " + layer + " = nn.Linear(n, n, bias=False)\n        self.b = " + layer +
                    ".bias if " + layer + ".bias is not None else None\n",
                "self.b", "&mine::f"),
        task);
    return found ? found->forward : found.error().text();
  };
  const std::size_t bias = task.prompt.find("lin.bias");
  task.prompt.replace(bias, 8, "norm.bias");  // not that of the layer
  EXPECT_THAT(bound_with("lin"), HasSubstr("return ::mine::f(kernelrl_in_x, c10::nullopt); });"));
  task.prompt.replace(bias, 9, "shift");
  EXPECT_THAT(bound_with("layer"), HasSubstr("return ::mine::f(kernelrl_in_x, c10::nullopt); });"));
}

TEST(ModelAnswer, OfAModuleThatBindsNoNameIsRefused) {
  const auto found =
      bind_model_answer(derived("", "x", "[](torch::Tensor x) { return mine::f(x, x); }"),
                        *parse_task_definition(kScaledLinear));
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().text(), HasSubstr("nor does PYBIND11_MODULE bind"));
}

// Those of tests/kernelbench, for which bench/kernelbench_verdicts.py asks KernelBench itself.
TEST(ModelAnswer, OfTheExamplesAreBoundButWherePyTorchComputes) {
  TaskDefinition softmax, linear = *parse_task_definition(kScaledLinear);
  softmax.prompt = "It is constructed as Model(1).\nInputs of forward: x.\n";
  softmax.inputs.emplace_back().name = "x";
  linear.prompt =
      "It is constructed as Model(inputs, outputs, scale) with scale = 2.0.\nInputs of forward: x.\n"
      "Inputs in the places of the module's own tensors: lin_weight is linear.weight, lin_bias is "
      "linear.bias.\n";
  std::vector<std::string> refused;
  std::size_t answers = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(KERNELRL_SOURCE_DIR "/tests/kernelbench/answers")) {
    const std::string name = file.path().filename();
    const bool is_linear = name.find("problem_2") != std::string::npos;
    const auto found =
        bind_model_answer(files::read_file_or_empty(file.path()), is_linear ? linear : softmax);
    ++answers;
    if (!found) refused.push_back(name + ": " + found.error().text());
  }
  std::sort(refused.begin(), refused.end());
  EXPECT_EQ(answers, 12u);
  ASSERT_EQ(refused.size(), 2u) << ::testing::PrintToString(refused);
  EXPECT_EQ(refused[0],
            "level_9_problem_1_sample_6_kernel.py: line 51, column 1: PyTorch computes "
            "'torch.clone(softmax.rows(x))'");
  EXPECT_THAT(refused[1], HasSubstr("level_9_problem_2_sample_2_kernel.py: line 38"));
}

class ModelAnswers : public NeedsNvcc {};

TEST_F(ModelAnswers, AreCompiledWithTheLinesOfTheirText) {
  const TaskBackend backend("nvcc", Table{{"execute", "off"}, {"arch", "sm_90"}, {"cache", "off"}});
  const auto evaluate = [&](const std::string& body) {
    const std::string source =
        "from torch.utils.cpp_extension import load_inline\n"
        "code = '''\n"
        "#include <torch/extension.h>\n"
        "__global__ void kernel(const float* a, const float* b, float* c, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n) " +
        body +
        "\n"
        "}\n"
        "torch::Tensor add(torch::Tensor a, torch::Tensor b, float scale) {\n"
        "  auto c = torch::empty_like(a);\n"
        "  kernel<<<(a.numel() + 255) / 256, 256>>>(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), a.numel());\n"
        "  return c;\n"
        "}\n"
        "'''\n"
        "ops = load_inline('ops', '', code, ['add'])\n"
        "class ModelNew(torch.nn.Module):\n"
        "    def forward(self, a, b):\n"
        "        return ops.add(a, b, 1.0)\n";
    return backend.evaluate(all_tasks().at("vector_add"), source, TaskBackend::kAllStages, 1,
                            KRL_CONTRACT_HOST);
  };
  const Outcome good = evaluate("c[i] = a[i] + b[i];");
  EXPECT_EQ(good.verdict, Verdict::kOk) << good.why << "\n" << good.log;
  const Outcome wrong = evaluate("c[i] = a[i] + d[i];");
  EXPECT_EQ(wrong.verdict, Verdict::kCompileError);
  EXPECT_THAT(wrong.why, HasSubstr("line 6: identifier \"d\" is undefined"));
}

}  // namespace
}  // namespace krl::testing
