// The processes of a GPU and what the evaluator makes of them, on a simulated driver: everything
// but CUDA itself is real.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "plugins/backends/cuda/gpu/correctness.hpp"
#include "plugins/backends/cuda/gpu/gpu_pool.hpp"
#include "plugins/backends/cuda/gpu/gpu_search.hpp"
#include "plugins/backends/cuda/gpu/timing.hpp"
#include "plugins/backends/cuda/gpu/trials.hpp"
#include "plugins/backends/evaluator/check/poison.hpp"
#include "plugins/backends/evaluator/timing/log_ratio.hpp"
#include "tests/unit/backends/gpu/simulated_gpu.hpp"

namespace krl::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Lt;
using ::testing::SizeIs;

// One GPU for all tests, as its checker takes a while to start.
GpuPool& pool() {
  static GpuPool pool = [] {
    const GpuWorkers workers = simulated_workers();
    return GpuPool(find_gpus(workers.runner, {0}), workers);
  }();
  return pool;
}

EvaluationRecord checked(const Candidate& candidate, const std::vector<PlannedRun>& plan = runs()) {
  EvaluationRecord record;
  pool().with_gpu({}, [&](Gpu& gpu) {
    check_on_gpu(gpu, candidate, plan, &record);
    check_arena(gpu, &record);
  });
  return record;
}

// `trusted`: what timed launches are held against; null: the reference.
EvaluationRecord timed(const Candidate& candidate, const Candidate& baseline,
                       const Candidate* trusted = nullptr) {
  EvaluationRecord record = checked(candidate);
  const GpuCandidate other = baseline;
  std::optional<GpuCandidate> right;
  if (trusted != nullptr) right.emplace(*trusted);
  GpuBaseline held_against{&other};
  held_against.trusted = right ? &*right : nullptr;
  pool().with_gpu({}, [&](Gpu& gpu) {
    time_on_gpu(gpu, candidate, held_against, runs(), TimingSettings(), &record);
    check_arena(gpu, &record);
  });
  return record;
}

TEST(GpuSearch, DescribesWhatTheDriverSees) {
  const auto gpus = find_gpus(simulated_workers().runner, {});
  ASSERT_THAT(gpus, SizeIs(2));
  EXPECT_EQ(gpus[1].index, 1);
  EXPECT_EQ(gpus[1].arch, "sm_90");
  EXPECT_EQ(gpus[1].name, "simulated GPU");
  EXPECT_DOUBLE_EQ(gpus[1].bandwidth, 1.024e12);
}

TEST(GpuSearch, NamesAnIndexThatIsNotThere) {
  try {
    find_gpus(simulated_workers().runner, {5});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("no GPU 5"));
  }
}

TEST(GpuCorrectness, PassesWhatIsRight) {
  const EvaluationRecord record = checked(Candidate("good"));
  EXPECT_EQ(record.verdict, Verdict::kOk) << record.why;
  ASSERT_THAT(record.cases, SizeIs(3));
  EXPECT_EQ(record.cases[2].kind, CaseKind::kHoldout);
  EXPECT_THAT(record.cases, Each(Field(&Case::max_abs_error, Lt(1e-5))));
}

TEST(GpuCorrectness, PassesTensorMapsOfEachSetOfBuffers) {
  const Candidate candidate("by_tensor_map", "64",
                            "// @tensor_map x_map x[x.size / 8, 8] box[2, 8] swizzle 32");
  EXPECT_EQ(checked(candidate).verdict, Verdict::kOk);
}

TEST(GpuCorrectness, ShowsTheFirstWrongElements) {
  const EvaluationRecord record = checked(Candidate("wrong"));
  EXPECT_EQ(record.verdict, Verdict::kWrongResult);
  EXPECT_THAT(record.why, HasSubstr("n=1000: y: 1 of 1000 elements are wrong: y[3] is 0"));
}

TEST(GpuCorrectness, SeesATailThatIsLeftOut) {
  const EvaluationRecord record = checked(Candidate("skips_the_tail"));
  EXPECT_EQ(record.verdict, Verdict::kWrongResult);
  EXPECT_THAT(record.why, HasSubstr("is nan"));
}

