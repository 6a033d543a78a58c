// Certificates of consecutive parts of a run make up that of the whole.

#include <gtest/gtest.h>

#include <random>

#include "ricochet/certify/certificate.h"
#include "ricochet/step/run_formula.h"
#include "support.h"

namespace ricochet::certify::certificate_test {
namespace {

/// Numbers of few bits, so that sums of them are exact in any order.
class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  double number() { return std::uniform_int_distribution<int>(0, 1000)(engine_) / 8.0; }
  int index(int count) { return std::uniform_int_distribution<int>(0, count - 1)(engine_); }

 private:
  std::mt19937 engine_;
};

Shock some_shock(Draw& random, double threshold) {
  Shock shock{.t = random.number(), .contact = random.index(3)};
  shock.speed = threshold + random.number();
  shock.approach = random.number();
  shock.work = -random.number();
  shock.tangential = random.index(2) == 0;
  shock.dissipated = random.number();
  shock.friction = -random.number();
  return shock;
}

Certificate some_certificate(Draw& random) {
  Certificate c;
  if (random.index(4) == 0) c.failure = Failure::Residual;
  c.failure_time = c.ok() ? 0.0 : random.number();
  c.steps = random.index(100);
  c.residual_max = random.index(3);  // ties are the rule
  c.residual_time = random.number();
  c.balance_max = random.number();
  c.violation_max = random.index(3);
  c.violation_contact = random.index(3);
  c.violation_depth = random.number();
  c.joint_max = random.number();
  c.roll_max = random.number();
  c.residual_sum = random.number();
  c.violation_sum = random.number();
  c.coupled_impacts = random.index(3);
  c.coupled_time = c.coupled_impacts > 0 ? random.number() : 0.0;
  c.undecided_crossings = random.index(3);
  c.undecided_time = c.undecided_crossings > 0 ? random.number() : 0.0;
  c.zeno_count = random.index(2);
  c.zeno_time = c.zeno_count > 0 ? random.number() : 0.0;
  c.adhesive_max = random.number();
  c.impulses_unique = random.index(2) == 0;
  for (base::Sum* sum : {&c.ledger.forces, &c.ledger.contacts, &c.ledger.shocks, &c.ledger.friction,
                         &c.ledger.defect, &c.ledger.correction}) {
    sum->add(random.number());
  }
  c.ledger.kinetic_start = random.number();
  c.ledger.kinetic_end = random.number();
  c.ledger.kinetic_max = random.number();
  c.ledger.lowest = random.number();
  c.ledger.highest = random.number();
  c.friction.resize(3);
  c.shock_counts.assign(3, 1000);
  for (FrictionRecord& record : c.friction) record.stick_time = random.number();
  c.shock_threshold = random.number();
  for (int k = random.index(20); k > 0; --k) {
    c.shocks.push_back(some_shock(random, c.shock_threshold));
  }
  return c;
}

Certificate merged(Certificate a, const Certificate& b) {
  a.merge(b);
  return a;
}

TEST(Certificate, MergesInAnyGrouping) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    Draw random(seed);
    const Certificate a = some_certificate(random);
    const Certificate b = some_certificate(random);
    const Certificate c = some_certificate(random);
    EXPECT_TRUE(merged(merged(a, b), c) == merged(a, merged(b, c))) << seed;
  }
}

TEST(Certificate, KeepsTheFirstFailureAndTheEarliestOfEqualMaxima) {
  Certificate first;
  first.residual_max = 2.0;
  first.residual_time = 1.0;
  Certificate second = first;
  second.residual_time = 5.0;
  second.failure = Failure::Balance;
  Certificate third;
  third.failure = Failure::Law;
  const Certificate all = merged(merged(first, second), third);
  EXPECT_EQ(all.residual_time, 1.0);
  EXPECT_EQ(all.failure, Failure::Balance);
}

// A ball that bounces: its first and second half, judged apart, are the whole.
TEST(Certificate, OfTwoHalvesIsThatOfTheWhole) {
  std::vector<std::string> settings = {"run.scheme=moreau", "contact.floor.restitution=0.5",
                                       "start.position={ x = 0, y = 1 }", "run.step=0.001"};
  const auto first = testing::run_text(testing::kFloor, settings);
  settings.push_back("run.until=2");
  const auto whole = testing::run_text(testing::kFloor, settings);
  model::State<model::kDynamic> state = first.final_state;
  const step::Outcome second = step::run_formula(*first.scene.system().model, first.scene.scheme,
                                                 first.scene.run, state, [](const auto&) {});
  const Certificate& all = whole.outcome.certificate;
  const Certificate sum = merged(first.outcome.certificate, second.certificate);
  EXPECT_TRUE(sum.ok());
  EXPECT_EQ(sum.steps, all.steps);
  EXPECT_EQ(sum.shock_counts, all.shock_counts);
  EXPECT_EQ(sum.shocks.size(), all.shocks.size());
  EXPECT_EQ(sum.shock_threshold, all.shock_threshold);
  EXPECT_EQ(sum.violation_max, all.violation_max);
  EXPECT_EQ(sum.ledger.kinetic_start, all.ledger.kinetic_start);
  EXPECT_NEAR(sum.ledger.kinetic_end, all.ledger.kinetic_end, 1e-9);
  EXPECT_NEAR(sum.ledger.contacts.value(), all.ledger.contacts.value(), 1e-9);
  EXPECT_NEAR(sum.ledger.forces.value(), all.ledger.forces.value(), 1e-9);
}

}  // namespace
}  // namespace ricochet::certify::certificate_test
