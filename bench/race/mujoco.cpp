// MuJoCo in the race: Newton's method on elliptic cones, with its defaults else, or harder
// ("hard"): the shortest time constant it takes (two steps), impedance near 1, tolerance 1e-12.

#include <mujoco/mujoco.h>

#include <memory>
#include <sstream>

#include "drive.h"

namespace {

template <class Values>
std::string text(const Values& values) {
  std::ostringstream out;
  out.precision(17);
  for (const double value : values) out << value << ' ';
  return out.str();
}

std::string geom_of(const race::Body& body, std::string& meshes) {
  if (body.is_sphere()) return "type='sphere' size='" + text(std::array{body.r}) + "'";
  if (body.is_box()) {
    return "type='box' size='" + text(body.half_sides()) + "'";
  }
  if (meshes.empty()) {  // one for all: the stones of the arch are alike
    meshes = "<mesh name='stone' vertex='";
    for (const race::Triple& corner : body.corners()) meshes += text(corner);
    meshes += "'/>";
  }
  return "type='mesh' mesh='stone'";
}

/// Rows of the solver that a scene may need, 3 for a point of contact.
int rows_of(const race::Scene& scene) {
  const auto bodies = static_cast<int>(scene.bodies.size());
  return scene.has_spheres() ? 17 * bodies / 2 : 90 * bodies;
}

/// The package reserves dense matrices, of rows by rows and of rows by velocities, and counts their
/// bytes in 31 bits.
bool fits(const race::Scene& scene) {
  const double rows = rows_of(scene);
  return 12.0 * rows * (rows + 12.0 * static_cast<double>(scene.bodies.size())) < 2147483647.0;
}

std::string model_of(const race::Scene& scene, bool is_hard) {
  const int rows = rows_of(scene);
  std::string meshes;
  std::string bodies;
  for (std::size_t k = 0; k < scene.walls.size(); ++k) {
    const race::Wall& wall = scene.walls[k];
    race::Triple at = wall.normal;
    for (double& x : at) x *= wall.offset;
    bodies += "<geom type='plane' size='0 0 1' pos='" + text(at) + "' zaxis='" + text(wall.normal) +
              "'/>\n";
  }
  for (const race::Body& body : scene.bodies) {
    bodies += "<body pos='" + text(body.at) + "' quat='" + text(body.turn) +
              "'><freejoint/><inertial pos='0 0 0' mass='" + text(std::array{body.mass}) +
              "' diaginertia='" + text(body.inertia) + "'/><geom " + geom_of(body, meshes) +
              "/></body>\n";
  }
  std::ostringstream out;
  out.precision(17);
  out << "<mujoco><compiler angle='radian'/><option timestep='" << scene.step << "' gravity='"
      << text(scene.gravity) << "' cone='elliptic'";
  // Newton's matrix fills up with a thousand bodies in one heap: a step takes seconds.
  if (scene.bodies.size() > 200) out << " solver='CG'";
  if (is_hard) out << " tolerance='1e-12'";
  out << "><flag multiccd='enable'/></option><size njmax='" << rows << "' nconmax='" << rows / 3
      << "'/><default><geom condim='3' friction='" << scene.friction << " 0 0'";
  if (is_hard) out << " solref='" << 2.0 * scene.step << " 1' solimp='0.99 0.999 0.001'";
  out << "/></default><asset>" << meshes << "</asset><worldbody>" << bodies
      << "</worldbody></mujoco>\n";
  return out.str();
}

class Engine {
 public:
  Engine(const race::Scene& scene, const char* setting)
      : count_(static_cast<int>(scene.bodies.size())),
        has_spheres_(scene.has_spheres()),
        step_(scene.step) {
    if (!fits(scene)) throw std::runtime_error("left out: its matrices would take over 2 GB");
    const std::string xml = model_of(scene, std::strcmp(setting, "hard") == 0);
    const auto files = std::make_unique<mjVFS>();  // MuJoCo reads files only: this one is in memory
    mj_defaultVFS(files.get());
    mj_makeEmptyFileVFS(files.get(), "scene.xml", static_cast<int>(xml.size()));
    std::memcpy(files->filedata[0], xml.data(), xml.size());
    std::array<char, 1000> error{};
    model_.reset(
        mj_loadXML("scene.xml", files.get(), error.data(), static_cast<int>(error.size())));
    mj_deleteVFS(files.get());
    if (!model_) throw std::runtime_error(error.data());
    data_.reset(mj_makeData(model_.get()));
    if (!data_) throw std::runtime_error("mj_makeData failed");
  }

  void look(race::Frame& frame) const {
    for (int i = 0; i < count_; ++i) {
      const mjtNum* q = data_->qpos + 7 * i;
      const mjtNum* v = data_->qvel + 6 * i;
      frame.places.push_back({q[0], q[1], q[2]});
      frame.before.push_back({v[0], v[1], v[2]});
      if (!has_spheres_) frame.turns.push_back({q[3], q[4], q[5], q[6]});
    }
  }

  bool step() {
    mj_step(model_.get(), data_.get());
    for (const int kind : {mjWARN_CONTACTFULL, mjWARN_CNSTRFULL, mjWARN_BADQACC}) {
      if (data_->warning[kind].number > 0) return false;
    }
    return true;
  }

  void finish(race::Frame& frame) const {
    for (int i = 0; i < count_; ++i) {
      const mjtNum* v = data_->qvel + 6 * i;
      frame.after.push_back({v[0], v[1], v[2]});
      race::Triple spin{};  // that of MuJoCo is in the frame of the body
      mju_rotVecQuat(spin.data(), v + 3, data_->qpos + 7 * i + 3);
      frame.spins.push_back(spin);
    }
    const auto walls = static_cast<int>(model_->ngeom) - count_;
    for (int k = 0; k < data_->ncon; ++k) {
      const mjContact& contact = data_->contact[k];
      std::array<mjtNum, 6> force{};
      mj_contactForce(model_.get(), data_.get(), k, force.data());
      race::Triple on{};  // on the second geom, along the frame's first axis
      mju_mulMatTVec(on.data(), contact.frame, force.data(), 3, 3);
      int a = contact.geom2 - walls;
      int b = contact.geom1 - walls;
      double sign = step_;
      if (a < 0) {
        std::swap(a, b);
        sign = -sign;
      }
      for (double& part : on) part *= sign;
      frame.contacts.push_back({a, b < 0 ? -1 - (b + walls) : b, on});
    }
  }

 private:
  struct Free {
    void operator()(mjModel* model) const { mj_deleteModel(model); }
    void operator()(mjData* data) const { mj_deleteData(data); }
  };
  int count_;
  bool has_spheres_;
  double step_;
  std::unique_ptr<mjModel, Free> model_;
  std::unique_ptr<mjData, Free> data_;
};

}  // namespace

int main(int count, char** words) { return race::compete<Engine>(count, words); }