TEST(GpuCorrectness, EveryCheapCaseMeetsTwoPoisonsOfDifferentKinds) {
  const std::vector<PlannedRun> planned = plan_runs(2, 2, 3, {99, 98});
  const std::vector<PlannedRun> runs = with_poisons(planned, [](std::size_t c) { return c < 3; });
  EXPECT_EQ(runs.size(), planned.size() + 1) << "the first hold-out is run again";
  std::map<std::size_t, std::set<Poison>> met;
  std::size_t counted = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    met[runs[i].case_index].insert(poison_of(runs[i].poison, 0));
    counted += runs[i].counted ? 1 : 0;
    if (i == 0) continue;
    EXPECT_NE(poison_of(runs[i].poison, 0), poison_of(runs[i - 1].poison, 0)) << i;
  }
  EXPECT_EQ(counted, 2u);
  for (const auto& [index, poisons] : met) EXPECT_GE(poisons.size(), index < 3 ? 2u : 1u) << index;
}

TEST(GpuCorrectness, SeesWhatBeginsWithAnOutputThatNobodySet) {
  const Candidate candidate("takes_the_maximum_with_its_output");
  EXPECT_EQ(checked(candidate, with_poisons(runs(), [](std::size_t) { return true; })).verdict,
            Verdict::kWrongResult);
}

TEST(GpuCorrectness, SeesWritesOutsideOfTheBuffers) {
  const EvaluationRecord record = checked(Candidate("writes_outside"));
  EXPECT_EQ(record.verdict, Verdict::kRuntimeFault);
  EXPECT_THAT(record.why, HasSubstr("past the end of y"));
  EXPECT_EQ(checked(Candidate("good")).verdict, Verdict::kOk);
}

TEST(GpuCorrectness, SeesWritesFarFromAllBuffers) {
  // One run: with more, it may be next to the buffers of another one.
  const EvaluationRecord record =
      checked(Candidate("writes_far_away"), plan_runs(1, 0, 1, {99, 98}));
  EXPECT_EQ(record.verdict, Verdict::kRuntimeFault);
  EXPECT_THAT(record.why, HasSubstr("far from all of them"));
  EXPECT_EQ(checked(Candidate("good")).verdict, Verdict::kOk);
}

TEST(GpuCorrectness, SeesWhateverIsWrittenIntoAGuard) {
  const EvaluationRecord record = checked(Candidate("writes_poison_behind"));
  EXPECT_EQ(record.verdict, Verdict::kRuntimeFault);
  EXPECT_THAT(record.why, HasSubstr("past the end of y"));
}

TEST(GpuCorrectness, SeesAChangedInput) {
  const EvaluationRecord record = checked(Candidate("changes_its_input"));
  EXPECT_EQ(record.verdict, Verdict::kWrongResult);
  EXPECT_THAT(record.why, HasSubstr("the input x was changed"));
}

TEST(GpuCorrectness, TellsTheUnreliableFromTheWrong) {
  EXPECT_EQ(checked(Candidate("changes_its_mind")).verdict, Verdict::kNondeterministic);
}

TEST(GpuCorrectness, GoesOnAfterAFault) {
  for (int i = 0; i < 3; ++i) {
    const EvaluationRecord record = checked(Candidate("faults"));
    EXPECT_EQ(record.verdict, Verdict::kRuntimeFault);
    EXPECT_THAT(record.why, HasSubstr("illegal address"));
    EXPECT_THAT(record.cases[1].detail, HasSubstr("not run"));
    EXPECT_EQ(checked(Candidate("good")).verdict, Verdict::kOk);
  }
}

TEST(GpuCorrectness, JudgesTheCasesBeforeOneThatFaults) {
  const EvaluationRecord record = checked(Candidate("wrong_where_large_and_faults_elsewhere"));
  EXPECT_EQ(record.verdict, Verdict::kWrongResult) << record.why;
  EXPECT_EQ(record.cases[0].verdict, Verdict::kWrongResult);
  EXPECT_EQ(record.cases[1].verdict, Verdict::kRuntimeFault);
  EXPECT_THAT(record.cases[1].detail, HasSubstr("illegal address"));
  EXPECT_THAT(record.cases[2].detail, HasSubstr("not run"));
  EXPECT_EQ(checked(Candidate("good")).verdict, Verdict::kOk);
}

