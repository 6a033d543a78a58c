// Contact problems as data: residuals by hand, files there and back, bad files.

#include <gtest/gtest.h>

#include <Eigen/LU>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "program.h"
#include "ricochet/base/error.h"
#include "ricochet/base/random.h"
#include "ricochet/host/contact_file.h"
#include "ricochet/host/contact_hdf5.h"
#include "ricochet/host/output_file.h"
#include "ricochet/problem/contact_generator.h"
#include "ricochet/problem/contact_npz.h"
#include "ricochet/problem/contact_residual.h"
#include "ricochet/problem/contact_text.h"

namespace ricochet::testing::contact_problem_test {
namespace {

using problem::ContactProblem;
using problem::ContactResidual;

/// A block of mass m on a floor, pushed into it at speed 1 and along it at `slip`.
ContactProblem block_on_floor(double mass, double mu, double slip) {
  ContactProblem problem;
  problem.mu = {mu};
  problem.q = Eigen::Vector3d(-1.0, slip, 0.0);
  problem.matrix = Eigen::MatrixXd(Eigen::Matrix3d::Identity() / mass);
  return problem;
}

TEST(ContactResidual, OfNothingDone) {
  // u = q, û = q: r - P_K(r - û) = -P_K((1, 0, 0)) = (-1, 0, 0), against |q| = 1; by hand.
  const ContactResidual residual =
      residual_of(block_on_floor(5.0, 0.5, 0.0), Eigen::VectorXd(Eigen::Vector3d::Zero()));
  EXPECT_DOUBLE_EQ(residual.relative, 1.0);
  EXPECT_DOUBLE_EQ(residual.scale_free, 1.0);  // rho |û| over rho |û_free|
  EXPECT_EQ(residual.strict,
            std::numeric_limits<double>::infinity());  // no impulse to compare with
  EXPECT_DOUBLE_EQ(residual.approach, 1.0);
  EXPECT_DOUBLE_EQ(residual.cone, 0.0);
}

TEST(ContactResidual, OfTheSolutionIsZero) {
  const double mass = 5.0;
  const Eigen::VectorXd sticks = Eigen::Vector3d(mass, -0.3 * mass, 0.0);
  EXPECT_LT(residual_of(block_on_floor(mass, 0.5, 0.3), sticks).relative, 1e-15);
  const Eigen::VectorXd slips = Eigen::Vector3d(mass, -0.5 * mass, 0.0);
  const ContactResidual residual = residual_of(block_on_floor(mass, 0.5, 2.0), slips);
  EXPECT_LT(residual.relative, 1e-15);
  EXPECT_LT(residual.scale_free, 1e-15);
  EXPECT_LT(residual.physical, 1e-15);
}

TEST(ContactResidual, OfFrictionTheWrongWay) {
  // r = m (1, +mu): the slip grows from 2 to 2.5 and friction helps it: power 2 * 0.5 * 2.5 m.
  const double mass = 4.0;
  const Eigen::VectorXd r = Eigen::Vector3d(mass, 0.5 * mass, 0.0);
  const ContactResidual residual = residual_of(block_on_floor(mass, 0.5, 2.0), r);
  EXPECT_NEAR(residual.slip, 2.0 * 0.5 * 2.5 * mass, 1e-13);
  EXPECT_GT(residual.scale_free, 0.1);
}

TEST(ContactResidual, WithoutFrictionANegativeImpulseIsFarFromItsCone) {
  // Also where there is no slip at all, so that |z_T| <= mu z_N reads 0 <= 0 (qualitative).
  const ContactProblem problem = block_on_floor(1.0, 0.0, 0.0);
  const ContactResidual residual =
      residual_of(problem, Eigen::VectorXd(Eigen::Vector3d(-1.0, 0.0, 0.0)));
  EXPECT_GT(residual.relative, 0.5);
  EXPECT_DOUBLE_EQ(residual.cone, 1.0);
}

TEST(ContactResidual, TheScaleFreeOneDoesNotSeeUnits) {
  base::Random random(3);
  ContactProblem problem = problem::in_blocks(problem::generate_contacts({.bodies = 8}));
  Eigen::VectorXd r(problem.rows());
  for (double& value : r) value = random.normal();
  const ContactResidual before = residual_of(problem, r);
  constexpr double kMass = 4096.0;  // powers of two: exact
  constexpr double kSpeed = 0.125;
  for (double& value : std::get<problem::BlockRows>(problem.matrix).values) value /= kMass;
  problem.q *= kSpeed;
  const ContactResidual after = residual_of(problem, Eigen::VectorXd(kMass * kSpeed * r));
  EXPECT_NEAR(after.scale_free, before.scale_free, 1e-12 * before.scale_free);
  EXPECT_GT(std::abs(after.relative / before.relative - 1.0), 0.5);  // the published one does
}

TEST(ContactResidual, OfWhatIsNotFiniteIsInfinite) {
  Eigen::VectorXd r = Eigen::Vector3d(std::nan(""), 0.0, 0.0);
  EXPECT_EQ(residual_of(block_on_floor(1.0, 0.5, 0.0), r).relative,
            std::numeric_limits<double>::infinity());
}

TEST(ContactForms, AgreeOnVelocities) {
  const ContactProblem global = problem::generate_contacts({.bodies = 12, .mass_ratio = 1e3});
  const ContactProblem blocks = problem::in_blocks(global);
  ContactProblem dense = blocks;
  dense.matrix = Eigen::MatrixXd(problem::scalars_of(std::get<problem::BlockRows>(blocks.matrix)));
  // W = H^T M^-1 H once more, densely.
  const auto& form = std::get<problem::GlobalForm>(global.matrix);
  const Eigen::MatrixXd M(form.M);
  const Eigen::MatrixXd H(form.H);
  const Eigen::MatrixXd W = H.transpose() * M.inverse() * H;
  EXPECT_LT((W - std::get<Eigen::MatrixXd>(dense.matrix)).cwiseAbs().maxCoeff(), 1e-12);
  base::Random random(5);
  Eigen::VectorXd r(global.rows());
  for (double& value : r) value = random.normal();
  Eigen::VectorXd u[3];
  problem::ContactVelocity{global}(r, u[0]);
  problem::ContactVelocity{blocks}(r, u[1]);
  problem::ContactVelocity{dense}(r, u[2]);
  EXPECT_LT((u[0] - u[1]).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LT((u[0] - u[2]).cwiseAbs().maxCoeff(), 1e-11);
}

class ContactFiles : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string error_of(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    try {
      host::read_contact_file(path(name));
    } catch (const base::InputError& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << "names the file";
      EXPECT_FALSE(error.remedy().empty());
      return error.message() + " " + error.key();
    }
    return "no error";
  }

  Folder folder_;
};

TEST_F(ContactFiles, ComeBackAsTheyWent) {
  for (const int dim : {2, 3}) {
    const ContactProblem global =
        problem::generate_contacts({.dim = dim, .bodies = 9, .mu_low = 0.1, .mu_high = 0.9});
    const ContactProblem local = problem::in_blocks(global);
    base::Random random(1);
    Eigen::VectorXd r(local.rows());
    for (double& value : r) value = random.normal();
    Eigen::VectorXd expected;
    problem::ContactVelocity{local}(r, expected);
    for (const char* name : {"a.hdf5", "a.dat", "a.npz"}) {
      for (const ContactProblem* problem : {&local, &global}) {
        if (dim == 2 && std::string(name) == "a.npz") continue;  // of dimension 3 only
        host::write_contact_file(path(name), *problem);
        const ContactProblem back = host::read_contact_file(path(name));
        EXPECT_EQ(back.mu, local.mu) << name;
        EXPECT_EQ(back.is_global(), problem->is_global() && std::string(name) != "a.npz") << name;
        Eigen::VectorXd u;
        problem::ContactVelocity{back}(r, u);
        EXPECT_LT((u - expected).cwiseAbs().maxCoeff(), 1e-12) << name << dim;  // roundoff
      }
    }
  }
}

TEST_F(ContactFiles, WithoutContactsAreFine) {
  ContactProblem none;
  none.q.resize(0);
  problem::BlockRows empty;
  empty.start = {0};
  none.matrix = empty;
  host::write_contact_file(path("none.dat"), none);
  EXPECT_EQ(host::read_contact_file(path("none.dat")).contacts(), 0);
  host::write_contact_file(path("none.hdf5"), none);
  EXPECT_EQ(host::read_contact_file(path("none.hdf5")).contacts(), 0);
}

TEST_F(ContactFiles, CutShortAnywhereAreRefused) {
  const ContactProblem problem = problem::in_blocks(problem::generate_contacts({.bodies = 3}));
  for (const char* name : {"cut.hdf5", "cut.dat", "cut.npz"}) {
    host::write_contact_file(path(name), problem);
    const std::string whole = read_file(path(name));
    for (const double part : {0.02, 0.3, 0.7, 0.95}) {
      const auto size = static_cast<std::size_t>(part * static_cast<double>(whole.size()));
      EXPECT_NE(error_of(name, whole.substr(0, size)), "no error") << name << " " << part;
    }
  }
}

TEST_F(ContactFiles, WithBadNumbersAreRefused) {
  const std::string head = "2\n1\n0\n2\n2\n2 2\n";
  EXPECT_EQ(error_of("good.dat", head + "1 0 0 1\n-1 0\n0.5\n"), "no error");
  EXPECT_NE(error_of("nan.dat", head + "1 0 0 1\nnan 0\n0.5\n").find("not a number"),
            std::string::npos);
  EXPECT_NE(error_of("word.dat", head + "1 0 zero 1\n-1 0\n0.5\n").find("'zero' is not a number"),
            std::string::npos);
  EXPECT_NE(error_of("mu.dat", head + "1 0 0 1\n-1 0\n-0.5\n").find("contact 1"),
            std::string::npos);
  EXPECT_NE(error_of("still.dat", head + "0 0 0 0\n-1 0\n0.5\n").find("moves nothing"),
            std::string::npos);
  EXPECT_NE(error_of("huge.dat", "3\n30000000\n0\n90000000\n90000000\n90000000 90000000\n1\n")
                .find("too short"),
            std::string::npos);
  EXPECT_NE(error_of("letter.dat", "Dear reader,\n").find("not a contact problem"),
            std::string::npos);
  EXPECT_NE(error_of("empty.dat", "").find("empty"), std::string::npos);
  EXPECT_THROW(host::read_contact_file(path("absent.dat")), base::InputError);
  EXPECT_THROW(host::read_contact_file(folder_.path().string()), base::InputError);
}

TEST_F(ContactFiles, NotANumberInHdf5IsRefused) {
  ContactProblem problem = problem::in_blocks(problem::generate_contacts({.bodies = 2}));
  problem.q[3] = std::nan("");
  host::write_file(path("nan.hdf5"), host::contact_hdf5(problem));
  try {
    host::read_contact_file(path("nan.hdf5"));
    ADD_FAILURE() << "read";
  } catch (const base::InputError& error) {
    EXPECT_EQ(error.key(), "q");
    EXPECT_NE(error.message().find("entry 4"), std::string::npos) << error.what();
  }
}

/// HDF5 would keep the second in which each set of numbers was made.
TEST_F(ContactFiles, AreTheSameBytesWheneverTheyAreWritten) {
  const ContactProblem problem = problem::in_blocks(problem::generate_contacts({.bodies = 2}));
  const std::string before = host::contact_hdf5(problem);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  EXPECT_EQ(before, host::contact_hdf5(problem));
}

TEST(ContactGenerator, IsDeterminedByItsNumbers) {
  const auto text = [](std::uint64_t seed) {
    return problem::contact_text(
        problem::in_blocks(problem::generate_contacts({.bodies = 10, .seed = seed})));
  };
  EXPECT_EQ(text(4), text(4));
  EXPECT_NE(text(4), text(5));
}

}  // namespace
}  // namespace ricochet::testing::contact_problem_test
