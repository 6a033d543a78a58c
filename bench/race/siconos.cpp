// Siconos in the race: Moreau-Jean's scheme, Bullet for contacts, block Gauss-Seidel (NSGS) with so
// many sweeps at most: "100" to 1e-4, more of them to 1e-8. Debian's package has assertions on;
// those of its graphs are left out.

#include <SolverOptions.h>
#include <BulletR.hpp>
#include <FrictionContact.hpp>
#include <MoreauJeanOSI.hpp>
#include <NewtonImpactFrictionNSL.hpp>
#include <NonSmoothDynamicalSystem.hpp>
#include <RigidBodyDS.hpp>
#include <SiconosBulletCollisionManager.hpp>
#include <SiconosContactor.hpp>
#include <SiconosShape.hpp>
#include <SimpleMatrix.hpp>
#include <TimeDiscretisation.hpp>
#include <TimeStepping.hpp>
#include <Topology.hpp>

#include <Eigen/Geometry>
#include <map>
#include <memory>

#include "drive.h"

/// Debian's package walks through all of a graph after every change of it, by these two checks of
/// two classes: nine tenths of a step. Functions of a program go before those of its libraries.
#define RACE_GRAPH_OF_CONTACTS                          \
  "_ZNK12SiconosGraphISt10shared_ptrI11InteractionES0_" \
  "I15DynamicalSystemE21InteractionProperties25DynamicalSystemProperties15GraphPropertiesE"
#define RACE_GRAPH_OF_BODIES                                \
  "_ZNK12SiconosGraphISt10shared_ptrI15DynamicalSystemES0_" \
  "I11InteractionE25DynamicalSystemProperties21InteractionProperties15GraphPropertiesE"
#define RACE_LEAVE_OUT(name, check)           \
  bool name(const void*) __asm__(check "Ev"); \
  bool name(const void*) { return true; }
RACE_LEAVE_OUT(contacts_hold, RACE_GRAPH_OF_CONTACTS "12state_assert")
RACE_LEAVE_OUT(contacts_are_beside, RACE_GRAPH_OF_CONTACTS "20adjacent_vertices_ok")
RACE_LEAVE_OUT(bodies_hold, RACE_GRAPH_OF_BODIES "12state_assert")
RACE_LEAVE_OUT(bodies_are_beside, RACE_GRAPH_OF_BODIES "20adjacent_vertices_ok")

namespace {

SP::SiconosShape shape_of(const race::Body& body) {
  SP::SiconosShape made;
  if (body.is_sphere()) {
    made = std::make_shared<SiconosSphere>(static_cast<float>(body.r));
  } else if (body.is_box()) {
    const race::Triple half = body.half_sides();
    made = std::make_shared<SiconosBox>(2.0 * half[0], 2.0 * half[1], 2.0 * half[2]);
  } else {
    const auto corners = body.corners();
    auto points = std::make_shared<SimpleMatrix>(static_cast<unsigned int>(corners.size()), 3);
    for (unsigned int i = 0; i < corners.size(); ++i) {
      for (unsigned int j = 0; j < 3; ++j) (*points)(i, j) = corners[i][j];
    }
    made = std::make_shared<SiconosConvexHull>(points);
  }
  made->setInsideMargin((body.is_sphere() ? 0.05 : 0.002) * body.size());  // it rounds corners
  made->setOutsideMargin(0.0);
  return made;
}

SP::SiconosVector pose(const race::Triple& at, const std::array<double, 4>& turn) {
  auto made = std::make_shared<SiconosVector>(7);
  for (unsigned int i = 0; i < 3; ++i) (*made)(i) = at[i];
  for (unsigned int i = 0; i < 4; ++i) (*made)(3 + i) = turn[i];
  return made;
}

SP::SiconosContactorSet contactor(const SP::SiconosShape& shape) {
  auto made = std::make_shared<SiconosContactorSet>();
  made->append(std::make_shared<SiconosContactor>(shape));
  return made;
}

SiconosBulletOptions options_of(const race::Scene& scene) {
  SiconosBulletOptions options;
  options.worldScale = 1.0;
  options.contactBreakingThreshold = 0.1 * scene.bodies.front().size();
  if (scene.has_spheres()) {  // one point for a pair
    options.perturbationIterations = options.minimumPointsPerturbationThreshold = 0;
  }
  return options;
}

class Engine {
 public:
  Engine(const race::Scene& scene, const char* sweeps) : scene_(scene) {
    model_ = std::make_shared<NonSmoothDynamicalSystem>(0.0, 1e6);
    for (const race::Body& body : scene.bodies) add(body);
    manager_ = std::make_shared<SiconosBulletCollisionManager>(options_of(scene));
    manager_->useEqualityConstraints(false);
    manager_->insertNonSmoothLaw(
        std::make_shared<NewtonImpactFrictionNSL>(0.0, 0.0, scene.friction, 3), 0, 0);
    for (const race::Wall& wall : scene.walls) add(wall);
    auto problem = std::make_shared<FrictionContact>(3);
    const int most = std::atoi(sweeps);
    problem->numericsSolverOptions()->iparam[SICONOS_IPARAM_MAX_ITER] = most;
    problem->numericsSolverOptions()->dparam[SICONOS_DPARAM_TOL] = most > 100 ? 1e-8 : 1e-4;
    problem->setMaxSize(static_cast<unsigned int>(100 * scene.bodies.size()));
    problem->setMStorageType(NM_SPARSE_BLOCK);
    problem->setKeepLambdaAndYState(true);
    simulation_ = std::make_shared<TimeStepping>(
        model_, std::make_shared<TimeDiscretisation>(0.0, scene.step));
    simulation_->insertIntegrator(std::make_shared<MoreauJeanOSI>(0.50001));
    simulation_->insertNonSmoothProblem(problem);
    simulation_->insertInteractionManager(manager_);
    simulation_->setNewtonOptions(SICONOS_TS_NONLINEAR);
    simulation_->setNewtonMaxIteration(1);
    // A failed solve is not the end of the run, as in Siconos' own programs.
    simulation_->setCheckSolverFunction([](int, Simulation*) {});
  }