TEST(GpuCorrectness, NamesTheLaunchThatIsRefused) {
  const EvaluationRecord record = checked(Candidate("good", "dim3(64, 16)"));
  EXPECT_EQ(record.verdict, Verdict::kLaunchError);
  EXPECT_THAT(record.why, HasSubstr("line 1, column 12: the launch was refused"));
}

TEST(GpuCorrectness, EndsWhatDoesNotEnd) {
  GpuWorkers workers = simulated_workers();
  workers.run_limit = std::chrono::milliseconds(300);
  GpuPool impatient(find_gpus(workers.runner, {1}), workers);
  EvaluationRecord hung, good;
  impatient.with_gpu({}, [&](Gpu& gpu) { check_on_gpu(gpu, Candidate("hangs"), runs(), &hung); });
  EXPECT_EQ(hung.verdict, Verdict::kTimeout) << hung.why;
  EXPECT_FALSE(hung.repeatable);
}

TEST(GpuCorrectness, ReportsAReferenceThatIsWrong) {
  std::string text = kTask;
  text.replace(text.find("2 * x"), 5, "x + z");
  const PreparedTask broken = prepare_task(text);
  pool().with_gpu({}, [&](Gpu& gpu) {
    try {
      expect_on_gpu(gpu, broken, runs().front());
      FAIL();
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
      EXPECT_THAT(failure.what(), HasSubstr("the reference, n=1000: "));
    }
  });
}

// What is refused of the task with another reference; empty: nothing.
std::string refusal(const std::string& reference) {
  std::string text = kTask;
  text.replace(text.find("2 * x"), 5, reference);
  const PreparedTask changed = prepare_task(text);
  std::string why;
  pool().with_gpu({}, [&](Gpu& gpu) {
    try {
      refuse_impostors(changed.definition, [&](const Impostor& impostor) {
        return passes_on_gpu(gpu, changed, runs(), impostor);
      });
    } catch (const Failure& failure) {
      why = failure.what();
    }
  });
  return why;
}

TEST(GpuCorrectness, RefusesTasksThatImpostorsPass) {
  EXPECT_THAT(refusal("0 * x"), HasSubstr("all zero"));
  EXPECT_THAT(refusal("torch.full_like(x, 3)"), HasSubstr("one number everywhere"));
  EXPECT_THAT(refusal("x + 0"), HasSubstr("a copy of the input 'x'"));
  EXPECT_EQ(refusal("2 * x"), "");
  EXPECT_EQ(refusal("torch.relu(x)"), "");
}

TEST(GpuTiming, FindsTheSlower) {
  const EvaluationRecord record = timed(Candidate("slow"), Candidate("good"));
  ASSERT_EQ(record.verdict, Verdict::kOk) << record.why;
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_LT(record.cases[c].speedup_high, 0.9);
    EXPECT_GE(record.cases[c].samples_ns.size(), 2u) << "2 where it is far too slow";
    EXPECT_EQ(record.cases[c].samples_ns.size(), record.cases[c].baseline_samples_ns.size());
  }
  EXPECT_THAT(record.cases[2].samples_ns, IsEmpty());
}

// The baseline is timed in the candidate's process, but believed only as far as another agrees.
TEST(GpuTiming, SlowingTheBaselineDownGainsNothing) {
  const EvaluationRecord record =
      timed(Candidate("slows_the_baseline"), Candidate("can_be_slowed"));
  ASSERT_EQ(record.verdict, Verdict::kOk) << record.why;
  for (const std::int32_t c : {0, 1}) {
    EXPECT_LT(record.cases[static_cast<std::size_t>(c)].speedup_low, 3);
    EXPECT_THAT(record.values, Contains(AllOf(Field(&krl::Value::case_index, c),
                                              Field(&krl::Value::name, "baseline_beside"),
                                              Field(&krl::Value::value, 0))));
  }
}

