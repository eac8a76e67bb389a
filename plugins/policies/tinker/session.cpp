#include "plugins/policies/tinker/session.hpp"

#include <boost/asio/post.hpp>
#include <kernelrl/spelling.hpp>

namespace krl::tinker {
namespace {

constexpr const char* kCheckpointScheme = "tinker://";

http::Request get(const std::string& path) {
  http::Request request;
  request.method = "GET";
  request.target = path;
  return request;
}

template <class T>
Submission posted(const T& request) {
  return {T::kPath, to_json(request)};
}

}  // namespace

Session::Session(const ServiceOptions& options, const Patience& patience)
    : options_(options),
      client_(loop_.io(), http::parse_url(options.base_url), http_options(options.http.keep_idle)),
      unkept_(loop_.io(), client_.base(), http_options(http::Duration::zero())),
      futures_(loop_.io(), client_, unkept_, options.http.retries),
      pulse_(loop_.io()) {
  loop_.run([&](Yield yield) { connect(patience, yield); });
  http::start(
      loop_.io(), [this](Yield yield) { beat(yield); },
      [this](const std::exception_ptr&) { ended_.set_value(); });
}

http::Options Session::http_options(http::Duration keep_idle) {
  http::Options http = options_.http;
  http.keep_idle = keep_idle;
  if (!options_.api_key.empty()) http.secret_headers.push_back({"X-API-Key", options_.api_key});
  http.on_retry = [this](const std::string&) { ++retries_; };
  return http;
}

Session::~Session() {
  boost::asio::post(loop_.io(), [this] {
    ends_ = true;
    pulse_.cancel();
  });
  ended_.get_future().wait();
}

void Session::connect(const Patience& patience, Yield yield) {
  kind_ = service_kind(client_.ask_until_served(get("/"), patience, yield).body);
  const http::Answer models = client_.ask_until_served(get(kCapabilitiesPath), patience, yield);
  Capabilities offered;
  try {
    if (models.good()) offered = from_json<Capabilities>(models.body);
  } catch (const Failure& error) {
    throw Failure(KRL_UNAVAILABLE, std::string("the answer to ") + kCapabilitiesPath +
                                       " violates the protocol: " + error.what());
  }
  if (models.good()) find_base_model(offered);
  const CreateSession request{{}, {}, "kernelrl"};
  id_ = futures_.ask<SessionOpened>(posted(request), patience, yield).session_id;
}

void Session::find_base_model(const Capabilities& capabilities) {
  std::vector<std::string> known;
  for (const SupportedModel& model : capabilities.models) {
    if (model.name == options_.base_model) {
      context_ = model.max_context_length;
      return;
    }
    known.push_back(model.name);
  }
  if (known.empty()) return;  // the service does not tell
  std::string message = url() + " does not have the model '" + options_.base_model + "'";
  const std::string closest = closest_name(options_.base_model, known);
  if (!closest.empty()) message += ": did you mean '" + closest + "'?";
  message += " It has:";
  for (const std::string& name : known) message += " " + name;
  invalid_argument(message);
}

// Runs alongside everything else until the session ends. A lost heartbeat is not a failure: the
// next request will report one.
void Session::beat(Yield yield) {
  while (!ends_) {
    boost::system::error_code cancelled;
    pulse_.expires_after(options_.heartbeat);
    pulse_.async_wait(yield[cancelled]);
    if (ends_) return;
    const Patience patience = Patience::of(3 * options_.heartbeat, [this] { return ends_.load(); });
    std::string trouble;
    try {
      futures_.ask<Done>(posted(SessionHeartbeat{id_}), patience, yield);
    } catch (const std::exception& error) {
      trouble = error.what();
    }
    const std::lock_guard lock(mutex_);
    heartbeat_trouble_ = trouble;
  }
}

std::string Session::heartbeat_trouble() const {
  const std::lock_guard lock(mutex_);
  return heartbeat_trouble_;
}

Model Session::create_model(const Patience& patience, Yield yield) {
  const auto submission = [this] {
    return posted(CreateModel{id_, next_model_++, options_.base_model, options_.lora});
  };
  const auto made = create<CreatedModel>(submission, patience, yield);
  if (!made.base_model.empty() && made.base_model != options_.base_model) {
    throw Failure(KRL_FAILED_PRECONDITION, url() + " adapts the model '" + made.base_model +
                                               "', not policy.base_model = '" +
                                               options_.base_model + "'");
  }
  return {made.model_id};
}

void Session::unload_model(const Model& model, const Patience& patience, Yield yield) {
  futures_.submit(posted(UnloadModel{model.id}), patience, yield);
}

std::shared_ptr<Sampler> Session::create_sampler(Model& model, std::uint64_t version,
                                                 const Patience& patience, Yield yield) {
  auto sampler = std::make_shared<Sampler>();
  sampler->version = version;
  const auto submission = [&] {
    return posted(SaveWeightsForSampler{model.id, next_sampler_++, model.next_seq_id++});
  };
  sampler->sampling_session_id =
      create<SamplingSession>(submission, patience, yield).sampling_session_id;
  return sampler;
}

std::shared_ptr<Sampler> Session::create_base_sampler(const Patience& patience, Yield yield) {
  const CreateSamplingSession request{id_, next_sampler_++, options_.base_model};
  auto sampler = std::make_shared<Sampler>();
  sampler->sampling_session_id =
      futures_.ask<SamplingSession>(posted(request), patience, yield).sampling_session_id;
  return sampler;
}

bool Session::delete_checkpoint(const std::string& path, const Patience& patience, Yield yield) {
  const std::string_view scheme = kCheckpointScheme;
  const std::size_t slash = path.find('/', scheme.size());
  if (path.rfind(scheme, 0) != 0 || slash == std::string::npos) return false;
  const std::string model = path.substr(scheme.size(), slash - scheme.size());
  http::Request request;
  request.method = "DELETE";
  request.target =
      "/api/v1/training_runs/" + http::percent_encoded(model) + "/checkpoints" + path.substr(slash);
  return client_.ask_until_served(request, patience, yield).good();
}

}  // namespace krl::tinker
