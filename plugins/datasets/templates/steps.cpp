#include "plugins/datasets/templates/steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

namespace krl::templates {
namespace {

double sum(const Line& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
double squares(const Line& v) { return std::inner_product(v.begin(), v.end(), v.begin(), 0.0); }
double mean(const Line& v) { return sum(v) / static_cast<double>(v.size()); }
double most(const Line& v) { return *std::max_element(v.begin(), v.end()); }

double least(const Line& v) { return *std::min_element(v.begin(), v.end()); }
double norm(const Line& v) { return std::sqrt(squares(v)); }

double log_sum_exp(const Line& v) {
  const double top = most(v);
  return top + std::log(std::accumulate(v.begin(), v.end(), 0.0, [&](double total, double e) {
           return total + std::exp(e - top);
         }));
}

double logistic(double e) { return 1 / (1 + std::exp(-e)); }

double gelu(double e) {
  return 0.5 * e * (1 + std::tanh(0.7978845608 * (e + 0.044715 * e * e * e)));
}

// Steps that change a line.
template <double (*offset)(const Line& v)>
void subtract(Line& v) {
  const double by = offset(v);
  for (double& e : v) e -= by;
}
void divide_by_magnitude(Line& v) {
  double total = 1e-5;
  for (const double e : v) total += std::fabs(e);
  for (double& e : v) e /= total;
}
void divide_by_root_mean_square(Line& v) {
  const double factor = 1 / std::sqrt(squares(v) / static_cast<double>(v.size()) + 1e-5);
  for (double& e : v) e *= factor;
}
void normalise(Line& v) {
  subtract<mean>(v);
  divide_by_root_mean_square(v);
}
void softmax(Line& v) {
  const double by = log_sum_exp(v);
  for (double& e : v) e = std::exp(e - by);
}

// A step that leaves one number a line.
template <double (*number)(const Line& v)>
void fold(Line& v) {
  v = {number(v)};
}

// `f` computes an element from itself and the step's constant.
Step element(const char* name, const char* title, const char* prompt, const char* torch,
             const char* cuda, double (*f)(double e, double k),
             std::vector<const char*> constants = {}) {
  const auto apply = [f](Line& v, const Line&, double k) {
    for (double& e : v) e = f(e, k);
  };
  return {name, title, prompt, torch, cuda, apply, Operand::kNone, "", std::move(constants)};
}

// `f` computes an element from itself and one of the second tensor.
Step combined(const char* name, const char* title, const char* prompt, const char* torch,
              const char* cuda, double (*f)(double e, double o), Operand operand,
              const char* role) {
  const auto apply = [f](Line& v, const Line& o, double) {
    std::transform(v.begin(), v.end(), o.begin(), v.begin(), f);
  };
  return {name, title, prompt, torch, cuda, apply, operand, role};
}

Step line(const char* name, const char* title, const char* prompt, const char* torch,
          const char* cuda, void (*f)(Line& v), std::vector<Fold> folds, bool ends = false) {
  const auto apply = [f](Line& v, const Line&, double) { f(v); };
  return {name, title, prompt, torch, cuda, apply, Operand::kNone, "", {}, std::move(folds), ends};
}

double sum_of(double e, double o) { return e + o; }
double product_of(double e, double o) { return e * o; }

const std::vector<Step> kSteps = {
    element("abs", "absolute value", "v = abs(v)", "torch.abs(v)", "fabsf($v)",
            [](double e, double) { return std::fabs(e); }),
    element("clamp", "clamp", "v = min(max(v, -$k), $k)", "torch.clamp(v, -$k, $k)",
            "fminf(fmaxf($v, -$kf), $kf)", [](double e, double k) { return std::clamp(e, -k, k); },
            {"0.5", "0.75", "1.0"}),
    element("decay", "exponential decay", "v = exp(-abs(v))", "torch.exp(-torch.abs(v))",
            "expf(-fabsf($v))", [](double e, double) { return std::exp(-std::fabs(e)); }),
    element("gelu", "GELU", "v = 0.5 * v * (1 + tanh(0.7978845608 * (v + 0.044715 * v^3)))",
            "0.5 * v * (1.0 + torch.tanh(0.7978845608 * (v + 0.044715 * v * v * v)))",
            "0.5f * $v * (1.0f + tanhf(0.7978845608f * ($v + 0.044715f * $v * $v * $v)))",
            [](double e, double) { return gelu(e); }),
    element("leaky", "leaky rectified linear unit", "v = max(v, $k * v)",
            "torch.maximum(v, $k * v)", "fmaxf($v, $kf * $v)",
            [](double e, double k) { return std::max(e, k * e); }, {"0.01", "0.1", "0.25"}),
    element("relu", "rectified linear unit", "v = max(v, 0)", "torch.relu(v)", "fmaxf($v, 0.0f)",
            [](double e, double) { return std::max(e, 0.0); }),
    element("scale", "scale", "v = $k * v", "$k * v", "$kf * $v", product_of,
            {"0.25", "0.5", "1.5", "2.0", "3.0"}),
    element("shift", "shift", "v = v + $k", "v + $k", "$v + $kf", sum_of, {"0.5", "1.0", "2.0"}),
    element("sigmoid", "logistic function", "v = 1 / (1 + exp(-v))", "torch.sigmoid(v)",
            "1.0f / (1.0f + expf(-$v))", [](double e, double) { return logistic(e); }),
    element("silu", "SiLU", "v = v / (1 + exp(-v))", "v * torch.sigmoid(v)",
            "$v / (1.0f + expf(-$v))", [](double e, double) { return e * logistic(e); }),
    element("softsign", "softsign", "v = v / (1 + abs(v))", "v / (1.0 + torch.abs(v))",
            "$v / (1.0f + fabsf($v))", [](double e, double) { return e / (1 + std::fabs(e)); }),
    element("square", "square", "v = v^2", "v * v", "$v * $v",
            [](double e, double) { return e * e; }),
    element("tanh", "hyperbolic tangent", "v = tanh(v)", "torch.tanh(v)", "tanhf($v)",
            [](double e, double) { return std::tanh(e); }),

    combined("bias", "bias", "v = v + $o", "v + $o", "$v + $o", sum_of, Operand::kColumn, "b"),
    combined("gain", "gain", "v = v * $o", "v * $o", "$v * $o", product_of, Operand::kColumn, "g"),
    combined("row_scale", "scale of rows", "v = v * $o", "v * $o", "$v * $o", product_of,
             Operand::kRow, "w"),
    combined(
        "row_shift", "shift of rows", "v = v - $o", "v - $o", "$v - $o",
        [](double e, double o) { return e - o; }, Operand::kRow, "s"),
    combined("residual", "residual", "v = v + $o", "v + $o", "$v + $o", sum_of, Operand::kElement,
             "z"),
    combined(
        "gate", "gate", "v = v / (1 + exp(-$o))", "v * torch.sigmoid($o)",
        "$v / (1.0f + expf(-$o))", [](double e, double o) { return e * logistic(o); },
        Operand::kElement, "u"),
    combined(
        "larger", "elementwise maximum", "v = max(v, $o)", "torch.maximum(v, $o)", "fmaxf($v, $o)",
        [](double e, double o) { return std::max(e, o); }, Operand::kElement, "q"),

    line("centre", "centring", "v = v - mean(v) over $l", "v - v.mean($dim, True)", "$v - $0",
         subtract<mean>, {{Reduce::kSum, "$v", "$m / $length"}}),
    line("below_top", "distance from the maximum", "v = v - max(v) over $l",
         "v - v.amax($dim, True)", "$v - $0", subtract<most>, {{Reduce::kMax, "$v"}}),
    line("l1", "L1 normalisation", "v = v / (sum(abs(v)) + 1e-5) over $l",
         "v / (torch.abs(v).sum($dim, True) + 1e-5)", "$v / $0", divide_by_magnitude,
         {{Reduce::kSum, "fabsf($v)", "$m + 1e-5f"}}),
    line("layernorm", "layer normalisation", "v = (v - mean(v)) / sqrt(var(v) + 1e-5) over $l",
         "(v - v.mean($dim, True)) * torch.rsqrt(v.var([$dim], False, True) + 1e-5)",
         "($v - $0) * $1", normalise,
         {{Reduce::kSum, "$v", "$m / $length"},
          {Reduce::kSum, "($v - $0) * ($v - $0)", "rsqrtf($m / $length + 1e-5f)"}}),
    line("log_softmax", "logarithm of softmax", "v = v - log(sum(exp(v))) over $l",
         "torch.log_softmax(v, $dim)", "$v - $0 - $1", subtract<log_sum_exp>,
         {{Reduce::kMax, "$v"}, {Reduce::kSum, "expf($v - $0)", "logf($m)"}}),
    line("rmsnorm", "RMS normalisation", "v = v / sqrt(mean(v^2) + 1e-5) over $l",
         "v * torch.rsqrt((v * v).mean($dim, True) + 1e-5)", "$v * $0", divide_by_root_mean_square,
         {{Reduce::kSum, "$v * $v", "rsqrtf($m / $length + 1e-5f)"}}),
    line("softmax", "softmax", "v = softmax(v) over $l", "torch.softmax(v, $dim)",
         "expf($v - $0) / $1", softmax, {{Reduce::kMax, "$v"}, {Reduce::kSum, "expf($v - $0)"}}),

    line("max", "maximum", "max(v) over $l", "v.amax($dim)", "$0", fold<most>,
         {{Reduce::kMax, "$v"}}, true),
    line("mean", "mean", "mean(v) over $l", "v.mean($dim)", "$0", fold<mean>,
         {{Reduce::kSum, "$v", "$m / $length"}}, true),
    line("min", "minimum", "min(v) over $l", "v.amin($dim)", "$0", fold<least>,
         {{Reduce::kMin, "$v"}}, true),
    line("norm", "Euclidean norm", "sqrt(sum(v^2)) over $l", "(v * v).sum($dim).sqrt()", "$0",
         fold<norm>, {{Reduce::kSum, "$v * $v", "sqrtf($m)"}}, true),
    line("sum", "sum", "sum(v) over $l", "v.sum($dim)", "$0", fold<sum>, {{Reduce::kSum, "$v"}},
         true),
    line("logsumexp", "logarithm of the sum of exponentials", "log(sum(exp(v))) over $l",
         "torch.logsumexp(v, [$dim])", "$0 + $1", fold<log_sum_exp>,
         {{Reduce::kMax, "$v"}, {Reduce::kSum, "expf($v - $0)", "logf($m)"}}, true),
};

}  // namespace

const std::vector<Step>& all_steps() { return kSteps; }

}  // namespace krl::templates