  /// Contacts are looked for half a step ahead.
  void look(race::Frame& frame) const {
    for (const auto& body : bodies_) {
      const SiconosVector& q = *body->q();
      const SiconosVector& v = *body->twist();
      const double half = 0.5 * scene_.step;
      frame.places.push_back({q(0) + half * v(0), q(1) + half * v(1), q(2) + half * v(2)});
      if (!scene_.has_spheres()) frame.turns.push_back({q(3), q(4), q(5), q(6)});
      frame.before.push_back({v(0), v(1), v(2)});
    }
  }

  bool step() {
    if (has_stepped_) simulation_->nextStep();
    has_stepped_ = true;
    simulation_->computeOneStep();
    return true;
  }

  void finish(race::Frame& frame) const {
    for (const auto& body : bodies_) {
      const SiconosVector& q = *body->q();
      const SiconosVector& v = *body->twist();
      const Eigen::Quaterniond turn(q(3), q(4), q(5), q(6));
      const Eigen::Vector3d spin = turn * Eigen::Vector3d(v(3), v(4), v(5));  // from the body's
      frame.after.push_back({v(0), v(1), v(2)});
      frame.spins.push_back({spin[0], spin[1], spin[2]});
    }
    const SP::InteractionsGraph active = model_->topology()->indexSet(1);
    InteractionsGraph::VIterator at;
    InteractionsGraph::VIterator end;
    for (std::tie(at, end) = active->vertices(); at != end; ++at) {
      const Interaction& pair = *active->bundle(*at);
      const auto contact = std::static_pointer_cast<ContactR>(pair.relation());
      const SiconosVector& lambda = *pair.lambda(1);
      race::Triple impulse{};  // on the first body: the transposed rows of its velocity
      for (unsigned int i = 0; i < 3; ++i) {
        for (unsigned int j = 0; j < 3; ++j) impulse[j] += lambda(i) * (*contact->jachqT())(i, j);
      }
      const int a = number_.at(active->properties(*at).source.get());
      const int b = number_.at(active->properties(*at).target.get());
      frame.contacts.push_back({a, a != b ? b : wall_of(*contact), impulse});
    }
  }

 private:
  void add(const race::Body& from) {
    auto inertia = std::make_shared<SimpleMatrix>(3, 3);
    inertia->zero();
    for (unsigned int i = 0; i < 3; ++i) (*inertia)(i, i) = from.inertia[i];
    auto rest = std::make_shared<SiconosVector>(6);
    auto body = std::make_shared<RigidBodyDS>(pose(from.at, from.turn), rest, from.mass, inertia);
    body->setUseContactorInertia(false);
    body->setContactors(contactor(shape_of(from)));
    auto weight = std::make_shared<SiconosVector>(3);
    for (unsigned int i = 0; i < 3; ++i) (*weight)(i) = from.mass * scene_.gravity[i];
    body->setFExtPtr(weight);
    number_[body.get()] = static_cast<int>(bodies_.size());
    bodies_.push_back(body);
    model_->insertDynamicalSystem(body);
  }

  /// A block of some size of the scene: spheres fall through what Siconos has for planes.
  void add(const race::Wall& wall) {
    double side = 0.0;
    for (const race::Body& body : scene_.bodies) {
      side = std::max(side, 4.0 * std::hypot(body.at[0], body.at[1], body.at[2]));
    }
    walls_.push_back(std::make_shared<SiconosBox>(side, side, side));
    walls_.back()->setInsideMargin(0.05 * scene_.bodies.front().size());
    const Eigen::Vector3d n(wall.normal.data());
    const auto turn = Eigen::Quaterniond::FromTwoVectors(Eigen::Vector3d::UnitZ(), n);
    const Eigen::Vector3d at = (wall.offset - 0.5 * side) * n;
    manager_->insertStaticContactorSet(
        contactor(walls_.back()),
        pose({at[0], at[1], at[2]}, {turn.w(), turn.x(), turn.y(), turn.z()}));
  }

  int wall_of(const ContactR& contact) const {
    for (std::size_t k = 0; k < walls_.size(); ++k) {
      if (contact.shape[0] == walls_[k] || contact.shape[1] == walls_[k]) {
        return -1 - static_cast<int>(k);
      }
    }
    return -1;
  }

  const race::Scene& scene_;
  SP::NonSmoothDynamicalSystem model_;
  std::shared_ptr<SiconosBulletCollisionManager> manager_;
  SP::TimeStepping simulation_;
  std::vector<SP::RigidBodyDS> bodies_;
  std::map<const DynamicalSystem*, int> number_;
  std::vector<SP::SiconosShape> walls_;
  bool has_stepped_{false};
};

}  // namespace

int main(int count, char** words) { return race::compete<Engine>(count, words); }