// The fastest kernel of softmax that a run sampled was paid for half of its speedup, as one of its
// eight samples was disturbed.
TEST(GpuTiming, TakesMoreSamplesIfOneOfFewWasDisturbed) {
  using namespace std::chrono_literals;
  const TimingSettings settings;
  std::vector<double> baseline(8, 300.0), candidate = {25, 25.1, 25.2, 24.9, 25, 60, 25.1, 24.8};
  const auto half_width = [&] { return evaluator::log_ratio(baseline, candidate).half_width(); };
  EXPECT_FALSE(settings.is_enough(half_width(), 60ms));
  EXPECT_TRUE(settings.is_enough(half_width(), 300ms)) << "which has an end";
  for (int i = 0; i < 8; ++i) {
    baseline.push_back(300);
    candidate.push_back(25 + 0.1 * i);
  }
  EXPECT_TRUE(settings.is_enough(half_width(), 60ms));
  EXPECT_FALSE(settings.is_enough(0.03, 50ms)) << "wide, but not disturbed";
  EXPECT_TRUE(settings.is_enough(0.03, 60ms));
  EXPECT_TRUE(settings.is_enough(0.009, 1ms));
}

TEST(GpuTiming, TimesTheReferenceAsABaseline) {
  EvaluationRecord record = checked(Candidate("good"));
  pool().with_gpu({}, [&](Gpu& gpu) {
    time_on_gpu(gpu, Candidate("good"), {nullptr, true}, runs(), TimingSettings(), &record);
  });
  ASSERT_EQ(record.verdict, Verdict::kOk) << record.why;
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_GE(record.cases[c].baseline_samples_ns.size(), 8u) << "8 where a launch is a sample";
    EXPECT_GT(record.cases[c].baseline_ns, 0);
    EXPECT_GT(record.cases[c].speedup, 0);
  }
}

TEST(GpuTiming, GivesTheTransferAndTheHeadroomBesides) {
  const EvaluationRecord record = timed(Candidate("good"), Candidate("good"));
  for (const std::int32_t c : {0, 1}) {
    for (const char* name : {"transfer_to_gpu", "transfer_to_host", "roofline", "reference_time",
                             "reference_speedup"}) {
      EXPECT_THAT(record.values,
                  Contains(AllOf(Field(&krl::Value::case_index, c), Field(&krl::Value::name, name),
                                 Field(&krl::Value::value, Gt(0)))))
          << name;
    }
  }
}

TEST(GpuTiming, FlagsWhatWorksOnlyWhileItIsChecked) {
  const EvaluationRecord record = timed(Candidate("stops_working"), Candidate("good"));
  EXPECT_EQ(record.verdict, Verdict::kFlagged) << record.why;
  EXPECT_THAT(record.why, HasSubstr("correct when checked, wrong when timed"));
}

TEST(GpuTiming, ChecksEveryLaunchByTheTasksOwnKernelOrByTheReference) {
  const Candidate good("good");
  for (const Candidate* trusted : {&good, static_cast<const Candidate*>(nullptr)}) {
    const EvaluationRecord right = timed(good, good, trusted);
    EXPECT_EQ(right.verdict, Verdict::kOk) << right.why;
    const EvaluationRecord every_other =
        timed(Candidate("skips_every_other_launch"), good, trusted);
    EXPECT_EQ(every_other.verdict, Verdict::kFlagged) << every_other.why;
    EXPECT_THAT(every_other.why, HasSubstr("wrong when timed: y: "));
  }
}

TEST(GpuTiming, RefusesATasksOwnKernelThatIsWrong) {
  const Candidate wrong("wrong");
  EXPECT_THROW(timed(Candidate("good"), Candidate("good"), &wrong), Failure);
}

// Other inputs begin with the same elements.
TEST(GpuTiming, FlagsWhatTakesInputsForOnesThatItHasSeen) {
  const EvaluationRecord record = timed(Candidate("remembers_inputs"), Candidate("good"));
  EXPECT_EQ(record.verdict, Verdict::kFlagged) << record.why;
  EXPECT_THAT(record.why, HasSubstr("wrong when timed"));
}

