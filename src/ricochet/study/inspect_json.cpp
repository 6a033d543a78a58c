#include "ricochet/study/inspect_json.h"

#include "ricochet/base/json.h"

namespace ricochet::study {
namespace {

using base::Json;

Json by_coordinate(const step::Columns& names, const Inspection::Vec& v) {
  Json json = Json::object();
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    json[names.coordinates[static_cast<std::size_t>(i)]] = v[i];
  }
  return json;
}

const std::string& name_of_row(const step::Columns& names, const ActiveRow& row) {
  return names.contacts[static_cast<std::size_t>(row.row)];
}

Json row_json(const step::Columns& names, const ActiveRow& row) {
  Json json;
  json["contact"] = name_of_row(names, row);
  json["gap"] = row.gap;
  json["gap_tolerance"] = row.gap_tolerance;
  json["velocity"] = row.velocity;
  json["velocity_tolerance"] = row.velocity_tolerance;
  json["generator"] = by_coordinate(names, row.generator);
  json["acceleration"] = row.acceleration;
  json["state"] = name_of(row.standing);
  if (row.slips > 0) {
    const auto parts = [&](const Eigen::Vector2d& v) {
      Json list = Json::list();
      for (int j = 0; j < row.slips; ++j) list.push_back(v[j]);
      return list;
    };
    json["slip"] = parts(row.slip);
    json["slip_tolerance"] = row.slip_tolerance;
    json["slip_acceleration"] = parts(row.slip_acceleration);
    json["friction"] = parts(row.friction);
    json["friction_impulse"] = parts(row.friction_impulse);
  }
  return json;
}

/// One number of each row, by name.
Json by_row(const Inspection& found, const step::Columns& names, double ActiveRow::*number) {
  Json json = Json::object();
  for (const ActiveRow& row : found.active) json[name_of_row(names, row)] = row.*number;
  return json;
}

Json shock_json(const Inspection& found, const step::Columns& names) {
  if (found.in_tangent_cone || found.shock.status != problem::Status::Solved) return nullptr;
  Json json;
  json["velocity"] = by_coordinate(names, found.right_velocity);
  json["impulses"] = by_row(found, names, &ActiveRow::impulse);
  json["unique"] = found.shock.unique;
  return json;
}

Json corner_json(const Inspection& found, const step::Columns& names) {
  if (found.corner.pairs.empty()) return nullptr;
  const auto name = [&](std::size_t k) { return name_of_row(names, found.active[k]); };
  Json json;
  json["angles"] = Json::list();
  for (const CornerPair& pair : found.corner.pairs) {
    Json angle;
    angle["contacts"] = Json::list();
    angle["contacts"].push_back(name(pair.first));
    angle["contacts"].push_back(name(pair.second));
    angle["cosine"] = pair.cosine;
    json["angles"].push_back(std::move(angle));
  }
  json["continuous"] = found.corner.is_continuous;
  json["limits"] = Json::list();
  for (const CornerLimit& limit : found.corner.limits) {
    Json first;
    first["first"] = name(limit.first);
    first["velocity"] = by_coordinate(names, limit.velocity);
    json["limits"].push_back(std::move(first));
  }
  return json;
}

const char* name_of(problem::Grip grip) {
  return grip == problem::Grip::Free ? "free" : grip == problem::Grip::Stick ? "stick" : "slip";
}

/// All solutions of the next step's contact problem.
Json next_json(const Inspection& found, const step::Columns& names) {
  if (!found.next) return nullptr;
  const NextStep& next = *found.next;
  Json json;
  json["step"] = next.length;
  json["taken"] = nullptr;
  if (next.taken) json["taken"] = static_cast<double>(*next.taken);
  json["solutions"] = Json::list();
  for (const solve::ContactSolution& one : next.solutions) {
    Json solution = Json::object();
    for (std::size_t k = 0; k < next.rows.size(); ++k) {
      Json contact;
      contact["grip"] = name_of(one.grips[k]);
      contact["impulse"] = Json::list();
      for (int c = 0; c < next.dim; ++c) {
        contact["impulse"].push_back(one.impulses[next.dim * static_cast<int>(k) + c]);
      }
      solution[names.contacts[static_cast<std::size_t>(next.rows[k])]] = std::move(contact);
    }
    Json entry;
    entry["contacts"] = std::move(solution);
    entry["continuum"] = static_cast<double>(one.free);
    json["solutions"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace

std::string name_of(problem::Status status) {
  switch (status) {
    case problem::Status::Solved: return "solved";
    case problem::Status::Infeasible: return "infeasible";
    case problem::Status::IterationLimit: return "iteration_limit";
    case problem::Status::Degenerate: return "degenerate";
    case problem::Status::SingularMass: return "singular_mass";
    case problem::Status::NoConvergence: return "no_convergence";
    case problem::Status::Jammed: return "jammed";
    case problem::Status::BadFriction: return "bad_friction";
  }
  return "";
}

std::string to_json(const Inspection& found, const step::Columns& names) {
  Json json;
  json["t"] = found.state.t;
  json["status"] = name_of(found.status);
  json["position"] = by_coordinate(names, found.state.q);
  json["velocity"] = by_coordinate(names, found.state.u);
  json["resolution_step"] = found.step;
  json["active"] = Json::list();
  for (const ActiveRow& row : found.active) json["active"].push_back(row_json(names, row));
  json["in_tangent_cone"] = found.in_tangent_cone;
  json["after_shock"] = shock_json(found, names);
  json["corner"] = corner_json(found, names);
  if (names.has_friction()) json["next_step"] = next_json(found, names);
  json["free_acceleration"] = by_coordinate(names, found.free_acceleration);
  json["acceleration"] = nullptr;
  json["reactions"] = Json::object();
  json["opens"] = Json::list();
  if (found.ok()) {
    json["acceleration"] = by_coordinate(names, found.acceleration);
    json["reactions"] = by_row(found, names, &ActiveRow::reaction);
    for (const ActiveRow& row : found.active) {
      if (row.opens) json["opens"].push_back(name_of_row(names, row));
    }
  }
  json["unique"] = found.unique();
  return json.pretty() + "\n";
}

}  // namespace ricochet::study
