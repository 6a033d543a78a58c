#include "ricochet/record/world_record.h"

namespace ricochet::record {

base::Json json_of(const WorldRecord& r) {
  base::Json json;
  json["bodies"] = r.bodies;
  json["free"] = r.free_bodies;
  json["shapes"] = r.shapes;
  if (r.joints > 0) json["joints"] = r.joints;
  if (!r.stopped.empty()) json["stopped"] = r.stopped;
  json["pushes"] = {{"mean", r.told.pushes_mean}, {"max", r.told.pushes_max}};
  json["shocks"] = r.told.shocks;
  if (r.told.removed > 0) json["removed"] = r.told.removed;
  json["pairs_checked"] = r.told.pairs_checked;
  json["projection"] = {
      {"steps", r.told.projected}, {"deepest", r.told.deepest}, {"shift_max", r.told.shift_max}};
  if (r.told.ghosts > 0) {
    json["ghosts"] = {{"steps", r.told.ghosts},      {"gap", r.told.ghost_gap},
                      {"time", r.told.ghost_time},   {"between", r.told.ghost_pair},
                      {"share", r.told.ghost_share}, {"step", r.told.ghost_step}};
  }
  if (r.told.sunk > 0.0) {
    json["sunk"] = {
        {"depth", r.told.sunk}, {"time", r.told.sunk_time}, {"between", r.told.sunk_pair}};
  }
  json["creep"] = {{"median", r.told.creep[0]},   {"99%", r.told.creep[1]},
                   {"99.9%", r.told.creep[2]},    {"mean_of_largest", r.told.creep_mean},
                   {"limit", r.told.creep_limit}, {"way", r.told.way}};
  base::Json steps;
  for (const certify::Level level : certify::kLevels) {
    steps[certify::name_of(level)] = r.told.steps[static_cast<std::size_t>(level)];
  }
  json["level"] = {{"required", certify::name_of(r.told.law)}, {"steps", steps}};
  if (r.told.law != certify::Level::Exact) {
    json["level"]["since"] = r.told.law_since[static_cast<std::size_t>(r.told.law)];
  }
  json["unresolved_work"] = r.told.unresolved;
  if (r.told.left_rest > 0) {
    json["left_rest"] = {{"first", r.told.left_first}, {"time", r.told.left_time}};
  }
  if (!r.told.where.empty()) json["failed"] = r.told.where;
  base::Json watches = base::Json::object();
  for (const auto& [name, value] : r.watches) watches[name] = value;
  json["watches"] = watches;
  return json;
}

}  // namespace ricochet::record