TEST(GpuTiming, KnowsWhichShareOfItsInputsATaskMustRead) {
  const Candidate good("good"), half("doubles_the_first_half");
  pool().with_gpu({}, [&](Gpu& gpu) {
    const auto share = [&](const GpuCandidate& kernel) {
      const BufferSet buffers = kernel.buffers(0);
      gpu.ask_checker("load", kernel.load());
      const gpu::UseInputs use{buffers.program, buffers.output_offsets,
                               expectation(task(), runs().front()), 7, 64};
      return gpu.ask_checker("input_shares", use).get<std::vector<double>>().at(0);
    };
    EXPECT_EQ(share(good), 1);
    EXPECT_NEAR(share(half), 0.5, 0.25);
  });
}

TEST(GpuTiming, NoLaunchFindsWhatOthersLeftInSharedMemory) {
  const EvaluationRecord record = timed(Candidate("counts_in_shared_memory"), Candidate("good"));
  EXPECT_EQ(record.verdict, Verdict::kOk) << record.why;
}

TEST(GpuTiming, CallsWrongWhatIsWrongUntimedAsWell) {
  ASSERT_EQ(checked(Candidate("wrong_for_few_inputs")).verdict, Verdict::kOk);
  const EvaluationRecord record = timed(Candidate("wrong_for_few_inputs"), Candidate("good"));
  EXPECT_EQ(record.verdict, Verdict::kWrongResult) << record.why;
  EXPECT_THAT(record.why, HasSubstr("and again when it ran on them untimed"));
}

TEST(GpuTiming, FlagsWorkForLaunchesThatNeverCome) {
  const EvaluationRecord record = timed(Candidate("works_ahead"), Candidate("good"));
  EXPECT_EQ(record.verdict, Verdict::kFlagged) << record.why;
  EXPECT_THAT(record.why, HasSubstr("it wrote into decoy buffers"));
}

// After a candidate that left its own in the arena, and after one that did not.
TEST(GpuTiming, LeavesTheArenaAsItWas) {
  for (const char* kernel : {"good", "wrong", "changes_its_input", "skips_every_other_launch"}) {
    timed(Candidate(kernel), Candidate("good"));
    pool().with_gpu({}, [](Gpu& gpu) {
      gpu.runner();
      EXPECT_TRUE(gpu.arena_is_intact());
    });
  }
}

// As KernelBench times, but the outputs of some trials are looked at.
TEST(GpuTrials, AreAHundredCallsAndLeaveTheArenaAsItWas) {
  const auto tried = [](const Candidate& candidate) {
    EvaluationRecord record;
    pool().with_gpu({}, [&](Gpu& gpu) {
      check_on_gpu(gpu, candidate, runs(), &record);
      time_trials(gpu, candidate, runs(), &record);
      EXPECT_TRUE(gpu.arena_is_intact());
    });
    return record;
  };
  const EvaluationRecord good = tried(Candidate("good")), slow = tried(Candidate("slow"));
  EXPECT_EQ(good.verdict, Verdict::kOk) << good.why;
  EXPECT_EQ(slow.verdict, Verdict::kOk) << slow.why;
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_THAT(good.cases[c].samples_ns, SizeIs(100));
    EXPECT_GT(good.cases[c].baseline_ns, 0);
    EXPECT_GT(slow.cases[c].time_ns, good.cases[c].time_ns);
  }
  for (const char* kernel : {"stops_working", "leaves_outputs_that_stand"}) {
    const EvaluationRecord record = tried(Candidate(kernel));
    EXPECT_EQ(record.verdict, Verdict::kFlagged) << kernel << ": " << record.why;
    EXPECT_THAT(record.why, HasSubstr("wrong when timed")) << kernel;
  }
}

