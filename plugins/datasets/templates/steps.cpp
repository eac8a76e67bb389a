#include "plugins/datasets/templates/steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace krl::templates {
namespace {

template <class Map>
void map(Line& v, Map f) {
  std::transform(v.begin(), v.end(), v.begin(), f);
}

template <class Map>
void map(Line& v, const Line& o, Map f) {
  std::transform(v.begin(), v.end(), o.begin(), v.begin(), f);
}

double sum(const Line& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
double squares(const Line& v) { return std::inner_product(v.begin(), v.end(), v.begin(), 0.0); }
double mean(const Line& v) { return sum(v) / static_cast<double>(v.size()); }
double most(const Line& v) { return *std::max_element(v.begin(), v.end()); }

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

std::vector<Step> make_steps() {
  const auto kNone = Operand::kNone;
  return {
      // Elements.
      {"abs", "absolute value", "v = abs(v)", "torch.abs(v)", "fabsf($v)",
       [](Line& v, const Line&, double) { map(v, [](double e) { return std::fabs(e); }); }},
      {"clamp",
       "clamp",
       "v = min(max(v, -$k), $k)",
       "torch.clamp(v, -$k, $k)",
       "fminf(fmaxf($v, -$kf), $kf)",
       [](Line& v, const Line&, double k) {
         map(v, [k](double e) { return std::clamp(e, -k, k); });
       },
       kNone,
       "",
       {"0.5", "0.75", "1.0"}},
      {"decay", "exponential decay", "v = exp(-abs(v))", "torch.exp(-torch.abs(v))",
       "expf(-fabsf($v))",
       [](Line& v, const Line&, double) {
         map(v, [](double e) { return std::exp(-std::fabs(e)); });
       }},
      {"gelu", "GELU", "v = 0.5 * v * (1 + tanh(0.7978845608 * (v + 0.044715 * v^3)))",
       "0.5 * v * (1.0 + torch.tanh(0.7978845608 * (v + 0.044715 * v * v * v)))",
       "0.5f * $v * (1.0f + tanhf(0.7978845608f * ($v + 0.044715f * $v * $v * $v)))",
       [](Line& v, const Line&, double) { map(v, gelu); }},
      {"leaky",
       "leaky rectified linear unit",
       "v = max(v, $k * v)",
       "torch.maximum(v, $k * v)",
       "fmaxf($v, $kf * $v)",
       [](Line& v, const Line&, double k) { map(v, [k](double e) { return std::max(e, k * e); }); },
       kNone,
       "",
       {"0.01", "0.1", "0.25"}},
      {"relu", "rectified linear unit", "v = max(v, 0)", "torch.relu(v)", "fmaxf($v, 0.0f)",
       [](Line& v, const Line&, double) { map(v, [](double e) { return std::max(e, 0.0); }); }},
      {"scale",
       "scale",
       "v = $k * v",
       "$k * v",
       "$kf * $v",
       [](Line& v, const Line&, double k) { map(v, [k](double e) { return k * e; }); },
       kNone,
       "",
       {"0.25", "0.5", "1.5", "2.0", "3.0"}},
      {"shift",
       "shift",
       "v = v + $k",
       "v + $k",
       "$v + $kf",
       [](Line& v, const Line&, double k) { map(v, [k](double e) { return e + k; }); },
       kNone,
       "",
       {"0.5", "1.0", "2.0"}},
      {"sigmoid", "logistic function", "v = 1 / (1 + exp(-v))", "torch.sigmoid(v)",
       "1.0f / (1.0f + expf(-$v))", [](Line& v, const Line&, double) { map(v, logistic); }},
      {"silu", "SiLU", "v = v / (1 + exp(-v))", "v * torch.sigmoid(v)", "$v / (1.0f + expf(-$v))",
       [](Line& v, const Line&, double) { map(v, [](double e) { return e * logistic(e); }); }},
      {"softsign", "softsign", "v = v / (1 + abs(v))", "v / (1.0 + torch.abs(v))",
       "$v / (1.0f + fabsf($v))",
       [](Line& v, const Line&, double) {
         map(v, [](double e) { return e / (1 + std::fabs(e)); });
       }},
      {"square", "square", "v = v^2", "v * v", "$v * $v",
       [](Line& v, const Line&, double) { map(v, [](double e) { return e * e; }); }},
      {"tanh", "hyperbolic tangent", "v = tanh(v)", "torch.tanh(v)", "tanhf($v)",
       [](Line& v, const Line&, double) { map(v, [](double e) { return std::tanh(e); }); }},
      // Combine elements with those of a second tensor.
      {"bias", "bias", "v = v + $o", "v + $o", "$v + $o",
       [](Line& v, const Line& o, double) { map(v, o, [](double e, double b) { return e + b; }); },
       Operand::kColumn, "b"},
      {"gain", "gain", "v = v * $o", "v * $o", "$v * $o",
       [](Line& v, const Line& o, double) { map(v, o, [](double e, double b) { return e * b; }); },
       Operand::kColumn, "g"},
      {"row_scale", "scale of rows", "v = v * $o", "v * $o", "$v * $o",
       [](Line& v, const Line& o, double) { map(v, o, [](double e, double b) { return e * b; }); },
       Operand::kRow, "w"},
      {"row_shift", "shift of rows", "v = v - $o", "v - $o", "$v - $o",
       [](Line& v, const Line& o, double) { map(v, o, [](double e, double b) { return e - b; }); },
       Operand::kRow, "s"},
      {"residual", "residual", "v = v + $o", "v + $o", "$v + $o",
       [](Line& v, const Line& o, double) { map(v, o, [](double e, double b) { return e + b; }); },
       Operand::kElement, "z"},
      {"gate", "gate", "v = v / (1 + exp(-$o))", "v * torch.sigmoid($o)", "$v / (1.0f + expf(-$o))",
       [](Line& v, const Line& o, double) {
         map(v, o, [](double e, double b) { return e * logistic(b); });
       },
       Operand::kElement, "u"},
      {"larger", "elementwise maximum", "v = max(v, $o)", "torch.maximum(v, $o)", "fmaxf($v, $o)",
       [](Line& v, const Line& o, double) {
         map(v, o, [](double e, double b) { return std::max(e, b); });
       },
       Operand::kElement, "q"},
      // Lines.
      {"centre",
       "centring",
       "v = v - mean(v) over $l",
       "v - v.mean($dim, True)",
       "$v - $0",
       [](Line& v, const Line&, double) { map(v, [m = mean(v)](double e) { return e - m; }); },
       kNone,
       "",
       {},
       {{Reduce::kSum, "$v", "$m / $length"}}},
      {"below_top",
       "distance from the maximum",
       "v = v - max(v) over $l",
       "v - v.amax($dim, True)",
       "$v - $0",
       [](Line& v, const Line&, double) { map(v, [m = most(v)](double e) { return e - m; }); },
       kNone,
       "",
       {},
       {{Reduce::kMax, "$v"}}},
      {"l1",
       "L1 normalisation",
       "v = v / (sum(abs(v)) + 1e-5) over $l",
       "v / (torch.abs(v).sum($dim, True) + 1e-5)",
       "$v / $0",
       [](Line& v, const Line&, double) {
         double total = 1e-5;
         for (const double e : v) total += std::fabs(e);
         map(v, [total](double e) { return e / total; });
       },
       kNone,
       "",
       {},
       {{Reduce::kSum, "fabsf($v)", "$m + 1e-5f"}}},
      {"layernorm",
       "layer normalisation",
       "v = (v - mean(v)) / sqrt(var(v) + 1e-5) over $l",
       "(v - v.mean($dim, True)) * torch.rsqrt(v.var([$dim], False, True) + 1e-5)",
       "($v - $0) * $1",
       [](Line& v, const Line&, double) {
         map(v, [m = mean(v)](double e) { return e - m; });
         const double f = 1 / std::sqrt(squares(v) / static_cast<double>(v.size()) + 1e-5);
         map(v, [f](double e) { return e * f; });
       },
       kNone,
       "",
       {},
       {{Reduce::kSum, "$v", "$m / $length"},
        {Reduce::kSum, "($v - $0) * ($v - $0)", "rsqrtf($m / $length + 1e-5f)"}}},
      {"log_softmax",
       "logarithm of softmax",
       "v = v - log(sum(exp(v))) over $l",
       "torch.log_softmax(v, $dim)",
       "$v - $0 - $1",
       [](Line& v, const Line&, double) {
         map(v, [l = log_sum_exp(v)](double e) { return e - l; });
       },
       kNone,
       "",
       {},
       {{Reduce::kMax, "$v"}, {Reduce::kSum, "expf($v - $0)", "logf($m)"}}},
      {"rmsnorm",
       "RMS normalisation",
       "v = v / sqrt(mean(v^2) + 1e-5) over $l",
       "v * torch.rsqrt((v * v).mean($dim, True) + 1e-5)",
       "$v * $0",
       [](Line& v, const Line&, double) {
         const double f = 1 / std::sqrt(squares(v) / static_cast<double>(v.size()) + 1e-5);
         map(v, [f](double e) { return e * f; });
       },
       kNone,
       "",
       {},
       {{Reduce::kSum, "$v * $v", "rsqrtf($m / $length + 1e-5f)"}}},
      {"softmax",
       "softmax",
       "v = softmax(v) over $l",
       "torch.softmax(v, $dim)",
       "expf($v - $0) / $1",
       [](Line& v, const Line&, double) {
         map(v, [l = log_sum_exp(v)](double e) { return std::exp(e - l); });
       },
       kNone,
       "",
       {},
       {{Reduce::kMax, "$v"}, {Reduce::kSum, "expf($v - $0)"}}},
      // One number a line.
      {"max",
       "maximum",
       "max(v) over $l",
       "v.amax($dim)",
       "$0",
       [](Line& v, const Line&, double) { v = {most(v)}; },
       kNone,
       "",
       {},
       {{Reduce::kMax, "$v"}},
       true},
      {"mean",
       "mean",
       "mean(v) over $l",
       "v.mean($dim)",
       "$0",
       [](Line& v, const Line&, double) { v = {mean(v)}; },
       kNone,
       "",
       {},
       {{Reduce::kSum, "$v", "$m / $length"}},
       true},
      {"min",
       "minimum",
       "min(v) over $l",
       "v.amin($dim)",
       "$0",
       [](Line& v, const Line&, double) { v = {*std::min_element(v.begin(), v.end())}; },
       kNone,
       "",
       {},
       {{Reduce::kMin, "$v"}},
       true},
      {"norm",
       "Euclidean norm",
       "sqrt(sum(v^2)) over $l",
       "(v * v).sum($dim).sqrt()",
       "$0",
       [](Line& v, const Line&, double) { v = {std::sqrt(squares(v))}; },
       kNone,
       "",
       {},
       {{Reduce::kSum, "$v * $v", "sqrtf($m)"}},
       true},
      {"sum",
       "sum",
       "sum(v) over $l",
       "v.sum($dim)",
       "$0",
       [](Line& v, const Line&, double) { v = {sum(v)}; },
       kNone,
       "",
       {},
       {{Reduce::kSum, "$v"}},
       true},
      {"logsumexp",
       "logarithm of the sum of exponentials",
       "log(sum(exp(v))) over $l",
       "torch.logsumexp(v, [$dim])",
       "$0 + $1",
       [](Line& v, const Line&, double) { v = {log_sum_exp(v)}; },
       kNone,
       "",
       {},
       {{Reduce::kMax, "$v"}, {Reduce::kSum, "expf($v - $0)", "logf($m)"}},
       true},
  };
}

}  // namespace

const std::vector<Step>& all_steps() {
  static const std::vector<Step> steps = make_steps();
  return steps;
}

}  // namespace krl::templates