// No place comes twice for as long as a module is loaded.
TEST(GpuTiming, AnswersThatAreRememberedByTheirPlaceAreNone) {
  const EvaluationRecord record = timed(Candidate("remembers_the_place"), Candidate("good"));
  if (record.verdict != Verdict::kOk) return;
  for (const std::size_t c : {0, 1}) EXPECT_LT(record.cases[c].speedup_low, 1.5);
}

// ---- many at a time, and processes that are killed

TEST(GpuPool, ServesManyThreadsOneAfterTheOther) {
  std::vector<std::thread> threads;
  std::vector<EvaluationRecord> records(8);
  for (std::size_t i = 0; i < records.size(); ++i) {
    threads.emplace_back(
        [&records, i] { records[i] = checked(Candidate(i % 2 == 0 ? "good" : "wrong")); });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].verdict, i % 2 == 0 ? Verdict::kOk : Verdict::kWrongResult) << i;
  }
}

TEST(GpuPool, EveryEvaluationEndsOnceWhileItsProcessesAreKilled) {
  const GpuWorkers workers = simulated_workers();
  GpuPool two(find_gpus(workers.runner, {}), workers);
  std::atomic<bool> ended{false};
  std::atomic<int> kills{0};
  constexpr int kKills = 12;
  std::thread killer([&] {
    std::mt19937 random(1);
    while (!ended && kills < kKills) {  // a slow machine starts no process in the time between two
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      const auto alive = workers_of_this_process();
      if (!alive.empty()) ::kill(alive[random() % alive.size()], SIGKILL);
      kills += alive.empty() ? 0 : 1;
    }
  });
  std::vector<std::thread> threads;
  std::atomic<int> evaluations{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; kills < kKills; ++i) {
        const bool good = (t + i) % 2 == 0;
        EvaluationRecord record;
        for (bool judged = false; !judged;) {
          try {
            record = {};
            two.with_gpu({}, [&](Gpu& gpu) {
              check_on_gpu(gpu, Candidate(good ? "good" : "wrong"), runs(), &record);
            });
            judged = true;
          } catch (const Failure& failure) {
            ASSERT_EQ(failure.code(), KRL_UNAVAILABLE) << failure.what();
          }
        }
        EXPECT_EQ(record.verdict, good ? Verdict::kOk : Verdict::kWrongResult) << record.why;
        ++evaluations;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ended = true;
  killer.join();
  EXPECT_GE(evaluations, 4);  // each thread's
}

// Expected values may take up to 2 MB, and 1.7 MB are left beside the two arenas.
TEST(GpuPool, ACheckerKeepsLessWhereMemoryIsShort) {
  GpuWorkers workers = simulated_workers();
  workers.environment.push_back("KRL_SIMULATED_MEMORY=10000000");
  GpuPool short_of_memory(find_gpus(workers.runner, {0}), workers);
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    EvaluationRecord record;
    short_of_memory.with_gpu({}, [&](Gpu& gpu) {
      check_on_gpu(gpu, Candidate("good"), plan_runs(2, 1, 3, {2 * seed, 2 * seed + 1}), &record);
    });
    EXPECT_EQ(record.verdict, Verdict::kOk) << record.why;
  }
}

TEST(GpuPool, StopsWaitingWhenItIsCancelled) {
  pool().with_gpu({}, [](Gpu&) {
    EXPECT_THROW(pool().with_gpu([] { return true; }, [](Gpu&) { FAIL(); }), Failure);
  });
}

TEST(GpuPool, SaysThatNoProcessStarts) {
  GpuWorkers workers = simulated_workers();
  workers.trusted_code = "not a module";
  GpuPool broken(find_gpus(workers.runner, {0}), workers);
  EvaluationRecord record;
  const auto evaluate = [&] {
    broken.with_gpu({}, [&](Gpu& gpu) { check_on_gpu(gpu, Candidate("good"), runs(), &record); });
  };
  try {
    evaluate();
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_UNAVAILABLE);
    EXPECT_THAT(failure.what(), HasSubstr("does not start on GPU 0"));
  }
  try {
    evaluate();
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("no usable GPU"));
    EXPECT_THAT(failure.what(), HasSubstr("does not start on GPU 0"));
  }
}

}  // namespace
}  // namespace krl::testing
